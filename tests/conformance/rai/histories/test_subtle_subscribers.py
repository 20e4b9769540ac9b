"""Histories see what sentences do together at a subscriber, and accuse nobody who is only far away."""

import pytest
import subtle_subscriber_faults

from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.worlds import WORLDS
from conformance.suite import Suite
from harness.peers.memory import World

SUITE = Suite("rai")
ROLE = "subscriber"


def accused(world: World) -> list[str]:
    """Return what the histories of one run accuse a subscriber of, up to the first that accuses it."""
    for number, case in enumerate(SUITE.cases):
        if not (case.marks.is_history and case.fits(ROLE, "memory")):
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


@pytest.mark.parametrize("fault", subtle_subscriber_faults.ALL, ids=lambda fault: fault.__name__)
def test_a_subtle_subscriber_is_noticed(fault) -> None:
    assert accused(SUITE.harness.world(fault.of, ROLE))


@pytest.mark.parametrize("world", [None, *WORLDS])
def test_no_subscriber_is_accused_who_is_only_far_away(world: str | None) -> None:
    path = None if world is None else WORLDS[world]
    assert accused(SUITE.harness.world(SUITE.harness.roles[ROLE].of, ROLE, path=path)) == []
