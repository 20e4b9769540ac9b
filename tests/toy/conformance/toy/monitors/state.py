"""The state of a session of Toy, up to a message: which requests wait for their answers."""

from collections.abc import Iterator

from conformance.monitors import Visited
from harness.toy.tester.conversation import Conversation
from harness.toy.tester.events import Event
from wire.toy.values import Value


class SessionState:
    """What was asked and not answered yet."""

    role = None  # only a server is judged

    def __init__(self, conversation: Conversation) -> None:
        self.waiting: set[int] = set()
        """The tickets of requests without an answer."""

    def see(self, event: Event) -> None:
        """Take note of a message, after it was judged."""
        if isinstance(event.message, Value):
            self.waiting.discard(event.message.ticket)
        else:
            self.waiting.add(event.message.ticket)

    def ending(self) -> Iterator[Visited]:
        """Yield nothing: no rule is about what has not come."""
        yield from ()
