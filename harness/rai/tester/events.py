"""Events: what a conversation holds, messages as they were understood and payloads that are none."""

import msgspec

from harness.trace import Direction
from wire.errors import DecodeError
from wire.rai.values import Body, Message


class Event(msgspec.Struct, frozen=True, gc=False):
    """One message: when, which way, and where in the trace. ``form`` is the class of its body."""

    time: float
    direction: Direction
    message: Message
    entry: int
    form: type

    @property
    def body(self) -> Body:
        """What the message says."""
        return self.message.body

    @property
    def subject(self) -> str:
        """What it was published under."""
        return self.message.subject


class ListenChange(msgspec.Struct, frozen=True):
    """A client has begun to listen to a subject or a wildcard, or has ended that."""

    subject: str
    begins: bool


class RefusedMessage(msgspec.Struct, frozen=True):
    """A payload that is no message: why, under which subject, and what was published."""

    time: float
    direction: Direction
    error: DecodeError
    entry: int
    subject: str = ""
    payload: bytes = b""

    @property
    def form(self) -> type["RefusedMessage"]:
        """The class stands for the kind, as with events."""
        return RefusedMessage
