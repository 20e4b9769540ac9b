"""One side of a Zenoh session below the network messages: batches and time in, messages and batches out.

The documents presuppose such a session and do not describe it. The machine keeps the handshake, sequence numbers,
fragments, leases and keep-alives; it knows nothing of sockets.
"""

from collections.abc import Iterable
from enum import Enum

import msgspec

from harness.zenoh.batches import DecodedBatch
from wire.zenoh.grammar_extensions import FIRST, PATCH
from wire.zenoh.values import Extension, NetworkMessage, unknown_mandatory
from wire.zenoh.values_transport import (
    PATCH_1,
    Close,
    Fragment,
    Frame,
    Init,
    KeepAlive,
    Open,
    Sizes,
    TransportMessage,
    TransportOam,
    WhatAmI,
    frame_header,
    write_batch,
    write_network,
)

# Numbers of resolution class "32 bit" have 28 bits, multiples of the 7 of a VLE's byte; 64 bits are 32 in every node
# that was looked at.
MASKS = (0x7F, 0x3FFF, 0x0FFF_FFFF, 0xFFFF_FFFF)
"""The largest sequence number of each resolution class."""

GENERIC, INVALID, MAX_LINKS, EXPIRED = 0, 2, 4, 5
"""Reasons of CLOSE."""

AROUND = 16
"""Bytes that a FRAME or FRAGMENT takes around its content at most: a header, 5 bytes of sequence number, extensions."""


class State(Enum):
    """Where a session is in its life."""

    INITIAL = "initial"
    INIT_SENT = "init-sent"
    INIT_ACKED = "init-acked"
    OPEN_SENT = "open-sent"
    OPEN = "open"
    CLOSED = "closed"


class Settings(msgspec.Struct, frozen=True):
    """What one side announces; ``lease`` in milliseconds, ``sizes`` only if they are to be negotiated.

    ``least_batch`` in bytes: who dials and asks for smaller ones is refused.
    """

    zid: bytes
    whatami: WhatAmI
    lease: int = 10_000
    initial_sn: int = 0
    sizes: Sizes | None = None
    patch: bool = True
    least_batch: int = AROUND + 1


class Opened(msgspec.Struct, frozen=True):
    """The session is open; what the other side said that it is."""

    zid: bytes
    whatami: int


class Ended(msgspec.Struct, frozen=True):
    """The session is over, and why: ``close`` (they said so), ``expired``, ``malformed`` or ``refused``."""

    how: str
    detail: str = ""


Event = Opened | Ended | Fragment | NetworkMessage


class SessionTransport:
    """A session's transport; ``opener`` is the side that dialled."""

    def __init__(self, settings: Settings, *, opener: bool) -> None:
        self.settings = settings
        self.opener = opener
        self.state = State.INITIAL
        self.remote_zid = b""
        self.remote_whatami = 0
        self.remote_lease = 10.0
        # The class without negotiation: 32 bits.
        self.mask = MASKS[2]
        self.batch_size = (settings.sizes or Sizes()).batch_size
        self.patch = False
        # What is reliable and what is best effort are numbered apart.
        self.next_sn = {True: settings.initial_sn, False: settings.initial_sn}
        self.last_sn: dict[bool, int | None] = {True: None, False: None}
        self.heard = 0.0
        self.spoken = 0.0
        self.outgoing: list[bytes] = []

    @property
    def is_closed(self) -> bool:
        """Whether the session is over."""
        return self.state is State.CLOSED

    def start(self, now: float) -> None:
        """Begin the handshake (the opener's side)."""
        self.heard = self.spoken = now
        extensions = (PATCH_1,) if self.settings.patch else ()
        self._put(Init(self.settings.whatami, self.settings.zid, self.settings.sizes, None, extensions))
        self.state = State.INIT_SENT

    def receive(self, batch: DecodedBatch, now: float) -> list[Event]:
        """Take one batch; what it holds that is not for the transport comes back, fragments as they are."""
        if self.is_closed:
            return []
        self.heard = now
        if batch.error is not None:
            return [self.refuse(f"{batch.error}")]
        events: list[Event] = []
        for message in batch.messages:
            events += self._take(message)
            # What stands behind it in the batch is of no session any more.
            if self.is_closed:
                break
        return events

    def refuse(self, detail: str, reason: int = INVALID) -> Ended:
        """End the session because of what the other side sent."""
        self.close(reason)
        return Ended("malformed", detail)

    def _take(self, message: TransportMessage) -> list[Event]:
        extensions = () if isinstance(message, TransportOam) else message.extensions
        # Almost no message of a transport has any, and this is asked for every one.
        alien = unknown_mandatory(type(message).__name__.upper(), extensions) if extensions else None
        if alien is not None:
            return [self.refuse(f"unknown mandatory extension {alien.id:#x}")]
        match message:
            case Init() | Open():
                return self._shake(message)
            case Close():
                self.state = State.CLOSED
                return [Ended("close", f"reason {message.reason}")]
            case Frame() if self.state is State.OPEN:
                return self._frame(message)
            case Fragment() if self.state is State.OPEN:
                return self._fragment(message)
            case Frame() | Fragment():
                return [self.refuse("data before the session is open")]
            case _:
                # KEEP_ALIVE and the like: that they came was all.
                return []

    def _shake(self, message: Init | Open) -> list[Event]:
        match self.state, message:
            case State.INITIAL, Init(cookie=None) if not self.opener:
                return self._init_syn(message)
            case State.INIT_SENT, Init(cookie=bytes()):
                self._agree(message)
                self._put(Open(self.settings.lease, self.settings.initial_sn & self.mask, message.cookie))
                self.state = State.OPEN_SENT
                return []
            case State.INIT_ACKED, Open(cookie=bytes()):
                # A real node seals its state in the cookie. Here the state is kept, so the cookie need only be known
                # again.
                if message.cookie != self.settings.zid[::-1] or message.initial_sn > self.mask:
                    return [self.refuse("wrong cookie or sequence number")]
                self._put(Open(self.settings.lease, self.settings.initial_sn & self.mask))
                return [self._open(message)]
            case State.OPEN_SENT, Open(cookie=None):
                return [self._open(message)]
            case State.OPEN, _:
                return []  # a repeated handshake is passed over
            case _:
                return [self.refuse("out of order in the handshake")]

    def _init_syn(self, message: Init) -> list[Event]:
        # What nodes refuse as well: another version, a kind of node that does not exist, an id of zeros.
        if message.version != 9 or message.whatami == 3 or not any(message.zid):
            return [self.refuse("not a node of this version")]
        self._agree(message)
        mine = self.settings.sizes or Sizes()
        theirs = message.sizes or Sizes()
        if self.batch_size < self.settings.least_batch:
            return [self.refuse("batches in which nothing fits")]
        agreed = Sizes(
            min(mine.frame_sn, theirs.frame_sn),
            min(mine.request_id, theirs.request_id),
            min(mine.batch_size, theirs.batch_size),
        )
        # Answered in kind: deployed nodes leave the sizes out when nobody asked for others than the default.
        sizes = agreed if message.sizes or self.settings.sizes else None
        extensions = (PATCH_1,) if self.patch else ()
        self._put(Init(self.settings.whatami, self.settings.zid, sizes, self.settings.zid[::-1], extensions))
        self.state = State.INIT_ACKED
        return []

    def _agree(self, message: Init) -> None:
        mine, theirs = self.settings.sizes or Sizes(), message.sizes or Sizes()
        self.remote_zid, self.remote_whatami = message.zid, message.whatami
        self.mask = MASKS[min(mine.frame_sn, theirs.frame_sn)]
        self.batch_size = min(mine.batch_size, theirs.batch_size)
        self.patch = self.settings.patch and any(e.is_(PATCH) and e.value for e in message.extensions)
        self.next_sn = {lane: sn & self.mask for lane, sn in self.next_sn.items()}

    def _open(self, message: Open) -> Opened:
        self.remote_lease = message.lease / 1000
        # The first frame has exactly the initial number.
        before = (message.initial_sn - 1) & self.mask
        self.last_sn = {True: before, False: before}
        self.state = State.OPEN
        return Opened(self.remote_zid, self.remote_whatami)

    def _is_new(self, sn: int, lane: bool) -> bool:
        last = self.last_sn[lane]
        # Repeated and old numbers are passed over and jumps forward taken, as in deployed nodes: half of the space is
        # new.
        if last is not None and not 0 < (sn - last) & self.mask <= (self.mask + 1) // 2:
            return False
        self.last_sn[lane] = sn
        return True

    def _frame(self, message: Frame) -> list[Event]:
        if message.sn > self.mask:
            return [self.refuse(f"sequence number {message.sn} is beyond the mask")]
        return list(message.messages) if self._is_new(message.sn, message.reliable) else []

    def _fragment(self, message: Fragment) -> list[Event]:
        if message.sn > self.mask:
            return [self.refuse(f"sequence number {message.sn} is beyond the mask")]
        return [message] if self._is_new(message.sn, message.reliable) else []

    def take_sn(self, *, reliable: bool = True) -> int:
        """Use up the next sequence number."""
        sn = self.next_sn[reliable]
        self.next_sn[reliable] = (sn + 1) & self.mask
        return sn

    def send(self, messages: Iterable[NetworkMessage], *, reliable: bool = True) -> None:
        """Send network messages, as many to a batch as fit; one that is too large goes in fragments."""
        self.send_bytes([write_network(message) for message in messages], reliable=reliable)

    @property
    def room(self) -> int:
        """How many bytes of network messages a batch holds."""
        # Who is told of batches in which nothing fits, and goes on, sends larger ones: it is not said what else to do.
        return max(self.batch_size - AROUND, 1)

    def holds(self, content: bytes) -> bool:
        """Tell whether network messages fit in one batch."""
        return len(content) <= self.room

    def send_bytes(self, messages: Iterable[bytes], *, reliable: bool = True) -> None:
        """Send network messages that are spelled already."""
        room = self.room
        batch = bytearray()
        for message in messages:
            if batch and len(batch) + len(message) > room:
                self.outgoing.append(bytes(batch))
                batch = bytearray()
            if len(message) > room:
                self.send_fragments(message, room, reliable=reliable)
                continue
            if not batch:
                batch += frame_header(self.take_sn(reliable=reliable), reliable=reliable)
            batch += message
        if batch:
            self.outgoing.append(bytes(batch))

    def send_fragments(self, data: bytes, size: int, *, reliable: bool = True) -> None:
        """Send bytes as fragments of ``size`` bytes."""
        for at in range(0, len(data), size):
            first = (Extension(FIRST.id),) if at == 0 and self.patch else ()
            sn, part = self.take_sn(reliable=reliable), data[at : at + size]
            self._put(Fragment(sn, part, at + size < len(data), reliable, first))

    def close(self, reason: int = GENERIC, *, session: bool = True) -> None:
        """Say CLOSE and end the session."""
        if self.state is not State.CLOSED:
            self._put(Close(reason, session))
            self.state = State.CLOSED

    def tick(self, now: float) -> list[Event]:
        """Let time pass: keep the session alive, or see that the other side has fallen silent."""
        if self.state is not State.OPEN:
            return []
        # Without a CLOSE, as deployed nodes do it: who is silent does not read either.
        if now >= self.heard + self.remote_lease:
            self.state = State.CLOSED
            return [Ended("expired", f"nothing was heard for {self.remote_lease:g} s")]
        # Four times within the lease (which is in milliseconds): three keep-alives may be lost or late.
        if now >= self.spoken + self.settings.lease / 4000:
            self._put(KeepAlive())
        return []

    def next_tick(self) -> float | None:
        """Return when ``tick`` has something to do; ``None`` when never."""
        if self.state is not State.OPEN:
            return None
        return min(self.heard + self.remote_lease, self.spoken + self.settings.lease / 4000)

    def drain(self, now: float) -> list[bytes]:
        """Return the batches to put on the link, and forget them."""
        if self.outgoing:
            # Whatever is sent keeps the session alive, and makes a KEEP_ALIVE unnecessary.
            self.spoken = now
        batches, self.outgoing = self.outgoing, []
        return batches

    def _put(self, message: TransportMessage) -> None:
        self.outgoing.append(write_batch([message]))
