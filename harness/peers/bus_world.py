"""A peer in memory that speaks over brokers: the tester's links, and the peer's, are clients of the same ones.

Time is virtual, as in any world. What the peer says and hears takes its time over a path; the tester is at the broker.
"""

from functools import partial

from harness.errors import Unreachable, Unsupported
from harness.links.bus import Bus, BusClient
from harness.links.link import Link
from harness.links.network_path import NetworkPath
from harness.peers.memory import MemoryLink, World
from harness.peers.peer import HANG_UP, Dialler, PeerMaker
from harness.trace import Trace


class BusWorld(World):
    """One peer, the brokers that it dials by their numbers, and the tester's links to these.

    The brokers outlive the peer: links stay when it is started anew. ``refuse`` ends a broker, ``admit`` starts it
    again.
    """

    def __init__(
        self, make: PeerMaker, role: str, *, profile: str = "document", path: NetworkPath | None = None
    ) -> None:
        self._buses: dict[int, Bus] = {}
        self._testers: dict[int, tuple[int, BusClient, MemoryLink]] = {}
        self._peers: dict[int, tuple[int, BusClient]] = {}
        self._testers_links = 0
        super().__init__(make, role, profile=profile, dials=True, path=path)

    def restart(self) -> None:
        self._leave()
        super().restart()

    def _leave(self) -> None:
        for server, client in self._peers.values():
            self._bus(server).detach(client)
        self._peers.clear()

    def link(
        self,
        trace: Trace,
        label: str,
        transport: str = "memory",
        server: int = 0,
        patience: float | None = None,
        source: str = "",
    ) -> MemoryLink:
        """Connect the tester to a broker."""
        if server in self._shut:
            raise Unreachable(f"broker {server} is down")
        # Below those of the peer, which are counted from 1.
        self._testers_links -= 1
        link = MemoryLink(self, self._testers_links, label, trace)
        self._testers[link.number] = (server, self._bus(server).attach(link.arrive), link)
        return link

    def strange_link(self, trace: Trace, label: str, beside: Link) -> MemoryLink:
        """Raise ``Unsupported``: at a broker all are equally strange."""
        raise Unsupported("at a broker there are no addresses to speak from")

    def other_hosts(self, transport: str = "memory") -> tuple[str, ...]:
        """Return nothing: who dials a broker comes from where he is."""
        return ()

    def give(self, link: MemoryLink, frame: bytes) -> None:
        """Hand a frame of the tester's to its broker."""
        server, client, _ = self._testers[link.number]
        self._bus(server).take(client, frame)

    def cut(self, number: int) -> None:
        """End a link of the tester's."""
        found = self._testers.pop(number, None)
        if found is not None:
            self._bus(found[0]).detach(found[1])

    def refuse(self, server: int = 0) -> None:
        """End a broker, and with it all links to it."""
        self._shut.add(server)
        for number, (its, client) in list(self._peers.items()):
            if its == server:
                del self._peers[number]
                self._bus(server).detach(client)
                self._send_on(number, partial(self._lose, number))
        for number, (its, client, link) in list(self._testers.items()):
            if its == server:
                del self._testers[number]
                self._bus(server).detach(client)
                link.arrive(HANG_UP)

    def _lose(self, number: int) -> None:
        self._peer.disconnected(number, self.clock.now())

    def _bus(self, server: int) -> Bus:
        return self._buses.setdefault(server, Bus())

    def _dialled(self, dialler: Dialler, server: int) -> None:
        if server in self._shut:
            self._do(lambda: dialler.refused(server, self.clock.now()))
            return
        self._count += 1
        number = self._count
        self._peers[number] = (server, self._bus(server).attach(partial(self._towards_peer, number)))
        self._do(lambda: dialler.reached(server, number, self.clock.now()))

    def _towards_peer(self, number: int, frame: bytes) -> None:
        self._later(number, False, lambda: self._do(lambda: self._take(number, frame)))

    def _take(self, number: int, frame: bytes) -> None:
        # The link may have ended while the frame was under way.
        if number in self._peers:
            self._peer.received(number, frame, self.clock.now())

    def _deliver(self) -> None:
        for number, frame in self._peer.drain(self.clock.now()):
            if number in self._peers:
                self._later(number, True, partial(self._from_peer, number, frame))

    def _from_peer(self, number: int, frame: bytes | None) -> None:
        # What was said before a link ended reaches the broker all the same, if that is still there.
        if number not in self._peers:
            return
        server, client = self._peers[number]
        if frame is HANG_UP:
            del self._peers[number]
            self._bus(server).detach(client)
        else:
            self._bus(server).take(client, frame)

    def _die(self, error: Exception) -> None:
        super()._die(error)
        self._leave()
