"""Covering arrays: few rows in which all pairs of options occur that can occur together, and triples of flags.

Faults of codecs are rarely those of one field alone; most that are left show when two fields meet, and with flags when
three do. The rows are chosen greedily, in an order that depends on nothing but the factors.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from vectors.binary.paths import Arrangement
from wire.kinds.composing import Change


class Option(NamedTuple):
    """One thing that a factor can be.

    It stands in the field ``position`` of a record, which has to come out by ``choices``; ``limits`` says to which
    values (of the field ``name``) it limits what the record's conditions look at.
    """

    label: str
    position: int
    choices: tuple[str, ...]
    name: str = ""
    limits: frozenset[int] | None = None
    plan: tuple[tuple[str, Change], ...] = ()


class Factor(NamedTuple):
    """Something that varies: a field, or a group of bits (``flag``)."""

    name: str
    options: tuple[Option, ...]
    flag: bool = False


class CoveringRow(NamedTuple):
    """One frame of a covering array: the options, and the values that the conditions look at, by field."""

    options: tuple[Option, ...]
    values: dict[str, int]


Pick = tuple[int, int]
"""An option: the index of its factor, and its own."""

Tuple = tuple[Pick, ...]
State = list[tuple[Arrangement, dict[str, frozenset[int]]]]
"""What is still possible: arrangements of the record, with the values that their fields may have."""


def covering(arrangements: Sequence[Arrangement], factors: Sequence[Factor]) -> Iterator[CoveringRow]:
    """Give rows until every pair, and every triple of flags, that is possible has occurred."""
    start: State = [(each, {name: frozenset(v) for name, v in each.values.items()}) for each in arrangements]
    # Only what can occur together: conditions exclude many pairs, and waiting for those would never end.
    left = dict.fromkeys(_possible(start, factors))
    while left:
        # A dict keeps its order: the first that is left is always the same.
        wanted = next(iter(left))
        # A row is begun with what is wanted, and filled factor by factor with what covers most of the rest.
        row = dict(wanted)
        state = start
        for pick in wanted:
            state = _limited(state, _option(factors, pick))
        for index, factor in enumerate(factors):
            if index in row:
                continue
            best: tuple[int, int, State] | None = None
            for number, option in enumerate(factor.options):
                following = _limited(state, option)
                if following:
                    gain = _gain(row, (index, number), factors, left)
                    # The first of equals, so that the rows, which are golden vectors, stay the same.
                    if best is None or gain > best[0]:
                        best = gain, number, following
            if best is not None:
                row[index], state = best[1], best[2]
        picks = sorted(row.items())
        # A row covers by the way what nobody wanted of it.
        for size in (2, 3):
            for found in combinations(picks, size):
                left.pop(found, None)
        _, values = state[0]
        yield CoveringRow(tuple(_option(factors, pick) for pick in picks), {name: min(v) for name, v in values.items()})


def _option(factors: Sequence[Factor], pick: Pick) -> Option:
    return factors[pick[0]].options[pick[1]]


def _possible(start: State, factors: Sequence[Factor]) -> Iterator[Tuple]:
    flags = [index for index, factor in enumerate(factors) if factor.flag]
    # Triples first: each has three pairs in it, so what is then left of the pairs is little.
    for indices in (*combinations(flags, 3), *combinations(range(len(factors)), 2)):
        for numbers in product(*(range(len(factors[index].options)) for index in indices)):
            found = tuple(zip(indices, numbers, strict=True))
            state = start
            for pick in found:
                state = _limited(state, _option(factors, pick))
            if state:
                yield found


def _limited(state: State, option: Option) -> State:
    following = []
    for arrangement, values in state:
        if arrangement.choices[option.position][: len(option.choices)] != option.choices:
            continue
        if option.limits is None:
            following.append((arrangement, values))
        elif option.name in values and (both := values[option.name] & option.limits):
            following.append((arrangement, {**values, option.name: both}))
    return following


def _gain(row: dict[int, int], pick: Pick, factors: Sequence[Factor], left: dict[Tuple, None]) -> int:
    picks = list(row.items())
    gain = sum(tuple(sorted((each, pick))) in left for each in picks)
    if factors[pick[0]].flag:
        flags = [each for each in picks if factors[each[0]].flag]
        gain += sum(tuple(sorted((*two, pick))) in left for two in combinations(flags, 2))
    return gain
