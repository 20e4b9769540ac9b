"""The way to every place of a layout: a plan of a frame that has it, as plain as can be.

At the first place of a record everything is tried, at its other places each branch once, and inside another layout
(``paths``) each branch once.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vectors.binary.composing import PlainFrame, demand
from vectors.binary.paths import LayoutPlace, join
from wire.kinds import Part
from wire.kinds.composing import Change

Shown = Mapping[str, tuple[PlainFrame, ...]]
"""Plain frames, by layout."""


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


def targets(root: LayoutPlace, shown: Shown) -> Iterator[SpecimenTarget]:
    """Give a target for every place, outer ones first; plain messages are as ``shown``."""
    return _Routes(shown).visit(SpecimenTarget(root, "", {}, root.layout))


class _Routes:
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
        if part.record_fields is None:
            yield target
            for way in part.ways(place, where, target.plan):
                there = target._replace(place=way.place, where=way.where, plan=way.plan)
                if way.message:
                    there = there._replace(names=(*target.names, way.message), message=way.where)
                yield from self.visit(there)
            return
        if part.message_name:
            shown = plain_plan(self.shown, target.base, target.region, where)
            target = target._replace(plan={**target.plan, **shown})
        # A record that several unions share is walked once; its other places get what looks at the whole of it.
        if id(place) in self.seen:
            yield target._replace(full=False)
            return
        # Equal records at several places are one function in Python and in C: one of them is looked at in full.
        target = target._replace(full=part not in self.records and not place.nested)
        self.seen.add(id(place))
        self.records.add(part)
        yield target
        for index in range(len(place.inner)):
            yield from self.field(target, index)

    def field(self, target: SpecimenTarget, index: int) -> Iterator[SpecimenTarget]:
        """Give a field of a record in each of its forms, and all inside."""
        record = target.place
        there = target._replace(where=join(target.where, record.labels[index]), record=record, position=index)

        def follow(place: LayoutPlace, choices: tuple[str, ...]) -> Iterator[SpecimenTarget]:
            alternatives = place.part.alternatives()
            # The plan so far may lead elsewhere, as the notes show messages with the flags that are usual.
            plan = demand(record, target.where, target.plan, index, choices) if choices else target.plan
            if not alternatives:
                yield from self.visit(there._replace(place=place, plan=plan))
                return
            for label in alternatives:
                if label in place.impossible:
                    continue
                plan = demand(record, target.where, target.plan, index, (*choices, label))
                yield there._replace(place=place, plan=plan)
                if label in place.labels:
                    yield from follow(place.under(label), (*choices, label))

        return follow(record.inner[index], ())


def plain_plan(shown: Shown, base: str, region: str, where: str) -> dict[str, Change]:
    """Return what the notes show of the message at a path, as a plan of the whole frame; nothing if they do not."""
    for frame in shown.get(region, ()):
        if join(base, frame.path) == where:
            return {join(base, path): wanted for path, wanted in frame.plan.items()}
    return {}
