"""Wildcards and their patterns: each spelling's, and what they match."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire import subjects
from wire.rai.pcre import read
from wire.rai.wildcards import (
    Matcher,
    glob_of_pattern,
    pattern_of_glob,
    pattern_of_rv,
    published_prefix,
    rv_of_pattern,
    subject_of_pattern,
)


# What the converter of the protocol's author makes of these.
@pytest.mark.parametrize(
    ("wildcard", "pattern", "prefix"),
    [
        ("prefix.>", r"(?s)\Aprefix\.", "prefix._"),
        ("A.*.C", r"(?s)\AA\.[^.]+\.C\z", "A._"),
        (">", r"(?s)\A", "_"),
    ],
)
def test_patterns_of_rv(wildcard: str, pattern: str, prefix: str) -> None:
    assert pattern_of_rv(wildcard) == pattern
    assert published_prefix(wildcard) == prefix
    assert rv_of_pattern(pattern) == subject_of_pattern(pattern) == wildcard


@pytest.mark.parametrize(
    ("glob", "pattern"),
    [
        ("A.?.C", r"(?s)\AA\..\.C\z"),
        ("a[bc]*", r"(?s)\Aa[bc]"),
        ("*", r"(?s)\A"),
        ("A.*.C", r"(?s)\AA\..*?\.C\z"),
    ],
)
def test_patterns_of_redis(glob: str, pattern: str) -> None:
    assert pattern_of_glob(glob) == pattern
    assert glob_of_pattern(pattern) == glob


@pytest.mark.parametrize(
    ("pattern", "wildcard", "named"),
    [
        (r"(?s)\AA\.[^.]+\.C\z", "A.*.C", "A.*.C"),
        (r"\AA\.[^.]+?\.(?:C)\z", "A.*.C", "A.*.C"),  # spelled in another way
        (r"(?s)\AA\.B\.[^.]+C\z", None, "A.B.>"),
        (r"(?s)\AA\.B\.(C|D)\z", None, "A.B.>"),
        (r"(?s)\AA\.B\z", "A.B", "A.B"),
        (r"(?s)\AA.B\z", None, ">"),
        (r"A\.B\.", None, ">"),
        (r"(?s)\AA\.\*\.B\z", None, "A.*.>"),
        (r"(?=A)", None, ">"),
        (r"(?s)\AA\.B\Z", None, "A.>"),
    ],
)
def test_wildcards_of_patterns(pattern: str, wildcard: str | None, named: str) -> None:
    assert rv_of_pattern(pattern) == wildcard
    assert subject_of_pattern(pattern) == named


@pytest.mark.parametrize("pattern", [r"(?s)\AA\.[^.]+\z", r"(?s)A", r"(?=A)", r"(?s)\AA+\z", r".\z"])
def test_patterns_that_redis_does_not_have(pattern: str) -> None:
    assert glob_of_pattern(pattern) is None


WORDS = st.text("AB+*?>[]\\^$(){}|-é\n", min_size=1, max_size=4).filter(lambda word: word not in "*>")
RV = st.lists(WORDS | st.just("*"), min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from([".".join(parts), ".".join([*parts, ">"])])
)
SUBJECTS = st.lists(WORDS, min_size=1, max_size=5).map(".".join)


@given(RV, SUBJECTS)
def test_a_pattern_matches_what_its_wildcard_does(wildcard: str, subject: str) -> None:
    pattern = pattern_of_rv(wildcard)
    assert Matcher.of_pcre(pattern).matches(subject) == subjects.matches(wildcard, subject)
    assert rv_of_pattern(pattern) == wildcard


def of_redis(glob: str, text: str) -> bool:
    """Match as Redis does (``stringmatchlen``), for globs whose brackets end."""
    if not glob:
        return not text
    if glob[0] == "*":
        return any(of_redis(glob[1:], text[at:]) for at in range(len(text) + 1))
    if not text:
        return False
    if glob[0] == "?":
        return of_redis(glob[1:], text[1:])
    if glob[0] == "\\" and len(glob) > 1:
        return text[0] == glob[1] and of_redis(glob[2:], text[1:])
    if glob[0] != "[":
        return text[0] == glob[0] and of_redis(glob[1:], text[1:])
    end = glob.index("]")
    members = glob[1:end]
    found = text[0] in members.removeprefix("^")
    return found != members.startswith("^") and of_redis(glob[end + 1 :], text[1:])


GLOBS = st.lists(
    st.sampled_from(["*", "?", "[AB]", "[^A.]", "\\*", "\\A", "A", ".", "+", "(", "é", "\n", "^", "$", "|"]), max_size=6
).map("".join)


@given(GLOBS, st.text("AB.+(é\n*^$|", max_size=6))
def test_a_pattern_matches_what_its_glob_does(glob: str, subject: str) -> None:
    assert Matcher.of_pcre(pattern_of_glob(glob)).matches(subject) == of_redis(glob, subject)


@pytest.mark.parametrize(
    ("glob", "matched", "others"),
    [
        ("[a-c]", "abc", "d-"),
        ("[c-a]", "abc", "d-"),  # either end may come first
        ("[a\\]-]", "a]-", "b\\"),
        ("[\\^a]", "^a", "b\\"),
        ("[]x", [], ["x", "]x"]),
        ("[^]x", ["ax", "]x"], ["x"]),
        ("[ab", "ab", "c["),
        ("a\\", ["a\\"], ["a"]),
        ("?**", ["a", "ab"], [""]),
    ],
)
def test_globs(glob: str, matched: str | list[str], others: str | list[str]) -> None:
    matcher = Matcher.of_pcre(pattern_of_glob(glob))
    assert [each for each in [*matched, *others] if matcher.matches(each)] == [*matched]
    again = glob_of_pattern(pattern_of_glob(glob))
    assert again is not None
    assert read(pattern_of_glob(again)) == read(pattern_of_glob(glob))


def test_what_is_special_in_a_pattern_is_escaped() -> None:
    special = "a.b*c?d[e]f{1}g(h|i)^$\\+"
    assert re.fullmatch(pattern_of_rv(f"x.{special}").replace(r"\z", r"\Z"), f"x.{special}")
