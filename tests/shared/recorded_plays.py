"""Packets of plays against our own peers, and what may befall them on their way into a capture."""

import struct
from functools import partial

import pytest

from conformance.engine.play import play
from conformance.suite import Suite
from harness.captures.losses import Losses
from harness.captures.packets import ACK, PSH, TCP
from harness.captures.reader import Window, _raw
from harness.captures.segmentation import TcpConnection, datagram, packed_end
from harness.captures.traces import write_pcapng
from harness.protocol import load as load_protocol

JUDGED = {"zenoh": "router", "pathfinder": "server", "urbit": "publisher", "rai": "subscriber"}
"""A role of the side that is judged in captures, by protocol."""

FAULTS = {
    "zenoh": "two-finals",
    "pathfinder": "services-of-each",
    "urbit": "signs-as-another",
    "rai": "repeats-no-time",
}
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
    suite, role = Suite(protocol), JUDGED[protocol]
    fault = load_protocol(protocol).faults.all[FAULTS[protocol]]
    chosen = [case for case in suite.cases if case.fits(role, suite.harness.usual_transport)]
    shown = [case for case in chosen if set(case.marks.rules) & set(fault.rules)]
    found = []
    for make, played in ((suite.harness.roles[role], chosen[:8]), (fault.peer, shown[:1] + chosen[:4])):
        world = suite.harness.world(make.of, role)
        for number, case in enumerate(played, 1):
            result = play(case, world, suite, profile="document", number=number)
            write_pcapng(result.trace, folder / "a.pcapng", suite.harness.framings)
            found.append([(time, readdressed(data, len(found) % 9)) for time, data in raw(folder / "a.pcapng")])
    return found


@pytest.fixture(scope="session", params=JUDGED)
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


DIALLER, SAID = packed_end("10.0.0.1", 4000), b"hello"
SIX = packed_end("fd00::1", 4000)


def framed(packet, kind=0x0800):
    """Return a packet in a frame of Ethernet."""
    return bytes.fromhex("020000000002 020000000001") + kind.to_bytes(2) + packet


def segment(dialler, listener):
    """Return a segment in the middle of a connection."""
    return TcpConnection(dialler, listener, first=(17, 4)).packet(0, ACK | PSH, SAID)


def with_hop_by_hop(packet):
    """Return a packet of IPv6 with one extension header, which is padding."""
    size = len(packet) - 40 + 8
    padding = bytes((TCP, 0, 1, 4, 0, 0, 0, 0))
    return packet[:4] + size.to_bytes(2) + b"\0" + packet[7:40] + padding + packet[40:]


def fragments(packet, size):
    """Return the fragments of a packet of IPv4, each of ``size`` bytes but the last; nobody looks at checksums."""
    head, body = packet[:20], packet[20:]
    for at in range(0, len(body), size):
        more = 0x2000 if at + size < len(body) else 0
        piece = body[at : at + size]
        yield head[:2] + struct.pack(">HHH", 20 + len(piece), 1, more | at // 8) + head[8:] + piece


STRANGE = [
    framed(bytes.fromhex("0001080006040001") + bytes(20), 0x0806),  # ARP
    framed(with_hop_by_hop(segment(SIX, packed_end("fd00::2", 7447))), 0x86DD),
    framed(segment(SIX, packed_end("fd00::3", 7447)), 0x86DD),
    framed(datagram(SIX, packed_end("fd00::4", 2), b"hello, and a little more"), 0x86DD),
    framed(b"\0\3\x08\0" + segment(DIALLER, packed_end("10.0.0.2", 7447)), 0x8100),  # of a VLAN
    framed(datagram(DIALLER, packed_end("10.0.0.3", 2), SAID)),
    *map(framed, fragments(datagram(DIALLER, packed_end("10.0.0.4", 2), bytes(3000)), 1480)),
]
"""Packets that are in a capture beside those of the plays. Made without scapy, which is 60 MB in every process."""


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
