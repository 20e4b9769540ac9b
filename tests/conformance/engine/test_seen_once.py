"""Nobody is accused who was not caught twice: nodes that break their rules at some starts only, or other rules then."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from conformance.cases import Case
from conformance.engine.confirmation import ConfirmedPlay
from conformance.engine.play import play
from conformance.engine.tester import Tester
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.peers.memory import World
from harness.peers.peer import Peer

FAULTS = {
    ("zenoh", "router"): ("deaf-to-decorated-finals", "two-finals"),
    ("pathfinder", "server"): ("one-way", "gone"),
}
"""Two faults of each role that break different rules, some of them in the same plays."""

Choice = Callable[[int], type[Peer]]
"""The peer of a start, by its number: in the first it is measured, in the second it is played."""


class Dying(Exception):
    """What a planted peer dies of."""


def faults(protocol: str, role: str) -> Iterator[type[Peer]]:
    return (Suite(protocol).harness.faults.all[name].peer for name in FAULTS[protocol, role])


def world(role: str, choice: Choice) -> World:
    starts = count(1)
    return World(lambda settings: choice(next(starts)).of(settings), role)


def accused(case: Case, peer: type[Peer], suite: Suite) -> set[str]:
    """Return the rules that one play of a case accuses a peer of breaking."""
    with without_shrinking():
        result = play(case, World(peer.of, peer.role), suite, profile="document")
    return {each.rule for each in result.judgements if each.outcome.accuses}


def telling(suite: Suite, peer: type[Peer], rules: tuple[str, ...], *, histories: bool) -> Case:
    """Return the first case that accuses a peer: of those about its rules, or of the histories."""
    played = [each for each in fitting(suite, peer.role) if each.marks.is_history is histories]
    asked = [each for each in played if (each.marks.is_seeded if histories else set(each.marks.rules) & set(rules))]
    return next(each for each in asked if not each.marks.is_basic and accused(each, peer, suite))


@pytest.fixture(scope="module", params=FAULTS, ids="-".join)
def plays(request: pytest.FixtureRequest) -> tuple[Suite, str, Case, Case]:
    """Return a suite, a role, and what accuses the first fault: a case, and a history."""
    protocol, role = request.param
    suite = Suite(protocol)
    fault = suite.harness.faults.all[FAULTS[protocol, role][0]]
    case, history = (telling(suite, fault.peer, fault.rules, histories=each) for each in (False, True))
    return suite, role, case, history


def confirmed(suite: Suite, role: str, choice: Choice, case: Case) -> ConfirmedPlay:
    tester = Tester(f"peer:{role}", suite.protocol, instance=world(role, choice))
    try:
        with without_shrinking():
            return tester.play(case)
    finally:
        tester.close()


def accuses(one: ConfirmedPlay) -> set[str]:
    return {each.rule for each in one.result.judgements if each.outcome.accuses}


def said_of_differing_rules(one: ConfirmedPlay) -> list[str]:
    return [each.what for each in one.result.judgements if each.disagreement is not None]


def test_who_breaks_a_rule_until_it_is_started_anew_is_not_accused(plays: Any) -> None:
    suite, role, *cases = plays
    peer, _ = faults(suite.protocol, role)
    # Histories try first what the node does at all, and are played behind another start.
    for case, until in zip(cases, (2, 3), strict=True):
        one = confirmed(
            suite, role, lambda start, until=until: peer if start <= until else suite.harness.roles[role], case
        )  # type: ignore[misc]
        assert not accuses(one), case.name
        assert said_of_differing_rules(one)
        assert all(each.startswith("seen once: ") for each in said_of_differing_rules(one))


def test_who_breaks_a_rule_at_every_second_start_is_not_accused(plays: Any) -> None:
    suite, role, case, _ = plays
    peer, _ = faults(suite.protocol, role)
    one = confirmed(suite, role, lambda start: suite.harness.roles[role] if start % 2 else peer, case)
    assert not accuses(one)
    assert said_of_differing_rules(one)
    assert all(each.startswith("flaky: ") for each in said_of_differing_rules(one))


def test_who_begins_late_to_break_a_rule_passes(plays: Any) -> None:
    """What passes is played once."""
    suite, role, case, _ = plays
    peer, _ = faults(suite.protocol, role)
    one = confirmed(suite, role, lambda start: suite.harness.roles[role] if start <= 2 else peer, case)
    assert (one.attempts, accuses(one)) == (1, set())


def test_who_breaks_its_rules_at_each_start_is_accused(plays: Any) -> None:
    """The positive control of what is above."""
    suite, role, *cases = plays
    peer, _ = faults(suite.protocol, role)
    for case in cases:
        one = confirmed(suite, role, lambda start: peer, case)
        assert accuses(one), case.name
        assert (one.attempts, one.is_flaky) == (2, False)


def test_who_breaks_other_rules_at_the_next_start_is_accused_of_what_both_plays_saw(plays: Any) -> None:
    suite, role, *cases = plays
    first, second = faults(suite.protocol, role)
    for case, until in zip(cases, (2, 3), strict=True):
        one = confirmed(suite, role, lambda start, until=until: first if start <= until else second, case)  # type: ignore[misc]
        assert accuses(one) <= accused(case, first, suite) & accused(case, second, suite), case.name
        assert one.is_flaky


def test_who_dies_once_has_not_crashed(plays: Any) -> None:
    suite, role, case, _ = plays
    original = suite.harness.roles[role]

    class Mortal(original):  # type: ignore[misc,valid-type]
        def received(self, link: int, frame: bytes, now: float) -> None:
            raise Dying("as planted")

    one = confirmed(suite, role, lambda start: Mortal if start == 2 else original, case)
    assert {each.outcome for each in one.result.judgements} <= {Outcome.PASS, Outcome.ODD, Outcome.INCONCLUSIVE}
    assert "seen once: crash in 1 of 3" in one.result.judgements[0].what
