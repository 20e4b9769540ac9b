"""Links: frames, ends, deadlines, and what is recorded of them."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.clock import RealClock, VirtualClock
from harness.errors import BadDescription, Deadline, LinkClosed, LinkError, Unreachable
from harness.links.addresses import free_port
from harness.links.framing import JsonStream, LengthPrefixed
from harness.links.transports import dial, listen
from harness.trace import Direction, EntryKind, Trace

CLOCK = RealClock()
FRAMING = LengthPrefixed()
FRAMINGS = {"tcp": FRAMING, "tls": LengthPrefixed(4, "big", 1 << 18), "tcp-stream": JsonStream()}


def soon():
    return CLOCK.now() + 20.0


@pytest.fixture
def trace():
    return Trace("zenoh", clock=CLOCK)


@pytest.fixture(params=["tcp", "udp", "ux", "tls"])
def pair(request, trace):
    """A dialled link and its accepted other end."""
    listener = listen(request.param, FRAMINGS, CLOCK)
    with ThreadPoolExecutor(1) as other:  # as both shake hands over TLS
        dialled = other.submit(dial, listener.address, FRAMINGS, CLOCK, trace=trace)
        if request.param == "udp":
            dialled.result().send(b"hello")
        far = listener.accept(soon(), label="far")
        near = dialled.result()
    if request.param == "udp":
        assert far.receive(soon()).data == b"hello"
    listener.close()
    yield near, far
    near.close()
    far.close()


@pytest.fixture
def raw(trace):
    """A dialled TCP link and the plain socket at its other end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = dial(f"tcp/127.0.0.1:{server.getsockname()[1]}", FRAMINGS, CLOCK, trace=trace)
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
        assert far.receive(soon()).data == frame
        assert near.receive(soon()).data == frame[::-1]
    assert near.ports == far.ports[::-1]
    assert near.peername.endswith(f":{near.ports[1]}") or near.peername.startswith("ux/goldwire-")


def test_a_frame_that_comes_byte_by_byte_is_one_frame(raw):
    near, far = raw
    for byte in FRAMING.encode(b"abc") + FRAMING.encode(b"d"):
        far.send(bytes([byte]))
    assert near.receive(soon()).data == b"abc"
    assert near.receive(soon()).data == b"d"


def test_frames_before_a_fin_are_delivered_first(raw, trace):
    near, far = raw
    far.sendall(FRAMING.encode(b"one") + FRAMING.encode(b"two") + b"\x05\x00half")
    far.close()
    assert [near.receive(soon()).data, near.receive(soon()).data] == [b"one", b"two"]
    for _ in range(2):
        with pytest.raises(LinkClosed) as end:
            near.receive(soon())
        assert end.value.how == "fin"
    assert recorded(trace, EntryKind.RAW) == [(Direction.RECEIVED, b"\x05\x00half")]
    assert trace.entries[-1].what is EntryKind.CLOSED
    assert trace.entries[-1].note == "fin"


@pytest.mark.parametrize("pair", ["tcp", "tls"], indirect=True)
def test_frames_before_a_reset_are_delivered_first(pair):
    near, far = pair
    far.send(b"last words")
    assert near.receive(soon()).data == b"last words"
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
    assert near.receive(soon()).data == b"answer"


def send_until_it_fails(link):
    for _ in range(100_000):
        link.send(b"x" * 60_000)


@pytest.mark.parametrize("pair", ["tcp", "ux", "tls"], indirect=True)
def test_two_sides_that_only_write_do_not_block_each_other(pair):
    near, far = pair
    frames = [bytes([number]) * 60_000 for number in range(7)] * 33  # 14 MB: buffers of sockets grow to 10 on Linux

    received = {}

    def write_then_read(link):
        for frame in frames:
            link.send(frame)
        received[link.label] = sum(link.receive(soon()).data == frame for frame in frames)

    other = threading.Thread(target=write_then_read, args=[far])
    other.start()
    write_then_read(near)
    other.join()
    assert received == {"a": len(frames), "far": len(frames)}


@pytest.mark.parametrize("pair", ["tcp", "ux", "tls"], indirect=True)
def test_a_side_that_takes_nothing_is_given_up(pair):
    near, _ = pair
    near.sending = 0.05
    with pytest.raises(Deadline, match="took no bytes"):
        send_until_it_fails(near)


def test_of_a_frame_that_is_taken_in_part_that_part_is_recorded(raw, trace):
    """Nobody is to be judged by what he makes of half a frame, and of what is read of all behind it."""
    near, far = raw
    near.sending = 0.05
    with pytest.raises(Deadline, match="took no bytes"):
        send_until_it_fails(near)
    said = [(entry.what, len(entry.data)) for entry in trace.of("a")]
    near.close()
    came = 0
    with far.makefile("rb") as stream:
        while piece := stream.read(1 << 16):
            came += len(piece)
    whole = sum(2 + size for what, size in said if what is EntryKind.FRAME)
    part = sum(size for what, size in said if what is EntryKind.RAW)
    assert came == whole + part


def test_a_deadline_passes_and_the_link_lives_on(pair):
    near, far = pair
    for deadline in (CLOCK.now() - 1.0, CLOCK.now() + 0.01):
        with pytest.raises(Deadline):
            near.receive(deadline)
    far.send(b"late")
    assert near.receive(soon()).data == b"late"


def test_a_deadline_on_a_clock_that_stands_still_passes(trace):
    clock = VirtualClock()
    listener = listen("tcp", FRAMINGS, clock)
    with pytest.raises(Deadline, match="nobody dialled"):
        listener.accept(0.01)
    near = dial(listener.address, FRAMINGS, clock)
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
    closings = [entry for entry in trace if entry.what is EntryKind.CLOSED]
    assert [(entry.direction, entry.note) for entry in closings] == [(Direction.SENT, "closed")]


def test_what_was_unread_at_the_close_is_recorded_and_the_other_side_sees_a_fin(raw, trace):
    near, far = raw
    far.sendall(FRAMING.encode(b"unread"))
    far.shutdown(socket.SHUT_WR)
    near.close()
    assert far.recv(100) == b""
    assert recorded(trace, EntryKind.FRAME) == [(Direction.RECEIVED, b"unread")]


def test_the_trace_holds_every_frame_without_its_framing(pair, trace):
    near, far = pair
    before = len(recorded(trace, EntryKind.FRAME))
    near.send(b"ping")
    assert far.receive(soon()).data == b"ping"
    far.send(b"pong")
    near.receive(soon())
    assert recorded(trace, EntryKind.FRAME)[before:] == [
        (Direction.SENT, b"ping"),
        (Direction.RECEIVED, b"pong"),
    ]
    assert trace.entries[0].what is EntryKind.OPENED
    assert trace.ports == {"a": near.ports}
    times = [entry.time for entry in trace]
    assert times == sorted(times)
    assert 0 <= times[0] < 20


def test_raw_bytes_are_sent_and_recorded_as_they_are(raw, trace):
    near, far = raw
    near.send_raw(b"\xff\xff??")
    assert far.recv(100) == b"\xff\xff??"
    assert recorded(trace, EntryKind.RAW) == [(Direction.SENT, b"\xff\xff??")]


def test_nobody_there_over_tcp():
    with pytest.raises(Unreachable, match="refused"):
        dial(f"tcp/127.0.0.1:{free_port()}", FRAMINGS, CLOCK)


def test_nobody_there_over_udp():
    near = dial(f"udp/127.0.0.1:{free_port(socket.SOCK_DGRAM)}", FRAMINGS, CLOCK)
    near.send(b"hello?")
    with pytest.raises(LinkClosed) as end:
        near.receive(soon())
    assert end.value.how == "reset"
    near.close()


def test_a_datagram_that_is_too_long_is_not_a_closed_link(pair):
    near, _ = pair
    with pytest.raises((LinkError, ValueError)) as refusal:
        near.send(b"x" * (1 << 22))
    assert not isinstance(refusal.value, LinkClosed)


def test_udp_senders_get_links_of_their_own():
    listener = listen("udp", FRAMINGS, CLOCK)
    one, two = (dial(listener.address, FRAMINGS, CLOCK) for _ in range(2))
    one.send(b"1a")
    two.send(b"2a")
    one.send(b"1b")
    first, second = listener.accept(soon()), listener.accept(soon())
    assert [second.receive(soon()).data, first.receive(soon()).data, first.receive(soon()).data] == [
        b"2a",
        b"1a",
        b"1b",
    ]
    listener.close()
    second.send(b"still here")
    assert two.receive(soon()).data == b"still here"
    for link in (one, two, first, second):
        link.close()


@pytest.mark.parametrize("pair", ["ux"], indirect=True)
def test_a_packet_holds_as_much_as_a_frame_may(pair):
    near, far = pair
    frame = bytes(range(256)) * 1024
    near.send(frame)
    assert far.receive(soon()).data == frame


@pytest.mark.parametrize("pair", ["ux"], indirect=True)
def test_a_packet_that_is_too_long_ends_the_link(pair):
    near, far = pair
    near.send(b"before")
    near.send(b"x" * ((1 << 18) + 1))
    assert far.receive(soon()).data == b"before"
    for act in (lambda: far.receive(soon()).data, lambda: far.send(b"x")):
        with pytest.raises(LinkClosed) as end:
            act()
        assert end.value.how == "oversized"


@pytest.mark.parametrize("pair", ["ux"], indirect=True)
def test_an_empty_packet_right_before_the_end_is_no_end(pair):
    near, far = pair
    near.send(b"")
    near.close()
    assert far.receive(soon()).data == b""
    with pytest.raises(LinkClosed) as end:
        far.receive(soon())
    assert end.value.how == "fin"


def test_a_prefix_that_is_too_long_ends_the_link(trace):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp/127.0.0.1:{server.getsockname()[1]}"
        near = dial(address, {"tcp": LengthPrefixed(4, "big", 1 << 18)}, CLOCK, trace=trace)
        far, _ = server.accept()
    with far:
        far.sendall(b"\0\0\0\1a\0\4\0\1")
        assert near.receive(soon()).data == b"a"
        for act in (lambda: near.receive(soon()).data, lambda: near.send(b"x")):
            with pytest.raises(LinkClosed) as end:
                act()
            assert end.value.how == "oversized"
        assert recorded(trace, EntryKind.RAW) == [(Direction.RECEIVED, b"\0\4\0\1")]
        assert trace.entries[-1].note == "oversized"
        assert far.recv(1) == b""
    near.close()


def test_objects_in_a_stream_are_frames(trace):
    listener = listen("tcp-stream", FRAMINGS, CLOCK)
    near = dial(listener.address, FRAMINGS, CLOCK, trace=trace)
    far = listener.accept(soon())
    near.send_raw(b' {"a": "}')
    near.send_raw(b'"}\n{}[1]')
    assert [far.receive(soon()).data for _ in range(3)] == [b'{"a": "}"}', b"{}", b"[1]"]
    assert near.peername == listener.address
    for link in (near, far, listener):
        link.close()


@pytest.mark.parametrize("transport", ["tcp", "ux"])
def test_a_door_is_shut_and_opened_at_the_same_address(transport):
    listener = listen(transport, FRAMINGS, CLOCK)
    first = dial(listener.address, FRAMINGS, CLOCK)
    inside = listener.accept(soon())
    waiting = dial(listener.address, FRAMINGS, CLOCK)
    listener.shut()
    with pytest.raises(Deadline, match="nobody dialled"):
        listener.accept(CLOCK.now() + 0.05)
    with pytest.raises(LinkClosed):
        waiting.receive(soon())
    with pytest.raises(Unreachable):
        dial(listener.address, FRAMINGS, CLOCK)
    first.send(b"still here")
    assert inside.receive(soon()).data == b"still here"
    listener.open()
    second = dial(listener.address, FRAMINGS, CLOCK)
    again = listener.accept(soon())
    second.send(b"again")
    assert again.receive(soon()).data == b"again"
    for link in (first, inside, waiting, second, again, listener):
        link.close()


def test_a_transport_without_framing_is_refused():
    with pytest.raises(BadDescription, match="no framing for tls: it has tcp"):
        dial("tls/127.0.0.1:1", {"tcp": FRAMING}, CLOCK)


def test_a_dial_waits_at_a_full_door():
    listener = listen("ux", FRAMINGS, CLOCK)
    listener._socket.listen(0)
    with ThreadPoolExecutor() as pool:
        links = [dial(listener.address, FRAMINGS, CLOCK)]
        with pytest.raises(Unreachable):
            dial(listener.address, FRAMINGS, CLOCK, timeout=0.05)
        late = pool.submit(dial, listener.address, FRAMINGS, CLOCK, timeout=20.0)
        links += [listener.accept(soon()), late.result(), listener.accept(soon())]
    for link in (*links, listener):
        link.close()


def test_nobody_there_who_speaks_tls():
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(Unreachable, match="timed out"):
        dial(f"tls/127.0.0.1:{server.getsockname()[1]}", FRAMINGS, CLOCK, timeout=0.05)
