"""The filter language of Pathfinder: every production and every refusal, what filters match, hostile texts, samples."""

import sys
from collections.abc import Callable
from itertools import islice
from random import Random
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectors.pathfinder.filter_samples import (
    LEAST,
    MOST,
    Properties,
    matching_props,
    mutations,
    near_props,
    near_valid,
    sample,
)
from wire.errors import EncodeError
from wire.pathfinder.filters import (
    INTEGER,
    SPECIALS,
    And,
    Composite,
    Equal,
    Filter,
    FilterError,
    Greater,
    Less,
    Not,
    Or,
    Present,
    Substring,
    escape,
    parse,
    spell,
    walk,
)
from wire.pathfinder.matching import compiled, matches

DEEP = 20_004

AB, CD = Equal("a", "b"), Equal("c", "d")

# Texts and their filters in both readings

BOTH: dict[str, Filter] = {
    "(name=service-a)": Equal("name", "service-a"),  # the document's three examples
    "(&(name=service-a)(version>11))": And((Equal("name", "service-a"), Greater("version", "11"))),
    "(game= a space adventure )": Equal("game", " a space adventure "),
    "(a>1)": Greater("a", "1"),
    "(a<1)": Less("a", "1"),
    "(a>-1)": Greater("a", "-1"),
    "(a<-0)": Less("a", "-0"),
    "(a>0)": Greater("a", "0"),
    "(a<1180591620717411303424)": Less("a", "1180591620717411303424"),
    "(a=*)": Present("a"),
    "(a=b*)": Substring("a", "b", (), ""),
    "(a=*b)": Substring("a", "", (), "b"),
    "(a=b*c)": Substring("a", "b", (), "c"),
    "(a=*b*)": Substring("a", "", ("b",), ""),
    "(a=b*c*d*e)": Substring("a", "b", ("c", "d"), "e"),
    "(a=**)": Substring("a", "", ("",), ""),
    "(a=x**y)": Substring("a", "x", ("",), "y"),
    "(a=***)": Substring("a", "", ("", ""), ""),
    "(a=)": Equal("a", ""),
    "(&(a=b)(c=d))": And((AB, CD)),
    "(|(a=b)(c=d)(a=*))": Or((AB, CD, Present("a"))),
    "(!(a=b))": Not(AB),
    "(!(!(a=b)))": Not(Not(AB)),
    "(&(|(a=b)(c=d))(!(&(a=b)(c=d))))": And((Or((AB, CD)), Not(And((AB, CD))))),
    r"(\!\&\*\(\)\<=\=\>\\\|)": Equal("!&*()<", "=>\\|"),
    r"(a=\**\*)": Substring("a", "*", (), "*"),
    r"(a=\*)": Equal("a", "*"),
    "(a\n\t=\x01\x7f~{[]^`:;?/,+-.'\"#$%@)": Equal("a\n\t", "\x01\x7f~{[]^`:;?/,+-.'\"#$%@"),
    "(naïve=日本😀\U0010ffff\ue000\ud7ff)": Equal("naïve", "日本😀\U0010ffff\ue000\ud7ff"),
    "( = )": Equal(" ", " "),
}

# By the letter alone; with the offset at which deployed nodes give up

DOCUMENT_ONLY: dict[str, tuple[Filter, int]] = {
    "(=b)": (Equal("", "b"), 1),
    "(=)": (Equal("", ""), 1),
    "(=*)": (Present(""), 1),
    "(>5)": (Greater("", "5"), 1),
    "(&(=b)(c=d))": (And((Equal("", "b"), CD)), 3),
    "(a>)": (Greater("a", ""), 3),
    "(a>abc)": (Greater("a", "abc"), 3),
    "(a<+5)": (Less("a", "+5"), 3),
    "(a> 5)": (Greater("a", " 5"), 3),
    "(a>-)": (Greater("a", "-"), 4),
    "(a>007)": (Greater("a", "007"), 4),
    "(a>-01)": (Greater("a", "-01"), 5),
    "(a>1_0)": (Greater("a", "1_0"), 4),
    "(a>1.5)": (Greater("a", "1.5"), 4),
    "(a>5 )": (Greater("a", "5 "), 4),
    "(a>٣)": (Greater("a", "٣"), 3),
    r"(a>5\*)": (Greater("a", "5*"), 4),
    "(&(a=b))": (And((AB,)), 7),
    "(|(a=b))": (Or((AB,)), 7),
    "(&(a=b)(|(c=d)))": (And((AB, Or((CD,)))), 14),
}

# By deployed nodes alone; with the offset at which the ABNF ends

DEPLOYED_ONLY: dict[str, tuple[Filter, int]] = {
    "(a=})": (Equal("a", "}"), 3),
    "(a={})": (Equal("a", "{}"), 4),
    "(a}=b)": (Equal("a}", "b"), 2),
    "(a=x*}*)": (Substring("a", "x", ("}",), ""), 5),
}

REFUSED = [
    ("", 0, "'('", "the end"),
    ("a=b", 0, "'('", "'a'"),
    (" (a=b)", 0, "'('", "' '"),
    ("\ufeff(a=b)", 0, "'('", "U+FEFF"),
    (")", 0, "'('", "')'"),
    ("(", 1, "'&', '|', '!' or a key", "the end"),
    ("()", 1, "'&', '|', '!' or a key", "')'"),
    ("(*=b)", 1, "'&', '|', '!' or a key", "'*'"),
    ("((a=b))", 1, "'&', '|', '!' or a key", "'('"),
    ("(\x00=b)", 1, "'&', '|', '!' or a key", "U+0000"),
    ("(a", 2, "'=', '<' or '>'", "the end"),
    ("(a)", 2, "'=', '<' or '>'", "')'"),
    ("(a!=b)", 2, "'=', '<' or '>'", "'!'"),
    ("(a*=b)", 2, "'=', '<' or '>'", "'*'"),
    ("(a\x00=b)", 2, "'=', '<' or '>'", "U+0000"),
    ("(a\ud800=b)", 2, "'=', '<' or '>'", "U+D800"),
    ("(a=", 3, "'*' or ')'", "the end"),
    ("(a=b", 4, "'*' or ')'", "the end"),
    ("(a==b)", 3, "'*' or ')'", "'='"),
    ("(a=x!y)", 4, "'*' or ')'", "'!'"),
    ("(a=x&y)", 4, "'*' or ')'", "'&'"),
    ("(a=x|y)", 4, "'*' or ')'", "'|'"),
    ("(a=x(y)", 4, "'*' or ')'", "'('"),
    ("(a=x<y)", 4, "'*' or ')'", "'<'"),
    ("(a=x>y)", 4, "'*' or ')'", "'>'"),
    ("(a=\x00)", 3, "'*' or ')'", "U+0000"),
    ("(a=x\udfff)", 4, "'*' or ')'", "U+DFFF"),
    ("(a=*x=y)", 5, "'*' or ')'", "'='"),
    ("(a>5", 4, "')'", "the end"),
    ("(a>5*)", 4, "')'", "'*'"),
    ("(a<5>4)", 4, "')'", "'>'"),
    (r"(a=\x)", 4, r"one of ! & * ( ) < = > \ |", "'x'"),
    (r"(a=\})", 4, r"one of ! & * ( ) < = > \ |", "'}'"),
    ("(a=\\\x00)", 4, r"one of ! & * ( ) < = > \ |", "U+0000"),
    ("(a=\\", 4, r"one of ! & * ( ) < = > \ |", "the end"),
    (r"(\n=b)", 2, r"one of ! & * ( ) < = > \ |", "'n'"),
    (r"(a=b\)", 6, "'*' or ')'", "the end"),
    ("(&)", 2, "'('", "')'"),
    ("(|)", 2, "'('", "')'"),
    ("(!)", 2, "'('", "')'"),
    ("(&", 2, "'('", "the end"),
    ("(!a=b)", 2, "'('", "'a'"),
    ("(& (a=b)(c=d))", 2, "'('", "' '"),
    ("(&(a=b)(c=d)", 12, "'(' or ')'", "the end"),
    ("(&(a=b)(c=d) )", 12, "'(' or ')'", "' '"),
    ("(|(a=b)(c=d)x)", 12, "'(' or ')'", "'x'"),
    ("(!(a=b)", 7, "')'", "the end"),
    ("(!(a=b)(c=d))", 7, "')'", "'('"),
    ("(a=b))", 5, "the end", "')'"),
    ("(a=b)(c=d)", 5, "the end", "'('"),
    ("(a=b) ", 5, "the end", "' '"),
    ("(a=b)\n", 5, "the end", "U+000A"),
]


@pytest.mark.parametrize("deployed", [False, True])
@pytest.mark.parametrize("text", BOTH)
def test_productions(text: str, deployed: bool) -> None:
    assert parse(text, deployed=deployed) == BOTH[text]
    assert spell(BOTH[text], deployed=deployed) == text


@pytest.mark.parametrize("text", DOCUMENT_ONLY)
def test_where_deployed_nodes_are_stricter(text: str) -> None:
    tree, offset = DOCUMENT_ONLY[text]
    assert parse(text) == tree
    assert spell(tree) == text
    with pytest.raises(FilterError) as refusal:
        parse(text, deployed=True)
    assert refusal.value.offset == offset
    with pytest.raises(EncodeError):
        spell(tree, deployed=True)


@pytest.mark.parametrize("text", DEPLOYED_ONLY)
def test_where_the_letter_is_stricter(text: str) -> None:
    tree, offset = DEPLOYED_ONLY[text]
    assert parse(text, deployed=True) == tree
    assert spell(tree, deployed=True) == text
    with pytest.raises(FilterError) as refusal:
        parse(text)
    assert refusal.value.offset == offset
    with pytest.raises(EncodeError):
        spell(tree)


@pytest.mark.parametrize("deployed", [False, True])
@pytest.mark.parametrize(("text", "offset", "expected", "found"), REFUSED)
def test_refusals(text: str, offset: int, expected: str, found: str, deployed: bool) -> None:
    with pytest.raises(FilterError) as refusal:
        parse(text, deployed=deployed)
    assert (refusal.value.offset, refusal.value.expected, refusal.value.found) == (offset, expected, found)
    assert str(refusal.value) == f"no filter, at character {offset}: expected {expected}, found {found}"


@pytest.mark.parametrize(
    ("text", "offset", "expected", "found"),
    [
        ("(=b)", 1, "'&', '|', '!' or a key", "'='"),
        ("(a>)", 3, "an integer", "')'"),
        ("(a>x)", 3, "an integer", "'x'"),
        ("(a>", 3, "an integer", "the end"),
        ("(a>-", 4, "a digit", "the end"),
        ("(a>-x)", 4, "a digit", "'x'"),
        ("(a>--1)", 4, "a digit", "'-'"),
        ("(a>07)", 4, "')'", "'7'"),
        ("(&(a=b))", 7, "'(' (a second operand)", "')'"),
    ],
)
def test_refusals_of_deployed_nodes(text: str, offset: int, expected: str, found: str) -> None:
    with pytest.raises(FilterError) as refusal:
        parse(text, deployed=True)
    assert (refusal.value.offset, refusal.value.expected, refusal.value.found) == (offset, expected, found)


def test_each_character() -> None:
    """The classes of the ABNF, character by character."""
    ranges = ((1, 0x20), (0x22, 0x25), (0x27, 0x27), (0x2B, 0x3B), (0x3F, 0x5B), (0x5D, 0x7B), (0x7E, 0x10FFFF))
    for code in (*range(0x100), 0x2028, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF):
        character = chr(code)
        half = 0xD800 <= code <= 0xDFFF  # no character
        unescaped = any(first <= code <= last for first, last in ranges) and not half
        text, escaped = f"(a{character}={character})", f"(a\\{character}=\\{character})"
        assert accepts(text) is unescaped, text
        assert accepts(text, deployed=True) is (unescaped or character == "}"), text
        for deployed in (False, True):
            assert accepts(escaped, deployed=deployed) is (character in SPECIALS), escaped


def accepts(text: str, *, deployed: bool = False) -> bool:
    return refused(text, deployed=deployed) is None


def refused(text: str, *, deployed: bool = False) -> FilterError | None:
    try:
        parse(text, deployed=deployed)
    except FilterError as refusal:
        return refusal
    return None


@pytest.mark.parametrize(
    "tree",
    [
        And(()),
        Or(()),
        Not(And(())),
        Equal("a\x00", "b"),
        Equal("a", "\x00"),
        Greater("a", "\ud800"),
        Present("\udfff"),
        Substring("a", "", (), ""),
        Substring("a", "b", ("\x00",), "c"),
    ],
)
@pytest.mark.parametrize("deployed", [False, True])
def test_filters_without_a_text(tree: Filter, deployed: bool) -> None:
    with pytest.raises(EncodeError, match="filter: "):
        spell(tree, deployed=deployed)


def test_composites_are_values() -> None:
    one, other = (parse("(&(a=b)(!(c=d)))") for _ in range(2))
    assert one == other
    assert not one != other  # noqa: SIM202 (two methods)
    assert hash(one) == hash(other)
    assert repr(one) == "<And (&(a=b)(!(c=d)))>"
    assert And((AB, CD)) != Or((AB, CD))
    assert And((AB, CD)) != And((CD, AB))
    assert And((AB,)) != And((AB, AB))
    assert And((And((AB, CD)), CD)) != And((And((AB,)), CD, CD))
    assert Not(AB) != AB
    assert Not(AB) != "(!(a=b))"


# Property tests

STRINGS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00}"), max_size=6)
INTEGERS = st.integers(LEAST, MOST)
FEW = st.text("ab*\n", max_size=4)


def items(keys: st.SearchStrategy[str], strings: st.SearchStrategy[str]) -> st.SearchStrategy[Filter]:
    middles = st.lists(strings, max_size=3).map(tuple)
    operand = INTEGERS.map(str) | strings
    substring = st.builds(Substring, keys, strings, middles, strings).filter(
        lambda part: bool(part.initial or part.any or part.final)
    )
    return st.one_of(
        st.builds(Equal, keys, strings | st.integers(-3, 3).map(str)),
        st.builds(Greater, keys, operand | st.integers(-3, 3).map(str)),
        st.builds(Less, keys, operand | st.integers(-3, 3).map(str)),
        st.builds(Present, keys),
        substring,
    )


def trees(keys: st.SearchStrategy[str], strings: st.SearchStrategy[str]) -> st.SearchStrategy[Filter]:
    def composites(below: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
        several = st.lists(below, min_size=1, max_size=3).map(tuple)
        return st.builds(And, several) | st.builds(Or, several) | st.builds(Not, below)

    return st.recursive(items(keys, strings), composites, max_leaves=8)


@given(trees(STRINGS, STRINGS))
def test_a_spelled_filter_is_read_as_itself(tree: Filter) -> None:
    text = spell(tree)
    assert parse(text) == tree
    assert parse(f"(!{text})") == Not(tree)


@given(trees(STRINGS.filter(bool), STRINGS))
def test_deployed_nodes_read_the_same_or_refuse(tree: Filter) -> None:
    try:
        text = spell(tree, deployed=True)
    except EncodeError:
        assert not accepts(spell(tree), deployed=True)
    else:
        assert text == spell(tree)
        assert parse(text, deployed=True) == tree


@given(st.text(st.sampled_from("()&|!=<>*\\ab5-}\x00\ud800"), max_size=12), st.booleans())
def test_what_is_read_is_spelled_as_it_was(text: str, deployed: bool) -> None:
    """Whatever the text, it is refused within itself or comes back from its filter."""
    for candidate in (text, f"({text})", f"(a={text})", f"(&(a=b){text})"):
        refusal = refused(candidate, deployed=deployed)
        if refusal is None:
            assert spell(parse(candidate, deployed=deployed), deployed=deployed) == candidate
            continue
        assert 0 <= refusal.offset <= len(candidate)
        assert (refusal.found == "the end") == (refusal.offset == len(candidate))
        # What stands before the offset is not at fault: it is a filter, or a filter's beginning.
        before = refused(candidate[: refusal.offset], deployed=deployed)
        if refusal.expected == "the end":
            assert before is None
        else:
            assert before is not None
            assert (before.offset, before.expected) == (refusal.offset, refusal.expected)


@given(STRINGS)
def test_escape(string: str) -> None:
    assert parse(f"(a={escape(string)})") == Equal("a", string)


def naive(tree: Filter, props: Properties) -> bool:
    """The reading of the semantics, as briefly as it can be said."""
    if isinstance(tree, And):
        return all(naive(one, props) for one in tree.filters)
    if isinstance(tree, Or):
        return any(naive(one, props) for one in tree.filters)
    if isinstance(tree, Not):
        return not naive(tree.filter, props)
    return any(naive_value(tree, value) for value in props.get(tree.key, []))


def naive_value(item: Filter, value: str | int) -> bool:
    match item:
        case Equal(_, text):
            return str(value) == text
        case Greater(_, text):
            return isinstance(value, int) and INTEGER.fullmatch(text) is not None and value > int(text)
        case Less(_, text):
            return isinstance(value, int) and INTEGER.fullmatch(text) is not None and value < int(text)
        case Present():
            return True
        case Substring(_, initial, middles, final):
            return (
                isinstance(value, str) and value.startswith(initial) and anywhere(value[len(initial) :], middles, final)
            )
    raise AssertionError(item)


def anywhere(rest: str, middles: tuple[str, ...], final: str) -> bool:
    """Try every place for every middle."""
    if not middles:
        return rest.endswith(final)
    places = [place for place in range(len(rest) + 1) if rest.startswith(middles[0], place)]
    return any(anywhere(rest[place + len(middles[0]) :], middles[1:], final) for place in places)


VALUES = st.one_of(FEW, st.integers(-3, 3), INTEGERS, st.integers(-3, 3).map(str))
PROPS = st.dictionaries(st.sampled_from("ab"), st.lists(VALUES, max_size=3), max_size=2)


@given(trees(st.sampled_from("ab"), FEW), st.lists(PROPS, min_size=1, max_size=4))
def test_matching_is_what_the_naive_oracle_says(tree: Filter, services: list[Properties]) -> None:
    predicate = compiled(tree)
    for props in services:
        assert predicate(props) is naive(tree, props)
        assert matches(tree, props) is naive(tree, props)


# Matching by hand

MATCHES: list[tuple[str, Properties, bool]] = [
    ("(a=b)", {"a": ["b"]}, True),
    ("(a=b)", {"a": ["c", 5, "b"]}, True),
    ("(a=b)", {"a": ["B"]}, False),
    ("(a=b)", {"A": ["b"]}, False),
    ("(a=b)", {"a": ["b "]}, False),
    ("(a=b)", {"a": []}, False),
    ("(a=b)", {}, False),
    ("(a=)", {"a": [""]}, True),
    ("(a=)", {}, False),
    ("(=b)", {"": ["b"]}, True),
    ("(a=5)", {"a": [5]}, True),
    ("(a=5)", {"a": ["5"]}, True),
    ("(a=5)", {"a": [55, "05"]}, False),
    ("(a=05)", {"a": [5]}, False),
    ("(a=05)", {"a": ["05"]}, True),
    ("(a=-0)", {"a": [0]}, False),
    ("(a=-0)", {"a": ["-0"]}, True),
    ("(a=-5)", {"a": [-5]}, True),
    (f"(a={LEAST})", {"a": [LEAST]}, True),
    (f"(a={MOST})", {"a": [MOST]}, True),
    (f"(a={'9' * 5000})", {"a": [MOST]}, False),
    (f"(a={'9' * 5000})", {"a": ["9" * 5000]}, True),
    ("(a>5)", {"a": [6]}, True),
    ("(a>5)", {"a": [5]}, False),
    ("(a>5)", {"a": ["6"]}, False),
    ("(a>5)", {"a": ["x", 1, 6]}, True),
    ("(a>5)", {}, False),
    ("(a<5)", {"a": [4]}, True),
    ("(a<5)", {"a": [5]}, False),
    ("(a<5)", {"a": ["4", ""]}, False),
    ("(a<5)", {"a": []}, False),
    ("(a>-0)", {"a": [1]}, True),
    ("(a<-5)", {"a": [-6]}, True),
    ("(a>abc)", {"a": [5, "b"]}, False),
    ("(a<abc)", {"a": [5, "a"]}, False),
    ("(a>007)", {"a": [8]}, False),
    ("(!(a>007))", {"a": [8]}, True),
    (f"(a>{MOST})", {"a": [MOST]}, False),
    (f"(a>{MOST - 1})", {"a": [MOST]}, True),
    (f"(a<{LEAST + 1})", {"a": [LEAST]}, True),
    (f"(a<{2**63})", {"a": [MOST]}, True),
    (f"(a<{'9' * 5000})", {"a": [MOST]}, True),
    (f"(a>{'9' * 5000})", {"a": [MOST]}, False),
    (f"(a>-{'9' * 5000})", {"a": [LEAST]}, True),
    ("(a=*)", {"a": [""]}, True),
    ("(a=*)", {"a": [0]}, True),
    ("(a=*)", {"a": []}, False),
    ("(a=*)", {"b": ["a"]}, False),
    ("(a=**)", {"a": [""]}, True),
    ("(a=**)", {"a": [0]}, False),
    ("(a=foo*)", {"a": ["foo"]}, True),
    ("(a=foo*)", {"a": ["xfoo", "fo"]}, False),
    ("(a=*foo)", {"a": ["xfoo"]}, True),
    ("(a=*foo)", {"a": ["foo\n"]}, False),
    ("(a=a*b)", {"a": ["a\nb"]}, True),
    ("(a=a*b)", {"a": ["ab"]}, True),
    ("(a=ab*ba)", {"a": ["aba"]}, False),
    ("(a=ab*ba)", {"a": ["abba"]}, True),
    ("(a=*a*b*)", {"a": ["xxaxxb"]}, True),
    ("(a=*a*b*)", {"a": ["xxbxxa"]}, False),
    ("(a=*ab*ab*)", {"a": ["aab", "abaab"]}, True),
    ("(a=*aa*aa*)", {"a": ["aaa"]}, False),
    ("(a=*aa*aa*)", {"a": ["xaaa"]}, False),
    ("(a=*aa*aa*)", {"a": ["aaxaa"]}, True),
    ("(a=a*bc*c)", {"a": ["abc"]}, False),
    ("(a=*bc*cd)", {"a": ["xxxbcd"]}, False),
    ("(a=ab*bc*)", {"a": ["abcxxx"]}, False),
    ("(a=x**y)", {"a": ["xy"]}, True),
    ("(a=5*)", {"a": [55]}, False),
    ("(a=5*)", {"a": [55, "55"]}, True),
    ("(a=foo.*)", {"a": ["foox"]}, False),
    ("(a=f[oo*)", {"a": ["f[oo"]}, True),
    (r"(a=\*)", {"a": ["x"]}, False),
    (r"(a=\*)", {"a": ["*"]}, True),
    ("(!(a=b))", {}, True),
    ("(!(a=b))", {"a": ["c"]}, True),
    ("(!(a=b))", {"a": ["c", "b"]}, False),
    ("(&(a=b)(c=d))", {"a": ["b"], "c": ["d"]}, True),
    ("(&(a=b)(c=d))", {"a": ["b"]}, False),
    ("(&(a>5)(a<3))", {"a": [1, 9]}, True),  # one value for each
    ("(|(a=b)(c=d))", {"c": ["d"]}, True),
    ("(|(a=b)(c=d))", {}, False),
    ("(&(a=b))", {"a": ["b"]}, True),
    ("(!(&(a=b)(!(|(c=d)(c=e)))))", {"a": ["b"], "c": ["e"]}, True),
    ("(!(&(a=b)(!(|(c=d)(c=e)))))", {"a": ["b"], "c": ["f"]}, False),
]


@pytest.mark.parametrize(("text", "props", "expected"), MATCHES)
def test_matching(text: str, props: Properties, expected: bool) -> None:
    assert matches(parse(text), props) is expected


def test_none_of_none() -> None:
    """A filter that no text has is still answered."""
    assert matches(And(()), {})
    assert not matches(Or(()), {})
    assert matches(And((Not(Or(())), AB, Not(Not(And(()))))), {"a": ["b"]})


# Hostile texts: bounded by counted work, so that a slow machine does not matter


def calls(function: Callable[[], object]) -> int:
    """Count the calls, of functions in Python and in C, that a function makes."""
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


class Counted(dict[str, list[str | int]]):
    """Properties that count how often they are asked for."""

    asked = 0

    def get(self, *arguments: object) -> object:  # type: ignore[override]
        self.asked += 1
        return super().get(*arguments)  # type: ignore[call-overload]


NESTED: dict[str, Callable[[int], str]] = {
    "nots": lambda levels: "(!" * levels + "(a=b)" + ")" * levels,
    "ands to the left": lambda levels: "(&" * levels + "(a=b)" + "(c=d))" * levels,
    "ands to the right": lambda levels: "(&(a=b)" * levels + "(c=d)" + ")" * levels,
    "ors": lambda levels: "(|(a=c)" * levels + "(a=b)" + "(c=d))" * levels,
    "all": lambda levels: "(|(a=c)(&(a=b)(!" * (levels // 3) + "(a=b)" + ")))" * (levels // 3),
}

BRIEFLY: dict[str, Filter] = {
    "nots": AB,
    "ands to the left": And((AB, CD)),
    "ands to the right": And((AB, CD)),
    "ors": Or((AB, CD)),
    "all": AB,
}
"""What the nested filters come to, where the levels are a multiple of six."""


@pytest.mark.slow  # 20,000 levels
@pytest.mark.parametrize("shape", NESTED)
def test_deep_nesting(shape: str) -> None:
    text = NESTED[shape](DEEP)
    tree = parse(text)
    again = parse(text, deployed=True)
    assert tree == again
    assert hash(tree) == hash(again)
    assert tree != parse(NESTED[shape](DEEP - 6))
    assert spell(tree) == text
    assert len(repr(tree)) > len(text)
    predicate = compiled(tree)
    count = sum(not isinstance(part, Composite) for part in walk(tree))
    services: list[Properties] = [{}, {"a": ["b"]}, {"c": ["d"]}, {"a": ["b"], "c": ["d"]}]
    for props in services:
        service = Counted(props)
        assert predicate(service) is naive(BRIEFLY[shape], props)
        assert 0 < service.asked <= count


@pytest.mark.parametrize("shape", NESTED)
def test_work_grows_with_the_nesting(shape: str) -> None:
    once, twice = NESTED[shape](DEEP // 60), NESTED[shape](DEEP // 30)
    for work in (parse, lambda text: compiled(parse(text)), lambda text: spell(parse(text))):
        assert calls(lambda: work(twice)) < 2.1 * calls(lambda: work(once))  # noqa: B023


@pytest.mark.parametrize("opening", ["(", "(&", "(|", "(!", "(&(a=b)", "(!(&"])
def test_nesting_without_an_end(opening: str) -> None:
    with pytest.raises(FilterError) as refusal:
        parse(opening * DEEP)
    assert refusal.value.offset == (1 if opening == "(" else len(opening) * DEEP)
    with pytest.raises(FilterError):
        parse(opening * DEEP + "(a=b)" + ")" * (DEEP - 1))


MEGABYTE = 1 << 20


# Made by the test: as parameters they would stay in every worker, 15 MB.
@pytest.mark.parametrize(
    ("make", "offset"),
    [
        (lambda: "*" * MEGABYTE, 0),
        (lambda: ")" * MEGABYTE, 0),
        (lambda: "(" * MEGABYTE, 1),
        (lambda: "\\" * MEGABYTE, 0),
        (lambda: "(a=" + "*" * (MEGABYTE // 4), MEGABYTE // 4 + 3),
        (lambda: "(a=" + "x" * MEGABYTE, MEGABYTE + 3),
        (lambda: "(a=" + "\\" * (MEGABYTE // 4 + 1), MEGABYTE // 4 + 4),
        (lambda: "(a=" + "日" * MEGABYTE + "\x00)", MEGABYTE + 3),
        (lambda: "(a=b)" + ")" * MEGABYTE, 5),
        (lambda: "\x00" * MEGABYTE, 0),
        (lambda: "\ud800" * MEGABYTE, 0),
    ],
)
def test_large_refusals(make: Callable[[], str], offset: int) -> None:
    text = make()
    with pytest.raises(FilterError) as refusal:
        parse(text)
    assert refusal.value.offset == offset
    assert len(str(refusal.value)) < 200


def test_many_asterisks() -> None:
    many = 1 << 18  # more than fit into a frame
    text = "(a=" + "*" * many + ")"
    tree = parse(text)
    assert tree == Substring("a", "", ("",) * (many - 1), "")
    assert spell(tree) == text
    assert matches(tree, {"a": [""]})
    assert not matches(tree, {"a": [0]})


class Searched(str):
    """A text that counts how often it is searched, and how many characters the searches pass."""

    times = 0
    passed = 0

    def find(self, text: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        found = super().find(text, start, end)
        self.times += 1
        self.passed += (len(self) if found < 0 else found + len(text)) - start
        return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a=" + "*a" * 1000 + "*b)", False),
        ("(a=" + "*a" * 1000 + "*b*)", False),
        ("(a=" + "*a" * 1000 + "*)", True),
        ("(a=" + "*a" * 100_000 + "*)", True),
        ("(a=" + "*a" * 100_001 + "*)", False),
        ("(a=" + "a*" * 1000 + "b" + "*a" * 1000 + ")", False),
        ("(a=*" + "a" * 50_000 + "*" + "a" * 50_000 + ")", True),
        ("(a=*" + "a" * 1000 + "b*" + "a" * 1000 + "*)", False),
        ("(a=" + "*" * 10_000 + "a" + "*" * 10_000 + ")", True),
    ],
)
def test_substrings_do_not_explode(text: str, expected: bool) -> None:
    value = Searched("a" * 100_000)
    assert matches(parse(text), {"a": [value]}) is expected
    assert value.times <= text.count("a") + 1
    assert value.passed <= len(value)  # no character is passed by two searches


def test_matching_asks_no_more_than_it_must() -> None:
    service = Counted({"a": ["b"]})
    assert matches(parse("(|(a=b)" + "(c=d)" * 1000 + ")"), service)
    assert service.asked == 1
    assert not matches(parse("(&(!(a=b))" + "(c=d)" * 1000 + ")"), service)
    assert service.asked == 2


# Samples


@pytest.mark.parametrize("deployed", [False, True])
def test_samples_are_filters(deployed: bool) -> None:
    rng = Random(4)
    kinds: set[type] = set()
    for _ in range(500):
        tree = sample(rng, deployed=deployed)
        assert parse(spell(tree, deployed=deployed), deployed=deployed) == tree
        parts = list(walk(tree))
        assert sum(not isinstance(part, Composite) for part in parts) <= 8
        kinds.update(map(type, parts))
    assert kinds == {And, Or, Not, Equal, Greater, Less, Present, Substring}
    assert isinstance(sample(rng, deployed=deployed, items=1, depth=0), Equal | Greater | Less | Present | Substring)


@pytest.mark.parametrize("deployed", [False, True])
def test_near_valid_texts_are_refused(deployed: bool) -> None:
    rng = Random(4)
    names = mutations(deployed=deployed)
    for name in names:
        for _ in range(40):
            near = near_valid(rng, deployed=deployed, mutation=name)
            assert near.mutation == name
            assert not accepts(near.text, deployed=deployed), near
    assert {near_valid(rng, deployed=deployed).mutation for _ in range(1000)} == set(names)


@pytest.mark.parametrize(
    ("name", "deployed"), [("brace", False), ("no key", True), ("one operand", True), ("no integer", True)]
)
def test_near_valid_texts_of_one_reading(name: str, deployed: bool) -> None:
    """What is wrong in one reading only is right in the other."""
    with pytest.raises(KeyError):
        near_valid(Random(0), deployed=not deployed, mutation=name)
    texts = [near_valid(Random(seed), deployed=deployed, mutation=name).text for seed in range(40)]
    assert any(accepts(text, deployed=not deployed) for text in texts)


def test_samples_follow_from_the_seed() -> None:
    for make in (sample, near_valid):
        assert [make(Random(seed)) for seed in range(20)] == [make(Random(seed)) for seed in range(20)]


@pytest.mark.parametrize("deployed", [False, True])
def test_props_on_either_side(deployed: bool) -> None:
    rng = Random(4)
    both = 0
    for _ in range(300):
        tree = sample(rng, deployed=deployed)
        inside, outside = matching_props(rng, tree), near_props(rng, tree)
        for props in (inside, outside):
            assert props is None or all(isinstance(v, str) or LEAST <= v <= MOST for vs in props.values() for v in vs)
        assert inside is None or naive(tree, inside)
        assert outside is None or not naive(tree, outside)
        both += inside is not None and outside is not None
    assert both > 200


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("(&(a=b)(!(a=b)))", False, False),
        ("(|(a=b)(!(a=b)))", True, False),
        (f"(a>{MOST})", False, False),
        (f"(a<{LEAST})", False, False),
        (f"(a>{MOST - 1})", True, True),
        ("(a>x)", False, False),
        ("(!(a>x))", True, False),
        ("(!(a=b))", True, True),
        ("(a=*)", True, True),
        ("(a=x*y**z)", True, True),
    ],
)
def test_props_of_filters_that_always_or_never_match(text: str, inside: bool, outside: bool) -> None:
    tree = parse(text)
    assert (matching_props(Random(1), tree) is not None) is inside
    assert (near_props(Random(1), tree) is not None) is outside


def test_near_props_are_one_value_away() -> None:
    rng = Random(4)
    tree = parse("(&(a=b)(c>5))")
    for props in islice(iter(lambda: near_props(rng, tree), 0), 50):
        assert props is not None
        right = matches(parse("(a=b)"), props) + matches(parse("(c>5)"), props)
        assert right == 1


@pytest.mark.slow  # 20,000 levels
def test_props_of_a_deep_filter() -> None:
    tree = parse(NESTED["ands to the left"](DEEP))
    props = matching_props(Random(1), tree)
    assert props is not None
    assert matches(tree, props)
