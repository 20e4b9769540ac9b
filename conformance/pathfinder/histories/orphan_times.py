"""Orphan times: since when services are listed as orphans, held against what the same server said before.

A server's clock is its own, so nothing here compares it with ours; but each loss of contact has one time, and that of a
later loss is later.
"""

import time
from collections.abc import Callable, Iterable

import msgspec

from conformance.histories.mismatch import Mismatch

RULE = "PF-228"

WHOLE = 1.0
"""Seconds by which two tellings of one time may differ: one may be in whole seconds (R17)."""

FINEST = 6
"""Digits behind the point that are taken for meant: beyond them stands what floating point makes of a time."""

TICK = 0.016
"""Seconds by which the coarsest of the clocks that systems have goes on at once, in however many digits it is told."""


class OrphanTime(msgspec.Struct):
    """What was listed of an orphan: ``since``, and when by our clock that was ``seen``; so of the loss ``before``."""

    since: float | None = None
    seen: float = 0.0
    before: float | None = None
    before_seen: float = 0.0
    lost: float = 0.0
    """When contact was lost, by our clock: the server cannot have noticed it before."""


class OrphanTimes:
    """What one server said in a play; ``clock`` is ours and never goes back; the server's goes on by ``tick``."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, tick: float = TICK) -> None:
        # Servers in memory have virtual time for what they do, and read the real time for what they say.
        self._clock = clock
        self._tick = tick
        self._times: dict[int, OrphanTime] = {}

    def now(self) -> float:
        """Return the time by our clock."""
        return self._clock()

    def lose(self, services: Iterable[int], at: float) -> None:
        """Take note that services whose owner was there have lost it, not before some time."""
        for service in services:
            known = self._times.setdefault(service, OrphanTime())
            # What was never listed as an orphan leaves the loss before in its place.
            if known.since is not None:
                known.before, known.before_seen = known.since, known.seen
            known.since, known.lost = None, at

    def take(self, service: int, since: float, shown: str) -> None:
        """Take what is listed of an orphan; raises ``Mismatch`` where it cannot be."""
        known = self._times.get(service)
        if known is None:
            return
        if known.since is None:
            known.since, known.seen = since, self.now()
        if abs(since - known.since) >= WHOLE:
            raise Mismatch(
                RULE, f"{shown} has {service} as an orphan since {since!r}, and before since {known.since!r}"
            )
        # Each time: who looks again and again is to find what is wrong at the end, too.
        self._compare_losses(known, service, shown)

    def _compare_losses(self, known: OrphanTime, service: int, shown: str) -> None:
        """Compare the times of two losses, where more time lies between them than the server counts in."""
        if known.before is None or known.since is None:
            return
        grain = max(grain_of(known.before), grain_of(known.since), self._tick)
        # The first had come to pass when it was seen, and the second not before we brought it about.
        if known.lost - known.before_seen > 2 * grain and known.since <= known.before:
            raise Mismatch(
                RULE,
                f"{shown} has {service} as an orphan since {known.since!r}, and its owner was back since then:"
                f" when it had left before, it was since {known.before!r}",
            )


def grain_of(since: float) -> float:
    """Return the seconds that a server counts in, by the digits that it writes of a time; 1 where it writes none."""
    digits = f"{since:.{FINEST}f}".rstrip("0").partition(".")[2]
    return 10.0 ** -len(digits)
