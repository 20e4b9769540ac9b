"""The frames of golden vectors that are searched, where no plan can compose them: one for each branch of a layout.

Composing (``composing``) writes a frame forwards, from what its conditions demand. Where a count includes what stands
behind it, or a message stands within so many bytes, that is no way; there frames are drawn and changed, a reader says
which branches each reaches (``coverage``), and what reached something new is changed further. The same layout gives
the same frames on any machine; of those that reach a branch the shortest is taken.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random

from vectors.binary.coverage import Branch, BranchTrace, ReadPart, list_branches, trace
from vectors.binary.mutation import BinaryFieldFinder
from vectors.binary.paths import LayoutPlace, places
from vectors.binary.sampling import BinarySampling
from vectors.random_choices import RandomChoices
from wire.errors import Reason
from wire.kinds.generators import Unsatisfiable
from wire.layout import Layout

TRIES = 200_000
"""Frames after which no more are tried: what they leave out is shown as a branch that no vector reaches."""

IDLE = 60_000
"""Frames in a row without anything new after which nothing more is expected."""

STUCK = 5_000
"""Frames in a row without anything new after which every second one is aimed at a branch that is missing."""

LONGEST = 1000
"""Bytes of a frame that is kept: those who are changed grow, and long ones are slow."""

KEPT = 3000
"""Frames that are changed further."""

REMEMBERED = 300
"""Frames whose parts are remembered: the 60 that were kept last are changed most, and some of the others by chance."""


class Search:
    """What was found of a layout so far: the shortest frame for each branch, and what came of it."""

    def __init__(self, layout: Layout, root: LayoutPlace) -> None:
        self.root = root
        self.wanted = dict.fromkeys(list_branches(root))
        self.found: dict[Branch, bytes] = {}
        self.traces: dict[bytes, BranchTrace] = {}
        self.kept: list[bytes] = []
        self.near: dict[str, bytes] = {}
        self.seen: set[frozenset[Branch]] = set()
        self.looked_at: set[bytes] = set()
        # Frames are changed again and again, each time by what stands where in them.
        self.parts = lru_cache(maxsize=REMEMBERED)(self.read_parts)
        # Seeded with a number: what is found is the same everywhere, and belongs to the golden vectors.
        self.rng = Random(0)
        self.finder = BinaryFieldFinder(layout.frame)
        # Plain, terse and overlong frames: what is short is quick to change, what is overlong no mutation comes to by
        # chance.
        self.draws = [
            BinarySampling(RandomChoices(overlong=overlong, terse=terse)).part(layout.frame, {})
            for overlong, terse in ((False, False), (False, True), (True, False))
        ]

    def run(self) -> None:
        """Search until every branch is reached, or nothing more is expected."""
        idle = 0
        for _ in range(TRIES):
            if idle == IDLE or len(self.found) == len(self.wanted):
                return
            if idle == STUCK:
                self.near = self.nearest()
            data = self.aimed() if idle > STUCK and self.near and idle % 2 else self.next()
            idle = 0 if self.look(data) else idle + 1

    def read_parts(self, data: bytes) -> list[ReadPart]:
        """Return the parts of a frame that have bytes."""
        return [event for event in trace(self.root, data).events if event.end > event.start]

    def nearest(self) -> dict[str, bytes]:
        """Return the shortest kept frame that comes to each place with a branch that is missing."""
        missing = {branch.path for branch in self.wanted if branch not in self.found}
        near: dict[str, bytes] = {}
        for data in self.kept:
            for event in trace(self.root, data).events:
                path = event.place.path.removesuffix("[]")
                if path in missing and (path not in near or shorter(data, near[path])):
                    near[path] = data
        return near

    def aimed(self) -> bytes:
        """Return a frame in which what stands at a place with a missing branch is repeated, cut or changed."""
        path = self.rng.choice([*self.near])
        data = self.near[path]
        events = self.parts(data)
        there = [event for event in events if event.place.path in (path, f"{path}[]")]
        # Now and then anything else, as what is missing may depend on a field far from the place.
        if not there or self.rng.random() < 0.2:
            return self.changed(data)
        return self.replaced(data, events, self.rng.choice(there))

    def next(self) -> bytes:
        """Return a frame: a new one, or a kept one changed, more often one of the last that were kept."""
        chance = self.rng.random()
        # A new frame now and then, else one that was kept, mostly of the last: what was just found leads on.
        if not self.kept or chance < 0.15:
            return self.drawn()
        data = self.rng.choice(self.kept[-60:] if chance < 0.6 else self.kept)
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            data = self.changed(data)
        return data

    def drawn(self) -> bytes:
        """Return a new frame."""
        try:
            return self.rng.choice(self.draws)(self.rng.getrandbits, {})[1]
        except Unsatisfiable:
            # Terse frames are too short for what has to fill a number of bytes; the usual ones are of every length.
            return self.draws[0](self.rng.getrandbits, {})[1]

    def changed(self, data: bytes) -> bytes:
        """Change a frame: by a mutation of its fields, a byte, or a part and the numbers that count it."""
        chance = self.rng.random()
        if not data:
            return self.rng.randbytes(1)
        if chance < 0.4:
            return self.mutated(data)
        at = self.rng.randrange(len(data))
        if chance < 0.6:
            byte = data[at] + self.rng.choice((1, -1, 2, -2, 4, 8, -8, 16)) & 0xFF
            return data[:at] + bytes((byte,)) + data[at + 1 :]
        if chance < 0.7:
            return data[:at] + bytes((self.rng.choice((0, 1, 2, 3, 4, 0x80, 0xFF)),)) + data[at + 1 :]
        return self.resized(data)

    def mutated(self, data: bytes) -> bytes:
        """Do to a field what can be done to it, or end the frame somewhere, or let it go on."""
        found = [each for each in self.finder.found(data) if each[2].mutations]
        if not found or self.rng.random() < 0.2:
            end = self.rng.randrange(len(data) + 1)
            return data[:end] if self.rng.random() < 0.7 else data + bytes((self.rng.randrange(256),))
        start, end, field, cuts = self.rng.choice(found)
        _, change = self.rng.choice(field.mutations)
        mutated = change(data, start, end, cuts, lambda below: self.rng.randrange(below))
        return data if mutated is None else mutated

    def resized(self, data: bytes) -> bytes:
        """Repeat or cut a part of a frame, and count that in the numbers before it that say how much there is."""
        events = self.parts(data)
        if not events:
            return data
        return self.replaced(data, events, self.rng.choice(events))

    def replaced(self, data: bytes, events: list[ReadPart], event: ReadPart) -> bytes:
        """Repeat or cut what was read, and count that in the numbers before it."""
        piece = data[event.start : event.end]
        if event.where.endswith("]") and self.rng.random() < 0.7:
            other = piece * self.rng.choice((2, 2, 3, 8, 9, 10))
        else:
            other = piece[: self.rng.randrange(len(piece))]
        # Mostly right, as frames that are accepted lead on; sometimes wrong, as lies about lengths are branches too.
        return self.spliced(data, events, event, other, lambda: self.rng.random() < 0.8)

    def spliced(
        self,
        data: bytes,
        events: list[ReadPart],
        event: ReadPart,
        other: bytes,
        told: Callable[[], bool] = lambda: True,
    ) -> bytes:
        """Put other bytes in the place of what was read, and count that in the numbers before it that are ``told``."""
        more = len(other) - (event.end - event.start)
        out = data[: event.start] + other + data[event.end :]
        # From the last: what is spelled anew may be longer, and moves only what stands behind it.
        for each in reversed(events) if more else ():
            if each.end <= event.start and counts(each, event) and told():
                try:
                    spelled = each.place.part.spelled(each.value + more)
                except (OverflowError, ValueError, IndexError):
                    continue
                out = out[: each.start] + spelled + out[each.end :]
        return out

    def reached(self) -> Iterator[tuple[Branch, str, bytes]]:
        """Give the frame of each branch that was reached, in the layout's order, with the family that it is of."""
        for branch in self.wanted:
            if branch in self.found:
                data = self.found[branch]
                yield branch, family(self.traces[data].reason), data

    def look(self, data: bytes) -> bool:
        """Read a frame; tell whether it reaches something new."""
        # A layout with a limit has branches at that limit, which only its longest frames reach.
        if len(data) > LONGEST and self.root.part.frame_limit is None:
            return False
        # What was read before reaches nothing new: many changes come to the same frame.
        if data in self.looked_at:
            return False
        self.looked_at.add(data)
        read = trace(self.root, data)
        new = [branch for branch in read.branches if branch in self.wanted and branch not in self.found]
        for branch in read.branches:
            if branch in self.wanted and (branch not in self.found or shorter(data, self.found[branch])):
                self.found[branch] = data
                self.traces[data] = read
        reached = frozenset(read.branches)
        # A frame that is accepted and a new combination of branches is worth changing, even if each of them is known.
        if new or (read.reason is None and reached not in self.seen and len(self.kept) < KEPT):
            self.seen.add(reached)
            self.kept.append(data)
        return bool(new)


def counts(event: ReadPart, other: ReadPart) -> bool:
    """Tell whether a part is a number that may say how much another one has: of a record around it."""
    around = event.where.rpartition(".")[0]
    # By the path and not by the offset: a number of another record may stand before it just as well.
    is_around = not around or other.where.startswith((f"{around}.", f"{around}["))
    return is_around and event.place.counts and event.place.part.decides and isinstance(event.value, int)


def shorter(one: bytes, other: bytes) -> bool:
    """Tell whether a frame is to be preferred: the shorter, else that of the smaller bytes."""
    return (len(one), one) < (len(other), other)


def search(layout: Layout, root: LayoutPlace) -> Search:
    """Search a layout, until a frame for each branch is found or nothing more is expected."""
    work = Search(layout, root)
    work.run()
    return work


def family(reason: Reason | None) -> str:
    """Return the family of a frame, by what comes of it."""
    return "values" if reason is None else "cut" if reason is Reason.TRUNCATED else "refused"


def messages(root: LayoutPlace) -> dict[str, tuple[str, ...]]:
    """Return the messages that each place lies in, outermost first, by its path."""
    found: dict[str, tuple[str, ...]] = {}

    def visit(place: LayoutPlace, names: tuple[str, ...]) -> None:
        if place.path and place.owner == place.path:
            names = (*names, place.path.rpartition(".")[2])
        if found.setdefault(place.path, names) == names:
            for inner in place.inner:
                visit(inner, names)

    visit(root, ())
    return {place.path: found[place.path] for place in places(root)}
