"""Events: what a conversation holds, one for each message."""

import msgspec

from harness.trace import Direction
from wire.errors import DecodeError
from wire.toy.values import Message, read


class Event(msgspec.Struct, frozen=True):
    """One message: which way it went, and where it stands in the trace.

    ``form`` is what kind of message it is, for the walk of the monitors: the class, which costs nothing to hash.
    """

    direction: Direction
    message: Message
    entry: int
    form: type


def understood(frame: bytes) -> Message | None:
    """Read a frame, once; ``None`` when it is no message."""
    try:
        return read(frame)
    except DecodeError:
        return None
