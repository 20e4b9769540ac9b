"""The reference router-cache in memory and virtual time: subjects that end, wildcards, sources that go, and bounds."""

from typing import Any

import pytest
from router_houses import SILENCE, House, told

from harness.rai.peers.broker_dialler import AGAIN
from harness.rai.peers.router_cache import SOURCE, SUBSCRIBERS, RouterCache
from harness.rai.peers.router_halves import PATIENCE
from harness.rai.peers.subscriber import QUESTIONS
from wire.rai.values import (
    Published,
    Subs,
    SubStart,
    SubStop,
    Told,
    inbox,
)


@pytest.fixture
def house() -> Any:
    """A router-cache that must be alive when the test is over."""
    house = House()
    yield house
    assert not house.world.last_output()
    house.node.probe()


# --- the end of subjects ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "members",
    [
        {"status": "expired"},
        {"status": "preempted"},
        {"status": "relocate", "text": "LAB.b"},
        {"status": "relocate", "subject": "LAB.b"},
    ],
)
def test_a_drop_is_passed_on(house: House, members: dict[str, Any]) -> None:
    subject = house.started("a", BID=1)
    house.source.say(subject, Published(type="drop", **members))
    assert house.published(subject) == [("drop", members["status"], None)]
    body = house.node.broker.received(since=0)[-1].body
    assert isinstance(body, Told)
    assert (body.text, body.subject) == (members.get("text"), members.get("subject"))
    assert not house.router.front.wanted
    assert not house.router.back.records
    # Nobody has asked for the other subject.
    assert house.questions(SubStart) == [f"_SUB.START.{subject}"]


def test_a_drop_for_want_of_subscribers_is_answered_by_a_start(house: House) -> None:
    subject = house.started("a", BID=1)
    since = house.node.source.place
    house.node.given("a", BID=2)
    house.source.publish(subject, type="drop", status="nosubscribers")
    assert house.source.started(subject, since=since)
    assert house.published(subject) == [("initial", "ok", {"BID": 2})]


def test_when_the_last_has_left_the_source_is_told_and_nothing_is_kept(house: House) -> None:
    subject = house.started("a", BID=1)
    house.node.other.subscribe(subject)
    house.node.main.stop(subject)
    assert not house.questions(SubStop)
    house.node.other.bye()
    assert house.questions(SubStop) == [f"_SUB.STOP.{subject}"]
    assert house.published(subject) == [("drop", "nosubscribers", None)]
    assert not house.router.back.records
    assert not house.router.front.wanted
    house.node.given("a", BID=9)
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 9})


def test_subscriptions_of_the_silent_end(house: House) -> None:
    subject = house.started("a", BID=1)
    house.node.main.stop_beating()
    house.pause(2 * SILENCE)
    assert house.published(subject) == [("drop", "nosubscribers", None)]
    assert not house.router.front.wanted


def test_what_is_said_again_is_shown_and_the_source_asked_for_what_is_new(house: House) -> None:
    subject = house.started("a", BID=1)
    main, new = house.node.main, house.node.given("b", BID=2)
    assert main.subscribed(subject)
    router = house.router.back.session
    body = Subs(last_seen=0, initial=True, ack=True, subs=[subject, new, "ELSE.a"], subs_return=["x", "y", "z"])
    main.say(inbox(router, "tess.subs"), body)
    for returned, bid in (("x", 1), ("y", 2)):
        assert [
            told(each)[1:] for each in (main.reply(returned), main.reply(returned, lambda body: body.has_data))
        ] == [
            ("ack", None),
            ("ok", {"BID": bid}),
        ]
    assert not main.replies("z")
    assert sorted(house.router.front.wanted) == [subject, new]


# --- wildcards --------------------------------------------------------------------------------------------


def test_wildcards_are_subscribed_at_the_source_and_given_up_with_the_last(house: House) -> None:
    source, main, other = house.source, house.node.main, house.node.other
    for each in (main, other):
        each.start_wild("LAB.w.>")
    assert source.started_wild("LAB.w.>")
    source.publish("LAB.w.a", data={"BID": 1})
    assert house.published("LAB.w.a") == [("update", "ok", {"BID": 1})]
    source.values["LAB.w.a"] = {"BID": 1, "ASK": 2}
    assert house.snapshot("LAB.w.a") == ("snap", "ok", {"BID": 1, "ASK": 2})
    source.publish("LAB.w.a", data={"BID": 2})
    assert house.snapshot("LAB.w.a") == ("snap", "ok", {"BID": 2, "ASK": 2})
    main.stop_wild("LAB.w.>")
    source.publish("LAB.w.a", data={"BID": 3})
    assert house.published("LAB.w.a")[-1] == ("update", "ok", {"BID": 3})
    other.stop_wild("LAB.w.>")
    assert house.published("LAB.w.a")[-1] == ("drop", "nosubscribers", None)
    assert not house.router.front.wild
    assert not house.router.front.found
    assert not house.router.back.records


def test_the_pattern_decides_what_a_wildcard_brings(house: House) -> None:
    house.node.main.start_wild("LAB.w.>", pattern=r"(?s)\ALAB\.(w|v)\.a")
    house.pause(0.1)
    for name in ("w.a", "w.b", "v.a", "v.b"):
        house.source.publish(house.node.subject(name), data={"BID": 1})
    passed = {event.subject for event in house.node.broker.received() if event.subject.startswith("LAB.")}
    house.pause(0.1)
    passed = {event.subject for event in house.node.broker.received() if event.subject.startswith("LAB.")}
    assert passed == {"LAB.w.a", "LAB.v.a"}


def test_a_subject_goes_on_by_wildcard_when_nobody_names_it_any_more(house: House) -> None:
    subject = house.started("w.a", BID=1)
    house.node.other.start_wild("LAB.w.>")
    house.node.main.stop(subject)
    house.pause(0.1)
    since = house.node.broker.place
    house.source.publish(subject, data={"BID": 2})
    assert house.published(subject, since) == [("update", "ok", {"BID": 2})]
    assert not house.router.front.wanted
    house.source.bye()
    assert house.published(subject, since)[1:] == [("update", "stale", None)]
    assert house.snapshot(subject) == ("snap", "stale", {"BID": 2})


def test_what_a_wildcard_brought_is_whole_again_after_its_source_was_gone(house: House) -> None:
    house.node.main.start_wild("LAB.w.>")
    house.source.started_wild("LAB.w.>")
    house.source.publish("LAB.w.a", data={"BID": 1})
    house.source.bye()
    assert house.published("LAB.w.a")[1:] == [("update", "stale", None)]
    again = house.returned({"LAB.w.a": {"BID": 2}})
    assert again.started_wild("LAB.w.>")
    assert house.published("LAB.w.a")[2:] == [("initial", "ok", {"BID": 2})]


def test_what_is_not_served_does_not_pass(house: House) -> None:
    house.node.main.start_wild(">")
    house.pause(0.1)
    house.source.publish("ELSE.a", data={"BID": 1})
    house.source.publish("LAB.a", data={"BID": 1})
    assert house.published("LAB.a")
    assert not house.published("ELSE.a")
    assert not house.router.front.wild.keys() - {"LAB.>"}


# --- sources that go --------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_polite", [True, False])
def test_without_its_source_a_value_is_stale(house: House, is_polite: bool) -> None:
    subject = house.started("a", BID=1)
    if is_polite:
        house.source.bye()
    else:
        house.source.stop_beating()
        house.pause(SILENCE + 5)
    assert house.published(subject) == [("update", "stale", None)]
    assert house.snapshot(subject) == ("snap", "stale", {"BID": 1})


def test_a_source_that_returns_makes_values_whole_again(house: House) -> None:
    subject = house.started("a", BID=1)
    house.source.bye()
    house.returned({subject: {"BID": 2}})
    house.pause(1)
    assert house.published(subject) == [("update", "stale", None), ("initial", "ok", {"BID": 2})]


def test_a_source_that_says_the_same_again_is_no_news(house: House) -> None:
    subject = house.started("a", BID=1)
    again = house.returned({subject: {"BID": 1}})
    assert again.started(subject)
    assert not house.published(subject)


def test_the_brokers_of_sources_go_and_come_back(house: House) -> None:
    subject = house.started("a", BID=1)
    house.world.refuse(SOURCE)
    house.pause(1)
    assert house.published(subject) == [("update", "stale", None)]
    assert house.snapshot(subject) == ("snap", "stale", {"BID": 1})
    assert told(house.node.main.snapshot(house.node.subject("b"), format="json")) == ("snap", "temp_unavail", None)
    house.world.admit(SOURCE)
    house.pause(2 * AGAIN)
    assert house.router.front.link is not None


def test_the_brokers_of_subscribers_go_and_come_back() -> None:
    house = House()
    subject = house.started("a", BID=1)
    house.node.main.snapshot(house.node.subject("never"))
    house.world.refuse(SUBSCRIBERS)
    house.world.admit(SUBSCRIBERS)
    house.node.source.pause(2 * AGAIN)
    assert house.router.back.link is not None
    assert not house.router.back.interests.has_any(house.node.main.session)
    # It is kept for a while, for those who come back.
    assert subject in house.router.back.records
    house.source.stop_beating()
    house.source.beats = True
    house.node.source.pause(SILENCE)
    assert not house.router.back.records
    assert not house.router.front.wanted


# --- bounds -----------------------------------------------------------------------------------------------


def test_nothing_is_left_of_what_came_and_went(house: House) -> None:
    source, main = house.source, house.node.main
    for number in range(30):
        subject = f"LAB.s{number}"
        source.values[subject] = {"BID": number}
        main.start(subject, return_=number, initial=True)
        main.snapshot(f"LAB.never{number}")
        main.start_wild(f"LAB.w{number}.>")
        source.publish(f"LAB.w{number}.a", data={"BID": 1})
    house.pause(1)
    main.bye()
    house.pause(PATIENCE + 1)
    back, front = house.router.back, house.router.front
    kept = (
        back.records,
        back.questions,
        back.put_off,
        back.fetched,
        front.wanted,
        front.found,
        front.wild,
        front.absent,
    )
    assert not any(kept)
    assert len(front.asked) < QUESTIONS


def test_two_halves_at_one_broker_do_not_hear_each_other() -> None:
    router = RouterCache(seed=1)
    router.reached(SOURCE, 1, 0.0)
    router.reached(SUBSCRIBERS, 2, 0.0)
    for link, frame in list(router.drain(0.0)):
        if frame is not None:
            router.received(3 - link, frame, 0.0)
    assert not router.front.others
    assert not router.back.others
