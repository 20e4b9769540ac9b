"""The reference subscriber in memory and virtual time: what it tells its application, when, and how far it is sound."""

from typing import Any

import pytest

from harness.errors import ControlFailed
from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.rai.peers.broker_dialler import AGAIN
from harness.rai.peers.known import INTERVAL
from harness.rai.peers.node import GONE
from harness.rai.peers.subscriber import QUESTIONS, Subscriber
from harness.rai.protocol import PROTOCOL
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from harness.trace import Trace
from wire.rai.values import (
    GET_SUBS,
    GetSubs,
    Published,
    Raw,
    Reply,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    inbox,
    of,
)

Values = dict[str, dict[str, Any]]


class House:
    """A subscriber in a world of its own, and a publisher that it trusts."""

    def __init__(self) -> None:
        self.world: World = PROTOCOL.world(self.make, "subscriber")
        self.trace = Trace("rai", "memory", self.world.clock)
        self.node = NodeUnderTest(self.world, self.trace, profile="document", namespace="")
        self.publisher = self.node.publisher

    def make(self, settings: PeerSettings) -> Subscriber:
        self.subscriber = Subscriber.of(settings)
        return self.subscriber

    def subscribed(self, name: str, **fields: Any) -> str:
        subject = self.node.subject(name)
        if fields:
            self.publisher.values[subject] = fields
        self.node.command("subscribe", subject)
        self.pause(0.1)
        return subject

    def pause(self, seconds: float) -> None:
        self.node.source.pause(seconds)

    def told(self, subject: str) -> list[tuple[str, dict[str, Any]]]:
        self.pause(0.1)
        return self.node.values(subject)

    def asked(self, form: type, since: int = 0) -> list[str]:
        self.pause(0.1)
        return [event.subject for event in self.node.source.received(form, since=since)]

    def another(self, user: str, values: Values) -> TestPublisher:
        made = self.node.new_publisher(user, values=values)
        self.pause(0.1)
        return made


@pytest.fixture
def house() -> Any:
    """A subscriber that must be alive when the test is over."""
    house = House()
    yield house
    assert not house.world.last_output()
    house.node.probe()


# --- values -----------------------------------------------------------------------------------------------


def test_images_updates_and_disturbances(house: House) -> None:
    subject = house.subscribed("a", BID=1, ASK=2)
    house.publisher.publish(subject, data={"BID": 3})
    house.publisher.publish(subject, status="stale")
    house.publisher.publish(subject, data={"BID": 4})
    house.publisher.publish(subject, type="initial", data={"BID": 5})
    assert house.told(subject) == [
        ("ok", {"BID": 1, "ASK": 2}),
        ("ok", {"BID": 3, "ASK": 2}),
        ("stale", {"BID": 3, "ASK": 2}),
        ("stale", {"BID": 4, "ASK": 2}),
        ("ok", {"BID": 5}),
    ]


@pytest.mark.parametrize("is_polite", [True, False])
def test_without_its_publisher_a_value_is_stale_and_whole_again_with_another(house: House, is_polite: bool) -> None:
    subject = house.subscribed("a", BID=1)
    if is_polite:
        house.publisher.bye()
    else:
        house.publisher.stop_beating()
        house.pause((GONE + 1) * INTERVAL)
    assert house.told(subject)[1:] == [("stale", {"BID": 1})]
    house.another("dora", {subject: {"BID": 2}})
    assert house.told(subject)[2:] == [("ok", {"BID": 2})]


def test_a_publisher_that_has_no_value_takes_none_away_from_another(house: House) -> None:
    subject = house.subscribed("a", BID=1)
    house.publisher.is_serving = False
    other = house.another("dora", {})
    assert not house.node.events("status", subject)
    other.bye()
    assert house.told(subject) == [("ok", {"BID": 1})]
    # The value is still that of the first.
    house.publisher.bye()
    assert house.told(subject)[1:] == [("stale", {"BID": 1})]


def test_a_value_that_its_publisher_has_lost_is_forgotten(house: House) -> None:
    subject = house.subscribed("a", BID=1, ASK=2)
    house.publisher.is_serving = False
    again = house.another(house.publisher.user, {})
    assert house.node.events("status", subject) == ["not_found"]
    again.publish(subject, data={"BID": 3})
    assert house.told(subject)[1:] == [("ok", {"BID": 3})]


# --- subscriptions ----------------------------------------------------------------------------------------


def test_a_subject_goes_on_by_wildcard_when_it_is_not_named_any_more(house: House) -> None:
    subject = house.subscribed("w.a", BID=1, ASK=2)
    house.node.command("psubscribe", "LAB.w.>")
    house.node.command("unsubscribe", subject)
    house.publisher.publish(subject, data={"BID": 3})
    assert house.told(subject)[1:] == [("ok", {"BID": 3, "ASK": 2})]
    house.node.command("punsubscribe", "LAB.w.>")
    house.publisher.publish(subject, data={"BID": 4})
    assert len(house.told(subject)) == 2
    assert not house.subscriber.found


def test_what_a_wildcard_brought_is_asked_for_when_it_was_disturbed(house: House) -> None:
    house.node.command("psubscribe", "LAB.w.>")
    house.publisher.publish("LAB.w.a", data={"BID": 1})
    house.publisher.publish("LAB.w.b", data={"BID": 1})
    house.pause(0.1)
    assert not house.asked(SnapRequest)
    house.publisher.bye()
    house.another("dora", {"LAB.w.a": {"BID": 2}})
    assert house.told("LAB.w.a") == [("ok", {"BID": 1}), ("stale", {"BID": 1}), ("ok", {"BID": 2})]
    assert sorted(house.asked(SnapRequest)) == ["_SNAP.LAB.w.a", "_SNAP.LAB.w.b"]
    assert not house.node.events("snapshot")


def test_a_renamed_subject_is_subscribed_under_its_new_name(house: House) -> None:
    subject = house.subscribed("a", BID=1)
    house.publisher.values["LAB.b"] = {"BID": 2}
    house.publisher.say(subject, Published(type="drop", status="relocate", text="LAB.b"))
    assert house.told("LAB.b") == [("ok", {"BID": 2})]
    assert house.node.events("drop", subject) == ["relocate LAB.b"]
    assert list(house.subscriber.wanted) == ["LAB.b"]


def test_the_new_name_may_stand_where_subjects_stand(house: House) -> None:
    subject = house.subscribed("a", BID=1)
    house.publisher.values["LAB.b"] = {"BID": 2}
    house.publisher.say(subject, Published(type="drop", status="relocate", subject="LAB.b"))
    assert house.told("LAB.b") == [("ok", {"BID": 2})]
    assert house.node.events("drop", subject) == ["relocate LAB.b"]
    assert list(house.subscriber.wanted) == ["LAB.b"]


def test_only_wildcards_that_are_asked_for_are_said_again(house: House) -> None:
    for each in ("LAB.w.>", "LAB.*.a", "LAB.v.>"):
        house.node.command("psubscribe", each)
    house.pause(0.1)
    since = house.node.source.place
    body = GetSubs(return_="subs", last_seen=0, wildcard="LAB.w.>")
    house.publisher.say(inbox(house.node.source.node_session, GET_SUBS), body)
    assert house.asked(WildStart, since) == ["_PSUB.START.LAB.w._", "_PSUB.START.LAB._"]


def test_answers_in_an_inbox_of_before_are_none(house: House) -> None:
    subject = house.node.subject("a")
    house.publisher.is_serving = False
    house.node.command("subscribe", subject)
    house.pause(0.1)
    [other] = house.subscriber.others.values()
    tail = next(iter(house.subscriber.asked))
    for session, is_ours in (("sam.before", False), (house.subscriber.session, True)):
        body = Reply(type="start", subject=subject, data=Raw(b'{"BID":1}'))
        house.subscriber.take(of(inbox(session, tail), other.session, 1000, body), other, house.world.clock.now())
        assert (house.subscriber.wanted[subject].record is not None) == is_ours


def test_what_was_dropped_for_want_of_subscribers_is_started_again(house: House) -> None:
    subject = house.subscribed("a", BID=1)
    house.publisher.publish(subject, type="drop", status="nosubscribers")
    assert house.asked(SubStart) == [f"_SUB.START.{subject}"] * 2
    assert house.told(subject) == [("ok", {"BID": 1})] * 2


def test_all_that_is_subscribed_is_said_again(house: House) -> None:
    subjects = [house.subscribed(name, BID=1) for name in "ab"]
    body = GetSubs(return_="subs", last_seen=0, wildcard="LAB.a")
    house.publisher.say(inbox(house.node.source.node_session, GET_SUBS), body)
    assert house.asked(Subs) == [inbox(house.publisher.session, "subs")]
    [answer] = house.node.source.received(Subs)
    assert isinstance(answer.body, Subs)
    assert answer.body.subs == subjects[:1]


# --- the broker -------------------------------------------------------------------------------------------


def test_the_broker_goes_and_comes_back(house: House) -> None:
    subject = house.subscribed("a", BID=1)
    before = house.subscriber.session
    house.node.outage()
    assert house.node.values(subject)[1:] == [("stale", {"BID": 1})]
    house.another("dora", {subject: {"BID": 2}})
    assert house.told(subject)[2:] == [("ok", {"BID": 2})]
    assert house.subscriber.session != before


def test_the_application_goes_on_while_the_broker_is_away() -> None:
    house = House()
    subject = house.subscribed("a", BID=1)
    house.world.refuse(0)
    house.world.wait(house.world.clock.now() + AGAIN)
    house.world.command("subscribe", "LAB.b")
    house.world.command("unsubscribe", subject)
    with pytest.raises(ControlFailed):
        house.world.command("snapshot", subject)
    assert list(house.subscriber.wanted) == ["LAB.b"]


# --- bounds -----------------------------------------------------------------------------------------------


def test_questions_are_forgotten_in_the_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.rai.peers.subscriber.QUESTIONS", 10)
    assert QUESTIONS > 10
    subject = house.subscribed("a", BID=1)
    for _ in range(50):
        house.node.command("snapshot", subject)
    assert len(house.node.events("snapshot", subject)) == 0
    house.pause(1)
    assert len(house.subscriber.asked) <= 10 + 2
    assert house.node.events("snapshot", subject)
    house.node.command("unsubscribe", subject)
    assert house.asked(SubStop) == [f"_SUB.STOP.{subject}"]
