"""Filters that are spelled in two ways and say the same: what a server lists need not be the text that it was given."""

from collections.abc import Iterator
from itertools import zip_longest

from wire.pathfinder.filters import Composite, Filter, FilterError, Greater, Less, operands, parse, walk


def say_the_same(one: str, other: str, *, deployed: bool = True) -> bool:
    """Tell whether two texts are the same filter, in the reading of ``deployed`` nodes or by the letter."""
    try:
        return mean_the_same(parse(one, deployed=deployed), parse(other, deployed=deployed))
    except FilterError:
        return False


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
