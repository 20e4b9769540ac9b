"""Filters that say the same in two spellings, and filters that do not."""

import pytest

from conformance.pathfinder.same_filters import mean_the_same
from wire.pathfinder.filters import parse


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("(n>-0)", "(n>0)", True),
        ("(&(a=b)(!(n<0)))", "(&(a=b)(!(n<-0)))", True),
        ("(a=\\!)", "(a=\\!)", True),
        ("(n>-0)", "(n<0)", False),
        ("(n>-0)", "(n>-1)", False),
        ("(n=-0)", "(n=0)", False),  # -0 is a string too, and another than 0
        ("(&(a=b)(c=d))", "(|(a=b)(c=d))", False),
        ("(&(a=b)(c=d))", "(&(a=b)(c=d)(e=f))", False),
    ],
)
def test_filters_that_mean_the_same(one: str, other: str, same: bool) -> None:
    assert mean_the_same(parse(one), parse(other)) is same
    assert mean_the_same(parse(other), parse(one)) is same
