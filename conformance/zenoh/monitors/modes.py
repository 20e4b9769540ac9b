"""Monitors of zenoh-interests, "Interest Modes" and "Message Flows"."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, kept
from conformance.zenoh.monitors.registry import monitor
from harness.trace import Direction
from harness.zenoh.conversation import Conversation
from wire.zenoh.messages import Declare, DeclareFinal, Interest, Mode


@monitor("ZI-021")
def no_final_in_future_mode(conversation: Conversation) -> Iterator[Finding]:
    """No D_FINAL answers an interest in Future mode."""
    modes: dict[int, Mode] = {}
    for event in conversation.events:
        match event.direction, event.message:
            case Direction.SENT, Interest() as interest:
                modes[interest.id] = interest.mode
            case Direction.RECEIVED, Declare(body=DeclareFinal(), interest_id=int() as interest_id):
                if modes.get(interest_id) is Mode.FUTURE:
                    yield broken(event.entry, f"D_FINAL for the Future interest {interest_id}")
                else:
                    yield kept(event.entry)
