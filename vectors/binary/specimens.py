"""The frames of golden vectors, derived from a layout: every boundary of every field, and what meets what.

``specimens`` gives the frames of a layout in its order, each with the place that it looks at and the aspect of it.
What comes of a frame is not said here; that is asked of the engines (``golden``). Which frames look at a place is said
by its kind of node (``wire/kinds``), those of whole messages here, as a record is what its fields come out as together.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from vectors.binary.composing import arranged, changed, chosen, compose, demand, plain_frames, present, reserved
from vectors.binary.coverage import Branch, branches
from vectors.binary.known_items import KnownItems, known_items
from vectors.binary.pairs import factors, forms, with_flags
from vectors.binary.paths import Arrangement, LayoutPlace, can_be_composed, evaluate, join, place_tree, places
from vectors.binary.searched_boundaries import SearchedBoundaries
from vectors.binary.searching import Search, messages, search
from vectors.binary.targets import Shown, SpecimenTarget, plain_plan, targets
from vectors.covering_arrays import covering
from vectors.notes import ProtocolNotes, general
from vectors.specimen import Specimen
from wire.catalogue import layout as find
from wire.expressions import Expr
from wire.kinds import Part
from wire.kinds import branches as aspects
from wire.kinds.boundaries import BoundaryBytes
from wire.kinds.composing import Change, ComposedFrame, Plan

FAMILIES = ("values", "flags", "chains", "refused", "cut", "pairs")
"""What the groups of a message are called, behind its name, in this order."""


def specimens(layout: str, about: ProtocolNotes) -> Iterator[Specimen]:
    """Give the frames of a layout, in its order; some may be equal."""
    root = place_tree(layout)
    if not can_be_composed(root.part):
        yield from searched(search(find(layout), root))
        return
    shown = {name: tuple(plain_frames(name, frames)) for name, frames in about.plain.items()}
    found = list(targets(root, shown))
    maker = _Maker(root, about, shown)
    for target in found:
        yield from maker.look(target)
    yield from maker.limits(found)


def searched(work: Search) -> Iterator[Specimen]:
    """Give the frames of a layout that no plan composes: one for each branch, and the boundaries of its fields."""
    around = messages(work.root)
    for branch, family, data in work.reached():
        yield Specimen(around[branch.path], family, branch.path, branch.name, str(branch), data)
    for place, found in SearchedBoundaries(work).frames():
        words = f"{place.path} {found.comment}".strip()
        yield Specimen(around[place.path], found.family, place.path, found.aspect, words, found.data)


class _Maker:
    """Frames for each target of one layout: what each kind of node asks (``wire.kinds.composing.Looking``)."""

    def __init__(self, root: LayoutPlace, about: ProtocolNotes, shown: Shown) -> None:
        self.root = root
        self.about = about
        self.plain = shown
        self.asked: set[Part] = set()
        paths: dict[str, set[str]] = {}
        for place in places(root):
            if place.part.message_name:
                paths.setdefault(place.part.message_name, set()).add(place.path)
        self.ambiguous = {name for name, found in paths.items() if len(found) > 1}

    # What kinds ask.

    def compose(self, plan: Plan) -> ComposedFrame:
        return compose(self.root, plan)

    def specimen(self, target: SpecimenTarget, family: str, aspect: str, comment: str, data: bytes) -> Specimen:
        names = target.names
        subject = names[-1] if names else ""
        if subject in self.ambiguous and len(names) > 1:
            subject = f"{subject} in {names[-2]}"
        rest = general(target.where[len(target.message) :]).replace("[]", "").strip(".").replace(".", " ")
        words = ", ".join(part for part in (subject, f"{rest} {comment}".strip()) if part)
        return Specimen(names, family, general(target.where), aspect, words, data)

    def made(
        self, target: SpecimenTarget, family: str, aspect: str, comment: str, changes: Plan | None = None
    ) -> Specimen:
        return self.specimen(target, family, aspect, comment, self.compose(changed(target.plan, changes or {})).data)

    def varied(self, target: SpecimenTarget, variant: BoundaryBytes) -> Specimen:
        frame = self.compose({**target.plan, target.where: variant.data})
        data = frame.data[: frame.spans[target.where][1]] if variant.cut else frame.data
        return self.specimen(target, variant.family, variant.aspect, variant.comment, data)

    def is_first(self, part: Part) -> bool:
        first = part not in self.asked
        self.asked.add(part)
        return first

    def shown(
        self, target: SpecimenTarget, where: str, inside: LayoutPlace | None = None, base: str = ""
    ) -> dict[str, Change]:
        if inside is None:
            return plain_plan(self.plain, target.base, target.region, where)
        return plain_plan(self.plain, base, inside.region, where)

    def longest(self, target: SpecimenTarget, count: Expr, most: int) -> tuple[int, ComposedFrame] | None:
        record = target.record
        assert record is not None
        where = target.where.removesuffix(target.place.field).removesuffix(".")
        sizes = [
            (size, each, numbers)
            for each in record.arrangements
            for size, numbers in sizes_in(record, count, each)
            if 2 <= size <= most
        ]
        if not sizes:
            return None
        size, arrangement, numbers = max(sizes, key=lambda found: found[0])
        plan = {**arranged(record, arrangement), **numbers}
        frame = self.compose({**target.plan, **planned(where, plan)})
        return (size, frame) if target.where in frame.spans else None

    def free_headers(self, chain: LayoutPlace) -> list[int]:
        return KnownItems(chain, self.about.shapes).free()

    def header_forms(self, chain: LayoutPlace) -> list[int]:
        return KnownItems(chain, self.about.shapes).forms()

    def known_items(self, target: SpecimenTarget) -> Iterator[Specimen]:
        if not target.place.nested and self.about.shapes is not None:
            yield from known_items(self, target, self.about.shapes)

    # What is looked at.

    def look(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give the frames that look at a target."""
        place, part = target.place, target.place.part
        if part.alternatives():
            start, end = self.compose(target.plan).spans[target.where]
            yield self.made(target, "flags", "present", "absent" if start == end else "present")
        elif part.record_fields is not None:
            yield from self.record(target)
        else:
            yield from part.specimens(self, target)
            if place.last:
                yield from self.trailing(target, target.plan, 0)
        if part.can_be_missing and not place.known:
            frame = self.compose(target.plan)
            data = frame.data[: frame.spans[target.where][0]]
            yield self.specimen(target, "cut", aspects.MISSING, "missing: the frame ends before it", data)

    def record(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give a message as it is, with everything, with something behind, and with its fields in pairs."""
        # A record without a name is part of the message that it stands in, unless it is the whole frame.
        if target.place.part.message_name or not target.where:
            yield self.made(target, "values", "plain", "plain")
            if target.full:
                yield from self.everything(target)
                yield from self.pairs(target)
        if target.place.last:
            yield from self.trailing(target, self.ended(target), behind(target.place))

    def trailing(self, target: SpecimenTarget, plan: Plan, byte: int) -> Iterator[Specimen]:
        """Give a frame with something behind it."""
        data = self.compose(plan).data
        yield self.specimen(target, "refused", aspects.TRAILING, f"and the byte 0x{byte:02x}", data + bytes([byte]))
        if target.full:
            yield self.specimen(target, "refused", aspects.TRAILING, "and the same frame again", data + data)

    def ended(self, target: SpecimenTarget) -> Plan:
        """Return a plan of a message that does not take all bytes that follow."""
        place = target.place
        last = place.inner[-1] if place.inner else place
        if not any(form.part.takes_rest for _, form in forms(last)):
            return target.plan
        for each in place.arrangements:
            if not chosen(place.inner[-1], each.choices[-1]).part.takes_rest:
                return demand(place, target.where, target.plan, len(place.inner) - 1, each.choices[-1])
        return target.plan

    def everything(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give a frame with all fields of a message, and every beginning of it."""
        place = target.place
        # Of arrangements with as many fields the first, which has the lowest flags: `max` keeps it.
        able = [each for each in place.arrangements if not reserved(place, each)]
        fullest = max(able, key=lambda each: sum("absent" not in choice for choice in each.choices))
        frame = self.compose({**target.plan, **planned(target.where, arranged(place, fullest))})
        yield self.specimen(target, "values", "plain", "with all its fields", frame.data)
        # At every byte, as readers look at the end in as many places; from the message's own first byte on, since what
        # stands before it is cut where its own message is looked at.
        for end in range(frame.spans[target.where][0] + 1, len(frame.data)):
            comment = f"with all its fields, cut after {end} of {len(frame.data)} bytes"
            yield self.specimen(target, "cut", aspects.CUT, comment, frame.data[:end])

    def pairs(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give a covering array over the fields of a message."""
        place = target.place
        arrangements = [with_flags(place, each) for each in place.arrangements if not reserved(place, each)]
        for row in covering(arrangements, list(factors(self, target))):
            plan: dict[str, Change] = {
                join(target.where, name): present(place.under(name)).part.spelled(value)
                for name, value in row.values.items()
            }
            for option in row.options:
                plan = changed(plan, dict(option.plan))
            words = ", ".join(option.label for option in row.options if option.label)
            yield self.made(target, "pairs", "pairs", f"with {words}" if words else "plain", plan)

    def limits(self, found: Sequence[SpecimenTarget]) -> Iterator[Specimen]:
        """Give the frames that are as long as the layout allows, and one longer; lists that are full, and fuller."""
        known = set(branches(self.root.layout))
        for target in found:
            place, part = target.place, target.place.part
            if part.frame_limit is not None:
                yield from self.limited(target, part.frame_limit, found)
            elif part.most_items is not None:
                for aspect, count in ((aspects.FULL, part.most_items), (aspects.TOO_MANY, part.most_items + 1)):
                    if Branch(place.path, aspect) in known:
                        family = "chains" if aspect == aspects.FULL else "refused"
                        plan = part.filled(self, target, count)
                        yield self.made(target, family, aspect, f"with {count} items", plan)

    def limited(self, target: SpecimenTarget, size: int, found: Sequence[SpecimenTarget]) -> Iterator[Specimen]:
        """Give a frame of the highest size, if one is found, and one of a byte more."""
        # Any place that can be made long enough will do: the limit is the frame's, whatever fills it.
        full = next((data for each in found if (data := self.stretched(each, size))), None)
        if full is not None:
            yield self.specimen(target, "values", aspects.FULL, f"a frame of {size} bytes", full)
        # What the byte too many is does not matter: a frame that is too long is refused before it is read.
        data = (full or b"").ljust(size + 1, b"\0")
        yield self.specimen(target, "refused", aspects.TOO_LONG, f"a frame of {size + 1} bytes", data)

    def stretched(self, target: SpecimenTarget, size: int) -> bytes | None:
        """Return a frame of a size, made by what stands at a target; ``None`` if that cannot be."""
        plan = target.place.part.stretched(self, target, size)
        data = self.compose(changed(target.plan, plan)).data if plan else b""
        return data if len(data) == size else None


def behind(place: LayoutPlace) -> int:
    """Return a byte that does not belong to a message any more when it stands behind it."""
    # A chain, or a list without a count, would take a byte that begins one more item.
    taken = present(place.inner[-1]).part.swallows() if place.inner else 0
    return next((byte for byte in range(256) if not taken >> byte & 1), 0)


def planned(where: str, fields: Mapping[str, bytes]) -> dict[str, Change]:
    """Return the bytes of the fields of a record at a path as a plan."""
    return {join(where, name): data for name, data in fields.items()}


def sizes_in(record: LayoutPlace, count: Expr, arrangement: Arrangement) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Give what an expression can be in an arrangement of its record, with the bytes of the fields that say so."""
    parts = {name: present(record.under(name)).part for name in arrangement.values}
    # The bytes of flags that an arrangement has differ in nothing that is looked at, so the first stands for all.
    tried = [values[:1] if parts[name].has_few else values for name, values in arrangement.values.items()]
    for numbers in product(*tried):
        values: dict[str, Any] = {}
        spelled: dict[str, bytes] = {}
        for name, number in zip(parts, numbers, strict=True):
            values[name], spelled[name] = parts[name].paired(number)
        yield evaluate(count, values), spelled
