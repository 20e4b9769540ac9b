"""Links: frames, ends, deadlines, and what is recorded of them."""

import socket
import threading

import pytest

from harness.clock import RealClock, VirtualClock
from harness.errors import Deadline, LinkClosed, LinkError, Unreachable
from harness.framing import LengthPrefixed
from harness.links import Listener, dial, free_port
from harness.trace import Direction, Happening, Trace

CLOCK = RealClock()
FRAMING = LengthPrefixed()


def soon():
    return CLOCK.now() + 20.0


@pytest.fixture
def trace():
    return Trace("zenoh", clock=CLOCK)


@pytest.fixture(params=["tcp", "udp"])
def pair(request, trace):
    """A dialled link and its accepted other end."""
    listener = Listener(request.param, FRAMING, CLOCK)
    near = dial(listener.address, FRAMING, CLOCK, trace=trace)
    if request.param == "udp":
        near.send(b"hello")
    far = listener.accept(soon(), label="far")
    if request.param == "udp":
        assert far.receive(soon()) == b"hello"
    listener.close()
    yield near, far
    near.close()
    far.close()


@pytest.fixture
def raw(trace):
    """A dialled TCP link and the plain socket at its other end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = dial(f"tcp/127.0.0.1:{server.getsockname()[1]}", FRAMING, CLOCK, trace=trace)
        far, _ = server.accept()
    yield near, far
    near.close()
    far.close()


def recorded(trace, what):
    return [(entry.direction, entry.data) for entry in trace.of("a") if entry.what is what]


def test_frames_travel_both_ways_and_keep_their_borders(pair):
    near, far = pair
    for frame in (b"one", b"", b"three" * 3000):
        near.send(frame)
        far.send(frame[::-1])
    for frame in (b"one", b"", b"three" * 3000):
        assert far.receive(soon()) == frame
        assert near.receive(soon()) == frame[::-1]
    assert near.peername.endswith(str(near.ports[1]))
    assert near.ports == far.ports[::-1]


def test_a_frame_that_comes_byte_by_byte_is_one_frame(raw):
    near, far = raw
    for byte in FRAMING.encode(b"abc") + FRAMING.encode(b"d"):
        far.send(bytes([byte]))
    assert near.receive(soon()) == b"abc"
    assert near.receive(soon()) == b"d"


def test_frames_before_a_fin_are_delivered_first(raw, trace):
    near, far = raw
    far.sendall(FRAMING.encode(b"one") + FRAMING.encode(b"two") + b"\x05\x00half")
    far.close()
    assert [near.receive(soon()), near.receive(soon())] == [b"one", b"two"]
    for _ in range(2):
        with pytest.raises(LinkClosed) as end:
            near.receive(soon())
        assert end.value.how == "fin"
    assert recorded(trace, Happening.RAW) == [(Direction.RECEIVED, b"\x05\x00half")]
    assert trace.entries[-1].what is Happening.CLOSED
    assert trace.entries[-1].note == "fin"


@pytest.mark.parametrize("pair", ["tcp"], indirect=True)
def test_frames_before_a_reset_are_delivered_first(pair):
    near, far = pair
    far.send(b"last words")
    assert near.receive(soon()) == b"last words"
    far.abort()
    with pytest.raises(LinkClosed) as end:
        near.receive(soon())
    assert end.value.how == "reset"
    with pytest.raises(LinkClosed) as end:
        near.send(b"too late")
    assert end.value.how == "reset"


def test_sending_to_a_side_that_has_left_raises_what_happened(raw):
    near, far = raw
    far.sendall(FRAMING.encode(b"answer"))
    far.close()
    with pytest.raises(LinkClosed) as end:
        send_until_it_fails(near)
    assert end.value.how in ("fin", "reset")
    assert near.receive(soon()) == b"answer"


def send_until_it_fails(link):
    for _ in range(100_000):
        link.send(b"x" * 60_000)


@pytest.mark.parametrize("pair", ["tcp"], indirect=True)
def test_two_sides_that_only_write_do_not_block_each_other(pair):
    near, far = pair
    frames = [bytes([number % 256]) * 60_000 for number in range(500)]

    received = {}

    def write_then_read(link):
        for frame in frames:
            link.send(frame)
        received[link.label] = [link.receive(soon()) for _ in frames]

    other = threading.Thread(target=write_then_read, args=[far])
    other.start()
    write_then_read(near)
    other.join()
    assert received == {"a": frames, "far": frames}


@pytest.mark.parametrize("pair", ["tcp"], indirect=True)
def test_a_side_that_takes_nothing_is_given_up(pair, monkeypatch):
    monkeypatch.setattr("harness.tcp.SEND_PATIENCE", 0.05)
    near, _ = pair
    with pytest.raises(Deadline, match="took no bytes"):
        send_until_it_fails(near)


def test_a_deadline_passes_and_the_link_lives_on(pair):
    near, far = pair
    for deadline in (CLOCK.now() - 1.0, CLOCK.now() + 0.01):
        with pytest.raises(Deadline):
            near.receive(deadline)
    far.send(b"late")
    assert near.receive(soon()) == b"late"


def test_a_deadline_on_a_clock_that_stands_still_passes(trace):
    clock = VirtualClock()
    listener = Listener("tcp", FRAMING, clock)
    with pytest.raises(Deadline, match="nobody dialled"):
        listener.accept(0.01)
    near = dial(listener.address, FRAMING, clock)
    with pytest.raises(Deadline, match="nothing arrived"):
        near.receive(0.01)
    near.close()
    listener.close()


def test_a_closed_link_says_so_and_closes_twice(pair, trace):
    near, far = pair
    far.send(b"unread")
    near.close()
    near.close()
    with pytest.raises(LinkClosed) as end:
        near.receive(soon())
    assert end.value.how == "closed"
    with pytest.raises(LinkClosed) as end:
        near.send(b"x")
    assert end.value.how == "closed"
    closings = [entry for entry in trace if entry.what is Happening.CLOSED]
    assert [(entry.direction, entry.note) for entry in closings] == [(Direction.SENT, "closed")]


def test_what_was_unread_at_the_close_is_recorded_and_the_other_side_sees_a_fin(raw, trace):
    near, far = raw
    far.sendall(FRAMING.encode(b"unread"))
    far.shutdown(socket.SHUT_WR)
    near.close()
    assert far.recv(100) == b""
    assert recorded(trace, Happening.FRAME) == [(Direction.RECEIVED, b"unread")]


def test_the_trace_holds_every_frame_without_its_framing(pair, trace):
    near, far = pair
    before = len(recorded(trace, Happening.FRAME))
    near.send(b"ping")
    assert far.receive(soon()) == b"ping"
    far.send(b"pong")
    near.receive(soon())
    assert recorded(trace, Happening.FRAME)[before:] == [
        (Direction.SENT, b"ping"),
        (Direction.RECEIVED, b"pong"),
    ]
    assert trace.entries[0].what is Happening.OPENED
    assert trace.ports == {"a": near.ports}
    times = [entry.time for entry in trace]
    assert times == sorted(times)
    assert 0 <= times[0] < 20


def test_raw_bytes_are_sent_and_recorded_as_they_are(raw, trace):
    near, far = raw
    near.send_raw(b"\xff\xff??")
    assert far.recv(100) == b"\xff\xff??"
    assert recorded(trace, Happening.RAW) == [(Direction.SENT, b"\xff\xff??")]


def test_nobody_there_over_tcp():
    with pytest.raises(Unreachable, match="refused"):
        dial(f"tcp/127.0.0.1:{free_port()}", FRAMING, CLOCK)


def test_nobody_there_over_udp():
    near = dial(f"udp/127.0.0.1:{free_port('udp')}", FRAMING, CLOCK)
    near.send(b"hello?")
    with pytest.raises(LinkClosed) as end:
        near.receive(soon())
    assert end.value.how == "reset"
    near.close()


def test_a_datagram_that_is_too_long_is_not_a_closed_link(pair):
    near, _ = pair
    with pytest.raises((LinkError, ValueError)) as refusal:
        near.send(b"x" * 70_000)
    assert not isinstance(refusal.value, LinkClosed)


def test_udp_senders_get_links_of_their_own():
    listener = Listener("udp", FRAMING, CLOCK)
    one, two = (dial(listener.address, FRAMING, CLOCK) for _ in range(2))
    one.send(b"1a")
    two.send(b"2a")
    one.send(b"1b")
    first, second = listener.accept(soon()), listener.accept(soon())
    assert [second.receive(soon()), first.receive(soon()), first.receive(soon())] == [b"2a", b"1a", b"1b"]
    listener.close()
    second.send(b"still here")
    assert two.receive(soon()) == b"still here"
    for link in (one, two, first, second):
        link.close()


def test_big_endian_lengths():
    framing = LengthPrefixed(4, "big")
    buffer = bytearray(framing.encode(b"abc") + b"\0\0\0")
    assert framing.split(buffer) == [b"abc"]
    assert buffer == b"\0\0\0"


def test_a_frame_longer_than_its_length_can_say_is_refused():
    assert len(FRAMING.encode(b"x" * 65535)) == 65537
    with pytest.raises(ValueError, match="65536 bytes does not fit"):
        FRAMING.encode(b"x" * 65536)
