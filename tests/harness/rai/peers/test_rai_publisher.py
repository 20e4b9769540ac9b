"""The reference publisher in memory and virtual time: who has subscribed what, and until when."""

from typing import Any

import pytest

from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.rai.peers.broker_dialler import AGAIN
from harness.rai.peers.known import INTERVAL
from harness.rai.peers.node import GONE
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


def test_no_number_is_too_large_for_a_publisher(house: House) -> None:
    """A regression: an hour's campaign found that JSON's numbers are longer than any that can be added to a clock."""
    subject = house.node.set("a", BID=1)
    house.node.main.hello(interval=10**400)
    house.node.main.subscribed(subject, expires=10**400)
    house.node.set("a", BID=2)
    assert house.published(subject) == [("update", "ok", b'{"BID":2}')]


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


# --- sessions that are over -------------------------------------------------------------------------------


def test_nothing_stays_due_when_all_has_expired_before_it_is_asked_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = house.node.set("a", BID=1)
    monkeypatch.setattr(house.publisher, "delay", lambda other: 6.0)
    house.node.main.subscribed(subject, expires=16)
    house.node.main.stop_beating()
    house.pause(18)
    house.pause(5)
    at = house.publisher.next_tick()
    assert at is not None
    assert at > house.world.clock.now()
    assert not house.node.broker.received(GetSubs)


def test_former_sessions_are_forgotten_when_nothing_of_them_can_count(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.rai.peers.node.RETURN", 300)
    polite, silent = house.node.subscriber(), house.node.subscriber()
    polite.bye()
    silent.stop_beating()
    house.pause(40)
    assert polite.session in house.publisher.former
    house.pause(60)
    assert list(house.publisher.former) == [silent.session]
    house.pause(300)
    assert not house.publisher.former


def test_who_is_denied_subscribes_no_wildcard(house: House) -> None:
    main = house.node.main
    house.node.command("deny", main.user)
    main.start_wild("LAB.>")
    house.pause(0.1)
    assert not house.publisher.interests.wild


# --- the source -------------------------------------------------------------------------------------------


def shown(house: House, subject: str) -> tuple[str, str, bytes]:
    """Return what a snapshot of a subject says."""
    event = house.node.main.snapshot(subject)
    assert event is not None
    assert isinstance(event.body, Told)
    return event.body.kind, event.body.state, bytes(event.body.data)


def test_what_is_disturbed_itself_stays_so_when_the_feed_returns(house: House) -> None:
    stale, whole = house.node.set("a", BID=1), house.node.set("b", BID=1)
    house.node.tell("stale", "a")
    house.node.command("down")
    assert [shown(house, each)[1] for each in (stale, whole)] == ["feed_down"] * 2
    house.node.command("up")
    assert [shown(house, each)[1] for each in (stale, whole)] == ["stale", "ok"]
    house.node.tell("restore", "a", {"BID": 2})
    assert shown(house, stale)[1] == "ok"


def test_what_is_restored_while_the_feed_is_down_is_whole_when_that_returns(house: House) -> None:
    subject = house.node.set("a", BID=1)
    house.node.tell("stale", "a")
    house.node.command("down")
    house.node.tell("restore", "a", {"BID": 2})
    assert shown(house, subject)[1] == "feed_down"
    house.node.command("up")
    assert shown(house, subject)[1] == "ok"


def test_an_image_overtakes_the_updates_that_wait(house: House) -> None:
    subject = house.node.set("a", BID=1)
    house.node.main.subscribed(subject)
    house.node.command("hold")
    house.node.set("a", BID=2, OLD=2)
    house.node.tell("restore", "a", {"BID": 3})
    house.node.command("release")
    assert house.published(subject) == [("initial", "ok", b'{"BID":3}')]


@pytest.mark.parametrize("end", [("expire", "a"), ("evict", "a"), ("rename", "a", "LAB.b")])
def test_what_waits_ends_with_its_subject(house: House, end: tuple[str, ...]) -> None:
    subject = house.node.set("a", BID=1)
    house.node.main.subscribed(subject)
    house.node.command("hold")
    house.node.set("a", BID=2, OLD=2)
    house.node.command(end[0], subject, *end[2:])
    house.node.set("a", BID=3)
    house.node.main.subscribed(subject)
    house.node.command("release")
    assert house.published(subject)[1:] == [("update", "ok", b'{"BID":3}')]


def test_who_has_subscribed_the_new_name_already_is_told_what_it_holds_now(house: House) -> None:
    house.node.set("a", BID=1)
    subject = house.node.set("b", OWN=1)
    house.node.main.subscribed(subject)
    house.node.command("hold")
    house.node.set("b", OWN=2)
    house.node.command("rename", house.node.subject("a"), subject)
    house.node.command("release")
    assert house.published(subject) == [("initial", "ok", b'{"BID":1}')]


def test_what_is_to_come_has_no_snapshot(house: House) -> None:
    """A verify is a form of the answer to a start (lines 100 to 103), and a snapshot has type snap (line 1197)."""
    subject = house.node.tell("warm", "a", {"BID": 0})
    assert shown(house, subject)[:2] == ("snap", "not_found")


def test_what_has_expired_is_not_expected_any_more(house: House) -> None:
    subject = house.node.tell("warm", "a", {"BID": 0})
    image = house.node.main.image(subject)
    assert image is not None
    assert isinstance(image.body, Told)
    assert image.body.kind == "verify"
    house.node.tell("expire", "a")
    assert shown(house, subject)[1] == "not_found"
