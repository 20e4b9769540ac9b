"""The reference publisher in memory and virtual time: who has subscribed what, and until when."""

from typing import Any

import pytest

from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.rai.peers.known import INTERVAL
from harness.rai.peers.node import AGAIN, GONE
from harness.rai.peers.publisher import Publisher
from harness.rai.protocol import PROTOCOL
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.trace import Trace
from wire.rai.values import GetSubs, Told


class House:
    """A publisher in a world of its own."""

    def __init__(self) -> None:
        self.world: World = PROTOCOL.world(self.make, "publisher")
        self.trace = Trace("rai", "memory", self.world.clock)
        self.node = NodeUnderTest(self.world, self.trace, profile="document", namespace="")

    def make(self, settings: PeerSettings) -> Publisher:
        self.publisher = Publisher.of(settings)
        return self.publisher

    def pause(self, seconds: float) -> None:
        self.node.broker.pause(seconds)

    def published(self, subject: str, since: int = 0) -> list[tuple[str, str, bytes]]:
        self.pause(0.1)
        bodies = [event.body for event in self.node.broker.received(since=since) if event.subject == subject]
        return [(body.kind, body.state, bytes(body.data)) for body in bodies if isinstance(body, Told)]


@pytest.fixture
def house() -> Any:
    """A publisher that must be alive when the test is over."""
    house = House()
    yield house
    assert not house.world.last_output()
    house.node.probe()


def test_updates_are_published_while_somebody_has_subscribed(house: House) -> None:
    subject = house.node.set("a", BID=1)
    assert not house.published(subject)
    house.node.main.subscribed(subject)
    house.node.set("a", BID=2)
    house.node.main.stop(subject)
    house.node.set("a", BID=3)
    assert house.published(subject) == [("update", "ok", b'{"BID":2}'), ("drop", "nosubscribers", b"")]


@pytest.mark.parametrize("expires", [None, 60])
def test_subscriptions_of_the_silent_end(house: House, expires: int | None) -> None:
    subject = house.node.set("a", BID=1)
    house.node.main.subscribed(subject, expires=expires)
    house.node.main.stop_beating()
    end = expires or GONE * INTERVAL
    house.pause(end - INTERVAL - 1)
    assert not house.published(subject)
    house.pause(INTERVAL + 2)
    assert len(house.node.broker.received(GetSubs)) == 1
    assert house.published(subject) == [("drop", "nosubscribers", b"")]
    assert not house.publisher.interests.has_any(house.node.main.session)


def test_the_source_goes_on_while_the_broker_is_away_and_nothing_is_left_of_before(house: House) -> None:
    subject = house.node.set("a", BID=1)
    main = house.node.main
    main.subscribed(subject)
    main.start_wild("LAB.w.>")
    before = house.publisher.session
    house.world.refuse(0)
    house.world.wait(house.world.clock.now() + AGAIN)
    house.world.command("set", subject, '{"BID":2}')
    assert not house.publisher.interests.is_wanted(subject)
    assert not house.publisher.interests.wild
    house.node.outage()
    house.pause(2 * AGAIN)
    assert house.publisher.session != before
    shown = house.node.main.image(subject)
    assert shown is not None
    assert isinstance(shown.body, Told)
    assert bytes(shown.body.data) == b'{"BID":2}'


def test_a_session_that_has_said_bye_leaves_no_interest(house: House) -> None:
    subjects = [house.node.set(name, BID=1) for name in "abc"]
    for subject in subjects:
        house.node.main.subscribed(subject)
    house.node.other.subscribed(subjects[0])
    house.node.main.bye()
    assert [len(house.published(subject)) for subject in subjects] == [0, 1, 1]
    assert list(house.publisher.interests.of_session) == [house.node.other.session]
