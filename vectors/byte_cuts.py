"""Frames without some of their bytes, whatever these are: what minimising tries in every kind of layout."""

from collections.abc import Iterator

LEAST_HALF = 16
"""Bytes: shorter pieces are left to ``without_bytes``, which tries every place and not only every multiple."""


def halves(data: bytes) -> Iterator[bytes]:
    """Leave out half of a frame, a quarter, and so on: what is left of a long one after a few tries is short."""
    size = len(data) // 2
    while size >= LEAST_HALF:
        for at in range(0, len(data), size):
            yield data[:at] + data[at + size :]
        size //= 2


def without_bytes(data: bytes) -> Iterator[bytes]:
    """Leave out a few bytes that stand together, wherever that is."""
    for size in (8, 4, 3, 2, 1):
        for at in range(len(data) - size, -1, -1):
            yield data[:at] + data[at + size :]
