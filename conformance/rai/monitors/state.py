"""The state of what is said at a broker, by the tester's sessions and by others.

The monitors read it; the walk has it see each message after they were called (``conformance/monitors.py``).
"""

from collections.abc import Iterator

from conformance.monitors import SessionEnd
from harness.rai.tester.conversation import Conversation
from harness.rai.tester.events import Event, RefusedMessage


class SessionState:
    """What was said on a link to a broker, up to a message."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.role = ""
        """The role of the implementation, as far as what it says shows it."""
        self.seqnos: dict[tuple[str, str], int] = {}
        """The last seqno of each session under each subject."""

    def see(self, event: Event) -> None:
        """Take note of an event, after it was judged."""
        message = event.message
        key = (message.session, message.subject)
        self.seqnos[key] = max(message.seqno, self.seqnos.get(key, -1))

    def ending(self) -> Iterator[RefusedMessage | SessionEnd]:
        """Yield the payloads that are no messages, and the end of the session."""
        yield from self.conversation.refusals
        events = self.conversation.events
        yield SessionEnd(events[-1].time if events else 0.0)
