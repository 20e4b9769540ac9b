"""Sessions: packets sorted into conversations between two ends.

Nothing here depends on other connections, so packets can be split among readers (``reports.shares``), and give the
same sessions.
"""

from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from harness.addresses import Transport
from reports.connections import Session, Side, Speech
from reports.packets import ACK, SYN, Packet
from reports.recordings import Losses, Recorded
from reports.servers import Server

REMEMBERED = 1 << 16
"""Packets of the capture, of any connection, behind the end of a session, in which its late ones are known for such.

Counted in packets, and not in sessions, as every reader of a share sees the same numbers.
"""

_NONE: tuple[Recorded, ...] = ()


class Sessions:
    """Takes the packets of one capture in order and gives sessions as they end; the rest at the ``end``.

    ``servers`` are those whose connections are judged, all of them by default; ``transport`` the framing over TCP, if
    it is not to be told by the frames.
    """

    def __init__(
        self, source: str, protocol: str, *, servers: tuple[Server, ...] = (), transport: Transport | None = None
    ) -> None:
        self.losses = Losses()
        self._source = source
        self._speech = Speech(protocol, transport)
        self._servers = servers
        self._known: dict[tuple[str, bytes], tuple[Session, Side]] = {}
        self._over: deque[tuple[int, Session]] = deque()

    def feed(self, packet: Packet) -> Sequence[Recorded]:
        """Take a packet; return the session that ends with it, and one that must have ended before it."""
        key = (packet.transport, packet.source + packet.target)
        found = self._known.get(key)
        if found is not None and found[0].is_over:
            self._forget(packet.number)
            found = self._known.get(key)
        if found is None or packet.flags & SYN:
            return self._meet(packet, found)
        session, side = found
        if session.is_over:
            return _NONE
        if packet.transport == "udp":
            session.datagram(side, packet)
            return _NONE
        if session.segment(side, packet):
            return self._end(session, packet)
        return _NONE

    def end(self) -> list[Recorded]:
        """Return the sessions that had not ended when the capture did, in the order in which they began."""
        rest = {id(session): session for session, _ in self._known.values() if not session.is_over}
        self._known.clear()
        begun = sorted(rest.values(), key=lambda session: session.number)
        return [recorded for session in begun for recorded in session.recorded(self._source, self.losses)]

    def _meet(self, packet: Packet, found: tuple[Session, Side] | None) -> Sequence[Recorded]:
        ended: list[Recorded] = []
        if found is not None:
            session, side = found
            if packet.flags & ACK or not session.is_renewed_by(side, packet):
                over = not session.is_over and session.segment(side, packet)
                return self._end(session, packet) if over else _NONE
            if not session.is_over:
                ended += self._end(session, packet)
        if packet.transport == "tcp" and not (packet.data or packet.flags & SYN):
            return ended
        if self._servers and not any(server.is_at(packet.source, packet.target) for server in self._servers):
            return ended
        session = Session(packet, self._speech, self._servers)
        for side, key in zip(
            session.sides, (packet.source + packet.target, packet.target + packet.source), strict=True
        ):
            self._known[packet.transport, key] = session, side
        return [*ended, *self._first(session, packet)]

    def _first(self, session: Session, packet: Packet) -> Sequence[Recorded]:
        side = session.sides[0]
        if packet.transport == "udp":
            session.datagram(side, packet)
            return _NONE
        return self._end(session, packet) if session.segment(side, packet) else _NONE

    def _end(self, session: Session, packet: Packet) -> Sequence[Recorded]:
        """End a session with a packet, be it its own or the first of the next between the same ends."""
        recorded = session.recorded(self._source, self.losses)
        self._forget(packet.number)
        self._over.append((packet.number, session))
        return [replace(each, ended=packet.number) for each in recorded]

    def _forget(self, number: int) -> None:
        """Forget the sessions that were over long before a packet."""
        while self._over and self._over[0][0] + REMEMBERED < number:
            _, old = self._over.popleft()
            for side in old.sides:
                key = (old.transport, side.end + side.other.end)
                if (found := self._known.get(key)) is not None and found[0] is old:
                    del self._known[key]
