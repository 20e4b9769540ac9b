"""Exchanges: a link and the conversation that follows its frames. Every driver and scripted server uses one.

An exchange reads until a deadline. Each frame is decoded once, when it was sent or has come, and the message goes on to
whoever wants to know it: to the conversation first, then to the driver. What it could not send it says, and how its
link ended it keeps.
"""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from harness.errors import Deadline, LinkClosed
from harness.links.link import Link
from harness.trace import Direction, Entry

Message = TypeVar("Message")
Fed = TypeVar("Fed")
# Type checkers want them: what is only taken is contravariant, what is only returned covariant.
Message_contra = TypeVar("Message_contra", contravariant=True)
Fed_co = TypeVar("Fed_co", covariant=True)


class ConversationSink(Protocol[Message_contra, Fed_co]):
    """A protocol's conversation, as an exchange sees it."""

    def feed(self, entry: Entry, message: Message_contra) -> Fed_co:
        """Take one frame, by its trace entry, with what was decoded from it, and return its messages."""
        ...

    def end(self, by: Direction, how: str) -> None:
        """Note that the link has ended."""
        ...


class Timer(Protocol):
    """Something that has to act at certain times, whether anything was received or not: a session's lease."""

    def next_tick(self) -> float | None:
        """Return when to call ``tick`` next, in seconds of the link's clock; ``None`` for never."""
        ...

    def tick(self, now: float) -> None:
        """Do what is due at the time ``now``."""
        ...


class Exchange(Generic[Message, Fed]):
    """One link with its conversation.

    ``decode`` never raises: what cannot be decoded comes as a message that says so. ``on_received`` is called
    with each message that comes and with what the conversation made of it.
    """

    def __init__(
        self,
        link: Link,
        conversation: ConversationSink[Message, Fed],
        decode: Callable[[bytes], Message],
        on_received: Callable[[Message, Fed], None] = lambda message, fed: None,
        timer: Timer | None = None,
    ) -> None:
        self.link = link
        self.ended = ""
        """How the link ended; empty while it has not."""
        self.ended_at = 0.0
        """When the end was noticed, in seconds of the link's clock."""
        self._conversation = conversation
        self._decode = decode
        self._on_received = on_received
        self._timer = timer

    def now(self) -> float:
        """Return the time in seconds of the link's clock."""
        return self.link.clock.now()

    # --- sending ------------------------------------------------------------------------------------------

    def send(self, frame: bytes) -> Fed | None:
        """Send one frame; ``None`` when the link has ended. ``Deadline`` when the other side takes nothing."""
        entry = self._sent(self.link.send, frame)
        return None if entry is None else self._conversation.feed(entry, self._decode(frame))

    def send_raw(self, data: bytes) -> Entry | None:
        """Send bytes without framing; ``None`` when the link has ended, ``Deadline`` as ``send`` raises it."""
        return self._sent(self.link.send_raw, data)

    def record_sent(self, frame: bytes, last: Entry) -> Fed:
        """Give the conversation a frame whose bytes ``send_raw`` has sent; its mark is that of its last byte."""
        # The trace has the pieces as they went out; the conversation needs the frame, which was whole with the last
        # one.
        return self._conversation.feed(msgspec.structs.replace(last, data=frame), self._decode(frame))

    def _sent(self, send: Callable[[bytes], Entry], data: bytes) -> Entry | None:
        try:
            return send(data)
        except LinkClosed as error:
            # By the other side, whether it is noticed in reading or in writing.
            self.end(Direction.RECEIVED, error.how)
            return None

    # --- reading ------------------------------------------------------------------------------------------

    def receive(self, deadline: float) -> bool:
        """Receive the next frame; ``False`` when none came by the deadline, or the link has ended."""
        try:
            entry = self.link.receive(deadline)
        except Deadline:
            return False
        except LinkClosed as error:
            self.end(Direction.RECEIVED, error.how)
            return False
        message = self._decode(entry.data)
        self._on_received(message, self._conversation.feed(entry, message))
        return True

    def read_until(self, done: Callable[[], bool], deadline: float) -> None:
        """Read until something holds, the deadline has come or the link has ended.

        That the link has ended is no reason to stop at once: frames that came before its end are still to be read.
        """
        while not done():
            # No reading beyond the session's own timer: a lease that is not kept ends the session that is under test.
            due = None if self._timer is None else self._timer.next_tick()
            if self.receive(deadline if due is None else min(deadline, due)):
                continue
            # That the timer is due is no reason to stop: only the caller's deadline is.
            if self.ended or self.now() >= deadline:
                return
            if self._timer is not None:
                self._timer.tick(self.now())

    # --- the end ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the link."""
        # The link first: it records what had arrived by then, which belongs before the end.
        self.link.close()
        self.end(Direction.SENT, "closed by the tester")

    def abort(self) -> None:
        """Reset the link, if it is of a kind that can be reset; else end it."""
        self.link.abort()
        self.end(Direction.SENT, "reset by the tester")

    def end(self, by: Direction, how: str) -> None:
        """Note that the link has ended; the first reason stays."""
        # The first reason counts: after a reset by the node, our own close only tidies up.
        if not self.ended:
            self.ended, self.ended_at = how, self.now()
        self._conversation.end(by, self.ended)
