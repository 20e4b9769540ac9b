"""Feedback: which tests are worth to be gone on with, by what they came to that few others did."""

import math
from collections import Counter
from collections.abc import Iterable
from random import Random

import msgspec

from fuzz.net.moves import NetworkTest

MOST = 4000
"""Tests that are kept at most: then those that nothing rare is left of go."""


FADING = 0.98
"""How much of the past counts for what a way of making tests pays, with each test that was made so."""

LEAST = 0.2
"""What share each way has at least."""


class PayingWay:
    """A way of making tests, and what it pays: new things that are come to, per second."""

    def __init__(self) -> None:
        # As if it had paid once: at first nobody knows.
        self._new = self._seconds = 1.0

    def note(self, new: int, seconds: float) -> None:
        """Take note of what a test has come to that was made so, and how long it took."""
        self._new = FADING * self._new + new
        self._seconds = FADING * self._seconds + seconds

    def share(self, other: "PayingWay") -> float:
        """Return what share of the tests is to be made so, and the rest in another way."""
        mine, its = self._new / self._seconds, other._new / other._seconds
        return min(max(mine / (mine + its), LEAST), 1 - LEAST) if mine + its else 0.5


class KeptTest(msgspec.Struct):
    """A test that came to something new, and what it came to."""

    test: NetworkTest
    features: frozenset[int]
    tried: int = 0
    """How many tests were made of it."""


class TestPool:
    """The tests that are kept; energy goes to what was come to seldom."""

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    def __init__(self, random: Random) -> None:
        self._random = random
        self._hits: Counter[int] = Counter()
        self.kept: list[KeptTest] = []

    @property
    def features(self) -> int:
        """How many different things were come to."""
        return len(self._hits)

    def take(self, test: NetworkTest, features: Iterable[int]) -> list[int]:
        """Take note of what a test came to, and keep it where some of that is new; return the new ones."""
        came_to = frozenset(features)
        new = [each for each in came_to if each not in self._hits]
        self._hits.update(came_to)
        if new:
            self.kept.append(KeptTest(test, came_to))
            if len(self.kept) > MOST:
                self.kept.sort(key=self._energy)
                del self.kept[: MOST // 4]
        return new

    def choose(self) -> KeptTest:
        """Return a kept test to go on with: one of a few, by how rare that is which it came to."""
        # Of some instead of all: with thousands of them the choice would take longer than the play.
        candidates = self._random.choices(self.kept, k=min(12, len(self.kept)))
        chosen = max(candidates, key=lambda each: self._energy(each) * self._random.random())
        chosen.tried += 1
        return chosen

    def any(self) -> NetworkTest:
        """Return any kept test, to splice with; none where none is kept."""
        return self._random.choice(self.kept).test if self.kept else ()

    def _energy(self, kept: KeptTest) -> float:
        rarity = sum(1.0 / self._hits[each] for each in kept.features)
        return rarity / math.sqrt(1 + kept.tried)
