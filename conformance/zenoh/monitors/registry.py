"""Where the Zenoh monitors are collected, and what they look at."""

from conformance.monitors import Monitors
from harness.trace import Direction
from harness.zenoh.conversation import Conversation, Event

MONITORS = Monitors()
monitor = MONITORS


def received(conversation: Conversation) -> list[Event]:
    """Return what the implementation said."""
    return conversation.said[Direction.RECEIVED]
