"""Packets of plays against our own peers, and what may befall them on their way into a capture."""

import struct
from functools import partial

import pytest
from scapy.layers.inet import IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether

from conformance.cases import cases
from conformance.engine.play import play
from conformance.suite import Suite
from harness.captures.losses import Losses
from harness.captures.reader import Window, _raw
from harness.captures.traces import write_pcapng
from harness.protocol import load as load_protocol

LISTENING = {"zenoh": "router", "pathfinder": "server"}
"""The role that is dialled, by protocol."""

FAULTS = {"zenoh": "two-finals", "pathfinder": "services-of-each"}
"""A fault of that role which monitors see, by protocol."""


def raw(path):
    """Return the packets of a capture: time in ns, bytes."""
    with path.open("rb") as file:
        window = Window(partial(file.read, 1 << 20), Losses())
        return [(each.time, each.buffer[each.start : each.end]) for each in _raw(window, None)]


def readdressed(data, number):
    """Return a packet over loopback between two hosts of their own, so that plays are told apart."""
    hosts = bytes([10, 0, number, 1]), bytes([10, 0, number, 2])
    source, target = hosts if data[34:36] > data[36:38] else hosts[::-1]
    return data[:26] + source + target + data[34:]


def recorded_plays(protocol, folder):
    """Return the packets of plays against a good peer and a faulty one, a list for each play."""
    suite, role = Suite(protocol), LISTENING[protocol]
    fault = load_protocol(protocol).faults.all[FAULTS[protocol]]
    chosen = [case for case in cases(protocol) if case.fits(role, "tcp") and case.marks.monitored]
    found = []
    for make, played in ((suite.harness.roles[role], chosen[:8]), (fault.peer, chosen[:4])):
        world = suite.harness.world(make.of, role)
        for number, case in enumerate(played, 1):
            result = play(case, world, suite, profile="document", number=number)
            write_pcapng(result.trace, folder / "a.pcapng", suite.harness.framings)
            found.append([(time, readdressed(data, len(found) % 9)) for time, data in raw(folder / "a.pcapng")])
    return found


@pytest.fixture(scope="session", params=LISTENING)
def plays(request, tmp_path_factory):
    """Return a protocol and the packets of plays against a good peer and a faulty one, a list for each."""
    return request.param, recorded_plays(request.param, tmp_path_factory.mktemp("plays"))


def mixed(plays, dice):
    """Return the packets of several plays, one here, one there, each play in its order."""
    rest, out = [list(reversed(play)) for play in plays], []
    while rest:
        one = dice.choice(rest)
        out.append(one.pop()[1])
        rest = [each for each in rest if each]
    return out


FOUR = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=4000, dport=7447, seq=17, ack=4, flags="PA") / b"hello"
ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")

STRANGE = [
    bytes(each)
    for each in (
        ETHER / ARP(),
        ETHER / IPv6(src="fd00::1", dst="fd00::2") / IPv6ExtHdrHopByHop() / FOUR[TCP],
        ETHER / IPv6(src="fd00::1", dst="fd00::3") / FOUR[TCP],
        ETHER / IPv6(src="fd00::1", dst="fd00::4") / UDP(sport=1, dport=2) / b"hello, and a little more",
        ETHER / Dot1Q(vlan=3) / FOUR,
        ETHER / IP(src="10.0.0.1", dst="10.0.0.3") / UDP(sport=1, dport=2) / b"hello",
        *(ETHER / each for each in fragment(IP(src="10.0.0.1", dst="10.0.0.4") / UDP() / bytes(3000), 1480)),
    )
]


def damaged(packets, dice):
    """Return packets (bytes, size) of which some are lost, late, doubled, cut short, changed, or strange."""
    late, out = {}, []
    for place, data in enumerate(packets):
        chance = dice.random()
        if chance < 0.03:
            continue
        if chance < 0.06:
            late.setdefault(place + dice.randrange(1, 60), []).append(data)
        elif chance < 0.09:
            out.append((data[: dice.randrange(len(data))], len(data)))
        elif chance < 0.13:
            changed = bytearray(data)
            changed[dice.randrange(12, min(54, len(data)))] = dice.randrange(256)
            out.append((bytes(changed), len(data)))
        elif chance < 0.16:
            strange = dice.choice(STRANGE)
            out.append((strange, len(strange)))
        if not 0.03 < chance < 0.06 or dice.random() < 0.5:
            out.append((data, len(data)))
        out += [(each, len(each)) for each in late.pop(place, ())]
    return out


def pcap(packets, link=1):
    """Return a capture of packets (bytes, size), one a second."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 16, link)]
    for number, (data, size) in enumerate(packets):
        parts.append(struct.pack("<4I", 1_700_000_000 + number, number % 10**6, len(data), size) + data)
    return b"".join(parts)
