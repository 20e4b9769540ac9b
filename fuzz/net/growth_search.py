"""The search for what lets a process grow: of the tests after which it took more, each is played many times."""

import time

from fuzz.net.confirming import TIMES
from fuzz.net.growth_watch import SuspectedGrowth
from fuzz.net.moves import NetworkTest
from fuzz.net.node_on_trial import NodeOnTrial, reproduce
from fuzz.net.targets import without_what_is_kept

CANDIDATES = 3
"""Tests that are tried, the worst first."""

SECONDS = 8.0
"""What that may take for all of them: of a test that takes long there are shorter ones that let it grow as well."""


def growing_test(node: NodeOnTrial, suspected: SuspectedGrowth) -> NetworkTest:
    """Return the first of the worst suspected tests that lets a fresh instance grow; none where none does.

    Without what an implementation is right to keep, it does.
    """
    deadline = time.monotonic() + SECONDS
    for each in suspected.tests[:CANDIDATES]:
        test = without_what_is_kept(node.target, each)
        shown = reproduce(node, test, times=TIMES, deadline=deadline)
        if shown is not None and shown.symptom.kind == "growth":
            return each
    return ()
