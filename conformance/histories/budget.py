"""The budget of a run's histories: seconds for which they are played. Without one they take what they take.

What is made sure of beside that (starts, confirmations, evidence, traces) takes its own time: on a machine that is busy
it would else leave none for what is to be found out.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Budget:
    """Seconds for all histories of this process; ``None`` is without end, as in memory, where nothing waits."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._spent = 0.0
        self._since: float | None = None

    def begin(self, seconds: float | None) -> None:
        """Give so many seconds anew: a process may play several runs, one after the other."""
        self.seconds, self._spent, self._since = seconds, 0.0, None

    def left(self) -> float:
        """Return the seconds that are left."""
        if self.seconds is None:
            return float("inf")
        running = 0.0 if self._since is None else time.monotonic() - self._since
        return self.seconds - self._spent - running

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Let time go by while a history is played."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._spent += time.monotonic() - self._since
            self._since = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do something that is bounded in itself, and that no history has less time for."""
        before, self.seconds = self.seconds, None
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds = before
            if self._since is not None:
                self._since += time.monotonic() - began


BUDGET = Budget()
"""That of this process; the gate sets its seconds."""
