"""Nouns as bits: ``jam`` writes one down, ``cue`` reads it again.

A noun is an atom (a natural number) or a cell (a pair of nouns); ``[a b c]`` is ``[a [b c]]``. What was written before
is written as the bit at which it began. The document signs tuples (sections "Scry Cancellation Request" and "Scry
Promise"); that they are jammed, as whatever Urbit signs, is the field's (reading A08).
"""

from typing import TypeAlias

Noun: TypeAlias = "int | tuple[Noun, Noun]"
"""An atom, or a cell."""

MOST_BITS = 8 * 2048
"""Of a jammed noun that is read: what a datagram holds, for which Urbit's runtimes have 2048 bytes."""


class BadNoun(ValueError):
    """Bits that are no noun; ``bit`` is where they cease to be one."""

    def __init__(self, bit: int, what: str) -> None:
        super().__init__(f"bit {bit}: {what}")
        self.bit = bit
        self.what = what


def cell(*parts: Noun) -> Noun:
    """Return the noun ``[a b c …]`` of two parts or more, nested to the right."""
    *before, noun = parts
    for part in reversed(before):
        noun = (part, noun)
    return noun


def cord(text: bytes) -> int:
    """Return a text as an atom: its first byte counts least."""
    return int.from_bytes(text, "little")


def jam(noun: Noun) -> bytes:
    """Return a noun as bytes; the lowest bit of the first byte is the first. Raises ``ValueError`` below zero."""
    bits, alike = _Bits(), _numbered(noun)
    places: dict[int, int] = {}
    # A stack and no recursion: how deep a noun is, nobody knows.
    left: list[Noun] = [noun]
    while left:
        noun = left.pop()
        place = places.setdefault(alike[id(noun)], bits.length)
        is_known = place != bits.length
        # An atom that is as short as its place is written out again.
        if is_known and not (isinstance(noun, int) and noun.bit_length() <= place.bit_length()):
            bits.put(0b11, 2)
            bits.put_counted(place)
        elif isinstance(noun, int):
            bits.put(0, 1)
            bits.put_counted(noun)
        else:
            bits.put(0b01, 2)
            left += (noun[1], noun[0])
    return bits.bytes()


def _numbered(noun: Noun) -> dict[int, int]:
    """Return numbers of all parts of a noun by their identity: equal ones have the same, and each is looked at once.

    To compare nouns as tuples would take as long as they are written out, which back references make of any length.
    """
    numbers: dict[tuple[int, ...], int] = {}
    found: dict[int, int] = {}
    left: list[Noun] = [noun]
    while left:
        each = left[-1]
        if isinstance(each, int):
            key: tuple[int, ...] = (each,)
        elif unknown := [part for part in each if id(part) not in found]:
            left += unknown
            continue
        else:
            key = found[id(each[0])], found[id(each[1])]
        found[id(left.pop())] = numbers.setdefault(key, len(numbers))
    return found


def cue(data: bytes) -> Noun:
    """Return the noun that bytes begin with; bits behind it have to be zero. Raises ``BadNoun``."""
    if 8 * len(data) > MOST_BITS:
        raise BadNoun(MOST_BITS, f"more than {MOST_BITS} bits")
    reader = _Reader(data)
    places: dict[int, Noun] = {}
    done: list[Noun] = []
    # What is still to be read, and where the cells begin whose parts have been.
    left: list[int | None] = [None]
    while left:
        began = left.pop()
        if began is not None:
            tail, head = done.pop(), done.pop()
            places[began] = (head, tail)
            done.append(places[began])
            continue
        place = reader.at
        if not reader.take(1):
            places[place] = reader.take_counted()
            done.append(places[place])
        elif not reader.take(1):
            left += (place, None, None)
        else:
            known = reader.take_counted()
            if known not in places:
                raise BadNoun(place, f"nothing begins at bit {known}, to which it refers")
            done.append(places[known])
    if reader.rest:
        raise BadNoun(reader.at, "something follows the noun")
    return done.pop()


class _Bits:
    """Bits that are written, the first of each byte being its lowest."""

    def __init__(self) -> None:
        self.length = 0
        self._parts: list[str] = []

    def put(self, number: int, count: int) -> None:
        """Write the lowest bits of a number, so many of them."""
        if count:  # no bits have no spelling
            self._parts.append(f"{number & (1 << count) - 1:0{count}b}"[::-1])
            self.length += count

    def put_counted(self, number: int) -> None:
        """Write a number behind its own length, and that behind its length in zeros."""
        if number < 0:
            raise ValueError(f"{number} is below zero")
        length = number.bit_length()
        count = length.bit_length()
        self.put(1 << count, count + 1)
        if count:
            self.put(length, count - 1)
            self.put(number, length)

    def bytes(self) -> bytes:
        """Return what was written, filled up with zeros."""
        return int("".join(self._parts)[::-1], 2).to_bytes((self.length + 7) // 8, "little")


class _Reader:
    """Bits that are read."""

    def __init__(self, data: bytes) -> None:
        self._number = int.from_bytes(data, "little")
        self._end = 8 * len(data)
        self.at = 0

    @property
    def rest(self) -> int:
        """What has not been read."""
        return self._number >> self.at

    def take(self, count: int) -> int:
        """Read a number of so many bits."""
        if self.at + count > self._end:
            raise BadNoun(self.at, f"{count} bits, and {self._end - self.at} are left")
        taken = self._number >> self.at & (1 << count) - 1
        self.at += count
        return taken

    def take_counted(self) -> int:
        """Read a number behind its length."""
        began, rest = self.at, self.rest
        if not rest:
            raise BadNoun(began, "a length without end")
        count = (rest & -rest).bit_length() - 1
        self.at += count + 1
        if not count:
            return 0
        length = self.take(count - 1) | 1 << count - 1
        number = self.take(length)
        if number.bit_length() != length:
            raise BadNoun(began, f"a number of {length} bits that has {number.bit_length()}")
        return number
