"""Histories see what sentences do together, and accuse nobody who is only slow."""

import pytest
import subtle_publisher_faults
import subtle_subscriber_faults

from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.worlds import WORLDS
from conformance.suite import Suite
from harness.peers.memory import World

SUITE = Suite("urbit")


def accused(world: World, role: str) -> list[str]:
    """Return what the histories of one run accuse a ship of, up to the first that accuses it."""
    for number, case in enumerate(SUITE.cases):
        if not (case.marks.is_history and case.fits(role, "udp")):
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
@pytest.mark.parametrize("fault", subtle_publisher_faults.ALL, ids=lambda fault: fault.__name__)
def test_a_subtle_publisher_is_noticed(fault) -> None:
    assert accused(SUITE.harness.world(fault.of, "publisher"), "publisher")


@pytest.mark.slow
@pytest.mark.parametrize("fault", subtle_subscriber_faults.ALL, ids=lambda fault: fault.__name__)
def test_a_subtle_subscriber_is_noticed(fault) -> None:
    assert accused(SUITE.harness.world(fault.of, "subscriber"), "subscriber")


@pytest.mark.slow
@pytest.mark.parametrize("world", [None, *WORLDS])
@pytest.mark.parametrize("role", SUITE.harness.roles)
def test_nobody_is_accused_who_is_only_far_away(role: str, world: str | None) -> None:
    path = None if world is None else WORLDS[world]
    assert accused(SUITE.harness.world(SUITE.harness.roles[role].of, role, path=path), role) == []
