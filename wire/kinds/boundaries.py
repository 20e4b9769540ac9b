"""The boundaries of fields: the bytes at which codecs go wrong, class by class, and how to say what they are.

Each kind of node gives its own (``Part.boundaries``); here is what several of them say.
"""

from collections.abc import Iterator
from typing import NamedTuple

from wire.kinds.branches import BAD_TEXT, NOT_ASCII

PLAIN = 5
"""What a number is when nothing else is wanted: not 0, which often means something."""


def in_order(size: int) -> int:
    """Return the number whose bytes count 1, 2, 3 … from the highest: any other order of them is another number."""
    return int.from_bytes(range(1, size + 1), "big")


PLAIN_TEXT, PLAIN_BYTE = b"a", b"\xaa"

PAIRED_SIZE = 64
"""Bytes of a content that is still tried in pairs: longer ones would be in every second frame of a message."""


class BoundaryBytes(NamedTuple):
    """The bytes that may stand in a field; ``cut``: the frame ends behind them."""

    aspect: str
    comment: str
    data: bytes
    family: str = "values"
    cut: bool = False


def text_boundaries(full: bool) -> Iterator[BoundaryBytes]:
    """Give texts that are not ASCII, and bytes that are not UTF-8."""
    yield BoundaryBytes(NOT_ASCII, "of two bytes, one letter", "ü".encode())
    if full:
        yield BoundaryBytes(NOT_ASCII, "of four bytes, one character", "𝄞".encode())
        yield BoundaryBytes(NOT_ASCII, "with U+0000", b"a\0b")
    yield BoundaryBytes(BAD_TEXT, "that is not UTF-8: 0xff", b"\xff", "refused")
    if full:
        yield BoundaryBytes(BAD_TEXT, "that is not UTF-8: a slash in two bytes", b"\xc0\xaf", "refused")
        yield BoundaryBytes(BAD_TEXT, "that is not UTF-8: a surrogate", b"\xed\xa0\x80", "refused")
        yield BoundaryBytes(BAD_TEXT, "that is not UTF-8: above U+10FFFF", b"\xf4\x90\x80\x80", "refused")
        yield BoundaryBytes(BAD_TEXT, "that is not UTF-8: a character that is cut", b"a\xc3", "refused")


def say(number: int) -> str:
    """Write a number as a person would: large ones near a power of two by that power."""
    if number < 0:
        return f"-{say(-number)}"
    if number > 0xFFFF:
        for by, sign in ((0, ""), (1, " - 1"), (-1, " + 1")):
            power = (number + by).bit_length() - 1
            if number + by == 1 << power:
                return f"2**{power}{sign}"
    return str(number)
