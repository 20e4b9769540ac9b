"""Where the Urbit monitors are collected, and how they say which packets they look at."""

from collections.abc import Hashable

from conformance.monitors import Monitors, Selector
from conformance.urbit.monitors.state import SessionState
from harness.trace import Direction

MONITORS = Monitors(SessionState)
monitor = MONITORS


def said(*forms: type) -> Selector:
    """Select the packets of the implementation, by the classes of their bodies."""

    def selects(role: Hashable, direction: Direction, form: type) -> bool:
        return direction is Direction.RECEIVED and form in forms

    return selects
