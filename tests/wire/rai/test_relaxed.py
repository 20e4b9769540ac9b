"""Relaxed JSON: what each dialect takes and refuses, and where; values that keep what texts have; spellings."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.envelope import LARGEST
from wire.errors import DecodeError, EncodeError, Reason
from wire.rai.relaxed import (
    Dialect,
    Members,
    Number,
    Spelling,
    Value,
    canonical,
    parse,
    plain_of,
    spell,
    value_of,
)

ALL = (Dialect.STRICT, Dialect.RELAXED, Dialect.LENIENT)
RELAXED = (Dialect.RELAXED,)


def members(**named: Value) -> Members:
    return Members(named.items())


def refusal(text: str | bytes, dialect: Dialect = Dialect.RELAXED) -> tuple[Reason, int]:
    """Return why and where a text is refused."""
    with pytest.raises(DecodeError) as caught:
        parse(text if isinstance(text, bytes) else text.encode(), dialect)
    return caught.value.reason, caught.value.offset


STRICT_TEXTS: list[tuple[str, Value]] = [
    ("{}", Members()),
    ("[]", []),
    (' {"a" : [ 1 , 2 ] }\r\n', members(a=[Number("1"), Number("2")])),
    ('{"a":17.50}', members(a=Number("17.50"))),
    ('{"a":-0,"b":1e-7,"c":123456789012345678901234567890}', None),
    ('{"a":1,"a":2}', Members((("a", Number("1")), ("a", Number("2"))))),
    ('{"a\\nb":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"}', Members((("a\nb", '"\\/\b\f\n\r\té😀'),))),
    ("[true,false,null]", [True, False, None]),
    ('"é"', "é"),
    ("-17", Number("-17")),
]


@pytest.mark.parametrize("dialect", [Dialect.STRICT, Dialect.RELAXED])
@pytest.mark.parametrize(("text", "value"), STRICT_TEXTS)
def test_strict_texts_mean_the_same_in_both(text: str, value: Value, dialect: Dialect) -> None:
    found = parse(text.encode(), dialect)
    if value is not None:
        assert found == value
    # As the scanner reads it that reads what the library cannot: white space of C in front is relaxed.
    assert parse(b"\v" + text.encode(), Dialect.RELAXED) == found


# What the parser of the protocol's author took.
TAKEN: list[tuple[str, Value]] = [
    ("{a:1}", members(a=Number("1"))),
    ('{a:"1","b":c}', members(a="1", b="c")),
    ("{_a.b-c9:_x.y-9}", Members((("_a.b-c9", "_x.y-9"),))),
    ("{a:+5,b:-5,c:007,d:5.,e:1e5,f:1.e+5}", None),
    ("{a:1,}", members(a=Number("1"))),
    ("[1,]", [Number("1")]),
    ("{a:1,a:2}", Members((("a", Number("1")), ("a", Number("2"))))),
    ('{a:"x\ny\x01"}', members(a="x\ny\x01")),
    ('{a:"\\q\\\n"}', members(a="q\n")),
    ("\ufeff{}", Members()),
    ("{} behind", Members()),
    ("[1] {", [Number("1")]),
    ("{a:inf,b:nan,c:info}", members(a="inf", b="nan", c="info")),
    ("{true:tru,nul:t}", members(true="tru", nul="t")),
]


@pytest.mark.parametrize(("text", "value"), TAKEN)
def test_relaxed_texts(text: str, value: Value) -> None:
    found = parse(text.encode())
    if value is not None:
        assert found == value
    refusal(text, Dialect.STRICT)


REFUSED = [
    ("{'a':1}", Reason.BAD_SYNTAX, 1),
    ("{a:'b'}", Reason.BAD_SYNTAX, 3),
    ("{a:1 b:2}", Reason.BAD_SYNTAX, 5),
    ("{a:1\nb:2}", Reason.BAD_SYNTAX, 5),
    ("{a:4fabc0}", Reason.BAD_SYNTAX, 4),
    ("{a:12:30}", Reason.BAD_SYNTAX, 5),
    ("{a:2023-01-01}", Reason.BAD_SYNTAX, 7),
    ("{a:0x12}", Reason.BAD_SYNTAX, 4),
    ("{a:.5}", Reason.BAD_SYNTAX, 3),
    ("{/*a*/}", Reason.BAD_SYNTAX, 1),
    ("{a:pgm://host:port}", Reason.BAD_SYNTAX, 6),
    ("{a:>}", Reason.BAD_SYNTAX, 3),
    ("{a:}", Reason.BAD_SYNTAX, 3),
    ("{1a:1}", Reason.BAD_SYNTAX, 1),
    ("{a:nullx}", Reason.BAD_SYNTAX, 7),
    ("{a:trueish}", Reason.BAD_SYNTAX, 7),
    ("{a:-}", Reason.BAD_SYNTAX, 4),
    ("{a:1e}", Reason.BAD_SYNTAX, 5),
    ("{a:1.e+}", Reason.BAD_SYNTAX, 7),
    ("{a:1,,}", Reason.BAD_SYNTAX, 5),
    ("[,]", Reason.BAD_SYNTAX, 1),
    ("{,}", Reason.BAD_SYNTAX, 1),
    ("{a{}}", Reason.BAD_SYNTAX, 2),
    ('{"\\n"1}', Reason.BAD_SYNTAX, 5),
    ('{a:"\0"}', Reason.BAD_SYNTAX, 4),
    ('{a:"\\\0"}', Reason.BAD_SYNTAX, 5),
    ('{a:"\\u0000"}', Reason.BAD_SYNTAX, 9),
    ('{a:"\\u00x0"}', Reason.BAD_SYNTAX, 8),
    ('{a:"\\ud83d"}', Reason.BAD_SYNTAX, 10),
    ('{a:"\\ud83d\\u0041"}', Reason.BAD_SYNTAX, 12),
    ('{a:"\\udc00"}', Reason.BAD_SYNTAX, 7),
    ("{a:[1}", Reason.BAD_SYNTAX, 5),
    ("é", Reason.BAD_SYNTAX, 0),
    ("{é:1}", Reason.BAD_SYNTAX, 1),
    ('{"é":x é}', Reason.BAD_SYNTAX, 8),
    ("", Reason.TRUNCATED, 0),
    (" ", Reason.TRUNCATED, 1),
    ("{", Reason.TRUNCATED, 1),
    ("{a", Reason.TRUNCATED, 2),
    ("{a:", Reason.TRUNCATED, 3),
    ("{a:-", Reason.TRUNCATED, 4),
    ("{a:1", Reason.TRUNCATED, 4),
    ('{"a', Reason.TRUNCATED, 3),
    ('{a:"\\', Reason.TRUNCATED, 5),
    ('{a:"\\u00', Reason.TRUNCATED, 8),
    ("1e", Reason.TRUNCATED, 2),
    ("a b", Reason.TRAILING, 2),
    ("1 2", Reason.TRAILING, 2),
    ("nullx", Reason.TRAILING, 4),
    ('"a",', Reason.TRAILING, 3),
]


@pytest.mark.parametrize(("text", "reason", "offset"), REFUSED)
def test_refused_in_relaxed(text: str, reason: Reason, offset: int) -> None:
    assert refusal(text) == (reason, offset)


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        ("{a:1}", Reason.BAD_SYNTAX, 1),
        ('{"a":1,}', Reason.BAD_SYNTAX, 7),
        ("[1,]", Reason.BAD_SYNTAX, 3),
        ("01", Reason.TRAILING, 1),
        ("[1.]", Reason.BAD_SYNTAX, 3),
        ("[+1]", Reason.BAD_SYNTAX, 1),
        ("[tru]", Reason.BAD_SYNTAX, 4),
        ("[NaN]", Reason.BAD_SYNTAX, 1),
        ("[nan]", Reason.BAD_SYNTAX, 2),
        ("-Infinity", Reason.BAD_SYNTAX, 1),
        ('"\n"', Reason.BAD_SYNTAX, 1),
        ('"\\q"', Reason.BAD_SYNTAX, 2),
        ("{} {}", Reason.TRAILING, 3),
        ("\ufeff{}", Reason.BAD_SYNTAX, 0),
        ("\v1", Reason.BAD_SYNTAX, 0),
    ],
)
def test_refused_in_strict(text: str, reason: Reason, offset: int) -> None:
    assert refusal(text, Dialect.STRICT) == (reason, offset)


@pytest.mark.parametrize("dialect", ALL)
def test_what_is_no_utf_8(dialect: Dialect) -> None:
    assert refusal(b'{"a":"\xff"}', dialect) == (Reason.BAD_TEXT, 6)
    assert refusal(b'{"a":"\xc3', dialect) == (Reason.TRUNCATED, 7)


def test_what_is_no_utf_8_behind_a_text() -> None:
    assert refusal(b"{} \xff") == (Reason.BAD_TEXT, 3)


@pytest.mark.parametrize("dialect", ALL)
def test_depth_has_a_bound(dialect: Dialect) -> None:
    assert parse(b"[" * 64 + b"]" * 64, dialect)
    assert refusal(b"[" * 65 + b"]" * 65, dialect) == (Reason.TOO_LONG, 64)
    assert refusal(b"[" * 100_000, dialect) == (Reason.TOO_LONG, 64)
    assert refusal(b'{"a":' * 20_000, dialect) == (Reason.TOO_LONG, 64 * 5)


def test_size_has_a_bound() -> None:
    assert refusal(b" " * (LARGEST + 1)) == (Reason.TOO_LONG, LARGEST)


def test_levels_are_not_brackets() -> None:
    """A text may have more brackets than levels: what is quick about few of them is right about many."""
    text = b"[" + b",".join([b"{}"] * 500) + b"]"
    assert parse(text) == [Members()] * 500


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(DecodeError) as caught:
        parse(b'{data:{"a b":[1,{x:?}]}}')
    assert caught.value.path == 'data."a b"[1].x'


def test_members() -> None:
    found = parse(b"{b:1,a:x,b:2}")
    assert isinstance(found, Members)
    assert found.names() == ["b", "a", "b"]
    assert found.get("b") == Number("1")
    assert found.get("c") is None
    assert found.get("c", "none") == "none"
    assert found.has("a")
    assert not found.has("c")
    assert found.without("b") == members(a="x")
    assert repr(found) == "Members(b=Number(spelling='1'), a='x', b=Number(spelling='2'))"
    assert plain_of(found) == {"b": 1, "a": "x"}


@pytest.mark.parametrize(
    ("spelling", "integer", "decimal", "strictly"),
    [
        ("17", 17, "17", "17"),
        ("+17", 17, "17", "17"),
        ("-0017", -17, "-17", "-17"),
        ("17.50", None, "17.50", "17.50"),
        ("17.", None, "17", "17"),
        ("+007.e+5", None, "7E+5", "7e+5"),
        ("000", 0, "0", "0"),
        ("1e3", None, "1E+3", "1e3"),
        ("9" * 65, None, "9" * 65, "9" * 65),
        ("1e" + "9" * 30, None, "NaN", "1e" + "9" * 30),
    ],
)
def test_numbers(spelling: str, integer: int | None, decimal: str, strictly: str) -> None:
    number = parse(spelling.encode())
    assert isinstance(number, Number)
    assert (number.spelling, number.integer, str(number.decimal), number.strictly) == (
        spelling,
        integer,
        decimal,
        strictly,
    )


def test_a_number_of_no_text_has_no_strict_spelling() -> None:
    with pytest.raises(EncodeError):
        spell(Number("x"))


def test_canonical_texts() -> None:
    value = parse(b'{ b : x, "a" : [ 17.50, +07, true, ], b : "\\u0001\\/\\u00e9\\n\x7f" }')
    assert canonical(value) == '{"b":"x","a":[17.50,+07,true],"b":"\\u0001/é\\n\x7f"}'.encode()


def test_spellings() -> None:
    value = parse(b'{a:"b c",d:e,"1":[+07,true,"true",{}],n:null,l:[]}')
    assert spell(value) == b'{"a":"b c","d":"e","1":[7,true,"true",{}],"n":null,"l":[]}'
    assert spell(value, Spelling.RELAXED) == b'{a:"b c",d:e,"1":[+07,true,"true",{}],n:null,l:[]}'
    assert spell(value, Spelling.PRETTY).decode() == (
        '{\n  "a": "b c",\n  "d": "e",\n  "1": [\n    7,\n    true,\n    "true",\n    {}\n  ],\n'
        '  "n": null,\n  "l": []\n}'
    )


def test_what_no_text_stands_for() -> None:
    deep: Value = []
    for _ in range(100):
        deep = [deep]
    for value in (deep, "\ud800", 1, {"a": 1}, ("a",)):
        with pytest.raises(EncodeError):
            canonical(value)  # type: ignore[arg-type]


def test_plain_data() -> None:
    plain = {"a": 1, "b": [True, None, "x", Decimal("17.50"), 1.5], "c": {}}
    value = value_of(plain)
    assert canonical(value) == b'{"a":1,"b":[true,null,"x",17.50,1.5],"c":{}}'
    assert plain_of(value) == {"a": 1, "b": [True, None, "x", Decimal("17.50"), Decimal("1.5")], "c": {}}
    for other in (float("inf"), float("nan"), b"", object()):
        with pytest.raises(EncodeError):
            value_of(other)


NUMBERS = st.from_regex(r"\A-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?\Z").map(Number)
TEXTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"))
VALUES: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.booleans() | TEXTS | NUMBERS | st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_.-]{0,9}\Z"),
    lambda inner: st.lists(inner) | st.lists(st.tuples(TEXTS, inner)).map(Members),
)


@given(VALUES, st.sampled_from(Spelling))
def test_what_is_written_reads_back(value: Value, spelling: Spelling) -> None:
    text = spell(value, spelling)
    assert parse(text) == value
    if spelling is not Spelling.RELAXED:
        assert parse(text, Dialect.STRICT) == value


@given(st.binary() | st.text("{}[]:,\"\\u0aetrn'-+. \n\ud800".replace("\ud800", "")).map(str.encode))
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    for dialect in ALL:
        try:
            value = parse(data, dialect)
        except DecodeError as refused:
            offset = refused.offset
        else:
            offset = 0
            assert parse(canonical(value)) == value
        assert 0 <= offset <= len(data)
