"""What makes two findings alike: texts without what varies in them, the branches that an input reaches, and clusters.

Nothing here depends on the order in which things come.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import Any, TypeVar

from vectors.kinds import trace
from wire.errors import WireError

VARYING = (
    (r"(^|[^A-Za-z0-9])(b?)'[^']*'", "{1}{2}'…'"),
    (r'"[^"]*"', '"…"'),
    (r"[A-Za-z0-9_*$.@#-]*/[A-Za-z0-9_*$.@#/-]*", "…/…"),
    (r"0x[0-9A-Fa-f]+", "#"),
    (r"[0-9a-f]{8,}|[0-9A-F]{8,}", "#"),
    (r"[0-9]+", "#"),
)
"""What varies from one failure to the next and stands for nothing: quoted text, keys, addresses, hex, numbers.

In this order; only what Arrow (RE2) and Spark (Java) understand alike. ``{1}`` is the first group.
"""

LONGEST = 4096
"""Bytes of an input whose branches are looked at; a larger one is alike only to what is at the same place."""

NEAR = 0.75
"""Inputs are near when they have so much of the branches of both in common (Jaccard index)."""

NEAR_TEXTS = 0.7
"""The same of words in texts."""

T = TypeVar("T")
L = TypeVar("L")


def replacements(sign: str) -> Iterator[tuple[str, str]]:
    """Give the patterns of ``VARYING`` and what stands instead; ``sign`` begins a group (a backslash, or ``$``)."""
    for pattern, instead in VARYING:
        yield pattern, instead.replace("{1}", f"{sign}1").replace("{2}", f"{sign}2")


def words(text: str) -> frozenset[str]:
    """Return the words of a text, numbered where they come more than once."""
    seen: Counter[str] = Counter()
    found = set()
    for word in re.findall(r"\w+|#|…", text):
        seen[word] += 1
        found.add(f"{word} {seen[word]}")
    return frozenset(found)


def branches(layout: str, data: bytes, place: str) -> frozenset[str]:
    """Return the branches of a layout that a frame reaches at a place of its value, and inside it, whoever has it.

    The same field of two messages is alike. Of the place ``(frame)``, and of one that the layout has not, all branches
    of the frame are returned; none when the frame is too long, or the layout is not known here.
    """
    # To trace a frame takes the reader of coverage a thousand times as long as decoding it.
    if len(data) > LONGEST:
        return frozenset()
    try:
        found = trace(layout, data)
    # Findings are what no engine was made for: nothing of them may end the triage of the others.
    except (WireError, RecursionError):
        return frozenset()
    # Their names are taken out of paths: the same field in two messages is read by the same code.
    messages = set(found.members.values())
    wanted = _without(place, messages)
    tail = _tail(wanted)
    local = set()
    for path, name in found.branches:
        here = _without(path, messages)
        if here == wanted or here.startswith((f"{wanted}.", f"{wanted}[")):
            local.add(f"{tail}{here[len(wanted) :]}: {name}")
    return frozenset(local or map(str, found.branches))


def _without(path: str, messages: set[str]) -> str:
    """Return a path without the names of messages in it, as values have it."""
    return ".".join(step for step in path.split(".") if step not in messages)


def _tail(path: str) -> str:
    """Return the last step of a path; of what is in a list, with the list's name."""
    steps = path.split(".")
    return ".".join(steps[-2:] if len(steps) > 1 and steps[-2].endswith("[]") else steps[-1:])


def paths(value: str) -> frozenset[str]:
    """Return the paths in the JSON of a value, and the names of its messages."""
    return frozenset(_paths(json.loads(value), ""))


def _paths(part: Any, path: str) -> Iterator[str]:
    if isinstance(part, Mapping):
        for name, each in part.items():
            yield from [f"{path}.{name}: {each}"] if name == "type" else _paths(each, f"{path}.{name}")
    elif isinstance(part, list):
        for each in part:
            yield from _paths(each, f"{path}[]")
    else:
        yield path


def jaccard(one: Set[Any], other: Set[Any]) -> float:
    """Return how much of two sets is in both; 0 when both are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def clustered(
    items: Sequence[T],
    same: Callable[[T], Hashable],
    family: Callable[[T], Hashable],
    features: Callable[[Sequence[T]], L],
    alike: Callable[[L, L], bool],
) -> list[list[T]]:
    """Return items in clusters, each in the order of ``items``: single linkage.

    Together are items with the same ``same``, and of one ``family`` those groups of such items whose ``features`` are
    ``alike``. Items with the same ``same`` have the same ``family``.
    """
    groups: dict[Hashable, list[T]] = {}
    places: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(same(item), []).append(item)
        places.setdefault(same(item), []).append(place)
    families: dict[Hashable, list[Hashable]] = {}
    for name, members in groups.items():
        # Only within a family are pairs compared: their number grows with the square.
        families.setdefault(family(members[0]), []).append(name)
    leader = {name: name for name in groups}

    def find(name: Hashable) -> Hashable:
        while leader[name] != name:
            # Path halving keeps the trees of this union-find flat.
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for names in families.values():
        seen = {name: features(groups[name]) for name in names} if len(names) > 1 else {}
        for one, other in combinations(names, 2):
            # Whoever is in one cluster already is not compared, which is the expensive part.
            if find(one) != find(other) and alike(seen[one], seen[other]):
                leader[find(other)] = find(one)
    # By place in ``items``: the order that came in goes out.
    clusters: dict[Hashable, list[int]] = {}
    for name in groups:
        clusters.setdefault(find(name), []).extend(places[name])
    return [[items[place] for place in each] for each in sorted(sorted(each) for each in clusters.values())]
