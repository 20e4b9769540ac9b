"""Small grammars (``tests/wire/small_grammars.py``) through everything, each of which shows one thing alone."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from vectors.binary.coverage import Branch, list_branches, trace
from vectors.binary.paths import place_tree_of
from vectors.binary.specimens import specimens
from vectors.checks.check import check, render
from vectors.notes import ProtocolNotes
from vectors.sampling import stream
from wire import columnar, reference
from wire.engines import Engine
from wire.kinds.branches import CUT, FULL, TOO_MANY
from wire.layout import lay_out

sys.path.insert(0, str(Path(__file__).parents[2] / "wire"))

from laid_out import announce, engines
from made import assert_equal_columns, compile_c, compiles, load, outcome
from small_grammars import SMALL

from wire.emit import columnar as columns

GRAMMARS = {name.replace(" ", "-"): grammar for name, grammar in SMALL.items()}
LAYOUTS = {name: lay_out(grammar, f"small/{name}") for name, grammar in GRAMMARS.items()}
FRAMES = 100
BEYOND_SEARCH = {Branch("[].x.text", CUT)}
"""Listed, though it cannot be: up to a NUL in four bytes, at most three before it, nothing is cut."""


SEARCHED_LONG = {
    *("entries", "a-sum", "list-of-two", "bytes-of-a-list", "counted-from-afar", "bytes-of-six", "text-of-three"),
    *("within-four", "list-up-to-the-end"),
}
"""For these many frames are searched, which takes seconds of the first and half a second of the others."""


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        announce(patch, "small", GRAMMARS)
        yield


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> list[Engine]:
    return engines("small", GRAMMARS, tmp_path_factory.mktemp("built"))


@pytest.mark.slow  # many frames of 33 grammars, by every engine
@pytest.mark.parametrize("name", GRAMMARS)
def test_the_engines_agree(name, panel):
    report = check(f"small/{name}", panel, frames=FRAMES, examples=15)
    assert report.agrees, "\n".join(render(report))
    assert report.accepted > FRAMES / 3


@pytest.mark.slow  # compiles; test_alphabet.py has columns of every kind of node
def test_columns_are_those_of_the_reference(tmp_path):
    pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra that reads columns")
    if not compiles():
        pytest.skip("there is no compiler")
    made: Any = load("columnar", compile_c("columnar", columns.emit("small", [*LAYOUTS.values()]), tmp_path, "-O1"))
    for name, grammar in GRAMMARS.items():

        def decode(frame: bytes, grammar: Any = grammar) -> Any:
            return reference.decode(grammar, frame)

        data = [frame for frame, _ in islice(stream(LAYOUTS[name], 3), FRAMES)]
        got = pa.record_batch(made.decode(f"small/{name}", data, False))
        assert_equal_columns(pa, got, columnar.gather(LAYOUTS[name], decode, data), data)


@pytest.mark.slow  # many frames of 33 grammars
@pytest.mark.parametrize("name", GRAMMARS)
def test_the_reader_of_coverage_says_the_same(name):
    root = place_tree_of(LAYOUTS[name], {})
    for data, _ in islice(stream(LAYOUTS[name], 4), FRAMES):
        found = trace(root, data)
        read = found.value if found.reason is None else (found.reason, found.offset)
        assert read == outcome(reference.decode, GRAMMARS[name], data), data.hex()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.sweep] if name in SEARCHED_LONG else [])
        for name in GRAMMARS
    ],
)
def test_vectors_reach_every_branch_and_no_other(name):
    """But for lists of 65535 items, which no search comes to, and a text that is cut where no byte can be left."""
    root = place_tree_of(LAYOUTS[name], {})
    listed = set(list_branches(root))
    met = set().union(
        *(trace(root, each.data).branches for each in specimens(f"small/{name}", ProtocolNotes(flags={})))
    )
    assert met <= listed
    assert {each for each in listed - met if each.name not in (FULL, TOO_MANY)} <= BEYOND_SEARCH


@pytest.mark.parametrize("name", ["tails-only", "tails-in-a-record"])
def test_a_record_of_which_nothing_has_to_be_said_need_not_be_said(name, panel):
    value = {"tails-only": None, "tails-in-a-record": {"a": 1}}[name]
    written = {engine.name: engine.codec(f"small/{name}").encode(value) for engine in panel}
    assert len(set(written.values())) == 1
