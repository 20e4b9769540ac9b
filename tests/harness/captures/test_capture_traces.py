"""Traces as captures, read back by scapy and, where it is installed, by tshark."""

import json
import shutil
import subprocess

import pytest
from with_scapy import packets_of

from harness.captures.traces import write_pcapng
from harness.links.framing import LengthPrefixed
from harness.trace import Direction, Entry, EntryKind, Trace, write_ndjson

FRAMING = LengthPrefixed()
LONG = bytes(range(256)) * 200
SENT, RECEIVED = Direction.SENT, Direction.RECEIVED


@pytest.fixture
def trace():
    trace = Trace("zenoh")
    trace.ports = {"a": (50123, 20001), "b": (50124, 20001)}
    for entry in (
        Entry(0.0, "a", EntryKind.OPENED, SENT),
        Entry(0.1, "b", EntryKind.OPENED, RECEIVED),
        Entry(0.25, "a", EntryKind.FRAME, SENT, b"one"),
        Entry(0.3, "a", EntryKind.NOTE, SENT, note="not on the wire"),
        Entry(0.5, "a", EntryKind.FRAME, RECEIVED, LONG),
        Entry(0.6, "b", EntryKind.RAW, SENT, b"\xff"),
        Entry(0.75, "a", EntryKind.CLOSED, RECEIVED, note="fin"),
        Entry(1.0, "b", EntryKind.CLOSED, RECEIVED, note="reset"),
    ):
        trace.add(entry)
    return trace


@pytest.fixture
def read(tmp_path):
    def write_and_read(trace):
        path = tmp_path / "trace.pcapng"
        write_pcapng(trace, path, {"tcp": FRAMING})
        return packets_of(path)

    return write_and_read


def payloads(packets, source):
    return b"".join(bytes(packet["TCP"].payload) for packet in packets if packet["TCP"].sport == source)


def test_a_stream_carries_the_framed_bytes(trace, read):
    packets = [packet for packet in read(trace) if 50123 in (packet["TCP"].sport, packet["TCP"].dport)]
    assert payloads(packets, 50123) == FRAMING.encode(b"one")
    assert payloads(packets, 20001) == FRAMING.encode(LONG)


def test_streams_begin_end_and_count_as_tcp_does(trace, read):
    packets = read(trace)
    for port, shape in ((50123, "S SA A PA A PA FA FA A"), (50124, "S SA A PA RA")):
        stream = [packet["TCP"] for packet in packets if port in (packet["TCP"].sport, packet["TCP"].dport)]
        assert " ".join(str(segment.flags) for segment in stream) == shape
        following = {}
        for segment in stream:
            flags, length = str(segment.flags), len(bytes(segment.payload))
            assert segment.seq == following.get(segment.sport, 0)
            assert segment.ack == (following.get(segment.dport, 0) if "A" in flags else 0)
            following[segment.sport] = segment.seq + length + ("S" in flags) + ("F" in flags)


def test_who_dialled_sends_the_first_packet(trace, read):
    first = {}
    for packet in read(trace):
        first.setdefault(frozenset((packet["TCP"].sport, packet["TCP"].dport)), packet["TCP"].sport)
    assert sorted(first.values()) == [20001, 50123]


def test_times_are_kept(trace, read):
    times = [float(packet.time) - trace.epoch for packet in read(trace)]
    assert times == sorted(times)
    assert times[0] == pytest.approx(0.0, abs=1e-5)
    assert times[-1] == pytest.approx(1.0, abs=1e-5)


def test_datagrams_have_no_framing(read):
    trace = Trace("zenoh", "udp")
    trace.ports["a"] = (50123, 20001)
    trace.add(Entry(0.0, "a", EntryKind.OPENED, SENT))
    trace.add(Entry(0.1, "a", EntryKind.FRAME, SENT, b"ping"))
    trace.add(Entry(0.2, "a", EntryKind.FRAME, RECEIVED, b"pong"))
    datagrams = [packet["UDP"] for packet in read(trace)]
    assert [(each.sport, each.dport, bytes(each.payload)) for each in datagrams] == [
        (50123, 20001, b"ping"),
        (20001, 50123, b"pong"),
    ]


def test_a_link_without_ports_and_beginning_is_written_too(read):
    trace = Trace("zenoh")
    trace.add(Entry(0.1, "x", EntryKind.FRAME, RECEIVED, b"middle"))
    assert [str(packet["TCP"].flags) for packet in read(trace)] == ["S", "SA", "A", "PA"]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_wireshark_finds_nothing_to_complain_about(trace, tmp_path):
    path = tmp_path / "trace.pcapng"
    write_pcapng(trace, path, {"tcp": FRAMING})
    complaints = subprocess.run(
        ["tshark", "-r", str(path), "-Y", "tcp.analysis.flags && !tcp.analysis.window_update"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert complaints.stdout == ""


def test_ndjson_holds_one_object_per_entry(trace, tmp_path):
    path = tmp_path / "trace.ndjson"
    write_ndjson(trace, path)
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(entries) == len(trace)
    assert entries[2] == {
        "time": 0.25,
        "link": "a",
        "what": "frame",
        "direction": "sent",
        "data": b"one".hex(),
        "note": "",
    }


def test_what_has_no_ports_gets_some_and_packets_are_framed_as_over_tcp(read):
    trace = Trace("zenoh", "ux")
    trace.ports = {"a": (0, 0), "b": (0, 0)}
    for link in ("a", "b"):
        trace.add(Entry(0.0, link, EntryKind.FRAME, SENT, link.encode()))
    # Longer than the framing of TCP can say.
    trace.add(Entry(0.1, "a", EntryKind.FRAME, SENT, b"x" * 70_000))
    packets = read(trace)
    sources = sorted({packet["TCP"].sport for packet in packets} & {40000, 40001})
    assert [payloads(packets, source)[:3] for source in sources] == [FRAMING.encode(b"a"), FRAMING.encode(b"b")]
    assert len(payloads(packets, 40000)) == 3 + 70_000


@pytest.mark.parametrize("transport", ["udp", "memory"])
def test_what_has_no_framing_is_written_as_datagrams(transport, tmp_path):
    trace = Trace("urbit", transport)
    trace.record("a", EntryKind.FRAME, SENT, b"packet")
    trace.record("a", EntryKind.RAW, RECEIVED, b"answer")
    write_pcapng(trace, tmp_path / "trace.pcapng", {})
    packets = packets_of(tmp_path / "trace.pcapng")
    assert [bytes(packet["UDP"].payload) for packet in packets] == [b"packet", b"answer"]
