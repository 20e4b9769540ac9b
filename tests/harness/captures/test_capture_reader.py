"""Captures: every format and link type, as scapy writes and reads them; whatever is wrong costs only itself."""

import gzip
import io
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from with_scapy import (
    ARP,
    IP,
    TCP,
    UDP,
    CookedLinux,
    CookedLinuxV2,
    Dot1Q,
    Ether,
    IPOption_NOP,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    Loopback,
    PcapNgWriter,
    PcapReader,
    RawPcapWriter,
    fragment,
)

from harness.captures import reader, recorded_session
from harness.captures.losses import Loss, Missing
from harness.captures.packets import format_end
from harness.captures.proxy import RecordedConnection
from harness.captures.reader import CaptureReader
from harness.captures.recordings import Recording
from harness.captures.writer import PcapngWriter
from harness.trace import Direction, Entry, EntryKind, Trace, write_ndjson

FOUR = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=4000, dport=7447, seq=17, ack=4, flags="PA") / b"hello"
SIX = IPv6(src="fd00::1", dst="fd00::2") / TCP(sport=4000, dport=7447, seq=17, ack=4, flags="PA") / b"hello"
LINKS = {
    1: lambda packet: Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / packet,
    101: lambda packet: packet,
    12: lambda packet: packet,
    113: lambda packet: CookedLinux(proto=0x0800 if packet.version == 4 else 0x86DD) / packet,
    276: lambda packet: CookedLinuxV2(proto=0x0800 if packet.version == 4 else 0x86DD) / packet,
    0: lambda packet: Loopback(type=2 if packet.version == 4 else 10) / packet,
}


def pcap(path: Path, packets, link: int = 1, *, nano: bool = False, order: str = "<", wire: int = 0) -> Path:
    with path.open("wb") as file:
        writer = RawPcapWriter(file, linktype=link, nano=nano, endianness=order, sync=True)
        writer.linktype = link  # which scapy takes for none when it is 0
        writer.write_header(b"")
        for number, packet in enumerate(packets):
            data = bytes(packet)
            writer.write_packet(data, sec=1_700_000_000 + number, usec=123, wirelen=max(wire, len(data)))
        writer.flush()
    return path


def read(path: Path):
    capture = CaptureReader(path)
    return list(capture), capture.losses.all()


def only(path: Path):
    """Return the one packet of a capture that lost nothing."""
    packets, losses = read(path)
    assert losses == ()
    assert len(packets) == 1
    return packets[0]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("inner", [FOUR, SIX], ids=["IPv4", "IPv6"])
@pytest.mark.parametrize(("nano", "order"), [(False, "<"), (False, ">"), (True, "<"), (True, ">")])
def test_link_types(tmp_path, link, inner, nano, order):
    packet = only(pcap(tmp_path / "a.pcap", [LINKS[link](inner)], link, nano=nano, order=order))
    hosts = ("10.0.0.1", "10.0.0.2") if inner is FOUR else ("[fd00::1]", "[fd00::2]")
    assert [format_end(packet.source), format_end(packet.target)] == [f"{hosts[0]}:4000", f"{hosts[1]}:7447"]
    assert (packet.transport, packet.data, packet.seq, packet.ack, packet.flags) == ("tcp", b"hello", 17, 4, 0x18)
    assert (packet.number, packet.lacking) == (1, 0)
    assert packet.time == 1_700_000_000_000_000_000 + (123 if nano else 123_000)


ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")


@pytest.mark.parametrize(
    "packet",
    [
        ETHER / Dot1Q(vlan=5) / FOUR,
        ETHER / Dot1Q(vlan=5) / Dot1Q(vlan=6) / SIX,
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", type=0x88A8) / Dot1Q(vlan=5, type=0x0800) / FOUR,
        ETHER / IP(src="10.0.0.1", dst="10.0.0.2", options=[IPOption_NOP()] * 4) / FOUR[TCP],
        ETHER / IPv6(src="fd00::1", dst="fd00::2") / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / FOUR[TCP],
        ETHER / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=1, dport=2, options=[("MSS", 5), ("NOP", 0)]) / b"hello",
        ETHER / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=2) / b"hello",
        bytes(ETHER / IP(src="10.0.0.1", dst="10.0.0.2", len=0) / FOUR[TCP]),
    ],
    ids=["vlan", "two tags", "service tag", "IPv4 options", "IPv6 headers", "TCP options", "UDP", "offloaded"],
)
def test_headers(tmp_path, packet):
    assert only(pcap(tmp_path / "a.pcap", [packet])).data == b"hello"


def test_padding_is_no_data(tmp_path):
    assert only(pcap(tmp_path / "a.pcap", [bytes(ETHER / FOUR) + bytes(40)])).data == b"hello"


def test_what_is_neither_tcp_nor_udp_is_no_loss(tmp_path):
    strangers = [ETHER / ARP(), ETHER / IP(proto=1) / b"ping", Ether(type=0x1234) / b"?", Ether(type=40) / b"802.3"]
    packets, losses = read(pcap(tmp_path / "a.pcap", [*strangers, ETHER / FOUR]))
    assert ([packet.number for packet in packets], losses) == ([5], ())


def test_pcapng_of_several_interfaces(tmp_path):
    path = tmp_path / "a.pcapng"
    with PcapNgWriter(str(path)) as writer:
        for number, packet in enumerate((ETHER / FOUR, SIX, CookedLinux(proto=0x0800) / FOUR)):
            packet.time = 1_700_000_000.25 + number
            packet.sniffed_on = f"if{number}"
            packet.comments = [b"said so"]
            writer.write(packet)
    packets, losses = read(path)
    assert losses == ()
    assert [packet.data for packet in packets] == [b"hello"] * 3
    assert [packet.time for packet in packets] == [1_700_000_000_250_000_000 + number * 10**9 for number in range(3)]


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + length + body + length


def section(order: str) -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order: str, link: int, snap: int = 0, *options: tuple[int, bytes]) -> bytes:
    body = struct.pack(f"{order}HHI", link, 0, snap)
    for code, value in options:
        body += struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)
    return block(order, 1, body + struct.pack(f"{order}HH", 0, 0))


def enhanced(order: str, which: int, ticks: int, data: bytes, size: int = 0) -> bytes:
    head = struct.pack(f"{order}5I", which, ticks >> 32, ticks & 0xFFFFFFFF, len(data), size or len(data))
    return block(order, 6, head + data)


def test_pcapng_blocks_of_all_kinds(tmp_path):
    """Two sections of different byte orders, resolutions and offsets of time, packets in all three kinds of blocks."""
    data = bytes(FOUR)
    parts = []
    for order in "<>":
        old = struct.pack(f"{order}HHIIII", 1, 0, 0, 5, len(data), len(data)) + data
        parts += [
            section(order),
            interface(order, 101, 0, (9, b"\x03"), (14, struct.pack(f"{order}q", 100))),
            interface(order, 101, 40, (2, b"eth0"), (9, b"\x8a")),
            block(order, 0xBAD, b"whatever"),
            enhanced(order, 0, 5, data),
            enhanced(order, 1, 1024, data),
            block(order, 2, old),
            block(order, 3, struct.pack(f"{order}I", len(data)) + data),
        ]
    path = tmp_path / "a.pcapng"
    path.write_bytes(b"".join(parts))
    packets, losses = read(path)
    assert losses == ()
    assert [packet.number for packet in packets] == list(range(1, 9))
    assert {packet.data for packet in packets} == {b"hello"}
    assert [packet.time for packet in packets] == [100_005_000_000, 10**9, 4_882_812, 4_882_812] * 2


@pytest.mark.parametrize("suffix", ["pcap", "pcapng"])
def test_compressed(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    conversation(path) if suffix == "pcapng" else pcap(path, [ETHER / FOUR] * 50)
    plain = read(path)
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == plain
    cut = tmp_path / "cut.gz"
    cut.write_bytes(packed.read_bytes()[: packed.stat().st_size * 2 // 3])
    packets, losses = read(cut)
    assert packets == plain[0][: len(packets)]
    assert 0 < len(packets) < len(plain[0])
    assert {loss.kind for loss in losses} == {Missing.CUT_OFF}
    pyarrow = pytest.importorskip("pyarrow")
    zstd = tmp_path / "a.zst"
    with pyarrow.CompressedOutputStream(str(zstd), "zstd") as file:
        file.write(path.read_bytes())
    assert read(zstd) == plain
    zstd.write_bytes(zstd.read_bytes()[:-4])
    packets, losses = read(zstd)
    assert packets == plain[0][: len(packets)]
    assert losses


def conversation(path: Path) -> Path:
    with PcapngWriter(path, live=True) as dump:
        connection = RecordedConnection(dump, ("127.0.0.1", 4000), ("127.0.0.1", 7447))
        for number in range(20):
            connection.data(number % 2, b"%d" % number * 100)
        connection.finish(0)
        connection.finish(1)
    return path


@pytest.mark.parametrize("suffix", ["pcap", "pcapng"])
def test_a_file_that_is_cut_off_anywhere(tmp_path, suffix):
    """What was whole is read, what is left is counted to the byte."""
    whole = tmp_path / f"a.{suffix}"
    if suffix == "pcap":
        pcap(whole, [ETHER / FOUR, ETHER / SIX, ETHER / FOUR], 1)
    else:
        with PcapngWriter(whole, live=True) as dump:
            RecordedConnection(dump, ("127.0.0.1", 4000), ("::1", 7447)).data(0, b"hello")
    data, (packets, _) = whole.read_bytes(), read(whole)
    cut = tmp_path / "cut"
    for size in range(24 if suffix == "pcap" else 28, len(data)):
        cut.write_bytes(data[:size])
        found, losses = read(cut)
        assert found == packets[: len(found)]
        assert len(found) < len(packets)
        assert sum(loss.count for loss in losses) <= 1
        assert {loss.kind for loss in losses} <= {Missing.CUT_OFF}
        lost = sum(loss.bytes for loss in losses)
        cut.write_bytes(data[: size - lost])
        assert read(cut) == (found, ()), f"{lost} bytes are said to be lost of the first {size}"


@pytest.mark.parametrize("garbage", [b"", b"\xd4", b"this is no capture at all", bytes(1000)])
def test_garbage(tmp_path, garbage):
    path = tmp_path / "garbage"
    path.write_bytes(garbage)
    assert read(path) == ([], (Loss(Missing.UNREADABLE, 1, len(garbage), "this is no capture"),))


def test_lengths_that_cannot_be(tmp_path):
    path = pcap(tmp_path / "a.pcap", [ETHER / FOUR, ETHER / FOUR])
    data = bytearray(path.read_bytes())
    data[24 + 16 + 59 + 8 : 24 + 16 + 59 + 12] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    packets, losses = read(path)
    assert len(packets) == 1
    assert losses == (Loss(Missing.UNREADABLE, 1, 16 + 59, "a packet of 2147483647 bytes"),)
    path = tmp_path / "a.pcapng"
    good = section("<") + interface("<", 101) + enhanced("<", 0, 1, bytes(FOUR))
    for bad in (b"\x06\0\0\0\x09\0\0\0" + bytes(90), enhanced("<", 0, 1, bytes(FOUR))[:-4] + b"\0\0\0\0"):
        path.write_bytes(good + bad)
        packets, losses = read(path)
        assert len(packets) == 1
        assert [(loss.kind, loss.bytes) for loss in losses] == [(Missing.UNREADABLE, len(bad))]


def test_a_damaged_packet_costs_only_itself(tmp_path):
    path = tmp_path / "a.pcapng"
    good = enhanced("<", 0, 1, bytes(FOUR))
    nowhere, beyond = enhanced("<", 9, 1, bytes(FOUR)), bytearray(good)
    beyond[20:24] = b"\xff\0\0\0"
    path.write_bytes(section("<") + interface("<", 101) + good + nowhere + bytes(beyond) + good)
    packets, losses = read(path)
    assert [packet.number for packet in packets] == [1, 4]
    assert losses == (Loss(Missing.DAMAGED, 2, 2 * len(good)),)
    bad = bytearray(bytes(ETHER / FOUR))
    bad[14] = 0x42
    worse = bytearray(bytes(ETHER / FOUR))
    worse[14] = 0x75
    worst = bytearray(bytes(ETHER / FOUR))
    worst[46] = 0xF0
    packets, losses = read(pcap(tmp_path / "b.pcap", [bad, worse, worst, ETHER / FOUR]))
    assert ([packet.number for packet in packets], losses) == ([4], (Loss(Missing.DAMAGED, 3),))


def test_packets_cut_short(tmp_path):
    """Of a packet cut in its data the beginning is kept; one cut in its headers is lost."""
    whole = bytes(ETHER / FOUR)
    packets, losses = read(pcap(tmp_path / "a.pcap", [whole[:-3], whole[:40], whole[:20], whole[:10]], wire=len(whole)))
    assert [(packet.data, packet.lacking) for packet in packets] == [(b"he", 3)]
    assert losses == (Loss(Missing.CUT_SHORT, 4, 3 + (59 - 40) + (59 - 20) + (59 - 10)),)


def test_fragments(tmp_path):
    """Fragments are not put together, and said so; the first of a datagram shows whose session lacks it."""
    long = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=2) / bytes(3000)
    six = IPv6(src="fd00::1", dst="fd00::2") / IPv6ExtHdrFragment(m=1, nh=17) / bytes(64)
    packets, losses = read(pcap(tmp_path / "a.pcap", [*(ETHER / each for each in fragment(long, 1480)), ETHER / six]))
    assert [(packet.number, len(packet.data), packet.lacking) for packet in packets] == [(1, 1472, 1528), (4, 56, 1)]
    assert losses == (Loss(Missing.FRAGMENT, 4, 3008 + 64),)


def test_unknown_link_types(tmp_path):
    packets, losses = read(pcap(tmp_path / "a.pcap", [b"12345678", b"1234"], 147))
    assert ([], (Loss(Missing.LINK_TYPE, 2, 12, "147"),)) == (packets, losses)


@given(st.data())
def test_damage_of_any_kind_is_survived(tmp_path_factory, data):
    """Whatever bytes are changed or missing: no exception, packets before the first change as they were."""
    folder = tmp_path_factory.mktemp("damage")
    form = data.draw(st.sampled_from(["pcap", "pcapng"]))
    path = folder / "a"
    if form == "pcap":
        pcap(path, [ETHER / FOUR, ETHER / SIX, ETHER / Dot1Q(vlan=5) / FOUR] * 2)
    else:
        conversation(path)
    original, (packets, _) = path.read_bytes(), read(path)
    damaged = bytearray(original)
    places = data.draw(st.lists(st.integers(4, len(original) - 1), min_size=1, max_size=4))
    for place in places:
        damaged[place] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged[: data.draw(st.integers(4, len(damaged)))])
    found, _ = read(path)
    assert len(found) <= len(packets) + 2
    first = next((n for n, (a, b) in enumerate(zip(original, damaged, strict=True)) if a != b), len(original))
    path.write_bytes(original[:first])
    before, _ = read(path)
    if len(path.read_bytes()) >= 24 and form == "pcap" and first >= 24:
        assert before == packets[: len(before)]


def test_a_trace_that_is_compressed_is_read_as_a_plain_one(tmp_path):
    trace = Trace("zenoh")
    for number in range(300):
        trace.add(Entry(float(number), "a", EntryKind.FRAME, Direction.RECEIVED, bytes([number % 256]) * number))
    plain, packed, cut = tmp_path / "a.ndjson", tmp_path / "b.ndjson.gz", tmp_path / "c.ndjson.gz"
    write_ndjson(trace, plain)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    cut.write_bytes(packed.read_bytes()[:-100])
    entries, losses = [], []
    for path in (plain, packed, cut):
        source = Recording(path, "zenoh")
        entries.append([entry for recorded in source for entry in recorded.trace.entries])
        losses.append({loss.kind for loss in source.losses.all()})
    assert len(entries[0]) == 300
    assert entries[1] == entries[0]
    assert entries[2] == entries[0][: len(entries[2])]
    assert losses == [set(), set(), {Missing.CUT_OFF}]


def test_a_line_without_an_end_costs_no_more_than_it_has_bytes(tmp_path, monkeypatch):
    """It is named, what follows is read and is not sound, and no more of it than the limit is ever kept."""
    monkeypatch.setattr(reader, "LONGEST_LINE", 5000)
    monkeypatch.setattr(recorded_session, "LONGEST_LINE", 5000)
    monkeypatch.setattr(reader, "CHUNK", 1000)
    trace = Trace("zenoh")
    for number in range(4):
        trace.add(Entry(float(number), "a", EntryKind.FRAME, Direction.RECEIVED, b"\4"))
    path = tmp_path / "a.ndjson"
    write_ndjson(trace, path)
    lines = path.read_bytes().splitlines(keepends=True)
    for long in (b"{" + b"x" * 100_000 + b"\n", b'{"a":' + b"[" * 4000 + b"\n"):
        path.write_bytes(b"".join([*lines[:2], long, *lines[2:]]))
        source = Recording(path, "zenoh")
        (recorded,) = source
        assert (len(recorded.trace), recorded.sound) == (4, 2)
        assert {loss.kind for loss in source.losses.all()} <= {Missing.LONG_LINE, Missing.DAMAGED}
        assert source.losses.all()
    path.write_bytes(lines[0] + b"y" * 10_000)
    source = Recording(path, "zenoh")
    assert len(next(iter(source)).trace) == 1
    assert [str(loss) for loss in source.losses.all()] == ["lines too long: 1"]


@given(st.lists(st.binary(max_size=20)))
def test_lines_are_those_of_the_whole(pieces):
    data = b"".join(pieces)
    found = list(reader.bounded_lines(iter([*filter(None, pieces), b""]).__next__))
    assert b"".join(found) == data
    assert found == data.splitlines(keepends=True) or any(byte in data for byte in b"\r\x0b\x0c\x1c\x1d\x1e\x85")


def test_scapy_reads_the_same(tmp_path):
    """What our own writer writes and our reader reads is what scapy sees, checksums and all."""
    path = conversation(tmp_path / "a.pcapng")
    ours = [(format_end(p.source), format_end(p.target), p.seq, p.ack, p.flags, p.data) for p in CaptureReader(path)]
    theirs = []
    with PcapReader(str(path)) as reader:
        for packet in reader:
            again = IP(bytes(packet[IP]))
            checks = again.chksum, again[TCP].chksum
            del again.chksum, again[TCP].chksum
            again = IP(bytes(again))
            assert checks == (again.chksum, again[TCP].chksum)
            ends = f"{again.src}:{again.sport}", f"{again.dst}:{again.dport}"
            theirs.append((*ends, again.seq, again.ack, int(again[TCP].flags), bytes(again[TCP].payload)))
    assert ours == theirs
    assert io.BytesIO(path.read_bytes()).read(4) == b"\x0a\x0d\x0d\x0a"
