"""Shares: several readers of one capture find together what one reader finds, however it is damaged."""

import gzip
import random
from collections import Counter
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_plays import STRANGE, damaged, mixed, pcap, readdressed
from with_scapy import IP, TCP, UDP, CookedLinux, CookedLinuxV2, Dot1Q, Ether, IPv6, Loopback

from harness.captures import flow_table as sorting
from harness.captures.flow_table import FlowTable
from harness.captures.losses import Losses, Missing
from harness.captures.packets import ACK, RST, SYN, CapturedPacket
from harness.captures.partition import ALL, OtherReaders, Partition
from harness.captures.reader import CaptureReader
from harness.captures.recordings import Recording
from harness.protocol import load as load_protocol

READERS = [1, 2, 3, 7]
SOME_READERS = [3]
"""Enough where one reader is compared with several once more: of a capture that is cut off, or packed."""
FOUR = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=4000, dport=7447, seq=17, ack=4, flags="PA") / b"hello"
ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")


def of_the_second(make):
    """Return a packet that is the second of two readers', so that the first may pass over what looks like it."""
    for last in range(2, 100):
        packet = make(last)
        hosts = (ip_address(packet.src).packed, ip_address(packet.dst).packed)
        ports = (packet[TCP].sport.to_bytes(2, "big"), packet[TCP].dport.to_bytes(2, "big"))
        if Partition(1, 2).has("tcp", hosts[0] + ports[0], hosts[1] + ports[1]):
            return bytes(ETHER / packet)
    raise AssertionError


PLAIN = of_the_second(lambda last: IP(src="10.0.0.1", dst=f"10.0.0.{last}") / FOUR[TCP])
PLAIN_SIX = of_the_second(lambda last: IPv6(src="fd00::1", dst=f"fd00::{last}") / FOUR[TCP])
TAGGED = ((12, 0x81), (13, 0), (16, 8), (17, 0), (18, 0x42))
"""What makes of a header one with a tag, behind which stands a damaged packet."""


def told(recorded):
    trace = recorded.trace
    return (
        *(getattr(recorded, name) for name in recorded.__struct_fields__ if name != "trace"),
        (trace.transport, trace.epoch, tuple(trace.ports.items()), tuple(trace.entries)),
    )


def shared(path, protocol, of, **options):
    """Read a capture by shares; return sessions in the order of one reader, and losses."""
    found, losses, counts = [], Losses(), set()
    for number in range(of):
        source = Recording(path, protocol, partition=Partition(number, of), **options)
        own = [told(each) for each in source]
        assert own == sorted(own, key=place), "a share's sessions come in the order in which they end"
        found += own
        losses.take(source.losses.all())
        counts.add((source.packets, source.ending))
    assert len(counts) == 1, "all readers see the same file"
    return sorted(found, key=place), losses.all(), counts.pop()


def place(session):
    number, ended = session[1], session[-2]
    return (ended is None, ended or 0, number)


def assert_shares_agree(path, protocol, readers=READERS, **options):
    source = Recording(path, protocol, **options)
    whole = [told(each) for each in source]
    expected = whole, source.losses.all(), (source.packets, source.ending)
    for of in readers:
        assert shared(path, protocol, of, **options) == expected, f"{of} readers"
    return expected


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(4)]
)  # for each protocol
def test_readers_of_shares_find_what_one_reader_finds(tmp_path, plays, seed):
    protocol, played = plays
    dice = random.Random(seed)
    data = pcap(damaged(mixed(played, dice), dice))
    path = tmp_path / "a.pcap"
    path.write_bytes(data)
    found, losses, (packets, _) = assert_shares_agree(path, protocol)
    assert len(found) >= 10
    assert packets > 100
    assert {Missing.CUT_SHORT, Missing.GAP} & {loss.kind for loss in losses}
    for cut in (len(data) // 2 + 3, len(data) - 5):
        path.write_bytes(data[:cut])
        assert Missing.CUT_OFF in {loss.kind for loss in assert_shares_agree(path, protocol, SOME_READERS)[1]}
    (tmp_path / "a.gz").write_bytes(gzip.compress(data))
    packed = assert_shares_agree(tmp_path / "a.gz", protocol, SOME_READERS)[0]
    assert [each[1:] for each in packed] == [each[1:] for each in found]
    (tmp_path / "a.gz").write_bytes(gzip.compress(data)[:-2000])
    assert_shares_agree(tmp_path / "a.gz", protocol, SOME_READERS)


def test_recordings_as_they_were_written(tmp_path, plays):
    """Several sections, and every play between the same two ends: ports that are used again."""
    protocol, played = plays
    path = tmp_path / "a.pcap"
    same = [readdressed(data, 1) for each in played for _, data in each]
    path.write_bytes(pcap([(data, len(data)) for data in same]))
    found, _, _ = assert_shares_agree(path, protocol)
    # Datagrams between the same ends are one session, as nothing says where one ends.
    is_one = not load_protocol(protocol).framings
    assert (len(found) == len({session[2] for session in found})) == is_one, "some sessions are between the same ends"


def test_named_servers_and_both_sorts_of_transport(tmp_path, plays):
    from harness.captures.servers import ServerEndpoint

    protocol, played = plays
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap([(data, len(data)) for data in mixed(played, random.Random(1)) + STRANGE]))
    assert_shares_agree(path, protocol, servers=(ServerEndpoint(7447),))
    assert_shares_agree(path, protocol, servers=(ServerEndpoint(2),))


@given(st.data())
def test_whatever_the_packets_are(tmp_path_factory, data):
    """Headers of any kind and any damage: a packet is taken by one reader, and each loss is counted by one."""
    dice = random.Random(data.draw(st.integers(0, 1 << 32)))
    link, heads = dice.choice(
        [
            (1, [ETHER, ETHER / Dot1Q(vlan=1)]),
            (101, [None]),
            (113, [CookedLinux(proto=0x0800), CookedLinux(proto=0x86DD)]),
            (276, [CookedLinuxV2(proto=0x0800), CookedLinuxV2(proto=0x86DD)]),
            (0, [Loopback(type=2)]),
            (147, [None]),
        ]
    )
    packets = []
    for _ in range(dice.randrange(4, 30)):
        ends = {"src": f"10.0.0.{dice.randrange(1, 5)}", "dst": f"10.0.0.{dice.randrange(1, 5)}"}
        six = {"src": f"fd00::{dice.randrange(1, 5)}", "dst": f"fd00::{dice.randrange(1, 5)}"}
        inner = dice.choice([IP(**ends), IP(**ends, flags="DF"), IPv6(**six)])
        inner = inner / dice.choice([TCP(sport=1, dport=2, seq=5), UDP(sport=1, dport=2)]) / dice.randbytes(40)
        head = dice.choice(heads)
        whole = bytearray(bytes(inner if head is None else head / inner))
        for _ in range(dice.choice([0, 0, 1, 2])):
            whole[dice.randrange(min(len(whole), 70))] = dice.choice([0, 1, 6, 17, 0x45, 0x60, 255])
        captured = bytes(whole[: dice.choice([len(whole), len(whole), dice.randrange(len(whole))])])
        packets += [(captured, len(whole))] * dice.choice([1, 2])
    path = tmp_path_factory.mktemp("any") / "a.pcap"
    path.write_bytes(pcap(packets, link))
    one = CaptureReader(path)
    expected = list(one)
    for of in (2, 5):
        found, losses = [], Losses()
        for number in range(of):
            capture = CaptureReader(path, Partition(number, of))
            found += list(capture)
            losses.take(capture.losses.all())
        assert sorted(found, key=lambda packet: packet.number) == expected
        assert losses.all() == one.losses.all()


def test_every_share_has_something_to_do():
    """Connections of one client, which differ in its port only, are divided evenly."""
    counts = Counter()
    for port in range(4000):
        ends = b"\x0a\0\0\1" + port.to_bytes(2, "big"), b"\x0a\0\0\2\x1d\x17"
        mine = [number for number in range(7) if Partition(number, 7).has("tcp", *ends)]
        assert mine == [number for number in range(7) if Partition(number, 7).has("tcp", *ends[::-1])]
        assert len(mine) == 1
        counts[mine[0]] += 1
    assert min(counts.values()) > 400
    assert ALL.is_first


def test_packets_of_others_are_known_at_a_glance(tmp_path, monkeypatch):
    """All but the first packet of each direction are passed over without being taken apart."""
    taken = []
    learn = OtherReaders.learn
    monkeypatch.setattr(OtherReaders, "learn", lambda self, *ends: (taken.append(ends), learn(self, *ends)))
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap([(PLAIN, len(PLAIN))] * 50))
    assert list(CaptureReader(path, Partition(0, 2))) == []
    assert len(taken) == 1


def changed(data, *places):
    found = bytearray(data)
    for place, value in places:
        found[place] = value
    return bytes(found)


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        (PLAIN, changed(PLAIN, (20, 0x20))),  # a fragment
        (PLAIN, changed(PLAIN, (21, 0x01))),
        (PLAIN, changed(PLAIN, (16, 0), (17, 12))),  # shorter than its header
        (PLAIN, changed(PLAIN, (16, 0), (17, 0))),  # offloaded
        (PLAIN, changed(PLAIN, (12, 0x12))),  # no IP
        (PLAIN, changed(PLAIN, *TAGGED)),
        (PLAIN, changed(PLAIN, (14, 0x46))),  # with options
        (PLAIN, changed(PLAIN, (14, 0x42))),
        (PLAIN, changed(PLAIN, (23, 17))),  # another transport
        (PLAIN, changed(PLAIN, (23, 1))),
        (PLAIN, changed(PLAIN, (46, 0))),  # a TCP header that is too short
        (PLAIN, PLAIN[:40]),
        (PLAIN, PLAIN[:53]),
        (PLAIN, PLAIN[:54]),
        (PLAIN_SIX, changed(PLAIN_SIX, *TAGGED)),
        (PLAIN_SIX, changed(PLAIN_SIX, (14, 0x6F))),
        (PLAIN_SIX, changed(PLAIN_SIX, (14, 0x75))),
        (PLAIN_SIX, changed(PLAIN_SIX, (20, 44))),
        (PLAIN_SIX, changed(PLAIN_SIX, (20, 17))),
        (PLAIN_SIX, changed(PLAIN_SIX, (13, 0xDE))),
        (PLAIN_SIX, PLAIN_SIX[:73]),
        (PLAIN_SIX, PLAIN_SIX[:74]),
    ],
)
def test_what_looks_like_a_packet_of_another_reader_is_looked_at(tmp_path, plain, other):
    """One of the two readers has learned whose the plain one is; what is lost with the other is counted once."""
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap([(plain, len(plain)), (other, len(plain))]))
    one, found, losses = CaptureReader(path), [], Losses()
    expected = list(one)
    for number in range(2):
        capture = CaptureReader(path, Partition(number, 2))
        found += list(capture)
        losses.take(capture.losses.all())
    assert sorted(found, key=lambda packet: packet.number) == expected
    assert losses.all() == one.losses.all()


# --- what is remembered -----------------------------------------------------------------------------------

CLIENT, SERVER = b"\x0a\0\0\1\xc3\x50", b"\x0a\0\0\2\x1d\x17"


def test_a_late_packet_is_known_for_such_as_long_as_so_many_others_have_passed(monkeypatch):
    """It depends on the numbers of the packets alone, and so is the same for every reader."""
    monkeypatch.setattr(sorting, "LATE_WINDOW", 100)
    for behind, begins in ((100, False), (101, True)):
        taken = FlowTable("capture", "zenoh")
        for number, (source, target, flags) in enumerate([(CLIENT, SERVER, SYN), (SERVER, CLIENT, RST)], 1):
            taken.feed(CapturedPacket(number, number, "tcp", source, target, b"", 0, 10, 0, flags))
        late = CapturedPacket(2 + behind, 9, "tcp", CLIENT, SERVER, b"late", 0, 30, 0, ACK)
        taken.feed(late)
        taken.end()
        assert any(loss.kind is Missing.FOREIGN for loss in taken.losses.all()) == begins


def test_memory_is_bounded_by_packets(monkeypatch):
    monkeypatch.setattr(sorting, "LATE_WINDOW", 100)
    taken = FlowTable("capture", "zenoh")
    for number in range(1, 2000, 2):
        client = b"\x0a\0\0\1" + number.to_bytes(2, "big")
        taken.feed(CapturedPacket(number, 1, "tcp", client, SERVER, b"", 0, 1, 0, SYN))
        taken.feed(CapturedPacket(number + 1, 1, "tcp", client, SERVER, b"", 0, 2, 0, RST))
    assert len(taken._known) <= 2 * 51
