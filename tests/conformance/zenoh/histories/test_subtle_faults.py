"""Histories notice what cases do not: faults that show only where several sentences meet."""

import pytest
from subtle_faults import SUBTLE

from conformance.engine.play import play
from conformance.histories import history
from conformance.suite import Suite
from harness.peers.memory import World
from harness.zenoh.peers.router import Router


def found(peer: type[Router], *, by_histories: bool) -> str:
    """Return which case is the first to accuse a router, if any does."""
    suite, world = Suite("zenoh"), World(peer.of, "router")
    cases = [case for case in suite.cases if case.fits("router", "tcp") and case.marks.is_history is by_histories]
    for number, case in enumerate(cases, 1):
        result = play(case, world, suite, profile="document", number=number)
        if any(judgement.outcome.accuses and judgement.by == "case" for judgement in result.judgements):
            return case.name
    return ""


@pytest.mark.slow  # some seconds each under load, and twenty of them
@pytest.mark.parametrize("peer", SUBTLE, ids=lambda peer: peer.__name__)
def test_histories_of_the_gate_find_it(peer: type[Router], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "shrunk", lambda moves, *rest: moves)
    assert found(peer, by_histories=True)
