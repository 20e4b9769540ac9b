"""Frames with something wrong with them, and the name of what is wrong: mutations that know where fields stand.

::

    tree ──► Reading ──► spans of a frame: [(start, end, place, cuts), ...]
                              │
    place ──► mutations: (name, function of the frame, the span and a choice)

The reading is light: it finds the fields and checks nothing that it need not (``mutation.py`` in the folder of each
kind of layout). Of a frame that it cannot read to the end it keeps what it understood, and where that is nothing,
mutations work on bytes.

Names end with the field that they are about, as it is called within its message (``flip header.N``), so that they can
be counted. A name says what was done, not what comes of it: ``flip header.Z`` may well give a valid frame.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

from vectors.kinds import kind_of
from wire.kinds import Limited
from wire.kinds.edits import Below, FieldSpan, Found, put
from wire.layout import Layout


def _delete(frame: bytes, below: Below) -> bytes:
    at = below(len(frame))
    return frame[:at] + frame[at + 1 :]


def _insert(frame: bytes, below: Below) -> bytes:
    at = below(len(frame) + 1)
    return frame[:at] + bytes((below(256),)) + frame[at:]


def _flip_bit(frame: bytes, below: Below) -> bytes:
    at = below(len(frame))
    return put(frame, at, at + 1, bytes((frame[at] ^ 1 << below(8),)))


def _set_byte(frame: bytes, below: Below) -> bytes:
    at = below(len(frame))
    return put(frame, at, at + 1, (b"\0", b"\x01", b"\x7f", b"\x80", b"\xff")[below(5)])


def _cut(frame: bytes, below: Below) -> bytes:
    return frame[: below(len(frame))]


def _repeat(frame: bytes, below: Below) -> bytes:
    start = below(len(frame))
    end = start + 1 + below(min(len(frame) - start, 8))
    return frame[:end] + frame[start:end] * (1 + below(3)) + frame[end:]


def _append(frame: bytes, below: Below) -> bytes:
    return frame + bytes([below(256) for _ in range(1 + below(4))])


_BYTEWISE: tuple[tuple[str, Callable[[bytes, Below], bytes]], ...] = (
    ("append trailing", _append),
    ("insert byte", _insert),
    ("flip bit", _flip_bit),
    ("set byte", _set_byte),
    ("delete byte", _delete),
    ("truncate frame", _cut),
    ("repeat bytes", _repeat),
)
_FOR_EMPTY = 2
"""How many of these an empty frame can have."""

SPLICE = "splice with another frame"
TOO_LONG = "append past the limit"


class Mutations:
    """All mutations of a layout, compiled once; whoever uses them chooses."""

    def __init__(self, layout: Layout) -> None:
        self._reading = kind_of(layout).finder(layout)
        self._limit = layout.root.size if isinstance(layout.root, Limited) else None

    def spans(self, frame: bytes) -> list[FieldSpan]:
        """Return where the fields of a frame stand, inner ones before outer ones, as far as it can be read."""
        return [FieldSpan(start, end, place.path, place.part) for start, end, place, _ in self._reading.found(frame)]

    def once(self, frame: bytes, below: Below, others: Sequence[bytes] = ()) -> tuple[bytes, str]:
        """Return a frame with one mutation, always a different one, and the mutation's name."""
        found = self._reading.found(frame)
        # Some mutations do not fit, or change nothing; after a few tries a byte is appended, which always does.
        for _ in range(8):
            kind = below(32)
            # In 32nds: mostly by fields, which gets deepest; splices and bytes find what the layout does not know of.
            if kind < 26 and found:
                start, end, place, cuts = found[below(len(found))]
                if not place.mutations:
                    continue
                name, change = place.mutations[below(len(place.mutations))]
                mutated = change(frame, start, end, cuts, below)
            elif kind < 28 and others:
                name, mutated = SPLICE, self.splice(frame, found, others[below(len(others))], below)
            # Rare, as such a frame has 64 KB and is slow in every engine.
            elif kind == 28 and self._limit is not None and below(16) == 0:
                name, mutated = TOO_LONG, frame + b"\xff" * (self._limit + 1 - len(frame))
            else:
                name, mutate = _BYTEWISE[below(len(_BYTEWISE) if frame else _FOR_EMPTY)]
                mutated = mutate(frame, below)
            if mutated is not None and mutated != frame:
                return mutated, name
        return _append(frame, below), "append trailing"

    def several(
        self, frame: bytes, number: int, below: Below, others: Sequence[bytes] = ()
    ) -> tuple[bytes, tuple[str, ...]]:
        """Return a frame with so many mutations, always a different one, and their names in order."""
        mutated, names = frame, list[str]()
        while len(names) < number or mutated == frame:  # equal, if one took back the other
            mutated, name = self.once(mutated, below, others)
            names.append(name)
            if name == TOO_LONG:  # what is that long is slow, and refused before it is read
                break
        return mutated, tuple(names)

    def splice(self, frame: bytes, found: Sequence[Found], other: bytes, below: Below) -> bytes:
        """Put a part of another frame into the place of one of the same kind, or else any end behind any beginning."""
        if found and below(4):
            start, end, place, _ = found[below(len(found))]
            same = [each for each in self._reading.found(other) if each[2] is place]
            if same:
                begin, stop, _, _ = same[below(len(same))]
                return put(frame, start, end, other[begin:stop])
        return frame[: below(len(frame) + 1)] + other[below(len(other) + 1) :]


@lru_cache(maxsize=32)  # the layouts of one process; random grammars, as tests make them, are without end
def mutations(layout: Layout) -> Mutations:
    """Return the mutations of a layout; keep them, since finding them takes longer than mutating."""
    return Mutations(layout)


class Mutator:
    """Mutates frames of a layout at random; ``rng`` is asked for nothing but ``random``."""

    def __init__(self, layout: Layout, rng: Random) -> None:
        self._mutations = mutations(layout)
        random = rng.random
        self._below: Below = lambda number: int(random() * number)

    def mutate(self, frame: bytes, others: Sequence[bytes] = ()) -> tuple[bytes, tuple[str, ...]]:
        """Return a frame with one to three mutations, always a different one, and their names in order.

        ``others`` are valid frames to splice it with.
        """
        number = (1, 1, 1, 1, 1, 1, 2, 3)[self._below(8)]
        return self._mutations.several(frame, number, self._below, others)


def mutate(layout: Layout, frame: bytes, rng: Random, others: Sequence[bytes] = ()) -> tuple[bytes, tuple[str, ...]]:
    """Mutate one frame, as ``Mutator.mutate`` does; in loops a ``Mutator`` is much faster."""
    return Mutator(layout, rng).mutate(frame, others)
