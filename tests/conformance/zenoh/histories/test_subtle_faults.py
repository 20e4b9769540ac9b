"""Histories notice what cases do not: faults that show only where several sentences meet."""

import pytest
from played_histories import PlayedHistories
from subtle_faults import SUBTLE

from conformance.histories import history
from conformance.zenoh.histories.abilities import PLAIN
from conformance.zenoh.histories.router import ROUTER
from harness.zenoh.peers.router import Router

ROUTERS = PlayedHistories("zenoh", "router", ROUTER, PLAIN)


@pytest.mark.slow  # some seconds each under load, and twenty of them
@pytest.mark.parametrize("peer", SUBTLE, ids=lambda peer: peer.__name__)
def test_histories_of_the_gate_find_it(peer: type[Router], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "shrunk", lambda moves, *rest: moves)
    assert ROUTERS.first_accuser(peer, by_histories=True)
