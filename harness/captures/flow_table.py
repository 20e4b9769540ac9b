"""The table of flows: packets sorted into conversations between two ends.

Nothing here depends on other connections, so packets can be split among readers
(``harness.captures.partition``), and give the same sessions.
"""

from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from harness.captures.flow_side import FlowSide, ProtocolFrames
from harness.captures.flows import Flow
from harness.captures.losses import Losses
from harness.captures.packets import ACK, SYN, CapturedPacket
from harness.captures.recorded_session import RecordedSession
from harness.captures.servers import ServerEndpoint

LATE_WINDOW = 1 << 16
"""Packets of the capture, of any flow, after the end of a session, in which its late ones are recognised as such.

Counted in packets of the capture and not in sessions: every reader of a partition sees the same numbers, so all of them
decide alike.
"""

# Shared, since nearly every packet ends no session.
_NONE: tuple[RecordedSession, ...] = ()


class FlowTable:
    """Takes the packets of one capture in order and returns sessions as they end; the rest at the ``end``.

    Only flows with one of the ``servers`` are kept, all of them by default. ``transport`` is the framing over TCP; by
    default it is recognised by the frames.
    """

    def __init__(
        self,
        source: str,
        protocol: str,
        *,
        servers: tuple[ServerEndpoint, ...] = (),
        transport: str | None = None,
    ) -> None:
        self.losses = Losses()
        self._source = source
        self._protocol_frames = ProtocolFrames(protocol, transport)
        self._servers = servers
        self._known: dict[tuple[str, bytes], tuple[Flow, FlowSide]] = {}
        self._over: deque[tuple[int, Flow]] = deque()

    def feed(self, packet: CapturedPacket) -> Sequence[RecordedSession]:
        """Take a packet; return the session that ends with it, and any that it shows to have ended before."""
        key = (packet.transport, packet.source + packet.target)
        found = self._known.get(key)
        # Its late packets are recognised for a while; after that the same ends may begin anew.
        if found is not None and found[0].is_over:
            self._forget(packet.number)
            found = self._known.get(key)
        if found is not None and packet.intact is not None and found[0].is_damage(found[1], packet):
            return _NONE
        if found is None or packet.flags & SYN:
            return self._begin(packet, found)
        flow, side = found
        if flow.is_over:
            return _NONE
        if packet.transport == "udp":
            flow.datagram(side, packet)
            return _NONE
        if flow.segment(side, packet):
            return self._end(flow, packet)
        return _NONE

    def end(self) -> list[RecordedSession]:
        """Return the sessions that had not ended when the capture did, in the order in which they began."""
        rest = {id(flow): flow for flow, _ in self._known.values() if not flow.is_over}
        self._known.clear()
        begun = sorted(rest.values(), key=lambda flow: flow.number)
        return [recorded for flow in begun for recorded in flow.recorded(self._source, self.losses)]

    def _begin(self, packet: CapturedPacket, found: tuple[Flow, FlowSide] | None) -> Sequence[RecordedSession]:
        ended: list[RecordedSession] = []
        if found is not None:
            flow, side = found
            # A SYN with ACK answers a dial, and one that is sent again begins nothing.
            if packet.flags & ACK or not flow.is_new_connection(side, packet):
                over = not flow.is_over and flow.segment(side, packet)
                return self._end(flow, packet) if over else _NONE
            if not flow.is_over:
                ended += self._end(flow, packet)
        # A bare ACK or FIN begins no session: it belongs to one that is over, or of which nothing was captured.
        if packet.transport == "tcp" and not (packet.data or packet.flags & SYN):
            return ended
        if self._servers and not any(server.is_at(packet.source, packet.target) for server in self._servers):
            return ended
        flow = Flow(packet, self._protocol_frames, self._servers)
        if packet.intact is not None:
            flow.is_damage(flow.sides[0], packet)
        for side, key in zip(flow.sides, (packet.source + packet.target, packet.target + packet.source), strict=True):
            self._known[packet.transport, key] = flow, side
        return [*ended, *self._first(flow, packet)]

    def _first(self, flow: Flow, packet: CapturedPacket) -> Sequence[RecordedSession]:
        side = flow.sides[0]
        if packet.transport == "udp":
            flow.datagram(side, packet)
            return _NONE
        return self._end(flow, packet) if flow.segment(side, packet) else _NONE

    def _end(self, flow: Flow, packet: CapturedPacket) -> Sequence[RecordedSession]:
        """End a session with a packet, be it its own or the first of the next between the same ends."""
        recorded = flow.recorded(self._source, self.losses)
        self._forget(packet.number)
        self._over.append((packet.number, flow))
        # Where it ended, so that sessions can be told in that order by whoever reads in parallel.
        return [replace(each, ended=packet.number) for each in recorded]

    def _forget(self, number: int) -> None:
        """Forget the sessions that were over long before a packet."""
        while self._over and self._over[0][0] + LATE_WINDOW < number:
            _, old = self._over.popleft()
            for side in old.sides:
                key = (old.transport, side.end + side.other.end)
                if (found := self._known.get(key)) is not None and found[0] is old:
                    # The same ends may have a newer session by now.
                    del self._known[key]
