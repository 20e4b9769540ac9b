"""Histories see what sentences do together, and accuse no publisher that is only odd, or only far away."""

import pytest
import subtle_publisher_faults

from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.worlds import WORLDS
from conformance.suite import Suite
from harness.peers.memory import World

SUITE = Suite("rai")
PUBLISHER = SUITE.harness.roles["publisher"]
ODDITIES = {name: each for name, each in SUITE.harness.oddities.all.items() if each.role == "publisher"}


def accused(world: World) -> list[str]:
    """Return what the histories of one run accuse a publisher of, up to the first that accuses it."""
    for number, case in enumerate(SUITE.cases):
        if not (case.marks.is_history and case.fits("publisher", "memory")):
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


@pytest.mark.parametrize("fault", subtle_publisher_faults.ALL, ids=lambda fault: fault.__name__)
def test_a_subtle_publisher_is_noticed(fault) -> None:
    assert accused(SUITE.harness.world(fault.of, "publisher"))


@pytest.mark.slow
@pytest.mark.parametrize("oddity", ODDITIES)
def test_nobody_is_accused_who_is_only_odd(oddity: str) -> None:
    assert accused(SUITE.harness.world(ODDITIES[oddity].peer.of, "publisher")) == []


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_nobody_is_accused_who_is_only_far_away(world: str) -> None:
    assert accused(SUITE.harness.world(PUBLISHER.of, "publisher", path=WORLDS[world])) == []


def test_the_reference_is_accused_of_nothing() -> None:
    assert accused(SUITE.harness.world(PUBLISHER.of, "publisher")) == []
