"""Chains of items that a protocol knows, and that it does not: what its notes say, in frames."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from vectors.binary.composing import compose, reserved
from vectors.binary.paths import LayoutPlace, join
from vectors.binary.targets import SpecimenTarget
from vectors.notes import Shapes, payload_place
from wire.kinds.composing import Change, Looking, before
from wire.primitives import vle


class KnownItems:
    """The items of one chain: ``shapes`` are what the notes of the protocol say of them."""

    def __init__(self, chain: LayoutPlace, shapes: Shapes | None) -> None:
        self.chain = chain
        self.item = chain.inner[0]
        self.first = self.item.labels[0]
        self.header = self.item.inner[0].part
        self.shapes = shapes

    def free(self) -> list[int]:
        """Return the numbers that begin items which nobody knows, and which may be passed over; the last of a chain."""
        able = sorted(
            number
            for each in self.item.arrangements
            if not reserved(self.item, each)
            for number in each.values.get(self.first, tuple(self.header.candidates((), frozenset())))
            if not self.chain.part.goes_on(number)
        )
        shapes = self.shapes
        if shapes is None:
            return able
        taken = {shape[shapes.key] for shape in shapes.named.values()}
        key = self.header.group(shapes.key)
        assert key is not None
        values = [self.header.paired(number)[0] for number in able]
        return [
            number
            # Plain bits first, then the highest key: the least likely to be given a meaning by the next version of a
            # document.
            for number, value in sorted(
                zip(able, values, strict=True), key=lambda pair: (pair[0] & ~key.mask, -pair[1][shapes.key])
            )
            if value[shapes.key] not in taken and not value[shapes.mandatory]
        ]

    def forms(self) -> list[int]:
        """Return one number for each form of an item that is not reserved, unknown if possible."""
        free = self.free()
        found: dict[tuple[tuple[str, ...], ...], int] = {}
        for each in self.item.arrangements:
            these = each.values.get(self.first, ())
            number = next((number for number in free if number in these), None)
            if number is not None:
                found.setdefault(each.choices, number)
        return list(found.values()) or free[:1]


def known_items(looking: Looking, target: SpecimenTarget, shapes: Shapes) -> Iterator[Any]:
    """Give the items that a message knows: alone, in other shapes, twice, and in either order."""
    items = KnownItems(target.place, shapes)
    named = {name: shapes.named[name] for name in shapes.knows.get(target.names[-1] if target.names else "", ())}

    def made(aspect: str, comment: str, *those: tuple[dict[str, int], str]) -> Any:
        plan = target.plan
        for bits, name in reversed(those):
            plan = {**before(plan, target.where), **_planned(items, f"{target.where}[0]", bits, name)}
        return looking.made(target, "chains", aspect, comment, plan)

    for name, bits in named.items():
        yield made("known", f"{name}", (bits, name))
        yield made("duplicate", f"{name} twice", (bits, name), (bits, name))
        for group in bits:
            for value in _values(items, group) if group != shapes.key else ():
                other = {**bits, group: value}
                if other not in named.values():
                    yield made("other shape", f"{name}, but {group}={value}", (other, ""))
    unknown = _unknown(items, shapes)
    for bits in unknown:
        words = " ".join(f"{name}={value}" for name, value in bits.items())
        yield made("unknown", f"unknown: {words}", (bits, ""))
    yield made("duplicate", "an unknown one twice", (unknown[0], ""), (unknown[0], ""))
    everyone = {**named, "an unknown one": unknown[0]}
    for one, two in product(everyone, everyone):
        if one != two:
            yield made("order", f"{one}, then {two}", (everyone[one], one), (everyone[two], two))


def _values(items: KnownItems, name: str) -> range:
    group = items.header.group(name)
    assert group is not None
    return range(group.highest + 1)


def _unknown(items: KnownItems, shapes: Shapes) -> list[dict[str, int]]:
    """Return shapes that nobody knows: the highest free key, in every combination of the other bits."""
    taken = {shape[shapes.key] for shape in shapes.named.values()}
    free = next(value for value in reversed(_values(items, shapes.key)) if value not in taken)
    more = items.chain.part.more_name
    groups = [name for name in items.header.group_names if name not in (more, shapes.key)]
    return [
        {**dict(zip(groups, values, strict=True)), shapes.key: free}
        for values in product(*(_values(items, group) for group in groups))
    ]


def _planned(items: KnownItems, where: str, bits: Mapping[str, int], name: str) -> dict[str, Change]:
    """Return a plan of an item; a known one brings a payload that can be read."""
    groups = {group: items.header.group(group) for group in bits}
    number = sum(bits[name] << group.shift for name, group in groups.items() if group is not None)
    plan: dict[str, Change] = {join(where, items.first): items.header.spelled(number)}
    if items.shapes is not None and name in items.shapes.payloads:
        payload = compose(payload_place(items.shapes.payloads[name].grammar), {}).data
        plan[join(where, items.item.labels[-1])] = vle(len(payload)) + payload
    return plan
