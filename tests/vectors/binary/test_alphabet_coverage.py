"""Branches, and golden vectors that reach them, of every kind of node (``tests/wire/alphabet.py``)."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from vectors.binary.coverage import list_branches, trace
from vectors.binary.paths import place_tree_of
from vectors.binary.searching import search
from vectors.binary.specimens import specimens
from vectors.kinds import cover
from vectors.notes import ProtocolNotes
from vectors.sampling import stream
from wire import reference
from wire.errors import DecodeError
from wire.kinds import KINDS
from wire.kinds.base import walk
from wire.layout import lay_out

sys.path.insert(0, str(Path(__file__).parents[2] / "wire"))

from alphabet import GRAMMARS
from laid_out import announce
from random_grammars import grammars
from test_random_grammars import frames

FRAMES = 800
QUICK = [name for name in GRAMMARS if name not in ("tree", "levels", "deep")]
"""Those that have no messages within messages, which take longer to search."""


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


@pytest.mark.parametrize("seed", range(3))
def test_the_reader_of_coverage_reads_random_grammars(seed):
    for name, grammar in grammars(seed, 15).items():
        root = place_tree_of(lay_out(grammar, f"random/{name}"), {})
        for data in frames(grammar, Random(name)):
            assert traced(root, data)[0] == said(grammar, data), (name, data.hex())


@pytest.mark.parametrize("name", QUICK)
def test_specimens_reach_every_branch(name):
    found = list(specimens(f"alphabet/{name}", ProtocolNotes(flags={})))
    covered = cover(f"alphabet/{name}", [specimen.data for specimen in found])
    assert covered.total > 10
    assert covered.unreached == ()


@pytest.mark.slow  # of messages within messages many frames are searched
@pytest.mark.parametrize("name", [name for name in GRAMMARS if name not in QUICK])
def test_specimens_reach_every_branch_of_messages_within_messages(name):
    covered = cover(f"alphabet/{name}", [each.data for each in specimens(f"alphabet/{name}", ProtocolNotes(flags={}))])
    assert covered.unreached == ()


def test_what_is_searched_is_the_same_every_time():
    layout = lay_out(GRAMMARS["counted"], "alphabet/counted")
    first, second = (list(search(layout, place_tree_of(layout, {}))) for _ in range(2))
    assert first == second


def test_every_kind_says_what_can_happen_to_it():
    binary = {kind for kind in KINDS.values() if kind.__name__ not in ("Json", "Language")}
    met = {type(each) for grammar in GRAMMARS.values() for each in walk(lay_out(grammar).root)}
    assert binary <= met
    assert all("branches" in vars(kind) and "traced" in vars(kind) for kind in met)
