"""Rai, "Message Presentation": a publisher is asked the same in other spellings."""

from typing import Any

from conformance.cases import rule
from conformance.rai.roles import PUBLISHER
from conformance.rai.spelling import (
    Place,
    Spell,
    among,
    drawn,
    escaped,
    first,
    last,
    pretty,
    relaxed,
    relaxed_names,
    say,
    slashed,
    strict,
    trailing,
)
from conformance.rai.telling import change, settle, told
from harness.rai.tester.driver import TestSession
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import SNAP, START, STOP, WILD_START
from wire.rai.wildcards import pattern_of_rv

RELAXED: tuple[tuple[str, Spell], ...] = (
    ("strict JSON", strict),
    ("words without quotes", relaxed),
    ("names without quotes", relaxed_names),
    ("a comma behind the last member", trailing),
    ("a member on each line", drawn),
)

SPACED: tuple[tuple[str, Spell], ...] = (
    ("white space", pretty),
    ("escapes", escaped),
    ("escaped slashes", slashed),
    ("strict JSON", strict),
)


def _is_taken(
    node: NodeUnderTest,
    asking: TestSession,
    write: Spell = strict,
    place: Place = first,
    extra: dict[str, Any] | None = None,
) -> str:
    """Have a session ask for everything in a spelling; return what is not answered."""
    broker = node.broker
    asked = node.set("asked", BID=1)

    def ask(subject: str, body: dict[str, Any], kind: str) -> bool:
        returned, since = f"r/{asking.new_return()}" if write is slashed else f"r{asking.new_return()}", broker.place
        members = {"return": returned} | body | (extra or {})
        say(asking, subject, members, write, place)
        return asking.reply(returned, lambda body: body.kind in kind, since=since, thing="an answer") is not None

    if not ask(START + asked, {"initial": False, "ack": True, "format": "json", "expires": 1000}, "start"):
        return "a start"
    if not ask(SNAP + asked, {"format": "json"}, "snap"):
        return "a snapshot request"
    if not ask(STOP + asked, {"ack": True}, "stop"):
        return "a stop"
    wildcard = f"LAB.w{asking.new_return()}.>"
    body = {"expires": 1000, "subject": wildcard, "pattern": pattern_of_rv(wildcard)} | (extra or {})
    say(asking, WILD_START + wildcard[:-1] + "_", body, write, place)
    settle(node, asking)
    return "" if change(node, wildcard[4:-1] + "x", BID=1) else "a wildcard start"


@rule("RAI-091", roles=PUBLISHER, needs=("RAI-116", "RAI-122", "RAI-134", "RAI-098"))
def test_relaxed_requests(node: NodeUnderTest) -> None:
    """Ask for everything in relaxed JSON and in strict.

    All is taken.
    """
    for asking in (node.main, node.other):
        for what, write in RELAXED:
            left_out = _is_taken(node, asking, write)
            assert not left_out, f"{left_out} with {what} is not taken"


@rule("RAI-185", roles=PUBLISHER, needs=("RAI-116", "RAI-122", "RAI-134", "RAI-098"))
def test_other_spellings(node: NodeUnderTest) -> None:
    """Ask for everything with white space, with escapes, and with the header behind the body or within it.

    All is taken: what is signed is the same.
    """
    for asking in (node.main, node.other):
        for what, write in SPACED:
            for place in (first, last, among):
                left_out = _is_taken(node, asking, write, place)
                assert not left_out, f"{left_out} with {what} and its header {place.__name__} is not taken"


@rule("RAI-184", roles=PUBLISHER, needs=("RAI-116", "RAI-122", "RAI-134", "RAI-098"))
def test_extra_members(node: NodeUnderTest) -> None:
    """Ask for everything with members that nobody knows: numbers, texts, lists, objects, long ones.

    All is taken.
    """
    extras: tuple[dict[str, Any], ...] = (
        {"unknown": 1},
        {"ttl": "text", "x": True, "y": None},
        {"list": [1, [2, "a"]], "object": {"a": {"session": "b"}}},
        {"long": "z" * 2000},
        {"Session": "no.one", "SEQNO": 0},
    )
    for extra in extras:
        left_out = _is_taken(node, node.main, extra=extra)
        assert not left_out, f"{left_out} with the members {', '.join(extra)} is not taken"


@rule("RAI-091", roles=PUBLISHER, needs=("RAI-098",))
def test_numbers_and_booleans(node: NodeUnderTest) -> None:
    """Start subjects whose return, format and expires are words that look like others, in relaxed JSON.

    They are taken as they are written.
    """
    asking = node.main
    for returned in ("tru", "nil", "a.b", "no-1", "x_y.z"):
        subject, since = node.set("asked", BID=1), node.broker.place
        say(asking, START + subject, {"return": returned, "ack": True, "format": "e1"}, relaxed)
        ack = asking.reply(returned, since=since, thing="an answer")
        assert ack, f"a start with return {returned}, a word, is not answered there"
        assert told(ack).state == "ack", f"a start with return {returned}, a word, is not acked there"
