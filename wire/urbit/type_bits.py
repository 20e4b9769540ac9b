"""Which number of a header means which kind of packet: the document says that three bits do, and not where they are.

A **mapping** says so (reading A01); ``M1`` is the one of the grammar, and frames of another are brought to it byte by
byte: all that differs stands in the first one, which no checksum covers.
"""

from enum import IntEnum
from functools import cache

import msgspec

WIDTH = 3
"""Bits of a type."""

NOT_AMES, VERSION = 3, 4
"""Where the header has them, in its first byte: the bit that says that a packet is none of Ames, and the version."""


class PacketType(IntEnum):
    """Section "Packet Types": the lowest bit says that it is a response, the next two which protocol it is part of."""

    SCRY_FORE = 0b000
    SCRY_BACK = 0b001
    AMES_FORE = 0b010
    AMES_BACK = 0b011
    BEAT_FORE = 0b100
    BEAT_BACK = 0b101
    BOND_FORE = 0b110
    BOND_BACK = 0b111

    @property
    def is_ames(self) -> bool:
        """Whether it is of the command protocol, which was there before."""
        return self >> 1 == 1


class Mapping(msgspec.Struct, frozen=True):
    """Where the three bits of a type stand in the first byte of a packet, the lowest first.

    ``inverted`` are the places whose bit is turned over. ``marks_ames``: bit 3 is 1 on packets that are none of Ames
    (reading A02), where the type has no use for it. ``version`` is the one in which packets are sent.
    """

    name: str
    places: tuple[int, int, int]
    inverted: tuple[int, ...] = ()
    marks_ames: bool = True
    version: int = 0

    def type_in(self, first: int) -> int:
        """Return the type in the first byte of a packet."""
        return sum((first >> place & 1 ^ (place in self.inverted)) << bit for bit, place in enumerate(self.places))

    def not_ames(self, kind: int) -> bool:
        """Return what belongs into bit 3 of a packet."""
        return self.marks_ames and not PacketType(kind).is_ames

    def first_byte(self, usual: int) -> int:
        """Return the first byte of a packet here that has such a one in ``M1``."""
        kind = M1.type_in(usual)
        placed = sum((kind >> bit & 1 ^ (place in self.inverted)) << place for bit, place in enumerate(self.places))
        # The type and bit 3 are the lowest four; of the version only what differs is brought over.
        kept = usual & ~0xF ^ self.version << VERSION
        return kept | placed | (0 if NOT_AMES in self.places else usual & 1 << NOT_AMES)


M1 = Mapping("M1", (0, 1, 2))
"""The bits that were reserved when the document was written; bit 3 as it was."""

M2 = Mapping("M2", (2, 3, 1), inverted=(3,))
"""What has been sent ever since means the same: bit 2 says response, and bit 3 that it is none of Ames."""

M3 = Mapping("M3", (1, 2, 3))
"""Between the lowest bit and the version."""

M4 = Mapping("M4", (0, 1, 2), version=1)
"""``M1`` in a version of its own, which older nodes refuse."""

M5 = Mapping("M5", (0, 1, 2), marks_ames=False)
"""``M1``, with bit 3 always 0."""

MAPPINGS = {mapping.name: mapping for mapping in (M1, M2, M3, M4, M5)}


@cache
def to_usual(mapping: Mapping) -> bytes:
    """Return the first bytes of ``M1`` by those of a mapping, for all 256."""
    return bytes(_usual(mapping, first) for first in range(256))


@cache
def from_usual(mapping: Mapping) -> bytes:
    """Return the first bytes of a mapping by those of ``M1``, for all 256."""
    return bytes(mapping.first_byte(usual) for usual in range(256))


def _usual(mapping: Mapping, first: int) -> int:
    kind = mapping.type_in(first)
    # Where bit 3 is the type's, it is said as M1 says it; the bit that is then reserved means nothing.
    marked = M1.not_ames(kind) if NOT_AMES in mapping.places else first >> NOT_AMES & 1
    return first & ~0xF ^ mapping.version << VERSION | marked << NOT_AMES | kind
