"""What may befall an innocent peer beside its own habits: latencies, and the habits of another.

Nobody is accused who is only slow, or only different. So originals are played at every latency; each oddity at one of
them, or with an oddity about when and in which pieces all things come (``everywhere``): updates behind answers, small
batches. And oddities in pairs: two habits at once are where assumptions about either show.
"""

import random
from collections.abc import Iterator, Mapping
from itertools import combinations

from harness.links.network_path import NetworkPath
from harness.peers.peer import Peer
from harness.peers.variants import Variant

WORLDS: Mapping[str, NetworkPath] = {
    "50 ms": NetworkPath(0.05),
    "400 ms": NetworkPath(0.4),
    "1 s": NetworkPath(1.0),
    # Far more than the way itself, so that what is said on two sessions comes in any order.
    "jitter": NetworkPath(0.02, jitter=0.4),
}
"""The latencies, by their names in the matrix: a machine nearby, another continent, a bad radio link, disorder."""


def surroundings(
    oddities: Mapping[str, Variant], originals: Mapping[str, type[Peer]]
) -> Iterator[tuple[Variant, str, Variant | None]]:
    """Yield each oddity with a latency, by its name, or with another oddity that it does not contradict.

    In turn: a habit that is unfair at one will have a neighbour there.
    """
    around: list[str | Variant] = [*WORLDS, *(each for each in oddities.values() if each.everywhere)]
    for number, oddity in enumerate(oddities.values()):
        turn = number % len(around)
        for what in (*around[turn:], *around[:turn]):
            if isinstance(what, str):
                yield oddity, what, None
                break
            if are_compatible(oddity, what, originals):
                yield oddity, "", what
                break


def are_compatible(one: Variant, two: Variant, originals: Mapping[str, type[Peer]]) -> bool:
    """Tell whether a single peer can have two oddities: neither overrides what the other does."""
    return one is not two and one.role == two.role and not _overridden(one, originals) & _overridden(two, originals)


def pairs(oddities: Mapping[str, Variant], originals: Mapping[str, type[Peer]]) -> list[tuple[Variant, Variant]]:
    """Return the pairs of oddities of one role that a single peer can have."""
    return [each for each in combinations(oddities.values(), 2) if are_compatible(*each, originals)]


def chosen_pairs(
    oddities: Mapping[str, Variant], originals: Mapping[str, type[Peer]], count: int, seed: int
) -> list[tuple[Variant, Variant]]:
    """Return so many of the pairs, by seed; all of them when there are no more."""
    found = pairs(oddities, originals)
    return found if count >= len(found) else random.Random(seed).sample(found, count)


def both(one: Variant, two: Variant) -> type[Peer]:
    """Return a peer that has two oddities."""
    return type(f"{one.peer.__name__}And{two.peer.__name__}", (one.peer, two.peer), {})


def _overridden(variant: Variant, originals: Mapping[str, type[Peer]]) -> set[str]:
    """Return what an oddity's classes do otherwise than the original: methods and attributes, by name."""
    original = originals[variant.role]
    names: set[str] = set()
    for each in variant.peer.__mro__:
        if each is not original and each not in original.__mro__:
            # A state of its own is no habit: constructors call each other.
            names |= {name for name in vars(each) if not name.startswith("_")} - {"role"}
    return names
