"""The frames of golden vectors, derived from a layout: every boundary of every field, and what meets what.

``specimens`` gives the frames of a layout in its order, each with the place that it looks at and the aspect of it.
What comes of a frame is not said here; that is asked of the engines (``golden``). At the first place of a record
everything is tried, at its other places each branch once, and inside another layout (``places``) each branch once.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from vectors.binary.boundaries import BoundaryBytes, combinations, said, say, single, strangers, variants
from vectors.binary.composing import (
    PLAIN,
    Change,
    PlainFrame,
    Plan,
    chosen,
    compose,
    demand,
    leaf,
    plain_frames,
    plainest,
    reserved,
    spell_number,
)
from vectors.binary.coverage import Branch, branches
from vectors.binary.paths import Arrangement, LayoutPlace, can_be_composed, evaluate, join, places, survey
from vectors.binary.searching import search
from vectors.covering_arrays import Factor, Option, covering
from vectors.notes import ProtocolNotes, general, payload_place
from wire.catalogue import layout as find
from wire.kinds import branches as aspects
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
from wire.primitives import vle

FAMILIES = ("values", "flags", "chains", "refused", "cut", "pairs")
"""What the groups of a message are called, behind its name, in this order."""

LONG_CHAIN = 20
LONGEST_SIZED = 64
LARGE = 1 << 14
"""Bytes: the first count that takes three."""

Shown = Mapping[str, tuple[PlainFrame, ...]]
"""Plain frames, by layout."""


class Specimen(NamedTuple):
    """A frame that looks at one place of a layout: at its ``path``, in an ``aspect``, in words: ``comment``.

    ``names`` are the messages that it lies in, outermost first.
    """

    names: tuple[str, ...]
    family: str
    path: str
    aspect: str
    comment: str
    data: bytes

    @property
    def group(self) -> str:
        """The name of the group that the frame belongs to."""
        return "-".join((*(self.names or ("whole",)), self.family)).lower().replace("_", "-")


class SpecimenTarget(NamedTuple):
    """A place, and how to get there: its path with indices, and a plan of a frame that has it.

    ``message`` is the path of the innermost message, ``full`` tells whether everything is to be tried; ``base`` is the
    path where the layout ``region`` begins; a field stands in a ``record``, at a ``position``.
    """

    place: LayoutPlace
    where: str
    plan: dict[str, Change]
    region: str
    names: tuple[str, ...] = ()
    message: str = ""
    full: bool = True
    base: str = ""
    record: LayoutPlace | None = None
    position: int = 0


def specimens(layout: str, about: ProtocolNotes) -> Iterator[Specimen]:
    """Give the frames of a layout, in its order; some may be equal."""
    root = survey(layout)
    if not can_be_composed(root.part):
        for names, family, branch, data in search(find(layout), root):
            yield Specimen(names, family, branch.path, branch.name, str(branch), data)
        return
    shown = {name: tuple(plain_frames(name, frames)) for name, frames in about.plain.items()}
    found = list(_Routes(shown).visit(SpecimenTarget(root, "", {}, layout)))
    maker = _Maker(root, about, shown)
    for target in found:
        yield from maker.look(target)
    yield from maker.limits(found)


class _Routes:
    """The way to every place of a layout."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.seen: set[int] = set()
        self.records: set[Part] = set()

    def visit(self, target: SpecimenTarget) -> Iterator[SpecimenTarget]:
        """Give a target and all inside it."""
        place, where = target.place, target.where
        if place.region:
            target = target._replace(base=where, region=place.region)
        part = place.part
        if isinstance(part, Record):
            if part.name:
                shown = plain_plan(self.shown, target.base, target.region, where)
                target = target._replace(plan={**target.plan, **shown})
            if id(place) in self.seen:
                yield target._replace(full=False)
                return
            target = target._replace(full=part not in self.records and not place.nested)
            self.seen.add(id(place))
            self.records.add(part)
        if not isinstance(part, Nothing):
            yield target
        match part:
            case Record():
                for index in range(len(place.inner)):
                    yield from self.field(target, index)
            case Union():
                for label, inner in zip(place.labels, place.inner, strict=True):
                    path = join(where, label)
                    plan = {**target.plan, where: label}
                    names = (*target.names, label)
                    yield from self.visit(
                        target._replace(place=inner, where=path, plan=plan, names=names, message=path)
                    )
            case Chain():
                plan = before(target.plan, where)
                yield from self.visit(target._replace(place=place.inner[0], where=f"{where}[0]", plan=plan))
            case Items():
                plan = {**target.plan, where: 1}
                yield from self.visit(target._replace(place=place.inner[0], where=f"{where}[0]", plan=plan))
            case Limited():
                yield from self.visit(target._replace(place=place.inner[0]))

    def field(self, target: SpecimenTarget, index: int) -> Iterator[SpecimenTarget]:
        """Give a field of a record in each of its forms, and all inside."""
        record = target.place
        there = target._replace(where=join(target.where, record.labels[index]), record=record, position=index)

        def follow(place: LayoutPlace, choices: tuple[str, ...]) -> Iterator[SpecimenTarget]:
            plan = demand(record, target.where, target.plan, index, choices) if choices else target.plan
            if not isinstance(place.part, Optional | Switch):
                yield from self.visit(there._replace(place=place, plan=plan))
                return
            for label in ("absent", "present") if isinstance(place.part, Optional) else place.labels:
                if label in place.impossible:
                    continue
                plan = demand(record, target.where, target.plan, index, (*choices, label))
                yield there._replace(place=place, plan=plan)
                if label != "absent":
                    yield from follow(place.under(label), (*choices, label))

        return follow(record.inner[index], ())


def plain_plan(shown: Shown, base: str, region: str, where: str) -> dict[str, Change]:
    """Return what the notes show of the message at a path, as a plan of the whole frame; nothing if they do not."""
    for frame in shown.get(region, ()):
        if join(base, frame.path) == where:
            return {join(base, path): wanted for path, wanted in frame.plan.items()}
    return {}


def before(plan: Plan, chain: str) -> dict[str, Change]:
    """Return a plan in which one more item stands before those that a chain has."""
    moved: dict[str, Change] = {}
    for path, wanted in plan.items():
        if path.startswith(f"{chain}["):
            number, _, rest = path[len(chain) + 1 :].partition("]")
            moved[f"{chain}[{int(number) + 1}]{rest}"] = wanted
        else:
            moved[path] = wanted
    there = plan.get(chain, 0)
    assert isinstance(there, int)
    return {**moved, chain: there + 1}


def longer(plan: Plan, chain: LayoutPlace, where: str, headers: Sequence[int]) -> dict[str, Change]:
    """Return a plan with more items in a chain, in front of those that are there; each begins with another byte."""
    found = dict(plan)
    for header in reversed(headers):
        found = {**before(found, where), f"{where}[0].{chain.inner[0].labels[0]}": bytes([header])}
    return found


def changed(plan: Plan, changes: Plan) -> dict[str, Change]:
    """Return a plan with changes; where the number of items of a list is among them, its items are new as well."""
    lists = tuple(f"{path}[" for path, wanted in changes.items() if isinstance(wanted, int))
    kept = {path: wanted for path, wanted in plan.items() if not path.startswith(lists)} if lists else plan
    return {**kept, **changes}


class _Maker:
    """Frames for each target of one layout."""

    def __init__(self, root: LayoutPlace, about: ProtocolNotes, shown: Shown) -> None:
        self.root = root
        self.about = about
        self.shown = shown
        self.large: set[Part] = set()
        paths: dict[str, set[str]] = {}
        for place in places(root):
            if isinstance(place.part, Record) and place.part.name:
                paths.setdefault(place.part.name, set()).add(place.path)
        self.ambiguous = {name for name, found in paths.items() if len(found) > 1}

    def specimen(self, target: SpecimenTarget, family: str, aspect: str, comment: str, data: bytes) -> Specimen:
        """Name what looks at a target."""
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
        """Write the frame of a target, with some changes."""
        data = compose(self.root, changed(target.plan, changes or {})).data
        return self.specimen(target, family, aspect, comment, data)

    def look(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give the frames that look at a target."""
        place, part = target.place, target.place.part
        match part:
            case Flags():
                yield from self.flags(target, part)
            case Union():
                yield from self.union(target, part)
            case Optional() | Switch():
                start, end = compose(self.root, target.plan).spans[target.where]
                yield self.made(target, "flags", "present", "absent" if start == end else "present")
            case Record():
                yield from self.record(target, part)
            case Chain():
                yield from self.chain(target)
            case Items():
                yield from self.items(target, part)
            case Reserved():
                yield self.made(target, "refused", aspects.REFUSED, "in the form that is reserved")
            case Sized():
                yield from self.sized(target, part)
            case Varint() | Integer() | Counted() | Remainder():
                for variant in variants(part, target.full):
                    yield self.varied(target, variant)
                if isinstance(part, Counted) and target.full and part not in self.large:
                    self.large.add(part)
                    yield from self.large_counts(target, part)
        if isinstance(part, Flags | Union | Sized | Varint | Integer | Counted) and not place.known:
            composed = compose(self.root, target.plan)
            data = composed.data[: composed.spans[target.where][0]]
            yield self.specimen(target, "cut", aspects.MISSING, "missing: the frame ends before it", data)

    def varied(self, target: SpecimenTarget, variant: BoundaryBytes) -> Specimen:
        """Write the frame of a target with other bytes in its place."""
        composed = compose(self.root, {**target.plan, target.where: variant.data})
        data = composed.data[: composed.spans[target.where][1]] if variant.cut else composed.data
        return self.specimen(target, variant.family, variant.aspect, variant.comment, data)

    def large_counts(self, target: SpecimenTarget, part: Counted) -> Iterator[Specimen]:
        """Give a count of three bytes, and the highest one if that is not too much."""
        top = (1 << part.bits) - 1
        for count in (LARGE, top) if part.bits == 16 else (LARGE,) if top > LARGE else ():
            if target.place.room is None or count + 64 < target.place.room:
                content = (b"a" if part.text else b"\0") * count
                yield self.varied(target, BoundaryBytes("value", f"of {count} bytes", vle(count) + content))

    def flags(self, target: SpecimenTarget, part: Flags) -> Iterator[Specimen]:
        """Give bytes of flags, with the fields that they demand."""
        composed = compose(self.root, target.plan)
        plain = composed.data[composed.spans[target.where][0]]
        for byte in combinations(part) if target.full else single(part, plain):
            comment = f"0x{byte:02x}: {said(part, byte)}"
            yield self.made(target, "flags", "flags", comment, {target.where: bytes([byte])})

    def union(self, target: SpecimenTarget, part: Union) -> Iterator[Specimen]:
        """Give bytes that begin no message; something follows, for a decoder that takes them for a message."""
        if target.place.sure:
            return
        unknown = strangers(part)
        for byte in unknown if target.full else unknown[:: max(len(unknown) - 1, 1)]:
            comment = f"0x{byte:02x}, which begins no message"
            yield self.made(target, "refused", aspects.UNKNOWN, comment, {target.where: bytes([byte, PLAIN, 0])})

    def record(self, target: SpecimenTarget, part: Record) -> Iterator[Specimen]:
        """Give a message as it is, with everything, with something behind, and with its fields in pairs."""
        if part.name:
            yield self.made(target, "values", "plain", "plain")
            if target.full:
                yield from self.everything(target)
                yield from self.pairs(target)
        if target.place.last:
            data = compose(self.root, self.ended(target)).data
            byte = behind(target.place)
            yield self.specimen(target, "refused", aspects.TRAILING, f"and the byte 0x{byte:02x}", data + bytes([byte]))
            if target.full:
                yield self.specimen(target, "refused", aspects.TRAILING, "and the same frame again", data + data)

    def ended(self, target: SpecimenTarget) -> Plan:
        """Return a plan of a message that does not take all bytes that follow."""
        place = target.place
        last = place.inner[-1] if place.inner else place
        if not any(isinstance(form.part, Remainder) for _, form in forms(last)):
            return target.plan
        for each in place.arrangements:
            if not isinstance(chosen(place.inner[-1], each.choices[-1]).part, Remainder):
                return demand(place, target.where, target.plan, len(place.inner) - 1, each.choices[-1])
        return target.plan

    def everything(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give a frame with all fields of a message, and every beginning of it."""
        place = target.place
        able = [each for each in place.arrangements if not reserved(place, each)]
        fullest = max(able, key=lambda each: sum("absent" not in choice for choice in each.choices))
        composed = compose(self.root, {**target.plan, **arranged(target.where, place, fullest)})
        yield self.specimen(target, "values", "plain", "with all its fields", composed.data)
        for end in range(composed.spans[target.where][0] + 1, len(composed.data)):
            comment = f"with all its fields, cut after {end} of {len(composed.data)} bytes"
            yield self.specimen(target, "cut", aspects.CUT, comment, composed.data[:end])

    def sized(self, target: SpecimenTarget, part: Sized) -> Iterator[Specimen]:
        """Give the longest form of a field whose size stands earlier, and its beginning."""
        record = target.record
        assert record is not None
        where = target.where.removesuffix(f".{target.place.field}")
        sizes = [
            (size, each, numbers)
            for each in record.arrangements
            for size, numbers in sizes_in(record, part, each)
            if 2 <= size <= LONGEST_SIZED
        ]
        if not sizes:
            return
        size, arrangement, numbers = max(sizes, key=lambda found: found[0])
        plan = {**arranged(where, record, arrangement), **{join(where, name): data for name, data in numbers.items()}}
        composed = compose(self.root, {**target.plan, **plan})
        if target.where not in composed.spans:
            return
        yield self.specimen(target, "values", "value", f"of {size} bytes", composed.data)
        data = composed.data[: composed.spans[target.where][0] + 1]
        yield self.specimen(target, "cut", aspects.CUT, f"of {size} bytes, with one", data)

    def chain(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give chains of one item, of more, and without an end."""
        where = target.where
        there = target.plan.get(where, 0)
        assert isinstance(there, int)
        unknown = self.free(target.place)
        for count in (1, 2, 3, LONG_CHAIN) if target.full else (1, 2):
            plan = longer(target.plan, target.place, where, unknown[:count])
            aspect, words = (
                (aspects.MORE, f"with {there + count} items") if there + count > 1 else (aspects.ONE, "with one item")
            )
            yield self.made(target, "chains", aspect, words, plan)
        composed = compose(self.root, {**longer(target.plan, target.place, where, unknown[:1]), where: there + 2})
        data = composed.data[: composed.spans[f"{where}[{there + 1}]"][0]]
        yield self.specimen(target, "cut", aspects.END_MISSING, "announce one more, and the frame ends", data)
        if not target.place.nested and self.about.shapes is not None:
            yield from self.shapes(target)

    def free(self, chain: LayoutPlace) -> list[int]:
        """Return bytes that begin items which nobody knows, and which may be passed over."""
        shapes, item = self.about.shapes, chain.inner[0]
        flags = item.inner[0].part
        assert isinstance(chain.part, Chain)
        assert isinstance(flags, Flags)
        able = sorted(
            byte
            for each in item.arrangements
            if not reserved(item, each)
            for byte in each.values.get(item.labels[0], flags.begins)
            if not byte & chain.part.mask
        )
        if shapes is None:
            return able
        taken = {shape[shapes.key] for shape in shapes.named.values()}
        key = flags.bit(shapes.key)
        values = [flags.value(byte) for byte in able]
        return [
            byte
            for byte, value in sorted(
                zip(able, values, strict=True), key=lambda pair: (pair[0] & ~key.mask, -pair[1][shapes.key])
            )
            if value[shapes.key] not in taken and not value[shapes.mandatory]
        ]

    def shapes(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give the known items of a chain: alone, in other shapes, twice, and in either order."""
        shapes, item = self.about.shapes, target.place.inner[0]
        flags = item.inner[0].part
        assert shapes is not None
        assert isinstance(flags, Flags)
        named = {name: shapes.named[name] for name in shapes.knows.get(target.names[-1] if target.names else "", ())}

        def made(aspect: str, comment: str, *items: tuple[dict[str, int], str]) -> Specimen:
            plan = target.plan
            for bits, name in reversed(items):
                plan = {**before(plan, target.where), **self.item(item, flags, f"{target.where}[0]", bits, name)}
            return self.made(target, "chains", aspect, comment, plan)

        for name, bits in named.items():
            yield made("known", f"{name}", (bits, name))
            yield made("duplicate", f"{name} twice", (bits, name), (bits, name))
            for group in bits:
                bit = flags.bit(group)
                for value in range((bit.mask >> bit.low) + 1) if group != shapes.key else ():
                    other = {**bits, group: value}
                    if other not in named.values():
                        yield made("other shape", f"{name}, but {group}={value}", (other, ""))
        assert isinstance(target.place.part, Chain)
        unknown = self.unknown(flags, target.place.part.more)
        for bits in unknown:
            words = " ".join(f"{name}={value}" for name, value in bits.items())
            yield made("unknown", f"unknown: {words}", (bits, ""))
        yield made("duplicate", "an unknown one twice", (unknown[0], ""), (unknown[0], ""))
        everyone = {**named, "an unknown one": unknown[0]}
        for one, two in product(everyone, everyone):
            if one != two:
                yield made("order", f"{one}, then {two}", (everyone[one], one), (everyone[two], two))

    def unknown(self, flags: Flags, more: str) -> list[dict[str, int]]:
        """Return shapes that nobody knows: the highest free key, in every combination of the other bits."""
        shapes = self.about.shapes
        assert shapes is not None
        taken = {shape[shapes.key] for shape in shapes.named.values()}
        key = flags.bit(shapes.key)
        free = next(value for value in range(key.mask >> key.low, -1, -1) if value not in taken)
        groups = [bit for bit in flags.bits if bit.name not in (more, shapes.key)]
        return [
            {**{bit.name: value for bit, value in zip(groups, values, strict=True)}, shapes.key: free}
            for values in product(*(range((bit.mask >> bit.low) + 1) for bit in groups))
        ]

    def item(
        self, item: LayoutPlace, flags: Flags, where: str, bits: Mapping[str, int], name: str
    ) -> dict[str, Change]:
        """Return a plan of an item of a chain; a known one brings a payload that can be read."""
        byte = sum(value << flags.bit(group).low for group, value in bits.items())
        plan: dict[str, Change] = {join(where, item.labels[0]): bytes([byte])}
        shapes = self.about.shapes
        if shapes is not None and name in shapes.payloads:
            payload = compose(payload_place(shapes.payloads[name].grammar), {}).data
            plan[join(where, item.labels[-1])] = vle(len(payload)) + payload
        return plan

    def items(self, target: SpecimenTarget, part: Items) -> Iterator[Specimen]:
        """Give lists: empty, of one, of two, each message behind each, and with something else behind."""
        where, inner = target.where, target.place.inner[0]
        region = (inner.region, "") if inner.region else (target.region, target.base)

        def message(index: int, label: str) -> dict[str, Change]:
            base = f"{where}[{index}]"
            shown = plain_plan(self.shown, base, region[0], join(base, label)) if inner.region else {}
            return {**shown, base: label}

        for count, aspect in enumerate((aspects.NONE, aspects.ONE, aspects.MORE)):
            yield self.made(target, "chains", aspect, f"with {count} items", {where: count})
        for one, two in product(inner.labels, inner.labels) if target.full else ():
            plan = {**message(0, one), **message(1, two), where: 2}
            yield self.made(target, "chains", aspects.MORE, f"{one}, then {two}", plan)
        if inner.sure:
            composed = compose(self.root, {**target.plan, where: 1})
            end = composed.spans[where][1]
            for byte in strangers(part.union)[: None if target.full else 1]:
                data = composed.data[:end] + bytes([byte]) + composed.data[end:]
                comment = f"and a byte 0x{byte:02x}, which begins none of them"
                yield self.specimen(target, "refused", aspects.STOPS, comment, data)

    def pairs(self, target: SpecimenTarget) -> Iterator[Specimen]:
        """Give a covering array over the fields of a message."""
        place = target.place
        arrangements = [with_flags(place, each) for each in place.arrangements if not reserved(place, each)]
        for row in covering(arrangements, list(self.factors(target))):
            plan: dict[str, Change] = {}
            for name, value in row.values.items():
                plan[join(target.where, name)] = spell_number(leaf(place.under(name)), value)
            for option in row.options:
                plan = changed(plan, dict(option.plan))
            words = ", ".join(option.label for option in row.options if option.label)
            yield self.made(target, "pairs", "pairs", f"with {words}" if words else "plain", plan)

    def factors(self, target: SpecimenTarget) -> Iterator[Factor]:
        """Give what varies in a message: each group of flags, and each form of a field."""
        record = target.place
        for index, (name, outer) in enumerate(zip(record.labels, record.inner, strict=True)):
            for choices, inner in forms(outer):
                if isinstance(inner.part, Flags):
                    yield from flag_factors(name, index, choices, inner.part)
                    continue
                where = join(target.where, name)
                options = tuple(
                    Option(f"{name} {words}", index, choices, name, limits, tuple(plan.items()))
                    for words, plan, limits in self.options(target, inner, where)
                )
                if options:
                    yield Factor(name, options)

    def options(
        self, target: SpecimenTarget, place: LayoutPlace, where: str
    ) -> Iterator[tuple[str, dict[str, Change], frozenset[int] | None]]:
        """Give what a field can be: in words, as a plan, and as a number if conditions look at it."""
        match place.part:
            case Record():
                for label, inner in zip(place.labels, place.inner, strict=True):
                    for words, plan, _ in self.options(target, inner, join(where, label)):
                        yield f"{label} {words}", plan, None
            case Union():
                for label in place.labels:
                    path = join(where, label)
                    shown = plain_plan(self.shown, target.base, target.region, path)
                    inside = {at: wanted for at, wanted in shown.items() if at.startswith(f"{path}.")}
                    yield label, {**inside, where: label}, None
            case Chain():
                item = place.inner[0]
                there = {at: wanted for at, wanted in target.plan.items() if at == where or at.startswith(f"{where}[")}
                if there:
                    yield "as usual", there, None
                for header in self.kinds(place):
                    yield f"{said_header(item, header)}", longer(there, place, where, [header]), None
                yield "two unknown ones", longer(there, place, where, self.free(place)[:2]), None
            case Items():
                for count in range(3):
                    yield f"{count} items", {where: count}, None
            case Varint(bits=bits):
                for number in (0, 127, 128, (1 << bits) - 1):
                    if number < 1 << bits:
                        yield say(number), {where: vle(number)}, frozenset({number}) if place.controls else None
            case Integer(size=size):
                for number in (0, (1 << 8 * size) - 1):
                    plan = {where: number.to_bytes(size, "little")}
                    yield say(number), plan, frozenset({number}) if place.controls else None
            case Counted() | Remainder():
                for variant in variants(place.part, False):
                    if variant.family == "values" and len(variant.data) < 64 and variant.aspect != aspects.OVERLONG:
                        yield variant.comment, {where: variant.data}, None

    def kinds(self, chain: LayoutPlace) -> list[int]:
        """Return one byte for each form of an item that is not reserved, unknown if possible."""
        item, free = chain.inner[0], self.free(chain)
        kinds: dict[tuple[tuple[str, ...], ...], int] = {}
        for each in item.arrangements:
            these = each.values.get(item.labels[0], ())
            byte = next((byte for byte in free if byte in these), None)
            if byte is not None:
                kinds.setdefault(each.choices, byte)
        return list(kinds.values()) or free[:1]

    def limits(self, targets: list[SpecimenTarget]) -> Iterator[Specimen]:
        """Give the frames that are as long as the layout allows, and one longer; lists that are full, and fuller."""
        known = set(branches(self.root.layout))
        for target in targets:
            place, part = target.place, target.place.part
            if isinstance(part, Limited):
                yield from self.limited(target, part, targets)
            elif isinstance(part, Chain | Items):
                for aspect, count in ((aspects.FULL, part.most), (aspects.TOO_MANY, part.most + 1)):
                    if Branch(place.path, aspect) in known:
                        family = "chains" if aspect == aspects.FULL else "refused"
                        yield self.made(target, family, aspect, f"with {count} items", self.many(target, count))

    def many(self, target: SpecimenTarget, count: int) -> dict[str, Change]:
        """Return a plan of a list of many items, as short as can be."""
        if isinstance(target.place.part, Chain):
            return {target.where: count}
        sizes = {
            label: len(compose(self.root, {**target.plan, target.where: 1, f"{target.where}[0]": label}).data)
            for label in target.place.inner[0].labels
        }
        shortest = min(sizes, key=lambda label: sizes[label])
        return {**{f"{target.where}[{index}]": shortest for index in range(count)}, target.where: count}

    def limited(self, target: SpecimenTarget, part: Limited, targets: list[SpecimenTarget]) -> Iterator[Specimen]:
        """Give a frame of the highest size, if one is found, and one of a byte more."""
        full = next((data for each in targets if (data := self.stretched(each, part.size))), None)
        if full is not None:
            yield self.specimen(target, "values", aspects.FULL, f"a frame of {part.size} bytes", full)
        data = (full or b"").ljust(part.size + 1, b"\0")
        yield self.specimen(target, "refused", aspects.TOO_LONG, f"a frame of {part.size + 1} bytes", data)

    def stretched(self, target: SpecimenTarget, size: int) -> bytes | None:
        """Return a frame of a size, made by what stands at a target; ``None`` if that cannot be."""
        plan: dict[str, Change] = {}
        match target.place.part:
            case Remainder():
                frame = len(compose(self.root, {**target.plan, target.where: b""}).data)
                plan = {target.where: bytes(size - frame)}
            case Counted(bits=bits):
                frame = len(compose(self.root, {**target.plan, target.where: b""}).data)
                for spelled in range(1, 10):
                    count = size - frame - spelled
                    if 0 <= count < 1 << bits and len(vle(count)) == spelled:
                        plan = {target.where: vle(count) + bytes(count)}
            case Items(to_end=True) as items if size <= items.most:
                plan = self.many(target, size)
        data = compose(self.root, changed(target.plan, plan)).data if plan else b""
        return data if len(data) == size else None


def behind(place: LayoutPlace) -> int:
    """Return a byte that does not belong to a message any more when it stands behind it."""
    last = leaf(place.inner[-1]) if place.inner else place
    if isinstance(last.part, Items):
        return next(byte for byte in range(256) if last.inner[0].table[byte] is None)
    return 0


def arranged(where: str, record: LayoutPlace, arrangement: Arrangement) -> dict[str, Change]:
    """Return a plan in which a record comes out by an arrangement."""
    return {
        join(where, name): spell_number(leaf(record.under(name)), plainest(leaf(record.under(name)), values))
        for name, values in arrangement.values.items()
    }


def sizes_in(record: LayoutPlace, part: Sized, arrangement: Arrangement) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Give the sizes that a ``Sized`` field can have in an arrangement of its record, with the numbers that say so."""
    names = list(arrangement.values)
    fields = [leaf(record.under(name)) for name in names]
    tried = [
        values[:1] if isinstance(field.part, Flags) else values
        for field, values in zip(fields, arrangement.values.values(), strict=True)
    ]
    for values in product(*tried):
        scope = {
            name: field.table[value] if isinstance(field.part, Flags) else value
            for name, field, value in zip(names, fields, values, strict=True)
        }
        spelled = {name: spell_number(field, value) for name, field, value in zip(names, fields, values, strict=True)}
        yield evaluate(part.count, scope), spelled


def forms(place: LayoutPlace) -> Iterator[tuple[tuple[str, ...], LayoutPlace]]:
    """Give the forms of a field that are not absent or reserved, with the choices that lead to each."""
    if not isinstance(place.part, Optional | Switch):
        if not isinstance(place.part, Nothing | Reserved):
            yield (), place
        return
    for label, inner in zip(place.labels, place.inner, strict=True):
        if label not in place.impossible:
            for choices, form in forms(inner):
                yield (label, *choices), form


def flag_factors(name: str, index: int, choices: tuple[str, ...], part: Flags) -> Iterator[Factor]:
    """Give a factor for each group of bits that can vary; of wide groups 0, 1 and the highest value."""
    for group in part.names:
        values = sorted({part.value(byte)[group] for byte in part.begins})
        few = values if len(values) <= 4 and group != "X" else [values[0], *values[1:2], values[-1]]
        options = []
        for value in dict.fromkeys(few):
            limits = frozenset(byte for byte in part.begins if part.value(byte)[group] == value)
            narrow = group != "X" and part.bit(group).high == part.bit(group).low
            label = "" if not value else group if narrow else f"{group}={value}"
            options.append(Option(label, index, choices, name, limits))
        if len(options) > 1:
            yield Factor(group, tuple(options), flag=True)


def with_flags(record: LayoutPlace, arrangement: Arrangement) -> Arrangement:
    """Return an arrangement that names the bytes of all flags, also of those that no condition looks at."""
    present = {
        name: inner.part.begins
        for name, outer, choices in zip(record.labels, record.inner, arrangement.choices, strict=True)
        for inner in [leaf(outer)]
        if isinstance(inner.part, Flags) and "absent" not in choices
    }
    return Arrangement(arrangement.choices, {**present, **arrangement.values})


def said_header(item: LayoutPlace, byte: int) -> str:
    """Name the bits of the header of an item."""
    flags = item.inner[0].part
    assert isinstance(flags, Flags)
    return said(flags, byte)
