"""Monitors of zenoh-declarations, "D_KEYEXPR" and "U_KEYEXPR"."""

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import monitor, received
from conformance.zenoh.monitors.state import SessionState
from harness.zenoh.tester.events import Event
from wire.zenoh.values import DeclareKeyExpr


@monitor("ZD-032", on=received(DeclareKeyExpr))
def zero_is_global(event: Event, state: SessionState) -> Observation:
    """The number 0 is not given to a key, unless the implementation takes that for allowed."""
    assert isinstance(event.body, DeclareKeyExpr)
    return KEPT if event.body.expr_id else follows(event.entry, "R11", "B")


@monitor("ZD-036", on=received(DeclareKeyExpr))
def numbers_belong_to_one_key(event: Event, state: SessionState) -> Observation:
    """A number is given to a second key only after it was taken from the first."""
    assert isinstance(event.body, DeclareKeyExpr)
    number = event.body.expr_id
    if number not in state.numbers:
        return KEPT
    if state.numbers[number] == event.key:
        return follows(event.entry, "R12", "B")
    return broken(event.entry, "a number is given to a second key while the first has it", "expr_id", event.nth)
