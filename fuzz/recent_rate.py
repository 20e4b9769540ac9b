"""Inputs per second of the last moment, which are not known before a moment has passed."""

from collections import deque

RATE_WINDOW = 1.0
"""Seconds over which the rate is counted: a shorter window jumps, a longer one hides that an engine got slow."""


class RecentRate:
    """Counts inputs by the clock, whenever somebody looks."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def rate(self, now: float, inputs: int) -> float | None:
        """Return inputs per second of the last moment; None until so long was searched."""
        # A search that is started again counts from zero; and before the first input it only loads what it needs.
        if inputs == 0 or (self._seen and inputs < self._seen[-1][1]):
            self._seen.clear()
        self._seen.append((now, inputs))
        while len(self._seen) > 2 and now - self._seen[1][0] >= RATE_WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        return (inputs - before) / (now - then) if now - then >= RATE_WINDOW else None
