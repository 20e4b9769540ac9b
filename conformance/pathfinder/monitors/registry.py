"""Where the Pathfinder monitors are collected, and what they look at."""

from conformance.monitors import Finding, Monitors, broken, kept
from harness.pathfinder.conversation import Conversation, Event
from harness.trace import Direction

MONITORS = Monitors()
monitor = MONITORS


def from_server(conversation: Conversation) -> list[Event]:
    """Return what the implementation said as a server; nothing when it is the client here."""
    if conversation.server is not Direction.RECEIVED:
        return []
    return conversation.said[Direction.RECEIVED]


def formed(conversation: Conversation, command: str, type: str) -> list[Event]:
    """Return what the implementation said of one form, in whichever role."""
    return conversation.formed.get((Direction.RECEIVED, command, type), [])


def from_client(conversation: Conversation) -> list[Event]:
    """Return what the implementation said as a client; nothing when it is the server here."""
    if conversation.client is not Direction.RECEIVED:
        return []
    return conversation.said[Direction.RECEIVED]


def spoken(conversation: Conversation) -> list[Event]:
    """Return what the implementation said, in whichever role."""
    return conversation.said[Direction.RECEIVED]


def whether(holds: bool, entry: int, otherwise: str) -> Finding:
    """Say whether a rule is kept here, and what came if it is not."""
    return kept(entry) if holds else broken(entry, otherwise)
