"""Suspicions: who is quick is suspected soon; what a known finding explains is not looked into again."""

from pathlib import Path
from random import Random

import pytest

from conformance.suite import Suite
from fuzz.net.campaign import findings_in
from fuzz.net.expected_findings import ExpectedFindings
from fuzz.net.finding import NetworkOrigin, moment, read_finding
from fuzz.net.investigation import Investigation
from fuzz.net.known_findings import KnownFindings
from fuzz.net.moves import Listens, NetworkTest, Opens, Says
from fuzz.net.node_on_trial import CHECKS, SOONEST, SUSPICION, NodeOnTrial
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial
from harness.timing import ANSWER
from wire.zenoh.values import Declare, DeclareEntity, EntityKind, Interest, Mode, NetworkMessage, Options, WireExpr
from wire.zenoh.values_transport import write_network

BOTH = ("--defect", "hangs-of-nothing-to-aggregate", "--defect", "answers-nobody")


def put_on_trial(*options: str) -> NodeOnTrial:
    suite = Suite("zenoh")
    job = FuzzJob(protocol="zenoh", iut="peer:router", role="router", seconds=0, seed=0, out="", options=options)
    description, transport = on_trial(job, suite)
    return NodeOnTrial(suite, description, load("zenoh")["router"], profile="document", transport=transport)


def says(*messages: NetworkMessage) -> NetworkTest:
    return (Opens("a"), Says("a", tuple(map(write_network, messages))), Listens("a"))


AGGREGATES = Interest(1, Mode.FUTURE, Options.K | Options.A)
HARMLESS = Interest(2, Mode.CURRENT, Options.T)
ALL_ON_ONE_KEY = [Declare(DeclareEntity(kind, number, WireExpr("a"))) for kind in EntityKind for number in (1, 2)]


def test_who_has_always_been_quick_is_suspected_sooner_and_not_at_once() -> None:
    node = put_on_trial()
    try:
        assert node.hurried(SUSPICION) == SUSPICION
        for _ in range(CHECKS):
            assert node.play(says(HARMLESS))[1] is None
        assert SOONEST * SUSPICION <= node.hurried(SUSPICION) <= SUSPICION
    finally:
        node.stop()


@pytest.mark.slow(seconds=15)  # two answers that never come are waited for, and their tests made small
def test_of_several_known_findings_each_is_tried_on_a_fresh_node(tmp_path: Path) -> None:
    """A regression: the second one was tried on a node that hung since the first one was."""
    node = put_on_trial(*BOTH)
    known = KnownFindings(tmp_path, "zenoh", "router")
    investigation = Investigation(
        node,
        known,
        ExpectedFindings(),
        tmp_path,
        Random(1),  # of which the first number is no doubt
        iut="peer:router",
        seconds=0,
        options=BOTH,
        origin=lambda: NetworkOrigin(0, 0, 0, 0.0, moment()),
        doing=lambda what: None,
    )

    def look_into(test: NetworkTest) -> None:
        node.patience = ANSWER
        _, symptom = node.play(test)
        assert symptom is not None
        investigation.look_into([test], symptom)

    try:
        look_into(says(AGGREGATES))
        look_into(says(*ALL_ON_ONE_KEY))
        assert investigation.counts.found == 2
        look_into(says(HARMLESS, *ALL_ON_ONE_KEY))
        assert (investigation.counts.found, investigation.counts.again) == (2, 1)
    finally:
        node.stop()
    shown = {read_finding(path.parent).symptom.rough for path in findings_in(tmp_path)}
    assert len(shown) == 1, "otherwise the one could not be taken for the other"
