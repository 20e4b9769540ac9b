"""Copies of a value in which one part is plainer: what minimising tries of values, of every kind of layout."""

import math
from collections.abc import Iterator
from typing import Any

from vectors.invalid_values import copied, parts_within


def plainer_values(value: Any, *, dropping: bool = False) -> Iterator[Any]:
    """Give copies of a value in which one part is plainer; the boldest first, ``dropping`` names or not."""
    root = [copied(value)]
    # The largest part first: if it can go, all in it need not be tried.
    for container, key in sorted(parts_within(root), key=lambda place: -_size(place[0][place[1]])):
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
