"""What is printed of the kill matrix's faults: words for people, and the messages that matter."""

import random
import re

import pytest

from conformance.engine.play import PlayResult, play
from conformance.evidence import with_messages
from conformance.gate.failure_page import message_lines
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.peers import MatrixPeer, class_of, fitting, matrix_peers
from conformance.suite import Suite
from conformance.verdicts import Judgement
from harness.protocol import known
from harness.trace import Direction, EntryKind

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
"""A value as JSON has it: what somebody sent, which may look like anything."""

PYTHONS = re.compile(
    r"\bassert\b|<\w+[.:]|\bNone\b|\bTrue\b|\bFalse\b|object at 0x"
    r"|(?<![\w/\"'])b['\"]"  # b'…', but not the end of a text: 'b'
    r"|\w\(\w+="  # Struct(field=…
    r"|\['|'\]|\{'|\\x[0-9a-f]{2}"
)
"""What only Python spells so; a key such as "a/b" is none of it."""

SAMPLE = 6
"""Faults of each protocol in a quick run; the slow one has all of them."""

SEED = 20


def faults(protocol: str) -> list[MatrixPeer]:
    return [peer for peer in matrix_peers(protocol) if peer.kind == "fault"]


def plays(protocol: str, fault: MatrixPeer) -> list[PlayResult]:
    """Play the cases of the rules that a fault breaks."""
    suite = Suite(protocol)
    world = suite.harness.world(class_of(fault, suite.harness).of, fault.role)
    found = []
    for number, case in enumerate(fitting(suite, fault.role), 1):
        if case.marks.is_history or not set(case.marks.rules) & set(fault.rules):
            continue
        if not world.alive():
            world.restart()
        found.append(play(case, world, suite, profile="document", number=number))
    return found


def problems(protocol: str, fault: MatrixPeer) -> list[str]:
    """Return what is wrong with what a person reads of a fault."""
    found = []
    harness = Suite(protocol).harness
    for result in plays(protocol, fault):
        came = any(
            entry.what is EntryKind.FRAME and entry.direction is Direction.RECEIVED
            for entry in result.trace.entries[: result.until]
        )
        for judgement in with_messages(result.judgements, result.trace, harness, result.until):
            if judgement.outcome.accuses:
                where = f"{fault.name}: {judgement.case}: {judgement.rule}"
                found += [f"{where}: {each}" for each in wrong_with(judgement, came=came)]
    return found


def wrong_with(judgement: Judgement, *, came: bool) -> list[str]:
    # What a node sent stands in the messages as it is, and may look like anything; what they are called is ours.
    ours = [judgement.what, *(each.text for each in judgement.messages)]
    found = [f"{match[0]!r} in {text}" for text in ours if (match := PYTHONS.search(QUOTED.sub('""', text)))]
    # Values in a message may be cut, and say how long they are; what a judgement says is never.
    found += [f"cut: {judgement.what}"] * ("…" in judgement.what or "..." in judgement.what)
    if came and not any(each.pieces for each in judgement.messages):
        found.append(f"no message is shown: {judgement.what}")
    if judgement.by == "monitor" and judgement.entry is not None:
        shown = [each.entry for each in judgement.messages]
        found += [] if judgement.entry in shown else ["the message that a monitor cites is not shown"]
    lines = message_lines(judgement.messages)
    return found + [f"no time: {lines[0]}"] * bool(lines and " s  " not in lines[0])


@pytest.mark.parametrize("protocol", known())
def test_what_is_said_of_some_faults(protocol: str) -> None:
    for fault in random.Random(SEED).sample(faults(protocol), SAMPLE):
        assert problems(protocol, fault) == []


@pytest.mark.sweep
@pytest.mark.slow(seconds=20)  # 440 faults
@pytest.mark.parametrize("protocol", known())
def test_what_is_said_of_all_faults(protocol: str) -> None:
    # How small an example is says nothing about the words, and making one small took longer than 300 faults do. The
    # quick test makes them small.
    with without_shrinking():
        assert [each for fault in faults(protocol) for each in problems(protocol, fault)] == []
