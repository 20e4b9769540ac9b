"""Urbit's packets as frozen values, and their way to and from what the grammar decodes.

A value says what a packet means: ranks, lengths and the type of the header follow from what is there. What belongs
into a packet (its checksum, the bit that it is none of Ames) is ``None``; a number is what stands there instead.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from wire.engines import live
from wire.errors import DecodeError, EncodeError, Reason
from wire.urbit.checksums import checksum
from wire.urbit.type_bits import M1, Mapping, PacketType, from_usual, to_usual

Wire = dict[str, Any]
"""A packet or a body as the grammar decodes it."""

LAYOUT = "urbit/packet"

HEADER_SIZE, ORIGIN_SIZE = 4, 6
TOTAL_SIZE = 4
"""Bytes of the number of fragments in a scry response with data."""

LONGEST_PATH = 384
WIDEST_RANK = 3


class Ship(msgspec.Struct, frozen=True):
    """Who sends or receives: a number, and the rank that says how wide it is written."""

    number: int
    rank: int

    @classmethod
    def of(cls, number: int) -> "Ship":
        """Return the ship with a number, in the least rank that holds it. Raises ``ValueError`` if none does."""
        for rank in range(WIDEST_RANK + 1):
            if 0 <= number < 1 << _bits(rank):
                return cls(number, rank)
        raise ValueError(f"{number} is no number of a ship: there are 128 bits")

    @property
    def fits(self) -> bool:
        """Whether its rank is the least that holds the number; receivers refuse any other."""
        least = 1 << _bits(self.rank - 1) if self.rank else 0
        return least <= self.number < 1 << _bits(self.rank)


class Origin(msgspec.Struct, frozen=True):
    """Where a relayed packet came from: an IPv4 address as a number, 127.0.0.1 being 0x7f000001, and a port."""

    address: int
    port: int


class ScryRequest(msgspec.Struct, frozen=True):
    """Asks for a fragment of what stands at a path."""

    path: bytes
    fragment: int
    signature: bytes


class ScryResponse(msgspec.Struct, frozen=True):
    """A fragment of what stands at a path, of ``total``; that number may be less than four bytes wide without data."""

    path: bytes
    fragment: int
    signature: bytes
    total: int
    data: bytes
    total_width: int = TOTAL_SIZE


class Ames(msgspec.Struct, frozen=True):
    """A packet of the command protocol, of which nothing is said here."""

    data: bytes
    is_response: bool


class HeartbeatRequest(msgspec.Struct, frozen=True):
    """Keeps a session alive; numbered from 1."""

    session: int
    number: int


class HeartbeatResponse(msgspec.Struct, frozen=True):
    """Says whether a session lives; on the wire a bit that is 0 for yes. ``padding`` are the seven bits above it."""

    session: int
    number: int
    live: bool
    padding: int = 0


class Cancellation(msgspec.Struct, frozen=True):
    """A scry cancellation request: no longer interested in a fragment of a path."""

    path: bytes
    fragment: int
    signature: bytes


class Promise(msgspec.Struct, frozen=True):
    """A scry promise: what stands at a path will be delivered, as long as the session lives."""

    session: int
    path: bytes
    fragment: int
    signature: bytes


Body = ScryRequest | ScryResponse | Ames | HeartbeatRequest | HeartbeatResponse | Cancellation | Promise


class Packet(msgspec.Struct, frozen=True):
    """A packet: ``None`` stands for the checksum and the bit that belong there, and for no origin.

    ``version`` is counted from that of the mapping, so 0 is the one that is spoken.
    """

    body: Body
    sender: Ship
    receiver: Ship
    sender_tick: int = 1
    receiver_tick: int = 1
    origin: Origin | None = None
    version: int = 0
    checksum: int | None = None
    not_ames: bool | None = None


def read(frame: bytes, mapping: Mapping = M1) -> Packet:
    """Return the packet that a datagram is. Raises ``DecodeError``."""
    if mapping != M1:
        frame = to_usual(mapping)[frame[0] : frame[0] + 1] + frame[1:] if frame else frame
    value = live(LAYOUT).decode(LAYOUT, frame)
    header, ticks, body = value["header"], value["ticks"], value["body"]
    found, right = header["checksum"], checksum(covered(frame))
    marked = bool(header["not_ames"])
    return Packet(
        _READ[body["type"]](body, len(frame)),
        _ship(value["sender"], header["sender_rank"]),
        _ship(value["receiver"], header["receiver_rank"]),
        ticks["sender"],
        ticks["receiver"],
        None if value["origin"] is None else Origin(value["origin"]["address"], value["origin"]["port"]),
        header["version"],
        None if found == right else found,
        None if marked == mapping.not_ames(header["type"]) else marked,
    )


def write(packet: Packet, mapping: Mapping = M1) -> bytes:
    """Return the datagram of a packet. Raises ``EncodeError``."""
    kind = type_of(packet.body)
    value = {
        "header": {
            "type": int(kind),
            "not_ames": int(mapping.not_ames(kind) if packet.not_ames is None else packet.not_ames),
            "version": packet.version,
            "sender_rank": packet.sender.rank,
            "receiver_rank": packet.receiver.rank,
            "checksum": packet.checksum or 0,
            "direct": int(packet.origin is None),
        },
        "origin": packet.origin and {"address": packet.origin.address, "port": packet.origin.port},
        "ticks": {"sender": packet.sender_tick, "receiver": packet.receiver_tick},
        "sender": _address(packet.sender),
        "receiver": _address(packet.receiver),
        "body": {"type": kind.name.lower(), **_WRITE[type(packet.body)](packet.body)},
    }
    frame = live(LAYOUT).encode(LAYOUT, value)
    if packet.checksum is None:
        frame = with_checksum(frame)
    return frame if mapping == M1 else from_usual(mapping)[frame[0] : frame[0] + 1] + frame[1:]


def type_of(body: Body) -> PacketType:
    """Return the type that a body has in the header."""
    if isinstance(body, Ames):
        return PacketType.AMES_BACK if body.is_response else PacketType.AMES_FORE
    return _TYPES[type(body)]


def covered(frame: bytes) -> bytes:
    """Return the bytes of a packet that its checksum is of: those behind the header and the origin."""
    is_relayed = not frame[HEADER_SIZE - 1] & 0x80
    return frame[HEADER_SIZE + ORIGIN_SIZE * is_relayed :]


def with_checksum(frame: bytes) -> bytes:
    """Return a packet with the checksum that belongs there, whatever else is wrong with it, if it has a header."""
    if len(frame) < HEADER_SIZE:
        return frame
    # Bits 11 to 30 of the header; what stands beside them stays.
    header = int.from_bytes(frame[:HEADER_SIZE], "little") & ~(0xFFFFF << 11) | checksum(covered(frame)) << 11
    return header.to_bytes(HEADER_SIZE, "little") + frame[HEADER_SIZE:]


def is_intact(frame: bytes) -> bool:
    """Tell whether the checksum of a packet is right; of less than a header it is not."""
    return len(frame) >= HEADER_SIZE and with_checksum(frame) == frame


def addresses_fit(value: Wire) -> bool:
    """Tell of a decoded packet whether both ships have the rank that belongs to their number."""
    header = value["header"]
    return all(_ship(value[end], header[f"{end}_rank"]).fits for end in ("sender", "receiver"))


def path_is_valid(path: bytes) -> bool:
    """Tell whether a path is one (reading A14): printable ASCII in segments, a slash before each, none empty."""
    # A path is a slash and something between all slashes; so none is at the end, and no two are neighbours.
    is_printable = all(0x20 <= byte <= 0x7E for byte in path)
    return is_printable and len(path) <= LONGEST_PATH and path[:1] == b"/" and all(path[1:].split(b"/"))


def _bits(rank: int) -> int:
    return 16 << rank


def _ship(address: int | bytes, rank: int) -> Ship:
    return Ship(address if isinstance(address, int) else int.from_bytes(address, "little"), rank)


def _address(ship: Ship) -> int | bytes:
    if ship.rank < WIDEST_RANK:
        return ship.number
    if not 0 <= ship.number < 1 << _bits(WIDEST_RANK):
        raise EncodeError(f"{ship.number} is no number of a ship: there are 128 bits")
    return ship.number.to_bytes(_bits(WIDEST_RANK) // 8, "little")


def _read_response(body: Wire, end: int) -> ScryResponse:
    content = body["content"]
    if not content:
        raise DecodeError(Reason.TRUNCATED, end, "body.content", "the number of fragments is missing")
    total, data = content[:TOTAL_SIZE], content[TOTAL_SIZE:]
    number = int.from_bytes(total, "little")
    return ScryResponse(body["path"], body["fragment"], body["signature"], number, data, len(total))


def _write_response(body: ScryResponse) -> Wire:
    if not 1 <= body.total_width <= TOTAL_SIZE or (body.data and body.total_width < TOTAL_SIZE):
        raise EncodeError(f"total_width: {body.total_width}; it is {TOTAL_SIZE}, or 1 to 3 if there is no data")
    if not 0 <= body.total < 1 << 8 * body.total_width:
        raise EncodeError(f"total: {body.total} does not fit into {body.total_width} bytes")
    return _asked(body) | {"content": body.total.to_bytes(body.total_width, "little") + body.data}


def _asked(body: ScryRequest | ScryResponse | Cancellation | Promise) -> Wire:
    length = len(body.path)
    return {"signature": body.signature, "fragment": body.fragment, "path_length": length, "path": body.path}


def _write_heartbeat(body: HeartbeatRequest | HeartbeatResponse) -> Wire:
    return {"session": body.session, "number": body.number}


def _write_live(body: HeartbeatResponse) -> Wire:
    # The layout keeps bits that have no name in their place.
    return _write_heartbeat(body) | {"live": {"live": int(not body.live), "X": body.padding << 1}}


_TYPES: dict[type, PacketType] = {
    ScryRequest: PacketType.SCRY_FORE,
    ScryResponse: PacketType.SCRY_BACK,
    HeartbeatRequest: PacketType.BEAT_FORE,
    HeartbeatResponse: PacketType.BEAT_BACK,
    Cancellation: PacketType.BOND_FORE,
    Promise: PacketType.BOND_BACK,
}

_READ: dict[str, Callable[[Wire, int], Body]] = {
    "scry_fore": lambda body, _: ScryRequest(body["path"], body["fragment"], body["signature"]),
    "scry_back": _read_response,
    "ames_fore": lambda body, _: Ames(body["data"], is_response=False),
    "ames_back": lambda body, _: Ames(body["data"], is_response=True),
    "beat_fore": lambda body, _: HeartbeatRequest(body["session"], body["number"]),
    "beat_back": lambda body, _: HeartbeatResponse(
        body["session"], body["number"], not body["live"]["live"], body["live"]["X"] >> 1
    ),
    "bond_fore": lambda body, _: Cancellation(body["path"], body["fragment"], body["signature"]),
    "bond_back": lambda body, _: Promise(body["session"], body["path"], body["fragment"], body["signature"]),
}

_WRITE: dict[type, Callable[[Any], Wire]] = {
    ScryRequest: _asked,
    ScryResponse: _write_response,
    Ames: lambda body: {"data": body.data},
    HeartbeatRequest: _write_heartbeat,
    HeartbeatResponse: _write_live,
    Cancellation: _asked,
    Promise: lambda body: {"session": body.session, **_asked(body)},
}
