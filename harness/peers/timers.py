"""Timers: what a peer has to do later, and when."""

import heapq
from collections.abc import Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key")


class Timers(Generic[Key]):
    """Times at which something is due; setting one and taking one costs the logarithm of how many there are.

    What is set again is due once, at the later call's time; what is not needed any more is passed over when it is due,
    by whoever takes it: to look for it here would cost more.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Key]] = []
        self._count = 0

    def set(self, at: float, key: Key) -> None:
        """Have something be due at a time."""
        # The count decides between equal times: keys need no order, and what was set first is due first.
        self._count += 1
        heapq.heappush(self._heap, (at, self._count, key))

    def next(self) -> float | None:
        """Return when the next thing is due."""
        return self._heap[0][0] if self._heap else None

    def due(self, now: float) -> Iterator[tuple[float, Key]]:
        """Take out what is due by now, in order, with when it was due."""
        while self._heap and self._heap[0][0] <= now:
            at, _, key = heapq.heappop(self._heap)
            yield at, key

    def __len__(self) -> int:
        return len(self._heap)
