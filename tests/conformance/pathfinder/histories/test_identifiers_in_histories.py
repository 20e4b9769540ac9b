"""Identifiers in histories: what they come to does not depend on how many were used before."""

from conformance.engine.play import play
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from harness.pathfinder.tester.driver import new_id
from harness.peers.memory import World
from harness.protocol import load

TWO_IDS = load("pathfinder").faults.all["two-ids"]
"""It tells of changes under a neighbour's identifier too: of another service of the play, or of nobody's."""


def test_a_history_comes_to_the_same_whatever_was_played_before() -> None:
    """It was accused of two rules in a run, and of one when that history was played alone."""

    def accused(spent: int) -> set[str]:
        for _ in range(spent):
            new_id()
        suite = Suite("pathfinder")
        (case,) = fitting(suite, "server", "test_filters[1]")
        result = play(case, World(TWO_IDS.peer.of, "server"), suite, profile="document")
        return {each.rule for each in result.judgements if each.outcome.accuses}

    first, *others = (accused(spent) for spent in (0, 1, 1, 2, 3))
    assert first
    assert others == [first] * len(others)
