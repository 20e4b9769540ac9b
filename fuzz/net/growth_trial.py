"""The trial of a test that is suspected to let a process grow: it is played as often as it takes to tell."""

from collections.abc import Callable, Generator, Iterator

from fuzz.net.resources import Resources
from fuzz.net.symptoms import Symptom

PER_TEST = Resources(memory=64 << 10, descriptors=1, threads=1)
"""What a test may leave behind each time it is played, and no more, for hundreds of them to be possible."""

SETTLING = 3
"""How many times as often a test is played that seems to let a process grow.

Memory that was given back is used again in other pieces, so that a process grows for a while, and then no more: a
router of ours by 9 MB in forty tests, and by none in a hundred and forty more. What leaks grows for ever.
"""


class GrowthTrial:
    """Whether a process grows while one test is played some times; more often where it seems to."""

    def __init__(self, takes: Callable[[], Resources], times: int) -> None:
        self._takes, self._times = takes, times
        self.symptom: Symptom | None = None

    def rounds(self) -> Iterator[int]:
        """Yield a number for each time that the test is to be played; ``symptom`` is there behind the last one."""
        times = self._times
        if times == 1:
            yield 0
            return
        # What is made once, and kept, is made in the first third.
        if (yield from self._grows(0, times, times // 3)) is not None:
            self.symptom = yield from self._grows(times, SETTLING * times, (SETTLING - 1) * times)

    def _grows(self, first: int, end: int, measured: int) -> Generator[int, None, Symptom | None]:
        """Yield the numbers of some rounds; return by what it has grown since one of them."""
        before = Resources()
        for number in range(first, end):
            if number == measured:
                before = self._takes()
            yield number
        return growth(before, self._takes(), end - measured)


def growth(before: Resources, after: Resources, times: int) -> Symptom | None:
    """Return by what a process has grown that has played one test so many times; ``None`` where that is not much."""
    for name in ("descriptors", "threads", "memory"):
        more = (getattr(after, name) - getattr(before, name)) / times
        if more > 0.6 * getattr(PER_TEST, name):
            return Symptom("growth", f"each time the test is played, it takes more {name}")
    return None
