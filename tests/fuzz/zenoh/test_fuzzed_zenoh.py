"""Zenoh's nodes as they are fuzzed: the ways in which sessions are opened."""

from typing import Any

import pytest

import goldwire
from conformance.suite import Suite
from fuzz.net.moves import Listens, Opens, Says
from fuzz.net.playing import TestPlayer
from fuzz.zenoh.network import TARGETS
from fuzz.zenoh.openings import DIALLERS, LISTENERS
from harness.zenoh.peers.transport import AROUND
from wire.zenoh.values import Declare, DeclareEntity, EntityKind, Interest, Mode, Options, WireExpr
from wire.zenoh.values_transport import write_network

SUITE = Suite("zenoh")
TARGET = TARGETS["router"]
REFUSED = {how for how, opening in DIALLERS.items() if opening.sizes and opening.sizes.batch_size <= AROUND}
"""Ways that ask for batches in which nothing fits."""


def router() -> Any:
    """A router in memory."""
    return SUITE.harness.world(SUITE.harness.roles["router"].of, "router")


@pytest.mark.parametrize("how", sorted(DIALLERS.keys() - REFUSED))
def test_a_session_that_is_opened_in_any_way_is_answered(how: str) -> None:
    interest = write_network(Interest(1, Mode.CURRENT, Options.K | Options.S))
    test = (Opens("a", how), Says("a", (interest,)), Listens("a"))
    played = TestPlayer(TARGET, router(), "zenoh", SUITE.harness.usual_transport).play(test)
    said = [event.form.__name__ for event in played.node.sessions[0].conversation.events]
    assert said[0] == "Interest"
    assert "DeclareFinal" in said
    assert played.moves == test


@pytest.mark.parametrize("how", sorted(REFUSED))
def test_a_session_in_whose_batches_nothing_fits_is_refused_and_the_router_lives_on(how: str) -> None:
    """A regression: nobody had fuzzed the handshake, and a router died of batches of 16 bytes."""
    instance = router()
    player = TestPlayer(TARGET, instance, "zenoh", SUITE.harness.usual_transport)
    assert "no session" in player.play((Opens("a", how),)).names.values()
    assert instance.alive()
    assert "no session" not in player.play((Opens("a"),)).names.values()


def test_a_client_bears_a_router_that_shakes_hands_in_any_way() -> None:
    subscriber = write_network(Declare(DeclareEntity(EntityKind.SUBSCRIBER, 1, WireExpr("a/" * 300 + "b"))))
    with goldwire.fuzzed_node("zenoh", "peer:client") as node:
        for how in LISTENERS:
            for move in (Opens("a", how), Says("a", (subscriber,)), Listens("a")):
                node.do(move)
        node.is_well()
