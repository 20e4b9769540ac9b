"""The filter language held to its ABNF: both parsers over all short texts, the layouts' engines, hostile texts."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from construct import Struct
from hypothesis import given
from hypothesis import strategies as st

import wire.pathfinder
from vectors.pathfinder.filter_samples import near_valid
from vectors.pathfinder.filter_samples import sample as sample_tree
from vectors.pathfinder.filter_specimens import (
    MUTATIONS,
    every_branch,
    exercised,
    large_specimens,
    mutated,
    sample,
    specimens,
)
from wire import catalogue
from wire.derivation import NoDerivation, derive
from wire.dump import dump
from wire.emit.__main__ import sources
from wire.engines import MissingEngine, engine, live, present
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.kinds import Language, Limited
from wire.languages import by_hand
from wire.layout import lay_out
from wire.pathfinder import filter_language
from wire.pathfinder.filter_language import LAYOUTS, tree_of, value_of
from wire.pathfinder.filters import And, Equal, Filter, FilterError, Less, Not, Or, Substring, parse, spell
from wire.pathfinder.grammar import LARGEST
from wire.pathfinder.grammar_filters import DOCUMENT_RULES, deployed, document, read, write
from wire.pathfinder.matching import matches
from wire.primitives import Span
from wire.reference import decode, encode
from wire.runtime import Codec

READINGS = pytest.mark.parametrize("reading", ["filter", "deployed-filter"])
BY_HAND = {name: by_hand(grammar, f"pathfinder/{name}") for name, grammar in LAYOUTS.items()}
RULES = {"filter": document, "deployed-filter": deployed}

Verdict = Filter | tuple[int, bool]
"""A filter; or where a text stops to be one, and whether it has been a whole one up to there."""


def derived(text: str, reading: str) -> Verdict:
    try:
        return read(text, RULES[reading])
    except NoDerivation as refusal:
        return refusal.offset, refusal.whole


def parsed(text: str, reading: str) -> Verdict:
    try:
        return parse(text, deployed=reading == "deployed-filter")
    except FilterError as refusal:
        return refusal.offset, refusal.expected == "the end"


# The grammar is the document's


@pytest.fixture(scope="module")
def section() -> str:
    """The ABNF as the document has it; the documents are not part of the repository."""
    folder = os.environ.get("GOLDWIRE_DOCUMENTS")
    if not folder:
        pytest.skip("GOLDWIRE_DOCUMENTS names no folder with the documents")
    for file in Path(folder).iterdir():
        text = file.read_text(errors="ignore") if file.is_file() else ""
        found = re.search(r"^ +filter +=.*?(?=^\S)", text, re.MULTILINE | re.DOTALL)
        if found:
            return found.group()
    pytest.skip(f"no document in {folder} has the grammar")


def test_the_rules_are_those_of_the_document(section: str) -> None:
    lines = re.sub(r" *;.*", "", section)
    rules = re.findall(r"^ {4}(\S+) +=(.*(?:\n {5,}.*)*)", lines, re.MULTILINE)
    theirs = {
        name: re.sub(r"0\*", "*", re.sub(r"(?<=[(\[]) | (?=[)\]])", "", " ".join(rule.split()))) for name, rule in rules
    }
    ours = {rule.name: str(rule).partition(" = ")[2] for rule in document.rules}
    undefined = {"equal", "greater", "less", "DIGIT"}
    assert {name: rule for name, rule in ours.items() if name not in undefined} == theirs
    assert not undefined & set(theirs)


def test_where_the_readings_differ() -> None:
    differing = {one.name for one, other in zip(document.rules, deployed.rules, strict=True) if one != other}
    assert differing == {"filterlist", "simple", "key", "unescaped"}


@READINGS
@pytest.mark.parametrize("text", ["(name=service-a)", "(&(name=service-a)(version>11))", "(game= a space adventure )"])
def test_the_examples_of_the_document(text: str, reading: str) -> None:
    assert derived(text, reading) == parsed(text, reading)
    assert BY_HAND[reading].encode(BY_HAND[reading].decode(text.encode())) == text.encode()


# Both parsers over all short texts


def longer(before: str, verdict: Verdict, piece: str, reading: str) -> Verdict:
    """Return what the grammar says of a text with a piece more, given what it says of it without.

    A beginning that no filter has is refused whatever follows: so the grammar is asked about such texts once.
    """
    if isinstance(verdict, tuple) and verdict[0] < len(before):
        return verdict
    return derived(before + piece, reading)


@pytest.mark.sweep
@pytest.mark.slow  # every text: hundreds of thousands
@READINGS
def test_all_short_texts(reading: str) -> None:
    """Every text of up to four characters; of five and six those that begin with a parenthesis, as filters do."""
    verdicts: dict[str, Verdict] = {"": derived("", reading)}
    for length in range(1, 7):
        verdicts = {
            before + character: longer(before, verdict, character, reading)
            for before, verdict in verdicts.items()
            if length < 5 or before.startswith("(")
            for character in ALPHABET
        }
        for text, verdict in verdicts.items():
            assert parsed(text, reading) == verdict, text
    assert sum(not isinstance(verdict, tuple) for verdict in verdicts.values()) > 100


ALPHABET = "()&|!=<>*\\a-0}"


@pytest.mark.slow  # every row: a hundred thousand texts
@READINGS
@pytest.mark.parametrize(
    ("pieces", "most"),
    [
        ("( ) & | ! = (a=a) (!( (&( \\*", 7),
        ("(a= ( ) * \\* \\ a b**", 6),
        ("(a> (!(a< ) - 0 1 7 a * >", 6),
        ("(& (|(a=*) (!(a=a)) (a<1) ) & * (a=}) \x00", 6),
    ],
)
def test_all_rows_of_a_few_pieces(pieces: str, most: int, reading: str) -> None:
    """Every row of these pieces as long as some filter begins so, and each piece that spoils it."""
    verdicts: dict[str, Verdict] = {"": derived("", reading)}
    accepted = 0
    for _ in range(most):
        made = {
            before + piece: longer(before, verdict, piece, reading)
            for before, verdict in verdicts.items()
            for piece in pieces.split(" ")
        }
        for text, verdict in made.items():
            assert parsed(text, reading) == verdict, text
            accepted += not isinstance(verdict, tuple)
        verdicts = {
            text: verdict for text, verdict in made.items() if isinstance(verdict, tuple) and verdict[0] == len(text)
        }
    assert accepted > 10


# The engines of the layouts


def answer(codec: Codec, frame: bytes) -> Any:
    try:
        return codec.decode(frame)
    except DecodeError as refusal:
        return refusal.reason, refusal.offset


def reference(reading: str) -> Codec:
    return Codec(lambda data: decode(LAYOUTS[reading], data), lambda value: encode(LAYOUTS[reading], value))


LONG = 1000
"""Bytes of frames that one engine is enough to write: the reference reads what it has written."""


def check(frame: bytes, reading: str) -> Any:
    """Hold both engines to each other over one frame."""
    slow, fast = reference(reading), BY_HAND[reading]
    expected = answer(slow, frame)
    assert answer(fast, frame) == expected, frame[:80]
    if isinstance(expected, list):
        assert fast.encode(expected) == frame
        assert len(frame) > LONG or slow.encode(expected) == frame
    else:
        assert 0 <= expected[1] <= len(frame)
    return expected


@READINGS
def test_specimens(reading: str) -> None:
    taken: set[str] = set()
    refusals: set[Reason] = set()
    names: set[str] = set()
    for specimen in specimens():
        found = check(specimen.frame, reading)
        assert specimen.name not in names
        names.add(specimen.name)
        taken |= exercised(specimen.frame, deployed=reading == "deployed-filter")
        refusals |= set() if isinstance(found, list) else {found[0]}
    assert every_branch(deployed=reading == "deployed-filter") - taken == set()
    assert refusals == {Reason.TRUNCATED, Reason.BAD_SYNTAX, Reason.BAD_TEXT, Reason.TRAILING}


@pytest.mark.slow  # 20,000 levels, derived by the document's grammar
def test_large_specimens() -> None:
    found = {specimen.name: check(specimen.frame, "filter") for specimen in large_specimens()}
    assert found[f"{LARGEST + 1} bytes"] == (Reason.TOO_LONG, LARGEST)
    assert found["nots nested 20000 deep, one not closed"] == (Reason.TRUNCATED, 3 * 20_000 + 5 - 1)
    deep = found["nots nested 20000 deep"]
    assert len(deep) == 20_001
    # Nothing depends on the depth: comparing, printing, JSON.
    assert deep == list(deep)
    assert repr(deep).startswith("[{'type': 'not'}, {'type': 'not'}")
    assert json.loads(json.dumps(deep)) == deep


@READINGS
def test_samples_and_their_mutations(reading: str) -> None:
    rng = Random(4)
    is_deployed = reading == "deployed-filter"
    outcomes: dict[str, set[bool]] = {}
    for _ in range(150):
        value = sample(rng, deployed=is_deployed)
        frame = BY_HAND[reading].encode(value)
        assert check(frame, reading) == value
        for _ in range(3):
            name, frame = mutated(rng, frame)
            outcomes.setdefault(name, set()).add(isinstance(check(frame, reading), list))
    assert set(outcomes) == {name for name, _ in MUTATIONS}
    assert sum(outcome == {True, False} for outcome in outcomes.values()) > 10


@given(st.randoms(use_true_random=False), st.sampled_from(list(LAYOUTS)))
def test_engines_agree_on_what_is_near_a_filter(rng: Random, reading: str) -> None:
    is_deployed = reading == "deployed-filter"
    check(near_valid(rng, deployed=is_deployed).text.encode(errors="surrogatepass"), reading)
    check(mutated(rng, BY_HAND[reading].encode(sample(rng, deployed=is_deployed)))[1], reading)


PIECES = [
    "(",
    ")",
    "(&",
    "(|",
    "(!",
    "(a=b)",
    "(a=",
    "*",
    "\\",
    "\\*",
    "=",
    "<",
    ">",
    "-",
    "0",
    "7",
    "}",
    "é",
    "\x00",
    "日",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from(list(LAYOUTS)))
def test_engines_agree_on_rows_of_pieces(text: str, reading: str) -> None:
    for candidate in (text, f"({text})", f"(a={text})", f"(&(a=b){text})", f"(a<{text})"):
        check(candidate.encode(), reading)


@given(st.binary(max_size=12), st.sampled_from(list(LAYOUTS)))
def test_engines_agree_on_bytes(data: bytes, reading: str) -> None:
    for frame in (data, b"(a=" + data, b"(" + data + b"=b)", b"(a=b)" + data):
        check(frame, reading)


@given(st.randoms(use_true_random=False), st.booleans())
def test_the_grammar_and_the_printer_write_the_same(rng: Random, is_deployed: bool) -> None:
    tree = sample_tree(rng, deployed=is_deployed)
    text = spell(tree, deployed=is_deployed)
    assert write(tree, deployed if is_deployed else document) == text
    assert tree_of(value_of(tree)) == tree


@pytest.mark.parametrize(
    ("frame", "reason", "offset", "detail"),
    [
        (b"", Reason.TRUNCATED, 0, "the text ends: the filter goes on with LPAREN"),
        (b"(&(a=b)", Reason.TRUNCATED, 7, "the text ends: the filter goes on with LPAREN or RPAREN"),
        (b"(a=b)x", Reason.TRAILING, 5, "1 byte over behind the filter"),
        (b"(a=b)(c=d)", Reason.TRAILING, 5, "5 bytes over behind the filter"),
        (b"(a=\\x)", Reason.BAD_SYNTAX, 4, "'x': the filter goes on with special"),
        (
            "(é=日\0)".encode(),
            Reason.BAD_SYNTAX,
            7,
            "U+0000: the filter goes on with ASTERISK or ESC or RPAREN or unescaped",
        ),
        (
            "(日=é!)".encode(),
            Reason.BAD_SYNTAX,
            7,
            "'!': the filter goes on with ASTERISK or ESC or RPAREN or unescaped",
        ),
        (b"(&\xff)", Reason.BAD_TEXT, 2, "not UTF-8"),
        (b"(a=\xff)", Reason.BAD_TEXT, 3, "not UTF-8"),
        (b"(a=x\xed\xa0\x80)", Reason.BAD_TEXT, 4, "not UTF-8"),
        (b"(a=b)\xff", Reason.BAD_TEXT, 5, "not UTF-8"),
        (b"(a=b)x\xff", Reason.TRAILING, 5, "2 bytes over behind the filter"),
        (b"(a==\xff)", Reason.BAD_SYNTAX, 3, "'=': the filter goes on with ASTERISK or ESC or RPAREN or unescaped"),
        (b"(a=\xe6\x97", Reason.TRUNCATED, 5, "the text ends within a character"),
        (b"(a=\xe6\x97)", Reason.BAD_TEXT, 3, "not UTF-8"),
        (b"(&\xe6\x97", Reason.BAD_TEXT, 2, "not UTF-8"),
        (b"(" * (LARGEST + 1), Reason.TOO_LONG, LARGEST, f"{LARGEST + 1} bytes, at most {LARGEST} fit"),
    ],
)
def test_refusals(frame: bytes, reason: Reason, offset: int, detail: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        decode(LAYOUTS["filter"], frame)
    said = refusal.value
    assert (said.reason, said.offset, said.path, said.detail) == (reason, offset, "(frame)", detail)
    assert answer(BY_HAND["filter"], frame) == (reason, offset)


@READINGS
def test_every_beginning_of_a_filter_is_truncated(reading: str) -> None:
    frame = "(|(&(é\\==日*c**)(!(a>-10)))(😀=*))".encode()
    for cut in range(len(frame)):
        assert check(frame[:cut], reading) == (Reason.TRUNCATED, cut)
    assert isinstance(check(frame, reading), list)


EQUAL = {"type": "equal", "key": "a", "value": "b"}
UNFIT: list[Any] = [
    None,
    "(a=b)",
    {},
    EQUAL,
    [],
    [None],
    [{}],
    [{"type": "nothing"}],
    [{"type": []}],
    [{"type": "equal", "key": "a"}],
    [EQUAL | {"more": 1}],
    [EQUAL | {"value": 5}],
    [EQUAL | {"value": None}],
    [EQUAL | {"key": b"a"}],
    [EQUAL | {"key": "\ud800"}],
    [EQUAL | {"key": "a\x00"}],
    [EQUAL, EQUAL],
    [{"type": "not"}],
    [{"type": "not"}, EQUAL, EQUAL],
    [{"type": "not", "filters": 1}, EQUAL],
    [{"type": "and", "filters": 0}],
    [{"type": "or", "filters": 3}, EQUAL, EQUAL],
    [{"type": "or", "filters": 1}, EQUAL, EQUAL],
    [{"type": "and", "filters": -1}],
    [{"type": "and", "filters": True}, EQUAL],
    [{"type": "and", "filters": 2.0}, EQUAL, EQUAL],
    [{"type": "and", "filters": [EQUAL, EQUAL]}],
    [{"type": "substring", "key": "a", "initial": "", "any": [], "final": ""}],
    [{"type": "substring", "key": "a", "initial": "b", "any": "c", "final": ""}],
    [{"type": "substring", "key": "a", "initial": "b", "any": [5], "final": ""}],
    [{"type": "substring", "key": "a", "initial": "b", "any": None, "final": ""}],
    pytest.param([EQUAL | {"value": "x" * LARGEST}], marks=pytest.mark.slow),  # the document's grammar reads it through
]


@READINGS
@pytest.mark.parametrize("value", UNFIT, ids=range(len(UNFIT)))
def test_values_that_do_not_fit(value: Any, reading: str) -> None:
    for codec in (reference(reading), BY_HAND[reading]):
        with pytest.raises(EncodeError):
            codec.encode(value)


DOCUMENT_ONLY: list[Any] = [
    [{"type": "and", "filters": 1}, EQUAL],
    [EQUAL | {"key": ""}],
    [{"type": "present", "key": ""}],
    [{"type": "greater", "key": "a", "value": "x"}],
    [{"type": "less", "key": "a", "value": "-"}],
]


def test_values_that_fit_one_reading() -> None:
    for value in DOCUMENT_ONLY:
        assert reference("filter").encode(value) == BY_HAND["filter"].encode(value)
    for value, reading in [
        *((value, "deployed-filter") for value in DOCUMENT_ONLY),
        ([EQUAL | {"value": "}"}], "filter"),
    ]:
        for codec in (reference(reading), BY_HAND[reading]):
            with pytest.raises(EncodeError):
                codec.encode(value)


def test_an_encode_error_names_the_part() -> None:
    for codec in (reference("filter"), BY_HAND["filter"]):
        with pytest.raises(EncodeError, match=r"\[1\]\.value: 5 does not fit"):
            codec.encode([{"type": "not"}, EQUAL | {"value": 5}])
        with pytest.raises(EncodeError, match=r"\[0\]: 2 filters are said to follow, and 1 do"):
            codec.encode([{"type": "and", "filters": 2}, EQUAL])


# Hostile texts


@pytest.mark.slow  # 20,000 levels, derived by the document's grammar
@pytest.mark.parametrize(
    "text",
    [
        "(!" * 20_000 + "(a=b)" + ")" * 20_000,
        "(&" * 5_000 + "(a=b)" + "(c=d))" * 5_000,
        "(a=" + "*" * 50_000 + ")",
        "(a=" + "*a" * 20_000 + "*b)",
        "(a=" + "\\*" * 20_000 + ")",
    ],
    ids=["nots", "ands", "asterisks", "substrings", "escapes"],
)
def test_hostile_texts_are_derived(text: str) -> None:
    derivation = derive(document, text)
    assert derivation.nodes[-1][:3] == ("filter", 0, len(text))
    assert read(text) == parse(text)
    assert derived(text[:-1], "filter") == parsed(text[:-1], "filter") == (len(text) - 1, False)


def test_a_substring_filter_that_was_built_to_explode() -> None:
    """Reading and matching: stars against a long string that almost matches."""
    text = "(a=" + "*a" * 5_000 + "*b)"
    tree = read(text)
    assert tree == Substring("a", "", ("a",) * 5_000, "b")
    assert not matches(tree, {"a": ["a" * 50_000]})
    assert not matches(tree, {"a": ["a" * 4_999 + "b"]})
    assert matches(tree, {"a": ["a" * 5_000 + "b"]})


# In the catalogue


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The catalogue with the layouts of filters, whether or not they are in it for good."""
    monkeypatch.setattr(wire.pathfinder, "LAYOUTS", wire.pathfinder.LAYOUTS | LAYOUTS)
    caches = (catalogue.grammars, catalogue.grammars_of, catalogue.layout)
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("joined")
@READINGS
def test_as_any_other_layout(reading: str) -> None:
    name = f"pathfinder/{reading}"
    tree = catalogue.layout(name)
    assert tree.is_text
    assert not tree.is_json
    assert tree.root == Limited(LARGEST, Language("filter", RULES[reading]))
    assert [each.name for each in present(name)] == ["reference", "python"]
    assert live(name).name == "python"
    with pytest.raises(MissingEngine, match="which no C reads"):
        engine("native").codec(name)
    value = [{"type": "and", "filters": 2}, EQUAL, {"type": "less", "key": "é", "value": "5"}]
    for each in present(name):
        assert each.decode(name, "(&(a=b)(é<5))".encode()) == value
        assert each.encode(name, value) == "(&(a=b)(é<5))".encode()
    with pytest.raises(DecodeError) as expected:
        engine("reference").decode(name, b"(a=\0)")
    with pytest.raises(DecodeError) as caught:
        engine("python").decode(name, b"(a=\0)")
    assert str(caught.value) == str(expected.value)


@pytest.mark.usefixtures("joined")
def test_nothing_is_generated_for_it() -> None:
    generated = dict(sources("pathfinder"))
    assert "filter-" not in generated["python.py"]
    assert "filter" not in re.findall(r'^    "([a-z-]+)": Codec', generated["python.py"], re.MULTILINE)
    assert "/filter" not in generated["columnar.c"]
    assert set(generated) == {"python.py", "columnar.c", "__init__.py"}


def test_a_dump() -> None:
    spans: list[Span] = []
    frame = "(&(é=b)(!(c>5))(d=x*))".encode()
    value = decode(LAYOUTS["filter"], frame, spans=spans)
    assert b"".join(frame[span.start : span.end] for span in spans) == frame
    assert [(span.path, frame[span.start : span.end].decode()) for span in spans] == [
        ("[0]", "(&"),
        ("[1]", "(é=b)"),
        ("[2]", "(!"),
        ("[3]", "(c>5)"),
        ("[2]", ")"),
        ("[4]", "(d=x*)"),
        ("[0]", ")"),
    ]
    assert [span.value for span in spans if span.value != ")"] == value


@pytest.mark.usefixtures("joined")
def test_a_dump_of_a_deep_filter() -> None:
    dumped = dump("pathfinder/filter", b"(!" * 5000 + b"(a=b)" + b")" * 5000)
    assert len(dumped.rows) == 10_001


def test_a_language_is_a_whole_frame() -> None:
    with pytest.raises(CannotLayOut, match="its text is a whole frame"):
        lay_out(Struct("filter" / filter_language.document_filter))


def test_trees_and_values() -> None:
    tree = And((Or((Equal("a", "b"), Less("c", "5"))), Not(Substring("d", "e", ("f", ""), "g"))))
    value = value_of(tree)
    assert [part["type"] for part in value] == ["and", "or", "equal", "less", "not", "substring"]
    assert value[-1] == {"type": "substring", "key": "d", "initial": "e", "any": ["f", ""], "final": "g"}
    assert tree_of(value) == tree
    assert tree_of(tuple(value)) == tree


def test_names_of_the_rules_are_their_own() -> None:
    """A misspelled name would be a rule that nothing uses, or a part without its action."""
    used = {branch.partition(":")[0] for branch in every_branch()}
    assert set(DOCUMENT_RULES) - used == {"integer", "digits", "ZERO", "DIGIT1-9", "DIGIT", "MINUS"}
    assert set(DOCUMENT_RULES) - {branch.partition(":")[0] for branch in every_branch(deployed=True)} == {"op"}
