"""Key expressions: which are well formed, what they stand for, which intersect."""

from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.zenoh.keys import intersects, queryable_info, read_queryable_info, resolve, well_formed
from wire.zenoh.values import WireExpr


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/c", False),
        ("a", "a/b", False),
        ("*", "a", True),
        ("*", "a/b", False),
        ("a/*", "*/b", True),
        ("a/*", "b/*", False),
        ("**", "a/b/c", True),
        ("a/**", "a", True),
        ("a/**", "b", False),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/b/b/c", True),
        ("a/**/c", "a/b", False),
        ("**/c", "a/**", True),
        ("**/a/**", "b/**/c", True),
        ("a/b$*", "a/bc", True),
        ("a/b$*", "a/b", True),
        ("a/b$*", "a/cb", False),
        ("b$*", "$*c", True),
        ("ab$*", "ac$*", False),
        ("$*ab", "$*cb", False),
        ("ab$*ba", "aba", False),
        ("ab$*ba", "abba", True),
        ("a$*b$*c", "axxbyyc", True),
        ("a$*b$*c", "axxcyyb", False),
        ("a$*x$*c", "ab$*bc", True),
        ("b$*", "*", True),
        ("@a", "@a", True),
        ("@a", "*", False),
        ("@a", "**", False),
        ("@a/b", "**/b", False),
        ("@a/b", "@a/**", True),
        ("a/@b/c", "a/*/c", False),
        ("a/@b/c", "a/**", False),
        ("a/@b/c", "a/@b/**", True),
        ("@$*", "@a", False),
        ("**/@a/**", "b/@a", True),
    ],
)
def test_intersection(one, two, expected):
    assert intersects(one, two) is expected
    assert intersects(two, one) is expected


CHUNKS = ["a", "b", "ab", "@a"]
KEYS = ["/".join(chunks) for length in (1, 2, 3) for chunks in product(CHUNKS, repeat=length)]
EXPRESSIONS = st.lists(st.sampled_from([*CHUNKS, "*", "**", "a$*", "$*b", "a$*b"]), min_size=1, max_size=3).map(
    "/".join
)


@cache
def included(key: str, expression: str) -> bool:
    """Whether a key without wildcards matches an expression: the definition, one chunk after the other."""
    if not expression:
        return not key
    first, _, rest = expression.partition("/")
    head, _, tail = key.partition("/")
    if first == "**":
        return included(key, rest) or (bool(key) and head[0] != "@" and included(tail, expression))
    if not key or (first != head and (head[0] == "@" or not chunk_matches(head, first))):
        return False
    return included(tail, rest)


def chunk_matches(chunk: str, pattern: str) -> bool:
    if pattern == "*":
        return True
    first, star, last = pattern.partition("$*")
    if not star:
        return chunk == pattern
    return len(chunk) >= len(first + last) and chunk.startswith(first) and chunk.endswith(last)


@given(EXPRESSIONS, EXPRESSIONS)
def test_intersection_is_symmetric(one, two):
    assert intersects(one, two) == intersects(two, one)


@given(EXPRESSIONS, EXPRESSIONS)
def test_intersection_holds_when_a_key_matches_both(one, two):
    if any(included(key, one) and included(key, two) for key in KEYS):
        assert intersects(one, two)


@given(
    st.lists(st.sampled_from([*CHUNKS, "*", "**", "a$*", "$*b", "a$*b"]), min_size=1, max_size=2).map("/".join),
    st.lists(st.sampled_from([*CHUNKS, "*", "**", "a$*", "$*b", "a$*b"]), min_size=1, max_size=1).map("/".join),
)
def test_short_expressions_against_every_key(one, two):
    """With three chunks in all, keys of three chunks of this alphabet are enough to find a common one."""
    assert intersects(one, two) == any(included(key, one) and included(key, two) for key in KEYS)


@given(EXPRESSIONS)
def test_an_expression_intersects_itself_and_not_what_is_elsewhere(one):
    assert intersects(one, one)
    assert not intersects(f"x/{one}", f"y/{one}")


def test_long_expressions_end_in_time():
    chunk = "a$*" * 20000
    assert intersects(f"x/{chunk}", "x/*")
    assert not intersects(f"x/{chunk}b", f"x/{'a' * 60000}")
    assert intersects("a/" * 3000 + "a", "**/" + "*/" * 50 + "a")
    assert intersects("**/" + "a/" * 1000 + "b", "**/" + "a/" * 999 + "b/**")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", True),
        ("a/b", True),
        ("*/**", True),
        ("a$*b/c", True),
        ("@a/**", True),
        ("", False),
        ("/a", False),
        ("a/", False),
        ("a//b", False),
        ("**/**", False),
        ("**/*", False),
        ("a*", False),
        ("$*", False),
        ("a$*$*b", False),
        ("a$b", False),
        ("a#b", False),
        ("a?b", False),
    ],
)
def test_well_formed(key, expected):
    assert well_formed(key) is expected


def test_resolve():
    sender, receiver = {5: "a"}, {5: "b"}
    assert resolve(WireExpr("/x", 5, sender=True), sender, receiver) == "a/x"
    assert resolve(WireExpr("/x", 5, sender=False), sender, receiver) == "b/x"
    assert resolve(WireExpr(None, 5), sender, receiver) == "a"
    assert resolve(WireExpr("x", 0, sender=False), {}, {}) == "x"
    assert resolve(WireExpr(None, 0), {}, {}) == ""
    assert resolve(WireExpr("x", 6), sender, receiver) is None


@given(st.booleans(), st.integers(0, 65535), st.booleans())
def test_queryable_info_round_trip(complete, distance, deployed):
    assert read_queryable_info(queryable_info(complete, distance, deployed=deployed), deployed=deployed) == (
        complete,
        distance,
    )


@pytest.mark.parametrize(
    ("complete", "distance", "document", "deployed"),
    [
        (False, 0, 0, 0),
        (True, 0, 1, 1),
        (False, 1, 2, 256),
        (True, 1, 3, 257),
        (True, 65535, 131071, 16776961),
    ],
)
def test_queryable_info(complete, distance, document, deployed):
    assert queryable_info(complete, distance) == document
    assert queryable_info(complete, distance, deployed=True) == deployed
