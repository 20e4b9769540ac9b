"""Conversations: what was said on one connection, understood. The driver and every monitor read them."""

from harness.toy.tester.events import Event, understood
from harness.trace import Direction, Entry, EntryKind, Trace
from wire.toy.values import Message, Value


class Conversation:
    """What was said on one connection: feed it messages, read its events."""

    def __init__(self, link: str) -> None:
        self.link = link
        self.events: list[Event] = []
        self.answers: list[Value] = []
        self.is_clean = True
        """Whether the tester kept to the document itself: else nobody is judged by what came of it."""
        self.is_open = True
        """Whether its beginning is known: here nothing comes before the first request."""

    def feed(self, entry: Entry, message: Message | None) -> None:
        """Take what was read from the frame of an entry; ``None`` when that was no message."""
        if message is None:
            # Of the server that breaks no rule of this document; of the tester it excuses whatever the server does.
            self.is_clean = self.is_clean and entry.direction is Direction.RECEIVED
            return
        self.events.append(Event(entry.direction, message, entry.index, type(message)))
        if isinstance(message, Value):
            self.answers.append(message)

    def end(self, by: Direction, how: str) -> None:
        """Take note that the connection has ended: who still waits is not answered any more."""


def conversations(trace: Trace) -> dict[str, Conversation]:
    """Read a whole trace, of a live run or of a capture: one conversation per link."""
    found: dict[str, Conversation] = {}
    for entry in trace:
        if entry.what is EntryKind.FRAME:
            found.setdefault(entry.link, Conversation(entry.link)).feed(entry, understood(entry.data))
    return found
