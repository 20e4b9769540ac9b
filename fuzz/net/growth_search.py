"""The search for what lets a process grow: tests are played many times each.

Those are after which it took more; and some others, where no instance lives for long enough to be seen growing.
"""

import time

from fuzz.net.confirming import TIMES
from fuzz.net.growth_watch import SuspectedGrowth
from fuzz.net.moves import NetworkTest
from fuzz.net.node_on_trial import NodeOnTrial, Reproduced, reproduce
from fuzz.net.targets import without_what_is_kept

CANDIDATES = 3
"""Suspected tests that are tried, the worst first."""

SECONDS = 8.0
"""What that may take for all of them: of a test that takes long there are shorter ones that let it grow as well."""

SHORT_LIVED = 1 / 20
"""Where so large a share of tests does harm, no instance lives for long enough to be seen growing."""

TRIALS = 0.1
"""What share of the time goes into tests that are played many times without a suspicion."""

SUSPICIONS = 0.1
"""What share of it goes into tests that are suspected: one who leaks in many ways gives no end of suspicions."""


def growing_test(node: NodeOnTrial, suspected: SuspectedGrowth) -> NetworkTest:
    """Return the first of the worst suspected tests that lets a fresh instance grow; none where none does."""
    deadline = time.monotonic() + SECONDS
    for test in suspected.tests[:CANDIDATES]:
        shown = played_many_times(node, test, deadline)
        if shown is not None and shown.symptom.kind == "growth":
            return test
    return ()


def played_many_times(node: NodeOnTrial, test: NetworkTest, deadline: float) -> Reproduced | None:
    """Return what a test shows that a fresh instance plays as often as it takes to see it grow, until a deadline.

    Without what an implementation is right to keep.
    """
    return reproduce(node, without_what_is_kept(node.target, test), times=TIMES, deadline=deadline)
