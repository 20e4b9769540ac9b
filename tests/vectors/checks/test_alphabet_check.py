"""Whether the engines agree on every kind of node that layouts can have, and whether a lie about each is found."""

import math
import os
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

import vectors.checks.check
from vectors.binary.specimens import specimens
from vectors.checks.check import CheckReport, check, check_only, render, smallest
from vectors.checks.differential import AnyEngine
from vectors.notes import ProtocolNotes
from wire.emit import python
from wire.engines import Engine
from wire.layout import lay_out
from wire.runtime import Codec

sys.path.insert(0, str(Path(__file__).parents[2] / "wire"))

from alphabet import GRAMMARS
from laid_out import announce, engines
from random_grammars import grammars
from test_random_grammars import frames

FRAMES = 200
EXAMPLES = 20
MANY = int(os.environ.get("GOLDWIRE_ALPHABET_FRAMES", "100_000"))
"""Frames of all grammars together in the slow test; tox -e sweep asks for a million."""
SOUGHT = (200, 2_000, 20_000)
"""Frames among which a planted difference is sought: most are seen at once, and few among thousands only."""

pytestmark = [pytest.mark.slow, pytest.mark.sweep]
"""Every kind of node by every engine, and a lie about each; test_check.py says so sooner of the protocols' layouts."""

TRIES = 200
"""Frames that are tried to make one smaller: enough for most, and how long that takes no clock decides."""


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        announce(patch, "alphabet", GRAMMARS)
        yield


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> list[Engine]:
    return engines("alphabet", GRAMMARS, tmp_path_factory.mktemp("built"))


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_engines_agree(name, panel):
    report = check(f"alphabet/{name}", panel, frames=FRAMES, examples=EXAMPLES)
    assert report.agrees, "\n".join(render(report))
    assert report.accepted >= FRAMES / 2


@pytest.mark.parametrize("name", [name for name in GRAMMARS if name not in ("tree", "levels", "deep")])
def test_the_engines_agree_on_golden_frames(name, panel):
    layout = f"alphabet/{name}"
    frames = [specimen.data for specimen in specimens(layout, ProtocolNotes(flags={}))]
    report = check_only(layout, panel, frames=frames)
    assert report.agrees, "\n".join(render(report))


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_engines_agree_on_many_frames(name, panel):
    report = check(f"alphabet/{name}", panel, frames=MANY // len(GRAMMARS), seed=1, share=0.2, examples=0)
    assert report.agrees, "\n".join(render(report))


@pytest.mark.parametrize("seed", range(3))
def test_the_engines_agree_on_random_grammars(seed, tmp_path, monkeypatch):
    """On frames that are led towards valid ones: of some random grammars no sampler finds any by drawing them."""
    drawn = grammars(seed, 15)
    protocol = f"random-{seed}"
    announce(monkeypatch, protocol, drawn)
    compared = engines(protocol, drawn, tmp_path)
    for name, grammar in drawn.items():
        report = check_only(f"{protocol}/{name}", compared, frames=frames(grammar, Random(name)))
        assert report.agrees, "\n".join(render(report))


@cache
def emitted() -> str:
    return python.emit("alphabet", [lay_out(grammar, f"alphabet/{name}") for name, grammar in GRAMMARS.items()])


class Planted:
    """The generated Python of the alphabet with one piece of one function replaced."""

    name = "planted"

    def __init__(self, function: str, right: str, wrong: str) -> None:
        text = emitted()
        start = text.index(f"def {function}(")
        end = text.index("\n\n\n", start)
        assert right in text[start:end], "the generated code no longer has what is to be replaced"
        module = ModuleType("wire.alphabet.generated.planted")
        exec(text[:start] + text[start:end].replace(right, wrong, 1) + text[end:], vars(module))
        self.codecs: dict[str, Codec] = module.CODECS

    def codec(self, layout: str) -> Codec:
        return self.codecs[layout.partition("/")[2]]


PLANTED = {
    # name: layout, function, right, wrong, kinds of difference by which it may show
    "integer, the other order": ("integers", "read_integers", '3], "big"', '3], "little"', {"value"}),
    "integer, without its sign": ("integers", "read_integers", '7], "little", signed=True', '7], "little"', {"value"}),
    "integer, its end not seen": (
        "tails",
        "read_tails",
        "if at + 2 > len(data)",
        "if at + 1 > len(data)",
        {"accept", "reason", "offset"},
    ),
    "integer, written without its sign": (
        "integers",
        "write_integers",
        'v_short.to_bytes(2, "big", signed=True)',
        '(v_short & 0x7FFF).to_bytes(2, "big")',
        {"bytes"},
    ),
    "float, a quiet NaN for a signalling one": (
        "floats",
        "read_floats",
        "    value =",
        "    v_single |= 0x400000 if v_single & 0x7F800000 == 0x7F800000 and v_single & 0x7FFFFF else 0\n    value =",
        {"value"},
    ),
    "float, minus zero is zero": (
        "floats",
        "write_floats",
        "v_big.to_bytes",
        "(0 if v_big == 1 << 63 else v_big).to_bytes",
        {"bytes"},
    ),
    "word, the constant not compared": (
        "words",
        "read_words",
        "& 0xFFF0 != 0xACE0",
        "& 0xFF00 != 0xAC00",
        {"accept", "reason"},
    ),
    "word, a constant refused elsewhere": ("words", "read_words", "UNKNOWN_ID, at)", "UNKNOWN_ID, at + 1)", {"offset"}),
    "word, a bit across bytes lost": (
        "words",
        "read_words",
        "named_bits(b_wide, wide_bits)",
        "named_bits(b_wide & ~(1 << 32), wide_bits)",
        {"value"},
    ),
    "word, written without bits that have no name": (
        "words",
        "write_words",
        'b_header.to_bytes(4, "little")',
        '(b_header & ~3).to_bytes(4, "little")',
        {"bytes"},
    ),
    "flags, a named bit that is not looked at": (
        "words",
        "read_words",
        "if b_bits & 0x7C",
        "if b_bits & 0x3C",
        {"accept", "reason", "offset", "value"},
    ),
    "optional, there when it is not": (
        "words",
        "read_words",
        "if not b_header & 0x80000000",
        "if b_header & 0x80000000",
        {"accept", "reason", "offset", "value"},
    ),
    "bytes, counted without the header": (
        "counted",
        "read_counted",
        "v_length - 3",
        "v_length - 2",
        {"accept", "reason", "offset", "value"},
    ),
    "bytes, a negative count taken for truncated": ("counted", "read_counted", "BAD_VALUE", "TRUNCATED", {"reason"}),
    "text, not checked": (
        "counted",
        "read_counted",
        ".decode()",
        '.decode(errors="replace")',
        {"accept", "reason", "offset"},
    ),
    "bytes, another length written than announced": (
        "cases",
        "write_cases",
        "if len(v_data) != v_size",
        "if len(v_data) > v_size",
        {"encode"},
    ),
    "array, one item more than fit": (
        "counted",
        "read_counted",
        "if count > 2:",
        "if count > 3:",
        {"accept", "reason", "offset"},
    ),
    "array, the number of items not compared": (
        "counted",
        "write_counted",
        "or len(v_fixed) != 2",
        "or len(v_fixed) > 2",
        {"encode"},
    ),
    "array, the first item lost": (
        "counted",
        "read_counted",
        "v_numbers.append(v_0)",
        "v_numbers[:] = [*v_numbers[-300:], v_0] if len(v_numbers) < 3 else [*v_numbers[1:], v_0]",
        {"value"},
    ),
    "array to the end, one item more than fit": ("numbers", "read_numbers_2", "== 20", "== 21", {"accept"}),
    "variable length, a range one bit too wide": (
        "numbers",
        "read_numbers_2",
        "v_0, 32, refuse",
        "v_0, 33, refuse",
        {"accept", "reason", "offset"},
    ),
    "text up to a NUL, one byte more": (
        "terminated",
        "read_terminated",
        "at, 12)",
        "at, 13)",
        {"accept", "reason", "offset"},
    ),
    "text up to a NUL, a NUL written into it": (
        "terminated",
        "write_terminated",
        'b"\\0" in t_raw or ',
        "",
        {"encode"},
    ),
    "text up to the end, not checked": (
        "terminated",
        "read_terminated",
        "v_rest = data[at:].decode()",
        'v_rest = data[at:].decode(errors="replace")',
        {"accept"},
    ),
    "bytes up to the end, one left": ("deep", "read_rest", "at = len(data)", "at += len(v_rest[:4])", {"accept"}),
    "padding, not compared": (
        "padded",
        "read_padded",
        "at = zeros(data, at, 3)",
        "at += 3",
        {"accept", "reason", "offset"},
    ),
    "padding up to a multiple, one more": (
        "padded",
        "read_padded",
        "(from_v_maybe - at) % 2",
        "2 - (at - from_v_maybe) % 2",
        {"accept", "reason", "offset"},
    ),
    "padding up to a multiple, not written": (
        "padded",
        "write_padded",
        "w_text += bytes(-len(w_text) % 4)",
        "w_text += bytes(-len(w_text) % 2)",
        {"bytes"},
    ),
    "case, the default for a known one": (
        "cases",
        "read_cases",
        "elif key == 3:",
        "elif key == 4:",
        {"accept", "reason", "offset", "value"},
    ),
    "a reserved place, refused elsewhere": ("cases", "read_cases", "RESERVED, at - 1", "RESERVED, at", {"offset"}),
    "one of several by a field, another bit": (
        "selected",
        "read_selected",
        "key = v_kind & 7",
        "key = v_kind & 15",
        {"accept", "reason", "offset"},
    ),
    "one of several by a field, an unknown one accepted": (
        "selected",
        "read_selected",
        "elif key == 5:",
        "elif key >= 5:",
        {"accept", "reason", "offset"},
    ),
    "tail, never there": ("tails", "read_tails", "if at < len(data):", "if False:", {"accept", "value"}),
    "tail, written behind one that is absent": (
        "tails",
        "write_tails",
        '        if v_b is None:\n            raise EncodeError("the tail before is absent")\n',
        "",
        {"encode"},
    ),
    "chain, another bit": (
        "chained",
        "read_links",
        "if not BIT_0[b_first]",
        "if not BIT_1[b_first]",
        {"accept", "reason", "offset", "value"},
    ),
    "chain by a word, another bit": (
        "listed",
        "read_entries",
        "if not b_head & 0x20000:\n            return",
        "if not b_head & 0x40000:\n            return",
        {"accept", "reason", "offset", "value"},
    ),
    "chain by a word, its end not written": ("listed", "write_marks", "b_word & 0xFDFF", "b_word", {"bytes"}),
    "chain, one item more than fit": ("chained", "read_links", "== 4", "== 5", {"accept", "reason", "offset"}),
    "chain, its end not written": ("chained", "write_links", "b_first & 0xFE", "b_first | 0x01", {"bytes"}),
    "so many bytes, not filled": (
        "levels",
        "read_levels",
        "v_within = enclosed(",
        "v_within = (lambda read, data, at, end, refuse: read(data[:end], at, refuse)[0])(",
        {"accept", "reason", "offset"},
    ),
    "so many bytes, the length not compared": (
        "tree",
        "write_tree",
        "!= (v_length - 4)",
        "> (v_length - 4)",
        {"encode"},
    ),
    "messages within messages, too deep for another reason": (
        "tree",
        "read_inner",
        "TOO_LONG",
        "TRUNCATED",
        {"reason"},
    ),
    "messages within messages, the innermost wrong": (
        "tree",
        "read_fields_item",
        "v_size = data[at + 1]",
        "v_size = data[at + 1] & 0x7F",
        {"value"},
    ),
    "messages as long as one begins, one more than fit": (
        "deep",
        "read_messages",
        "== 3",
        "== 4",
        {"accept", "reason", "offset"},
    ),
    "one of several by the first byte, its header": (
        "deep",
        "write_one",
        "return OCTET[b_header]",
        "return OCTET[b_header & 0x7F]",
        {"bytes"},
    ),
    "a frame of bounded size, a byte longer": ("deep", "decode_deep", "> 120", "> 121", {"accept", "reason"}),
}


TOO_DEEP = bytes.fromhex(
    "004a99556478384a5d000181000c9955515e65343800047f6f505f516b00017f001f9955efbfbd000113000e9955242a00017f02006e004cf0"
    "9fa680000480c39fc5bf00010100049955"
)


WITHOUT_TEXT = {
    "entries": [{"head": {"kind": 0, "more": 0, "size": 84, "sum": 0, "X": 0}, "data": b"1234", "last": 0}],
    "marks": [{"word": {"magic": 0, "next": 1, "n": 0, "X": 0}, "text": ""}],
    "end": 0,
}
RARE: dict[str, dict[str, list[Any]]] = {
    "messages within messages, too deep for another reason": {"frames": [TOO_DEEP]},
    "chain by a word, its end not written": {"values": [WITHOUT_TEXT]},
}
"""What only one of some thousand frames shows; and what does show it, so that nobody has to wait for it."""


@pytest.mark.parametrize(
    ("name", "seeking"),
    [
        *(pytest.param(name, name not in RARE, id=name) for name in PLANTED),
        *(pytest.param(name, True, id=f"{name}, sought") for name in RARE),
    ],
)
def test_a_planted_difference_is_found_and_minimised(name, seeking, panel, monkeypatch):
    monkeypatch.setattr(vectors.checks.check, "smallest", partial(smallest, seconds=math.inf, tries=TRIES))
    layout, function, right, wrong, kinds = PLANTED[name]
    right_one = next(engine for engine in panel if engine.name == "python")
    compared = [right_one, Planted(function, right, wrong)]
    if seeking:
        report = sought(f"alphabet/{layout}", compared)
    else:
        report = check_only(f"alphabet/{layout}", compared, **RARE[name], most=1)
    (finding,) = report.findings
    assert finding.difference.kind in kinds
    assert finding.data is None or len(finding.data) <= len(finding.found.data)
    assert not report.agrees


def sought(layout: str, engines: list[AnyEngine]) -> CheckReport:
    """Compare engines over more and more frames until they differ."""
    for count in SOUGHT:
        report = check(layout, engines, frames=count, examples=0, most=1)
        if report.findings:
            break
    return report
