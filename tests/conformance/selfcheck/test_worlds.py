"""Innocent peers that are slow, or odd in two ways: what is played, and that nobody is accused."""

from contextlib import suppress

import pytest

from conformance.selfcheck.peers import MatrixPeer, compute_matrix, compute_row, matrix_peers, some_faults
from conformance.selfcheck.worlds import WORLDS, both, chosen_pairs, pairs
from harness.errors import HarnessError
from harness.links.network_path import NetworkPath
from harness.peers.memory import World
from harness.protocol import known, load
from harness.timing import MARGIN
from harness.trace import Trace
from harness.zenoh.peers.router import Router
from harness.zenoh.tester.node_under_test import NodeUnderTest


@pytest.mark.parametrize("protocol", known())
def test_every_role_is_played_at_every_latency_and_every_oddity_at_one(protocol):
    slow = [peer for peer in matrix_peers(protocol) if peer.kind == "latency"]
    oddities = load(protocol).oddities.all
    assert {(peer.role, peer.world) for peer in slow if not peer.variants} == {
        (role, world) for role in load(protocol).roles for world in WORLDS
    }
    assert [peer.variants[0] for peer in slow if peer.variants] == list(oddities)
    assert {name for peer in slow for name in peer.variants[1:]} == {v.name for v in oddities.values() if v.everywhere}


@pytest.mark.parametrize("protocol", known())
def test_a_sample_is_of_those_who_are_slow_or_odd_in_two_ways(protocol):
    whole, some = matrix_peers(protocol, pairs=20), matrix_peers(protocol, pairs=20, sample=9, seed=5)
    assert some == matrix_peers(protocol, pairs=20, sample=9, seed=5)
    assert some != matrix_peers(protocol, pairs=20, sample=9, seed=6)
    assert [peer for peer in some if peer.kind not in ("latency", "pair")] == [
        peer for peer in whole if peer.kind not in ("latency", "pair")
    ]
    surrounded = {peer.name for peer in some if peer.kind in ("latency", "pair")}
    assert len(surrounded) == 9
    assert surrounded <= {peer.name for peer in whole}


def test_some_faults_are_others_by_another_seed_and_everybody_else_is_there():
    whole = matrix_peers("urbit")
    some = some_faults(whole, 9, seed=5)
    assert some == some_faults(whole, 9, seed=5) != some_faults(whole, 9, seed=6)
    assert sum(peer.kind == "fault" for peer in some) == 9
    assert [peer for peer in some if peer.kind != "fault"] == [peer for peer in whole if peer.kind != "fault"]
    assert some_faults(whole, 10_000, seed=5) == whole


@pytest.mark.takes(2)
def test_nothing_is_said_of_rules_whose_faults_are_not_played():
    some = [peer for peer in matrix_peers("urbit") if peer.kind == "fault"][:2]
    *_, matrix = compute_matrix("urbit", some, workers=1, brief=True)
    assert matrix.unguarded == ()


def test_a_pair_keeps_both_habits():
    definition = load("zenoh")
    found = pairs(definition.oddities.all, definition.roles)
    assert len(found) > 200
    for one, two in found[::20]:
        made = both(one, two)
        assert issubclass(made, one.peer)
        assert issubclass(made, two.peer)
        assert one.role == two.role
    some = chosen_pairs(definition.oddities.all, definition.roles, 5, seed=1)
    assert some == chosen_pairs(definition.oddities.all, definition.roles, 5, seed=1)
    assert len(some) == 5
    assert chosen_pairs(definition.oddities.all, definition.roles, 10_000, seed=1) == found


@pytest.mark.parametrize("world", WORLDS)
def test_a_slow_router_is_accused_of_nothing(world):
    """Also where it is offended: what it says to that, or does not say, is waited for as long as it is under way."""
    row = compute_row("zenoh", MatrixPeer("latency", world, "router", world=world), "document", "test_interest_format")
    assert len(row.outcomes) > 10
    assert (row.accusers, row.errors) == ({}, ())


@pytest.mark.parametrize("habit", ["late-updates", "small-batches"])
@pytest.mark.parametrize("cases", ["test_options", "test_histories.test_propagation"])
def test_no_order_is_assumed_that_no_document_states_and_no_size_of_batches(habit, cases):
    """Updates that come behind later answers are waited for before anything is said to lack; batches are kept to."""
    row = compute_row("zenoh", MatrixPeer("oddity", habit, "router", variants=(habit,)), "document", cases)
    assert (row.accusers, row.errors) == ({}, ())
    assert row.outcomes


def test_how_late_a_node_tells_is_measured_and_waited_for():
    definition = load("zenoh")
    for variant, late in ((None, False), ("late-updates", True)):
        make = definition.oddities.all[variant].peer if variant else Router
        world = World(make.of, "router")
        node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="a/")
        node.measure()
        node.close()
        assert (node.timing.lag > 0.0) is late
        assert (node.timing.stragglers > node.timing.lag) is late
        world.timing.begin_with(node.timing)
        assert world.timing.of_a_play().lag == node.timing.lag


def test_a_look_at_what_is_there_is_no_lag(monkeypatch):
    """A real clock moves on while the tester looks: microseconds would have made each step wait for a whole window."""
    world = World(Router.of, "router")

    def now():
        world.clock.time += 1e-6
        return world.clock.time

    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="a/")
    monkeypatch.setattr(world.clock, "now", now)
    node.measure()
    monkeypatch.undo()
    node.close()
    assert node.timing.lag == 0.0
    assert node.timing.stragglers == 0.0


def test_what_is_sent_takes_its_time_and_stays_in_order():
    world = World(Router.of, "router", path=NetworkPath(0.5, jitter=0.5, seed=3))
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="a/")
    began = world.clock.now()
    session = node.main
    assert world.clock.now() - began >= 1.0, "a handshake is two round trips"
    assert session.timing.round_trip >= 0.5
    sent = [session.query(f"k{number}") for number in range(20)]
    session.barrier()
    ended = [event.message.id for event in session.received() if type(event.message).__name__ == "ResponseFinal"]
    assert ended == sent


def test_a_world_without_latency_takes_no_time():
    world = World(Router.of, "router")
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="a/")
    node.main.barrier()
    assert world.clock.now() == 0.0
    assert node.timing.round_trip == 0.0


@pytest.mark.parametrize("protocol", known())
def test_patience_grows_with_the_round_trip_and_not_with_silence(protocol):
    """A slow node is waited for longer, and a fast one no longer than the floor."""
    definition = load(protocol)
    role, make = next(iter(definition.roles.items()))

    class Deaf(make):
        def received(self, link, frame, now):
            pass

    def patience(make, latency):
        world = definition.world(make.of, role, path=latency)
        trace = Trace(protocol, "tcp", world.clock)
        node = definition.node_under_test(world, trace, profile="document", namespace="g1/")
        with suppress(HarnessError):
            node.probe()
        return node.timing.patience - world.timing.patience

    assert patience(make, None) == 0.0
    assert patience(make, NetworkPath(1.0)) == pytest.approx(MARGIN)
    # What is said unasked says how far away who says it is, too.
    told = 0.5 * MARGIN if definition.is_brokered else 0.0
    assert patience(Deaf, NetworkPath(1.0)) == pytest.approx(told)
