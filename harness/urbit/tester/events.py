"""Events: what a conversation holds, packets as they were understood and datagrams that are none."""

import msgspec

from harness.trace import Direction
from wire.errors import DecodeError
from wire.urbit.values import Packet


class Event(msgspec.Struct, frozen=True, gc=False):
    """One packet: when, which way, and where in the trace. ``form`` is the class of its body."""

    time: float
    direction: Direction
    packet: Packet
    entry: int
    form: type


class RefusedPacket(msgspec.Struct, frozen=True):
    """A datagram that is no packet: why, and what was sent."""

    time: float
    direction: Direction
    error: DecodeError
    entry: int
    frame: bytes = b""

    @property
    def form(self) -> type["RefusedPacket"]:
        """The class stands for the kind, as with events."""
        return RefusedPacket
