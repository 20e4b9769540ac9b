"""What can be done to the bytes of a field: mutations by name, and how the fields of a frame are found for them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from wire.kinds.generators import Numbers

MAX_FOUND = 1000
"""Items of a list that are looked at; frames that are mostly list are slow, and the others are like the first."""

Below = Callable[[int], int]
"""A choice: a number below the one that is given."""

Change = Callable[[bytes, int, int, tuple[int, ...], Below], bytes | None]
"""A mutation: the frame, start, end and cuts of a span, a choice; ``None`` if there is nothing to do."""

Mutation = tuple[str, Change]


class MutableField:
    """A field of a layout, wherever it stands: its path within its message, its part, and its mutations."""

    def __init__(self, path: str, part: object, mutations: Sequence[Mutation]) -> None:
        self.path = path
        self.part = part
        self.mutations = tuple(mutations)


Found = tuple[int, int, MutableField, tuple[int, ...]]
"""Start, end, place, and the cuts within: where the items of a list begin, the content behind a count, and such."""


class FieldSpan(NamedTuple):
    """The bytes ``[start, end)`` of a frame that a ``part`` stands at, with its path within its message."""

    start: int
    end: int
    path: str
    part: object


class UnreadableFrame(Exception):
    """A frame that ends where its layout does not, or goes on for too long."""


Find = Callable[[bytes, int, Numbers, list[Found]], int]
"""Finds what stands in a frame at an offset, after fields with these numbers: adds it to a list, returns its end."""


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


def not_utf8(content: bytes, below: Below) -> bytes:
    """Put something that is not UTF-8 before or behind a text."""
    piece = NOT_TEXT[below(len(NOT_TEXT))]
    return content + piece if below(2) else piece + content


def replaced(name: str, options: Sequence[bytes]) -> Mutation:
    """Make a mutation that puts one of some pieces in the place of a field."""

    def replace(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, end, options[below(len(options))])

    return name, replace


def spoiled_text(path: str) -> Mutation:
    """Make the mutation that puts what is not UTF-8 into a text."""

    def spoil(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, end, not_utf8(frame[start:end], below))

    return f"not UTF-8 in {path}", spoil


def spoiled_within(path: str) -> Mutation:
    """Make the mutation that puts a byte that is not UTF-8 in the place of one of a text whose size is announced."""

    def spoil(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        if start == end:
            return None
        at = start + below(end - start)
        return put(frame, at, at + 1, b"\xff")

    return f"not UTF-8 in {path}", spoil


GROWN = (63, 64, 126, 127, 128, 129, 254, 255, 256, 257)
"""Bytes to which contents grow: around what fits in a count of one byte."""


def list_mutations(most: int, path: str, offset: int = 0, mask: int = 0) -> list[Mutation]:
    """Return what can be done to items in a row; those of a chain have ``mask`` set in the byte at ``offset``.

    Only the last one has not. What changes their order or number keeps the chain whole, if its name does not say
    otherwise.
    """

    def relinked(items: Sequence[bytes]) -> bytes:
        if not mask:
            return b"".join(items)
        *linked, last = items
        pieces = [with_octet(item, item[offset] | mask) for item in linked]
        return b"".join([*pieces, with_octet(last, last[offset] & ~mask)])

    def with_octet(item: bytes, octet: int) -> bytes:
        return put(item, offset, offset + 1, bytes((octet,)))

    def rearranged(name: str, rearrange: Callable[[list[bytes], Below], list[bytes] | None], least: int) -> Mutation:
        def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
            if len(cuts) < least:
                return None
            ends = (*cuts[1:], end)
            items = rearrange([frame[a:b] for a, b in zip(cuts, ends, strict=True)], below)
            return None if not items else put(frame, start, end, relinked(items))

        return f"{name} in {path}", change

    def duplicate(items: list[bytes], below: Below) -> list[bytes]:
        index = below(len(items))
        # Mostly once more, which is what protocols forbid; sometimes so often that a table which grows is seen.
        return items[:index] + items[index : index + 1] * (1, 1, 1, 2, 20)[below(5)] + items[index:]

    def swap(items: list[bytes], below: Below) -> list[bytes]:
        one = below(len(items))
        other = (one + 1 + below(len(items) - 1)) % len(items)
        items[one], items[other] = items[other], items[one]
        return items

    def drop(items: list[bytes], below: Below) -> list[bytes]:
        del items[below(len(items))]
        return items

    def overfill(items: list[bytes], below: Below) -> list[bytes]:
        return items + items[-1:] * (most + 1 - len(items))

    def drop_last(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        return put(frame, cuts[-1], end, b"") if cuts else None

    def go_on(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        at = cuts[-1] + offset
        return put(frame, at, at + 1, bytes((frame[at] | mask,)))

    def stop(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        if len(cuts) < 2:
            return None
        at = cuts[below(len(cuts) - 1)] + offset
        return put(frame, at, at + 1, bytes((frame[at] & ~mask,)))

    mutations = [
        rearranged("duplicate", duplicate, 1),
        rearranged("swap", swap, 2),
        rearranged("drop", drop, 2),
        (f"drop last in {path}", drop_last),
    ]
    if most <= 256:  # more would make slow frames of all that come near
        mutations.append(rearranged("one more than fit", overfill, 1))
    if mask:
        mutations += [(f"chain end missing in {path}", go_on), (f"chain ends early in {path}", stop)]
    return mutations
