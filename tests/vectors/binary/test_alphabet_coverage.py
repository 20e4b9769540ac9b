"""Branches, and golden vectors that reach them, of every kind of node (``tests/wire/alphabet.py``)."""

import sys
from collections.abc import Iterator
from functools import cache
from itertools import combinations, islice, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from construct import Struct

from vectors.binary.coverage import list_branches, trace
from vectors.binary.paths import place_tree, place_tree_of, places
from vectors.binary.searched_boundaries import SearchedBoundaries
from vectors.binary.searching import search
from vectors.binary.specimens import specimens as found_specimens
from vectors.kinds import cover
from vectors.notes import ProtocolNotes
from vectors.sampling import stream
from wire import reference
from wire.errors import DecodeError
from wire.kinds import KINDS, BitFields, Float, Integer
from wire.kinds.base import walk
from wire.layout import lay_out
from wire.primitives import NulText, Real, Signed, Unsigned, Word

sys.path.insert(0, str(Path(__file__).parents[2] / "wire"))

from alphabet import GRAMMARS
from laid_out import announce
from random_grammars import grammars
from test_random_grammars import frames

pytestmark = [pytest.mark.slow, pytest.mark.sweep]
"""Every kind of node, which seldom changes; test_build.py says so sooner of the protocols' layouts."""

FRAMES = 300
QUICK = [name for name in GRAMMARS if name not in ("tree", "levels", "deep")]
"""Those that have no messages within messages, which take longer to search."""


@cache  # three tests ask for those of each grammar, and to find them takes longer than what they look at
def specimens(name: str) -> list[Any]:
    return [*found_specimens(name, ProtocolNotes(flags={}))]


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """Of what the tests of this file share, nothing stays."""
    yield
    specimens.cache_clear()


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        announce(patch, "alphabet", GRAMMARS)
        yield


def said(grammar: Any, data: bytes) -> Any:
    """What the reference engine says."""
    try:
        return reference.decode(grammar, data)
    except DecodeError as error:
        return error.reason, error.offset


def traced(root: Any, data: bytes) -> tuple[Any, frozenset[Any]]:
    """What the reader of coverage says, and the branches that it met."""
    found = trace(root, data)
    return found.value if found.reason is None else (found.reason, found.offset), frozenset(found.branches)


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_reader_of_coverage_is_a_fourth_opinion(name):
    layout = lay_out(GRAMMARS[name], f"alphabet/{name}")
    root = place_tree_of(layout, {})
    listed = set(list_branches(root))
    for data, _ in islice(stream(layout, 1), FRAMES):
        read, met = traced(root, data)
        assert read == said(GRAMMARS[name], data), data.hex()
        assert met <= listed, data.hex()


@pytest.mark.parametrize("seed", [0, 1, 2])  # a second each
def test_the_reader_of_coverage_reads_random_grammars(seed):
    for name, grammar in grammars(seed, 15).items():
        root = place_tree_of(lay_out(grammar, f"random/{name}"), {})
        for data in frames(grammar, Random(name)):
            assert traced(root, data)[0] == said(grammar, data), (name, data.hex())


@pytest.mark.parametrize("name", QUICK)
def test_specimens_reach_every_branch(name):
    found = specimens(f"alphabet/{name}")
    covered = cover(f"alphabet/{name}", [specimen.data for specimen in found])
    assert covered.total > 10
    assert covered.unreached == ()


@pytest.mark.parametrize("name", [name for name in GRAMMARS if name not in QUICK])
def test_specimens_reach_every_branch_of_messages_within_messages(name):
    covered = cover(f"alphabet/{name}", [each.data for each in specimens(f"alphabet/{name}")])
    assert covered.unreached == ()


def test_what_is_searched_is_the_same_every_time():
    layout = lay_out(GRAMMARS["counted"], "alphabet/counted")
    first, second = (search(layout, place_tree_of(layout, {})) for _ in range(2))
    assert list(first.reached()) == list(second.reached())
    one, other = ([found for _, found in SearchedBoundaries(work).frames()] for work in (first, second))
    assert one == other


@cache
def fields(name: str) -> dict[int, set[bytes]]:
    """The bytes that stand in each field in any golden vector of a grammar, by its place."""
    root, found = place_tree(f"alphabet/{name}"), dict[int, set[bytes]]()
    for data in {each.data for each in specimens(f"alphabet/{name}")}:
        for event in trace(root, data).events:
            found.setdefault(id(event.place), set()).add(data[event.start : event.end])
    return found


@pytest.mark.parametrize("name", [name for name in QUICK if name != "chained"])
def test_every_boundary_of_a_number_is_a_vector(name):
    """Composed or searched; what an integer, a float or a word is at its ends no branch says so finely."""
    there = fields(name)
    for place in places(place_tree(f"alphabet/{name}")):
        if isinstance(place.part, Integer | Float | BitFields):
            wanted = [each for each in place.part.boundaries(True) if each.family == "values" and not each.cut]
            assert {each.data for each in wanted} <= there[id(place)], place


def test_what_is_a_boundary():
    assert edges(Signed(2, "big")) == {-0x8000, -1, 0, 1, 0x0102, 0x7FFF}
    assert edges(Unsigned(4, "big")) == {0, 1, 0x01020304, 0xFFFFFFFF}
    assert edges(Unsigned(1)) == {0, 1, 0xFF}
    for size, infinity in ((4, 0x7F800000), (8, 0x7FF0000000000000)):
        sign, bits = 1 << 8 * size - 1, edges(Real(size, "big"))
        least, greatest = {0, 1}, {infinity - 1, infinity, infinity + 1}
        assert least | greatest | {sign | each for each in least | greatest} <= bits
        assert sum(bit & ~sign > infinity for bit in bits) == 10  # NaN, quiet and not, with payloads, of either sign
    words = edges(Word(2, "big", a=(15, 12), b=(11, 4), mark=(1, 0, 2)))
    groups = (0xF000, 0x0FF0, 0x000C)
    assert {2, 2 | sum(groups)} | {2 | each for each in groups} | {2 | sum(groups) & ~each for each in groups} <= words


def edges(grammar: Any) -> set[int]:
    """The numbers at the boundaries of a grammar of one field."""
    part = lay_out(Struct("field" / grammar)).root.inner()[0]
    found = [each.data for each in part.boundaries(True) if each.family == "values" and not each.cut]
    return {getattr(grammar.parse(data), "byte", grammar.parse(data)) for data in found}


@pytest.mark.parametrize("name", ["integers", "floats"])
def test_boundaries_meet_in_pairs(name):
    layout = lay_out(GRAMMARS[name], f"alphabet/{name}")
    frames = {each.data for each in specimens(layout.name) if each.family == "pairs"}
    values = [value for value in (said(GRAMMARS[name], data) for data in frames) if isinstance(value, dict)]
    assert len(values) < 80  # few frames for all pairs: every combination would be thousands
    options = {label: {value[label] for value in values} for label in values[0]}
    for (one, firsts), (other, seconds) in combinations(options.items(), 2):
        assert {(value[one], value[other]) for value in values} >= set(product(firsts, seconds))
        assert min(len(firsts), len(seconds)) >= 2


def test_boundaries_meet_in_searched_frames_too():
    """Beside a text up to a NUL, of which no plan is known."""
    grammar = Struct("name" / NulText(3), "real" / Real(8, "big"), "short" / Signed(2, "big"), "word" / Word(2, a=9))
    with pytest.MonkeyPatch.context() as patch:
        announce(patch, "searched", {"pairs": grammar})
        found = [each for each in specimens("searched/pairs") if each.family == "pairs"]
    values = [reference.decode(grammar, each.data) for each in found]
    met = {(value["real"], value["short"]) for value in values}
    assert {(0x8000000000000000, -0x8000), (0xFFF0000000000000, -1), (0x7FF0000000000001, 0x7FFF)} <= met


def test_every_kind_says_what_can_happen_to_it():
    binary = {kind for kind in KINDS.values() if kind.__name__ not in ("Json", "Language")}
    met = {type(each) for grammar in GRAMMARS.values() for each in walk(lay_out(grammar).root)}
    assert binary <= met
    assert all("branches" in vars(kind) and "traced" in vars(kind) for kind in met)
