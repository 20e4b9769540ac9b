"""Packets as values: each means what its bytes say, in every mapping of the type, and what is damaged is told."""

from typing import Any

import pytest

from wire.errors import DecodeError, EncodeError, Reason
from wire.urbit.type_bits import M1, M2, M3, M4, M5, MAPPINGS, Mapping, PacketType
from wire.urbit.values import (
    Ames,
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Origin,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    is_intact,
    path_is_valid,
    read,
    type_of,
    with_checksum,
    write,
)

SUB, PUB = Ship(68, 0), Ship(166, 0)
SESSION = 0x0123456789ABCDEF
PATH, SIGNATURE = b"/~pub/chat/34", bytes(range(64))

# By hand: header, ticks, addresses, session, number, live
REQUEST = bytes.fromhex("0cb0b9bf 11 4400 a600 efcdab8967452301 0100000000000000")
YES = bytes.fromhex("0d30a9a5 11 a600 4400 efcdab8967452301 0100000000000000 00")
NACK = bytes.fromhex("0d98e3d5 11 a600 4400 efcdab8967452301 0100000000000000 01")

BODIES: list[Body] = [
    ScryRequest(PATH, 1, SIGNATURE),
    ScryResponse(PATH, 1, SIGNATURE, 1, b"hello"),
    ScryResponse(PATH, 1, SIGNATURE, 1, b""),
    ScryResponse(PATH, 1, SIGNATURE, 1, b"", total_width=1),
    ScryResponse(PATH, 1, SIGNATURE, 0x10000, b"", total_width=3),
    Ames(b"", is_response=False),
    Ames(b"anything", is_response=True),
    HeartbeatRequest(SESSION, 1),
    HeartbeatRequest(2**64 - 1, 2**64 - 1),
    HeartbeatResponse(SESSION, 1, live=True),
    HeartbeatResponse(SESSION, 1, live=False, padding=0x7F),
    Cancellation(PATH, 2**32 - 1, SIGNATURE),
    Cancellation(b"", 0, SIGNATURE),
    Promise(SESSION, PATH, 1, SIGNATURE),
]


@pytest.mark.parametrize(
    ("frame", "packet"),
    [
        (REQUEST, Packet(HeartbeatRequest(SESSION, 1), SUB, PUB)),
        (YES, Packet(HeartbeatResponse(SESSION, 1, live=True), PUB, SUB)),
        (NACK, Packet(HeartbeatResponse(SESSION, 1, live=False), PUB, SUB)),
    ],
)
def test_packets_written_by_hand(frame: bytes, packet: Packet) -> None:
    assert read(frame) == packet
    assert write(packet) == frame
    assert is_intact(frame)


@pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_every_body_in_every_mapping(body: Body, mapping: Mapping) -> None:
    for packet in (
        Packet(body, SUB, PUB),
        Packet(body, Ship.of(2**16), Ship.of(2**128 - 1), 15, 0, Origin(0x7F000001, 31337)),
        Packet(body, Ship.of(2**32), PUB, version=7, checksum=0),
    ):
        frame = write(packet, mapping)
        assert read(frame, mapping) == packet
        assert write(read(frame, mapping), mapping) == frame


@pytest.mark.parametrize(
    ("mapping", "lows"),
    [
        # Bits 3 to 0 of the first byte, by type; facts of the field, and readings of where the three bits go.
        (M1, (0b1000, 0b1001, 0b0010, 0b0011, 0b1100, 0b1101, 0b1110, 0b1111)),
        (M2, (0b1000, 0b1100, 0b0000, 0b0100, 0b1010, 0b1110, 0b0010, 0b0110)),
        (M3, (0b0000, 0b0010, 0b0100, 0b0110, 0b1000, 0b1010, 0b1100, 0b1110)),
        (M4, (0b11000, 0b11001, 0b10010, 0b10011, 0b11100, 0b11101, 0b11110, 0b11111)),
        (M5, (0b0000, 0b0001, 0b0010, 0b0011, 0b0100, 0b0101, 0b0110, 0b0111)),
    ],
    ids=["M1", "M2", "M3", "M4", "M5"],
)
def test_where_the_type_stands(mapping: Mapping, lows: tuple[int, ...]) -> None:
    found = {type_of(body): write(Packet(body, SUB, PUB), mapping)[0] for body in BODIES}
    assert [found[kind] for kind in PacketType] == list(lows)


def test_what_a_bit_says_that_does_not_belong_there() -> None:
    unmarked = Packet(HeartbeatRequest(SESSION, 1), SUB, PUB, not_ames=False)
    assert write(unmarked)[0] == 0x04
    assert read(write(unmarked)) == unmarked
    marked = Packet(HeartbeatRequest(SESSION, 1), SUB, PUB, not_ames=True)
    assert read(write(marked)).not_ames is None
    assert read(write(marked, M5), M5).not_ames is True


@pytest.mark.parametrize("mapping", [M2, M3], ids=["M2", "M3"])
def test_a_reserved_bit_means_nothing(mapping: Mapping) -> None:
    frame = write(Packet(HeartbeatRequest(SESSION, 1), SUB, PUB), mapping)
    assert read(bytes([frame[0] | 1]) + frame[1:], mapping) == read(frame, mapping)


def test_a_version_is_counted_from_that_of_the_mapping() -> None:
    packet = Packet(HeartbeatRequest(SESSION, 1), SUB, PUB)
    assert read(write(packet), M4).version == 1
    assert read(write(packet, M4), M4).version == 0
    assert read(write(packet, M4)).version == 1


def test_a_wrong_checksum_is_kept() -> None:
    for at in range(4, len(REQUEST)):
        frame = REQUEST[:at] + bytes([REQUEST[at] ^ 1]) + REQUEST[at + 1 :]
        assert not is_intact(frame)
        assert read(frame).checksum == 0x7F736
        assert write(read(frame)) == frame
        assert is_intact(with_checksum(frame))
    assert not is_intact(b"\x0c\xb0\xb9")


def test_a_relay_leaves_the_checksum_as_it_is() -> None:
    origin = bytes.fromhex("0100007f697a")
    relayed = REQUEST[:3] + bytes([REQUEST[3] & 0x7F]) + origin + REQUEST[4:]
    assert is_intact(relayed)
    assert read(relayed) == Packet(HeartbeatRequest(SESSION, 1), SUB, PUB, origin=Origin(0x7F000001, 31337))


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_a_packet_cut_short_is_refused_or_means_less(body: Body) -> None:
    frame = write(Packet(body, SUB, PUB))
    # What goes up to the end may end earlier: Ames, the data of a response and, but for a byte, the number before it.
    least = len(frame)
    if isinstance(body, Ames):
        least -= len(body.data)
    if isinstance(body, ScryResponse):
        least -= len(body.data) + body.total_width - 1
    for size in range(len(frame)):
        if size >= least:
            assert write(read(frame[:size])) == frame[:size]
            continue
        with pytest.raises(DecodeError) as refused:
            read(frame[:size])
        assert (refused.value.reason, refused.value.offset) == (Reason.TRUNCATED, size)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_nothing_follows_a_body(body: Body) -> None:
    frame = write(Packet(body, SUB, PUB)) + b"\0"
    if isinstance(body, Ames | ScryResponse):
        assert write(read(frame)) == frame
        return
    with pytest.raises(DecodeError) as refused:
        read(frame)
    assert (refused.value.reason, refused.value.offset) == (Reason.TRAILING, len(frame) - 1)


def test_no_datagram_is_longer_than_a_receiver_has_bytes_for() -> None:
    longest = Packet(Ames(bytes(2048 - 9), is_response=False), SUB, PUB)
    assert read(write(longest)) == longest
    with pytest.raises(DecodeError) as refused:
        read(write(longest) + b"\0")
    assert refused.value.reason is Reason.TOO_LONG


@pytest.mark.parametrize(
    ("ship", "fits"),
    [
        (Ship(0, 0), True),
        (Ship(2**16 - 1, 0), True),
        (Ship(2**16 - 1, 1), False),
        (Ship(2**16, 1), True),
        (Ship(2**32 - 1, 2), False),
        (Ship(2**32, 2), True),
        (Ship(2**64 - 1, 3), False),
        (Ship(2**64, 3), True),
        (Ship(2**128 - 1, 3), True),
    ],
)
def test_a_rank_is_the_least_that_holds_the_number(ship: Ship, fits: bool) -> None:
    assert ship.fits == fits
    assert (Ship.of(ship.number) == ship) == fits
    packet = Packet(HeartbeatRequest(1, 1), ship, ship)
    assert read(write(packet)) == packet


@pytest.mark.parametrize("number", [-1, 2**128])
def test_no_ship_has_such_a_number(number: int) -> None:
    with pytest.raises(ValueError, match="no number of a ship"):
        Ship.of(number)
    with pytest.raises(EncodeError):
        write(Packet(HeartbeatRequest(1, 1), Ship(number, 3), PUB))


@pytest.mark.parametrize(
    "body",
    [
        ScryResponse(PATH, 1, SIGNATURE, 256, b"", total_width=1),
        ScryResponse(PATH, 1, SIGNATURE, 1, b"x", total_width=3),
        ScryResponse(PATH, 1, SIGNATURE, 0, b"", total_width=0),
        ScryResponse(PATH, 1, SIGNATURE, 0, b"", total_width=5),
        ScryRequest(PATH, 1, b"short"),
        ScryRequest(PATH, 2**32, SIGNATURE),
        HeartbeatRequest(2**64, 1),
        HeartbeatResponse(1, 1, live=True, padding=128),
    ],
)
def test_what_no_packet_can_say(body: Any) -> None:
    with pytest.raises(EncodeError):
        write(Packet(body, SUB, PUB))


@pytest.mark.parametrize("path", [b"/a", b"/~pub/chat/34", b"/ /~", b"/" + b"x" * 383])
def test_a_path(path: bytes) -> None:
    assert path_is_valid(path)


@pytest.mark.parametrize(
    "path", [b"", b"a", b"/", b"//a", b"/a/", b"/a//b", b"/\x1f", b"/\x7f", b"/\x80", b"/a\0", b"/" + b"x" * 384]
)
def test_no_path(path: bytes) -> None:
    assert not path_is_valid(path)
