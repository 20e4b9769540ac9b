"""Histories of router-caches: what they find, and that they accuse nobody who is innocent."""

from typing import Any

import pytest

from conformance.histories.drawing import generate
from conformance.histories.history import LENGTH
from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.router import ROUTER_HISTORIES, THEMES
from conformance.rai.histories.router_moves import Begins, BeginsWild, Changes, Disturbs, LooksAt, QuitsWild
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


def make(peer: Any, *moves: Any) -> None:
    """Make moves with a router-cache; raises ``Mismatch``."""
    node = NodeUnderTest(
        world := PROTOCOL.world(peer.of, "router-cache"),
        Trace("rai", "memory", world.clock),
        profile="document",
        namespace="",
    )
    with ROUTER_HISTORIES.scene(node, Abilities()) as play:
        play.begin()
        for move in moves:
            assert play.fits(move), move
            play.do(move)


def test_what_nobody_wants_any_more_is_asked_for_anew() -> None:
    """Though a wildcard brings it: of what it is wanted for, one alone matches it, and ends."""
    left = (BeginsWild(0, "w.x.>"), BeginsWild(1, "*.a"), Changes("v.a"), QuitsWild(1, "*.a"))
    for peer in (RouterCache, PROTOCOL.oddities.all["router-covers-all"].peer):
        make(peer, *left, LooksAt(0, "v.a"), Changes("v.a"), LooksAt(2, "v.a"))


def test_a_value_that_is_stale_need_not_be_called_so_twice() -> None:
    """Not to who has subscribed it between either: it was shown as stale then."""
    stale = (Changes("a"), Begins(0, "a"), Disturbs("a"), Begins(0, "a"), Disturbs("a"))
    make(RouterCache, *stale)


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
