"""Turns: the order in which the histories of a run are played."""

import re
from collections.abc import Sequence
from typing import TypeVar

import pytest

from conformance.gate.items import CaseItem

_SEED = re.compile(r"(?P<kind>.*)\[(?P<seed>\d+)\]")

ItemT = TypeVar("ItemT", bound=pytest.Item)


def in_turn(items: Sequence[ItemT]) -> list[ItemT]:
    """Return items with all kinds of histories of the first seed before those of the second, and so on.

    The time for histories may be over before all were played: kind after kind, the last ones would then never have a
    turn with a node that is slow. Each seed begins with the next kind, so that there is no last one.
    """
    places = [place for place, item in enumerate(items) if isinstance(item, CaseItem) and item.case.marks.is_seeded]
    found = {place: match for place in places if (match := _SEED.fullmatch(items[place].name))}
    kinds = list(dict.fromkeys(match["kind"] for match in found.values()))

    def turn(place: int) -> tuple[int, int]:
        seed = int(found[place]["seed"])
        return seed, (kinds.index(found[place]["kind"]) - seed + 1) % len(kinds)

    ordered = list(items)
    for place, source in zip(found, sorted(found, key=turn), strict=True):
        ordered[place] = items[source]
    return ordered
