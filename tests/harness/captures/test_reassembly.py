"""Streams and sessions: whatever TCP may do to segments, the frames are the same; what is missing is named."""

import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.captures.flow_table import FlowTable
from harness.captures.losses import Loss, Missing
from harness.captures.packets import ACK, FIN, RST, SYN, CapturedPacket
from harness.captures.reassembly import LOST_AFTER, Stream, StreamBytes
from harness.captures.resynchronisation import Resynchroniser
from harness.captures.servers import ServerEndpoint, parse_server
from harness.links.framing import JsonStream, LengthPrefixed
from harness.trace import Direction, EntryKind
from wire.zenoh.values import Declare, DeclareFinal, Interest, Mode, Options
from wire.zenoh.values_transport import Frame, Init, KeepAlive, Open, write_batch

CLIENT, SERVER = b"\x0a\0\0\1\xc3\x50", b"\x0a\0\0\2\x1d\x17"
BATCH = write_batch([KeepAlive()])
ASK = write_batch([Frame(1, (Interest(1, Mode.CURRENT, Options.S, None),))])
AGAIN = write_batch([Frame(2, (Interest(2, Mode.CURRENT, Options.S, None),))])
TOLD = write_batch([Frame(5, (Declare(DeclareFinal(), 1),))])
HANDSHAKE = (Init(2, b"c"), Init(0, b"s", cookie=b"k"), Open(9000, 1, b"k"), Open(9000, 5))
"""With the sequence numbers that the first frames have."""


def prefixed(*frames: bytes) -> bytes:
    return b"".join(len(frame).to_bytes(2, "little") + frame for frame in frames)


class Wire:
    """Makes packets: numbers and times count up by themselves."""

    def __init__(self, isn: int = 100) -> None:
        self.packets: list[CapturedPacket] = []
        self.next = {CLIENT: isn, SERVER: isn + 5000}

    def put(
        self, source: bytes, data: bytes = b"", flags: int = ACK, seq: int | None = None, lacking: int = 0
    ) -> "Wire":
        target = SERVER if source == CLIENT else CLIENT
        number = len(self.packets) + 1
        at = self.next[source] if seq is None else seq
        packet = CapturedPacket(number, number * 10**9, "tcp", source, target, data, lacking, at % 2**32)
        acked = self.next[target] % 2**32
        self.packets.append(
            CapturedPacket(*(getattr(packet, name) for name in packet.__struct_fields__[:8]), acked, flags)
        )
        if seq is None:
            self.next[source] += len(data) + lacking + bool(flags & (SYN | FIN))
        return self

    def skip(self, source: bytes, count: int) -> "Wire":
        self.next[source] += count
        return self

    def open(self) -> "Wire":
        return self.put(CLIENT, flags=SYN).put(SERVER, flags=SYN | ACK).put(CLIENT)

    def close(self) -> "Wire":
        return self.put(CLIENT, flags=FIN | ACK).put(SERVER, flags=FIN | ACK).put(CLIENT)


def sessions(packets, protocol="zenoh", **options):
    taken = FlowTable("capture", protocol, **options)
    found = [recorded for packet in packets for recorded in taken.feed(packet)]
    return found + taken.end(), taken.losses.all()


def frames(recorded, direction=None):
    return [
        entry.data for entry in recorded.trace if entry.what is EntryKind.FRAME and direction in (None, entry.direction)
    ]


def the_only(packets, protocol="zenoh", **options):
    found, losses = sessions(packets, protocol, **options)
    assert losses == ()
    assert len(found) == 1
    return found[0]


# --- streams ----------------------------------------------------------------------------------------------


def joined(pieces):
    return b"".join(piece.data for piece in pieces)


@given(
    data=st.binary(min_size=1, max_size=300),
    isn=st.integers(0, 2**32 - 1),
    seed=st.integers(0, 2**32),
    twice=st.integers(0, 5),
)
def test_segments_in_any_order_give_the_same_bytes(data, isn, seed, twice):
    """Cut anywhere, doubled, overlapping, shuffled, across the end of the numbers: the same bytes, and no loss."""
    dice = random.Random(seed)
    cuts = sorted(dice.sample(range(1, len(data)), min(len(data) - 1, dice.randrange(12))))
    borders = [0, *cuts, len(data)]
    parts = list(itertools.pairwise(borders))
    for _ in range(twice):
        start = dice.randrange(len(data))
        parts.append((start, dice.randrange(start, len(data)) + 1))
    dice.shuffle(parts)
    stream = Stream()
    stream.begin(isn)
    pieces = []
    for number, (start, end) in enumerate(parts, 1):
        pieces += stream.take((isn + start) % 2**32, data[start:end], number, number)
    assert joined(pieces) == data
    assert not stream.is_waiting
    assert stream.contradictions == []
    assert [piece.gap for piece in pieces] == [0] * len(pieces)
    assert [piece.number for piece in pieces] == sorted(piece.number for piece in pieces)


@given(seed=st.integers(0, 2**32))
def test_missing_bytes_are_counted(seed):
    """Whatever segments are left out: what came is given once and in order, and gaps make up for the rest."""
    dice = random.Random(seed)
    data = dice.randbytes(200)
    borders = sorted({0, 200, *(dice.randrange(1, 200) for _ in range(10))})
    parts = list(itertools.pairwise(borders))
    kept = [part for part in parts if dice.random() < 0.6]
    order = kept.copy()
    dice.shuffle(order)
    stream = Stream()
    stream.begin(7)
    pieces: list[StreamBytes] = []
    for number, (start, end) in enumerate(order, 1):
        pieces += stream.take(7 + start, data[start:end], number, number)
    while stream.is_waiting:
        pieces += stream.give_up()
    stream.finish(7 + 200)
    assert joined(pieces) == b"".join(data[start:end] for start, end in kept)
    place = 0
    for piece in pieces:
        place += piece.gap
        assert data[place : place + len(piece.data)] == piece.data
        place += len(piece.data)
    assert place + stream.lacking()[0] == 200


def test_bytes_that_contradict():
    """The first to come are taken; how many differ is counted, before and after they were passed on."""
    stream = Stream()
    stream.begin(0)
    assert joined(stream.take(0, b"abcd", 1, 1)) == b"abcd"
    assert joined(stream.take(2, b"cXef", 2, 2)) == b"ef"
    assert joined(stream.take(8, b"ij", 3, 3)) == b""
    assert joined(stream.take(6, b"ghYYk", 4, 4)) == b"ghijk"
    assert stream.contradictions == [(1, 1), (3, 2)]
    assert joined(stream.take(10, b"!", 5, 5)) == b"", "one byte that came before is no more than a question"
    assert stream.contradictions == [(1, 1), (3, 2)]


def test_gap_is_known_by_what_was_acknowledged():
    stream = Stream()
    stream.begin(0)
    stream.take(0, b"ab", 1, 1)
    stream.take(5, b"fg", 2, 2)
    for _ in range(LOST_AFTER * 2):
        assert stream.stall() == ()
    stream.acknowledged = 7
    waited = [stream.stall() for _ in range(LOST_AFTER + 1)]
    assert waited[:-1] == [()] * LOST_AFTER
    assert waited[-1] == [StreamBytes(b"fg", 2, 2, 3, 1)]


# --- borders ----------------------------------------------------------------------------------------------


def test_border_behind_a_gap_within_a_frame():
    """The frame in which the gap lies is lost, and the next one found though no segment begins with it."""
    framing = LengthPrefixed(2, "little")
    reader = framing.reader()
    data = prefixed(b"x" * 1000, b"one", b"two")
    reader.feed(data[:100])
    border = Resynchroniser(framing, lambda frame: frame.isalpha(), broken=reader, gap=300)
    for start in range(400, len(data), 50):
        border.offer(StreamBytes(data[start : start + 50], start, 0))
    assert border.is_found
    assert [each.frame for each in border.frames] == [b"one", b"two"]
    assert border.passed_over == 1002 - 400


@pytest.mark.parametrize("framing", [LengthPrefixed(2, "little"), LengthPrefixed(4, "big", 1 << 18), JsonStream()])
def test_border_where_a_piece_begins(framing):
    """Pieces that begin within a frame are passed over, whatever they look like."""
    good = [b'{"a":1}', b'{"b":2}']
    border = Resynchroniser(framing, lambda frame: frame in good)
    for number, data in enumerate(
        (b"junk", b"{{{{", b"\0\0\0\0", b'{"c":3}', b"".join(map(framing.encode, good)), b"?")
    ):
        border.offer(StreamBytes(data, number, 0))
    border.finish()
    assert border.is_found
    assert [each.frame for each in border.frames] == good
    assert border.passed_over == 4 + 4 + 4 + 7


# --- sessions ---------------------------------------------------------------------------------------------


def conversation():
    """Return a whole connection: packets, and the frames each way."""
    wire = Wire().open()
    wire.put(CLIENT, prefixed(ASK, BATCH)).put(SERVER, prefixed(BATCH)).put(CLIENT, prefixed(BATCH)[:2])
    wire.put(SERVER, prefixed(BATCH, BATCH)).put(CLIENT, prefixed(BATCH)[2:])
    return wire.close()


def test_session():
    recorded = the_only(conversation().packets)
    assert frames(recorded, Direction.SENT) == [ASK, BATCH, BATCH]
    assert frames(recorded, Direction.RECEIVED) == [BATCH, BATCH, BATCH]
    told = [(entry.what.value, entry.direction.value, entry.note) for entry in recorded.trace.entries]
    assert told[0] == ("opened", "sent", "10.0.0.2:7447")
    assert told[-1] == ("closed", "sent", "closed")
    assert [entry.time for entry in recorded.trace][:4] == [0.0, 3.0, 3.0, 4.0]
    assert (recorded.key, recorded.number) == ("tcp 10.0.0.1:50000 to 10.0.0.2:7447", 1)
    assert recorded.trace.ports == {"a": (50000, 7447)}
    assert (recorded.losses, recorded.sound) == ((), len(recorded.trace))
    other = recorded.from_the_other_side()
    assert frames(other, Direction.RECEIVED) == [ASK, BATCH, BATCH]
    assert other.trace.entries[-1].note == "fin"
    assert (recorded.name, other.name) == ("audit.capture#1", "audit.capture#1.dialling")
    again = other.from_the_other_side()
    assert again.name == recorded.name
    assert frames(again, Direction.SENT) == [ASK, BATCH, BATCH]


@given(seed=st.integers(0, 2**32), isn=st.sampled_from([0, 100, 2**32 - 3, 2**31 - 2]))
def test_whatever_tcp_does_the_frames_are_the_same(seed, isn):
    """Segments of both sides cut elsewhere, sent again in part, and out of order, as far as acknowledgements allow."""
    dice = random.Random(seed)
    said = [[BATCH, ASK, BATCH * 3][dice.randrange(3)] for _ in range(8)]
    wire = Wire(isn).open()
    expected = {CLIENT: [], SERVER: []}
    expected[CLIENT].append(BATCH)
    wire.put(CLIENT, prefixed(BATCH))
    for frame in said:
        source = dice.choice((CLIENT, SERVER))
        expected[source].append(frame)
        start, data = wire.next[source], prefixed(frame)
        parts = []
        place = 0
        while place < len(data):
            end = dice.randrange(place, len(data)) + 1
            parts.append((max(place - dice.randrange(3), 0), end))
            place = end
        parts += [dice.choice(parts) for _ in range(dice.randrange(3))]
        dice.shuffle(parts)
        for begin, end in parts:
            wire.put(source, data[begin:end], seq=start + begin)
        wire.skip(source, len(data))
    wire.close()
    recorded = the_only(wire.packets)
    assert frames(recorded, Direction.SENT) == expected[CLIENT]
    assert frames(recorded, Direction.RECEIVED) == expected[SERVER]
    assert recorded.losses == ()
    assert recorded.sound == len(recorded.trace)
    turns = [entry.direction for entry in recorded.trace if entry.what is EntryKind.FRAME]
    assert len(turns) == 9


def test_begun_in_the_middle():
    """Frames begin where a segment does; nothing is sound."""
    recorded = the_only(conversation().packets[6:])
    assert frames(recorded, Direction.RECEIVED) == [BATCH, BATCH]
    assert frames(recorded, Direction.SENT) == []
    kinds = {loss.kind: loss for loss in recorded.losses}
    assert kinds[Missing.BEGINNING].count == 2
    assert kinds[Missing.PASSED_OVER].bytes == 1
    assert recorded.sound == 0


@pytest.mark.parametrize(("first", "begun"), [(1, True), (2, False)])
def test_handshake_that_is_not_all_there(first, begun):
    recorded = the_only(conversation().packets[first:])
    assert len(frames(recorded)) == 6
    assert (recorded.sound == len(recorded.trace)) is begun


def test_ports_used_again():
    """A new connection between the same ends is another session, also where nothing showed the end of the first."""
    wire = conversation()
    wire.next = {CLIENT: 900_000, SERVER: 70_000}
    wire.open().put(CLIENT, prefixed(ASK)).put(SERVER, prefixed(BATCH))
    wire.next = {CLIENT: 5_900_000, SERVER: 570_000}
    wire.open().put(CLIENT, prefixed(BATCH)).close()
    found, losses = sessions(wire.packets)
    assert losses == ()
    assert [len(frames(each)) for each in found] == [6, 2, 1]
    assert [each.losses for each in found] == [(), (), ()]
    assert [each.number for each in found] == sorted(each.number for each in found)


def test_reset_and_what_is_left():
    """A piece of a frame when a link ended is kept as such; when only the capture ended it is a loss."""
    wire = Wire().open().put(CLIENT, prefixed(BATCH)).put(SERVER, prefixed(BATCH) + b"\x09\0abc")
    cut = the_only(wire.packets)
    assert [(loss.kind, loss.bytes) for loss in cut.losses] == [(Missing.CUT_FRAME, 5)]
    assert cut.sound == len(cut.trace), "what came before the end of the capture is whole"
    ended = the_only(wire.put(SERVER, flags=RST | ACK).packets)
    assert [(entry.what.value, entry.data, entry.note) for entry in ended.trace][-2:] == [
        ("raw", b"\x09\0abc", ""),
        ("closed", b"", "reset"),
    ]
    assert ended.losses == ()


def test_gap():
    """What comes behind a gap is kept in the order of time, and is not sound."""
    wire = Wire().open().put(CLIENT, prefixed(ASK)).put(SERVER, prefixed(BATCH))
    wire.skip(CLIENT, 11).put(CLIENT, b"rest").put(SERVER, prefixed(BATCH)).put(CLIENT, prefixed(ASK))
    wire.put(SERVER, prefixed(BATCH, BATCH)).close()
    recorded = the_only(wire.packets)
    turns = [entry.direction.value for entry in recorded.trace if entry.what is EntryKind.FRAME]
    assert turns == ["sent", "received", "received", "sent", "received", "received"]
    assert recorded.losses == (Loss(Missing.GAP, 1, 11), Loss(Missing.PASSED_OVER, 1, 4))
    assert recorded.sound == 3, "what is said without acknowledging what is missing has nothing to do with it"


def test_gap_at_the_end():
    wire = Wire().open().put(CLIENT, prefixed(ASK)).skip(CLIENT, 20).close()
    recorded = the_only(wire.packets)
    assert recorded.losses == (Loss(Missing.GAP, 1, 20),)
    assert recorded.sound == 2


def test_packet_that_was_cut_short_is_a_gap():
    wire = Wire().open().put(CLIENT, prefixed(ASK)).put(SERVER, prefixed(BATCH * 9)[:4], lacking=len(BATCH) * 9 - 2)
    recorded = the_only(wire.put(SERVER, prefixed(BATCH)).close().packets)
    assert frames(recorded, Direction.RECEIVED) == [BATCH]
    assert [(loss.kind, loss.count) for loss in recorded.losses] == [(Missing.GAP, 1), (Missing.CUT_FRAME, 1)]


def test_contradiction_is_told():
    wire = Wire().open().put(CLIENT, prefixed(ASK))
    start = wire.next[SERVER]
    wire.put(SERVER, prefixed(BATCH)).put(SERVER, b"\xff" * 3, seq=start).put(SERVER, prefixed(BATCH)).close()
    recorded = the_only(wire.packets)
    assert frames(recorded, Direction.RECEIVED) == [BATCH, BATCH]
    assert recorded.losses == (Loss(Missing.CONTRADICTION, 1, 3),)
    assert recorded.sound == 2


def http():
    wire = Wire().open().put(CLIENT, b"GET / HTTP/1.1\r\n\r\n" * 1000).put(SERVER, b"HTTP/1.1 200 OK\r\n\r\n" * 1000)
    return wire.close()


@pytest.mark.parametrize("protocol", ["zenoh", "pathfinder"])
def test_other_protocols_are_none(protocol):
    found, losses = sessions(http().packets, protocol)
    assert found == []
    assert losses == (Loss(Missing.FOREIGN, 1, 18_000 + 19_000),)
    hello = b"\x16\x03\x01" + bytes(200)
    found, losses = sessions(Wire().open().put(CLIENT, hello).put(SERVER, hello).close().packets, protocol)
    assert (found, losses) == ([], (Loss(Missing.ENCRYPTED, 1, 406),))


def test_named_servers_are_judged_whatever_is_said():
    """A node that says nothing of the protocol is to be blamed for it, when a user says that it should."""
    recorded = the_only(http().packets, "pathfinder", servers=(ServerEndpoint(7447),))
    assert recorded.trace.entries[-1].what is EntryKind.CLOSED
    found, losses = sessions(
        conversation().packets, servers=(ServerEndpoint(7448), ServerEndpoint(7447, b"\x0a\0\0\3"))
    )
    assert (found, losses) == ([], ())
    backwards = the_only(conversation().packets, servers=(ServerEndpoint(50000, CLIENT[:4]),))
    assert frames(backwards, Direction.RECEIVED) == [ASK, BATCH, BATCH]


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("7447", ServerEndpoint(7447)),
        ("10.0.0.2:7447", ServerEndpoint(7447, SERVER[:4])),
        ("tcp/10.0.0.2:7447", ServerEndpoint(7447, SERVER[:4])),
        ("[::1]:1", ServerEndpoint(1, bytes(15) + b"\1")),
    ],
)
def test_servers(text, server):
    assert parse_server(text) == server


def test_framing_is_told_by_the_frames():
    """JSON behind lengths and JSON back to back, over the same kind of connection."""
    hello = {"ta-cmd": "hello", "ta-id": 0, "msg-type": "request", "client-id": 1}
    versions = {"protocol-minimum-version": 2, "protocol-maximum-version": 2}
    asked = json.dumps(hello | versions).encode()
    for data, transport in ((len(asked).to_bytes(4, "big") + asked, "tcp"), (asked, "tcp-stream")):
        recorded = the_only(Wire().open().put(CLIENT, data[:9]).put(CLIENT, data[9:]).close().packets, "pathfinder")
        assert (frames(recorded), recorded.trace.transport) == ([asked], transport)


def test_datagrams():
    """A datagram is a frame; who sent the first one dialled. One that was cut short is lost."""

    def datagram(number, source, data, lacking=0):
        target = SERVER if source == CLIENT else CLIENT
        return CapturedPacket(number, number * 10**9, "udp", source, target, data, lacking)

    begun = [datagram(n, (CLIENT, SERVER)[n % 2 == 0], write_batch([each])) for n, each in enumerate(HANDSHAKE, 1)]
    said = [datagram(5, CLIENT, ASK), datagram(6, SERVER, TOLD), datagram(7, CLIENT, BATCH, 4)]
    recorded = the_only([*begun, *said, datagram(8, SERVER, BATCH), datagram(9, CLIENT, AGAIN)])
    assert frames(recorded, Direction.SENT)[2:] == [ASK, AGAIN]
    assert frames(recorded, Direction.RECEIVED)[2:] == [TOLD, BATCH]
    assert (recorded.losses, recorded.sound) == ((Loss(Missing.CUT_FRAME, 1, len(BATCH)),), 6 + 1)
    found, losses = sessions([datagram(1, CLIENT, b"\xff\xff"), datagram(2, SERVER, b"\xff")])
    assert (found, losses) == ([], (Loss(Missing.FOREIGN, 1, 3),))


@given(seed=st.integers(0, 2**32))
def test_any_packets_are_survived(seed):
    """Segments of a conversation left out, damaged, in any order: frames that come are frames, and no exception."""
    dice = random.Random(seed)
    packets = conversation().packets
    kept = [packet for packet in packets if dice.random() < 0.8] * dice.randrange(1, 3)
    dice.shuffle(kept)
    found, losses = sessions(kept)
    known = {ASK, BATCH}
    assert all(set(frames(each)) <= known for each in found)
    assert {loss.kind for loss in losses} <= {Missing.FOREIGN}
