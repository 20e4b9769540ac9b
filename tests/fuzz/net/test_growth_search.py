"""The search for what lets a process grow: not of what its own application has it keep, and once for each test."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.suite import Suite
from fuzz.net.confirming import confirm
from fuzz.net.growth_search import growing_test
from fuzz.net.growth_watch import LOOKS, SUSPICIOUS, WARMING_UP, GrowthWatch, SuspectedGrowth
from fuzz.net.moves import GivesCommand, Listens, NetworkTest, Opens
from fuzz.net.node_on_trial import NodeOnTrial
from fuzz.net.resources import Resources
from fuzz.net.symptoms import Symptom
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, NetworkWorker, on_trial


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


def test_a_test_that_was_looked_into_is_not_the_worst_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: what was known once it was small was looked into again, for seconds, with each suspicion."""
    job = FuzzJob(protocol="zenoh", iut="peer:router", role="router", seconds=0, seed=0, out=str(tmp_path))
    worker = NetworkWorker(job, load("zenoh")["router"])
    watch, looked_into = GrowthWatch(), list[NetworkTest]()

    def suspected_after(tests: int) -> SuspectedGrowth | None:
        for number in range(tests):
            taken = Resources(memory=1, descriptors=2 * SUSPICIOUS.descriptors if number > WARMING_UP else 1)
            if (suspected := watch.note((Opens(f"t{number}"),), taken)) is not None:
                return suspected
        return None

    anybody: Any = SimpleNamespace(growth=watch, restarts=0)
    investigation: Any = SimpleNamespace(
        counts=SimpleNamespace(found=0, again=0, unconfirmed=0, expected=0),
        is_known=lambda symptom: False,
        unexplained=lambda tests, symptom: tests,
        look_into=lambda last, symptom, is_new: looked_into.append(last[-1]),
    )
    worker.node, worker.investigation = anybody, investigation
    worker.node.expected_rules = 0
    monkeypatch.setattr("fuzz.net.worker.growing_test", lambda node, grown: grown.tests[0])
    grown = suspected_after(WARMING_UP + 2 * LOOKS)
    assert grown is not None
    worker._look_into_growth(grown)
    assert looked_into == [(Opens(f"t{WARMING_UP + 1}"),)]
    watch.begin()
    assert suspected_after(WARMING_UP) is None
