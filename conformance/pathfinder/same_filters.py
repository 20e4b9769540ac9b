"""Filters that are spelled in two ways and say the same: what a server lists need not be the text that it was given."""

from collections.abc import Iterator
from itertools import zip_longest

from wire.pathfinder.filters import Composite, Filter, Greater, Less, operands, walk


def mean_the_same(one: Filter, other: Filter) -> bool:
    """Tell whether two filters say the same, part by part, however they spell the integers that they compare with."""
    return all(mine == theirs for mine, theirs in zip_longest(_meanings(one), _meanings(other)))


def _meanings(tree: Filter) -> Iterator[object]:
    for part in walk(tree):
        match part:
            case Composite():
                yield type(part), len(operands(part))
            # The grammar has two texts for this integer alone; who reads it as a number gives back the other.
            case Greater(key, "-0"):
                yield Greater(key, "0")
            case Less(key, "-0"):
                yield Less(key, "0")
            case _:
                yield part
