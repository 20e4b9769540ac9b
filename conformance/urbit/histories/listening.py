"""Listening: several ships of the tester's hear what comes to any of them, each at its time."""

from collections.abc import Callable, Sequence

from harness.urbit.tester.driver import Driver

GRAIN = 0.01
"""Seconds of the clock for which one address is listened at before the others have their turn."""


def listen(drivers: Sequence[Driver], seconds: float, done: Callable[[], bool] = lambda: False) -> bool:
    """Read on all links for so many seconds of the clock, or until something holds; tells whether it does.

    A link is read when it is looked at, and its packets have that time: so none is left alone for long.
    """
    first = drivers[0]
    deadline = first.now() + seconds
    while True:
        for driver in drivers:
            while driver.exchange.receive(driver.now()):
                pass
        if done():
            return True
        if first.now() >= deadline:
            return False
        first.require_somebody()
        # In virtual time nothing is missed: what comes elsewhere meanwhile has its own time there.
        grain = deadline if first.timing.is_virtual and seconds <= GRAIN else first.now() + _grain(first, seconds)
        first.exchange.receive(min(deadline, grain))


def _grain(driver: Driver, seconds: float) -> float:
    return max(GRAIN, seconds / 64) if driver.timing.is_virtual else GRAIN
