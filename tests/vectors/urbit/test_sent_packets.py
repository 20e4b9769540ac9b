"""Packets as they are sent: nobody has another reason to refuse them than the one that is looked at."""

import pytest

from vectors.golden.build import expect
from vectors.golden.loader import load
from vectors.urbit.sent_packets import as_sent
from wire.urbit.values import (
    Ames,
    Body,
    Cancellation,
    HeartbeatResponse,
    Packet,
    ScryResponse,
    Ship,
    read,
    write,
)

SIGNATURE = bytes(64)
SUB, PUB = Ship(68, 0), Ship(166, 0)


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (HeartbeatResponse(1, 2, live=False, padding=5), HeartbeatResponse(1, 2, live=False)),
        (Cancellation(b"", 0, SIGNATURE), Cancellation(b"/a", 0, SIGNATURE)),
        (Cancellation(b"\0\0\0", 0, SIGNATURE), Cancellation(b"/aa", 0, SIGNATURE)),
        (Cancellation(b"/b", 0, SIGNATURE), Cancellation(b"/b", 0, SIGNATURE)),
        (Ames(b"\0", is_response=True), Ames(b"\0", is_response=True)),
        (ScryResponse(b"/b", 1, SIGNATURE, 7, b"x"), ScryResponse(b"/b", 1, SIGNATURE, 7, b"x")),
    ],
)
def test_what_is_not_looked_at_is_as_it_should_be(body: Body, sent: Body) -> None:
    packet = Packet(body, SUB, PUB, 3, 4, version=5, checksum=6, not_ames=isinstance(body, Ames))
    assert read(as_sent(write(packet))) == Packet(sent, SUB, PUB, 3, 4)


def test_a_response_says_how_many_fragments_there_are() -> None:
    short = write(Packet(ScryResponse(b"/b", 1, SIGNATURE, 0, b"", total_width=1), SUB, PUB))[:-1]
    assert read(as_sent(short)).body == ScryResponse(b"/b", 1, SIGNATURE, 1, b"")


@pytest.mark.parametrize("frame", [b"", b"\x0c", b"\x0c\xb0\xb9"])
def test_less_than_a_header_stays(frame: bytes) -> None:
    assert as_sent(frame) == frame


def test_what_is_sent_twice_is_the_same() -> None:
    for vector in load("urbit/packet"):
        sent = as_sent(vector.data)
        assert as_sent(sent) == sent
        # What is refused for its length stays refused, and what is left to say against others is their rank.
        assert set(expect("urbit/packet", sent)[0].flags) <= {"other-rank", "bad-path", "bytes-behind"}
