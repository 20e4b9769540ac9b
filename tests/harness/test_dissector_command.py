"""Dissectors for Wireshark: golden vectors field by field, and the captures that goldwire writes."""

import subprocess
from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from click.testing import CliRunner
from dissected import differences
from tshark import HEADERS, LARGEST, ShownFrame, each_shown, frame, need_tshark, packets, run, shown

from harness.captures.traces import write_pcapng
from harness.dissector_command import dissector, dissector_of
from harness.protocol import load
from harness.trace import Direction, EntryKind, Trace
from vectors.golden.loader import Vector
from vectors.golden.loader import load as load_vectors
from wire import catalogue, envelope
from wire.primitives import vle

PROTOCOLS = ("zenoh", "pathfinder", "urbit", "rai")
LEAST = {"urbit": 130}
"""Of vectors that are taken, and that are refused, at least: one small layout has fewer than a thousand."""

AT_RANDOM = (40123, 51234)
"""Ports that nobody knows."""


def vectors_of(protocol: str) -> list[Vector]:
    """The vectors of all layouts of a protocol that fit in a datagram; nobody is asked about one without bytes."""
    names = [name for name in catalogue.grammars() if name.startswith(f"{protocol}/")]
    return [vector for name in names for vector in load_vectors(name) if 0 < len(vector.data) <= LARGEST]


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])  # thousands of vectors
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_field_of_every_vector_is_shown_where_the_layout_has_it(protocol: str, step: int, tmp_path: Path) -> None:
    """And what the layout refuses is marked as malformed, with the same reason at the same place."""
    need_tshark()
    vectors = vectors_of(protocol)[::step]
    frames = [(vector.layout, vector.data) for vector in vectors]
    judged: Counter[bool] = Counter()
    for vector, each in zip(vectors, each_shown(dissector_of(load(protocol)), frames, tmp_path), strict=True):
        judged[each.refusal is None] += 1
        if catalogue.layout(vector.layout).is_text:  # a language is shown as it is, and not judged
            assert [field.size for field in each.fields] == [len(vector.data)]
        else:
            assert not differences(vector.layout, vector.data, each), (vector.id, vector.data.hex())
    assert min(judged[True], judged[False]) > LEAST.get(protocol, 1000) / step


def trace_of(protocol: str, transport: str, frames: list[bytes], ports: tuple[int, int]) -> Trace:
    """A trace of frames that go to and fro over one link."""
    trace = Trace(protocol, transport)
    trace.ports["a"] = ports
    trace.record("a", EntryKind.OPENED, Direction.SENT)
    for index, data in enumerate(frames):
        direction = Direction.RECEIVED if index % 2 else Direction.SENT
        trace.record("a", EntryKind.FRAME, direction, data)
    trace.record("a", EntryKind.CLOSED, Direction.SENT)
    return trace


def captured(trace: Trace, into: Path, *options: str) -> list[ShownFrame]:
    """What Wireshark shows of the frames of a trace, as goldwire writes it into a report."""
    protocol = load(trace.protocol)
    capture, script = into / "trace.pcapng", into / "dissector.lua"
    script.write_text(dissector_of(protocol))
    write_pcapng(trace, capture, protocol.framings)
    name = f"goldwire_{trace.protocol}"
    protos = (name, f"{name}_{trace.transport.replace('-', '_')}")
    return [
        frame(root, int(str(root.get("pos"))) + before(root))
        for packet in packets(capture, script, protos, *options)
        for root in packet.iter("proto")
        if root.get("name") in protos
    ]


def before(root: Element) -> int:
    """How many bytes stand before a frame: its length, if there is one."""
    length = next((each for each in root if str(each.get("name")).endswith(".framing.length")), None)
    return 0 if length is None else int(str(length.get("size")))


@pytest.mark.parametrize(
    ("protocol", "transport"),
    [("zenoh", "tcp"), ("zenoh", "udp"), ("pathfinder", "tcp"), ("pathfinder", "tcp-stream"), ("urbit", "udp")],
)
def test_a_capture_of_ours_opens_at_any_port(protocol: str, transport: str, tmp_path: Path) -> None:
    """The frames are found, whatever they are split into, from the first one that can be read."""
    need_tshark()
    layout = load(protocol).layout
    valid = [v.data for v in load_vectors(layout) if v.result == "valid" and 0 < len(v.data) <= LARGEST]
    if transport == "tcp-stream":  # white space between objects belongs to none of them
        valid = [data for data in valid if data.strip() == data]
    frames = [valid[0], *valid[::9]]
    found = captured(trace_of(protocol, transport, frames, AT_RANDOM), tmp_path)
    assert len(found) == len(frames)
    for data, each in zip(frames, found, strict=True):
        assert not differences(layout, data, each), data[:99].hex()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_others_say_is_left_to_others(protocol: str, tmp_path: Path) -> None:
    """A connection is the protocol's only if a whole frame at its beginning can be read."""
    need_tshark()
    trace = Trace(protocol, "tcp")
    # A connection for each, in one capture: most of what tshark takes is its start.
    for number, said in enumerate((b'{"x":1}', b"GET / HTTP/1.1\r\n\r\n", b"\x02\x00\x1f", b"\x00\x00\x00\x02{}")):
        trace.ports[str(number)] = AT_RANDOM[0] + number, AT_RANDOM[1] + number
        trace.record(str(number), EntryKind.OPENED, Direction.SENT)
        trace.record(str(number), EntryKind.RAW, Direction.SENT, said)
        trace.record(str(number), EntryKind.CLOSED, Direction.SENT)
    trace.transport = "tcp-stream"  # which is written as it is, and asks for the frames of both framings
    assert captured(trace, tmp_path) == []


def test_frames_cross_segments(tmp_path: Path) -> None:
    """Wireshark puts together what no datagram, and no segment, holds."""
    need_tshark()
    push = bytes.fromhex("0501 1d00 01") + vle(60000) + bytes(60000)
    (found,) = captured(trace_of("zenoh", "tcp", [push], (AT_RANDOM[0], 7447)), tmp_path)
    assert next(field for field in found.fields if field.name == "zenoh.put.payload")[1:3] == (8, 60000)
    layout = "pathfinder/message"
    # Not all: of each tshark writes as much again as text, several times over, and one of each kind shows the same.
    large = {v.result: v.data for v in load_vectors(layout) if LARGEST < len(v.data) <= 1 << 18}
    frames = list(large.values())
    refused = captured(trace_of("pathfinder", "tcp", frames, AT_RANDOM), tmp_path, *decode_as("pathfinder"))
    assert not [differences(layout, *each) for each in zip(frames, refused, strict=True) if differences(layout, *each)]
    assert any(each.refusal for each in refused)


@pytest.mark.parametrize(
    ("protocol", "transport"), [("zenoh", "tcp"), ("pathfinder", "tcp"), ("pathfinder", "tcp-stream")]
)
def test_segments_end_anywhere(protocol: str, transport: str, tmp_path: Path) -> None:
    """A segment has the end of a frame, whole ones, and the beginning of the next."""
    need_tshark()
    known = load(protocol)
    # Not the longest: of their 65,535 items tshark writes 200 MB, and a few segments show the same.
    valid = [
        v.data
        for v in load_vectors(known.layout)
        if v.result == "valid" and 9 < len(v.data.strip()) == len(v.data) < 2000
    ]
    stream = b"".join(known.framings[transport].encode(data) for data in valid[:60])
    trace = trace_of(protocol, transport, [valid[0]], AT_RANDOM)
    for at in range(0, len(stream), 211):
        trace.record("a", EntryKind.RAW, Direction.SENT, stream[at : at + 211])
    found = captured(trace, tmp_path)
    assert len(found) == 61
    assert not [
        differences(known.layout, *each)
        for each in zip(valid, found[1:], strict=False)
        if differences(known.layout, *each)
    ]


def test_what_is_refused_does_not_hide_what_follows(tmp_path: Path) -> None:
    """Over TCP the length says where the next frame begins; a frame may have no bytes."""
    need_tshark()
    frames = [bytes.fromhex(data) for data in ("04", "ff", "", "0500", "05")]
    found = captured(trace_of("zenoh", "tcp", frames, (40123, 7447)), tmp_path)
    assert [each.refusal for each in found] == [None, ("unknown-id", 0), None, None, ("truncated", 1)]
    found = captured(trace_of("pathfinder", "tcp", [b"", b"{}"], AT_RANDOM), tmp_path, *decode_as("pathfinder"))
    # What has no bytes is marked at its length.
    assert [each.refusal for each in found] == [("truncated", -4), ("missing-field", 1)]


def decode_as(protocol: str) -> tuple[str, ...]:
    """The options that make Wireshark take a port for a protocol's."""
    return tuple(f"-dtcp.port=={port},goldwire_{protocol}" for port in AT_RANDOM)


def test_a_length_that_is_too_long_is_refused(tmp_path: Path) -> None:
    """Behind it no frame is found again."""
    need_tshark()
    trace = trace_of("pathfinder", "tcp", [], AT_RANDOM)
    trace.record("a", EntryKind.RAW, Direction.SENT, bytes.fromhex("7fffffff") + b"{}")
    (found,) = captured(trace, tmp_path, *decode_as("pathfinder"))
    assert found.refusal == ("too-long", -4)
    assert found.is_malformed


def test_what_begins_no_object_is_a_frame_of_its_own(tmp_path: Path) -> None:
    """Behind it no border can be found. White space is no frame, and braces in texts are no borders."""
    need_tshark()
    trace = trace_of("pathfinder", "tcp-stream", [], AT_RANDOM)
    trace.record("a", EntryKind.RAW, Direction.SENT, rb' {"a\"}":{"b":1}} ' + b"\n{}nonsense {} ")
    options = (f"-dtcp.port=={AT_RANDOM[1]},goldwire_pathfinder_tcp_stream",)
    found = captured(trace, tmp_path, *options)
    assert [each.refusal for each in found] == [("missing-field", 15), ("missing-field", 1), ("bad-syntax", 1)]


def test_numbers_and_extensions_have_names(tmp_path: Path) -> None:
    """Those that the protocol's words give them, in the packet list as well."""
    need_tshark()
    trace = trace_of("zenoh", "tcp", [bytes.fromhex(data) for data in ("2501 b90501 3307", "05010e", "0e")], AT_RANDOM)
    captured(trace, tmp_path)
    options = "-r", str(tmp_path / "trace.pcapng"), "-X", f"lua_script:{tmp_path / 'dissector.lua'}"
    said = "".join(run(*options, "-O", "goldwire_zenoh"))
    for words in (
        "R: reliable (1)",
        "Mod: Current (1)",
        "id: INTEREST (25)",
        "extensions: NodeId",
        "encoding: Z64 (1)",
    ):
        assert words in said
    listed = "".join(run(*options))
    for words in (" FRAME, INTEREST\n", " FRAME, refused: unknown-id\n", " refused: unknown-id\n"):
        assert words in listed


def fragments(message: bytes, count: int, first: int) -> list[bytes]:
    """A message in so many fragments, reliable, numbered from ``first``."""
    size = -(-len(message) // count)
    pieces = [message[at : at + size] for at in range(0, len(message), size)]
    more = [0x40] * (len(pieces) - 1) + [0]
    return [bytes((0x26 | more[n],)) + vle(first + n) + piece for n, piece in enumerate(pieces)]


def test_fragments_are_put_together(tmp_path: Path) -> None:
    """By direction and reliability, in any number of packets; a chain with a gap is not taken for whole."""
    need_tshark()
    one = bytes.fromhex("1e22070003612f62")
    tester, node = fragments(one, 3, 126), fragments(one[:2] + b"\x09" + one[3:], 3, 7)
    frames = [each for pair in zip(tester, node, strict=True) for each in pair]
    found = captured(trace_of("zenoh", "tcp", frames, (AT_RANDOM[0], 7447)), tmp_path)
    ids = [[f.text for f in each.gathered if f.name == "zenoh.d_subscriber.subs_id"] for each in found]
    assert ids == [[], [], [], [], ["7"], ["9"]]
    assert not any(each.is_malformed for each in found)
    lost = captured(trace_of("zenoh", "tcp", [tester[0], b"\x04", tester[2]], (AT_RANDOM[0], 7447)), tmp_path)
    assert not any(field.name.startswith("zenoh.d_subscriber") for each in lost for field in each.gathered)


def test_what_is_odd_is_remarked(tmp_path: Path) -> None:
    """Integers longer than necessary, and bits that have no name."""
    need_tshark()
    layout = "zenoh/network-message"
    frames = [(layout, bytes.fromhex(data)) for data in ("198500", "1905", "5e1a")]
    remarks = [each.remarks for each in shown(dissector_of(load("zenoh")), frames, tmp_path)]
    assert remarks == [["More bytes than the number needs"], [], ["Reserved bits are set"]]


def test_a_packet_with_another_checksum_is_remarked_and_not_recognised(tmp_path: Path) -> None:
    """Almost any datagram can be read as a packet of Ames."""
    need_tshark()
    layout, right = "urbit/packet", bytes.fromhex("0cb0b9bf114400a600efcdab89674523010100000000000000")
    relayed = right[:3] + bytes([right[3] & 0x7F]) + bytes(6) + right[4:]
    odd = [vector.data for vector in load_vectors(layout) if "wrong-checksum" in vector.flags]
    frames = [right, relayed, b"\x0d" + right[1:] + b"\0", right[:-1] + b"\x01", *odd]
    said = [each.remarks for each in shown(dissector_of(load("urbit")), [(layout, data) for data in frames], tmp_path)]
    assert said[:2] == [[], []]
    assert all(any("would be right" in remark for remark in remarks) for remarks in said[2:])
    assert said[3] == ["the checksum is 522038, and 402917 would be right"]
    assert captured(trace_of("urbit", "udp", frames[2:], AT_RANDOM), tmp_path) == []


def test_what_is_no_operation_of_a_broker_is_remarked_and_not_recognised(tmp_path: Path) -> None:
    """Nearly every datagram can be read as an envelope."""
    need_tshark()
    good, odd, nameless = envelope.data("A.B", b"{}"), envelope.write(ord("X"), "A.B", b"{}"), envelope.listen("")
    found = captured(trace_of("rai", "udp", [good, odd, nameless], AT_RANDOM), tmp_path)
    assert [each.remarks for each in found] == [[], ["0x58 is no operation"], ["a subject has at least one character"]]
    for wrong in (odd, nameless):
        assert captured(trace_of("rai", "udp", [wrong], AT_RANDOM), tmp_path) == []


def test_what_the_capture_cut_short_is_not_accused(tmp_path: Path) -> None:
    """The frame may be whole."""
    need_tshark()
    (whole,) = shown(dissector_of(load("zenoh")), [("zenoh/batch", bytes.fromhex("05071905"))], tmp_path)
    assert not whole.is_malformed
    cut, port = tmp_path / "cut.pcapng", "-dudp.port==40001,goldwire_zenoh_batch"
    subprocess.run(["editcap", "-s", str(HEADERS + 3), tmp_path / "frames.pcapng", cut], check=True, timeout=60)
    packet = next(packets(cut, tmp_path / "dissector.lua", ["goldwire_zenoh_batch"], port))
    root = next(each for each in packet.iter("proto") if each.get("name") == "goldwire_zenoh_batch")
    assert not frame(root, HEADERS).is_malformed
    assert "cut short" in str(root.get("showname"))
    captured(trace_of("zenoh", "tcp", [bytes.fromhex("05071905")], (AT_RANDOM[0], 7447)), tmp_path)
    subprocess.run(["editcap", "-s", "59", tmp_path / "trace.pcapng", cut], check=True, timeout=60)
    roots = [
        (frame(root, 0).is_malformed, str(root.get("showname")))
        for packet in packets(cut, tmp_path / "dissector.lua", ["goldwire_zenoh"])
        for root in packet.iter("proto")
        if root.get("name") == "goldwire_zenoh"
    ]
    assert roots == [(False, "Zenoh (cut short by the capture)")]


def test_the_command_writes_what_wireshark_reads() -> None:
    """And refuses a protocol that nobody knows."""
    written = CliRunner().invoke(dissector, ["zenoh"])
    assert (written.exit_code, written.output) == (0, dissector_of(load("zenoh")))
    unknown = CliRunner().invoke(dissector, ["zeno"])
    assert unknown.exit_code == 2
    assert "known are" in unknown.output
