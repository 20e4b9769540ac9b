"""Since when services are orphans, held against what the same server said before."""

import pytest

from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.histories.orphan_times import OrphanTimes, grain_of

LATER = 3600.0
"""A server's clock, as far from ours as it likes."""


class Seconds:
    """A clock that stands until it is set."""

    time = 100.0

    def __call__(self) -> float:
        return self.time


def two_losses(first: float, second: float, *, apart: float) -> None:
    """Take what a server lists of a service that was lost twice; so many seconds pass between seeing and losing it."""
    clock = Seconds()
    orphans = OrphanTimes(clock)
    orphans.lose([1], clock())
    orphans.take(1, first, "a list")
    clock.time += apart
    orphans.lose([1], clock())
    orphans.take(1, second, "a list")


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (LATER + 0.25, LATER + 0.375, 0.05),
        # Whole seconds, and tenths: too little time has passed to tell.
        (LATER, LATER, 1.5),
        (LATER + 0.5, LATER + 0.5, 0.05),
        (LATER, LATER + 3, 3.0),
        # A clock that goes on by a tick of fifteen milliseconds, and is told in microseconds.
        (LATER + 0.123456, LATER + 0.123456, 0.015),
        # Longer than we saw: it noticed late.
        (LATER + 0.123456, LATER + 9.5, 0.01),
    ],
)
def test_a_later_loss_has_a_later_time(first: float, second: float, apart: float) -> None:
    two_losses(first, second, apart=apart)


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [(LATER + 0.123456, LATER + 0.123456, 0.05), (LATER, LATER, 3.0), (LATER + 0.75, LATER + 0.25, 1.0)],
)
def test_the_time_of_the_loss_before_is_wrong(first: float, second: float, apart: float) -> None:
    with pytest.raises(Mismatch, match="its owner was back since then"):
        two_losses(first, second, apart=apart)


def test_one_loss_has_one_time_however_it_is_written() -> None:
    orphans = OrphanTimes(Seconds())
    orphans.take(1, LATER, "nobody has seen it lost")
    orphans.lose([1], 0.0)
    orphans.take(1, LATER + 0.9, "a list")
    orphans.take(1, int(LATER), "another list")
    with pytest.raises(Mismatch, match="as an orphan since"):
        orphans.take(1, LATER + 2.0, "another list")


@pytest.mark.parametrize(
    ("since", "grain"), [(5, 1.0), (5.0, 1.0), (1.7e9, 1.0), (5.5, 0.1), (1700000000.123, 0.001), (0.1 + 0.2, 0.1)]
)
def test_the_digits_of_a_time_say_what_it_is_counted_in(since: float, grain: float) -> None:
    assert grain_of(since) == pytest.approx(grain)
