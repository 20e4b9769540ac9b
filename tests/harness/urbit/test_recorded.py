"""Recorded sessions of Urbit: what their datagrams show to be missing, and who of the two ends listens."""

import msgspec
import pytest

from harness.captures.losses import Irregularity, Missing
from harness.captures.recordings import Recording
from harness.captures.segmentation import datagram, packed_end
from harness.captures.writer import PcapngWriter
from harness.trace import Direction
from harness.urbit.numbers import HeartbeatNumbers
from harness.urbit.ships import PUBLISHER, SUBSCRIBER, key_of
from harness.urbit.tester.conversation import signed_part
from harness.urbit.tester.topics import is_of_subscriber
from wire.urbit.values import (
    Ames,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    read,
    write,
)

SUB, PUB = Direction.SENT, Direction.RECEIVED
PATH, ID = b"/~pub/chat/34", 7


def said(direction, body, **more):
    """Return a packet of the subscriber's or the publisher's, signed."""
    ships = (SUBSCRIBER, PUBLISHER) if direction is SUB else (PUBLISHER, SUBSCRIBER)
    if (signed := signed_part(body)) is not None:
        body = msgspec.structs.replace(body, signature=key_of(ships[0]).sign(signed))
    return direction, write(Packet(body, *ships, **more))


ASKS = said(SUB, ScryRequest(PATH, 1, b""))
PROMISES = said(PUB, Promise(ID, PATH, 1, b""))
TELLS = said(PUB, ScryResponse(PATH, 1, b"", 1, b"hello"))
CANCELS = said(SUB, Cancellation(PATH, 1, b""))


def beats(number, session=ID):
    return said(SUB, HeartbeatRequest(session, number))


def lives(number, session=ID):
    return said(PUB, HeartbeatResponse(session, number, live=True))


def shown(*packets, pace=0.1):
    """Return what the packets of a session show, ``pace`` seconds apart, and up to where nothing is missing."""
    numbers, place, found = HeartbeatNumbers(), 0, []
    for time, packet in enumerate(packets):
        odd = numbers.take(*packet, place, time * pace)
        found += [odd] if odd is not None else []
        place += odd is None or odd.kind is not Missing.REPEATED
    return found, numbers.proven


def missing(count=1):
    return [Irregularity(Missing.DATAGRAM, count)]


@pytest.mark.parametrize(
    ("packets", "found", "proven"),
    [
        ((), [], 0),
        ((ASKS, PROMISES, beats(1), lives(1), beats(2), lives(2), TELLS, CANCELS), [], 8),
        ((ASKS, ASKS, PROMISES, PROMISES, TELLS, TELLS), [], 6),  # what is said again is no loss
        ((ASKS, PROMISES, beats(1), beats(2), lives(2), lives(1)), [], 6),
        ((PROMISES,), missing(), 0),
        ((ASKS, PROMISES, said(PUB, Promise(ID, b"/other", 1, b""))), missing(), 2),
        ((CANCELS, TELLS), missing(), 1),
        ((ASKS, said(PUB, Promise(ID, PATH, 2, b""))), missing(), 1),
        # Two ships may speak from one address.
        ((ASKS, (PUB, write(msgspec.structs.replace(read(TELLS[1]), receiver=Ship.of(300))))), missing(), 1),
        ((ASKS, said(PUB, ScryResponse(PATH, 2, b"", 2, b"more"))), [], 2),  # A29: all fragments of what was asked for
        ((ASKS, PROMISES, beats(2), lives(2)), missing(), 2),
        ((ASKS, PROMISES, beats(1), lives(1), beats(4), lives(3)), missing(2), 3),
        # Whether one was missing that is answered, the number of the next tells.
        ((ASKS, PROMISES, beats(1), lives(2)), [], 3),
        ((ASKS, PROMISES, lives(1), TELLS), [], 2),
        ((ASKS, PROMISES, beats(1), lives(3), beats(2), lives(2)), [], 6),
        ((ASKS, PROMISES, beats(1), lives(2), beats(3), lives(3)), missing(), 3),
        ((ASKS, PROMISES, beats(1), lives(0)), [], 4),  # of which there is none
        ((ASKS, PROMISES, lives(1, session=8)), missing(), 2),
        ((beats(3), lives(3), beats(4)), [Irregularity(Missing.BEGINNING)], 0),
        ((ASKS, PROMISES, beats(1, session=8), lives(1, session=8)), [Irregularity(Missing.BEGINNING)], 2),
        ((ASKS, PROMISES, beats(1), beats(1), lives(1)), [Irregularity(Missing.REPEATED)], 4),
        ((ASKS, PROMISES, beats(1), lives(1), beats(1), lives(1), TELLS), [Irregularity(Missing.REPEATED)] * 2, 5),
        # Said twice or captured twice: nobody knows.
        ((ASKS, PROMISES, beats(1), lives(1), lives(1), TELLS), [], 4),
        ((ASKS, PROMISES, beats(1), lives(1), said(PUB, HeartbeatResponse(ID, 1, live=False))), [], 5),
        ((ASKS, PROMISES, beats(1), beats(2), beats(1)), [Irregularity(Missing.DISORDER)], 4),
        # What nobody takes shows nothing, and asks for nothing.
        ((said(SUB, ScryRequest(PATH, 1, b""), checksum=0), TELLS), missing(), 1),
        ((said(PUB, ScryResponse(PATH, 1, b"", 1, b""), checksum=0), (PUB, b"\xff"), (SUB, b"")), [], 3),
        # Either end may be a publisher, or both.
        ((said(PUB, ScryRequest(PATH, 1, b"")), said(SUB, Promise(ID, PATH, 1, b""))), [], 2),
        ((ASKS, said(SUB, Promise(ID, PATH, 1, b""))), missing(), 1),
    ],
)
def test_what_is_missing_shows_by_what_is_there(packets, found, proven):
    assert shown(*packets) == (found, proven)


def test_a_heartbeat_that_is_there_again_much_later_was_not_doubled():
    assert shown(ASKS, PROMISES, beats(1), beats(1), beats(2), pace=25.0) == ([], 5)


def test_types_tell_whose_a_packet_is():
    assert [is_of_subscriber(frame) for _, frame in (ASKS, CANCELS, beats(1))] == [True] * 3
    assert [is_of_subscriber(frame) for _, frame in (PROMISES, TELLS, lives(1))] == [False] * 3
    assert is_of_subscriber(said(SUB, Ames(b"", is_response=False))[1]) is None
    assert is_of_subscriber(b"\xff") is None


@pytest.mark.parametrize("since", range(3))
def test_the_publisher_is_judged_wherever_a_recording_begins(tmp_path, since):
    """Also where the first packet is its own."""
    ends = {SUB: packed_end("10.0.0.1", 4000), PUB: packed_end("10.0.0.2", 3000)}
    packets = [ASKS, PROMISES, beats(1), lives(1), TELLS, CANCELS][since:]
    with PcapngWriter(tmp_path / "a.pcapng") as capture:
        for number, (direction, frame) in enumerate(packets):
            other = PUB if direction is SUB else SUB
            capture.write(datagram(ends[direction], ends[other], frame), 10**9 * number)
    [session] = Recording(tmp_path / "a.pcapng", "urbit")
    opened, *entries = session.trace
    assert (opened.direction, opened.note) == (SUB, "10.0.0.2:3000")
    assert [(entry.direction, entry.data) for entry in entries] == packets
    assert session.key == "udp 10.0.0.1:4000 to 10.0.0.2:3000"
    assert session.sound == (1 if since else len(session.trace))


def test_the_one_packet_of_a_publisher_may_be_damaged(tmp_path):
    """A regression: a wrong checksum of who has sent nothing else was taken for a habit of its kernel."""
    one, two = packed_end("10.0.0.1", 4000), packed_end("10.0.0.2", 3000)
    broken = bytearray(datagram(two, one, PROMISES[1]))
    broken[60] ^= 1
    with PcapngWriter(tmp_path / "a.pcapng") as capture:
        capture.write(datagram(one, two, ASKS[1]), 1)
        capture.write(bytes(broken), 2)
    [session] = Recording(tmp_path / "a.pcapng", "urbit")
    assert [loss.kind for loss in session.losses] == [Missing.CHECKSUM]
    assert (session.sound, len(session.trace)) == (2, 3)
