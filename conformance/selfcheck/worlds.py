"""What may befall an innocent peer beside its own habits: latencies, and the habits of another.

Nobody is accused who is only slow, or only different. So originals are played at every latency, each oddity at one of
them, and oddities in pairs: two habits at once are where assumptions about either show.
"""

import random
from collections.abc import Mapping
from itertools import combinations

from harness.peers.memory import Latency
from harness.peers.peer import Peer
from harness.peers.variants import Variant

WORLDS: Mapping[str, Latency] = {
    "50 ms": Latency(0.05),
    "400 ms": Latency(0.4),
    "1 s": Latency(1.0),
    # Far more than the way itself, so that what is said on two sessions comes in any order.
    "jitter": Latency(0.02, jitter=0.4),
}
"""The latencies, by their names in the matrix: a machine nearby, another continent, a bad radio link, disorder."""


def pairs(oddities: Mapping[str, Variant], originals: Mapping[str, type[Peer]]) -> list[tuple[Variant, Variant]]:
    """Return the pairs of oddities of one role that a single peer can have: neither overrides what the other does."""
    return [
        (one, two)
        for one, two in combinations(oddities.values(), 2)
        if one.role == two.role and not _overridden(one, originals) & _overridden(two, originals)
    ]


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
