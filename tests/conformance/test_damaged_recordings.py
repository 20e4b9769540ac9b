"""Damaged captures: whatever befalls packets on their way into a file, nobody innocent is accused of it."""

from bisect import bisect_left
from functools import cache, partial
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from damage import KINDS, Captured, pcap
from recorded_plays import raw

from conformance.engine.play import play
from conformance.recordings import judge
from conformance.suite import Suite
from harness.captures.recordings import Recording
from harness.captures.traces import write_pcapng
from harness.links.network_path import NetworkPath
from harness.protocol import load

TRANSPORTS = {"zenoh": ("tcp", "udp"), "pathfinder": ("tcp",), "urbit": ("udp",)}
NODES = [(name, role, way) for name, ways in TRANSPORTS.items() for role in load(name).roles for way in ways]
"""Protocols, roles and transports."""

CASES = 14
"""Cases that are played for each node."""

SEEN = dict(zip(NODES, (26, 6, 4, 1, 54, 24, 4, 4), strict=True))
"""How many faults a whole capture shows, at least, of those that monitors see in the first case that is about them."""


@cache
def suite(protocol):
    return Suite(protocol)


def plain_cases(protocol, role):
    """Return the cases whose conversations are the same each time, and in which the tester keeps to the document."""
    return [
        case for case in suite(protocol).cases
        if case.fits(role, load(protocol).usual_transport) and not case.is_searched and not case.marks.is_history
    ]  # fmt: skip


def conversations(protocol, role, transport, make, chosen):
    """Return what packets of plays with a node a capture would hold: a list for each case; times as over a network."""
    its = suite(protocol)
    found = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.pcapng"
        for number, case in enumerate(chosen):
            world = its.harness.world(make, role, path=NetworkPath(0.01, 0.002, number))
            trace = play(case, world, its, profile="document").trace
            trace.transport = transport
            trace.epoch = 1_700_000_000.0
            write_pcapng(trace, path, its.harness.framings)
            found.append([Captured(time, data, len(data)) for time, data in raw(path)])
    return found


@cache
def innocent(protocol, role, transport):
    """Return conversations with our own peer, of which no whole capture accuses the node."""
    its, fit = suite(protocol), plain_cases(protocol, role)
    chosen = fit[:: max(len(fit) // CASES, 1)][:CASES]
    found = conversations(protocol, role, transport, its.harness.roles[role].of, chosen)
    found = [each for each in found if each]
    assert not [said for each in found for said in accusations(protocol, role, each)]
    return found


def accusations(protocol, role, packets, tail=None):
    """Return what a capture of packets says against a node: rules and what came."""
    its = suite(protocol)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.pcap"
        path.write_bytes(pcap(packets)[:tail])
        side = "dialling" if role in its.harness.dials else "listening"
        return [
            (each.rule, session.number, each.what)
            for session in Recording(path, protocol)
            for each in judge(session.seen_from(side), its, "document")
            if each.outcome.accuses
        ]


def damaged(protocol, role, transport, kind, seed):
    dice = Random(f"{protocol} {role} {transport} {kind} {seed}")
    packets = dice.choice(innocent(protocol, role, transport))
    return KINDS[kind](packets, dice)


def accused(node, kind, seeds):
    found = []
    for seed in seeds:
        said = accusations(*node[:2], damaged(*node, kind, seed))
        if said:
            found.append((seed, said))
    return found


@cache
def guilty(protocol, role, transport, step):
    """Return what a conversation with a faulty peer shows (rule, session), it, and how many packets of it do."""
    its, found = suite(protocol), []
    for fault in [each for each in its.harness.faults.all.values() if each.role == role][::step]:
        fit = [case for case in plain_cases(protocol, role) if set(case.marks.rules) & set(fault.rules)]
        for packets in conversations(protocol, role, transport, fault.peer.of, fit[:1]):
            said = [each[:2] for each in accusations(protocol, role, packets) if each[0] in fault.rules]
            if said:
                shows = partial(is_accused, protocol, role, said[0], packets)
                found.append((said[0], packets, bisect_left(range(len(packets)), True, key=shows)))
    return found


def is_accused(protocol, role, said, packets, many):
    """Tell whether so many packets accuse a node of breaking a rule in a session."""
    return said in [each[:2] for each in accusations(protocol, role, packets[:many])]


@pytest.mark.parametrize("node", NODES, ids="-".join)
def test_nobody_is_accused_of_damage(node):
    """A sample of each kind of damage; the slow tests take thousands."""
    seeds = range(2)
    assert not [(kind, said) for kind in KINDS for said in accused(node, kind, seeds)]


@pytest.mark.slow(seconds=15)
@pytest.mark.parametrize("seeds", [range(2, 30), pytest.param(range(30, 150), marks=pytest.mark.sweep)], ids=len)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("node", NODES, ids="-".join)
def test_nobody_is_accused_of_much_damage(node, kind, seeds):
    assert not accused(node, kind, seeds)


def missed(node, step):
    """Return how many violations are seen, and those with the damage behind them with which they are not."""
    protocol, role, transport = node
    seen = guilty(protocol, role, transport, step)
    found = []
    for kind, (said, packets, shown) in product(KINDS, seen):
        # Much later, as clocks that differ would mix it up with what it is to come behind.
        behind = [each._replace(time=each.time + 10**9) for each in packets[shown:]]
        damaged = KINDS[kind](behind, Random(f"{said} {kind}")) if behind else []
        if not is_accused(protocol, role, said, [*packets[:shown], *damaged], None):
            found.append((said, kind))
    return len(seen), found


@pytest.mark.parametrize("node", NODES, ids="-".join)
def test_what_is_wrong_is_found_before_the_damage(node):
    """Whatever befalls what comes behind a violation, the violation was seen; a sample."""
    assert not missed(node, 20)[1]


@pytest.mark.slow(seconds=60)
@pytest.mark.parametrize("node", NODES, ids="-".join)
def test_all_that_is_wrong_is_found_before_the_damage(node):
    seen, found = missed(node, 1)
    assert not found
    assert seen >= SEEN[node]
