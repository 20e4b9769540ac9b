"""The engine: what happens in a play becomes the right judgement, and nobody is accused after one look."""

import itertools
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from conformance.cases import Case, Inconclusive, Marks, RuleBroken, TooLate, judging, marks_of, rule
from conformance.engine.confirmation import ConfirmedPlay, differing_rules, merge, needs_confirmation
from conformance.engine.play import PlayResult, play
from conformance.engine.tester import Tester
from conformance.suite import Suite
from conformance.verdicts import Disagreement, Judgement, Outcome
from harness.errors import HarnessError
from harness.links.network_path import NetworkPath
from harness.peers.memory import World
from harness.timing import ANSWER, CONFIRMED, ENOUGH, HASTE, Timing
from harness.trace import Trace
from harness.zenoh.peers.router import Router
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import EntityKind, Mode

SUITE = Suite("zenoh")
MUST, STATED, SHOULD, IMPLIED = "ZI-069", "ZI-010", "ZI-066", "ZI-064"
FOLLOWS = "ZI-012"


def case(function: Callable[[NodeUnderTest], None]) -> Case:
    marks = marks_of(function)
    assert marks is not None
    return Case(f"test.{function.__name__}", function, marks)


def played(function: Callable[[NodeUnderTest], None], make: type[Router] = Router) -> dict[str, Outcome]:
    """Return what the case itself (not the monitors) says of each rule."""
    return {each.rule: each.outcome for each in result(function, make).judgements if each.by == "case"}


def result(function: Callable[[NodeUnderTest], None], make: type[Router] = Router) -> PlayResult:
    return play(case(function), World(make.of, "router"), SUITE, profile="document")


@pytest.mark.parametrize("role", ["router", "client"])
@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_how_far_away_a_node_is_is_known_before_a_play_or_from_the_first_of_one_that_dials(
    role: str, seconds: float
) -> None:
    @rule(MUST)
    def asks(node: NodeUnderTest) -> None:
        seen.append(node.instance.timing.round_trip)
        node.main.barrier()

    seen: list[float] = []
    dials = role in SUITE.harness.dials
    world = World(SUITE.harness.roles[role].of, role, dials=dials, path=NetworkPath(seconds))
    tester = Tester(f"peer:{role}", "zenoh", instance=world)
    assert tester.measured().round_trip == pytest.approx(0.0 if dials else seconds)
    for _ in range(2):
        tester.play(case(asks))
    assert seen == pytest.approx([0.0 if dials else seconds, seconds])
    assert tester.measured().round_trip == pytest.approx(seconds)


def test_what_holds_passes_with_evidence() -> None:
    @rule(MUST)
    def holds(node: NodeUnderTest) -> None:
        node.interest(Mode.CURRENT, EntityKind.TOKEN).snapshot()

    (judgement,) = [each for each in result(holds).judgements if each.by == "case"]
    assert judgement.outcome is Outcome.PASS
    assert judgement.evidence > 0


@pytest.mark.parametrize(
    ("broken", "outcome"),
    [
        (MUST, Outcome.VIOLATION),
        (STATED, Outcome.VIOLATION),
        (SHOULD, Outcome.DEVIATION),
        (IMPLIED, Outcome.DEVIATION),
        (FOLLOWS, Outcome.VIOLATION),
    ],
)
def test_what_does_not_hold_is_as_bad_as_the_rule_is_strong(broken: str, outcome: Outcome) -> None:
    @rule(broken)
    def does_not_hold(node: NodeUnderTest) -> None:
        node.main.barrier()
        raise AssertionError(f"{node.key('a')} is missing")

    (judgement,) = [each for each in result(does_not_hold).judgements if each.by == "case"]
    assert (judgement.outcome, judgement.what) == (outcome, "a is missing")


@pytest.mark.parametrize("order", ["ABA", "BAB"])
def test_of_several_readings_that_were_seen_the_worst_counts_whichever_was_last(order: str) -> None:
    @rule("ZD-097")
    def shows(node: NodeUnderTest) -> None:
        node.main.barrier()
        for option in order:
            node.shows("ZD-097", "R36", option)

    # A is the profile's own, B another that it accepts.
    (judgement,) = [each for each in result(shows).judgements if each.by == "case"]
    assert (judgement.outcome, judgement.reading) == (Outcome.ODD, "R36=B")


def test_only_the_rule_that_is_judged_is_blamed() -> None:
    @rule(MUST, STATED)
    def two_rules(node: NodeUnderTest) -> None:
        with judging(STATED):
            raise AssertionError("this one")

    assert played(two_rules) == {MUST: Outcome.INCONCLUSIVE, STATED: Outcome.VIOLATION}


@pytest.mark.parametrize("error", [Inconclusive("cause"), HarnessError("cause")])
def test_what_cannot_be_judged_is_inconclusive(error: Exception) -> None:
    @rule(MUST)
    def cannot_be_judged(node: NodeUnderTest) -> None:
        raise error

    assert played(cannot_be_judged) == {MUST: Outcome.INCONCLUSIVE}
    assert needs_confirmation(result(cannot_be_judged)) is not isinstance(error, Inconclusive)


def test_a_mistake_of_ours_is_an_error() -> None:
    @rule(MUST)
    def mistaken(node: NodeUnderTest) -> None:
        raise ZeroDivisionError

    assert played(mistaken) == {MUST: Outcome.ERROR}


def test_a_case_that_saw_nothing_is_an_error() -> None:
    @rule(MUST)
    def sees_nothing(node: NodeUnderTest) -> None:
        pass

    assert played(sees_nothing) == {MUST: Outcome.ERROR}


def test_a_node_that_answers_nobody_any_more_has_crashed() -> None:
    class Mute(Router):
        def received(self, link: int, frame: bytes, now: float) -> None:
            if link == 1:
                super().received(link, frame, now)

    @rule(MUST)
    def hears_itself(node: NodeUnderTest) -> None:
        node.main.barrier()

    assert played(hears_itself, Mute) == {MUST: Outcome.CRASH}


def test_a_node_that_dies_has_crashed() -> None:
    class Fragile(Router):
        def on_interest_final(self, face: object, message: object) -> None:
            raise ZeroDivisionError

    @rule(IMPLIED)
    def kills(node: NodeUnderTest) -> None:
        node.main.final(7)

    crashed = result(kills, Fragile)
    assert crashed.by_rule() == {IMPLIED: Outcome.CRASH}
    assert "ZeroDivisionError" in crashed.judgements[0].what


@pytest.mark.parametrize(("option", "outcome"), [("A", Outcome.PASS), ("B", Outcome.ODD)])
def test_a_reading_is_judged_by_the_profile(option: str, outcome: Outcome) -> None:
    @rule("ZD-072")
    def shows(node: NodeUnderTest) -> None:
        node.main.barrier()
        node.shows("ZD-072", "R23", option)

    (judgement,) = [each for each in result(shows).judgements if each.by == "case"]
    assert (judgement.outcome, judgement.reading) == (outcome, f"R23={option}")


def test_a_reading_that_the_profile_does_not_accept_breaks_the_rule() -> None:
    @rule("ZD-072")
    def shows(node: NodeUnderTest) -> None:
        node.main.barrier()
        node.shows("ZD-072", "R23", "C")

    (judgement,) = [each for each in result(shows).judgements if each.by == "case"]
    assert judgement.outcome is Outcome.VIOLATION
    assert "R23=C" in judgement.what


def confirmed(outcomes: list[bool]) -> ConfirmedPlay:
    """Play a case that passes or fails as it is told, against the embedded peer."""
    script = itertools.chain(outcomes)

    @rule(MUST)
    def wavers(node: NodeUnderTest) -> None:
        node.main.barrier()
        assert next(script), "not this time"

    tester = Tester("peer:", "zenoh")
    try:
        return tester.play(case(wavers))
    finally:
        tester.close()


def test_a_non_pass_is_confirmed_on_a_fresh_instance() -> None:
    steady = confirmed([False, False])
    assert (steady.attempts, steady.is_flaky) == (2, False)
    assert steady.result.by_rule()[MUST] is Outcome.VIOLATION


def test_plays_that_differ_are_flaky_and_accuse_nobody() -> None:
    wavering = confirmed([False, True, False])
    assert wavering.attempts == 3
    (disagreement,) = [each.disagreement for each in wavering.result.judgements if each.disagreement]
    assert disagreement.counts == "pass in 1 of 3, violation in 2 of 3"
    assert wavering.result.by_rule()[MUST] is Outcome.INCONCLUSIVE


def one_play(**outcomes: Outcome) -> PlayResult:
    judgements = tuple(Judgement(rule, outcome, "a.case", "case", "what") for rule, outcome in outcomes.items())
    return PlayResult("a.case", judgements, Trace("zenoh"), 0.0)


def test_a_rule_that_the_second_play_does_not_judge_is_seen_once() -> None:
    """Nobody is accused who was not caught twice."""
    plays = [one_play(A=Outcome.VIOLATION, B=Outcome.VIOLATION), one_play(A=Outcome.VIOLATION)]
    assert differing_rules(plays) == {"B": "not judged in 1 of 2, violation in 1 of 2"}
    merged = merge([*plays, one_play(A=Outcome.VIOLATION)])
    assert merged.result.by_rule() == {"A": Outcome.VIOLATION, "B": Outcome.INCONCLUSIVE}


@pytest.mark.parametrize("plays", ["VC", "CV", "CVP", "VCP", "VVP"])
def test_what_two_plays_accuse_of_is_not_washed_out_by_its_kind_nor_by_a_third(plays: str) -> None:
    """A third play is made for other rules; of a violation and a crash both have shown the milder one."""
    kinds = {"V": Outcome.VIOLATION, "C": Outcome.CRASH, "P": Outcome.PASS}
    merged = merge([one_play(A=kinds[each]) for each in plays])
    (judgement,) = merged.result.judgements
    assert (judgement.outcome, judgement.disagreement) == (Outcome.VIOLATION, None)
    assert ("crash: what" in judgement.what) is ("C" in plays)


def test_two_crashes_are_a_crash() -> None:
    merged = merge([one_play(A=Outcome.CRASH), one_play(A=Outcome.CRASH)])
    assert merged.result.by_rule() == {"A": Outcome.CRASH}


def test_a_rule_that_was_kept_need_not_be_judged_again() -> None:
    plays = [one_play(A=Outcome.VIOLATION, B=Outcome.PASS), one_play(A=Outcome.VIOLATION)]
    assert differing_rules(plays) == {}


def test_two_ways_to_keep_a_rule_are_no_difference() -> None:
    plays = [one_play(A=Outcome.VIOLATION, B=Outcome.ODD), one_play(A=Outcome.VIOLATION, B=Outcome.PASS)]
    assert differing_rules(plays) == {}


def test_what_differs_keeps_what_the_worst_came_to() -> None:
    plays = [one_play(A=Outcome.VIOLATION), one_play(A=Outcome.PASS), one_play(A=Outcome.PASS)]
    (judgement,) = merge(plays).result.judgements
    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert judgement.disagreement == Disagreement("pass in 2 of 3, violation in 1 of 3", Outcome.VIOLATION, "what")
    assert judgement.what == "seen once: pass in 2 of 3, violation in 1 of 3; what"


def test_a_pass_is_played_once() -> None:
    assert confirmed([True]).attempts == 1


SERVES = """
import asyncio, pathlib, sys
from harness.peers.peer_server import PeerServer
from harness.zenoh.framings import FRAMINGS
from harness.zenoh.peers.router import Router

async def main():
    with pathlib.Path(__file__).with_name("starts").open("a") as starts:
        starts.write("x")
    await PeerServer(Router(), FRAMINGS).listen(sys.argv[1].split(","))
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize(("restart", "starts"), [("on-crash", "xx"), ("every-case", "xxx")])
def test_a_description_says_when_it_is_started_anew(restart: str, starts: str, tmp_path: Path) -> None:
    """Once more than that in any case: what is measured before the first play leaves nothing behind."""
    (tmp_path / "serves.py").write_text(SERVES)
    description = tmp_path / "mine.toml"
    description.write_text(
        'name = "mine"\nprotocol = "zenoh"\nroles = ["router"]\n[process]\n'
        f'command = ["{sys.executable}", "{{here}}/serves.py", "{{listen}}"]\nrestart = "{restart}"\n'
    )

    @rule(MUST)
    def holds(node: NodeUnderTest) -> None:
        node.main.barrier()

    tester = Tester(str(description), "zenoh")
    try:
        for _ in range(2):
            assert tester.play(case(holds)).result.by_rule()[MUST] is Outcome.PASS
    finally:
        tester.close()
    assert (tmp_path / "starts").read_text() == starts


FALLS_SILENT = """
import asyncio, sys
from harness.peers.peer_server import PeerServer
from harness.zenoh.framings import FRAMINGS
from harness.zenoh.peers.router import Router

class Silenced(Router):
    silent = False

    def on_interest_final(self, face, message):
        self.silent = True

    def received(self, link, frame, now):
        if not self.silent:
            super().received(link, frame, now)

async def main():
    await PeerServer(Silenced(), FRAMINGS).listen(sys.argv[1].split(","))
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.slow(seconds=3)  # answers that never come are waited for
def test_a_node_that_lives_and_answers_nobody_is_not_left_to_the_next_case(tmp_path: Path) -> None:
    (tmp_path / "serves.py").write_text(FALLS_SILENT)
    description = tmp_path / "mine.toml"
    description.write_text(
        'name = "mine"\nprotocol = "zenoh"\nroles = ["router"]\n[process]\n'
        f'command = ["{sys.executable}", "{{here}}/serves.py", "{{listen}}"]\n'
    )

    @rule(IMPLIED)
    def silences(node: NodeUnderTest) -> None:
        node.main.final(7)

    @rule(MUST)
    def holds(node: NodeUnderTest) -> None:
        node.main.barrier()

    tester = Tester(str(description), "zenoh")
    tester.instance.timing = Timing(answer=1.0)  # its silence is waited for
    try:
        assert tester.play(case(silences)).result.by_rule() == {IMPLIED: Outcome.CRASH}
        tester.instance.timing = Timing(answer=20.0)
        following = tester.play(case(holds))
    finally:
        tester.close()
    assert (following.attempts, following.result.by_rule()[MUST]) == (1, Outcome.PASS)


def test_what_monitors_saw_in_two_plays_is_not_confirmed_for_each_history(monkeypatch: pytest.MonkeyPatch) -> None:
    plays: list[str] = []
    shown = {"first": "17 is late", "own": "23 is late", "again": "29 is late", "worse": "31 is lost", "last": "lost"}

    def seen(played: Case, *_: object, **__: object) -> PlayResult:
        plays.append(played.name)
        judged = [Judgement(MUST, Outcome.VIOLATION, played.name, "a monitor", shown[played.name])]
        if played.name in ("own", "last"):
            judged.append(Judgement(STATED, Outcome.VIOLATION, played.name, "case", "a difference"))
        return PlayResult(played.name, tuple(judged), Trace("zenoh"), 0.0)

    monkeypatch.setattr("conformance.engine.tester.play", seen)
    monkeypatch.setattr("conformance.engine.tester.Basics.cases", lambda basics: [])
    tester = Tester("peer:", "zenoh", instance=World(Router.of, "router"))
    marks = Marks((MUST,), is_history=True)
    attempts = {name: tester.play(Case(name, lambda node: None, marks)).attempts for name in shown}
    assert attempts == {"first": 2, "own": 2, "again": 1, "worse": 2, "last": 2}
    assert plays == ["first", "first", "own", "own", "again", "worse", "worse", "last", "last"]
    # Of a case it is confirmed, as that will be repeated alone.
    assert tester.play(Case("again", lambda node: None, Marks((MUST,)))).attempts == 2


def test_who_is_proven_to_leave_things_out_is_not_waited_for_in_full_ever_after() -> None:
    """Twice for each of dozens of cases: a run would take minutes to say the same."""

    def lacks(node: NodeUnderTest) -> None:
        for _ in range(ENOUGH):
            node.main.barrier()
        assert node.main.wait_until(lambda: False), "it never comes"

    @rule(MUST)
    def waits_in_vain(node: NodeUnderTest) -> None:
        lacks(node)

    @rule(MUST)
    def waits_without_blame(node: NodeUnderTest) -> None:
        with suppress(AssertionError):
            lacks(node)

    @rule(MUST)
    def is_wrong_at_once(node: NodeUnderTest) -> None:
        node.main.barrier()
        raise AssertionError("wrong")

    world = World(Router.of, "router")
    world.timing = Timing(answer=ANSWER)
    tester = Tester("peer:", "zenoh", instance=world)
    waited = []
    for each in (waits_without_blame, is_wrong_at_once, waits_without_blame, *[waits_in_vain] * (CONFIRMED + 1)):
        began = world.clock.now()
        tester.play(case(each))
        waited.append(world.clock.now() - began)
    assert waited[3:] == pytest.approx([2 * ANSWER] * CONFIRMED + [2 * HASTE])


def test_silence_is_proven_by_what_plays_confirm_that_differ_in_something_else() -> None:
    turns = itertools.count()

    @rule(MUST, STATED)
    def waits_in_vain(node: NodeUnderTest) -> None:
        node.main.wait_until(lambda: False)
        raise RuleBroken((MUST,) if next(turns) else (MUST, STATED), "it never comes")

    tester = Tester("peer:", "zenoh", instance=World(Router.of, "router"))
    played = tester.play(case(waits_in_vain))
    assert (played.attempts, played.result.by_rule()[MUST]) == (3, Outcome.VIOLATION)
    assert tester.instance.timing.silences.proven == 1


@pytest.mark.parametrize(("late", "outcome"), [(1, Outcome.PASS), (2, Outcome.PASS), (3, Outcome.INCONCLUSIVE)])
def test_a_tester_that_is_late_tries_again(late: int, outcome: Outcome) -> None:
    """Its own slowness is nothing of the node's: another play may be in time."""
    times = itertools.count(1)

    @rule(MUST)
    def is_in_time(node: NodeUnderTest) -> None:
        node.main.barrier()
        if next(times) <= late:
            raise TooLate("the tester was late")

    tester = Tester("peer:", "zenoh")
    try:
        told = tester.play(case(is_in_time))
    finally:
        tester.close()
    assert told.result.by_rule()[MUST] is outcome
    assert not told.is_flaky
