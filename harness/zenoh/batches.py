"""Batches as they are read: each once, for the conversation and for the session's transport alike.

Here fragments are put together too, and nowhere else: by the conversation for whoever reads along, by a peer's session
for the peer.
"""

import msgspec

from wire.errors import DecodeError
from wire.zenoh.grammar_extensions import DROP, FIRST
from wire.zenoh.values import NetworkMessage
from wire.zenoh.values_transport import Fragment, TransportMessage, read_batch, read_before, read_network


class DecodedBatch(msgspec.Struct, frozen=True):
    """What one batch holds: its messages, or why it cannot be decoded and the network messages before that place."""

    messages: tuple[TransportMessage, ...] = ()
    error: DecodeError | None = None
    beginning: tuple[NetworkMessage, ...] = ()


def read(frame: bytes) -> DecodedBatch:
    """Decode one batch; one that cannot be decoded says so."""
    try:
        return DecodedBatch(read_batch(frame))
    except DecodeError as error:
        # Optimized engines keep nothing of what they refuse: that has the reference engine read it again, once.
        return DecodedBatch((), error.without_traceback(), read_before(error))


class FragmentBuffer:
    """Puts the fragments of one direction together; each lane (reliable or not) has a chain of its own."""

    def __init__(self) -> None:
        self._parts: dict[bool, bytearray] = {}

    def take(self, message: Fragment, *, marked: bool = False) -> tuple[NetworkMessage, ...]:
        """Take one fragment and return the network messages that it completes; ``DecodeError`` when they are none.

        ``marked`` when both sides agreed on marks: then a chain begins with First, and parts without a beginning, which
        was lost or dropped, are passed over. Without marks a chain begins wherever none is open.
        """
        lane = message.reliable
        first = any(extension.is_(FIRST) for extension in message.extensions)
        # Without marks nothing else shows where a chain begins.
        if first or (not marked and lane not in self._parts):
            self._parts[lane] = bytearray()
        dropped = any(extension.is_(DROP) for extension in message.extensions)
        parts = self._parts.get(lane)
        if dropped or parts is None:
            self._parts.pop(lane, None)
            return ()
        parts += message.data
        if message.more:
            return ()
        del self._parts[lane]
        return read_network(bytes(parts))
