"""Unusual deliveries: when and in which pieces things come."""

from collections import deque
from collections.abc import Iterator

import msgspec

from harness.peers.delay_line import DelayLine
from harness.zenoh.batches import DecodedBatch
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import oddity
from wire.zenoh.values import Declaration, DeclareEntity, DeclareKeyExpr, NetworkMessage, Oam
from wire.zenoh.values_transport import KeepAlive, Sizes, TransportOam, write_batch, write_network

# Above what a link needs, and far below any patience.
LATENCY = 0.05

# What a FRAME or FRAGMENT takes before its content is half of it: no smaller batch would hold much else.
SMALL = 32
"""Bytes."""


@oddity("ZI-015", "ZI-072", does="takes 50 ms for everything that it says")
class Sluggish(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.delay_line = DelayLine(LATENCY)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        return self.delay_line.delay(super().drain(now), now)

    def next_tick(self) -> float | None:
        return self.delay_line.next_tick(super().next_tick())


@oddity("ZD-091", "ZD-092", does="tells of what changes 50 ms later, behind later answers", everywhere=True)
class LateUpdates(Router):
    """No document orders an update before the answer to what was asked later."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.now = 0.0
        self.changed: Entity | None = None
        self.late: deque[tuple[float, Session, Entity, Declaration]] = deque()

    def received(self, link: int, frame: bytes, now: float) -> None:
        self.now = now
        super().received(link, frame, now)

    def disconnected(self, link: int, now: float) -> None:
        self.now = now
        super().disconnected(link, now)

    def announce(self, entity: Entity) -> None:
        self.changed = entity
        super().announce(entity)
        self.changed = None

    def withdraw(self, entity: Entity) -> None:
        self.changed = entity
        super().withdraw(entity)
        self.changed = None

    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        if interest_id is not None:
            # What a snapshot lists is known, and not told again (section "Declaration Propagation").
            told = (session, entity, DeclareEntity)
            self.late = deque(each for each in self.late if (each[1], each[2], type(each[3])) != told)
        super().advertise(session, entity, interest_id)

    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        # An alias is declared at once: what is answered meanwhile may go by it.
        if self.changed is None or isinstance(body, DeclareKeyExpr):
            super().declare(session, body, interest_id)
        else:
            self.late.append((self.now + LATENCY, session, self.changed, body))

    def tick(self, now: float) -> None:
        self.now = now
        super().tick(now)
        while self.late and self.late[0][0] <= now:
            _, session, entity, body = self.late.popleft()
            # The interest may have ended meanwhile.
            if self.is_wanted(session, entity):
                super().declare(session, body, None)

    def next_tick(self) -> float | None:
        times = [at for at in (super().next_tick(), self.late[0][0] if self.late else None) if at is not None]
        return min(times, default=None)


@oddity("ZI-040", does="agrees to the smallest batches, and ends a session with a larger one", everywhere=True)
class SmallBatches(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.settings = msgspec.structs.replace(self.settings, sizes=Sizes(batch_size=SMALL))

    def received(self, link: int, frame: bytes, now: float) -> None:
        session = self.sessions.get(link)
        if session is not None and session.opened and len(frame) > session.transport.batch_size:
            self.refuse(session, f"a batch of {len(frame)} bytes")
        else:
            super().received(link, frame, now)


@oddity("ZI-040", does="sends everything in fragments of eight bytes")
class Fragments(Router):
    def send(self, session: Session, message: NetworkMessage) -> None:
        # Eight bytes cut through headers, keys and the extensions of a declaration.
        if session.opened:
            session.transport.send_fragments(write_network(message), 8)


@oddity("ZD-002", does="gathers all that it has to say into one batch")
class Gathering(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.gathered: dict[int, list[NetworkMessage]] = {}

    def send(self, session: Session, message: NetworkMessage) -> None:
        self.gathered.setdefault(session.link, []).append(message)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        for link, messages in self.gathered.items():
            if link in self.sessions and self.sessions[link].opened:
                self.sessions[link].transport.send(messages)
        self.gathered = {}
        yield from super().drain(now)


@oddity("ZI-015", does="chats: KEEP_ALIVE, an empty batch and OAM around every message")
class Chatter(Router):
    def send(self, session: Session, message: NetworkMessage) -> None:
        if session.opened:
            # 9 is an OAM that nobody knows: it is skipped.
            session.transport.outgoing.append(write_batch([KeepAlive(), TransportOam(9)]))
            session.transport.outgoing.append(b"")
            session.transport.send([Oam(1, b"links"), message, Oam(2, 5)])


@oddity("ZI-015", does="uses every third sequence number only")
class SkippedNumbers(Router):
    def send(self, session: Session, message: NetworkMessage) -> None:
        session.transport.take_sn()
        session.transport.take_sn()
        super().send(session, message)


@oddity("ZI-015", does="declares on the best-effort lane")
class BestEffort(Router):
    def send(self, session: Session, message: NetworkMessage) -> None:
        if session.opened:
            session.transport.send([message], reliable=False)


@oddity("ZI-028", "ZI-032", does="ends a session that sent what cannot be read, without a CLOSE")
class SilentEnd(Router):
    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        # What waited to be sent, the CLOSE among it, is what the other side does not get.
        for link in self.hang_ups:
            if link in self.sessions:
                self.sessions[link].transport.outgoing.clear()
        yield from super().drain(now)


@oddity("ZI-028", "ZI-032", does="passes over batches that cannot be read, and keeps the session")
class PassesOver(Router):
    def on_batch(self, session: Session, batch: DecodedBatch, now: float) -> None:
        if batch.error is None:
            super().on_batch(session, batch, now)
