"""Watching growth: what a process takes after each test, and which tests it took for that it never gave back."""

from collections import deque
from collections.abc import Collection, Iterator
from itertools import accumulate, pairwise

import msgspec

from fuzz.net.moves import NetworkTest
from fuzz.net.resources import Resources

SUSPICIOUS = Resources(memory=8 << 20, descriptors=6, threads=6)
"""By how much a process may grow before it is looked at what lets it; twice as much each time that is in vain."""

WARMING_UP = 12
"""Tests after the first start in which all is forgiven: caches fill, threads start."""

WARMING_UP_AGAIN = 3
"""Tests after each other start: who dies of every tenth test is hardly ever warm, and what it keeps adds up."""

SETTLING = 4
"""Tests, the last ones, of which the least counts: what a test has used may be given back a moment later."""

REMEMBERED = 400
"""Tests at most, the last ones, among which it is looked for those that let it grow."""

LOOKS = 8
"""Tests after which it is looked whether it has grown."""


class SuspectedGrowth(msgspec.Struct, frozen=True):
    """A process has grown: what it takes more of, and the tests after which it did, the worst first."""

    what: str
    tests: tuple[NetworkTest, ...]


class _Rise(msgspec.Struct, frozen=True):
    """By how much more a process took after a test, and never gave that back."""

    test: NetworkTest
    taken: Resources


class GrowthWatch:
    """What an implementation took after each test, and what its earlier instances never gave back while they lived."""

    def __init__(self) -> None:
        self._allowed = {name: getattr(SUSPICIOUS, name) for name in Resources.__struct_fields__}
        self._before = deque[_Rise](maxlen=REMEMBERED)
        self._seen = deque[tuple[NetworkTest, Resources]](maxlen=REMEMBERED)
        self._forgiven = WARMING_UP
        self._looks = 0

    def begin(self) -> None:
        """Go on with a fresh instance."""
        self._before.extend(self._rises())
        self._seen.clear()
        self._forgiven = max(self._forgiven, WARMING_UP_AGAIN)

    def note(self, test: NetworkTest, now: Resources) -> SuspectedGrowth | None:
        """Note what is taken after a test; return what has grown too much, if anything."""
        if self._forgiven:
            self._forgiven -= 1
            return None
        self._seen.append((test, now))
        self._looks += 1
        if self._looks % LOOKS:
            return None
        rises = [*self._before, *self._rises()]
        for name, allowed in self._allowed.items():
            if sum(getattr(each.taken, name) for each in rises) > allowed:
                worst = sorted(((getattr(each.taken, name), place) for place, each in enumerate(rises)), reverse=True)
                return SuspectedGrowth(name, tuple(rises[place].test for more, place in worst if more > 0))
        return None

    def forget(self, what: str, tests: Collection[NetworkTest]) -> None:
        """Take no account any more of what was taken of this after some tests: it is known why."""
        rises = [*self._before, *self._rises()]
        self._before.clear()
        for each in rises:
            taken = msgspec.structs.replace(each.taken, **{what: 0}) if each.test in tests else each.taken
            if any(msgspec.structs.astuple(taken)):
                self._before.append(_Rise(each.test, taken))
        self._seen.clear()

    def in_vain(self, what: str) -> None:
        """Allow it more: what was suspected of this did not show when it was tried."""
        self._allowed[what] *= 2
        self._before.clear()
        self._seen.clear()

    def _rises(self) -> Iterator[_Rise]:
        """Yield by how much the instance has grown for good with each test, but for the last ones."""
        kept = [self._kept(name) for name in Resources.__struct_fields__]
        levels = [Resources(*each) for each in zip(*kept, strict=True)]
        tests = [test for test, _ in self._seen]
        for test, (before, after) in list(zip(tests[1:], pairwise(levels), strict=True))[: 1 - SETTLING]:
            more = {name: getattr(after, name) - getattr(before, name) for name in Resources.__struct_fields__}
            if any(more.values()):
                yield _Rise(test, Resources(**more))

    def _kept(self, name: str) -> list[int]:
        """Return how much was never given back of what was taken up to each test."""
        taken = [getattr(each, name) for _, each in self._seen]
        return list(accumulate(reversed(taken), min))[::-1]
