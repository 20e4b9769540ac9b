"""The budget of a run's histories: seconds that begin with the first of them. Without one they take what they take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Budget:
    """Seconds for all histories of this process; ``None`` is without end, as in memory, where nothing waits."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._end = 0.0

    def begin(self, seconds: float | None) -> None:
        """Give so many seconds anew: a process may play several runs, one after the other."""
        self.seconds, self._end = seconds, 0.0

    def left(self) -> float:
        """Return the seconds that are left."""
        if self.seconds is None:
            return float("inf")
        if not self._end:
            self._end = time.monotonic() + self.seconds
        return self._end - time.monotonic()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do something that is bounded in itself, and that no history has less time for."""
        before, self.seconds = self.seconds, None
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds = before
            self._end += time.monotonic() - began if self._end else 0.0


BUDGET = Budget()
"""That of this process; the gate sets its seconds."""
