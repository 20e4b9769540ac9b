"""Watching growth: what a process takes after each test, and which tests it took for that it never gave back."""

from collections import deque
from itertools import accumulate

import msgspec

from fuzz.net.moves import NetworkTest
from fuzz.net.resources import Resources

SUSPICIOUS = Resources(memory=8 << 20, descriptors=6, threads=6)
"""By how much a process may grow before it is looked at what lets it; twice as much each time that is in vain."""

WARMING_UP = 12
"""Tests after a start in which all is forgiven: caches fill, threads start."""

SETTLING = 4
"""Tests, the last ones, of which the least counts: what a test has used may be given back a moment later."""

REMEMBERED = 400
"""Tests at most, the last ones, among which it is looked for those that let it grow."""

LOOKS = 8
"""Tests after which it is looked whether it has grown."""

CANDIDATES = 3
"""Tests that are tried."""


class SuspectedGrowth(msgspec.Struct, frozen=True):
    """A process has grown: what it takes more of, and the tests after which it did, the worst first."""

    what: str
    tests: tuple[NetworkTest, ...]


class GrowthWatch:
    """What an instance takes after each test since it was started."""

    def __init__(self) -> None:
        self._allowed = {name: getattr(SUSPICIOUS, name) for name in Resources.__struct_fields__}
        self.begin()

    def begin(self) -> None:
        """Begin anew, with a fresh instance."""
        self._seen: deque[tuple[NetworkTest, Resources]] = deque(maxlen=REMEMBERED)
        self._forgiven = WARMING_UP
        self._looks = 0

    def note(self, test: NetworkTest, now: Resources) -> SuspectedGrowth | None:
        """Note what is taken after a test; return what has grown too much, if anything."""
        if self._forgiven:
            self._forgiven -= 1
            return None
        self._seen.append((test, now))
        self._looks += 1
        if self._looks % LOOKS or len(self._seen) <= SETTLING:
            return None
        for name, allowed in self._allowed.items():
            levels = self._kept(name)
            if levels[-SETTLING] - levels[0] > allowed:
                return self._suspected(name, levels)
        return None

    def in_vain(self, what: str) -> None:
        """Allow it more: what was suspected of this did not show when it was tried."""
        self._allowed[what] *= 2
        self._seen.clear()

    def _kept(self, name: str) -> list[int]:
        """Return how much was never given back of what was taken up to each test."""
        taken = [getattr(each, name) for _, each in self._seen]
        return list(accumulate(reversed(taken), min))[::-1]

    def _suspected(self, name: str, levels: list[int]) -> SuspectedGrowth:
        rises = [(levels[place] - levels[place - 1], place) for place in range(1, len(levels))]
        worst = sorted((rise for rise in rises if rise[0] > 0), reverse=True)[:CANDIDATES]
        return SuspectedGrowth(name, tuple(self._seen[place][0] for _, place in worst))
