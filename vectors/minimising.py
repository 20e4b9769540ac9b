"""The smallest frame, or value, on which engines still differ in the same way.

Frames are made smaller along their structure first (whole messages, extensions, fields, the contents of counted
bytes with their count, a flag together with its field; of JSON members, items, texts and numbers; of another
language its parts), then byte by byte.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from vectors.byte_cuts import halves
from vectors.kinds import kind_of
from vectors.language import minimising as language_minimising
from vectors.plainer_values import plainer_values
from wire import reference
from wire.catalogue import layout as find
from wire.errors import DecodeError, EncodeError

SECONDS = 6.0
"""What one frame may take: a finding is shown at once, and its smallest form soon after."""


class NoMoreTries(Exception):
    """Is raised by ``keeps`` to end a search with what was found so far."""


def minimise(layout: str, data: bytes, keeps: Callable[[bytes], bool], seconds: float = SECONDS) -> bytes:
    """Return a frame, as short and plain as can be found in ``seconds``, of which ``keeps`` still holds."""
    deadline = time.monotonic() + seconds
    # A candidate that did not keep the difference comes again from other steps; a try may cost a process.
    tried = {data}
    tree = find(layout)
    kind = kind_of(tree)

    def better(candidate: bytes) -> bool:
        if candidate in tried or kind.weight(candidate) >= kind.weight(data):
            return False
        tried.add(candidate)
        return keeps(candidate)

    with suppress(NoMoreTries):
        while time.monotonic() < deadline:
            # Begun anew after every success: what was too bold before may be possible in the smaller frame.
            for candidate in chain(halves(data), kind.smaller(layout, data)):
                if time.monotonic() > deadline:
                    break
                if better(candidate):
                    data = candidate
                    break
            else:
                break
    return data


def values_of_smaller(layout: str) -> Callable[[Any], Iterator[Any]]:
    """Return what gives, of a value of a language, those of smaller texts: parts that belong together go together."""

    def values(value: Any) -> Iterator[Any]:
        with suppress(EncodeError):
            for data in language_minimising.smaller(layout, reference.encode(layout, value)):
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
                # Values hold dicts and lists, which have no hash.
                key = repr(candidate)
                if key not in tried and keeps(candidate):
                    tried.add(key)
                    value, shrinking = candidate, True
                    break
                tried.add(key)
    return value


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
