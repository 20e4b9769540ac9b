"""A node that runs already and dies once: one finding with its stimulus, and no verdict on what was not tried on it."""

from collections.abc import Iterator

import pytest

from conformance.cases import Case, cases, judging, rule
from conformance.engine import death
from conformance.engine.play import PlayResult, play
from conformance.engine.tester import Tester
from conformance.evidence import with_messages
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.iuts import implementation
from harness.iuts.description import resolve
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.memory import World
from harness.protocol import load
from harness.zenoh.peers.router import Router
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.message_lines import message_lines

MORTAL = {
    "zenoh": ("router", "DECLARE D_TOKEN"),
    "pathfinder": ("server", "publish request"),
}
"""Of each protocol a role, and the message that it dies of."""


class Killed(Exception):
    """What a planted peer dies of."""


@pytest.fixture(params=MORTAL)
def mortal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str, str]]:
    """Return a protocol, the address of a node of it that dies of one message, and that message."""
    protocol = request.param
    role, fatal = MORTAL[protocol]
    definition = load(protocol)

    class Mortal(definition.roles[role]):  # type: ignore[misc]
        def received(self, link: int, frame: bytes, now: float) -> None:
            if any(each.name == fatal for each in message_lines(definition.layout, frame)):
                raise Killed(fatal)
            super().received(link, frame, now)

    # Nobody starts it anew, and that need not be waited for.
    monkeypatch.setattr(implementation, "_REMOTE_TIMEOUT", 0.1)
    with EmbeddedImplementation(resolve(f"peer:{role}", protocol), Mortal.of, definition.framings) as node:
        yield protocol, node.address(), fatal


def sending(protocol: str, fatal: str) -> tuple[Case, Case]:
    """Return a case of which a node dies, and one of which it does not, both of several rules if there are any."""
    suite, (role, _) = Suite(protocol), MORTAL[protocol]
    found: dict[bool, Case] = {}
    for each in cases(protocol):
        if each.fits(role, "tcp") and not (each.marks.is_history or each.marks.is_basic or each.is_searched):
            result = play(each, World(suite.harness.roles[role].of, role), suite, profile="document")
            sent = {line.name for entry in result.trace for line in message_lines(suite.harness.layout, entry.data)}
            found.setdefault(fatal in sent, each)
            if len(found) == 2:
                break
    return found[True], found[False]


def test_a_node_that_is_not_started_anew_dies_once(mortal: tuple[str, str, str]) -> None:
    protocol, address, fatal = mortal
    kills, harmless = sending(protocol, fatal)
    tester = Tester(address, protocol)
    try:
        before, crashed, after = (tester.play(each) for each in (harmless, kills, harmless))
    finally:
        tester.close()
    assert before.result.outcome in (Outcome.PASS, Outcome.ODD)
    first = next(each for each in crashed.result.judgements if each.outcome is Outcome.CRASH)
    assert first.what.splitlines()[0] == f"{death.DIED}: not heard of since {fatal} was sent"
    assert "it does not come back: " in first.what
    shown = with_messages(crashed.result.judgements, crashed.result.trace, load(protocol), crashed.result.until)
    assert fatal.split()[-1] in shown[0].messages[0].text
    assert shown[0].messages[-1].text == "nothing was heard of the node any more"
    # Played or not, of a node that is gone nothing is said.
    assert after.attempts == 0
    assert {each.outcome for each in after.result.judgements} == {Outcome.INCONCLUSIVE}
    assert {each.blocked_by for each in after.result.judgements} == {first.rule}
    assert all(f"the node died in {kills.name} and does not come back" in e.what for e in after.result.judgements)


def test_a_node_that_dies_of_what_is_tried_before_the_first_play_has_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mortal(Router):
        def on_declare_entity(self, *_: object) -> None:
            raise Killed

    @rule(A)
    def case(node: NodeUnderTest) -> None:
        """Is never played: the node has died before."""

    monkeypatch.setattr(implementation, "_REMOTE_TIMEOUT", 0.1)
    with EmbeddedImplementation(resolve("peer:router", "zenoh"), Mortal.of, load("zenoh").framings) as node:
        tester = Tester(node.address(), "zenoh")
        try:
            lost = tester.play(Case("test.case", case, case.__goldwire__))  # type: ignore[attr-defined]
        finally:
            tester.close()
    (judgement,) = lost.result.judgements
    assert judgement.outcome is Outcome.CRASH
    assert judgement.what.startswith(f"{death.DIED}: not heard of since DECLARE D_SUBSCRIBER was sent\n")


A, B, C = "ZI-064", "ZI-010", "ZI-069"


class Fragile(Router):
    def on_interest_final(self, face: object, message: object) -> None:
        raise ZeroDivisionError


def kill(node: NodeUnderTest) -> None:
    node.main.final(7)


def crashed(function: object) -> PlayResult:
    marks = function.__goldwire__  # type: ignore[attr-defined]
    return play(Case("test.it", function, marks), World(Fragile.of, "router"), Suite("zenoh"), profile="document")  # type: ignore[arg-type]


def outcomes(result: PlayResult) -> dict[str, Outcome]:
    return {each.rule: each.outcome for each in result.judgements}


def test_a_crash_is_that_of_the_block_in_which_its_stimulus_was_sent() -> None:
    @rule(A, B, C)
    def case(node: NodeUnderTest) -> None:
        with judging(A):
            node.main.barrier()
        with judging(B):
            kill(node)
        with judging(C):
            node.main.barrier()

    result = crashed(case)
    assert outcomes(result) == {A: Outcome.INCONCLUSIVE, B: Outcome.CRASH, C: Outcome.INCONCLUSIVE}
    assert {each.rule for each in result.judgements if each.is_cut_short} == {A, C}


def test_a_crash_is_none_of_a_rule_that_had_held_before_its_stimulus() -> None:
    @rule(A, B, C)
    def case(node: NodeUnderTest) -> None:
        node.main.barrier()
        with judging(A):
            assert node.main
        kill(node)
        with judging(B, C):
            node.main.barrier()

    assert outcomes(crashed(case)) == {A: Outcome.INCONCLUSIVE, B: Outcome.CRASH, C: Outcome.CRASH}


def test_where_no_block_says_more_a_crash_is_that_of_all_rules() -> None:
    @rule(A, B)
    def case(node: NodeUnderTest) -> None:
        node.main.barrier()
        kill(node)

    result = crashed(case)
    assert outcomes(result) == {A: Outcome.CRASH, B: Outcome.CRASH}
    (what,) = {each.what.splitlines()[0] for each in result.judgements}
    assert what.endswith("not heard of since INTEREST_FINAL was sent")


def test_the_words_of_a_crash_do_not_depend_on_the_numbers_in_its_stimulus() -> None:
    def of(number: int) -> str:
        @rule(A)
        def case(node: NodeUnderTest) -> None:
            node.main.barrier()
            node.main.final(number)

        return crashed(case).judgements[0].what

    assert of(7) == of(123456)


def test_a_trace_without_a_stimulus_blames_nobody_in_particular() -> None:
    assert death.blamed((A, B), [], None) == (A, B)
    assert death.told(None, load("zenoh")) == f"{death.DIED}: before anything was sent"
