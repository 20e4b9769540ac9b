"""Where the Rai monitors are collected, and how they say which messages they look at."""

from collections.abc import Hashable
from typing import Any

from conformance.monitors import KEPT, Monitors, Observation, Selector, SessionEnd, broken
from conformance.rai.monitors.state import SessionState
from harness.rai.tester.events import RefusedMessage
from harness.trace import Direction
from wire.rai.values import (
    Auth,
    Bye,
    Dict,
    DictRequest,
    GetSubs,
    Heartbeat,
    Hello,
    Published,
    Reply,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    WildStop,
)

MONITORS = Monitors(SessionState)
monitor = MONITORS


def said(*forms: type) -> Selector:
    """Select the messages that come from others than the tester, by the classes of their bodies."""

    def selects(role: Hashable, direction: Direction, form: type) -> bool:
        return direction is Direction.RECEIVED and form in forms

    return selects


ANY = said(
    Auth,
    Bye,
    Dict,
    DictRequest,
    GetSubs,
    Heartbeat,
    Hello,
    Published,
    Reply,
    SnapRequest,
    SubStart,
    SubStop,
    Subs,
    WildStart,
    WildStop,
)
"""All messages."""

REFUSED = said(RefusedMessage)


def ended(role: Hashable, direction: Direction, form: Any) -> bool:
    """Select the end of a session."""
    return form is SessionEnd


def whether(holds: bool, entry: int, otherwise: str, field: str = "") -> Observation:
    """Say whether a rule is kept here, and what came if it is not."""
    return KEPT if holds else broken(entry, otherwise, field)
