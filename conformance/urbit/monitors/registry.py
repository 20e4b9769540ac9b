"""Where the Urbit monitors are collected, and how they say which packets they look at."""

from collections.abc import Hashable
from typing import Any

from conformance.monitors import KEPT, Monitors, Observation, Selector, SessionEnd, broken
from conformance.urbit.monitors.state import OF_PUBLISHERS, OF_SUBSCRIBERS, SessionState
from harness.trace import Direction
from harness.urbit.tester.events import RefusedPacket

MONITORS = Monitors(SessionState)
monitor = MONITORS


def said(*forms: type) -> Selector:
    """Select the packets of the implementation, by the classes of their bodies."""

    def selects(role: Hashable, direction: Direction, form: type) -> bool:
        return direction is Direction.RECEIVED and form in forms

    return selects


ANY = said(*OF_SUBSCRIBERS, *OF_PUBLISHERS)
"""All packets of the document's own: those of ames are another protocol's."""

REFUSED = said(RefusedPacket)


def ended(role: Hashable, direction: Direction, form: Any) -> bool:
    """Select the end of a session."""
    return form is SessionEnd


def whether(holds: bool, entry: int, otherwise: str, field: str = "") -> Observation:
    """Say whether a rule is kept here, and what came if it is not."""
    return KEPT if holds else broken(entry, otherwise, field)
