"""A session as the packets of a TCP connection: handshake, segments with sequence numbers and checksums, both ends."""

from collections.abc import Iterable
from random import Random
from struct import Struct
from typing import NamedTuple

from reports.packets import ACK, FIN, RST, SYN

HEADER = Struct(">IHHIIII").pack(0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)
"""The beginning of a pcap file in big-endian order: nanoseconds, Ethernet."""

PSH = 8
SEGMENT = 1448
"""Bytes that fit into one packet."""

PORT = 7447
DIAL_PORTS = range(32768, 61000)
CLIENTS = 10 << 24 | 1 << 16
SERVERS = tuple(10 << 24 | number for number in range(1, 5))

_PACKET = Struct(">IIII 6s6sH BBHHHBBHII HHIIBBHHH").pack
_SIZE = 54  # Ethernet, IPv4, TCP
_MACS = (b"\x02\0\0\0\0\1", b"\x02\0\0\0\0\2")
_IP, _NO_FRAGMENTS, _HOPS, _TCP = 0x0800, 0x4000, 64, 6
_SECOND = 1_000_000_000

Packet = tuple[int, bytes]
"""When, in nanoseconds since 1970, and the packet with its header in the file."""


class Said(NamedTuple):
    """Bytes that one side says, so many nanoseconds after the session began."""

    after: int
    by_dialler: bool
    data: bytes


class End(NamedTuple):
    """How a connection ends: who does it, when, and whether by a reset."""

    after: int
    by_dialler: bool
    is_reset: bool


class Connection:
    """The packets of one connection, made in the order in which they go over the link.

    ``place`` tells connections of one file apart: no two have the same ends.
    """

    def __init__(self, place: int, began: int, random: Random) -> None:
        around, offset = divmod(place, len(DIAL_PORTS))
        self._began = began
        self._packets: list[Packet] = []
        hosts = CLIENTS + around * 64 + random.randrange(64), random.choice(SERVERS)
        ports = DIAL_PORTS[offset], PORT
        self._next = [random.getrandbits(32), random.getrandbits(32)]
        self._ids = [random.getrandbits(16), random.getrandbits(16)]
        self._sides = []
        for side in (0, 1):
            addresses = hosts[side], hosts[1 - side]
            # What never changes of what is summed up: halves of 32 bits count as if they were apart.
            common = sum(addresses) + _TCP
            self._sides.append((_MACS[1 - side], _MACS[side], addresses, (ports[side], ports[1 - side]), common))

    def packets(self, said: Iterable[Said], end: End, pause: int) -> list[Packet]:
        """Return all packets; ``pause`` nanoseconds pass between those of a handshake."""
        for number, (side, flags) in enumerate(((0, SYN), (1, SYN | ACK), (0, ACK))):
            self._add(number * pause, side, flags)
        begun = 3 * pause
        for after, by_dialler, data in said:
            side = 0 if by_dialler else 1
            if len(data) <= SEGMENT:
                self._add(begun + after, side, ACK | PSH, data)
                continue
            for start in range(0, len(data), SEGMENT):
                last = start + SEGMENT >= len(data)
                self._add(begun + after, side, ACK | PSH if last else ACK, data[start : start + SEGMENT])
        side = 0 if end.by_dialler else 1
        at = begun + end.after
        if end.is_reset:
            self._add(at, side, RST | ACK)
        else:
            for number, (each, flags) in enumerate(((side, FIN | ACK), (1 - side, FIN | ACK), (side, ACK))):
                self._add(at + number * pause, each, flags)
        return self._packets

    def _add(self, after: int, side: int, flags: int, data: bytes = b"") -> None:
        to, by, (source, target), (port, other), common = self._sides[side]
        seq = self._next[side]
        ack = self._next[1 - side] if flags & ACK else 0
        size = _SIZE + len(data)
        number = self._ids[side] = (self._ids[side] + 1) & 0xFFFF
        now = self._began + after
        seconds, nanoseconds = divmod(now, _SECOND)
        # RFC 1071; 2**16 is 1 modulo 65535, so whole integers can be summed up.
        head = 0xFFFF - (0x4500 + size - 14 + number + _NO_FRAGMENTS + (_HOPS << 8) + common) % 0xFFFF
        body = int.from_bytes(data, "big") << (8 * (len(data) & 1))
        tail = common + size - 34 + port + other + seq + ack + (0x5000 | flags) + 0xFFFF + body
        self._packets.append((now, _PACKET(
            seconds, nanoseconds, size, size, to, by, _IP,
            0x45, 0, size - 14, number, _NO_FRAGMENTS, _HOPS, _TCP, head, source, target,
            port, other, seq, ack, 0x50, flags, 0xFFFF, 0xFFFF - tail % 0xFFFF, 0,
        ) + data))  # fmt: skip
        self._next[side] = (seq + len(data) + (1 if flags & (SYN | FIN) else 0)) & 0xFFFFFFFF
