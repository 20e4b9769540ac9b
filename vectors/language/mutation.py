"""Mutations of texts of a language: those that it brings itself, on a whole frame and on the parts within it."""

from vectors.language import samples as languages
from vectors.language.samples import samples
from wire.kinds.edits import MAX_FOUND, Found, MutableField, Mutation, put
from wire.kinds.edits import Below as Choice
from wire.layout import Layout


class LanguageFieldFinder:
    """What finds the parts of a text that could stand alone; all of them are of one kind, so they can be exchanged."""

    def __init__(self, layout: Layout) -> None:
        found = samples(layout.name)
        self._parts = found.parts
        self._place = MutableField("", layout.frame, [_within(name, change) for name, change in found.mutations])

    def found(self, frame: bytes) -> list[Found]:
        """Return the parts of a text, inner ones before outer ones; the last is the frame."""
        parts = [part for part in self._parts(frame)[:MAX_FOUND] if part != (0, len(frame))]
        return [(start, end, self._place, ()) for start, end in (*parts, (0, len(frame)))]


def _within(name: str, change: languages.Mutation) -> Mutation:
    """Let a mutation of frames change a part of one."""

    def mutate(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Choice) -> bytes | None:
        piece = change(frame[start:end], below)
        return None if piece is None else put(frame, start, end, piece)

    return name, mutate
