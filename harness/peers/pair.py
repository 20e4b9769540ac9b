"""Two peers in memory that speak with each other over a network path, in virtual time: nothing waits, all is the same.

So it is seen what the two make of a path together, with nobody between them; the trace shows it as a tester in the
place of the one that dials would have seen it.
"""

import heapq
import itertools
from collections.abc import Callable

from harness.clock import VirtualClock
from harness.links.network_path import Fates, NetworkPath
from harness.peers.peer import HANG_UP, Peer
from harness.trace import Direction, EntryKind, Trace

AWAY = 1
"""The link at which the one that dials has the other."""


class PeerPair:
    """A peer that dials, ``near``, and one that it dials, ``far``, over a path of datagrams.

    Each address that ``near`` has had is a link of ``far``'s; of those that it has no more nothing comes back.
    """

    def __init__(self, near: Peer, far: Peer, protocol: str, path: NetworkPath) -> None:
        self.near = near
        self.far = far
        self.clock = VirtualClock()
        self.trace = Trace(protocol, "udp", self.clock)
        self.sent = 0
        """Datagrams that either has sent, those that were lost among them."""
        self._fates = Fates(path)
        self._under_way: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._address = 0
        self._is_known = False
        near.connected(AWAY, self.clock.now(), dialled=True)
        self.settle()

    def settle(self) -> None:
        """Send what the peers have to say now: to be called when something else than this pair has made them act."""
        now = self.clock.now()
        for _, frame in self.near.drain(now):
            if frame is not HANG_UP:
                self._to_far(frame)
        for link, frame in self.far.drain(now):
            if link != self._address:
                continue  # an address of before, at which nobody is any more
            if frame is HANG_UP:
                self._is_known = False
            else:
                self._to_near(frame)

    def run(self, done: Callable[[], bool], seconds: float) -> bool:
        """Let time pass until something holds; ``False`` when so many seconds pass before."""
        deadline = self.clock.now() + seconds
        while not done():
            at = min(
                (
                    each
                    for each in (self._next_arrival(), self.near.next_tick(), self.far.next_tick())
                    if each is not None
                ),
                default=deadline,
            )
            if at > deadline or at == deadline == self.clock.now():
                self.clock.time = deadline
                return done()
            self.clock.time = max(self.clock.time, at)
            while self._under_way and self._under_way[0][0] <= self.clock.now():
                heapq.heappop(self._under_way)[2]()
                self.settle()
            for peer in (self.near, self.far):
                due = peer.next_tick()
                if due is not None and due <= self.clock.now():
                    peer.tick(self.clock.now())
            self.settle()
        return True

    def _next_arrival(self) -> float | None:
        return self._under_way[0][0] if self._under_way else None

    def _to_far(self, frame: bytes) -> None:
        if self._fates.moves():
            self._is_known = False
        if not self._is_known:
            self._address += 1
            self._is_known = True
            self.far.connected(self._address, self.clock.now(), address=f"memory:{self._address}")
        address = self._address
        # A tester sees what it sends, whether it arrives or not; and of what comes only what arrives.
        self._record(Direction.SENT, frame)
        self._send(False, lambda: self.far.received(address, frame, self.clock.now()))

    def _to_near(self, frame: bytes) -> None:
        def arrive() -> None:
            self._record(Direction.RECEIVED, frame)
            self.near.received(AWAY, frame, self.clock.now())

        self._send(True, arrive)

    def _send(self, outgoing: bool, arrive: Callable[[], None]) -> None:
        self.sent += 1
        for at in self._fates.arrivals(0, outgoing, self.clock.now()):
            heapq.heappush(self._under_way, (at, next(self._order), arrive))

    def _record(self, direction: Direction, frame: bytes) -> None:
        self.trace.record("a", EntryKind.FRAME, direction, frame)
