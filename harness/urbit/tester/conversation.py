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

MOST_TRIED = 16
"""Signatures of ships that are looked at in vain before their keys are taken to be others: each look takes its time."""

Decoded = Packet | DecodeError
"""What a datagram is: a packet, or why it is none."""


class Conversation:
    """The packets of one link: feed it datagrams, read its events."""

    def __init__(self, link: str) -> None:
        self.link = link
        self.events: list[Event] = []
        self.refusals: list[RefusedPacket] = []
        self._is_proper = True
        self._is_forged = False
        self._is_keyed = False
        self._tries = 0

    @property
    def is_clean(self) -> bool:
        """Whether the tester sent nothing but what the document lets a ship send."""
        return self._is_proper and not (self._is_forged and self.is_keyed)

    @property
    def is_keyed(self) -> bool:
        """Whether the ships sign with the keys that follow from their numbers: those of a real network do not."""
        for event in self.events:
            if self._is_keyed or self._tries >= MOST_TRIED:
                break
            if event.direction is Direction.RECEIVED:
                self._try(event.packet)
        return self._is_keyed

    def _try(self, packet: Packet) -> bool | None:
        """Tell whether a packet's signature is its sender's, as far as that can be told of these ships."""
        if not self._is_keyed and self._tries >= MOST_TRIED:
            return None
        found = is_genuine(packet)
        self._is_keyed = self._is_keyed or bool(found)
        self._tries += found is False
        return found

    @property
    def is_open(self) -> bool:
        """True: nobody shakes hands."""
        return True

    def feed(self, entry: Entry, decoded: Decoded) -> Event | None:
        """Take one datagram; return its event if it is a packet."""
        if isinstance(decoded, DecodeError):
            self.refusals.append(RefusedPacket(entry.time, entry.direction, decoded, entry.index, entry.data))
            self._is_proper = self._is_proper and entry.direction is not Direction.SENT
            return None
        event = Event(entry.time, entry.direction, decoded, entry.index, type(decoded.body))
        self.events.append(event)
        if self._is_proper and entry.direction is Direction.SENT:
            self._is_proper = is_proper(decoded)
            self._is_forged = self._is_forged or self._try(decoded) is False
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
    """Tell whether the document lets a ship send such a packet at all, whoever signed it, whatever was said before."""
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
