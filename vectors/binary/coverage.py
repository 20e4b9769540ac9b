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

from vectors.binary.paths import LayoutPlace, evaluate, place_tree, places
from wire.errors import Reason
from wire.expressions import Expr
from wire.kinds import Part
from wire.kinds.branches import (
    BAD_TEXT,
    CUT,
    FULL,
    MISSING,
    MORE,
    NONE,
    NOT_ASCII,
    NOT_ZERO,
    ONE,
    OUT_OF_RANGE,
    OVERLONG,
    STOPS,
    TOO_MANY,
    TRAILING,
    TracedRefusal,
    length,
)


class Branch(NamedTuple):
    """Something that can happen at a place."""

    path: str
    name: str

    def __str__(self) -> str:
        return f"{self.path or '(frame)'}: {self.name}"


class ReadPart(NamedTuple):
    """Something that was read: the bytes ``[start, end)`` at a place; ``where`` is its path with indices.

    ``names`` are what conditions can ask of it beside its value, where there is more to ask.
    """

    place: LayoutPlace
    where: str
    start: int
    end: int
    value: Any
    names: Mapping[str, Any] | None = None


class BranchTrace(msgspec.Struct):
    """What came of a frame: its value, or the reason, offset and path of the refusal, and what was met on the way.

    ``events`` are in the order in which their reading ended; ``counts`` and ``members`` have, by path with indices,
    how many items a list has and which message a union; ``refused`` is what conditions can ask of a refusal. ``flags``
    are those that the reader itself knows.
    """

    layout: str
    branches: set[Branch]
    events: list[ReadPart]
    counts: dict[str, int]
    members: dict[str, str]
    value: Any = None
    reason: Reason | None = None
    offset: int = 0
    where: str = ""
    refused: Mapping[str, Any] = {}
    flags: frozenset[str] = frozenset()


class BranchCoverage(msgspec.Struct, frozen=True):
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
    return tuple(dict.fromkeys(list_branches(place_tree(layout))))


def list_branches(root: LayoutPlace) -> Iterator[Branch]:
    """Give the branches of a place and of all inside it."""
    full: set[Part] = set()
    for place in places(root):
        names = [*place.part.branches(place), *([TRAILING] if place.last else [])]
        # What a list holds at most is a matter of the list, not of its place: one large frame each is enough.
        limits = [] if place.part in full else list(place.part.limit_branches(place))
        full |= {place.part} if limits else set()
        yield from (Branch(place.path, name) for name in (*names, *limits) if name not in place.impossible)


def trace(root: LayoutPlace, data: bytes) -> BranchTrace:
    """Read a whole frame along a layout; a refusal is part of what is returned."""
    reader = _Reader(root, data)
    try:
        reader.trace.value = reader.read(root, "", {})
        if reader.at < len(data):
            reader.hit(reader.last or root, TRAILING)
            raise TracedRefusal(Reason.TRAILING, reader.at)
    except TracedRefusal as refusal:
        reader.trace.value = None
        reader.trace.reason, reader.trace.offset, reader.trace.where = (
            refusal.reason,
            refusal.offset,
            refusal.where or "",
        )
    return reader.trace


class _Reader:
    """One frame, and how far it has been read: what each kind of node asks (``wire/kinds/branches.py``)."""

    def __init__(self, root: LayoutPlace, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.end = len(data)
        self.last: LayoutPlace | None = None
        self.trace = BranchTrace(root.layout, set(), [], {}, {})

    def hit(self, place: LayoutPlace, *names: str) -> None:
        for name in names:
            self.trace.branches.add(Branch(place.path, name))

    def read(self, place: LayoutPlace, where: str, scope: dict[str, Any]) -> Any:
        start = self.at
        try:
            value = place.part.traced(self, place, where, scope)
        except TracedRefusal as refusal:
            if refusal.where is None:
                refusal.where = where
            raise
        if place.holds_value:
            self.trace.events.append(ReadPart(place, where, start, self.at, value))
        if place.last:
            self.last = place
        return value

    def computed(self, expr: Expr, scope: dict[str, Any]) -> int:
        return evaluate(expr, scope)

    def chosen(self, where: str, label: str) -> None:
        self.trace.members[where] = label

    def counted(self, where: str, count: int) -> None:
        self.trace.counts[where] = count

    def take(self, place: LayoutPlace, count: int) -> bytes:
        taken = self.data[self.at : min(self.at + count, self.end)]
        self.at += len(taken)
        if len(taken) < count:
            self.hit(place, CUT if taken else MISSING)
            raise TracedRefusal(Reason.TRUNCATED, self.at)
        return taken

    def zeros(self, place: LayoutPlace, count: int, missing: str, cut: str) -> None:
        taken = self.data[self.at : min(self.at + count, self.end)]
        if len(taken) < count:
            self.hit(place, cut if taken else missing)
            raise TracedRefusal(Reason.TRUNCATED, self.end)
        wrong = count - len(taken.lstrip(b"\0"))
        if wrong < count:
            self.hit(place, NOT_ZERO)
            raise TracedRefusal(Reason.BAD_VALUE, self.at + wrong)
        self.at += count

    def varint(self, place: LayoutPlace, width: int, missing: str = MISSING, cut: str = CUT) -> int:
        start, value, byte = self.at, 0, 0x80
        # Byte by byte, unlike the engines: a fourth opinion that shares their tricks would share their mistakes.
        while byte & 0x80 and self.at - start < 9:
            if self.at == self.end:
                self.hit(place, cut if self.at > start else missing)
                raise TracedRefusal(Reason.TRUNCATED, self.at)
            byte, shift = self.data[self.at], 7 * (self.at - start)
            value |= (byte if shift == 56 else byte & 0x7F) << shift
            self.at += 1
        if value >> width:
            self.hit(place, OUT_OF_RANGE)
            raise TracedRefusal(Reason.OUT_OF_RANGE, start)
        if byte == 0 and self.at - start > 1:
            self.hit(place, OVERLONG)
        # A count within something longer has names of its own, and its lengths are no branches of that place.
        elif missing is MISSING:
            self.hit(place, length(self.at - start))
        return value

    def text(self, place: LayoutPlace, content: bytes, start: int) -> str:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            self.hit(place, BAD_TEXT)
            raise TracedRefusal(Reason.BAD_TEXT, start) from None
        if not text.isascii():
            self.hit(place, NOT_ASCII)
        return text

    def items(self, place: LayoutPlace, where: str, most: int, count: int | None = None) -> list[Any]:
        values: list[Any] = []
        inner = place.inner[0]
        while self.at < self.end if count is None else len(values) < count:
            # What does not begin an item ends the list without a refusal; whoever stands behind it says what it is.
            if inner.sure and inner.table[self.data[self.at]] is None:
                self.hit(place, STOPS)
                break
            if len(values) == most:
                self.hit(place, TOO_MANY)
                raise TracedRefusal(Reason.TOO_LONG, self.at)
            values.append(self.read(inner, f"{where}[{len(values)}]", {}))
        self.counted(where, len(values))
        self.hit(place, (NONE, ONE)[len(values)] if len(values) < 2 else MORE)
        if len(values) == most:
            self.hit(place, FULL)
        return values
