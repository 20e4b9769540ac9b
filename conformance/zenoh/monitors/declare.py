"""Monitors of zenoh-declarations, "DECLARE Message (0x1E)" up to "Declaration Sub-Message IDs"."""

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import DECLARATIONS, monitor, received
from conformance.zenoh.monitors.state import SessionState
from harness.zenoh.tester.events import Event
from wire.zenoh.grammar_extensions import NODE_ID, QOS, TIMESTAMP, WIRE_EXPR, Known
from wire.zenoh.values import Declare, Mode

EXPRESSION_FLAGS = 0x03
"""The bits of a WireExpr extension's first byte that mean something."""


def intruder(event: Event, state: SessionState) -> bool:
    """Tell whether something that begins no network message stands right behind a received message."""
    conversation = state.conversation
    if not conversation.refusals:  # as nearly always
        return False
    behind = [refusal for refusal in conversation.refusals if refusal.entry == event.entry]
    if not behind or ".messages[" in behind[0].error.path:
        return False
    return next(each for each in reversed(conversation.events) if each.entry == event.entry) is event


@monitor("ZD-002", on=received(*DECLARATIONS))
def one_declaration_each(event: Event, state: SessionState) -> Observation:
    """What follows the one declaration of a DECLARE is another message or nothing."""
    if intruder(event, state):
        return broken(event.entry, "something that is no message follows a DECLARE", nth=event.nth)
    return KEPT


@monitor("ZD-006", on=received(*DECLARATIONS))
def answers_to_interests(event: Event, state: SessionState) -> Observation | None:
    """A DECLARE with I set names an INTEREST that was sent."""
    if event.interest_id is None:
        return None
    asked = state.latest(event.interest_id)
    if asked is None:
        return broken(event.entry, "a DECLARE answers an interest that was never sent", "interest_id", event.nth)
    # What may come for a Future interest is other rules' business.
    return None if asked.mode is Mode.FUTURE else KEPT


def reserved_bits(message: Declare) -> int:
    """Return the bits of a DECLARE that are marked X and set."""
    body = message.body
    bits = message.reserved | int(getattr(body, "reserved", 0))
    for each in body.extensions:
        if each.is_(WIRE_EXPR) and isinstance(each.value, bytes) and each.value:
            return bits | each.value[0] & ~EXPRESSION_FLAGS
    return bits


@monitor("ZD-011", on=received(*DECLARATIONS))
def reserved_bits_are_clear(event: Event, state: SessionState) -> Observation:
    """The bits marked X are 0, unless the implementation takes them for free to be anything."""
    assert isinstance(event.message, Declare)
    return follows(event.entry, "R17", "C") if reserved_bits(event.message) else KEPT


def extension(event: Event, known: Known) -> list[Observation] | None:
    """Judge the type and the M mark of one extension wherever a message has it."""
    extensions = event.message.extensions
    if not extensions:  # as most messages
        return None
    what = f"{known.name} of another type or mark"
    return [
        KEPT if each.is_(known) else broken(event.entry, what, nth=event.nth)
        for each in extensions
        if each.id == known.id
    ]


@monitor("ZD-012", on=received(*DECLARATIONS))
def qos_of_declares(event: Event, state: SessionState) -> list[Observation] | None:
    """Extension 1 of a DECLARE is a Z64 and not mandatory."""
    return extension(event, QOS)


@monitor("ZD-013", on=received(*DECLARATIONS))
def timestamp_of_declares(event: Event, state: SessionState) -> list[Observation] | None:
    """Extension 2 of a DECLARE is a ZBuf and not mandatory."""
    return extension(event, TIMESTAMP)


@monitor("ZD-014", on=received(*DECLARATIONS))
def node_id_of_declares(event: Event, state: SessionState) -> list[Observation] | None:
    """Extension 3 of a DECLARE is a Z64 and mandatory."""
    return extension(event, NODE_ID)
