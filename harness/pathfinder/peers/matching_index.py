"""The matching index: which filters can match which services, without trying each.

An anchor is something that every service which a filter matches is sure to have:

::

    ("name", "goldwire")    a property with this value, as text
    ("name",)               a property with this name
    ()                      nothing in particular

Filters have few anchors, services have all that are true of them. A filter can match a service only if they share one.
"""

from collections.abc import Iterable, Mapping, Sequence

from wire.pathfinder.filters import And, Composite, Equal, Filter, Not, operands, walk

Anchor = tuple[()] | tuple[str] | tuple[str, str]

ANYTHING: Anchor = ()
"""The anchor that every service has."""

# What it costs to look at an anchor, roughly: fewer services share a value than a name.
_COSTS = {2: 1, 1: 16, 0: 1 << 40}

_Anchors = dict[Anchor, None]


def anchors_of_service(props: Mapping[str, Sequence[str | int]]) -> tuple[Anchor, ...]:
    """Return every anchor that a service with these properties has, each once."""
    found: _Anchors = {ANYTHING: None}
    for name, values in props.items():
        if values:
            found[(name,)] = None
            for value in values:
                found[name, value if isinstance(value, str) else str(value)] = None
    return tuple(found)


def anchors_of_filter(tree: Filter) -> tuple[Anchor, ...]:
    """Return anchors of which every service that a filter matches has one.

    Of what must match all at once the rarest is enough; of alternatives it takes every one's. Nothing recurses.
    """
    done: list[tuple[int, _Anchors]] = []
    # Operands before what they are operands of.
    for part in reversed(list(walk(tree))):
        if not isinstance(part, Composite):
            anchor: Anchor = (part.key, part.value) if isinstance(part, Equal) else (part.key,)
            done.append(_single(anchor))
            continue
        count = len(operands(part))
        below = [done.pop() for _ in range(count)]
        if isinstance(part, Not):
            # What must not be there is nothing to look for.
            done.append(_single(ANYTHING))
        elif isinstance(part, And):
            # Without operands it matches everything.
            done.append(min(below, key=_cost, default=_single(ANYTHING)))
        else:
            done.append(_union(below))
    return tuple(done.pop()[1])


def _single(anchor: Anchor) -> tuple[int, _Anchors]:
    return _COSTS[len(anchor)], {anchor: None}


def _cost(anchors: tuple[int, _Anchors]) -> int:
    return anchors[0]


def _union(several: list[tuple[int, _Anchors]]) -> tuple[int, _Anchors]:
    # What is below is used nowhere else, so the largest may take in the others: deep nesting stays cheap.
    if any(ANYTHING in anchors for _, anchors in several):
        return _single(ANYTHING)
    largest = max(range(len(several)), key=lambda at: len(several[at][1]), default=None)
    # Without operands it matches nothing.
    if largest is None:
        return 0, {}
    cost, into = several.pop(largest)
    for _, anchors in several:
        for anchor in anchors:
            if anchor not in into:
                into[anchor] = None
                cost += _COSTS[len(anchor)]
    return cost, into


class Index:
    """Identifiers of things, filed under their anchors; in the order in which they were added."""

    def __init__(self) -> None:
        self._under: dict[Anchor, dict[int, None]] = {}

    def __len__(self) -> int:
        """Return how many anchors something is filed under."""
        return len(self._under)

    def add(self, identifier: int, anchors: Iterable[Anchor]) -> None:
        """File a thing under its anchors."""
        for anchor in anchors:
            self._under.setdefault(anchor, {})[identifier] = None

    def remove(self, identifier: int, anchors: Iterable[Anchor]) -> None:
        """Take a thing away from its anchors."""
        for anchor in anchors:
            filed = self._under.get(anchor)
            if filed is not None:
                filed.pop(identifier, None)
                if not filed:
                    del self._under[anchor]

    def find(self, anchors: Iterable[Anchor]) -> list[int]:
        """Return everything that is filed under any of some anchors, each once."""
        found = [filed for anchor in anchors if (filed := self._under.get(anchor)) is not None]
        if len(found) == 1:
            return list(found[0])
        merged: dict[int, None] = {}
        for filed in found:
            merged.update(filed)
        return list(merged)
