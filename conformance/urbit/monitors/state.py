"""The state of a session of Urbit, as the two ships have said it so far.

The monitors read it; the walk has it see each packet after they were called (``conformance/monitors.py``).
"""

from collections.abc import Iterator

from conformance.monitors import SessionEnd
from harness.trace import Direction
from harness.urbit.tester.conversation import Conversation
from harness.urbit.tester.events import Event, RefusedPacket
from wire.urbit.values import Cancellation, HeartbeatRequest, HeartbeatResponse, Promise, ScryRequest, ScryResponse

OF_SUBSCRIBERS = (ScryRequest, HeartbeatRequest, Cancellation)
"""What only subscribers send."""

OF_PUBLISHERS = (ScryResponse, HeartbeatResponse, Promise)
"""What only publishers send."""


class SessionState:
    """What was asked, promised and told between two addresses, up to a packet."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        said = {event.form for event in conversation.events if event.direction is Direction.RECEIVED}
        self.role = ""
        """Whether the implementation is the ``subscriber`` or the ``publisher``; empty where it is both, or neither."""
        if said.isdisjoint(OF_PUBLISHERS) and not said.isdisjoint(OF_SUBSCRIBERS):
            self.role = "subscriber"
        elif said.isdisjoint(OF_SUBSCRIBERS) and not said.isdisjoint(OF_PUBLISHERS):
            self.role = "publisher"

    def see(self, event: Event) -> None:
        """Take note of an event, after it was judged."""

    def ending(self) -> Iterator[RefusedPacket | SessionEnd]:
        """Yield the datagrams that are no packets, and the end of the session."""
        yield from self.conversation.refusals
        events = self.conversation.events
        yield SessionEnd(events[-1].time if events else 0.0)
