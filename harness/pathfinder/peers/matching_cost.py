"""What it costs to match filters with services, estimated before it is tried. In nanoseconds, very roughly.

A filter of many items, each of which must look through long values, would keep a server busy for minutes. No item looks
at more than the values of one name, so it is enough to know how often filters ask for a name, and what is under it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from wire.pathfinder.filters import Composite, Filter, Substring, walk

PER_ITEM = 150
PER_VALUE = 50
PER_CHARACTER = 1

PER_BYTE = 2
"""What one look costs for each byte that a service weighs (``directory``), at most."""

Look = tuple[str, bool]
"""A name, and whether its texts are searched through, or only compared."""

Demand = Mapping[Look, int]
"""How many items of filters look at something."""

Bulk = Mapping[Look, int]
"""What one such look costs."""


def demand_of(tree: Filter) -> Demand:
    """Return what a filter looks at."""
    return Counter((part.key, isinstance(part, Substring)) for part in walk(tree) if not isinstance(part, Composite))


def bulk_of(props: Mapping[str, Sequence[str | int]]) -> Bulk:
    """Return what there is to look at in a service."""
    bulk = {}
    for name, values in props.items():
        compared = PER_VALUE * len(values)
        bulk[name, False] = compared
        bulk[name, True] = compared + PER_CHARACTER * sum(len(each) for each in values if isinstance(each, str))
    return bulk


def effort(demand: Demand, bulk: Bulk) -> int:
    """Return what it may cost to hold filters against one service, beside the ``PER_ITEM`` of each item."""
    # The shorter of the two is gone through.
    few, many = (demand, bulk) if len(demand) < len(bulk) else (bulk, demand)
    return sum(each * many.get(look, 0) for look, each in few.items())


def is_beyond(most: int, demand: Demand, services: Iterable[Bulk]) -> bool:
    """Tell whether holding a filter against services may cost more than so much."""
    items = PER_ITEM * sum(demand.values())
    for bulk in services:
        most -= items + effort(demand, bulk)
        if most < 0:
            return True
    return False
