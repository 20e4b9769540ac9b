"""The boundaries of fields in frames that were searched: alone, and two at a time.

A search (``searching``) stops at the first frame that reaches a branch, and a boundary is finer than a branch: each
byte order, each sort of NaN, each group of bits beside full neighbours. So what a kind of node calls its boundaries is
put into the shortest accepted frame that has such a field, and its counts are told.
"""

from collections.abc import Iterator

from vectors.binary.coverage import BranchTrace, ReadPart, trace
from vectors.binary.paths import Arrangement, LayoutPlace, join, places
from vectors.binary.searching import Search, shorter
from vectors.covering_arrays import Factor, Option, covering
from wire.kinds.boundaries import BoundaryBytes
from wire.kinds.composing import short_options

Boundary = tuple[LayoutPlace, BoundaryBytes]
"""A boundary in a frame: the place that is looked at, and the whole frame as its bytes."""


class SearchedBoundaries:
    """The shortest accepted frames that a search found, place by place."""

    def __init__(self, work: Search) -> None:
        self.work = work
        self.known = set(work.found.values())
        self.shortest: dict[int, tuple[bytes, BranchTrace, ReadPart]] = {}
        for data in {*work.kept, *work.found.values()}:
            found = trace(work.root, data)
            for event in found.events if found.reason is None else ():
                # By the place and not its path: which of several values stands there has a boundary of its own.
                which = id(event.place)
                if which not in self.shortest or shorter(data, self.shortest[which][0]):
                    self.shortest[which] = data, found, event

    def frames(self) -> Iterator[Boundary]:
        """Give the frames that no branch asked for, in the layout's order."""
        for place in places(self.work.root):
            if id(place) not in self.shortest:
                continue
            data, found, event = self.shortest[id(place)]
            each = self.pairs if event.place.part.record_fields is not None else self.alone
            for variant in each(data, found, event):
                if variant.data not in self.known:
                    self.known.add(variant.data)
                    yield event.place, variant

    def alone(self, data: bytes, found: BranchTrace, event: ReadPart) -> Iterator[BoundaryBytes]:
        """Give a frame for each boundary of a field."""
        events = [each for each in found.events if each.end > each.start]
        for variant in event.place.part.boundaries(True):
            if variant.cut:
                changed = data[: event.start] + variant.data
            else:
                changed = self.work.spliced(data, events, event, variant.data)
            yield variant._replace(data=changed)

    def pairs(self, data: bytes, found: BranchTrace, event: ReadPart) -> Iterator[BoundaryBytes]:
        """Give a covering array over the fields of a record that decide nothing, each as long as it is."""
        # Where a number decides what follows it, another one is another message: that is for the search.
        by_path = {each.where: each for each in found.events}
        fields = [(name, by_path.get(join(event.where, name))) for name in event.place.labels]
        arrangement = Arrangement(((),) * len(fields), {})
        factors = list[Factor]()
        for index, (name, field) in enumerate(fields):
            if field is None or field.place.controls or field.place.counts:
                continue
            size = field.end - field.start
            short = short_options(field.place.part.boundaries(False), field.where)
            options = tuple(
                Option(f"{name} {words}", index, (), name, None, tuple(plan.items()))
                for words, plan, _ in short
                if len(bytes(plan[field.where])) == size  # type: ignore[arg-type]  # boundaries are bytes
            )
            if options:
                factors.append(Factor(name, options))
        for row in covering([arrangement], factors) if len(factors) > 1 else ():
            changed = data
            for option in row.options:
                ((where, piece),) = option.plan
                assert isinstance(piece, bytes)
                changed = changed[: by_path[where].start] + piece + changed[by_path[where].end :]
            yield BoundaryBytes("pairs", f"with {', '.join(option.label for option in row.options)}", changed, "pairs")
