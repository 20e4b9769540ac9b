"""The trial of a test that is suspected to let a process grow: it is played as often as it takes to tell."""

from collections.abc import Callable, Generator, Iterator, Sequence

from fuzz.net.resources import Resources
from fuzz.net.symptoms import GROWS, GROWS_FAST, Symptom

PER_TEST = Resources(memory=64 << 10, descriptors=1, threads=1)
"""What a test may leave behind each time it is played, and no more, for hundreds of them to be possible."""

SETTLING = 3
"""How many times as often a test is played that seems to let a process grow.

Memory that was given back is used again in other pieces, so that a process grows for a while, and then no more: a
router of ours by 9 MB in forty tests, and by none in a hundred and forty more. What leaks grows for ever.
"""

ABUNDANT = 1 << 30
"""Bytes by which a process has grown that is played with no more: there may be no more of them."""


class GrowthTrial:
    """Whether a process grows while one test is played some times; more often where it seems to."""

    def __init__(self, takes: Callable[[], Resources], times: int) -> None:
        self._takes, self._times = takes, times
        self._first = 0
        self._is_abundant = False
        self.seems_to_grow = False
        """Whether it has grown by what it was first played for, and is played more often."""
        self.symptom: Symptom | None = None

    def rounds(self) -> Iterator[int]:
        """Yield a number for each time that the test is to be played; ``symptom`` is there behind the last one."""
        times = self._times
        if times == 1:
            yield 0
            return
        self._first = self._takes().memory
        # What is made once, and kept, is made in the first third.
        found = yield from self._grows(0, times, times // 3)
        if found is not None and not self._is_abundant:
            self.seems_to_grow = True
            found = yield from self._grows(times, SETTLING * times, (SETTLING - 1) * times)
        self.symptom = found

    def _grows(self, first: int, end: int, measured: int) -> Generator[int, None, Symptom | None]:
        """Yield the numbers of some rounds; return by what it has grown since one of them."""
        levels = list[Resources]()
        for number in range(first, end):
            yield number
            level = self._takes()
            if level.memory - self._first > ABUNDANT:
                self._is_abundant = True
                return Symptom("growth", GROWS_FAST)
            if number >= measured:
                levels.append(level)
        return growth(levels)


def growth(levels: Sequence[Resources]) -> Symptom | None:
    """Return by what a process has grown that took so much each time after a test; ``None`` where that is not much.

    What is taken for a moment is given back, sooner or later: the least of the last third counts, and the most of the
    first.
    """
    third = max(1, len(levels) // 3)
    rounds = len(levels) - 2 * third + 1
    for name in ("descriptors", "threads", "memory"):
        before, after = ([getattr(each, name) for each in some] for some in (levels[:third], levels[-third:]))
        if (min(after) - max(before)) / rounds > 0.6 * getattr(PER_TEST, name):
            return Symptom("growth", GROWS.format(name))
    return None
