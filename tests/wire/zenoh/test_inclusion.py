"""Inclusion of key expressions."""

from itertools import product

import pytest

from wire.zenoh.inclusion import includes
from wire.zenoh.keys import intersects


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("a/b", "a/b", True),
        ("a/*", "a/b", True),
        ("a/b", "a/*", False),
        ("**", "a/*/b", True),
        ("a/**", "a", True),
        ("a/**", "a/**/b", True),
        ("a/*", "a/**", False),
        ("*", "a$*", True),
        ("a$*", "ab", True),
        ("a$*", "*", False),
        ("**/c", "a/b/c", True),
        ("**/c", "a/**", False),
        ("*", "@a", False),
        ("**", "@a", False),
    ],
)
def test_inclusion(one: str, two: str, expected: bool) -> None:
    assert includes(one, two) is expected


def test_what_is_included_intersects() -> None:
    expressions = [
        "/".join(chunks) for size in (1, 2, 3) for chunks in product(["a", "b", "*", "**", "a$*"], repeat=size)
    ]
    for one, two in product(expressions, repeat=2):
        if includes(one, two):
            assert intersects(one, two)
