"""Histories notice what cases do not: faults that show only where several sentences meet."""

import pytest
from played_histories import PlayedHistories
from subtle_faults import SUBTLE, EndsByTheLastBits, OneForAll, ReleaseEndsInterests

from conformance.histories import history
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionOpens
from conformance.zenoh.histories.abilities import PLAIN
from conformance.zenoh.histories.actions import (
    Declares,
    DeclaresAlias,
    EndsInterest,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.moves import Sends
from conformance.zenoh.histories.router import ROUTER
from harness.zenoh.peers.router import Router
from wire.zenoh.values import EntityKind, Mode, WireExpr

ROUTERS = PlayedHistories("zenoh", "router", ROUTER, PLAIN)


SOME = 6
"""Of twenty: what .ci/run has time for."""


@pytest.mark.slow  # some seconds each under load, and twenty of them
@pytest.mark.parametrize(
    "peer",
    [pytest.param(peer, marks=[] if number < SOME else [pytest.mark.sweep]) for number, peer in enumerate(SUBTLE)],
    ids=lambda peer: peer.__name__,
)
def test_histories_of_the_gate_find_it(peer: type[Router], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "shrunk", lambda moves, *rest, **bounds: moves)
    assert ROUTERS.first_accuser(peer, by_histories=True)


TOKENS = frozenset({EntityKind.TOKEN})
BOTH = SessionOpens("a"), SessionOpens("b")
ONE, TWO = (Declares(EntityKind.TOKEN, number, WireExpr(f"a/{number}")) for number in (1, 2))


def test_what_stood_for_others_does_not_end_for_them() -> None:
    asks = SendsInterest(1, Mode.CURRENT_FUTURE, TOKENS, WireExpr("a/*"), aggregate=True)
    moves = (*BOTH, Sends("a", (asks,)), Sends("b", (ONE, TWO)), Sends("b", (Undeclares(EntityKind.TOKEN, 1, None),)))
    ROUTERS.make(Router, *moves)
    assert ROUTERS.rule_broken(OneForAll, *moves) == "ZD-091"


def test_nobody_is_said_to_have_been_told_an_end_that_never_came() -> None:
    interests = [SendsInterest(number, Mode.FUTURE, TOKENS) for number in (1, 1 + 2**16)]
    own = Sends("a", (Declares(EntityKind.TOKEN, 7, ONE.key),))
    moves = (*BOTH, Sends("a", tuple(interests)), Sends("a", (EndsInterest(1),)), own, Sends("b", (ONE,)))
    with pytest.raises(Mismatch, match="a was never told of token a/1") as difference:
        ROUTERS.make(EndsByTheLastBits, *moves)
    assert difference.value.rule == "ZD-091"


def test_an_interest_outlives_the_number_that_it_was_asked_through() -> None:
    asks = SendsInterest(1, Mode.FUTURE, TOKENS, WireExpr("", 1))
    named, freed = Sends("a", (DeclaresAlias(1, ONE.key), asks)), Sends("a", (ReleasesAlias(1),))
    moves = (*BOTH, named, freed, Sends("b", (ONE,)))
    ROUTERS.make(Router, *moves)
    assert ROUTERS.rule_broken(ReleaseEndsInterests, *moves) == "ZD-091"
