"""Events: what a conversation holds, network messages as they were understood and batches that cannot be."""

import msgspec

from harness.trace import Direction
from wire.errors import DecodeError
from wire.zenoh.values import NetworkMessage

OTHER = {Direction.SENT: Direction.RECEIVED, Direction.RECEIVED: Direction.SENT}


class Event(msgspec.Struct, frozen=True, gc=False):
    """One network message: when, which way, where in the trace, and the keys that it stands for.

    ``key`` is what the message itself names (``None`` when it names none, or an ExprId that was never declared);
    ``known`` is, for an undeclaration, the key under which its id was declared before; ``body`` and ``interest_id``
    are, for a DECLARE, the declaration inside it and its interest id. ``form`` is the class of that declaration, or of
    any other message. ``nth`` is which of the network messages in its entry it is, from 0.
    """

    time: float
    direction: Direction
    message: NetworkMessage
    entry: int
    form: type
    key: str | None = None
    known: str | None = None
    body: object = None
    interest_id: int | None = None
    nth: int = 0


class RefusedBatch(msgspec.Struct, frozen=True):
    """A batch that cannot be decoded."""

    time: float
    direction: Direction
    error: DecodeError
    entry: int

    @property
    def form(self) -> type["RefusedBatch"]:
        """The class stands for the kind, as with events."""
        return RefusedBatch


def inner_key(namespace: str, key: str | None) -> str | None:
    """Take a key out of a play's namespace; ``None`` when it is not in it."""
    return key[len(namespace) :] if key is not None and key.startswith(namespace) else None
