"""Partitions: the connections of a capture divided among readers, each of which reads the whole file.

A reader takes apart the packets of its own connections. Those of the others it passes over at a glance, and what names
no connection is the first one's.
"""

from struct import Struct
from typing import NamedTuple
from zlib import crc32

import msgspec

MAX_KNOWN = 1 << 16
"""Pairs of ends that are remembered as another reader's, some ten megabytes; beyond that all are forgotten."""

_IPV4 = Struct(">BxH2xHxB2x12s").unpack_from
_FOUR, _SIX = b"\x08\x00", b"\x86\xdd"
_TCP, _UDP = 6, 17
_NONE: frozenset[bytes] = frozenset()


class Partition(msgspec.Struct, frozen=True):
    """The part of a capture that one of several readers takes: ``number`` of ``of``, from 0."""

    number: int = 0
    of: int = 1

    @property
    def is_first(self) -> bool:
        """Whether packets without a connection (other protocols, unreadable ones) are this reader's."""
        return self.number == 0

    def has(self, transport: str, source: bytes, target: bytes) -> bool:
        """Tell whether packets between two ends are this reader's."""
        # A checksum and not hash(), which differs from process to process: all readers have to divide alike.
        return crc32(flow_key(transport, source, target)) % self.of == self.number


ALL = Partition()


def flow_key(transport: str, source: bytes, target: bytes) -> bytes:
    """Return what all packets between the same two ends have in common."""
    ends = source + target if source < target else target + source
    return transport.encode() + ends


class LinkHeader(NamedTuple):
    """Where a packet of a link type has IP, and where the type that says so, if it has one (-1: it has none)."""

    ip: int
    kind: int = -1


class OtherReaders:
    """Recognises packets of other readers by their raw bytes, after ``learn`` was called for one between the same ends.

    That is why reading in parallel pays: to recognise a packet costs a twentieth of taking it apart. Packets with
    options, tags or damage are not recognised and have to be taken apart, so that nobody passes over what is his.
    """

    def __init__(self, places: dict[int, LinkHeader]) -> None:
        self._places = places
        self._known: dict[int, set[bytes]] = {_TCP: set(), _UDP: set()}

    def have(self, link_type: int, data: bytes, start: int, end: int) -> bool:
        """Tell whether the packet in ``data[start:end]`` is known to be another reader's."""
        place = self._places.get(link_type)
        if place is None:
            return False
        ip, kind = place
        at = start + ip
        # The shortest packet of TCP over IPv4; what is shorter still is taken apart.
        if at + 40 > end:
            return False
        first, length, offset, protocol, ends = _IPV4(data, at)
        # Version 4 without options: the ports stand straight behind the addresses.
        if first == 0x45:
            if ends not in self._known.get(protocol, _NONE) or offset & 0x3FFF or 0 < length < 20:
                return False
            return kind < 0 or data[start + kind : start + kind + 2] == _FOUR
        # Addresses and ports of an IPv6 packet without extension headers.
        if first >> 4 != 6 or at + 60 > end or data[at + 8 : at + 44] not in self._known.get(data[at + 6], _NONE):
            return False
        return kind < 0 or data[start + kind : start + kind + 2] == _SIX

    def learn(self, transport: str, source: bytes, target: bytes) -> None:
        """Remember that packets from one end (address and port) to another are not this reader's."""
        known = self._known[_TCP if transport == "tcp" else _UDP]
        if len(known) >= MAX_KNOWN:
            known.clear()
        # As they stand in a raw packet: both addresses, then both ports.
        known.add(source[:-2] + target[:-2] + source[-2:] + target[-2:])
