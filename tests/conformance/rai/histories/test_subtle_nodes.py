"""Histories see what sentences do together, and accuse nobody who is only slow, or only odd."""

from contextlib import suppress

import pytest
import subtle_publishers
import subtle_subscribers

from conformance.cases import NotPlayed
from conformance.engine.play import play
from conformance.histories.history import play_history
from conformance.hypothesis_settings import without_shrinking
from conformance.rai.histories import publisher, router, subscriber
from conformance.selfcheck.worlds import WORLDS
from conformance.suite import Suite
from harness.peers.memory import World
from harness.trace import Trace

SUITE = Suite("rai")
BROUGHT = {
    "publisher": (publisher.PUBLISHER_HISTORIES, publisher.THEMES),
    "subscriber": (subscriber.SUBSCRIBER_HISTORIES, subscriber.THEMES),
    "router-cache": (router.ROUTER_HISTORIES, router.THEMES),
}
"""What each role brings to histories, and what they are about."""
ODDITIES = SUITE.harness.oddities.all


def accused(world: World, role: str) -> list[str]:
    """Return what the histories of one run accuse a node of, up to the first that accuses it."""
    for number, case in enumerate(SUITE.cases):
        if not (case.marks.is_history and case.fits(role, "memory")):
            continue
        if not world.alive():
            world.restart()
        with without_shrinking():
            result = play(case, world, SUITE, profile="document", number=number)
        said = [f"{each.rule}: {each.what}" for each in result.judgements if each.outcome.accuses and each.by == "case"]
        assert not any(each.outcome.value == "error" for each in result.judgements), result.judgements
        if said:
            return said
    return []


@pytest.mark.slow
@pytest.mark.parametrize("fault", subtle_publishers.ALL, ids=lambda fault: fault.__name__)
def test_a_subtle_publisher_is_noticed(fault) -> None:
    assert accused(SUITE.harness.world(fault.of, "publisher"), "publisher")


@pytest.mark.slow
@pytest.mark.parametrize("fault", subtle_subscribers.ALL, ids=lambda fault: fault.__name__)
def test_a_subtle_subscriber_is_noticed(fault) -> None:
    assert accused(SUITE.harness.world(fault.of, "subscriber"), "subscriber")


@pytest.mark.parametrize("role", SUITE.harness.roles)
def test_the_reference_is_accused_of_nothing(role: str) -> None:
    assert accused(SUITE.harness.world(SUITE.harness.roles[role].of, role), role) == []


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("role", SUITE.harness.roles)
def test_nobody_is_accused_who_is_only_far_away(role: str, world: str) -> None:
    assert accused(SUITE.harness.world(SUITE.harness.roles[role].of, role, path=WORLDS[world]), role) == []


@pytest.mark.sweep
@pytest.mark.slow
@pytest.mark.parametrize("oddity", ODDITIES)
def test_nobody_is_accused_who_is_only_odd(oddity: str) -> None:
    peer, role = ODDITIES[oddity].peer, ODDITIES[oddity].role
    assert accused(SUITE.harness.world(peer.of, role), role) == []


MANY = range(6, 41)
"""Seeds behind those of a run of the gate: what few histories meet, somebody's node will."""


@pytest.mark.sweep
@pytest.mark.slow
@pytest.mark.parametrize("oddity", ODDITIES)
def test_many_histories_accuse_nobody_who_is_only_odd(oddity: str) -> None:
    variant = ODDITIES[oddity]
    brings, themes = BROUGHT[variant.role]
    for theme in themes:
        for seed in MANY:
            world = SUITE.harness.world(variant.peer.of, variant.role)
            trace = Trace("rai", "memory", world.clock)
            node = SUITE.harness.node_under_test(world, trace, profile="document", namespace="t/")
            with suppress(NotPlayed):
                play_history(node, brings, theme, seed)
