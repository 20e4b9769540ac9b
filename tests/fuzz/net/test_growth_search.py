"""The search for what lets a process grow: not of what its own application has it keep."""

import pytest

from conformance.suite import Suite
from fuzz.net.confirming import confirm
from fuzz.net.growth_search import growing_test
from fuzz.net.growth_watch import SuspectedGrowth
from fuzz.net.moves import GivesCommand, Listens, NetworkTest, Opens
from fuzz.net.node_on_trial import NodeOnTrial
from fuzz.net.symptoms import Symptom
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial


@pytest.mark.slow(seconds=4)  # a test is played dozens of times
def test_a_publisher_keeps_what_it_is_told_to_publish() -> None:
    """A regression: a healthy publisher of Urbit was accused, as its application had it publish more and more."""
    suite, target = Suite("urbit"), load("urbit")["publisher"]
    job = FuzzJob(protocol="urbit", iut="peer:publisher", role="publisher", seconds=0, seed=0, out="")
    description, transport = on_trial(job, suite)
    node = NodeOnTrial(suite, description, target, profile="document", transport=transport)
    grows: NetworkTest = (Opens("a"), GivesCommand("grow", ("/0000000/x", "x" * 60_000)), Listens("a"))
    try:
        assert growing_test(node, SuspectedGrowth("memory", (grows,))) == ()
        assert confirm(node, [grows], Symptom("growth", "each time the test is played, it takes more memory")) is None
    finally:
        node.stop()
