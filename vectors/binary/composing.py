"""Frames made to order: a plan says what stands at some places, everything else is as plain as the layout allows.

A plan maps paths with indices to what is wanted there: the bytes of a field, the number of items of a list, the message
of a union by name, or the bytes that stand in a union's place. What conditions demand is written by itself: a flag that
announces a field brings the field along.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from vectors.binary.coverage import trace
from vectors.binary.paths import Arrangement, LayoutPlace, alternative, evaluate, join, survey
from wire.layout import (
    Chain,
    Counted,
    Flags,
    Integer,
    Items,
    Limited,
    Nothing,
    Optional,
    Record,
    Remainder,
    Reserved,
    Sized,
    Switch,
    Union,
    Varint,
)
from wire.primitives import vle

Change = bytes | int | str
"""What is wanted at a place."""

Plan = Mapping[str, Change]

PLAIN = 5
"""What a number is when nothing else is wanted: not 0, which often means something."""

MOST = 1 << 14
"""Bytes that are written where a number says how many; a frame that announces more is cut."""

PLAIN_TEXT, PLAIN_BYTE = b"a", b"\xaa"


class Composed(NamedTuple):
    """A frame, and where in it the places are: ``(start, end)`` by path with indices."""

    data: bytes
    spans: dict[str, tuple[int, int]]


def compose(root: LayoutPlace, plan: Plan) -> Composed:
    """Write a frame by a plan."""
    writer = _Writer(plan)
    writer.write(root, "", {})
    return Composed(bytes(writer.out), writer.spans)


LEAVES = (Flags, Varint, Integer, Counted, Sized, Remainder, Nothing, Reserved)


class _Writer:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.out = bytearray()
        self.spans: dict[str, tuple[int, int]] = {}

    def write(self, place: LayoutPlace, where: str, scope: dict[str, Any], default: bytes | None = None) -> Any:
        start = len(self.out)
        value = self.value(place, where, scope, default)
        self.spans[where] = start, len(self.out)
        return value

    def value(self, place: LayoutPlace, where: str, scope: dict[str, Any], default: bytes | None) -> Any:
        part = place.part
        if isinstance(part, LEAVES):
            return self.leaf(place, where, scope, default)
        match part:
            case Optional() | Switch():
                label, _ = alternative(part, scope)
                return None if label == "absent" else self.write(place.under(label), where, scope, default)
            case Record():
                values: dict[str, Any] = {}
                plain = plain_values(place)
                for name, inner in zip(place.labels, place.inner, strict=True):
                    values[name] = self.write(inner, join(where, name), values, plain.get(name))
                return None
            case Union():
                return self.union(place, where)
            case Chain():
                return self.chain(place, where)
            case Items():
                for index in range(self.count(where, 0)):
                    self.write(place.inner[0], f"{where}[{index}]", {})
                return None
            case Limited():
                return self.write(place.inner[0], where, scope)
        raise AssertionError(part)

    def leaf(self, place: LayoutPlace, where: str, scope: dict[str, Any], default: bytes | None) -> Any:
        part = place.part
        data = self.plan.get(where, default)
        if isinstance(part, Sized) and data is not None and len(data) != evaluate(part.count, scope):  # type: ignore[arg-type]
            data = None  # the size was changed: what was planned does not fit any more
        data = plain_bytes(place, scope) if data is None else data
        assert isinstance(data, bytes)
        self.out += data
        return read_number(place, data)

    def union(self, place: LayoutPlace, where: str) -> None:
        chosen = self.plan.get(where, place.labels[0])
        if isinstance(chosen, bytes):
            self.out += chosen
        else:
            self.write(place.under(str(chosen)), join(where, str(chosen)), {})

    def chain(self, place: LayoutPlace, where: str) -> None:
        item = place.inner[0]
        header = item.labels[0]
        flags = item.under(header).part
        assert isinstance(flags, Flags)
        assert isinstance(place.part, Chain)
        more, index, wanted = place.part.mask, 0, self.count(where, 1)
        plain = plain_values(item).get(header, bytes([flags.begins[0]]))
        changed = dict(self.plan)
        self.plan = changed
        goes_on = wanted > 0
        while goes_on:
            at = f"{where}[{index}].{header}"
            planned = changed.get(at, plain)
            assert isinstance(planned, bytes)
            byte = planned[0] | more if index + 1 < wanted else planned[0]
            changed[at] = bytes([byte])
            self.write(item, f"{where}[{index}]", {})
            goes_on, index = bool(byte & more), index + 1

    def count(self, where: str, plain: int) -> int:
        count = self.plan.get(where, plain)
        assert isinstance(count, int)
        return count


def plain_bytes(place: LayoutPlace, scope: Mapping[str, Any]) -> bytes:
    """Return the bytes of a field about which nothing is said."""
    part = place.part
    match part:
        case Flags():
            return bytes([part.begins[0]])
        case Varint():
            return vle(PLAIN)
        case Integer():
            return PLAIN.to_bytes(part.size, "little")
        case Counted():
            return b"\x01" + (PLAIN_TEXT if part.text else PLAIN_BYTE)
        case Sized():
            most = MOST if place.room is None else place.room // 2
            return bytes(index % 255 + 1 for index in range(min(evaluate(part.count, scope), most)))
        case Remainder():
            return PLAIN_TEXT if part.text else PLAIN_BYTE
        case _:
            return b""


def read_number(place: LayoutPlace, data: bytes) -> Any:
    """Return the number or the flags that bytes of a field stand for, for the conditions of later fields."""
    match place.part:
        case Flags():
            return place.table[data[0]]
        case Integer():
            return int.from_bytes(data, "little")
        case Varint():
            return sum((byte & (0xFF if index == 8 else 0x7F)) << 7 * index for index, byte in enumerate(data))
        case _:
            return None


def spell_number(place: LayoutPlace, number: int) -> bytes:
    """Return the bytes of a number or of a byte of flags."""
    match place.part:
        case Flags():
            return bytes([number])
        case Integer(size=size):
            return number.to_bytes(size, "little")
        case _:
            return vle(number)


@cache
def plain_values(record: LayoutPlace) -> dict[str, bytes]:
    """Return the bytes of the fields that conditions look at, in the plainest form of a record."""
    for arrangement in record.arrangements:
        if not reserved(record, arrangement):
            return {
                name: spell_number(leaf(record.under(name)), plainest(leaf(record.under(name)), values))
                for name, values in arrangement.values.items()
            }
    return {}


def plainest(place: LayoutPlace, values: tuple[int, ...]) -> int:
    """Return the value of a field that says the least: no flags, but a number that is not 0."""
    return PLAIN if PLAIN in values and not isinstance(place.part, Flags) else values[0]


def reserved(record: LayoutPlace, arrangement: Arrangement) -> bool:
    """Tell whether an arrangement leads to what the layout keeps free."""
    return any(
        isinstance(chosen(place, choices).part, Reserved)
        for place, choices in zip(record.inner, arrangement.choices, strict=True)
    )


def chosen(place: LayoutPlace, choices: tuple[str, ...]) -> LayoutPlace:
    """Follow choices from a field inwards, up to one that is absent."""
    for label in choices:
        if label != "absent":
            place = place.under(label)
    return place


def leaf(place: LayoutPlace) -> LayoutPlace:
    """Take the conditions off a field, which look at fields of one form only."""
    while isinstance(place.part, Optional):
        place = place.inner[0]
    return place


def demand(record: LayoutPlace, where: str, plan: Plan, index: int, choices: tuple[str, ...]) -> dict[str, Change]:
    """Return a plan with as few changes as possible, in which a field comes out as wanted."""
    best: tuple[int, dict[str, bytes]] | None = None
    plain = plain_values(record)
    for arrangement in record.arrangements:
        if arrangement.choices[index][: len(choices)] != choices:
            continue
        cost, changes = 0, {}
        for name, values in arrangement.values.items():
            field = leaf(record.under(name))
            before = plan.get(join(where, name), plain.get(name, b""))
            assert isinstance(before, bytes)
            old = _number(field, before)
            value = min(values, key=lambda value, old=old: ((value ^ old).bit_count(), value))  # type: ignore[misc]
            cost += (value ^ old).bit_count()
            changes[join(where, name)] = spell_number(field, value)
        if best is None or cost < best[0]:
            best = cost, changes
    if best is None:
        raise LookupError(f"{where}: nothing leads to {', '.join(choices)}")
    return {**plan, **best[1]}


def _number(field: LayoutPlace, data: bytes) -> int:
    return data[0] if isinstance(field.part, Flags) else int(read_number(field, data))


class PlainFrame(NamedTuple):
    """A frame that shows what a plain message looks like: the message's path, and the frame as a plan."""

    path: str
    plan: dict[str, Change]


def plain_frames(layout: str, frames: tuple[str, ...]) -> Iterator[PlainFrame]:
    """Read frames (in hex) as plans. Raises ``ValueError`` for one that the layout refuses."""
    for frame in frames:
        found = trace(survey(layout), bytes.fromhex(frame))
        if found.reason is not None:
            raise ValueError(f"{layout}: the plain frame {frame} is refused: {found.reason.value}")
        data = bytes.fromhex(frame)
        plan: dict[str, Change] = {**found.counts, **found.members}
        path = ""
        for event in found.events:
            if isinstance(event.place.part, Record):
                path = max(path, event.where if event.place.part.name else "", key=len)
            elif event.where not in found.counts:
                plan[event.where] = data[event.start : event.end]
        yield PlainFrame(path, plan)
