"""The kinds of layouts: binary ones, texts of JSON, and of other languages; and what vectors need of each.

Another kind joins with a line in ``KINDS``: the node that its layouts consist of, a reader that says which branches a
frame reaches, the list of all branches, and what makes specimens.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from vectors import (
    coverage,
    json_coverage,
    json_places,
    json_specimens,
    language_coverage,
    language_specimens,
    specimens,
)
from vectors.coverage import Branch, Coverage, Trace
from vectors.notes import Notes
from vectors.places import inside, survey
from vectors.specimens import Specimen
from wire.catalogue import layout as find
from wire.layout import Json, Language, Node


class Kind(NamedTuple):
    """What vectors need of a kind of layouts, each by the layout's name.

    ``families`` are what the groups of a message are called. ``respells``: one value has several legal spellings, so a
    frame may be valid and be written back as another.
    """

    trace: Callable[[str, bytes], Trace]
    branches: Callable[[str], tuple[Branch, ...]]
    specimens: Callable[[str, Notes], Iterator[Specimen]]
    families: tuple[str, ...]
    respells: bool = False


BINARY = Kind(
    lambda layout, data: coverage.trace(survey(layout), data),
    coverage.branches,
    specimens.specimens,
    specimens.FAMILIES,
)

JSON = Kind(
    lambda layout, data: json_coverage.trace(json_places.survey(layout), data),
    json_coverage.branches,
    json_specimens.specimens,
    json_specimens.FAMILIES,
    respells=True,
)

LANGUAGE = Kind(
    language_coverage.trace,
    language_coverage.branches,
    language_specimens.specimens,
    language_specimens.FAMILIES,
)

KINDS: dict[type[Node], Kind] = {Json: JSON, Language: LANGUAGE}
"""The kinds by the node that a whole frame is; any other is binary."""


def kind(layout: str) -> Kind:
    """Return the kind of a layout."""
    return KINDS.get(type(inside(find(layout).root)), BINARY)


def trace(layout: str, data: bytes) -> Trace:
    """Read a whole frame along a layout; a refusal is part of what is returned."""
    return kind(layout).trace(layout, data)


def branches(layout: str) -> tuple[Branch, ...]:
    """Return the branches of a layout, in its order. Raises ``UnknownLayout``, ``CannotCover``."""
    return kind(layout).branches(layout)


def cover(layout: str, frames: Iterable[bytes]) -> Coverage:
    """Tell which branches of a layout the frames leave out. Raises ``UnknownLayout``, ``CannotCover``."""
    met: set[Branch] = set()
    for frame in frames:
        met |= trace(layout, frame).branches
    return covered(layout, met)


def covered(layout: str, met: set[Branch]) -> Coverage:
    """Tell which branches of a layout are not among those that were met."""
    every = branches(layout)
    return Coverage(layout, len(every), tuple(branch for branch in every if branch not in met))
