"""Zenoh's nodes as they are fuzzed: the ways in which sessions are opened."""

from random import Random
from typing import Any

import pytest

import goldwire
from conformance.suite import Suite
from fuzz.net.moves import Listens, Opens, Says
from fuzz.net.playing import TestPlayer
from fuzz.zenoh.messages import chain
from fuzz.zenoh.network import TARGETS
from fuzz.zenoh.openings import DIALLERS, LISTENERS
from harness.zenoh.batches import read
from harness.zenoh.peers.transport import AROUND
from wire.zenoh.values import Declare, DeclareEntity, EntityKind, Interest, Mode, Options, WireExpr
from wire.zenoh.values_transport import Fragment, write_network

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


def test_chains_of_fragments_are_whole_or_hold_nothing_or_lack_a_part() -> None:
    random, lengths, wholes = Random(1), set[int](), 0
    for _ in range(400):
        fragments = [each for batch in chain(random) for each in read(batch).messages]
        assert all(isinstance(each, Fragment) for each in fragments)
        lengths |= {len(each.data) for each in fragments}
        numbers = [each.sn for each in fragments]
        is_whole = bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        wholes += is_whole and len(numbers) > 1 and not fragments[-1].more
        assert all(each.more for each in fragments[:-1])
    assert 0 in lengths
    assert max(lengths) > 8
    assert 100 < wholes < 380


def test_a_client_bears_a_router_that_shakes_hands_in_any_way() -> None:
    subscriber = write_network(Declare(DeclareEntity(EntityKind.SUBSCRIBER, 1, WireExpr("a/" * 300 + "b"))))
    with goldwire.fuzzed_node("zenoh", "peer:client") as node:
        for how in LISTENERS:
            for move in (Opens("a", how), Says("a", (subscriber,)), Listens("a")):
                node.do(move)
        assert node._test is not None
        assert "no session" not in node._test.features, "each of them was opened"
        node.is_well()
