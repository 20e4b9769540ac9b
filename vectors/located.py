"""Where the fields of a frame stand, and what can be done to each: what mutations of every kind of layout share."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from wire.layout import Part

MOST = 1000
"""Items of a list that are looked at; frames that are mostly list are slow, and the others are like the first."""

Below = Callable[[int], int]
"""A choice: a number below the one that is given."""

Change = Callable[[bytes, int, int, tuple[int, ...], Below], bytes | None]
"""A mutation: the frame, start, end and cuts of a span, a choice; ``None`` if there is nothing to do."""

Mutation = tuple[str, Change]


class Place:
    """A field of a layout, wherever it stands: its path within its message, its part, and its mutations."""

    def __init__(self, path: str, part: Part, mutations: Sequence[Mutation]) -> None:
        self.path = path
        self.part = part
        self.mutations = tuple(mutations)


Found = tuple[int, int, Place, tuple[int, ...]]
"""Start, end, place, and the cuts within: where the items of a list begin, the content behind a count, and such."""


class Span(NamedTuple):
    """The bytes ``[start, end)`` of a frame that a ``part`` stands at, with its path within its message."""

    start: int
    end: int
    path: str
    part: Part


class Unreadable(Exception):
    """A frame that ends where its layout does not, or goes on for too long."""


def put(frame: bytes, start: int, end: int, piece: bytes) -> bytes:
    """Put a piece in the place of the bytes ``[start, end)``."""
    return frame[:start] + piece + frame[end:]


def truncate(path: str) -> Mutation:
    """Make the mutation that ends a frame within a field."""

    def truncate(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        return frame[: start + below(end - start)] if end > start else None

    return f"truncate in {path}", truncate


NOT_TEXT = (
    *(b"\xff", b"\x80", b"\xc0\x80", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x9f\xa6"),
    *(b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe0\x80\xaf", b"\xfe"),
)
"""What is not UTF-8: stray and missing continuations, overlong letters, surrogates, letters beyond the last."""


def spoiled(content: bytes, below: Below) -> bytes:
    """Put something that is not UTF-8 before or behind a text."""
    piece = NOT_TEXT[below(len(NOT_TEXT))]
    return content + piece if below(2) else piece + content


def replaced(name: str, options: Sequence[bytes]) -> Mutation:
    """Make a mutation that puts one of some pieces in the place of a field."""

    def replace(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, end, options[below(len(options))])

    return name, replace
