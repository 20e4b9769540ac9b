"""Smaller binary frames: without fields, with shorter contents, without a flag and what it announces."""

from collections.abc import Iterator
from contextlib import suppress

from vectors.byte_cuts import without_bytes
from vectors.plainer_values import plainer_values
from wire import reference
from wire.constructs import Span
from wire.errors import DecodeError, EncodeError

MOST_SPANS = 400
"""Fields that are looked at: frames are small before long, and until then any of these will do."""

PAIRED = 40
"""Fields of which pairs are tried: their number grows with the square."""


def weight(data: bytes) -> tuple[int, int, bytes]:
    """Order frames: shorter first, then fewer bits."""
    return len(data), int.from_bytes(data).bit_count(), data


def smaller(layout: str, data: bytes) -> Iterator[bytes]:
    """Give frames that are smaller than one, the boldest first."""
    spans = _spans(layout, data)
    yield from _of_value(layout, data)
    yield from _without_spans(data, spans)
    yield from _shorter_contents(data, spans)
    yield from without_bytes(data)
    if len(spans) <= PAIRED:
        yield from _flag_and_span(data, spans)
    yield from _plainer_bytes(data)


def _spans(layout: str, data: bytes) -> list[Span]:
    spans: list[Span] = []
    with suppress(DecodeError):  # what was understood of a refused frame is there
        reference.decode(layout, data, spans=spans)
    return spans[:MOST_SPANS]


def _of_value(layout: str, data: bytes) -> Iterator[bytes]:
    """Give the frames of plainer values: only where the frame is accepted and spelled canonically."""
    try:
        value = reference.decode(layout, data)
        # Another spelling may be what the finding is about; a plainer value would be written in the usual one.
        if reference.encode(layout, value) != data:
            return
    except (DecodeError, EncodeError):
        return
    for plainer in plainer_values(value):
        try:
            yield reference.encode(layout, plainer)
        except EncodeError:
            continue


def _without_spans(data: bytes, spans: list[Span]) -> Iterator[bytes]:
    """Leave out one field, or a run of them."""
    # From all to one, halving while many: what is not needed is mostly a long run, as in delta debugging.
    run = len(spans)
    while run:
        for first in range(0, len(spans) - run + 1, max(1, run // 2)):
            yield data[: spans[first].start] + data[spans[first + run - 1].end :]
        run = run // 2 if run > 8 else run - 1


def _shorter_contents(data: bytes, spans: list[Span]) -> Iterator[bytes]:
    """Shorten contents that end where they say themselves, such as bytes behind their count."""
    for span in spans:
        content = span.value.encode() if isinstance(span.value, str) else span.value
        for shorter in span.leaf.shorter(content) if isinstance(content, bytes) else ():
            yield data[: span.start] + shorter + data[span.end :]


def _flag_and_span(data: bytes, spans: list[Span]) -> Iterator[bytes]:
    """Clear a flag and leave out what it announced: one field or a few, further on."""
    for index, span in enumerate(spans):
        for piece in span.leaf.cleared(data[span.start : span.end]):
            cleared = data[: span.start] + piece + data[span.end :]
            # What a flag announces is a field, or a few in a row, somewhere behind it; more than four are rare, and
            # each further one makes as many more frames as there are fields.
            for first in range(index + 1, len(spans)):
                for last in range(first, min(first + 4, len(spans))):
                    yield cleared[: spans[first].start] + cleared[spans[last].end :]


def _plainer_bytes(data: bytes) -> Iterator[bytes]:
    yield from _zeroed(data)
    for at, byte in enumerate(data):
        plainer = [0, *(byte & ~(1 << bit) for bit in range(7, -1, -1) if byte >> bit & 1)]
        for new in dict.fromkeys(plainer):
            yield data[:at] + bytes((new,)) + data[at + 1 :]


def _zeroed(data: bytes) -> Iterator[bytes]:
    """Put zeros for half of a frame, a quarter, and so on: each byte by itself would take a search of its own."""
    size = len(data)
    while size > 1:
        for at in range(0, len(data), size):
            if any(data[at : at + size]):
                yield data[:at] + bytes(len(data[at : at + size])) + data[at + size :]
        size = (size + 1) // 2
