"""Conversations: the packets between two addresses as events. The drivers and every monitor read them."""

from functools import lru_cache

from harness.trace import Direction, Entry, EntryKind, Trace
from harness.urbit.peers.ship import VERSION
from harness.urbit.ships import public_key_of
from harness.urbit.tester.events import Event, RefusedPacket
from wire.errors import DecodeError
from wire.urbit.signatures import (
    cancellation_input,
    promise_input,
    request_input,
    response_input,
    verifies,
)
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    path_is_valid,
    read,
)

Decoded = Packet | DecodeError
"""What a datagram is: a packet, or why it is none."""


class Conversation:
    """The packets of one link: feed it datagrams, read its events."""

    def __init__(self, link: str) -> None:
        self.link = link
        self.events: list[Event] = []
        self.refusals: list[RefusedPacket] = []
        self.is_clean = True
        """Whether the tester sent nothing but what the document lets a ship send."""

    @property
    def is_open(self) -> bool:
        """True: nobody shakes hands."""
        return True

    def feed(self, entry: Entry, decoded: Decoded) -> Event | None:
        """Take one datagram; return its event if it is a packet."""
        if isinstance(decoded, DecodeError):
            self.refusals.append(RefusedPacket(entry.time, entry.direction, decoded, entry.index))
            self.is_clean = self.is_clean and entry.direction is not Direction.SENT
            return None
        event = Event(entry.time, entry.direction, decoded, entry.index, type(decoded.body))
        self.events.append(event)
        if self.is_clean and entry.direction is Direction.SENT:
            self.is_clean = is_proper(decoded)
        return event

    def end(self, by: Direction, how: str) -> None:
        """Take note of nothing: an association of two addresses has no end."""


def decode(frame: bytes) -> Decoded:
    """Return the packet that a datagram is, or why it is none."""
    try:
        return read(frame)
    except DecodeError as error:
        return error.without_traceback()


def conversations(trace: Trace) -> dict[str, Conversation]:
    """Read a whole trace: one conversation per link."""
    found: dict[str, Conversation] = {}
    for entry in trace:
        if entry.what is EntryKind.FRAME:
            conversation = found.get(entry.link)
            if conversation is None:
                conversation = found[entry.link] = Conversation(entry.link)
            conversation.feed(entry, decode(entry.data))
    return found


def is_proper(packet: Packet) -> bool:
    """Tell whether the document lets a ship send such a packet at all, whatever was said before."""
    body = packet.body
    path, fragment = getattr(body, "path", None), getattr(body, "fragment", 1)
    return (
        packet.checksum is None
        and packet.version == VERSION
        and packet.sender.fits
        and packet.receiver.fits
        and fragment > 0
        and (path is None or path_is_valid(path))
        and not (isinstance(body, HeartbeatResponse) and body.padding)
        and is_genuine(packet) is not False
    )


def is_genuine(packet: Packet) -> bool | None:
    """Tell whether a packet's signature is its sender's; ``None`` where it has none."""
    signed = signed_part(packet.body)
    return None if signed is None else _has_signed(packet.sender, packet.body.signature, signed)  # type: ignore[union-attr]


@lru_cache(maxsize=1 << 12)  # to check one takes ten times as long as all else, and what is repeated is signed alike
def _has_signed(ship: Ship, signature: bytes, signed: bytes) -> bool:
    return verifies(public_key_of(ship), signature, signed)


def signed_part(body: Body) -> bytes | None:
    """Return what the signature of a packet with this body is of; ``None`` where it has none."""
    match body:
        case ScryRequest(path=path, fragment=fragment):
            return request_input(path, fragment)
        case Cancellation(path=path, fragment=fragment):
            return cancellation_input(path, fragment)
        case Promise(session=session, path=path, fragment=fragment):
            return promise_input(session, path, fragment)
        case ScryResponse(path=path, fragment=fragment, data=data):
            return response_input(path, fragment, data)
        case _:
            return None
