"""Patterns of PCRE: what is read and matched, what is refused, and what the worst of them costs."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wire.rai.matcher import MOST_STATES, Matcher
from wire.rai.pcre import UnsupportedPattern


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("", ["", "a"], []),
        ("b", ["b", "abc"], ["", "ac"]),
        (r"\Ab", ["b", "bc"], ["ab"]),
        (r"^b\z", ["b"], ["ab", "bc", "b\n"]),
        (r"^b$", ["b", "b\n"], ["b\n\n", "bc"]),
        (r"b\Z", ["ab", "b\n"], ["b\nc"]),
        (r"\A\z", [""], ["a", "\n"]),
        (r"\A$", ["", "\n"], ["a"]),
        (r"a\Ab|\z\A", [""], ["ab"]),
        (r"\A.\z", ["a", "é", "😀"], ["", "\n", "ab"]),
        (r"(?s)\A.\z", ["a", "\n"], [""]),
        (r"\A(?:(?s).|b).\z", ["\na"], ["\n\n"]),  # a flag ends with its group
        (r"(?s)a.(?-s).", ["a\nb"], ["a\n\n"]),
        (r"\A(a|b|)c\z", ["ac", "bc", "c"], ["abc"]),
        (r"\A(?<name>a)(?P<other>b)(?'last'c)\z", ["abc"], ["ab"]),
        (r"\Aa{2}\z", ["aa"], ["a", "aaa"]),
        (r"\Aa{2,}\z", ["aa", "aaaa"], ["a"]),
        (r"\Aa{1,2}?\z", ["a", "aa"], ["", "aaa"]),
        (r"\Aa{,2}\z", ["a{,2}"], ["", "a"]),
        (r"\Aa{x}{\z", ["a{x}{"], []),
        (r"\A[a-c.]\z", ["a", "c", "."], ["d"]),
        (r"\A[^a-c.]\z", ["d", "\n"], ["a", "."]),
        (r"\A[]a-]\z", ["]", "a", "-"], ["b"]),
        (r"\A[^]]\z", ["a"], ["]"]),
        (r"\A[\d\-x]\z", ["7", "-", "x"], ["a"]),
        (r"\A[^\W_]\z", ["a", "7"], ["_", "-", "é"]),
        (r"\A[\Wa]\z", ["a", "-", "é", "^"], ["b", "7"]),
        (r"\A\d\D\w\W\s\S\h\z", ["1a_- x\t"], ["1a_- x"]),
        (r"\A\n\t\r\f\e\a\z", ["\n\t\r\f\x1b\a"], []),
        (r"\A\x41\x{1F600}\.\-\z", ["A😀.-"], []),
        (r"\A\x9z\z", ["\tz"], []),
        (r"\A[\x41-\x43\b]\z", ["A", "C", "\b"], ["D"]),
        ("\\A}])\\z".replace(")", ""), ["}]"], []),
    ],
)
def test_matching(pattern: str, matched: list[str], others: list[str]) -> None:
    matcher = Matcher.of_pcre(pattern)
    for _ in range(2):  # once remembered as well
        assert [each for each in (*matched, *others) if matcher.matches(each)] == matched


@pytest.mark.parametrize(
    ("pattern", "construct", "offset"),
    [
        ("a(?=b)", "look ahead", 1),
        ("(?!b)", "look ahead", 0),
        ("(?<=b)", "look behind", 0),
        ("(?<!b)", "look behind", 0),
        ("(?>b)", "atomic", 0),
        ("a*+", "possessive", 1),
        ("a{2}+", "possessive", 1),
        (r"(a)\1", "reference", 3),
        (r"\k<a>", "reference", 0),
        (r"\g1", "reference", 0),
        ("(?P=a)", "reference", 0),
        ("(?R)", "within itself", 0),
        ("(?&a)", "call", 0),
        ("(?P>a)", "call", 0),
        ("(?1)", "kind", 0),
        ("(?(1)a)", "condition", 0),
        ("(?C1)", "callout", 0),
        ("(*ACCEPT)", "verb", 0),
        ("(?#a)", "comment", 0),
        ("(?|a)", "start over", 0),
        ("(?i)a", "flag i", 0),
        ("(?m)a", "flag m", 0),
        ("(?si)a", "flag beside s", 0),
        ("(?s:a)", "for one group", 0),
        ("(?", "kind", 0),
        ("(?<1>a)", "name", 0),
        ("(?<a", "name", 0),
        (r"\bA", "word boundary", 0),
        (r"\GA", "began", 0),
        (r"a\K", "anew", 1),
        (r"\R", "line break", 0),
        (r"\X", "grapheme", 0),
        (r"\pL", "Unicode", 0),
        (r"\Qa\E", "quotation", 0),
        (r"\H", "horizontal", 0),
        (r"\y", r"\\y", 0),
        (r"[\y]", r"\\y", 1),
        (r"\0", r"\\0", 0),
        ("[[:alpha:]]", "by its name", 1),
        ("[[.a.]]", "by its name", 1),
        ("a**", "quantifier of a quantifier", 2),
        ("a{2}{3}", "quantifier of a quantifier", 4),
        ("*", "quantifier of nothing", 0),
        ("(|+)", "quantifier of nothing", 2),
        ("a{2,1}", "fewer", 1),
        ("a{1001}", "1000", 1),
        ("(a", "does not end", 0),
        ("[a", "does not end", 0),
        ("[", "does not end", 0),
        ("a)", "nothing opens", 1),
        ("[b-a]", "range", 0),
        (r"[a-\d]", "range", 0),
        ("a\\", "backslash", 1),
        (r"\xg", "code", 0),
        (r"\x", "code", 0),
        (r"\x{110000}", "code", 0),
        (r"\x{}", "code", 0),
        (r"\x{41", "code", 0),
        ("(" * 65 + ")" * 65, "within each other", 64),
    ],
)
def test_what_is_refused_by_name(pattern: str, construct: str, offset: int) -> None:
    with pytest.raises(UnsupportedPattern, match=construct) as refusal:
        Matcher.of_pcre(pattern)
    assert refusal.value.offset == offset


@pytest.mark.parametrize(
    "pattern",
    ["(?:a{1000}){1000}", "(?:(?:){1000}){1000}", "a" * (MOST_STATES + 1), "((((a{9}){9}){9}){9}){9}", "(?:|" * 60],
)
def test_automata_have_a_bound(pattern: str) -> None:
    with pytest.raises(UnsupportedPattern):
        Matcher.of_pcre(pattern)


# Each takes a matcher that goes back exponential time, or at least the square of the subject.
@pytest.mark.parametrize(
    ("pattern", "subject"),
    [
        (r"\A(a*)*b", "a"),
        (r"\A(a+)+\z", "a"),
        (r"\A(a|aa)+b", "a"),
        (r"\A(.*)(.*)(.*)(.*)(.*)b", "a"),
        (r"(?s)\A(?:.*?,){11}P", "1,"),
        (r"(x+x+)+y", "x"),
        (r".*.*=.*", "a"),
        (r"(?:a?){100}a{100}b", "a"),
    ],
)
def test_hostile_patterns_cost_no_more_than_others(pattern: str, subject: str) -> None:
    """Steps grow with the subject, and not more than its length times the size of the automaton."""
    costs = []
    for length in (500, 1000, 2000):
        matcher = Matcher.of_pcre(pattern)
        before = matcher.steps
        matcher.matches(subject * length + "!")
        costs.append(matcher.steps - before)
        assert costs[-1] <= 3 * MOST_STATES * len(subject * length)
    assert costs[2] - costs[1] <= 3 * (costs[1] - costs[0]) + 1000


def test_what_is_remembered_has_a_bound() -> None:
    """Of a pattern with two to the power of many sets of states."""
    matcher = Matcher.of_pcre("a" + "[ab]" * 30 + "c")
    subject = "".join("ab"[(at * at // 7) % 2] for at in range(20_000))
    assert not matcher.matches(subject)
    assert len(matcher._known) <= 256
    assert matcher.steps <= 40 * len(subject) * 2


def test_a_subject_is_left_early() -> None:
    matcher = Matcher.of_pcre(r"\AA\.")
    matcher.matches("B" + "x" * 100_000)
    matcher.matches("A." + "x" * 100_000)
    assert matcher.steps < 20


ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\.", r"\w", r"\W", r"\n", "\n", r"\A", "^", r"\Z", "$"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map(lambda options: f"(?:{'|'.join(options)})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        )
    ),
    max_leaves=8,
)


@given(PATTERNS, st.text("ab.\n-", max_size=6))
@example("(?:a?)*b", "aab")
def test_it_matches_as_re_does(pattern: str, subject: str) -> None:
    # What PCRE calls \Z is $ in Python, which calls PCRE's \z so; characters of \w are those of ASCII.
    spelled = pattern.replace(r"\Z", "$")
    assert Matcher.of_pcre(pattern).matches(subject) == bool(re.search(spelled, subject, re.ASCII))
