"""The search for what lets a process grow: tests are played many times each.

Those are after which it took more; and some others, where no instance lives for long enough to be seen growing.
"""

import time

import msgspec

from fuzz.net.confirming import TIMES
from fuzz.net.growth_watch import SuspectedGrowth
from fuzz.net.moves import NetworkTest
from fuzz.net.node_on_trial import NodeOnTrial, Reproduced, reproduce
from fuzz.net.targets import without_what_is_kept

CANDIDATES = 3
"""Suspected tests that are tried, the worst first."""

SECONDS = 8.0
"""What that may take for all of them, at least: of a test that takes long there are shorter ones that do it as well."""

LONGER = 4 * TIMES
"""The time of how many usual tests it may take, where that is more: no implementation is too slow to be looked at."""

SHORT_LIVED = 1 / 20
"""Where so large a share of tests does harm, no instance lives for long enough to be seen growing."""

TRIALS = 0.1
"""What share of the time goes into tests that are played many times without a suspicion."""

SUSPICIONS = 0.1
"""What share of it goes into tests that are suspected: one who leaks in many ways gives no end of suspicions."""


class GrowthSearch(msgspec.Struct, frozen=True):
    """What came of a search: the test that lets a fresh instance grow, none where none was seen to.

    ``tried`` are those for which there was time, where there was none for others.
    """

    test: NetworkTest = ()
    tried: tuple[NetworkTest, ...] = ()


def growing_test(node: NodeOnTrial, suspected: SuspectedGrowth, usual: float) -> GrowthSearch:
    """Search the worst suspected tests for the first that lets a fresh instance grow.

    ``usual`` is how many seconds a test takes otherwise.
    """
    deadline = time.monotonic() + seconds_for(usual)
    worst = suspected.tests[:CANDIDATES]
    for number, test in enumerate(worst, 1):
        shown = played_many_times(node, test, deadline)
        if shown is not None and shown.symptom.kind == "growth":
            return GrowthSearch(test)
        if time.monotonic() > deadline and number < len(worst):
            return GrowthSearch(tried=worst[:number])
    return GrowthSearch()


def seconds_for(usual: float) -> float:
    """Return how long tests are played many times, where one takes so many seconds as a rule."""
    return max(SECONDS, LONGER * usual)


def played_many_times(node: NodeOnTrial, test: NetworkTest, deadline: float) -> Reproduced | None:
    """Return what a test shows that a fresh instance plays as often as it takes to see it grow.

    Without what an implementation is right to keep, and until a deadline, but for one that seems to let it grow.
    """
    return reproduce(node, without_what_is_kept(node.target, test), times=TIMES, deadline=deadline)
