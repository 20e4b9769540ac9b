"""Which branches a layout has, and which of them frames reach: the proof that the golden vectors leave nothing out.

A branch is something that can happen at a place of the layout: a message of a union or a byte that begins none, a
field that is there or not, each length of a number, a text that is no UTF-8, the end of the frame before and within
each field … What cannot happen is not listed, because the layout says so: an ``Optional`` whose condition always
holds, a number of 64 bits that is out of range, more items than fit into a limited frame.

``trace`` reads a frame along the layout, by a reader of its own: the fourth opinion beside the three engines.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec

from vectors.places import Place, alternative, evaluate, join, least, places, survey
from wire.errors import Reason
from wire.layout import (
    Chain,
    Counted,
    Flags,
    Integer,
    Items,
    Limited,
    Nothing,
    Optional,
    Part,
    Record,
    Remainder,
    Reserved,
    Sized,
    Switch,
    Union,
    Varint,
)

MISSING, CUT, COUNT_MISSING, COUNT_CUT = "missing", "cut", "count missing", "count cut"
ZERO, MAXIMUM, OVERLONG, OUT_OF_RANGE = "zero", "maximum", "overlong", "out of range"
EMPTY, ONE_BYTE, MORE_BYTES, LONG_COUNT = "empty", "one byte", "more bytes", "count of several bytes"
BEYOND, NOT_ASCII, BAD_TEXT = "beyond the end", "not ASCII", "bad text"
NONE, ONE, MORE, FULL, TOO_MANY = "none", "one", "more", "full", "too many"
STOPS, END_MISSING = "another byte follows", "end missing"
TOO_LONG, TRAILING, REFUSED, UNKNOWN = "too long", "trailing", "refused", "unknown id"


class Branch(NamedTuple):
    """Something that can happen at a place."""

    path: str
    name: str

    def __str__(self) -> str:
        return f"{self.path or '(frame)'}: {self.name}"


class Event(NamedTuple):
    """Something that was read: the bytes ``[start, end)`` at a place; ``where`` is its path with indices.

    ``names`` are what conditions can ask of it beside its value, where there is more to ask.
    """

    place: Place
    where: str
    start: int
    end: int
    value: Any
    names: Mapping[str, Any] | None = None


class Trace(msgspec.Struct):
    """What came of a frame: its value, or the reason, offset and path of the refusal, and what was met on the way.

    ``events`` are in the order in which their reading ended; ``counts`` and ``members`` have, by path with indices,
    how many items a list has and which message a union; ``refused`` is what conditions can ask of a refusal. ``flags``
    are those that the reader itself knows.
    """

    layout: str
    branches: set[Branch]
    events: list[Event]
    counts: dict[str, int]
    members: dict[str, str]
    value: Any = None
    reason: Reason | None = None
    offset: int = 0
    where: str = ""
    refused: Mapping[str, Any] = {}
    flags: frozenset[str] = frozenset()


class Coverage(msgspec.Struct, frozen=True):
    """How many branches a layout has, and those that no frame reached, in the layout's order."""

    layout: str
    total: int
    unreached: tuple[Branch, ...]

    @property
    def reached(self) -> int:
        """The number of branches that were reached."""
        return self.total - len(self.unreached)


@cache
def branches(layout: str) -> tuple[Branch, ...]:
    """Return the branches of a layout, in its order."""
    return tuple(dict.fromkeys(list_branches(survey(layout))))


def list_branches(root: Place) -> Iterator[Branch]:
    """Give the branches of a place and of all inside it."""
    full: set[Part] = set()
    for place in places(root):
        names = [*_names(place), *([TRAILING] if place.last else [])]
        if isinstance(place.part, Chain | Items):
            # What a list holds at most is a matter of the list, not of its place: one large frame each is enough.
            limits = [] if place.part in full else list(_limits(place))
            full |= {place.part} if limits else set()
            names += limits
        yield from (Branch(place.path, name) for name in names if name not in place.impossible)


def _names(place: Place) -> Iterator[str]:
    part = place.part
    match part:
        case Union():
            yield from ([] if place.known else [MISSING])
            yield from (f"is {label}" for label in place.labels)
            yield from ([UNKNOWN] if None in place.table and not place.sure else [])
        case Optional():
            yield from ("present", "absent")
        case Switch():
            yield from place.labels
        case Integer():
            yield from (ZERO, MAXIMUM, MISSING, *([CUT] if part.size > 1 else []))
        case Varint():
            yield from (ZERO, *(length(count) for count in lengths(part.bits)), MAXIMUM, OVERLONG)
            yield from ([OUT_OF_RANGE] if part.bits < 64 else [])
            yield from (MISSING, CUT)
        case Counted():
            yield from (EMPTY, ONE_BYTE, MORE_BYTES, *([LONG_COUNT] if part.bits > 7 else []), OVERLONG)
            yield from ([OUT_OF_RANGE] if part.bits < 64 else [])
            yield from (COUNT_MISSING, COUNT_CUT, BEYOND, *([NOT_ASCII, BAD_TEXT] if part.text else []))
        case Sized():
            yield from (MISSING, CUT)
        case Remainder():
            yield from (EMPTY, MORE_BYTES, *([NOT_ASCII, BAD_TEXT] if part.text else []))
        case Flags():
            for name in part.names:
                yield from dict.fromkeys(bits(part, name, part.value(byte)[name]) for byte in part.begins)
            yield from ([] if place.known else [MISSING])
        case Reserved():
            yield REFUSED
        case Items():
            yield from (NONE, ONE, MORE, *([] if part.to_end or None not in part.union.begun() else [STOPS]))
        case Chain():
            yield from (ONE, MORE, END_MISSING)
        case Limited():
            yield from ([FULL] if most(part.node) >= part.size else [])
            yield TOO_LONG


def _limits(place: Place) -> Iterator[str]:
    part, room = place.part, place.room
    assert isinstance(part, Chain | Items)
    item = least(part.item if isinstance(part, Chain) else part.union)
    if room is None or room >= part.most * item:
        yield FULL
    if room is None or room >= part.most * item + isinstance(part, Items):
        yield TOO_MANY


def most(part: Part) -> float:
    """Return a number of bytes that a part has at most."""
    match part:
        case Integer():
            return part.size
        case Varint():
            return min((part.bits + 6) // 7, 9)
        case Counted():
            return 9.0 + (1 << part.bits)
        case Flags():
            return 1
        case Record():
            return sum(most(field.node) for field in part.fields)
        case Optional() | Limited():
            return most(part.node)
        case Switch():
            return max(most(each) for each in (*(case for _, case in part.cases), part.default))
        case Union():
            return max(most(message) for message in part.messages)
        case Items():
            return part.most * most(part.union)
        case Chain():
            return part.most * most(part.item)
        case Nothing() | Reserved():
            return 0
        case _:
            return float("inf")


def lengths(bits: int) -> range:
    """Return the numbers of bytes in which a number below ``2**bits`` is spelled."""
    return range(1, min((bits + 6) // 7, 9) + 1)


def length(count: int) -> str:
    """Say how many bytes."""
    return "1 byte" if count == 1 else f"{count} bytes"


def bits(flags: Flags, name: str, value: int) -> str:
    """Say what a group of bits is: each value of one or two bits, else whether it is 0."""
    wide = name == "X" or flags.bit(name).high - flags.bit(name).low > 1
    return f"{name} is not 0" if wide and value else f"{name}={value}"


@cache
def _flag_branches(place: Place, byte: int) -> frozenset[Branch]:
    part = place.part
    assert isinstance(part, Flags)
    return frozenset(Branch(place.path, bits(part, name, value)) for name, value in part.value(byte).items())


class _Refusal(Exception):
    def __init__(self, reason: Reason, offset: int) -> None:
        self.reason, self.offset = reason, offset
        self.where: str | None = None


def trace(root: Place, data: bytes) -> Trace:
    """Read a whole frame along a layout; a refusal is part of what is returned."""
    reader = _Reader(root, data)
    try:
        reader.trace.value = reader.read(root, "", {})
        if reader.at < len(data):
            reader.hit(reader.last or root, TRAILING)
            raise _Refusal(Reason.TRAILING, reader.at)
    except _Refusal as refusal:
        reader.trace.value = None
        reader.trace.reason, reader.trace.offset, reader.trace.where = (
            refusal.reason,
            refusal.offset,
            refusal.where or "",
        )
    return reader.trace


class _Reader:
    """One frame, and how far it has been read."""

    def __init__(self, root: Place, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.last: Place | None = None
        self.trace = Trace(root.layout, set(), [], {}, {})

    def hit(self, place: Place, name: str) -> None:
        self.trace.branches.add(Branch(place.path, name))

    def read(self, place: Place, where: str, scope: dict[str, Any]) -> Any:
        start = self.at
        try:
            value = self.value(place, where, scope)
        except _Refusal as refusal:
            if refusal.where is None:
                refusal.where = where
            raise
        if not isinstance(place.part, Optional | Switch | Limited | Union | Nothing):
            self.trace.events.append(Event(place, where, start, self.at, value))
        if place.last:
            self.last = place
        return value

    def value(self, place: Place, where: str, scope: dict[str, Any]) -> Any:
        part = place.part
        match part:
            case Flags():
                byte = self.take(place, 1)[0]
                self.trace.branches |= _flag_branches(place, byte)
                return place.table[byte]
            case Varint():
                return self.number(place, part.bits, MISSING, CUT)
            case Counted():
                return self.counted(place, part)
            case Record():
                return self.record(place, part, where)
            case Optional() | Switch():
                label, _ = alternative(part, scope)
                self.hit(place, label)
                return None if label == "absent" else self.read(place.under(label), where, scope)
            case Integer():
                number = int.from_bytes(self.take(place, part.size), "little")
                self.edges(place, number, part.size * 8)
                return number
            case Union():
                return self.union(place, where)
            case Chain():
                return self.chain(place, part, where)
            case Items():
                return self.items(place, part, where)
            case Sized():
                return self.take(place, evaluate(part.count, scope))
            case Remainder():
                start, self.at = self.at, len(self.data)
                self.hit(place, MORE_BYTES if self.at > start else EMPTY)
                return self.text(place, self.data[start:], start) if part.text else self.data[start:]
            case Nothing():
                return None
            case Reserved():
                self.hit(place, REFUSED)
                raise _Refusal(Reason.RESERVED, self.at - 1)
            case Limited():
                return self.limited(place, part, where)
        raise AssertionError(part)

    def take(self, place: Place, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        self.at += len(taken)
        if len(taken) < count:
            self.hit(place, CUT if taken else MISSING)
            raise _Refusal(Reason.TRUNCATED, self.at)
        return taken

    def number(self, place: Place, width: int, missing: str, cut: str) -> int:
        start, value, byte = self.at, 0, 0x80
        while byte & 0x80 and self.at - start < 9:
            if self.at == len(self.data):
                self.hit(place, cut if self.at > start else missing)
                raise _Refusal(Reason.TRUNCATED, self.at)
            byte, shift = self.data[self.at], 7 * (self.at - start)
            value |= (byte if shift == 56 else byte & 0x7F) << shift
            self.at += 1
        if value >> width:
            self.hit(place, OUT_OF_RANGE)
            raise _Refusal(Reason.OUT_OF_RANGE, start)
        if byte == 0 and self.at - start > 1:
            self.hit(place, OVERLONG)
        elif missing is MISSING:
            self.hit(place, length(self.at - start))
        if missing is MISSING:
            self.edges(place, value, width)
        return value

    def edges(self, place: Place, value: int, width: int) -> None:
        if value in (0, (1 << width) - 1):
            self.hit(place, MAXIMUM if value else ZERO)

    def counted(self, place: Place, part: Counted) -> bytes | str:
        start = self.at
        count = self.number(place, part.bits, COUNT_MISSING, COUNT_CUT)
        if count > len(self.data) - self.at:
            self.hit(place, BEYOND)
            raise _Refusal(Reason.TRUNCATED, start)
        content = self.take(place, count)
        self.hit(place, (EMPTY, ONE_BYTE)[count] if count < 2 else MORE_BYTES if count < 128 else LONG_COUNT)
        return self.text(place, content, start) if part.text else content

    def text(self, place: Place, content: bytes, start: int) -> str:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            self.hit(place, BAD_TEXT)
            raise _Refusal(Reason.BAD_TEXT, start) from None
        if not text.isascii():
            self.hit(place, NOT_ASCII)
        return text

    def record(self, place: Place, part: Record, where: str) -> dict[str, Any]:
        values: dict[str, Any] = {"type": part.name} if part.name else {}
        for name, inner in zip(place.labels, place.inner, strict=True):
            values[name] = self.read(inner, join(where, name), values)
        return values

    def union(self, place: Place, where: str) -> dict[str, Any]:
        if self.at == len(self.data):
            self.hit(place, MISSING)
            raise _Refusal(Reason.TRUNCATED, self.at)
        index = place.table[self.data[self.at]]
        if index is None:
            self.hit(place, UNKNOWN)
            raise _Refusal(Reason.UNKNOWN_ID, self.at)
        self.hit(place, f"is {place.labels[index]}")
        self.trace.members[where] = place.labels[index]
        value: dict[str, Any] = self.read(place.inner[index], join(where, place.labels[index]), {})
        return value

    def chain(self, place: Place, part: Chain, where: str) -> list[Any]:
        values: list[Any] = []
        more = True
        while more:
            self.room(place, values, part.most)
            if values and self.at == len(self.data):
                self.hit(place, END_MISSING)
            values.append(self.read(place.inner[0], f"{where}[{len(values)}]", {}))
            more = bool(values[-1]["header"]["Z"])
        return self.listed(place, where, values, part.most)

    def items(self, place: Place, part: Items, where: str) -> list[Any]:
        values: list[Any] = []
        while self.at < len(self.data):
            if place.inner[0].sure and place.inner[0].table[self.data[self.at]] is None:
                self.hit(place, STOPS)
                break
            self.room(place, values, part.most)
            values.append(self.read(place.inner[0], f"{where}[{len(values)}]", {}))
        return self.listed(place, where, values, part.most)

    def room(self, place: Place, values: list[Any], most: int) -> None:
        if len(values) == most:
            self.hit(place, TOO_MANY)
            raise _Refusal(Reason.TOO_LONG, self.at)

    def listed(self, place: Place, where: str, values: list[Any], most: int) -> list[Any]:
        self.trace.counts[where] = len(values)
        self.hit(place, (NONE, ONE)[len(values)] if len(values) < 2 else MORE)
        if len(values) == most:
            self.hit(place, FULL)
        return values

    def limited(self, place: Place, part: Limited, where: str) -> Any:
        if len(self.data) > part.size:
            self.hit(place, TOO_LONG)
            raise _Refusal(Reason.TOO_LONG, part.size)
        if len(self.data) == part.size:
            self.hit(place, FULL)
        return self.read(place.inner[0], where, {})
