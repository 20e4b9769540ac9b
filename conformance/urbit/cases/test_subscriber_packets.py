"""Section "Packet Types": packets that a subscriber takes, and those that it must not act upon."""

from collections.abc import Iterator

from conformance.cases import rule
from conformance.urbit.roles import SUBSCRIBER
from conformance.urbit.subscriber_sessions import assert_left_alone, assert_serves, assert_told, in_session
from harness.urbit.tester.driver import changed
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import number_of
from harness.urbit.tester.subscriber import unknown_session
from wire.urbit.signatures import cancellation_input, request_input
from wire.urbit.values import (
    Ames,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Origin,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    with_checksum,
    write,
)

ORIGIN = Origin(0x7F000001, 31337)

PRELUDE = 1 + 2 + 2
"""Bytes of the ticks and of the numbers of two galaxies."""

FIXED = {Promise: 8 + 64 + 4 + 2, ScryResponse: 4 + 2, HeartbeatResponse: 8 + 8}
"""Bytes of a body before its path, or before its last byte if it has none."""

TYPE = 0b111


def wrong_checksums(packet: Packet) -> Iterator[bytes]:
    """Yield a packet with other checksums than its own: a bit away from it, and extremes."""
    right = int.from_bytes(write(packet)[:4], "little") >> 11 & 0xFFFFF
    for wrong in (right ^ 1, right ^ 1 << 19, 0, 0xFFFFF):
        if wrong != right:
            yield write(changed(packet, checksum=wrong))


@rule("URB-007", roles=SUBSCRIBER)
def test_wrong_checksums(node: NodeUnderTest) -> None:
    """Send packets whose checksum is not their own.

    None is acted upon.
    """
    assert_left_alone(node, wrong_checksums)


@rule("URB-008", roles=SUBSCRIBER)
def test_other_versions(node: NodeUnderTest) -> None:
    """Send packets of the versions 1 to 7.

    None is acted upon.
    """
    assert_left_alone(node, lambda packet: (write(changed(packet, version=each)) for each in range(1, 8)))


def of_other_types(packet: Packet) -> Iterator[bytes]:
    """Yield a packet whose header says each other type."""
    frame = write(packet)
    for turned in range(1, TYPE + 1):
        yield bytes((frame[0] ^ turned,)) + frame[1:]


@rule("URB-002", roles=SUBSCRIBER)
def test_other_types(node: NodeUnderTest) -> None:
    """Send a promise, a value and a nack whose headers say every other type.

    None is acted upon.
    """
    assert_left_alone(node, of_other_types)


def cut_bodies(packet: Packet) -> Iterator[bytes]:
    """Yield a packet that ends before each field of its body, within its path, and before its last byte."""
    frame, begin = write(packet), 4 + PRELUDE
    before = FIXED[type(packet.body)]
    path: bytes = getattr(packet.body, "path", b"")
    places = {0, 4, 8, 8 + 63, before - 2, before - 1, before, before + len(path) // 2, before + len(path) - 1}
    # What stands behind the path of a response may be less, where it has no data.
    end = before + len(path) + 64 if isinstance(packet.body, ScryResponse) else len(frame) - begin - 1
    for place in sorted(each for each in places | {end} if 0 <= each <= end):
        yield with_checksum(frame[: begin + place])


@rule("URB-024", roles=SUBSCRIBER)
def test_bodies_that_are_cut_short(node: NodeUnderTest) -> None:
    """Send packets that end within their bodies, with checksums of what is left.

    None is acted upon.
    """
    assert_left_alone(node, cut_bodies)


@rule("URB-142", roles=SUBSCRIBER)
def test_packets_that_are_cut_short(node: NodeUnderTest) -> None:
    """Send the beginnings of packets, of which each ends within header or prelude, with checksums of what is left.

    None is acted upon.
    """

    def beginnings(packet: Packet) -> Iterator[bytes]:
        for origin in (None, ORIGIN):
            frame = write(changed(packet, origin=origin))
            for length in range(1, 4 + PRELUDE + 6 * bool(origin)):
                yield with_checksum(frame[:length]) if length >= 4 else frame[:length]

    assert_left_alone(node, beginnings)


@rule("URB-132", roles=SUBSCRIBER)
def test_packets_for_other_ships(node: NodeUnderTest) -> None:
    """Send packets that are addressed to other ships: a neighbour, the publisher itself, ships of other ranks.

    None is acted upon.
    """

    def misaddressed(packet: Packet) -> Iterator[bytes]:
        me = packet.receiver
        for other in (
            Ship(me.number ^ 1, 0),
            packet.sender,
            Ship(me.number | 1 << 16, 1),
            Ship(me.number | 1 << 32, 2),
        ):
            yield write(changed(packet, receiver=other))

    assert_left_alone(node, misaddressed)


@rule("URB-130", roles=SUBSCRIBER)
def test_packets_of_ames(node: NodeUnderTest) -> None:
    """Send packets of ames that hold the bodies of a promise, a value and a nack.

    None is acted upon.
    """

    def disguised(packet: Packet) -> Iterator[bytes]:
        body = write(packet)[4 + PRELUDE :]
        for is_response in (False, True):
            yield write(changed(packet, body=Ames(body, is_response)))

    assert_left_alone(node, disguised)


@rule("URB-131", roles=SUBSCRIBER)
def test_what_publishers_are_sent(node: NodeUnderTest) -> None:
    """Send a subscriber what only publishers are sent: requests, heartbeats, and cancellations of what is pending.

    Nothing comes of it, but for a nack.
    """

    def wrong_way(packet: Packet) -> Iterator[bytes]:
        match packet.body:
            case Promise(session=session):
                yield write(changed(packet, body=HeartbeatRequest(session, 1)))
            case ScryResponse(path=path):
                signed = node.publisher.sign(cancellation_input(path, 1))
                yield write(changed(packet, body=Cancellation(path, 1, signed)))
                yield write(changed(packet, body=ScryRequest(path, 1, node.publisher.sign(request_input(path, 1)))))
            case HeartbeatResponse(session=session, number=number):
                yield write(changed(packet, body=HeartbeatRequest(session, number)))
                yield write(changed(packet, body=HeartbeatRequest(session, 2**64 - 1)))

    assert_left_alone(node, wrong_way)


@rule("URB-023", roles=SUBSCRIBER)
def test_bytes_behind_bodies(node: NodeUnderTest) -> None:
    """Send a promise and a nack with bytes behind their ends.

    They are taken as they are without these bytes, or dropped; whichever it is, values and nacks are taken afterwards.
    """
    publisher = in_session(node, "promised")
    publisher.promises = False
    node.want("open")
    publisher.surely(publisher.requested("open"), "request")
    since, number, other = publisher.place, number_of(publisher.beats()[-1]), unknown_session()
    for body in (
        publisher.promise_of(publisher.path("open"), session=other),
        HeartbeatResponse(publisher.session, number, live=True),
        HeartbeatResponse(publisher.session, number, live=False),
    ):
        for behind in (b"\0", b"\1", 64 * b"x"):
            publisher.send_bytes(with_checksum(write(publisher.packet(body)) + behind))
    # A value behind them is cancelled: by then the others have been looked at, and how far away it is was measured.
    publisher.surely(publisher.notify(publisher.response_of(publisher.path("control"), b"")), "cancellation")
    publisher.read()
    asked, beats = publisher.requests("promised", since=since), publisher.beats(other, since=since)
    node.shows("URB-023", "A15", "B" if asked or beats else "A")
    if beats:
        publisher.session, number = other, number_of(beats[-1])
    elif asked:
        # What it took for dead is dead: it has another session now.
        publisher.session, publisher.promises = unknown_session(), True
        again = publisher.beat_of()
        assert again, "no session comes about any more after bytes behind a nack"
        number = number_of(again)
    else:
        beat = publisher.next_beat(number)
        assert beat, "heartbeats cease, or begin anew, after bytes behind bodies"
        number = number_of(beat)
    assert_serves(node, publisher, number)


@rule("URB-010", roles=SUBSCRIBER)
def test_relayed_packets(node: NodeUnderTest) -> None:
    """Send a promise, a nack and a value as relays send them, with an origin.

    Each is acted upon.
    """
    node.want("a")
    publisher = node.publisher
    publisher.promises = publisher.answers = False
    publisher.surely(publisher.requested("a"), "request")
    relayed = publisher.packet(publisher.promise_of(publisher.path("a")), origin=ORIGIN)
    publisher.ask(lambda: publisher.send_packet(relayed), lambda event: event.form is HeartbeatRequest)
    beat = publisher.beat_of()
    assert beat, "a promise with an origin is not taken"
    since = publisher.place
    nack = HeartbeatResponse(publisher.session, number_of(beat), live=False)
    for _ in range(publisher.copies):
        publisher.send_packet(publisher.packet(nack, origin=ORIGIN))
    assert publisher.requested("a", since=since), "a nack with an origin is not taken"
    response = publisher.packet(publisher.response_of(publisher.path("a"), b"a value"), origin=ORIGIN)
    for _ in range(publisher.copies):
        publisher.send_packet(response)
    assert publisher.cancelled("a", since=since), "a value with an origin is not taken"
    assert_told(node, "a", "a value")
