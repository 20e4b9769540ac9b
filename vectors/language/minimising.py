"""Smaller texts of a language: one of its parts alone, or without some, then without characters, then plainer ones."""

from collections.abc import Iterator
from itertools import islice

from vectors.language.samples import samples

MOST_PARTS = 200
PLAIN = (b"a", b"0")


def smaller(layout: str, data: bytes) -> Iterator[bytes]:
    """Give frames that are smaller than one, or plainer, the boldest first."""
    parts = sorted(samples(layout).parts(data), key=lambda part: part[0] - part[1])[:MOST_PARTS]
    yield from (data[start:end] for start, end in reversed(parts) if end - start < len(data))
    for start, end in parts:
        yield data[:start] + data[end:]
        inside = ((first, last) for first, last in parts if start < first and last < end)
        # What is left of a part is one that stands in it: the outer ones are those that save the least.
        yield from (data[:start] + data[first:last] + data[end:] for first, last in islice(inside, 8))
    for size in (8, 4, 3, 2, 1):
        yield from (data[:at] + data[at + size :] for at in range(len(data) - size, -1, -1))
    characters = list(characters_of(data))
    yield from (data[:start] + data[end:] for start, end in characters if end > start + 1)
    yield from (data[:start] + plain + data[end:] for start, end in characters for plain in PLAIN)


def characters_of(data: bytes) -> Iterator[tuple[int, int]]:
    """Give where each character begins and ends; a byte that is no UTF-8 is one of its own."""
    at = 0
    while at < len(data):
        size = next((size for size in (1, 2, 3, 4) if is_character(data[at : at + size])), 1)
        yield at, at + size
        at += size


def is_character(piece: bytes) -> bool:
    """Tell whether bytes are one character in UTF-8."""
    try:
        return len(piece.decode()) == 1
    except UnicodeDecodeError:
        return False
