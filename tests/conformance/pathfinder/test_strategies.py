"""What property cases send: nothing about which two innocent servers differ, and enough of everything."""

import subprocess
import sys

import pytest
from hypothesis import Phase, find, given, settings

from conformance.catalogue.rules import Profile
from conformance.engine.play import play
from conformance.pathfinder.strategies import NUMBERS, Sample, is_no_filter, no_filters, plain_props, samples
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.pathfinder.peers.server import Server
from harness.pathfinder.variants.evaluating import Evaluating
from harness.pathfinder.variants.registry import ODDITIES
from harness.peers.memory import World
from wire.pathfinder.filters import FilterError, parse
from wire.pathfinder.matching import matches

READERS = [each.peer for each in ODDITIES.all.values() if issubclass(each.peer, Server)]


@given(samples)
def test_a_filter_means_the_same_to_every_innocent_server(sampled: Sample) -> None:
    expected = [matches(parse(sampled.filter), props) for props in sampled.contents]
    for make in READERS:
        server = make()
        tree = server.parse(sampled.filter)
        if isinstance(server, Evaluating):
            assert [server.predicate(tree)(props) for props in sampled.contents] == expected, make
        assert tree == parse(sampled.filter, deployed=True)


@given(samples)
def test_properties_are_of_one_kind_each(sampled: Sample) -> None:
    for props in sampled.contents:
        for name, values in props.items():
            assert len(set(values)) == len(values) > 0
            assert {type(value) for value in values} == {int if name in NUMBERS else str}


def test_properties_are_kept_where_they_can_be() -> None:
    props = plain_props({"n": [5, "5", 5], "a": ["X}", 5, "x"], "version": ["x"], "name": []})
    assert props == {"n": [5], "a": ["x"]}


@given(no_filters)
def test_what_is_no_filter_is_none_in_any_reading(text: str) -> None:
    text.encode()
    for deployed in (False, True):
        with pytest.raises(FilterError):
            parse(text, deployed=deployed)


@pytest.mark.parametrize("text", ["(a=b)", "(&(a=}))", "(=a)", "(a>x)", "\ud800", "(a=\0)"])
def test_what_might_be_a_filter_is_not_sent_as_none(text: str) -> None:
    assert not is_no_filter(text)


@pytest.mark.parametrize("wanted", [True, False])
def test_samples_have_something_to_find_and_something_not_to(wanted: bool) -> None:
    def has_such(sampled: Sample) -> bool:
        return any(matches(parse(sampled.filter), props) is wanted for props in sampled.contents)

    # The first that is found will do: to make it smaller takes a hundred times as long.
    assert has_such(find(samples, has_such, settings=settings(phases=[Phase.generate], database=None)))


@pytest.mark.parametrize("profile", ["document", "deployed"])
def test_the_reference_is_its_own_model(profile: Profile) -> None:
    suite = Suite("pathfinder")
    world = World(Server.of, "server", profile=profile)
    for case in fitting(suite, "server", "test_properties."):
        result = play(case, world, suite, profile=profile)
        assert {each.outcome for each in result.judgements} <= {Outcome.PASS, Outcome.ODD}, result.judgements


DIFFERING = {
    "blind-for-properties": "PF-122",
    "blind-for-orphans": "PF-122",
    "lists-all-services": "PF-149",
    "nothing-else-new": "PF-158",
}
"""Faults that show in traffic, and the rules that these break."""

PLAY = """
import sys
from conformance.engine.play import play
from conformance.suite import Suite
from harness.peers.memory import World
from harness.protocol import load

(case,) = (each for each in Suite("pathfinder").cases if "test_any_traffic" in each.name)
for fault in sys.argv[1:]:
    world = World(load("pathfinder").faults.all[fault].peer.of, "server")
    judgements = play(case, world, Suite("pathfinder"), profile="document").judgements
    print(fault, *(each.rule for each in judgements if each.outcome.accuses))
"""


def test_servers_that_differ_are_found() -> None:
    """In an interpreter of its own: Hypothesis tries the constants of all modules that other tests have imported."""
    done = subprocess.run([sys.executable, "-c", PLAY, *DIFFERING], capture_output=True, text=True, check=False)
    accused = {fault: rules for fault, *rules in map(str.split, done.stdout.splitlines())}
    assert accused.keys() == DIFFERING.keys(), done.stderr
    assert [fault for fault, rule in DIFFERING.items() if rule not in accused[fault]] == []
