"""Waiting in histories: until nothing is missing any more, and no longer than something is to be learnt by it."""

from collections.abc import Callable
from typing import Protocol

from conformance.histories.mismatch import Mismatch
from harness.timing import Timing


class WaitUntil(Protocol):
    """Reads until something holds, or a time of the link's clock has come; tells whether it holds."""

    def __call__(self, done: Callable[[], bool], until: float, /) -> bool: ...


def still_missing(
    missing: Callable[[], Mismatch | None], wait_until: WaitUntil, timing: Timing, *, now: float, patience: float
) -> Mismatch | None:
    """Return what is missing when so many seconds of patience have passed; ``None`` as soon as nothing is.

    Of a rule that is known to be broken it would be one proof more, at the cost of the histories to come, and of those
    that are tried to make this one smaller: for that nobody waits longer than a window. Nor for what is known never to
    come, from whatever plays.
    """
    difference: Mismatch | None = None
    waited = 0.0
    for seconds in (timing.window, patience):
        if wait_until(lambda: missing() is None, now + seconds):
            return None
        difference, waited = missing(), seconds
        if difference is not None and any(map(timing.is_in_vain, (difference.rule, difference.thing))):
            break
    else:
        if difference is not None:
            timing.showed(difference.rule)
    if difference is not None and difference.thing:
        timing.awaited(difference.thing, False, waited)
    return difference
