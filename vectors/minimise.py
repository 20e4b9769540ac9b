"""The smallest frame, or value, on which engines still differ in the same way.

Frames are made smaller along their structure first (whole messages, extensions, fields, the contents of counted
bytes with their count, a flag together with its field; of JSON members, items, texts and numbers; of another
language its parts), then byte by byte.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from vectors import json_minimise, language_minimise
from vectors.spoiling import copied, places
from wire import reference
from wire.catalogue import layout as find
from wire.errors import DecodeError, EncodeError
from wire.primitives import Bits, Blob, Span

SECONDS = 6.0
MOST_SPANS = 400
PAIRED = 40


class NoMoreTries(Exception):
    """Is raised by ``keeps`` to end a search with what was found so far."""


def minimise(layout: str, data: bytes, keeps: Callable[[bytes], bool], seconds: float = SECONDS) -> bytes:
    """Return a frame, as short and plain as can be found in ``seconds``, of which ``keeps`` still holds."""
    deadline = time.monotonic() + seconds
    tried = {data}
    tree = find(layout)
    weight = json_minimise.weight if tree.is_json or tree.is_text else _weight
    smaller = _smaller_text if tree.is_json else _smaller_language if tree.is_text else _smaller

    def better(candidate: bytes) -> bool:
        if candidate in tried or weight(candidate) >= weight(data):
            return False
        tried.add(candidate)
        return keeps(candidate)

    with suppress(NoMoreTries):
        while time.monotonic() < deadline:
            for candidate in smaller(layout, data):
                if time.monotonic() > deadline:
                    break
                if better(candidate):
                    data = candidate
                    break
            else:
                break
    return data


def _weight(data: bytes) -> tuple[int, int, bytes]:
    """Order frames: shorter first, then fewer bits."""
    return len(data), sum(byte.bit_count() for byte in data), data


def _smaller(layout: str, data: bytes) -> Iterator[bytes]:
    """Give frames that are smaller than one, the boldest first."""
    yield from _halves(data)
    spans = _spans(layout, data)
    yield from _of_value(layout, data)
    yield from _without_spans(data, spans)
    yield from _shorter_blobs(data, spans)
    yield from _without_bytes(data)
    if len(spans) <= PAIRED:
        yield from _flag_and_span(data, spans)
    yield from _plainer_bytes(data)


def _smaller_text(layout: str, data: bytes) -> Iterator[bytes]:
    yield from _halves(data)
    yield from json_minimise.smaller(find(layout), data)
    yield from _without_bytes(data)


def _smaller_language(layout: str, data: bytes) -> Iterator[bytes]:
    yield from _halves(data)
    yield from language_minimise.smaller(layout, data)


def _halves(data: bytes) -> Iterator[bytes]:
    size = len(data) // 2
    while size >= 16:
        for at in range(0, len(data), size):
            yield data[:at] + data[at + size :]
        size //= 2


def _spans(layout: str, data: bytes) -> list[Span]:
    spans: list[Span] = []
    with suppress(DecodeError):  # what was understood of a refused frame is there
        reference.decode(layout, data, spans=spans)
    return spans[:MOST_SPANS]


def _of_value(layout: str, data: bytes) -> Iterator[bytes]:
    """Give the frames of plainer values: only where the frame is accepted and spelled canonically."""
    try:
        value = reference.decode(layout, data)
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
    run = len(spans)
    while run:
        for first in range(0, len(spans) - run + 1, max(1, run // 2)):
            yield data[: spans[first].start] + data[spans[first + run - 1].end :]
        run = run // 2 if run > 8 else run - 1


def _shorter_blobs(data: bytes, spans: list[Span]) -> Iterator[bytes]:
    """Shorten counted bytes and correct the count."""
    for span in spans:
        if isinstance(span.leaf, Blob):
            content = span.value.encode() if isinstance(span.value, str) else span.value
            for shorter in dict.fromkeys(
                (b"", content[: len(content) // 2], content[len(content) // 2 :], content[1:])
            ):
                counted = span.leaf.count.spell(len(shorter), "") + shorter
                yield data[: span.start] + counted + data[span.end :]


def _without_bytes(data: bytes) -> Iterator[bytes]:
    for size in (8, 4, 3, 2, 1):
        for at in range(len(data) - size, -1, -1):
            yield data[:at] + data[at + size :]


def _flag_and_span(data: bytes, spans: list[Span]) -> Iterator[bytes]:
    """Clear a flag and leave out what it announced: one field or a few, further on."""
    for index, span in enumerate(spans):
        if not isinstance(span.leaf, Bits):
            continue
        for bit in range(8):
            if not data[span.start] >> bit & 1:
                continue
            cleared = data[: span.start] + bytes((data[span.start] ^ 1 << bit,)) + data[span.end :]
            for first in range(index + 1, len(spans)):
                for last in range(first, min(first + 4, len(spans))):
                    yield cleared[: spans[first].start] + cleared[spans[last].end :]


def _plainer_bytes(data: bytes) -> Iterator[bytes]:
    for at, byte in enumerate(data):
        plainer = [0, *(byte & ~(1 << bit) for bit in range(7, -1, -1) if byte >> bit & 1)]
        for new in dict.fromkeys(plainer):
            yield data[:at] + bytes((new,)) + data[at + 1 :]


def values_of_smaller(layout: str) -> Callable[[Any], Iterator[Any]]:
    """Return what gives, of a value of a language, those of smaller texts: parts that belong together go together."""

    def values(value: Any) -> Iterator[Any]:
        with suppress(EncodeError):
            for data in language_minimise.smaller(layout, reference.encode(layout, value)):
                with suppress(DecodeError):
                    yield reference.decode(layout, data)

    return values


def minimise_value(
    value: Any,
    keeps: Callable[[Any], bool],
    seconds: float = SECONDS,
    *,
    dropping: bool = False,
    also: Callable[[Any], Iterator[Any]] | None = None,
) -> Any:
    """Return a value, as plain as can be found in ``seconds``, of which ``keeps`` still holds.

    With ``dropping`` names are left out of tables: what is absent in JSON has no name. What ``also`` gives is smaller,
    and tried first.
    """
    deadline = time.monotonic() + seconds
    tried: set[str] = set()
    shrinking = True
    with suppress(NoMoreTries):
        while shrinking:
            shrinking = False
            smaller = also(value) if also is not None else iter(())
            for candidate in chain(smaller, plainer_values(value, dropping=dropping)):
                if time.monotonic() > deadline:
                    return value
                key = repr(candidate)
                if key not in tried and keeps(candidate):
                    tried.add(key)
                    value, shrinking = candidate, True
                    break
                tried.add(key)
    return value


def plainer_values(value: Any, *, dropping: bool = False) -> Iterator[Any]:
    """Give copies of a value in which one part is plainer; the boldest first, ``dropping`` names or not."""
    root = [copied(value)]
    for container, key in sorted(places(root), key=lambda place: -_size(place[0][place[1]])):
        before = container[key]
        for after in (*(_without_names(before) if dropping else ()), *_plainer(before)):
            container[key] = after
            yield copied(root[0])
        container[key] = before


def _without_names(part: Any) -> Iterator[dict[Any, Any]]:
    if isinstance(part, dict):
        yield from ({name: each for name, each in part.items() if name != left_out} for left_out in part)


def _size(part: Any) -> int:
    if isinstance(part, dict):
        return 1 + sum(map(_size, part.values()))
    if isinstance(part, list):
        return 1 + sum(map(_size, part))
    return len(part) if isinstance(part, bytes | str) else 1


def _plainer(part: Any) -> Iterator[Any]:
    match part:
        case None | bool():
            return
        case int():
            yield from dict.fromkeys(new for new in (0, 1, part >> 7, part >> 1, part - 1) if 0 <= new < part)
            yield from dict.fromkeys(new for new in (0, -1, -(-part >> 7), -(-part >> 1), part + 1) if part < new <= 0)
        case float():
            whole = float(int(part)) if math.isfinite(part) else 0.0
            yield from (new for new in (0, 0.0, 1.5, whole) if abs(new) < abs(part) or part != part)
        case str() | bytes():
            if part:
                yield None
                middle = len(part) // 2
                yield from dict.fromkeys((part[:0], part[:middle], part[middle:], part[1:], part[:-1]))
        case list():
            yield None
            size = len(part)
            while size:
                yield from (part[:at] + part[at + size :] for at in range(0, len(part), size))
                size //= 2
        case dict():
            yield None
            if "surplus" in part:
                yield {name: each for name, each in part.items() if name != "surplus"}


def spelled(value: Any) -> str | None:
    """Write a value as JSON, bytes as ``{"hex": …}``; ``None`` if JSON has no word for a part of it, or for a name."""

    def plain(part: Any) -> Any:
        match part:
            case bytes():
                return {"hex": part.hex()}
            case dict():
                if not all(isinstance(name, str) for name in part):
                    raise TypeError(part)
                return {name: plain(each) for name, each in part.items()}
            case list():
                return [plain(each) for each in part]
            case None | bool() | int() | float() | str():
                return part
        raise TypeError(part)

    try:
        return json.dumps(plain(value))
    except TypeError:
        return None
