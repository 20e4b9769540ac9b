"""A server that does things later than it could: what odd servers that take their time are made of."""

from collections.abc import Callable
from typing import Any

from harness.pathfinder.peers.server import Server


class Later(Server):
    """A server that can put off what it does; what is due at one time is done in the order in which it was put off."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.postponed: list[tuple[float, Callable[[], None]]] = []

    def postpone(self, seconds: float, act: Callable[[], None]) -> None:
        """Call a function that many ``seconds`` from now."""
        self.postponed.append((self.now + seconds, act))
        # Sorted by time alone: the sort is stable, and functions have no order.
        self.postponed.sort(key=lambda each: each[0])

    def tick(self, now: float) -> None:
        """Let time pass: do what is due."""
        super().tick(now)
        while self.postponed and self.postponed[0][0] <= now:
            self.postponed.pop(0)[1]()
        self.settle()

    def next_tick(self) -> float | None:
        """Return when there is something to do."""
        times = [at for at in (super().next_tick(), self.postponed[0][0] if self.postponed else None) if at is not None]
        return min(times, default=None)
