"""The layout ``rai/text`` held to its grammar: both engines over all short texts, hostile texts, values, dumps."""

from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectors.rai.text_specimens import MUTATIONS, is_shallow, large_specimens, sample, specimens
from wire.derivation import NoDerivation, derive
from wire.dump import dump
from wire.engines import engine
from wire.errors import DecodeError, EncodeError, Reason
from wire.json.strict import DEEPEST
from wire.kinds.language import Unread
from wire.networks import branches
from wire.rai import grammar_text
from wire.rai.json_values import Members, Number, Value
from wire.rai.relaxed import parse
from wire.rai.relaxed_scanner import RELAXED, scan
from wire.rai.text_language import parts_of, value_of

LAYOUT = "rai/text"
REFERENCE, PYTHON = engine("reference"), engine("python")

Verdict = Any
"""A value; or where a text stops to be one, and whether it has been a whole one up to there."""


def derived(text: str) -> Verdict:
    try:
        return grammar_text.read(text)
    except NoDerivation as refusal:
        return refusal.offset, refusal.whole


def scanned(text: str) -> Verdict:
    try:
        return scan(text, RELAXED)
    except Unread as refusal:
        return refusal.offset, refusal.whole


def outcome(frame: bytes, of: Any) -> Verdict:
    try:
        return of.decode(LAYOUT, frame)
    except DecodeError as refusal:
        return refusal.reason, refusal.offset


TOKENS = ["{", "}", "[", "]", ",", ":", '"', "a", "1", "-", ".", "e", " ", "true", "\\", "nul"]


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_the_grammar_and_the_scanner_agree_on_every_short_text(length: int) -> None:
    for tokens in product(TOKENS, repeat=length):
        text = "".join(tokens)
        assert scanned(text) == derived(text), text


@pytest.mark.slow  # 65,536 texts, each by the grammar as well
def test_they_agree_on_every_text_of_four_tokens() -> None:
    for tokens in product(TOKENS, repeat=4):
        text = "".join(tokens)
        assert scanned(text) == derived(text), text


PIECES = [
    *TOKENS,
    "true",
    "false",
    "nullx",
    "\\u00",
    "d83d",
    "\\ude00",
    "0",
    "+5.",
    "E-3",
    "é",
    "\n",
    "\v",
    "\ufeff",
    "\0",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_they_agree_on_longer_ones(text: str) -> None:
    assert scanned(text) == derived(text)


def test_they_agree_on_whatever_mutations_make() -> None:
    rng = Random(1)
    found = {True: 0, False: 0}
    for _ in range(1500):
        frame = PYTHON.encode(LAYOUT, sample(rng))
        for _ in range(rng.randrange(3)):
            _, change = MUTATIONS[rng.randrange(len(MUTATIONS))]
            frame = change(frame, rng.randrange) or frame
        expected = outcome(frame, REFERENCE)
        assert outcome(frame, PYTHON) == expected, frame
        found[isinstance(expected, list)] += 1
    assert min(found.values()) > 300


def test_specimens_take_every_branch_and_have_every_refusal() -> None:
    met: set[str] = set()
    reasons = set()
    for each in specimens():
        expected = outcome(each.frame, REFERENCE)
        assert outcome(each.frame, PYTHON) == expected, each.name
        if isinstance(expected, list):
            met |= derive(grammar_text.text, each.frame.decode()).branches
        else:
            reasons.add(expected[0])
    assert branches(grammar_text.text) - met == set()
    assert reasons == {Reason.TRUNCATED, Reason.BAD_SYNTAX, Reason.BAD_TEXT, Reason.TRAILING}


def test_large_texts_are_read() -> None:
    """However deep they are; what has a bound is ``relaxed.parse``."""
    for each in large_specimens():
        outcome(each.frame, PYTHON)
        if "deep" in each.name:
            with pytest.raises(DecodeError, match="levels"):
                parse(each.frame)


@pytest.mark.slow  # texts of 20,000 characters, by the grammar
def test_large_texts_are_read_by_the_grammar_alike() -> None:
    for each in large_specimens():
        assert outcome(each.frame, PYTHON) == outcome(each.frame, REFERENCE), each.name


VALUES: list[tuple[Value, list[dict[str, Any]]]] = [
    (None, [{"type": "null"}]),
    ("a", [{"type": "text", "text": "a"}]),
    ([], [{"type": "array", "items": 0}]),
    (
        Members((("a", [Number("17.50"), Members()]), ("a", True))),
        [
            {"type": "object", "members": 2},
            {"name": "a", "type": "array", "items": 2},
            {"type": "number", "spelling": "17.50"},
            {"type": "object", "members": 0},
            {"name": "a", "type": "boolean", "boolean": True},
        ],
    ),
]


@pytest.mark.parametrize(("value", "parts"), VALUES)
def test_a_value_has_one_list_of_parts(value: Value, parts: list[dict[str, Any]]) -> None:
    assert parts_of(value) == parts
    assert value_of(parts) == value
    assert REFERENCE.encode(LAYOUT, parts) == PYTHON.encode(LAYOUT, parts)
    assert PYTHON.decode(LAYOUT, PYTHON.encode(LAYOUT, parts)) == parts


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "not a list of parts"),
        ({}, "not a list of parts"),
        ([5], "no part of a text"),
        ([{"type": "other"}], "no part of a text"),
        ([{"type": "null", "x": 1}], "null has nothing"),
        ([{"type": "text"}], "text has text"),
        ([{"type": "text", "text": 5}], "does not fit"),
        ([{"type": "text", "text": "a\0"}], "does not fit"),
        ([{"type": "number", "spelling": "x"}], "does not fit"),
        ([{"type": "number", "spelling": ".5"}], "does not fit"),
        ([{"type": "boolean", "boolean": 1}], "does not fit"),
        ([{"type": "array", "items": -1}], "does not fit"),
        ([{"type": "array", "items": True}], "does not fit"),
        ([{"type": "array", "items": 1}], "0 do"),
        ([{"type": "null"}, {"type": "null"}], "2 values"),
        ([{"name": "a", "type": "null"}], "member alone"),
        ([{"type": "object", "members": 1}, {"type": "null"}], "have a name"),
        ([{"type": "array", "items": 1}, {"name": "a", "type": "null"}], "items have none"),
        ([{"type": "text", "text": "\ud800"}], "surrogate|grammar"),
    ],
)
def test_what_no_text_stands_for(parts: Any, why: str) -> None:
    for each in (REFERENCE, PYTHON):
        with pytest.raises(EncodeError, match=why):
            each.encode(LAYOUT, parts)


def test_deep_values_are_written() -> None:
    parts: list[dict[str, Any]] = [{"type": "array", "items": 1}] * 30_000 + [{"type": "array", "items": 0}]
    assert PYTHON.encode(LAYOUT, parts) == b"[" * 30_001 + b"]" * 30_001


@pytest.mark.parametrize(("levels", "shallow"), [(2, True), (DEEPEST, True), (DEEPEST + 1, False)])
def test_levels_are_those_of_json(levels: int, shallow: bool) -> None:
    frame = b"[[]," + b"[" * (levels - 1) + b"]" * (levels - 1) + b",1]"
    assert is_shallow(PYTHON.decode(LAYOUT, frame)) == shallow
    try:
        parse(frame)
    except DecodeError as refusal:
        assert refusal.reason is Reason.TOO_LONG  # noqa: PT017
        assert not shallow
    else:
        assert shallow


def test_a_dump_shows_each_part_at_its_place() -> None:
    frame = '\ufeff{ é : 1, "b":[x,{}] } behind'.replace("é", '"é"').encode()
    rows = [(row.path, frame[row.offset : row.offset + len(row.data)].decode()) for row in dump(LAYOUT, frame).rows]
    assert rows == [
        ("(byte-order-mark)", "\ufeff"),
        ("(frame)", "{"),
        ('"é"', '"é" : 1'),
        ("b", '"b":['),
        ("b[0]", "x"),
        ("b[1]", "{"),
        ("b[1]", "}"),
        ("b", "]"),
        ("(frame)", "}"),
        ("(behind)", " behind"),
    ]


@given(st.binary(max_size=30))
def test_any_bytes_are_read_alike(frame: bytes) -> None:
    assert outcome(frame, PYTHON) == outcome(frame, REFERENCE)
