"""The monitors of Toy: what any session says about the rules, whoever recorded it."""

from collections.abc import Hashable

from conformance.monitors import KEPT, Monitors, Observation, Selector, broken
from conformance.toy.monitors.state import SessionState
from harness.toy.tester.events import Event
from harness.trace import Direction
from wire.toy.values import Value

MONITORS = Monitors(SessionState)
"""One walk over a session calls each monitor for the messages that it names, with the state before the message."""


def received(*forms: type) -> Selector:
    """Select what the server said, by the classes of messages."""

    def selects(role: Hashable, direction: Direction, form: type) -> bool:
        return direction is Direction.RECEIVED and form in forms

    return selects


@MONITORS("TOY-005", on=received(Value))
def answers_are_asked_for(event: Event, state: SessionState) -> Observation:
    """A VALUE carries the ticket of a request that waits for its answer."""
    ticket = event.message.ticket
    if ticket in state.waiting:
        return KEPT
    return broken(event.entry, f"a VALUE has the ticket {ticket}, which nobody waits for")
