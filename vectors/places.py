"""Where the parts of a layout stand: every place with its path, and what can happen there.

A part that stands at several places of a tree (a chain of extensions, say) is a place at each. The exception is what
has a layout of its own: inside ``zenoh/batch`` the messages are those of ``zenoh/transport-message``, whose vectors
look at every place; here each record is one place, wherever it stands.

Which branches of a record can be reached together is found by trying the values of the fields that its conditions
look at (``Arrangement``): all of them for bits, a choice for larger numbers, and then nothing is called impossible.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from operator import add, and_, eq, ge, gt, le, lshift, lt, mul, ne, or_, rshift, sub, xor
from typing import Any

import msgspec

from wire.catalogue import grammars
from wire.catalogue import layout as find_layout
from wire.errors import WireError
from wire.layout import (
    Chain,
    Const,
    Counted,
    Expr,
    Flags,
    Integer,
    Items,
    Layout,
    Limited,
    Nothing,
    Op,
    Optional,
    Part,
    Record,
    Ref,
    Remainder,
    Reserved,
    Sized,
    Switch,
    Union,
    Varint,
)

Scope = Mapping[str, Any]
"""The values of the fields that stand earlier in a record."""

OPERATORS = {
    "+": add, "-": sub, "*": mul, "&": and_, "|": or_, "^": xor, "<<": lshift, ">>": rshift,
    "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip


class CannotCover(WireError):
    """A part of a layout that vectors cannot be made for; the message names it and its place."""


class Absent(LookupError):
    """A condition looks at a field that is not there."""


class Arrangement(msgspec.Struct, frozen=True):
    """One way in which a record can come out: the choice at each field, and the values that lead there.

    ``choices`` has, field by field, what its conditions say, outermost first (``("present", "case 1")``); ``values``
    the values that a field may have, by its name: whole bytes for flags, numbers for numbers.
    """

    choices: tuple[tuple[str, ...], ...]
    values: dict[str, tuple[int, ...]]


class Place:
    """One place of a layout: a ``part`` at a ``path``, with the places ``inner`` that it is made of, by label.

    ``owner`` is the path of the message that it belongs to ("" outside of any), ``region`` the layout that begins
    here, ``nested`` tells whether that is (or was, further out) another layout than the one looked at. ``known``: the
    first byte is there, or the reader would not have come, and ``sure``: it begins a message. ``last``: a frame ends
    with this message. ``room``: bytes that are left here at most, if the layout limits them. ``controls``: conditions
    look at it. ``impossible``: alternatives that no value leads to. ``table`` has, by the first byte, the value of
    flags, and the index of a union's message.
    """

    __slots__ = (
        "arrangements", "controls", "field", "impossible", "inner", "known", "labels", "last", "layout", "nested",
        "owner", "part", "path", "region", "room", "sure", "table",
    )  # fmt: skip

    def __init__(self, part: Part, path: str, layout: str) -> None:
        self.part, self.path, self.layout = part, path, layout
        self.owner, self.region, self.field = "", "", ""
        self.nested = self.known = self.sure = self.last = self.controls = False
        self.room: int | None = None
        self.inner: tuple[Place, ...] = ()
        self.labels: tuple[str, ...] = ()
        self.impossible: frozenset[str] = frozenset()
        self.arrangements: tuple[Arrangement, ...] = ()
        self.table: list[Any] = []

    def __repr__(self) -> str:
        return f"{type(self.part).__name__} at {self.path or '(frame)'}"

    def under(self, label: str) -> "Place":
        """Return the inner place that has a label."""
        return self.inner[self.labels.index(label)]


def join(path: str, name: str) -> str:
    """Put a name behind a path."""
    return path + name if not path or not name or name.startswith("[") else f"{path}.{name}"


@cache
def survey(layout: str) -> Place:
    """Return the outermost place of a layout."""
    return survey_tree(find_layout(layout), siblings(layout))


def survey_tree(layout: Layout, others: Mapping[Part, str]) -> Place:
    """Return the outermost place of a tree; ``others`` are the parts that have a layout of their own."""
    root = _Survey(layout.name, others).place(layout.root, "", "", False, False, 0, None)
    _mark_last(root)
    return root


def siblings(layout: str) -> dict[Part, str]:
    """Return the parts of other layouts of the same protocol, by what such a layout consists of."""
    protocol = layout.partition("/")[0]
    names = [name for name in grammars() if name.startswith(f"{protocol}/") and name != layout]
    return {inside(find_layout(name).root): name for name in names}


def inside(part: Part) -> Part:
    """Take away the limit around a whole frame."""
    return part.node if isinstance(part, Limited) else part


def places(root: Place) -> Iterator[Place]:
    """Give every place once, outer ones first, in the order of the layout."""
    seen: set[int] = set()

    def visit(place: Place) -> Iterator[Place]:
        if id(place) in seen:
            return
        seen.add(id(place))
        yield place
        for label, inner in zip(place.labels, place.inner, strict=True):
            if label not in place.impossible:
                yield from visit(inner)

    return visit(root)


class _Survey:
    """One walk through a layout."""

    def __init__(self, layout: str, others: Mapping[Part, str]) -> None:
        self.layout = layout
        self.others = others
        self.shared: dict[Part, Place] = {}

    def place(
        self, part: Part, path: str, owner: str, nested: bool, known: bool, before: int, limit: int | None
    ) -> Place:
        region = self.others.get(part, "") if path else ""
        nested = nested or bool(region)
        if nested and isinstance(part, Record) and part in self.shared:
            return self.shared[part]
        place = Place(part, path, self.layout)
        place.owner, place.nested, place.known, place.region = owner, nested, known, region
        place.room = None if limit is None else limit - before

        def inner(each: Part, name: str = "", *, of: str = owner, there: bool = known, skipped: int = 0) -> Place:
            return self.place(each, join(path, name), of, nested, there, before + skipped, limit)

        match part:
            case Record():
                if nested:
                    self.shared[part] = place
                self.record(place, before, limit)
            case Optional():
                place.labels, place.inner = ("present",), (inner(part.node),)
            case Switch():
                place.labels = (*(f"case {value}" for value, _ in part.cases), "default")
                place.inner = tuple(inner(each) for each in (*(case for _, case in part.cases), part.default))
            case Union():
                place.labels, place.table = tuple(message.name for message in part.messages), list(part.begun())
                place.inner = tuple(inner(m, m.name, of=join(path, m.name), there=True) for m in part.messages)
            case Items():
                place.labels, place.inner = ("[]",), (inner(part.union, "[]", there=True),)
                place.inner[0].sure = not part.to_end
            case Chain():
                place.labels, place.inner = ("[]",), (inner(part.item, "[]", there=False),)
            case Limited():
                limit = part.size
                place.labels, place.inner = ("whole",), (inner(part.node),)
            case Flags():
                place.table = [part.value(byte) for byte in range(256)]
            case Integer() | Varint() | Counted() | Sized() | Remainder() | Nothing() | Reserved():
                pass
            case _:
                raise CannotCover(f"{path or '(frame)'}: no vectors are made for {type(part).__name__}")
        return place

    def record(self, place: Place, before: int, limit: int | None) -> None:
        record = place.part
        assert isinstance(record, Record)
        place.labels = tuple(field.name for field in record.fields)
        inner = []
        for index, field in enumerate(record.fields):
            known = index == 0 and bool(record.name)
            each = self.place(field.node, join(place.path, field.name), place.owner, place.nested, known, before, limit)
            each.field = field.name
            inner.append(each)
            before += least(field.node)
        place.inner = tuple(inner)
        place.arrangements, exhaustive = arrangements(record)
        looked_at = _references(record)
        for each in place.inner:
            _mark_controls(each, each.field in looked_at)
        if exhaustive:
            for index, each in enumerate(place.inner):
                _prune(each, {arrangement.choices[index] for arrangement in place.arrangements})


def _mark_controls(place: Place, controls: bool) -> None:
    place.controls = controls
    if isinstance(place.part, Optional):
        _mark_controls(place.inner[0], controls)


def _prune(place: Place, choices: set[tuple[str, ...]]) -> None:
    """Mark the alternatives of a field that no arrangement chooses."""
    if not isinstance(place.part, Optional | Switch):
        return
    alternatives = {"absent", *place.labels} if isinstance(place.part, Optional) else set(place.labels)
    place.impossible = frozenset(alternatives - {choice[0] for choice in choices})
    for label, inner in zip(place.labels, place.inner, strict=True):
        if label not in place.impossible:
            _prune(inner, {choice[1:] for choice in choices if choice[0] == label})


def _mark_last(place: Place) -> None:
    """Mark the messages that a frame can end with, and be too long behind."""
    part = place.part
    if isinstance(part, Limited | Union):
        for inner in place.inner:
            _mark_last(inner)
    elif isinstance(part, Record):
        final = part.fields[-1].node if part.fields else Nothing()
        if isinstance(final, Union):
            _mark_last(place.inner[-1])
        else:
            place.last = not _takes_all(final)
    else:
        place.last = not _takes_all(part)


def _takes_all(part: Part) -> bool:
    return isinstance(part, Remainder) or (isinstance(part, Items) and part.to_end)


def least(part: Part) -> int:
    """Return a number of bytes that a part has at least."""
    match part:
        case Integer():
            return part.size
        case Varint() | Counted() | Flags():
            return 1
        case Record():
            return sum(least(field.node) for field in part.fields)
        case Switch():
            return min(least(each) for each in (*(case for _, case in part.cases), part.default))
        case Union():
            return min(least(message) for message in part.messages)
        case Chain():
            return least(part.item)
        case Limited():
            return least(part.node)
        case _:
            return 0


def evaluate(expression: Expr, scope: Scope) -> int:
    """Return the value of an expression; ``Absent`` when it looks at a field that is not there."""
    match expression:
        case Const():
            return expression.value
        case Ref():
            value = scope[expression.field]
            if value is None:
                raise Absent(expression.field)
            return int(value[expression.bit] if expression.bit else value)
        case Op():
            return int(
                OPERATORS[expression.symbol](evaluate(expression.left, scope), evaluate(expression.right, scope))
            )


def choose(part: Part, scope: Scope) -> tuple[tuple[str, ...], Part]:
    """Follow the conditions of a field: what each says, and the part that is left."""
    choices: tuple[str, ...] = ()
    while isinstance(part, Optional | Switch):
        label, part = alternative(part, scope)
        choices += (label,)
    return choices, part


def alternative(part: Optional | Switch, scope: Scope) -> tuple[str, Part]:
    """Return what one condition says, as its label and the part."""
    if isinstance(part, Optional):
        return ("present", part.node) if evaluate(part.when, scope) else ("absent", Nothing())
    key = evaluate(part.key, scope)
    for value, case in part.cases:
        if value == key:
            return f"case {value}", case
    return "default", part.default


def arrangements(record: Record) -> tuple[tuple[Arrangement, ...], bool]:
    """Return the ways in which a record can come out, and whether there cannot be others."""
    looked_at = _references(record)
    found: dict[Any, Arrangement] = {}
    exhaustive = True

    def go(index: int, scope: dict[str, Any], choices: tuple[tuple[str, ...], ...], values: dict[str, Any]) -> None:
        nonlocal exhaustive
        if index == len(record.fields):
            _remember(found, choices, values)
            return
        field = record.fields[index]
        try:
            choice, part = choose(field.node, scope)
        except Absent:
            return
        following = (*choices, choice)
        if field.name not in looked_at:
            go(index + 1, scope, following, values)
        elif isinstance(part, Flags):
            for bits, these in _projected(part, looked_at[field.name]):
                go(index + 1, {**scope, field.name: bits}, following, {**values, field.name: these})
        elif isinstance(part, Integer | Varint):
            width = part.size * 8 if isinstance(part, Integer) else part.bits
            numbers = _numbers(record, width)
            exhaustive = exhaustive and len(numbers) == 1 << width
            for number in numbers:
                go(index + 1, {**scope, field.name: number}, following, {**values, field.name: number})
        else:
            go(index + 1, {**scope, field.name: None}, following, values)

    go(0, {}, (), {})
    return tuple(found.values()), exhaustive


def _remember(found: dict[Any, Arrangement], choices: tuple[tuple[str, ...], ...], values: dict[str, Any]) -> None:
    """Add what a record comes out by; the numbers that make no difference become one arrangement."""
    flags = {name: these for name, these in values.items() if isinstance(these, tuple)}
    numbers: dict[str, tuple[int, ...]] = {
        name: (number,) for name, number in values.items() if isinstance(number, int)
    }
    key = choices, tuple(flags.items())
    if key in found:
        numbers = {name: tuple(sorted({*found[key].values[name], *these})) for name, these in numbers.items()}
    found[key] = Arrangement(choices, {**flags, **numbers})


def _references(record: Record) -> dict[str, set[str | None]]:
    """Return the fields that the conditions of a record look at, with the bits."""
    found: dict[str, set[str | None]] = {}

    def look(expression: Expr) -> None:
        match expression:
            case Ref():
                found.setdefault(expression.field, set()).add(expression.bit)
            case Op():
                look(expression.left)
                look(expression.right)
            case Const():
                pass

    for field in record.fields:
        for part in _conditions(field.node):
            match part:
                case Optional():
                    look(part.when)
                case Switch():
                    look(part.key)
                case Sized():
                    look(part.count)
    return found


def _conditions(part: Part) -> Iterator[Optional | Switch | Sized]:
    match part:
        case Optional():
            yield part
            yield from _conditions(part.node)
        case Switch():
            yield part
            for each in (*(case for _, case in part.cases), part.default):
                yield from _conditions(each)
        case Sized():
            yield part


def _projected(flags: Flags, bits: set[str | None]) -> list[tuple[dict[str, int], tuple[int, ...]]]:
    """Group the bytes that can stand somewhere by the bits that are looked at."""
    groups: dict[tuple[int, ...], list[int]] = {}
    names = [name for name in flags.names if name in bits]
    for byte in flags.begins:
        value = flags.value(byte)
        groups.setdefault(tuple(value[name] for name in names), []).append(byte)
    return [(dict(zip(names, key, strict=True)), tuple(these)) for key, these in sorted(groups.items())]


def _numbers(record: Record, bits: int) -> list[int]:
    """Return values of a number that the conditions of a record may tell apart: all, if there are few."""
    if bits <= 8:
        return list(range(1 << bits))
    constants = {0}
    for field in record.fields:
        for part in _conditions(field.node):
            if isinstance(part, Switch):
                constants |= {value for value, _ in part.cases}
    near = {number + by for number, by in product(constants, (-1, 0, 1))}
    edges = {edge for power in range(bits + 1) for edge in ((1 << power) - 1, 1 << power, (1 << power) + 1)}
    return sorted(number for number in near | edges | set(range(17)) if 0 <= number < 1 << bits)
