"""The reference router-cache in memory and virtual time: what it shows, passes on, believes, and fetches."""

from typing import Any

import pytest
from router_houses import House, told

from harness.rai.peers.router_halves import PATIENCE
from wire.rai.values import (
    DICT,
    Dict,
    DictRequest,
    Published,
    Raw,
    Reply,
    SnapRequest,
    SubStart,
    inbox,
)


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
    assert house.snapshot(subject) == ("snap", "not_found", None)
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


# --- trust ------------------------------------------------------------------------------------------------


def test_nothing_untrusted_passes(house: House) -> None:
    subject = house.started("a", BID=1)
    stranger = house.node.source_session("mallory")
    untrusted = house.node.source_session()
    untrusted.hello()
    for each in (stranger, untrusted):
        each.publish(subject, data={"BID": 6})
    house.source.say(subject, Published(data=Raw(b'{"BID":7}')), digest="A" * 22)
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
