"""The reference router-cache in memory and virtual time: what it keeps, passes on, asks for, and gives up again."""

import json
from typing import Any

import pytest

from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.rai.peers.node import AGAIN, GONE
from harness.rai.peers.router_cache import SOURCE, SUBSCRIBERS, RouterCache
from harness.rai.peers.router_halves import PATIENCE
from harness.rai.peers.subscriber import QUESTIONS
from harness.rai.protocol import PROTOCOL
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from harness.rai.tester.session import TestSession
from harness.trace import Trace
from wire.rai.values import (
    DICT,
    Dict,
    DictRequest,
    Publish,
    Raw,
    Reply,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    Told,
    inbox,
)

SILENCE = GONE * 10 + 1
"""Seconds after which a session that says nothing is over."""


class House:
    """A router-cache in a world of its own, with who speaks to it on both sides."""

    def __init__(self) -> None:
        self.world: World = PROTOCOL.world(self.make, "router-cache")
        self.trace = Trace("rai", "memory", self.world.clock)
        self.node = NodeUnderTest(self.world, self.trace, profile="document", namespace="")
        self.source = self.node.publisher

    def make(self, settings: PeerSettings) -> RouterCache:
        self.router = RouterCache.of(settings)
        return self.router

    def started(self, name: str, **fields: Any) -> str:
        """Have a subject with a value be subscribed, and return it."""
        subject = self.node.given(name, **fields)
        self.node.main.image(subject)
        return subject

    def returned(self, values: dict[str, dict[str, Any]]) -> TestPublisher:
        """Return another publisher, which has values before the router-cache trusts it."""
        session, greeting = self.node.greeted(self.node.source)
        made = TestPublisher(self.node.source, "dora")
        made.values |= values
        made.hello()
        made.prove(session, greeting.time, greeting.cnonce)
        return made

    def pause(self, seconds: float) -> None:
        self.node.broker.pause(seconds)

    def published(self, subject: str, since: int = 0) -> list[tuple[str, str, Any]]:
        """Return what the router-cache has published on a subject: type, status, fields."""
        self.pause(0.1)
        return [told(event) for event in self.node.broker.received(since=since) if event.subject == subject]

    def snapshot(self, subject: str, session: TestSession | None = None) -> tuple[str, str, Any]:
        return told((session or self.node.main).snapshot(subject))

    def questions(self, form: type, since: int = 0) -> list[str]:
        """Return the subjects under which the source was asked something."""
        self.pause(0.1)
        return [event.subject for event in self.node.source.received(form, since=since)]


def told(event: Event | None) -> tuple[str, str, Any]:
    assert event is not None
    body = event.body
    assert isinstance(body, Told)
    return body.kind, body.state, json.loads(bytes(body.data)) if body.has_data else None


@pytest.fixture
def house() -> Any:
    """A router-cache that must be alive when the test is over."""
    house = House()
    yield house
    assert not house.world.last_output()
    house.node.probe()


# --- images -----------------------------------------------------------------------------------------------


def test_who_starts_a_subject_waits_for_the_source_and_has_its_image(house: House) -> None:
    subject = house.node.given("a", BID=1, ASK=2)
    assert told(house.node.main.image(subject)) == ("start", "ok", {"BID": 1, "ASK": 2})
    assert house.questions(SubStart) == [f"_SUB.START.{subject}"]
    assert not house.questions(SnapRequest)
    assert not house.published(subject)


def test_the_cache_answers_with_updates_in_it_and_asks_nobody(house: House) -> None:
    subject = house.started("a", BID=1, ASK=2)
    house.source.publish(subject, data={"BID": 3})
    since = house.node.source.place
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 3, "ASK": 2})
    assert told(house.node.other.image(subject)) == ("start", "ok", {"BID": 3, "ASK": 2})
    assert not house.questions(SnapRequest, since)
    assert not house.questions(SubStart, since)


def test_what_is_not_kept_is_asked_for_and_not_kept(house: House) -> None:
    subject = house.node.given("a", BID=1)
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 1})
    house.node.given("a", BID=2)
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 2})
    assert not house.router.back.records


def test_several_who_wait_are_all_answered_and_the_source_is_asked_once(house: House) -> None:
    source, (main, other) = house.source, (house.node.main, house.node.other)
    source.is_serving = False
    subject = house.node.subject("a")
    for each in (main, other):
        each.start(subject, return_=each.new_return(), initial=True)
        each.say(f"_SNAP.{subject}", SnapRequest(return_="s"))
    started = source.started(subject)
    assert started is not None
    since = house.node.broker.place
    source.answer(started.message.session, started.body.return_, type="start", subject=subject, data={"BID": 1})  # type: ignore[attr-defined]
    house.pause(1)
    replies = [[told(each)[0] for each in session.replies(since=since)] for session in (main, other)]
    assert replies == [["start", "snap"], ["start", "snap"]]
    assert len(house.questions(SubStart)) == 1
    assert not house.questions(SnapRequest)


@pytest.mark.parametrize("status", ["not_found", "perm_denied", "bad_access", "temp_unavail"])
def test_why_there_is_no_value_is_handed_on(house: House, status: str) -> None:
    source, main, subject = house.source, house.node.main, house.node.subject("a")
    source.is_serving = False
    main.start(subject, return_=7, initial=True)
    started = source.started(subject)
    assert started is not None
    source.answer(started.message.session, started.body.return_, type="start", subject=subject, status=status)  # type: ignore[attr-defined]
    assert told(main.reply(7)) == ("start", status, None)
    # And what comes later is told to all.
    source.answer(started.message.session, started.body.return_, type="start", subject=subject, data={"BID": 1})  # type: ignore[attr-defined]
    assert house.published(subject) == [("initial", "ok", {"BID": 1})]


def test_a_source_that_does_not_answer_is_unavailable_for_now(house: House) -> None:
    house.source.is_serving = False
    main, subject = house.node.main, house.node.subject("a")
    main.start(subject, return_=1, initial=True)
    house.pause(PATIENCE - 1)
    assert not main.replies(1)
    assert told(main.reply(1)) == ("start", "temp_unavail", None)
    assert not house.router.back.questions
    # Who asks again has the source asked again.
    house.source.is_serving = True
    house.node.given("a", BID=1)
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 1})
    assert house.published(subject) == [("initial", "ok", {"BID": 1})]


def test_who_has_left_is_not_answered(house: House) -> None:
    house.source.is_serving = False
    main, subject = house.node.main, house.node.subject("a")
    house.node.other.start(subject)
    main.start(subject, return_=1, initial=True)
    house.pause(0.1)
    main.bye()
    house.pause(PATIENCE + 1)
    assert not main.replies(1)


def test_an_update_without_an_image_is_passed_on_and_no_image(house: House) -> None:
    house.source.is_serving = False
    main, subject = house.node.main, house.node.subject("a")
    main.start(subject)
    house.source.started(subject)
    house.source.publish(subject, data={"BID": 1})
    assert house.published(subject) == [("update", "ok", {"BID": 1})]
    assert subject not in house.router.back.records
    house.source.is_serving = True
    house.node.given("a", BID=1, ASK=2)
    house.pause(PATIENCE)
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 1, "ASK": 2})
    assert subject in house.router.back.records


def test_what_was_not_there_is_whole_as_soon_as_it_comes(house: House) -> None:
    main, subject = house.node.main, house.node.subject("a")
    assert told(main.image(subject)) == ("start", "not_found", None)
    house.source.publish(subject, data={"BID": 1})
    assert house.published(subject) == [("initial", "ok", {"BID": 1})]
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 1})


def test_a_value_that_its_source_has_lost_is_stale_until_it_comes_again(house: House) -> None:
    subject = house.started("a", BID=1, ASK=2)
    since = house.node.broker.place
    del house.source.values[subject]
    house.source.bye()
    again = house.node.new_publisher(house.source.user)
    assert again.started(subject)
    assert house.published(subject, since) == [("update", "stale", None)]
    again.publish(subject, data={"BID": 5})
    assert house.published(subject, since)[1:] == [("initial", "ok", {"BID": 5})]


def test_another_publisher_that_has_no_value_takes_none_away(house: House) -> None:
    subject = house.started("a", BID=1)
    since = house.node.broker.place
    other = house.node.new_publisher()
    assert other.started(subject)
    assert not house.published(subject, since)
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 1})
    other.bye()
    assert not house.published(subject, since)
    house.source.bye()
    assert house.published(subject, since) == [("update", "stale", None)]


def test_a_zeroed_value_stays_one_until_it_is_filled(house: House) -> None:
    source, main, subject = house.source, house.node.main, house.node.subject("a")
    source.is_serving = False
    main.start(subject, return_=1, initial=True)
    started = source.started(subject)
    assert started is not None
    source.answer(started.message.session, started.body.return_, type="verify", subject=subject, data={"BID": 0})  # type: ignore[attr-defined]
    assert told(main.reply(1)) == ("verify", "ok", {"BID": 0})
    assert told(house.node.other.image(subject)) == ("verify", "ok", {"BID": 0})
    source.publish(subject, data={"BID": 4})
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 4})


@pytest.mark.parametrize("name", ["a..b", "a b", "a\tb", "*"])
def test_names_that_brokers_cannot_carry_are_none(house: House, name: str) -> None:
    assert told(house.node.main.image(house.node.subject(name))) == ("start", "bad_name", None)
    assert not house.questions(SubStart)


# --- updates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "passed"),
    [
        ({"data": {"BID": 2}}, ("update", "ok", {"BID": 2})),
        ({"type": "update", "status": "ok", "data": {"BID": 2}}, ("update", "ok", {"BID": 2})),
        ({"status": "conflated", "data": {"BID": 2}}, ("update", "conflated", {"BID": 2})),
        ({"status": "stale", "data": {"BID": 2}}, ("update", "stale", {"BID": 2})),
        ({"status": "stale"}, ("update", "stale", None)),
        ({"status": "feed_down"}, ("update", "feed_down", None)),
        ({"status": "temp_unavail"}, ("update", "temp_unavail", None)),
        ({"type": "recap", "status": "feed_switch", "data": {"BID": 2}}, ("recap", "feed_switch", {"BID": 2})),
        ({"type": "recap", "status": "feed_switch"}, ("recap", "feed_switch", None)),
        ({"type": "initial", "format": "json", "data": {"BID": 2}}, ("initial", "ok", {"BID": 2})),
        ({"type": "verify", "format": "json", "data": {"BID": 2}}, ("initial", "ok", {"BID": 2})),
        (
            {"type": "initial", "status": "feed_switch", "format": "json", "data": {"BID": 2}},
            ("initial", "feed_switch", {"BID": 2}),
        ),
    ],
)
def test_what_the_source_publishes_is_passed_on(
    house: House, members: dict[str, Any], passed: tuple[str, str, Any]
) -> None:
    subject = house.started("a", BID=1, ASK=1)
    house.source.publish(subject, **members)
    assert house.published(subject) == [passed]


@pytest.mark.parametrize("status", ["stale", "feed_down", "feed_switch"])
def test_what_is_disturbed_stays_so_until_an_image_comes(house: House, status: str) -> None:
    subject = house.started("a", BID=1, ASK=1)
    house.source.publish(subject, status=status)
    house.source.publish(subject, data={"BID": 2})
    switched = status == "feed_switch"
    shown = "stale" if switched else status
    assert house.snapshot(subject) == ("snap", shown, {"BID": 2, "ASK": 1})
    assert told(house.node.other.image(subject)) == ("start", status, {"BID": 2, "ASK": 1})
    kind = "recap" if switched else "update"
    assert house.published(subject) == [(kind, status, None), ("update", shown, {"BID": 2})]
    house.source.publish(subject, type="initial", format="json", data={"BID": 3})
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 3})


def test_numbers_stand_as_they_came(house: House) -> None:
    subject = house.node.subject("a")
    house.source.is_serving = False
    house.node.main.start(subject, return_=1, initial=True)
    started = house.source.started(subject)
    assert started is not None
    numbers = b'{"BID":17.50,"BIG":123456789012345678901234567890}'
    body = Reply(type="start", subject=subject, data=Raw(numbers))
    house.source.say(inbox(started.message.session, started.body.return_), body)  # type: ignore[attr-defined]
    reply = house.node.main.reply(1)
    assert reply is not None
    assert bytes(reply.body.data) == numbers  # type: ignore[attr-defined]


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
    house.source.say(subject, Publish(type="drop", **members))
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


# --- trust ------------------------------------------------------------------------------------------------


def test_nothing_untrusted_passes(house: House) -> None:
    subject = house.started("a", BID=1)
    stranger = house.node.source_session("mallory")
    untrusted = house.node.source_session()
    untrusted.hello()
    for each in (stranger, untrusted):
        each.publish(subject, data={"BID": 6})
    house.source.say(subject, Publish(data=Raw(b'{"BID":7}')), digest="A" * 22)
    replayed = house.source.publish(subject, data={"BID": 2})
    house.source.send(replayed)
    # Who is trusted on one side is nobody on the other.
    house.node.main.publish(subject, data={"BID": 8})
    assert house.published(subject) == [("update", "ok", {"BID": 2})]
    assert house.snapshot(subject) == ("snap", "ok", {"BID": 2})


def test_what_it_passes_on_it_says_itself(house: House) -> None:
    subject = house.started("a", BID=1)
    house.source.publish(subject, data={"BID": 2})
    house.pause(0.1)
    sessions = {event.message.session for event in house.node.broker.received()}
    assert sessions == {house.router.back.session}
    assert house.router.back.session != house.router.front.session


# --- dictionaries -----------------------------------------------------------------------------------------


def test_dictionaries_are_fetched_once_and_named_in_images(house: House) -> None:
    source, main, subject = house.source, house.node.main, house.node.subject("a")
    source.dictionaries["fields"] = {"BID": "price"}
    _show_with_dictionary(house, subject, 5)
    reply = main.reply(1)
    assert reply is not None
    assert (reply.body.dictionary, reply.body.dict_csum) == ("fields", 5)  # type: ignore[attr-defined]
    for session in (main, house.node.other):
        session.say(inbox(house.router.back.session, DICT), DictRequest(dictionary="fields", return_="d"))
        house.pause(1)
        assert [event.body.data for event in house.node.broker.received(Dict) if session.session in event.subject]  # type: ignore[attr-defined]
    assert len(house.questions(DictRequest)) == 1
    # Another checksum is another dictionary, and an image that is news.
    source.publish(subject, type="initial", format="json", dictionary="fields", dict_csum=6, data={"BID": 1})
    assert house.published(subject) == [("initial", "ok", {"BID": 1})]
    main.say(inbox(house.router.back.session, DICT), DictRequest(dictionary="fields", return_="e"))
    assert len(house.questions(DictRequest)) == 2


def test_a_dictionary_that_nobody_has_is_not_sent(house: House) -> None:
    house.started("a", BID=1)
    house.node.main.say(inbox(house.router.back.session, DICT), DictRequest(dictionary="none", return_=1))
    assert not house.questions(DictRequest)
    assert not house.router.back.fetched


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


def _show_with_dictionary(house: House, subject: str, checksum: int) -> None:
    house.source.is_serving = False
    house.node.main.start(subject, return_=1, initial=True)
    started = house.source.started(subject)
    house.source.is_serving = True
    assert started is not None
    assert isinstance(started.body, SubStart)
    assert started.body.return_ is not None
    house.source.answer(
        started.message.session,
        started.body.return_,
        type="start",
        subject=subject,
        format="json",
        dictionary="fields",
        dict_csum=checksum,
        data={"BID": 1},
    )
