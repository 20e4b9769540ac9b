"""The Pathfinder monitors: what the document allows, or leaves open, accuses no server."""

from typing import Any

import pytest
from pathfinder_stories import (
    APPEARED,
    CHANGED,
    CLIENT,
    GONE,
    HELLO,
    MODIFIED,
    PUBLISHED,
    SERVICE,
    SUBSCRIBE,
    SUBSCRIBED,
    TOUR,
    WELCOME,
    Edit,
    Line,
    accused,
    ask,
    before,
    but,
    conversation,
    edited,
    findings,
    hello,
    instead,
    message,
    notified,
    publish,
    readings,
    refusal,
    said_why,
    say,
    tell,
)

from conformance.findings import verdicts_on
from conformance.suite import Suite

LISTING = [ask("services", 4), say("services", 4, "accept"), say("services", 4, "notify", service_id=9, **SERVICE)]

INNOCENT: dict[str, list[Line]] = {
    "permission denied before hello": [ask("ping", 1), say("ping", 1, "fail", fail_reason="permission-denied")],
    "answers in another order": [
        HELLO,
        WELCOME,
        ask("ping", 1),
        publish(2, SERVICE),
        ask("ping", 3),
        say("ping", 3, "complete"),
        say("publish", 2, "complete"),
        say("ping", 1, "complete"),
    ],
    "a ta-id used again and again": [HELLO, WELCOME, *3 * [ask("ping", 0), say("ping", 0, "complete")]],
    "a ta-id used again by another command": [
        HELLO,
        WELCOME,
        *3 * [ask("ping", 1), say("ping", 1, "complete"), ask("clients", 1), say("clients", 1, "fail")],
    ],
    "notifications behind unsubscribe": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        ask("unsubscribe", 2, subscription_id=5),
        tell(1, "appeared", SERVICE),
        say("unsubscribe", 2, "complete"),
        tell(1, "modified", CHANGED),
        say("subscribe", 1, "complete"),
    ],
    "the subscription completed first": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        ask("unsubscribe", 2, subscription_id=5),
        say("subscribe", 1, "complete"),
        say("unsubscribe", 2, "complete"),
        ask("subscribe", 1, subscription_id=5),
        say("subscribe", 1, "accept"),
        tell(1, "appeared", SERVICE),
    ],
    "two listings at once": [
        HELLO,
        WELCOME,
        *LISTING,
        ask("services", 5),
        say("services", 5, "accept"),
        say("services", 5, "notify", service_id=9, **SERVICE),
        say("services", 4, "complete"),
        say("services", 5, "complete"),
    ],
    "two subscriptions to one service": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        ask("subscribe", 2, subscription_id=6),
        say("subscribe", 2, "accept"),
        tell(1, "appeared", SERVICE),
        tell(2, "appeared", SERVICE),
        tell(1, "modified", CHANGED),
        tell(2, "modified", CHANGED),
        tell(1, "disappeared"),
        tell(2, "disappeared"),
    ],
    "a service that comes back younger": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        tell(1, "appeared", CHANGED),
        tell(1, "disappeared"),
        tell(1, "appeared", SERVICE),
    ],
    "modified without a change": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        tell(1, "appeared", SERVICE),
        tell(1, "modified", SERVICE),
    ],
    "a fail behind an accept": [
        HELLO,
        WELCOME,
        *LISTING,
        say("services", 4, "fail", fail_reason="insufficient-resources"),
    ],
    "a fail without a reason": [HELLO, WELCOME, ask("unpublish", 1, service_id=1), say("unpublish", 1, "fail")],
    "no-hello before hello": [ask("ping", 1), say("ping", 1, "fail", fail_reason="no-hello"), HELLO, WELCOME],
    "fail without a reason before hello": [ask("ping", 1), say("ping", 1, "fail")],
    "no room before hello": [ask("ping", 1), say("ping", 1, "fail", fail_reason="insufficient-resources")],
    "no-hello behind a hello that was refused": [
        HELLO,
        say("hello", 0, "fail", fail_reason="client-id-exists"),
        ask("ping", 1),
        say("ping", 1, "fail", fail_reason="no-hello"),
    ],
    "denied, pipelined behind a hello that is then refused": [
        HELLO,
        ask("ping", 1),
        say("hello", 0, "fail", fail_reason="permission-denied"),
        say("ping", 1, "fail", fail_reason="permission-denied"),
    ],
    "a later version, where it was offered": [hello(2, 3), say("hello", 0, "complete", protocol_version=3)],
    "versions that do not overlap": [hello(4, 9), say("hello", 0, "fail", fail_reason="unsupported-protocol-version")],
    "the version agreed on, though another range is offered now": [HELLO, WELCOME, hello(3, 4), WELCOME],
    "versions that change": [
        HELLO,
        WELCOME,
        hello(2, 3),
        say("hello", 0, "fail", fail_reason="unsupported-protocol-version"),
    ],
    "a time with a fraction": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        tell(1, "appeared", SERVICE | {"orphan-since": 1700000000.25}),
        tell(1, "modified", SERVICE | {"orphan-since": 1700000000}),
    ],
    "whole numbers with a point": [
        HELLO,
        WELCOME,
        *LISTING,
        say("services", 4, "notify", service_id=10, **SERVICE | {"ttl": 60.0, "service-props": {"n": [1.0]}}),
    ],
    "an orphan that waits for its owner, who is here": [
        HELLO,
        WELCOME,
        *LISTING[:2],
        say("services", 4, "notify", service_id=9, **SERVICE | {"orphan-since": 5}),
        publish(5, SERVICE),
        say("services", 4, "notify", service_id=10, **SERVICE | {"orphan-since": 5}),
        say("services", 4, "complete"),
        say("publish", 5, "complete"),
        *SUBSCRIBE,
        tell(1, "appeared", SERVICE | {"orphan-since": 5}),
    ],
    "an orphan of another client, once published here": [
        HELLO,
        WELCOME,
        publish(5, SERVICE),
        say("publish", 5, "complete"),
        *LISTING[:2],
        say("services", 4, "notify", service_id=9, **SERVICE | {"client-id": 8, "orphan-since": 5}),
    ],
    "properties of one name, side by side": [
        HELLO,
        WELCOME,
        *LISTING[:2],
        ("<", notified(b'{"name":["x"],"name":["y"]}')),
    ],
    "larger than most take": [
        HELLO,
        WELCOME,
        *LISTING[:2],
        say("services", 4, "notify", service_id=9, **SERVICE | {"service-props": {"a": ["x" * 300000]}}),
    ],
    "no fields, but for what is asked": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        ask("subscriptions", 5),
        say("subscriptions", 5, "accept"),
        say("subscriptions", 5, "notify", subscription_id=5, client_id=7),
        say("subscriptions", 5, "complete"),
    ],
    "a filter in another text": [
        HELLO,
        WELCOME,
        ask("subscribe", 1, subscription_id=5, filter="(!(!(a=})))"),
        say("subscribe", 1, "accept"),
        ask("subscriptions", 5),
        say("subscriptions", 5, "accept"),
        say("subscriptions", 5, "notify", subscription_id=5, client_id=7, filter="(a=})"),
    ],
    "a closed subscription still listed without its filter": [
        HELLO,
        WELCOME,
        ask("subscribe", 1, subscription_id=5, filter="(a=b)"),
        say("subscribe", 1, "fail"),
        ask("subscriptions", 5),
        say("subscriptions", 5, "accept"),
        say("subscriptions", 5, "notify", subscription_id=5, client_id=8),
    ],
    "a listing that is cut off": [HELLO, WELCOME, ask("clients", 6), say("clients", 6, "accept")],
    "clients asked for while hello is on its way": [
        HELLO,
        ask("clients", 6),
        WELCOME,
        say("clients", 6, "accept"),
        say("clients", 6, "complete"),
    ],
    "whatever follows a ta-id that is used twice": [
        HELLO,
        WELCOME,
        *SUBSCRIBE,
        ask("ping", 1),
        say("ping", 1, "complete"),
        tell(1, "modified", SERVICE),
        say("subscribe", 1, "accept"),
    ],
    "whatever follows a client's answer": [
        HELLO,
        WELCOME,
        (">", message("ping", 1, "complete", {})),
        say("ping", 1, "fail"),
    ],
    "silence": [HELLO],
    "nothing": [],
}


@pytest.mark.parametrize("story", INNOCENT)
def test_what_the_document_allows_a_server_is_not_accused(story: str) -> None:
    assert said_why(conversation(INNOCENT[story])) == []


@pytest.mark.parametrize(
    ("edit", "reading"),
    [
        (but(MODIFIED, ta_id=1), "PF-102 R01=A"),
        (but(MODIFIED, msg_type="notification"), "PF-102 R01=B"),
        (but(GONE, match_type="disappeared"), "PF-128 R02=A"),
        (but(GONE, match_type="removed"), "PF-128 R02=B"),
        (but(CLIENT, time=1), "PF-176 R04=A"),
        (but(CLIENT, client_addr=None, client_address="x"), "PF-176 R04=B"),
        (but(refusal("services"), fail_reason="invalid-filter-syntax"), "PF-156 R07=A"),
        (before(0, ask("ping", 1), say("ping", 1, "fail", fail_reason="no-hello")), "PF-106 R34=A"),
    ],
)
def test_what_has_two_readings_is_recorded_and_accuses_nobody(edit: Edit, reading: str) -> None:
    told = conversation(edited(edit))
    assert said_why(told) == []
    assert reading in readings(told)


def test_an_unreadable_message_accuses_nobody_of_what_may_have_been_in_it() -> None:
    for at in (SUBSCRIBED, APPEARED, PUBLISHED):
        assert accused(conversation(edited(instead(at, b"?")))) == {"PF-077": {at}}


ODD: list[Any] = [None, True, -1, 1.5, float("inf"), 2**64, "accept", [[]], {"a": [{}]}]
NAMES = sorted({name for _, what in TOUR if isinstance(what, dict) for name in what})


@pytest.mark.parametrize("role", ["server", "client"])
@pytest.mark.parametrize("name", NAMES)
def test_no_field_however_odd_is_too_much_for_a_monitor(name: str, role: str) -> None:
    for value in ODD:
        said = [(who, {**what, name: value}) for who, what in TOUR if isinstance(what, dict) and name in what]
        assert findings(conversation([*TOUR[:2], *said], role=role))


@pytest.mark.parametrize(
    "frame",
    [b"", b"\xff", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 100_000, b'{"ta-id":%s}' % (b"9" * 100_000)],
    ids=["empty", "no text", "arrays", "objects", "digits", "ta-id"],
)
def test_no_frame_however_odd_is_too_much_for_a_monitor(frame: bytes) -> None:
    for at in range(0, len(TOUR), 7):
        assert findings(conversation(edited(instead(at, frame))))


@pytest.mark.parametrize(
    ("least", "most", "agreed", "is_judged"),
    [
        *((2, 2, 2, True), (2, 3, 2, True), (0, 2, 1, True), (2, 2, 3, True), (4, 5, 3, True)),
        *((2, 3, 3, False), (0, 1, 1, False), (1, 3, 1, False)),
    ],
)
def test_where_another_version_is_agreed_on_another_document_has_the_session(
    least: int, most: int, agreed: int, is_judged: bool
) -> None:
    """A regression: nodes of version 3 were accused of each field that this version does not have.

    Who names a version that was not offered, or one below this where this is the highest, is judged.
    """
    story = conversation(
        [
            ask("hello", 0, client_id=7, protocol_minimum_version=least, protocol_maximum_version=most),
            say("hello", 0, "complete", protocol_version=agreed),
            ask("ping", 1),
            say("ping", 1, "complete", load=7),
        ]
    )
    cited = {each.rule for each in verdicts_on(story, Suite("pathfinder"), "document", "story").cited}
    assert ("PF-081" in cited) is is_judged


def test_a_version_that_is_agreed_on_stays_whatever_another_hello_offers() -> None:
    story = conversation(
        [
            *(HELLO, WELCOME, ask("hello", 1, client_id=7, protocol_minimum_version=2, protocol_maximum_version=3)),
            *(say("hello", 1, "complete", protocol_version=3), ask("ping", 2), say("ping", 2, "complete", load=7)),
        ]
    )
    assert story.is_clean
    assert "PF-081" in accused(story)
