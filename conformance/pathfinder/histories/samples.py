"""Samples: filters with properties that they match or just do not, in whatever reading; and texts that are no filters.

One sort of name stands for texts and another for integers, as in ``conformance.pathfinder.strategies``.
"""

from conformance.pathfinder.filter_examples import NO_FILTERS
from conformance.pathfinder.strategies import Sample

CURATED = (
    # Parts that overlap, that are between others, and that are all there is.
    Sample("(name=ab*ba)", ({"name": ["aba"]}, {"name": ["abba"]}, {"name": ["ab ba"]})),
    Sample("(name=a*b*c)", ({"name": ["a-c"]}, {"name": ["a-b-c"]}, {"name": ["abc"]})),
    Sample("(name=x*)", ({"name": ["x"]}, {"name": ["yx"]}, {"name": ["xx"]})),
    Sample("(name=*x*y*)", ({"name": ["yx"]}, {"name": ["xy"]})),
    Sample("(name=x*z)", ({"name": ["x\nz"]}, {"name": ["x\ny"]}, {"name": ["xz"]})),
    # Numbers that texts and floating point put into another order.
    Sample("(n>9007199254740992)", ({"n": [2**53 + 1]}, {"n": [2**53]})),
    Sample("(n<10)", ({"n": [9]}, {"n": [10]}, {"n": [-10]})),
    Sample("(n>5)", ({"n": [10]}, {"n": [5]}, {"n": [6]})),
    Sample("(n>-0)", ({"n": [1]}, {"n": [0]})),
    Sample("(n<-9)", ({"n": [-10]}, {"n": [-9]}, {"n": [9]})),
    # One value of several, none, and not.
    Sample("(name=x)", ({"name": ["y", "x"]}, {"name": ["y"]}, {"name": ["x"]})),
    Sample("(!(name=x))", ({}, {"name": ["x"]}, {"name": ["y"]})),
    Sample("(!(!(name=x)))", ({"name": ["x"]}, {"name": ["y"]})),
    Sample("(&(name=*)(!(name=x)))", ({"name": ["y"]}, {"name": ["x"]}, {})),
    Sample("(|(name=a)(name=b)(name=c)(name=d)(name=e))", ({"name": ["e"]}, {"name": ["f"]})),
    Sample("(&(name=*)(n>0)(n<9)(a=x)(two words=x))", ({"name": ["f"], "n": [1], "a": ["x"], "two words": ["x"]},)),
    # Characters that somebody might strip, escape, or not know.
    Sample("(name= x )", ({"name": [" x "]}, {"name": ["x"]})),
    Sample("( name =x)", ({" name ": ["x"]}, {"name": ["x"]})),
    Sample("(name=\\(x\\)\\*)", ({"name": ["(x)*"]}, {"name": ["(x)y"]})),
    Sample("(na\\=me=x)", ({"na=me": ["x"]}, {"na": ["me=x"]})),
    Sample("(name=\\\\)", ({"name": ["\\"]}, {"name": ["\\\\"]})),
    Sample("(\u00e4=\u65e5\u672c*)", ({"\u00e4": ["\u65e5\u672c\u8a9e"]}, {"\u00e4": ["\u65e5"]})),
)

STUMBLES = ("!", "<", ">", "&")
"""Special characters that not all take for such where they are not escaped: they have cases of their own."""

NONE_AT_ALL = tuple(
    text for text in NO_FILTERS if not any(f"x{stumble}y" in text or f"({stumble}a" in text for stumble in STUMBLES)
)
"""Texts that are no filters."""
