"""Where the parts of a layout stand: every place with its path, and what can happen there.

A part that stands at several places of a tree (a chain of extensions, say) is a place at each. The exception is what
has a layout of its own: inside ``zenoh/batch`` the messages are those of ``zenoh/transport-message``, whose vectors
look at every place; here each record is one place, wherever it stands.

Which branches of a record can be reached together is found by trying the values of the fields that its conditions
look at (``Arrangement``): all of them for bits, a choice for larger numbers, and then nothing is called impossible.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import product
from math import prod
from typing import Any

import msgspec

from vectors.binary.leads import Leads, references
from wire import expressions
from wire.catalogue import grammars
from wire.catalogue import layout as find_layout
from wire.errors import WireError
from wire.expressions import Expr, Ref, compiled
from wire.kinds import Part
from wire.kinds.base import looked_at, together, walk
from wire.kinds.generators import NoGenerator, Numbers
from wire.layout import Layout

Scope = Mapping[str, Any]
"""The values of the fields that stand earlier in a record."""


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


class LayoutPlace:
    """One place of a layout: a ``part`` at a ``path``, with the places ``inner`` that it is made of, by label.

    ``owner`` is the path of the message that it belongs to ("" outside of any), ``region`` the layout that begins
    here, ``nested`` tells whether that is (or was, further out) another layout than the one looked at. ``given``: so
    many bytes are there, or the reader would not have come (``known``: at least one), and ``sure``: the first begins a
    message. ``last``: a frame ends with this message. ``room``: bytes that are left here at most, if the layout limits
    them. ``controls``: conditions look at it, ``counts``: it says how much there is of something. ``impossible``:
    alternatives that no value leads to. ``numbers``: what is computed here can be one of these, if that is known.
    ``table`` has, by the first byte, the value of flags, and the index of a union's message.
    """

    __slots__ = (
        "arrangements", "controls", "counts", "field", "given", "impossible", "inner", "labels", "last", "layout",
        "nested", "numbers", "owner", "part", "path", "region", "room", "sure", "table",
    )  # fmt: skip

    def __init__(self, part: Part, path: str, layout: str) -> None:
        self.part, self.path, self.layout = part, path, layout
        self.owner, self.region, self.field = "", "", ""
        self.nested = self.sure = self.last = self.controls = self.counts = False
        self.given = 0
        self.room: int | None = None
        self.numbers: frozenset[int] | None = None
        self.inner: tuple[LayoutPlace, ...] = ()
        self.labels: tuple[str, ...] = ()
        self.impossible: frozenset[str] = frozenset()
        self.arrangements: tuple[Arrangement, ...] = ()
        self.table: Sequence[Any] = ()

    def __repr__(self) -> str:
        return f"{type(self.part).__name__} at {self.path or '(frame)'}"

    @property
    def known(self) -> bool:
        """Whether the first byte is there, or the reader would not have come."""
        return self.given > 0

    @known.setter
    def known(self, known: bool) -> None:
        self.given = int(known)

    @property
    def holds_value(self) -> bool:
        """Whether the part stands for bytes itself."""
        return self.part.holds_value

    def under(self, label: str) -> "LayoutPlace":
        """Return the inner place that has a label."""
        return self.inner[self.labels.index(label)]


def join(path: str, name: str) -> str:
    """Put a name behind a path."""
    return path + name if not path or not name or name.startswith("[") else f"{path}.{name}"


@cache
def place_tree(layout: str) -> LayoutPlace:
    """Return the outermost place of a layout."""
    return place_tree_of(find_layout(layout), siblings(layout))


def place_tree_of(layout: Layout, others: Mapping[Part, str]) -> LayoutPlace:
    """Return the outermost place of a tree; ``others`` are the parts that have a layout of their own."""
    root = _PlaceTreeBuilder(layout.name, others).place(layout.root, "", "", False, 0, 0, None)
    _mark_last(root)
    return root


def siblings(layout: str) -> dict[Part, str]:
    """Return the parts of other layouts of the same protocol, by what such a layout consists of."""
    protocol = layout.partition("/")[0]
    names = [name for name in grammars() if name.startswith(f"{protocol}/") and name != layout]
    return {find_layout(name).frame: name for name in names}


def places(root: LayoutPlace) -> Iterator[LayoutPlace]:
    """Give every place once, outer ones first, in the order of the layout."""
    seen: set[int] = set()

    def visit(place: LayoutPlace) -> Iterator[LayoutPlace]:
        if id(place) in seen:
            return
        seen.add(id(place))
        yield place
        for label, inner in zip(place.labels, place.inner, strict=True):
            if label not in place.impossible:
                yield from visit(inner)

    return visit(root)


class _PlaceTreeBuilder:
    """One walk through a layout."""

    def __init__(self, layout: str, others: Mapping[Part, str]) -> None:
        self.layout = layout
        self.others = others
        self.shared: dict[Part, LayoutPlace] = {}

    def place(
        self, part: Part, path: str, owner: str, nested: bool, given: int, before: int, limit: int | None
    ) -> LayoutPlace:
        region = self.others.get(part, "") if path else ""
        nested = nested or bool(region)
        # Another layout's messages have vectors of their own, which look at every place; here each is one place, or
        # batches would have ten thousand.
        if nested and part.record_fields is not None and part in self.shared:
            return self.shared[part]
        place = LayoutPlace(part, path, self.layout)
        place.owner, place.nested, place.given, place.region = owner, nested, given, region
        place.room = None if limit is None else limit - before
        place.table = part.by_first_byte()
        if part.record_fields is not None:
            if nested:
                self.shared[part] = place
            self.record(place, part.record_fields, before, limit)
            return place
        if part.frame_limit is not None:
            limit = part.frame_limit
        inside = tuple(part.inside())
        place.labels = tuple(each.label for each in inside)
        inner = []
        for each in inside:
            where = join(path, each.name)
            there = given if each.given is None else each.given
            found = self.place(each.part, where, where if each.is_message else owner, nested, there, before, limit)
            found.sure = each.sure
            inner.append(found)
        place.inner = tuple(inner)
        # Asked here, where the place can be named: what cannot be covered is not found out frame by frame.
        try:
            list(part.branches(place))
        except NoGenerator as error:
            raise CannotCover(f"{path or '(frame)'}: {error}") from None
        return place

    def record(self, place: LayoutPlace, fields: Mapping[str, Part], before: int, limit: int | None) -> None:
        place.labels = tuple(fields)
        inner = []
        given: float = place.given
        for name, part in fields.items():
            there = max(int(given), 0)
            each = self.place(part, join(place.path, name), place.owner, place.nested, there, before, limit)
            each.field = name
            inner.append(each)
            before += part.fewest()
            # At most so many of the bytes that are known to be there are used up; a field without bound leaves none for
            # sure.
            given = max(given - part.most_bytes(), 0)
        place.inner = tuple(inner)
        looked_at = _references(fields)
        parts = [each for part in fields.values() for each in together(part)]
        counting = {ref.field for each in parts if each.announced is not None for ref in looked_into(each.announced)}
        for each in place.inner:
            _mark_controls(each, each.field in looked_at)
            each.counts = each.field in counting
        if can_be_composed(place.part):
            place.arrangements, exhaustive = arrangements(fields)
            if exhaustive:
                for index, each in enumerate(place.inner):
                    _prune(each, {arrangement.choices[index] for arrangement in place.arrangements})
        for each in place.inner:
            _decide(each, fields, chooses=not can_be_composed(place.part))


@lru_cache(maxsize=512)  # as many as the largest layouts have; grammars that are made on the spot are without end
def can_be_composed(part: Part) -> bool:
    """Tell whether frames of a part are composed by a plan; of others they are searched."""
    return all(each.is_composed and _is_led(each.record_fields or {}) for each in walk(part))


def _is_led(fields: Mapping[str, Part]) -> bool:
    """Tell whether whatever conditions look at is a number itself: one of several by a ``Switch`` no plan spells."""
    return all(fields[name].guarded.decides for name in _references(fields))


MOST_DECISIONS = 1 << 17
"""Combinations of numbers that are tried for one field; what they leave open is called possible.

Two fields of two bytes, each with the few hundred numbers that matter, are within it.
"""


def _decide(place: LayoutPlace, fields: Mapping[str, Part], *, chooses: bool) -> None:
    """Find out what the fields that stand earlier can decide about a field, and in it.

    What they count, and if they are asked (``chooses``) between which alternatives they choose.
    """
    names = dict.fromkeys(ref.field for ref in references(place.part))
    # Of a number in another guise, such as one of several by a Switch, it is not known what it can be.
    if not all(fields[name].guarded.decides for name in names):
        return
    leads = {name: Leads(fields, name).candidates({}) for name in names}
    # What is tried for each field is the product of what its numbers can be: three wide ones are beyond patience.
    if prod(len(numbers) for numbers in leads.values()) > MOST_DECISIONS:
        return
    found: dict[int, tuple[LayoutPlace, set[str], set[int]]] = {}

    def follow(each: LayoutPlace, numbers: Numbers) -> None:
        labels, values = found.setdefault(id(each), (each, set(), set()))[1:]
        part = each.part
        if part.decided_by is not None:
            values.add(compiled(part.decided_by, fields)(numbers))
        alternatives = part.alternatives()
        if alternatives:
            label = part.chosen(lambda expr: compiled(expr, fields)(numbers))
            labels.add(label)
            if label in each.labels:
                follow(each.under(label), numbers)
        else:
            for inner in each.inner if part.beside() else ():
                follow(inner, numbers)

    for numbers in product(*leads.values()):
        with suppress(ValueError):  # a shift by a negative number
            follow(place, dict(zip(leads, numbers, strict=True)))
    for each, labels, values in found.values():
        if chooses:
            each.impossible = frozenset(set(each.part.alternatives()) - labels)
        each.numbers = frozenset(values) if each.part.decided_by is not None else None


def looked_into(expr: Expr) -> Iterator[Ref]:
    """Give what an expression looks at."""
    return (term for term in expressions.terms(expr) if isinstance(term, Ref))


def _mark_controls(place: LayoutPlace, controls: bool) -> None:
    place.controls = controls
    if place.part.guard is not None:
        _mark_controls(place.inner[0], controls)


def _prune(place: LayoutPlace, choices: set[tuple[str, ...]]) -> None:
    """Mark the alternatives of a field that no arrangement chooses."""
    alternatives = place.part.alternatives()
    if not alternatives:
        return
    place.impossible = frozenset(set(alternatives) - {choice[0] for choice in choices})
    for label, inner in zip(place.labels, place.inner, strict=True):
        if label not in place.impossible:
            _prune(inner, {choice[1:] for choice in choices if choice[0] == label})


def _mark_last(place: LayoutPlace) -> None:
    """Mark the messages that a frame can end with, and be too long behind."""
    part = place.part
    if part.ends_inside:
        for inner in place.inner:
            _mark_last(inner)
    elif part.record_fields and place.inner[-1].part.ends_inside:
        _mark_last(place.inner[-1])
    elif part.record_fields:
        place.last = not place.inner[-1].part.takes_rest
    else:
        place.last = not part.takes_rest


def evaluate(expression: Expr, scope: Scope) -> int:
    """Return the value of an expression; ``Absent`` when it looks at a field that is not there."""

    def look(ref: Ref) -> int:
        value = scope[ref.field]
        if value is None:
            raise Absent(ref.field)
        return int(value[ref.bit] if ref.bit else value)

    return expressions.evaluate(expression, look)


def choose(part: Part, scope: Scope) -> tuple[tuple[str, ...], Part | None]:
    """Follow the conditions of a field: what each says, and the part that is left; ``None`` if it is absent."""
    choices: tuple[str, ...] = ()
    left: Part | None = part
    while left is not None and left.alternatives():
        label = left.chosen(lambda expr: evaluate(expr, scope))
        left = next((each.part for each in left.inside() if each.label == label), None)
        choices += (label,)
    return choices, left


def arrangements(fields: Mapping[str, Part]) -> tuple[tuple[Arrangement, ...], bool]:
    """Return the ways in which a record of ``fields`` can come out, and whether there cannot be others."""
    looked_at = _references(fields)
    names = [*fields]
    found: dict[Any, Arrangement] = {}
    exhaustive = True

    def go(index: int, scope: dict[str, Any], choices: tuple[tuple[str, ...], ...], values: dict[str, Any]) -> None:
        nonlocal exhaustive
        if index == len(names):
            _remember(found, choices, values)
            return
        name = names[index]
        try:
            choice, part = choose(fields[name], scope)
        except Absent:
            return
        following = (*choices, choice)
        if name not in looked_at:
            go(index + 1, scope, following, values)
        elif part is None or not part.decides:
            go(index + 1, {**scope, name: None}, following, values)
        elif part.has_few or part.group_names:
            projections = _projected(part, name, looked_at[name], fields)
            exhaustive = exhaustive and (part.has_few or len(projections) == _combinations(part, looked_at[name]))
            for bits, these in projections:
                go(index + 1, {**scope, name: bits}, following, {**values, name: these})
        else:
            width = part.number_bits or 0
            numbers = _numbers(fields.values(), width, signed=part.signed)
            exhaustive = exhaustive and len(numbers) == 1 << width + part.signed
            for number in numbers:
                go(index + 1, {**scope, name: number}, following, {**values, name: number})

    go(0, {}, (), {})
    arranged = list(found.values())
    for name, part in fields.items():
        if name in looked_at and part.guarded.group_names and not part.guarded.has_few:
            arranged = _joined(arranged, name)
    return tuple(arranged), exhaustive


def _joined(arranged: Iterable[Arrangement], word: str) -> list[Arrangement]:
    """Join the arrangements that differ in nothing but the numbers of a word: it has too many that say the same."""
    found: dict[Any, Arrangement] = {}
    for each in arranged:
        others = tuple((name, these) for name, these in each.values.items() if name != word)
        before = found.get((each.choices, others))
        if before is not None and word in each.values:
            joined = tuple(sorted({*before.values[word], *each.values[word]}))
            each = Arrangement(each.choices, {**each.values, word: joined})
        found[each.choices, others] = each
    return list(found.values())


def _remember(found: dict[Any, Arrangement], choices: tuple[tuple[str, ...], ...], values: dict[str, Any]) -> None:
    """Add what a record comes out by; the numbers that make no difference become one arrangement."""
    # Flags are not joined: joined with those of another field they would allow what nobody has followed.
    flags = {name: these for name, these in values.items() if isinstance(these, tuple)}
    numbers: dict[str, tuple[int, ...]] = {
        name: (number,) for name, number in values.items() if isinstance(number, int)
    }
    key = choices, tuple(flags.items())
    if key in found:
        numbers = {name: tuple(sorted({*found[key].values[name], *these})) for name, these in numbers.items()}
    found[key] = Arrangement(choices, {**flags, **numbers})


def _references(fields: Mapping[str, Part]) -> dict[str, set[str | None]]:
    """Return the fields that the conditions of a record look at, with the bits."""
    found: dict[str, set[str | None]] = {}
    for part in fields.values():
        for ref in looked_at(part):
            found.setdefault(ref.field, set()).add(ref.bit)
    return found


def _projected(
    part: Part, field: str, bits: set[str | None], fields: Mapping[str, Part]
) -> list[tuple[dict[str, int], tuple[int, ...]]]:
    """Group the integers that can stand somewhere by the bits that are looked at."""
    near = [number for each in fields.values() for inner in together(each) for number in inner.decisions()]
    refs = frozenset(Ref(field, name) for name in bits if name is not None)
    groups: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for number in sorted({*part.candidates(near, refs), *part.numbers_tried}):
        value = part.paired(number)[0]
        groups.setdefault(tuple((name, value[name]) for name in value if name in bits), []).append(number)
    return [(dict(key), tuple(these)) for key, these in sorted(groups.items())]


def _combinations(part: Part, bits: set[str | None]) -> int:
    """Return how many combinations of values some groups of bits can have."""
    return prod(group.highest + 1 for name in bits if name and (group := part.group(name)) is not None)


def _numbers(parts: Iterable[Part], bits: int, *, signed: bool) -> list[int]:
    """Return values of a number that the conditions of a record may tell apart: all, if there are few."""
    least = -(1 << bits) if signed else 0
    if bits <= 8:
        return list(range(least, 1 << bits))
    constants = {0, *(number for part in parts for each in together(part) for number in each.decisions())}
    near = {number + by for number, by in product(constants, (-1, 0, 1))}
    # Every power, as a shift or a length may turn on any of them, and the first numbers, as most cases have these.
    edges = {edge for power in range(bits + 1) for edge in ((1 << power) - 1, 1 << power, (1 << power) + 1)}
    # Below 0 the same by the other sign.
    below = {-number for number in edges | set(range(17))} if signed else set()
    return sorted(number for number in near | edges | below | set(range(17)) if least <= number < 1 << bits)
