"""Histories of router-caches: what they find, and that they accuse nobody who is innocent."""

from typing import Any

import pytest

from conformance.histories.drawing import generate
from conformance.histories.history import LENGTH
from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.router import ROUTER_HISTORIES, THEMES
from harness.rai.peers.router_cache import RouterCache
from harness.rai.protocol import PROTOCOL
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.trace import Trace


def broken(peer: Any, seeds: int) -> set[str]:
    """Return the rules that a router-cache is seen to break in the histories of some seeds."""
    found = set()
    world = PROTOCOL.world(peer.of, "router-cache")
    for theme in THEMES:
        for seed in range(seeds):
            node = NodeUnderTest(world, Trace("rai", "memory", world.clock), profile="document", namespace="")
            with ROUTER_HISTORIES.scene(node, Abilities()) as play:
                play.begin()
                try:
                    for move in generate(ROUTER_HISTORIES.generator, theme, seed, LENGTH):
                        if play.fits(move):
                            play.do(move)
                except Mismatch as difference:
                    found.add(difference.rule)
            node.close()
    return found


def test_the_reference_keeps_all_rules() -> None:
    assert broken(RouterCache, 5) == set()


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("router-ends-wildcards-for-all", "RAI-205"),
        ("router-ends-names-with-wildcards", "RAI-206"),
        ("router-shows-what-has-ended", "RAI-209"),
    ],
)
def test_who_mixes_up_subscribers_or_values_is_found(name: str, rule: str) -> None:
    assert rule in broken(PROTOCOL.faults.all[name].peer, 5)
