"""Unusual deliveries: when and in which pieces things come."""

from collections.abc import Iterator

from harness.peers.delay_line import DelayLine
from harness.zenoh.batches import DecodedBatch
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Session
from harness.zenoh.variants.registry import oddity
from wire.zenoh.values import NetworkMessage, Oam
from wire.zenoh.values_transport import KeepAlive, TransportOam, write_batch, write_network

# Above what a link needs, and far below any patience.
LATENCY = 0.05


@oddity("ZI-015", "ZI-072", does="takes 50 ms for everything that it says")
class Sluggish(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.delay_line = DelayLine(LATENCY)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        return self.delay_line.delay(super().drain(now), now)

    def next_tick(self) -> float | None:
        return self.delay_line.next_tick(super().next_tick())


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
