"""Packets that a publisher is to drop, and how it shows that it has."""

from collections.abc import Callable, Iterable

from conformance.urbit.sessions import lives, told
from harness.urbit.tester.node_under_test import NodeUnderTest
from wire.urbit.values import (
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryResponse,
)

LOOPBACK = 0x7F000001

FAR = 2**62 + 12345
"""The number of a heartbeat that would make all of the tester's later ones old."""

Spoilt = Iterable[bytes]


class Offended:
    """A session in which something is wrong: what a packet that is taken after all would change shows in it.

    ``elsewhere`` is another address of its ship, to which a heartbeat that counts would move it.
    """

    def __init__(self, node: NodeUnderTest) -> None:
        self.node = node
        self.asking = node.subscriber()
        self.elsewhere = node.elsewhere(self.asking)
        self.asking.promised("kept")
        self.asking.heartbeat()
        self.since = self.asking.place

    def offend(self, spoil: Callable[[Packet], Spoilt]) -> None:
        """Send a request, a heartbeat and a cancellation, each as it is when it was spoilt."""
        asking = self.asking
        for driver, body in (
            (asking, asking.request_for("spoilt")),
            (self.elsewhere, HeartbeatRequest(self.asking.id, FAR)),
            (asking, asking.cancellation_of("kept")),
        ):
            for frame in spoil(asking.packet(body)):
                for _ in range(driver.copies):
                    driver.send_bytes(frame)
        self.elsewhere.settle()
        self.asking.settle()

    def is_unchanged(self) -> None:
        """Make sure that the session lives, where it is, and that its promise is kept."""
        # No heartbeat before: it would bring the session back to where it was.
        self.node.grow("kept")
        assert told(self.node, self.asking, "kept"), "a promise is not kept, or not where the session is"
        self.elsewhere.settle()
        assert not self.elsewhere.notifications("kept"), "a promise is kept at another address"
        assert lives(self.node, self.asking), "the session is dead"

    def heard_nothing(self) -> None:
        """Make sure that what was spoilt was neither answered nor taken."""
        path = self.asking.path("spoilt")
        promised = [event for event in self.asking.received(Promise, ScryResponse) if about(event.packet) == path]
        assert not promised, "a request is answered that was to be dropped"
        answers = (event.packet.body for event in self.elsewhere.received(HeartbeatResponse))
        numbers = [body.number for body in answers if isinstance(body, HeartbeatResponse)]
        # Those by which it settles have the number 1.
        assert set(numbers) <= {1}, "a heartbeat is answered that was to be dropped"
        self.is_unchanged()


def about(packet: Packet) -> bytes | None:
    """Return the path that a packet is about, if any."""
    return getattr(packet.body, "path", None)
