"""Names for the bits of an integer: what a byte of flags and a word of bit-fields have in common."""

from collections.abc import Iterator

from wire.errors import CannotLayOut
from wire.kinds.contexts import Node


def spare_name(names: Iterator[str]) -> str:
    """Return what the bits without a name are kept under: ``X``, with as many ``_`` behind it as are needed."""
    taken, name = set(names), "X"
    while name in taken:
        name += "_"
    return name


class Bit(Node, frozen=True):
    """Bits ``high`` to ``low`` of a byte, under a name."""

    name: str
    high: int
    low: int

    @property
    def mask(self) -> int:
        """The bits in place."""
        return (2 << self.high) - (1 << self.low)


def check_bit_places(bits: tuple[Bit, ...], whole: int, path: str) -> None:
    """Raise ``CannotLayOut`` for bits that an integer of ``whole`` bits has not, or that have two names."""
    taken = 0
    for bit in bits:
        if not 0 <= bit.low <= bit.high < whole:
            raise CannotLayOut(f"{path}: {bit.name} is from bit {bit.high} to {bit.low}; there are {whole - 1} to 0")
        if taken & bit.mask:
            raise CannotLayOut(f"{path}: {bit.name} shares bits with another name; every bit has one")
        taken |= bit.mask
