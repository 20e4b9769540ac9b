"""Clocks: what time it is, in seconds. Time is an argument everywhere, so that it can be scaled or simulated."""

import time
from typing import Protocol


class Clock(Protocol):
    """Something that tells the time in seconds from an arbitrary start."""

    def now(self) -> float:
        """Return the time in seconds; it never goes back."""
        ...


class RealClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Return monotonic seconds."""
        # Monotonic: a wall clock may be set back in the middle of a run, and every deadline with it.
        return time.monotonic()


def epoch(tempo: float) -> float:
    """Return the seconds from 1970 to the zero of the machine's clock, where so many pass in one of ours."""
    return (time.time() - time.monotonic()) * tempo


class VirtualClock:
    """A clock that moves only when it is advanced."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        """Return virtual seconds."""
        return self.time
