"""The Pathfinder monitors: truth is kept, each lie of a server is seen where it was told, and nobody else is blamed."""

import pytest
from pathfinder_stories import (
    APPEARED,
    CHANGED,
    CLIENT,
    ENDED,
    GONE,
    HELLO,
    LISTED,
    MODIFIED,
    PONG,
    SERVICE,
    SUBSCRIPTION,
    TOUR,
    UNPUBLISHED,
    WELCOME,
    Edit,
    Line,
    accused,
    ask,
    before,
    both,
    but,
    conversation,
    edited,
    findings,
    hello,
    instead,
    notified,
    refusal,
    said_why,
    say,
    tell,
    without,
)

from conformance.catalogue.loading import load_catalogue
from conformance.pathfinder.monitors import MONITORS

CATALOGUE = load_catalogue("pathfinder")


def test_every_rule_for_monitors_has_one_and_every_monitor_a_rule() -> None:
    watched = {monitor.rule for monitor in MONITORS}
    assert watched <= CATALOGUE.rules.keys()
    assert {rule.id for rule in CATALOGUE.rules.values() if "monitor" in rule.verified} <= watched


def test_no_two_monitors_have_a_name() -> None:
    names = [monitor.name for monitor in MONITORS]
    assert sorted(set(names)) == sorted(names)


def test_a_server_that_keeps_the_document_is_not_accused() -> None:
    assert said_why(conversation(TOUR)) == []


def test_a_server_that_keeps_the_document_gives_evidence_for_each_rule() -> None:
    lines = [
        *TOUR,
        ask("hello", 1, client_id=8, protocol_minimum_version=2, protocol_maximum_version=2),
        say("hello", 1, "fail"),
    ]
    watched = {each.rule for each in MONITORS if CATALOGUE.rules[each.rule].binds != "client"}
    unseen = watched - findings(conversation(lines)).keys()
    assert unseen == {"PF-106", "PF-149"}  # the one is about what comes before hello, the other about requests


def test_a_server_is_judged_up_to_wherever_the_conversation_ends() -> None:
    for end in range(len(TOUR)):
        assert said_why(conversation(TOUR[:end])) == []


LIES: dict[str, tuple[Edit, int, set[str]]] = {
    # messages
    "integer beyond 64 bits": (instead(LISTED, notified(b'{"n":[9223372036854775808]}')), LISTED, {"PF-002"}),
    "integer below 64 bits": (instead(LISTED, notified(b'{"n":[-9223372036854775809]}')), LISTED, {"PF-002"}),
    "field beyond 64 bits": (but(LISTED, ttl=2**63), LISTED, {"PF-002", "PF-003", "PF-153"}),
    "negative field": (but(LISTED, ttl=-1), LISTED, {"PF-003", "PF-153"}),
    "fraction": (but(CLIENT, time=1.5), CLIENT, {"PF-003", "PF-176"}),
    "negative identifier": (but(CLIENT + 1, client_id=-8), CLIENT + 1, {"PF-003", "PF-006", "PF-176"}),
    "identifier as text": (but(CLIENT + 1, client_id="8"), CLIENT + 1, {"PF-006", "PF-078", "PF-176"}),
    "NUL": (but(CLIENT, client_addr="a\0"), CLIENT, {"PF-004"}),
    "NUL in the name of a property": (but(LISTED, service_props={"a\0": [1]}), LISTED, {"PF-004"}),
    "raw NUL": (instead(LISTED, notified(b'{"n":["a\0"]}')), LISTED, {"PF-004"}),
    "property with a fraction": (but(LISTED, service_props={"n": [1.5]}), LISTED, {"PF-013"}),
    "property that is a truth": (but(LISTED, service_props={"n": [True]}), LISTED, {"PF-013"}),
    "bare property": (but(LISTED, service_props={"n": 1}), LISTED, {"PF-013"}),
    "properties in an array": (but(LISTED, service_props=[1]), LISTED, {"PF-078", "PF-153"}),
    "two in a frame": (
        instead(PONG, b'{"ta-cmd":"ping","ta-id":7,"msg-type":"complete"} {"ta-cmd":"ping"}'),
        PONG,
        {"PF-061"},
    ),
    "a comma too many": (instead(PONG, b'{"ta-cmd":"ping","ta-id":7,"msg-type":"complete",}'), PONG, {"PF-077"}),
    "cut off": (instead(PONG, b'{"ta-cmd":"ping","ta-id":7,"msg-type":"comp'), PONG, {"PF-077"}),
    "not UTF-8": (instead(LISTED, notified(b'{"n":["\xff"]}')), LISTED, {"PF-077"}),
    "text for a number": (but(LISTED, ttl="60"), LISTED, {"PF-078", "PF-153"}),
    "truth for a number": (but(LISTED, ttl=True), LISTED, {"PF-078", "PF-153"}),
    "null": (
        instead(PONG, b'{"ta-cmd":"ping","ta-id":7,"msg-type":"fail","fail-reason":null}'),
        PONG,
        {"PF-078", "PF-105"},
    ),
    "doubled field": (instead(PONG, b'{"ta-cmd":"ping","ta-id":7,"ta-id":7,"msg-type":"complete"}'), PONG, {"PF-079"}),
    "array": (instead(PONG, b'[{"ta-cmd":"ping","ta-id":7,"msg-type":"complete"}]'), PONG, {"PF-080"}),
    "number": (instead(PONG, b"7"), PONG, {"PF-080"}),
    # fields
    "field too many": (but(PONG, time=1), PONG, {"PF-081", "PF-182"}),
    "field too many in a service": (but(LISTED, owner=1), LISTED, {"PF-081"}),
    "no ta-cmd": (but(PONG, ta_cmd=None), PONG, {"PF-082"}),
    "no ta-id": (but(PONG, ta_id=None), PONG, {"PF-082"}),
    "no msg-type": (but(PONG, msg_type=None), PONG, {"PF-082"}),
    "no generation": (but(APPEARED, generation=None), APPEARED, {"PF-103", "PF-129"}),
    "no owner": (but(MODIFIED, client_id=None), MODIFIED, {"PF-103", "PF-129"}),
    "no match-type": (but(APPEARED, match_type=None), APPEARED, {"PF-103", "PF-127"}),
    "no service-id": (but(GONE, service_id=None), GONE, {"PF-103", "PF-127"}),
    "no ttl in a listing": (but(LISTED, ttl=None), LISTED, {"PF-103", "PF-153"}),
    "no subscription-id": (but(SUBSCRIPTION, subscription_id=None), SUBSCRIPTION, {"PF-103", "PF-144"}),
    "no address": (but(CLIENT, client_addr=None), CLIENT, {"PF-103", "PF-176"}),
    "two addresses": (but(CLIENT, client_address="x"), CLIENT, {"PF-081"}),
    "no version": (but(1, protocol_version=None), 1, {"PF-103", "PF-115"}),
    "reason and more": (but(refusal("subscribe"), detail="x"), refusal("subscribe"), {"PF-081", "PF-105"}),
    "reason that is a number": (but(refusal("subscribe"), fail_reason=5), refusal("subscribe"), {"PF-078", "PF-105"}),
    "unknown match-type": (but(GONE, match_type="gone"), GONE, {"PF-128"}),
    "properties of what is gone": (but(GONE, ttl=30), GONE, {"PF-081", "PF-130"}),
    "orphan since yesterday": (but(LISTED + 1, orphan_since="x"), LISTED + 1, {"PF-078", "PF-228"}),
    "orphan before all times": (but(LISTED + 1, orphan_since=-1), LISTED + 1, {"PF-228"}),
    # reasons
    "reason of subscribe": (but(refusal("subscribe"), fail_reason="bad-filter"), refusal("subscribe"), {"PF-134"}),
    "reason of a filter that was not given": (
        before(
            ENDED + 3,
            ask("subscribe", 50, subscription_id=6),
            say("subscribe", 50, "fail", fail_reason="invalid-filter-syntax"),
        ),
        ENDED + 4,
        {"PF-134"},
    ),
    "reason of unsubscribe": (
        but(refusal("unsubscribe"), fail_reason="non-existent-service-id"),
        refusal("unsubscribe"),
        {"PF-140"},
    ),
    "reason of services": (but(refusal("services"), fail_reason="bad-filter"), refusal("services"), {"PF-156"}),
    "reason of publish": (but(refusal("publish"), fail_reason="client-id-exists"), refusal("publish"), {"PF-164"}),
    "reason of unpublish": (
        but(refusal("unpublish"), fail_reason="non-existent-subscription-id"),
        refusal("unpublish"),
        {"PF-171"},
    ),
    "reason of ping": (but(refusal("ping"), fail_reason="not-ready"), refusal("ping"), {"PF-147"}),
    "no hello, though there was one": (but(refusal("ping"), fail_reason="no-hello"), refusal("ping"), {"PF-106"}),
    # transactions
    "request of the server": (before(PONG, say("ping", 70, "request")), PONG, {"PF-083", "PF-085"}),
    "request under the same ta-id": (before(PONG, say("ping", 7, "request")), PONG, {"PF-083", "PF-085"}),
    "stray": (before(PONG, say("ping", 70, "complete")), PONG, {"PF-084"}),
    "stray that is known from hello": (but(GONE, ta_id=0), GONE, {"PF-084"}),
    "answer of another command": (but(UNPUBLISHED, ta_cmd="publish"), UNPUBLISHED, {"PF-084"}),
    "answer of no command": (but(PONG, ta_cmd="pong"), PONG, {"PF-084"}),
    "word before any request": (before(0, tell(1, "appeared", SERVICE)), 0, {"PF-085"}),
    "answer that is no answer": (but(PONG, msg_type="done"), PONG, {"PF-094"}),
    "accept of a ping": (before(PONG, say("ping", 7, "accept")), PONG, {"PF-095"}),
    "two answers": (before(PONG, say("ping", 7, "complete")), PONG + 1, {"PF-095"}),
    "complete and fail": (before(PONG + 1, say("ping", 7, "fail")), PONG + 1, {"PF-095"}),
    "notification first": (
        before(LISTED - 1, say("services", 4, "notify", service_id=11, **SERVICE)),
        LISTED - 1,
        {"PF-098"},
    ),
    "complete alone": (
        before(PONG, ask("services", 70), say("services", 70, "complete")),
        PONG + 1,
        {"PF-098", "PF-100"},
    ),
    "two accepts": (before(APPEARED, say("subscribe", 1, "accept")), APPEARED, {"PF-101"}),
    "notification behind the end": (before(ENDED + 1, tell(1, "appeared", SERVICE, 10)), ENDED + 1, {"PF-101"}),
    "complete behind a fail": (
        before(refusal("subscribe") + 1, say("subscribe", 1, "complete")),
        refusal("subscribe") + 1,
        {"PF-101"},
    ),
    "another word for notify": (but(CLIENT, msg_type="update"), CLIENT, {"PF-102"}),
    # hello
    "version out of range": (but(1, protocol_version=3), 1, {"PF-115"}),
    # identifiers
    "subscription listed twice": (but(SUBSCRIPTION + 1, subscription_id=5), SUBSCRIPTION + 1, {"PF-007"}),
    "service listed twice": (but(LISTED + 1, service_id=9), LISTED + 1, {"PF-034"}),
    "client listed twice": (but(CLIENT + 1, client_id=7), CLIENT + 1, {"PF-063"}),
    "asker not listed": (without(CLIENT), CLIENT + 1, {"PF-173"}),
    "filter not listed": (but(SUBSCRIPTION, filter=None), SUBSCRIPTION, {"PF-148"}),
    "filter listed that is none": (but(SUBSCRIPTION, filter="name=x"), SUBSCRIPTION, {"PF-148"}),
    # notifications
    "modified under another number": (but(MODIFIED, service_id=10), MODIFIED, {"PF-011"}),
    "never appeared": (without(APPEARED), MODIFIED - 1, {"PF-011"}),
    "disappeared, though never there": (but(GONE, service_id=10), GONE, {"PF-011"}),
    "appeared again": (but(MODIFIED, match_type="appeared"), MODIFIED, {"PF-209"}),
    "disappeared twice": (before(GONE, tell(1, "disappeared")), GONE + 1, {"PF-209"}),
    "modified though gone": (before(GONE + 1, tell(1, "modified", CHANGED)), GONE + 1, {"PF-209"}),
    "falling generation": (before(MODIFIED + 1, tell(1, "modified", SERVICE)), MODIFIED + 1, {"PF-051"}),
    "orphan of who is here": (but(LISTED, orphan_since=5), LISTED, {"PF-131"}),
    "end that nobody asked for": (
        both(without(ENDED), before(GONE + 1, say("subscribe", 1, "complete"))),
        GONE + 1,
        {"PF-137"},
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_of_a_server_is_seen(lie: str) -> None:
    edit, at, rules = LIES[lie]
    told = conversation(edited(edit))
    seen = accused(told)
    assert dict.fromkeys(rules, at) == {rule: min(entries) for rule, entries in seen.items()}, said_why(told)


ONLY = [
    each for each, (_, what) in enumerate(TOUR) if isinstance(what, dict) and what["msg-type"] in ("accept", "complete")
]


@pytest.mark.parametrize("at", [each for each in ONLY if TOUR[each][1]["ta-cmd"] != "hello"])  # type: ignore[call-overload]
def test_a_field_too_many_is_its_own_forms_fault(at: int) -> None:
    line = TOUR[at][1]
    assert isinstance(line, dict)
    (special,) = accused(conversation(edited(but(at, extra=1)))).keys() - {"PF-081"}
    assert CATALOGUE.rules[special].gist.startswith(("A", "An")), special
    assert f" {line['ta-cmd']} {line['msg-type']} " in CATALOGUE.rules[special].gist


OTHER_LIES: dict[str, tuple[list[Line], int, set[str]]] = {
    "wrong reason before hello": (
        [ask("ping", 1), say("ping", 1, "fail", fail_reason="client-id-exists")],
        1,
        {"PF-106", "PF-147"},
    ),
    "wrong reason behind a refused hello": (
        [HELLO, say("hello", 0, "fail"), ask("ping", 1), say("ping", 1, "fail", fail_reason="client-id-exists")],
        3,
        {"PF-106", "PF-147"},
    ),
    "version 1": ([hello(0, 2), say("hello", 0, "complete", protocol_version=1)], 1, {"PF-116"}),
    "version as text": ([HELLO, say("hello", 0, "complete", protocol_version="2")], 1, {"PF-078", "PF-115"}),
    "reason of hello": ([HELLO, say("hello", 0, "fail", fail_reason="bad-version")], 1, {"PF-119"}),
    "reason of other commands": ([HELLO, say("hello", 0, "fail", fail_reason="no-hello")], 1, {"PF-119"}),
    "version 2 unsupported": (
        [hello(1, 2), say("hello", 0, "fail", fail_reason="unsupported-protocol-version")],
        1,
        {"PF-119"},
    ),
    "late answer before the ta-id is used again": (
        [HELLO, WELCOME, ask("ping", 1), say("ping", 1, "complete"), say("ping", 1, "complete"), ask("ping", 1)],
        4,
        {"PF-095"},
    ),
    "late answer behind the next use of the ta-id": (
        [HELLO, WELCOME, ask("ping", 1), say("ping", 1, "complete"), ask("clients", 1), say("ping", 1, "complete")],
        5,
        {"PF-095"},
    ),
    "greeting": ([say("ping", 0, "request"), HELLO, WELCOME], 0, {"PF-083", "PF-085"}),
}


@pytest.mark.parametrize("lie", OTHER_LIES)
def test_a_lie_of_a_server_is_seen_elsewhere(lie: str) -> None:
    lines, at, rules = OTHER_LIES[lie]
    told = conversation(lines)
    assert accused(told) == {rule: {at} for rule in rules}, said_why(told)
