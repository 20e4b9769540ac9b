"""Frames made to order: a plan says what stands at some places, everything else is as plain as the layout allows.

What a plan is, and how each kind of node is written by one, stands with the kinds (``wire/kinds/composing.py``). What
conditions demand is written by itself: a flag that announces a field brings the field along.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from vectors.binary.coverage import trace
from vectors.binary.leads import Leads, number_of
from vectors.binary.paths import Arrangement, LayoutPlace, evaluate, join, place_tree
from wire.expressions import Expr
from wire.kinds.boundaries import PLAIN
from wire.kinds.composing import Change, ComposedFrame, Plan
from wire.kinds.generators import AVOIDED, REFUSED


def compose(root: LayoutPlace, plan: Plan) -> ComposedFrame:
    """Write a frame by a plan."""
    composer = _Composer(plan)
    composer.write(root, "", {})
    return ComposedFrame(bytes(composer.out), composer.spans)


class _Composer:
    """One frame that is being written: what each kind of node asks (``wire.kinds.composing.Composing``)."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.out = bytearray()
        self.spans: dict[str, tuple[int, int]] = {}

    def write(self, place: LayoutPlace, where: str, scope: dict[str, Any], default: bytes | None = None) -> Any:
        start = len(self.out)
        value = place.part.composed(self, place, where, scope, default)
        self.spans[where] = start, len(self.out)
        return value

    def put(self, data: bytes) -> None:
        self.out += data

    def computed(self, expr: Expr, scope: dict[str, Any]) -> int:
        return evaluate(expr, scope)

    def count(self, where: str, plain: int) -> int:
        count = self.plan.get(where, plain)
        assert isinstance(count, int)
        return count

    def plain_fields(self, record: LayoutPlace) -> Mapping[str, bytes]:
        return plain_values(record)


@lru_cache(maxsize=512)  # as many as the largest layouts have; grammars that are made on the spot are without end
def plain_values(record: LayoutPlace) -> dict[str, bytes]:
    """Return the bytes of the fields that conditions look at, in the plainest form of a record."""
    # The first, as they are found from the lowest flags on: nothing is set that need not be.
    for arrangement in record.arrangements:
        if not reserved(record, arrangement):
            return arranged(record, arrangement)
    return {}


def arranged(record: LayoutPlace, arrangement: Arrangement) -> dict[str, bytes]:
    """Return the bytes of the fields that conditions look at, plainly, so that a record comes out by an arrangement."""
    fields = {name: present(record.under(name)) for name in arrangement.values}
    return {
        name: field.part.spelled(plainest(record, name, field, arrangement.values[name]))
        for name, field in fields.items()
    }


def plainest(record: LayoutPlace, name: str, place: LayoutPlace, values: tuple[int, ...]) -> int:
    """Return the value of a field that says the least: no flags, but a number that is not 0."""
    if place.part.group_names and not place.part.has_few:
        return plainest_word(record, name, values)
    if PLAIN in values and not place.part.has_few:
        return PLAIN
    return min(values, key=abs)  # of signed numbers the first is the lowest, which is no plain one


def plainest_word(record: LayoutPlace, name: str, values: tuple[int, ...]) -> int:
    """Return the least word of named bits with which a frame can go on, and has something wherever bits count it."""
    leads = Leads(record.part.record_fields or {}, name)

    def plain(number: int) -> tuple[bool, int, int]:
        led = leads.of({name: number})
        # Where it depends on a field that is not known yet (AVOIDED for want of it), the least is as good as any.
        is_open = led not in (REFUSED, AVOIDED)
        return not is_open, -sum(map(bool, led)) if is_open else 0, number

    return min(values, key=plain)


def reserved(record: LayoutPlace, arrangement: Arrangement) -> bool:
    """Tell whether an arrangement leads to what the layout keeps free."""
    return any(
        chosen(place, choices).part.hopeless() for place, choices in zip(record.inner, arrangement.choices, strict=True)
    )


def chosen(place: LayoutPlace, choices: tuple[str, ...]) -> LayoutPlace:
    """Follow choices from a field inwards, up to one that is absent."""
    for label in choices:
        if label != "absent":
            place = place.under(label)
    return place


def present(place: LayoutPlace) -> LayoutPlace:
    """Take the conditions off a field, which look at fields of one form only."""
    while place.part.guard is not None:
        place = place.inner[0]
    return place


def changed(plan: Plan, changes: Plan) -> dict[str, Change]:
    """Return a plan with changes; where the number of items of a list is among them, its items are new as well."""
    lists = tuple(f"{path}[" for path, wanted in changes.items() if isinstance(wanted, int))
    kept = {path: wanted for path, wanted in plan.items() if not path.startswith(lists)} if lists else plan
    return {**kept, **changes}


def demand(record: LayoutPlace, where: str, plan: Plan, index: int, choices: tuple[str, ...]) -> dict[str, Change]:
    """Return a plan with as few changes as possible, in which a field comes out as wanted."""
    best: tuple[int, dict[str, bytes]] | None = None
    plain = plain_values(record)
    for arrangement in record.arrangements:
        if arrangement.choices[index][: len(choices)] != choices:
            continue
        cost, changes = 0, {}
        for name, values in arrangement.values.items():
            part = present(record.under(name)).part
            before = plan.get(join(where, name), plain.get(name, b""))
            assert isinstance(before, bytes)
            old = number_of(part.value_of(before))
            # Bits, not the distance: to set one flag more is little, however much it counts.
            value = min(values, key=lambda value, old=old: ((value ^ old).bit_count(), value))  # type: ignore[misc]
            cost += (value ^ old).bit_count()
            changes[join(where, name)] = part.spelled(value)
        # The first of equals: arrangements come in a fixed order, and so do the golden vectors.
        if best is None or cost < best[0]:
            best = cost, changes
    if best is None:
        raise LookupError(f"{where}: nothing leads to {', '.join(choices)}")
    return {**plan, **best[1]}


class PlainFrame(NamedTuple):
    """A frame that shows what a plain message looks like: the message's path, and the frame as a plan."""

    path: str
    plan: dict[str, Change]


def plain_frames(layout: str, frames: tuple[str, ...]) -> Iterator[PlainFrame]:
    """Read frames (in hex) as plans. Raises ``ValueError`` for one that the layout refuses."""
    for frame in frames:
        found = trace(place_tree(layout), bytes.fromhex(frame))
        if found.reason is not None:
            raise ValueError(f"{layout}: the plain frame {frame} is refused: {found.reason.value}")
        data = bytes.fromhex(frame)
        plan: dict[str, Change] = {**found.counts, **found.members}
        path = ""
        for event in found.events:
            if event.place.part.record_fields is not None:
                # What a frame of the notes shows is its innermost message, which has the longest path.
                path = max(path, event.where if event.place.part.message_name else "", key=len)
            elif event.where not in found.counts:
                plan[event.where] = data[event.start : event.end]
        yield PlainFrame(path, plan)
