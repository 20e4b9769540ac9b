"""Choices at random from a seed: the same for the same seed in every Python."""

import math
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from vectors.json import spelling as json
from wire.kinds.generators import Draw, Leaf, Pair, Source
from wire.varints import LONGEST, boundaries, spell, stretch

T = TypeVar("T")

TEXTS = (
    *("", "a", "/", "a/b", "**", "*", "a/*/b", "$*", "a/**/b$*c", "?x=1;y", "#", " ", "\0", "\x7f", "\x80", "\u00e9"),
    *("\u00df\u017f", "\u0663", "\u2028", "\u20ac", "\u65e5\u672c\u8a9e", "\ufeff", "\ufffd", "\uffff", "\ud7ff\ue000"),
    *("\U0001f980", "\U0010ffff", "e\u0301", "\u202etxt", "%s%n", "../..", "a" * 31, "b" * 32, "\u00e9" * 16, "\\\"'"),
)
BLOBS = (
    b"",
    b"\0",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\0\0",
    b"\xff\xff",
    b"\x80" * 9,
    b"\xff" * 16,
    bytes(range(32)),
)
LENGTHS = (63, 64, 126, 127, 127, 127, 128, 128, 128, 129, 254, 255, 255, 255, 256, 256, 256)
GREAT_LENGTHS = (16382, 16383, 16383, 16384, 16384, 16385, 65534, 65535)
"""Bytes of contents that are long, and those that are so long that they have to be rare."""

_PRINTABLE = bytes((33 + byte % 94) for byte in range(256))


class RandomChoices:
    """Choices by a source that is the ``getrandbits`` of a generator: the same for the same seed in every Python.

    ``terse`` keeps everything short; ``overlong`` spells numbers with more bytes than they need, sometimes.
    """

    def __init__(self, *, terse: bool = False, overlong: bool = False) -> None:
        self.terse = terse
        self.overlong = overlong

    def pick(self, options: Sequence[T]) -> Callable[[Source], T]:
        table, size = tuple(options), len(options)
        if size == 1:
            only = table[0]
            return lambda bits: only
        # A power of two takes exactly so many bits, and no division; for others 16 bits are spread over the options,
        # which is even enough for less than some thousand.
        width = size.bit_length() - 1
        if size == 1 << width:
            return lambda bits: table[bits(width)]
        return lambda bits: table[bits(16) * size >> 16]

    def lead(self, groups: Sequence[Sequence[T]]) -> Callable[[Source], T]:
        pick = self.pick([self.pick(group) for group in groups])
        return lambda bits: pick(bits)(bits)

    def more(self, least: int, most: int) -> Callable[[Source, int], bool]:
        if self.terse:
            return lambda bits, so_far: so_far < least or (so_far < most and not bits(3))
        # Mostly up to four items, then few lists go on, but those for long.
        # In 256ths, by how many items there are: a list of 33 goes on with every second one, so that very long ones
        # come too.
        odds = (168, 128, 112, 64, 4, *(224,) * 27, 128)

        def more(bits: Source, so_far: int) -> bool:
            return so_far < least or (so_far < most and bits(8) < odds[min(so_far, 32)])

        return more

    def number(self, bits: int, spelling: Callable[[int], bytes]) -> Leaf:
        near = [(number, spelling(number)) for number in boundaries(bits)]
        if self.terse:
            return self.pick([(number, spelling(number)) for number in range(8)])
        # Stretched to 128 entries, so that one is chosen by 7 bits of the die.
        edges = tuple(near[index * len(near) >> 7] for index in range(128))
        small = tuple((number, spelling(number)) for number in range(128))
        # The number of bits is drawn evenly, and then the number: else nearly all would be of the greatest length.
        widths = tuple(1 + index * bits // 64 for index in range(64))

        def number(source: Source) -> Pair:
            die = source(8)
            if die < 128:
                return edges[die]
            if die < 192:
                return small[source(7)]
            value = source(widths[die & 63])
            return value, spelling(value)

        return self.lengthened(number) if self.overlong and spelling is spell else number

    def lengthened(self, leaf: Leaf) -> Leaf:
        count = self.count()

        def lengthened(source: Source) -> Pair:
            value, _ = leaf(source)
            return value, count(source, value)

        return lengthened

    def count(self) -> Callable[[Source, int], bytes]:
        if not self.overlong:
            return lambda source, number: spell(number)

        def count(source: Source, number: int) -> bytes:
            data = spell(number)
            room = LONGEST - len(data)
            return data if source(2) or not room else stretch(number, len(data) + 1 + (source(8) * room >> 8))

        return count

    def content(self, most: int, text: bool) -> Leaf:
        if self.terse:
            return self.pick(_contents((0, 1, 2), text))
        usual = tuple(pair for pair in (_assorted(text)) if len(pair[1]) <= most)
        usual = tuple(usual[index * len(usual) >> 7] for index in range(128))
        long = self.pick(_contents([length for length in LENGTHS if length <= most] or [most], text))
        great = self.pick(_contents([length for length in GREAT_LENGTHS if length <= most] or [most], text))

        def content(source: Source) -> Pair:
            die = source(8)
            if die < 128:
                return usual[die]
            if die < 252:
                size = min(die & 15, most)
                data = (source(size * 8) if size else 0).to_bytes(size, "little")
                if not text:
                    return data, data
                data = data.translate(_PRINTABLE)
                return data.decode(), data
            return great(source) if not source(6) else long(source)

        return content

    def octets(self) -> Callable[[Source, int], bytes]:
        def octets(source: Source, size: int) -> bytes:
            return (source(size * 8) if size else 0).to_bytes(size, "little")

        return octets

    def item(self, draw: Draw) -> Draw:
        return draw

    def integer(self, least: int, most: int) -> Callable[[Source], int]:
        edges, span = self.pick(json.integers(least, most)), most - least
        nearest = max(least, min(0, most))
        small = self.pick([number for number in range(nearest - 8, nearest + 128) if least <= number <= most])
        if self.terse:
            return small
        width = span.bit_length()
        widths = tuple(1 + index * width // 64 for index in range(64))

        def integer(source: Source) -> int:
            die = source(8)
            if die < 128:
                return edges(source)
            if die < 192:
                return small(source)
            distance: int = source(widths[die & 63])
            return nearest + distance if nearest + distance <= most else most - distance % (span + 1)

        return integer

    def real(self, least: int | None) -> Callable[[Source], float]:
        edges, floor = self.pick(json.reals(least)), -math.inf if least is None else float(least)

        def real(source: Source) -> float:
            if self.terse or source(1):
                return edges(source)
            if source(1):
                number = source(31) / (1 << source(4))
            else:
                (number,) = struct.unpack("<d", source(64).to_bytes(8, "little"))
            number = number if number >= floor else -number
            return number if math.isfinite(number) and number >= floor else edges(source)

        return real

    def letters(self) -> Callable[[Source], str]:
        if self.terse:
            return self.pick(("", "a", "b", "\u00e9"))
        usual, letter = self.pick(json.TEXTS), self.pick(json.ALPHABET)
        long = self.pick([pair[0] for pair in _contents(json.LENGTHS, text=True)])
        great = self.pick([pair[0] for pair in _contents(json.GREAT_LENGTHS, text=True)])

        def letters(source: Source) -> str:
            die = source(8)
            if die < 112:
                return usual(source)
            if die < 252:
                size = die & 15
                if die & 16:
                    return "".join([letter(source) for _ in range(size)])
                data: bytes = (source(size * 8) if size else 0).to_bytes(size, "little")
                return data.translate(_PRINTABLE).decode()
            text: str = great(source) if not source(6) else long(source)
            return text

        return letters


def _assorted(text: bool) -> Sequence[Pair]:
    return [(each, each.encode()) for each in TEXTS] if text else [(each, each) for each in BLOBS]


def _contents(lengths: Sequence[int], text: bool) -> Sequence[Pair]:
    """Return one content of each length; the texts have letters of one, two and three bytes."""
    return [_content(length, text) for length in lengths]


@lru_cache(maxsize=256)  # a field's own would take half a megabyte: all layouts share them, which have few lengths
def _content(length: int, text: bool) -> Pair:
    """Return a content of so many bytes."""
    if not text:
        data = (bytes(range(1, 252)) * (length // 251 + 1))[:length]
        return data, data
    letters = "a\u00e9\u20ac/" * (length // 7) + "abcdefg"[: length % 7]
    return letters, letters.encode()
