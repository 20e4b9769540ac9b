"""What is known of each kind of layout, task by task: the grid of this room.

::

    task         any layout          binary                json                language
    sampling     sampling            binary/sampling       json/sampling       language/sampling, samples
    strategies   strategies          the same, with choices that Hypothesis makes
    mutation     mutation            binary/mutation       json/mutation       language/mutation
    minimising   minimising          binary/minimising     json/minimising     language/minimising
    paths        -                   binary/paths          json/paths          (a text has one place)
    coverage     kinds               binary/coverage       json/coverage       language/coverage
    boundaries   -                   (each kind of node)   json/boundaries     (the language brings its own)
    specimens    golden/build        binary/specimens      json/specimens      language/specimens

Binary frames are composed by a plan, or searched (``binary/searching``) where a kind of node in them is not composed.
What a kind of node knows of these tasks stands in its file in ``wire/kinds``, and ``binary`` names none.
``LayoutKind`` has a column for each; whoever does a task asks for the kind of a layout, and knows none by name. Another
kind is a folder, and a line in ``KINDS``.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple, Protocol

from vectors.binary import coverage, minimising, specimens
from vectors.binary.coverage import Branch, BranchCoverage, BranchTrace
from vectors.binary.mutation import BinaryFieldFinder
from vectors.binary.paths import place_tree
from vectors.binary.sampling import BinarySampling
from vectors.byte_cuts import without_bytes
from vectors.json import coverage as json_coverage
from vectors.json import minimising as json_minimising
from vectors.json import paths as json_paths
from vectors.json import specimens as json_specimens
from vectors.json.mutation import JsonFieldFinder
from vectors.json.sampling import json_drawing
from vectors.language import coverage as language_coverage
from vectors.language import minimising as language_minimising
from vectors.language import specimens as language_specimens
from vectors.language.mutation import LanguageFieldFinder
from vectors.language.samples import samples
from vectors.language.sampling import language_drawing
from vectors.notes import ProtocolNotes
from vectors.specimen import Specimen
from wire.catalogue import layout as find
from wire.kinds import Json, Language, Node
from wire.kinds.edits import Found
from wire.kinds.generators import Choices, Draw
from wire.layout import Layout


class FieldFinder(Protocol):
    """What finds the fields of a frame."""

    def found(self, frame: bytes) -> list[Found]:
        """Return the fields of a frame, inner ones before outer ones, as far as it can be read."""


class LayoutKind(NamedTuple):
    """What is known of a kind of layouts.

    ``drawing`` compiles how frames are sampled, ``finder`` what finds the fields that are mutated. ``smaller`` gives
    frames that are smaller than one, the boldest first, and ``weight`` says which of two is. ``trace`` reads a frame
    and says which branches it reaches of ``branches``, which are all. ``specimens`` are the frames of golden vectors,
    in groups of these ``families`` for each message. ``respells`` tells of a layout whether one value has several legal
    spellings, so that a frame may be valid and be written back as another.
    """

    drawing: Callable[[Layout, Choices], Draw]
    finder: Callable[[Layout], FieldFinder]
    weight: Callable[[bytes], Any]
    smaller: Callable[[str, bytes], Iterator[bytes]]
    trace: Callable[[str, bytes], BranchTrace]
    branches: Callable[[str], tuple[Branch, ...]]
    specimens: Callable[[str, ProtocolNotes], Iterator[Specimen]]
    families: tuple[str, ...]
    respells: Callable[[str], bool] = lambda layout: False


BINARY = LayoutKind(
    drawing=lambda layout, choices: BinarySampling(choices).part(layout.frame, {}),
    finder=lambda layout: BinaryFieldFinder(layout.frame),
    weight=minimising.weight,
    smaller=minimising.smaller,
    trace=lambda layout, data: coverage.trace(place_tree(layout), data),
    branches=coverage.branches,
    specimens=specimens.specimens,
    families=specimens.FAMILIES,
)

JSON = LayoutKind(
    drawing=json_drawing,
    finder=JsonFieldFinder,
    weight=json_minimising.weight,
    smaller=lambda layout, data: chain(json_minimising.smaller(find(layout), data), without_bytes(data)),
    trace=lambda layout, data: json_coverage.trace(json_paths.place_tree(layout), data),
    branches=json_coverage.branches,
    specimens=json_specimens.specimens,
    families=json_specimens.FAMILIES,
    respells=lambda layout: True,
)

LANGUAGE = LayoutKind(
    drawing=language_drawing,
    finder=LanguageFieldFinder,
    weight=json_minimising.weight,
    smaller=language_minimising.smaller,
    trace=language_coverage.trace,
    branches=language_coverage.branches,
    specimens=language_specimens.specimens,
    families=language_specimens.FAMILIES,
    respells=lambda layout: samples(layout).respells,
)

KINDS: dict[type[Node], LayoutKind] = {Json: JSON, Language: LANGUAGE}
"""The kinds by the node that a whole frame is; any other is binary."""


def kind_of(layout: Layout) -> LayoutKind:
    """Return the kind of a layout."""
    return KINDS.get(type(layout.frame), BINARY)


def kind(layout: str) -> LayoutKind:
    """Return the kind of the layout of a name."""
    return kind_of(find(layout))


def trace(layout: str, data: bytes) -> BranchTrace:
    """Read a whole frame along a layout; a refusal is part of what is returned."""
    return kind(layout).trace(layout, data)


def branches(layout: str) -> tuple[Branch, ...]:
    """Return the branches of a layout, in its order. Raises ``UnknownLayout``, ``CannotCover``."""
    return kind(layout).branches(layout)


def cover(layout: str, frames: Iterable[bytes]) -> BranchCoverage:
    """Tell which branches of a layout the frames leave out. Raises ``UnknownLayout``, ``CannotCover``."""
    met: set[Branch] = set()
    for frame in frames:
        met |= trace(layout, frame).branches
    return covered(layout, met)


def covered(layout: str, met: set[Branch]) -> BranchCoverage:
    """Tell which branches of a layout are not among those that were met."""
    every = branches(layout)
    return BranchCoverage(layout, len(every), tuple(branch for branch in every if branch not in met))
