"""UDP, where a datagram is a frame: links over it, and both ends of it for the tester and for our own peers."""

import asyncio
import errno
import select
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from harness.clock import Clock
from harness.errors import Deadline, LinkClosed, LinkError, Unsupported
from harness.links.acceptor import listening_sockets
from harness.links.addresses import Address, SocketAddress
from harness.links.asyncio_links import LinkOwner
from harness.links.framing import Framing
from harness.links.link import SocketLink, wait
from harness.links.listener import SocketListener
from harness.links.transport import Certificate, Closable, IpTransport
from harness.trace import Direction, Entry, EntryKind, Trace

Remote = tuple[str, int]

# No datagram is longer: its length has 16 bits.
_LARGEST = 1 << 16
# Senders that nobody asks for must not fill the memory; who is dropped sends again, as with any datagram.
_UNKNOWN_KEPT = 1024


class SharedSocket:
    """One UDP socket with the links behind it; it closes when the listener and the last link have left."""

    def __init__(self, shared: socket.socket) -> None:
        shared.setblocking(False)
        self.socket = shared
        self._links: dict[Remote, Callable[[bytes], None]] = {}
        self._unknown: deque[tuple[Remote, bytes]] = deque(maxlen=_UNKNOWN_KEPT)
        self._listening = False

    def receive_one(self) -> bool:
        """Hand out one datagram, without waiting; False when there is none, OSError when the port is shut."""
        try:
            data, sender = self.socket.recvfrom(_LARGEST)
        except BlockingIOError:
            return False
        # With IPv6, flow and scope come behind the port: they do not say who it is.
        remote = (sender[0], sender[1])
        take = self._links.get(remote)
        if take is None:
            self._unknown.append((remote, data))
        else:
            take(data)
        return True

    def first_unknown_sender(self) -> Remote | None:
        """Return the first sender that has no link yet."""
        return self._unknown[0][0] if self._unknown else None

    def add(self, remote: Remote, take: Callable[[bytes], None]) -> None:
        """Give the datagrams of a sender, also those that came already, to its link."""
        self._links[remote] = take
        waiting = [entry for entry in self._unknown if entry[0] == remote]
        for entry in waiting:
            self._unknown.remove(entry)
            take(entry[1])

    def remove(self, remote: Remote) -> None:
        """Forget a link."""
        self._links.pop(remote, None)
        self._close_when_left()

    def listen(self) -> None:
        """Stay open, links or none, until ``close``."""
        self._listening = True

    def close(self) -> None:
        """Stop listening; the socket is closed once no link uses it."""
        self._listening = False
        self._unknown.clear()
        self._close_when_left()

    def _close_when_left(self) -> None:
        if not self._listening and not self._links:
            self.socket.close()


class UdpLink(SocketLink):
    """A UDP association: a datagram is a frame; a port where nobody listens ends it with ``reset``."""

    def __init__(
        self,
        shared: SharedSocket,
        remote: tuple[str, int],
        clock: Clock,
        label: str = "a",
        trace: Trace | None = None,
        opened: Direction = Direction.SENT,
        transport: str = "udp",
    ) -> None:
        self._shared = shared
        self._remote = remote
        peername = str(Address(transport, remote[0], remote[1]))
        super().__init__(label, clock, trace, peername, (shared.socket.getsockname()[1], remote[1]), opened)
        shared.add(remote, self._arrived)

    def send(self, frame: bytes) -> Entry:
        """Send one datagram; LinkError when it is too long for one."""
        self._push(frame)
        return self._record(EntryKind.FRAME, Direction.SENT, frame)

    def send_raw(self, data: bytes) -> Entry:
        return self.send(data)

    def close(self) -> None:
        """End the link; what has arrived by then is still recorded."""
        if self._how is None:
            self._drain()
        self._end("closed")
        self._how = "closed"
        self._shared.remove(self._remote)

    def beside(self, label: str, trace: Trace | None) -> "UdpLink":
        """Return a link to the same address, from another one of this machine."""
        opened = socket.socket(self._shared.socket.family, socket.SOCK_DGRAM)
        opened.bind((self._shared.socket.getsockname()[0], 0))
        return UdpLink(SharedSocket(opened), self._remote, self.clock, label, trace)

    def _handle(self) -> socket.socket:
        return self._shared.socket

    def _fill(self) -> bool:
        try:
            return self._shared.receive_one()
        except OSError:
            # An ICMP "port unreachable" comes as an error of the socket: the nearest thing to a reset that UDP has.
            self._end("reset")
            return True

    def _push(self, data: bytes) -> None:
        if self._how is not None:
            raise LinkClosed(self._how)
        try:
            self._shared.socket.sendto(data, self._remote)
        except BlockingIOError:
            if not wait(self._shared.socket, select.POLLOUT, self.sending):
                raise Deadline(f"{self.peername} took no bytes for {self.sending:g} s") from None
            self._push(data)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                raise LinkError(f"{len(data)} bytes are too many for one datagram") from error
            # What came before the error is still there to be read.
            self._drain()
            self._end("reset")
            raise LinkClosed("reset") from error


class UdpListener(SocketListener):
    """Listens for datagrams: every new address that sends has a link of its own."""

    def __init__(self, where: Address, bound: SocketAddress, clock: Clock) -> None:
        super().__init__(where, clock)
        family, place = bound
        opened = socket.socket(family, socket.SOCK_DGRAM)
        opened.bind(place)
        self._shared = SharedSocket(opened)
        self._shared.listen()

    def open(self) -> None:
        """Do nothing: it is never shut."""

    def shut(self) -> None:
        raise Unsupported("nothing refuses a connection over UDP: there are none")

    def forget(self) -> None:
        while link := self._next("", None):
            link.close()

    def close(self) -> None:
        self._shared.close()

    def _handle(self) -> socket.socket:
        return self._shared.socket

    def _next(self, label: str, trace: Trace | None) -> UdpLink | None:
        # At most one datagram per call: the caller waits for more by itself.
        self._shared.receive_one()
        remote = self._shared.first_unknown_sender()
        if remote is None:
            return None
        return UdpLink(self._shared, remote, self._clock, label, trace, Direction.RECEIVED, self.transport)


class DatagramServer(asyncio.DatagramProtocol):
    """A peer's end of UDP; every address that sends to it has a link of its own."""

    def __init__(self, owner: LinkOwner, format_address: Callable[[Any], str]) -> None:
        self._owner = owner
        self._format_address = format_address
        self._links: dict[Remote, _DatagramLink] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)  # the selector loop's own class is no subclass

    def datagram_received(self, data: bytes, sender: Remote) -> None:
        link = self._links.get(sender)
        if link is None:
            link = self._links[sender] = _DatagramLink(self, sender)
            link.number = self._owner.link_opened(link, self._format_address(sender))
        self._owner.received(link.number, deque([data]))

    def dial(self, remote: Remote, server: int | None) -> None:
        """Have a link to an address, which need not have said anything."""
        link = self._links[remote] = _DatagramLink(self, remote, is_ours=True)
        address = self._format_address(remote)
        link.number = self._owner.link_opened(link, address, dialled=True, server=server)

    def end(self, link: "_DatagramLink") -> None:
        """Take what comes next from where a link led for a new one."""
        self._links.pop(link.sender, None)
        self._owner.link_closed(link.number)


class _DatagramLink:
    # Nothing waits to be sent: what the kernel has no room for is lost, as datagrams are.
    is_full = False

    def __init__(self, server: DatagramServer, sender: Remote, *, is_ours: bool = False) -> None:
        self.number = 0
        self.sender = sender
        self._is_ours = is_ours
        self._is_over = False
        self._server = server
        self._frames: list[bytes] = []

    def put(self, frame: bytes | None) -> None:
        if frame is None:
            self._is_over = True
        else:
            self._frames.append(frame)

    def flush(self) -> None:
        for frame in self._frames:
            self._server.transport.sendto(frame, self.sender)
        self._frames.clear()
        if self._is_over:
            self.abort()

    def abort(self) -> None:
        self._server.end(self)
        if self._is_ours:  # the socket is there for this link alone
            self._server.transport.close()


class Udp(IpTransport):
    """UDP."""

    kind = socket.SOCK_DGRAM
    has_packets = True
    captured_as = "udp"
    link: ClassVar[type[UdpLink]] = UdpLink
    """What the tester's dialling end makes."""

    def dial(
        self,
        address: Address,
        framing: Framing,
        clock: Clock,
        *,
        label: str,
        trace: Trace | None,
        timeout: float,
        source: str = "",
    ) -> UdpLink:
        family, where = self.socket_addresses(address)[0]
        connection = socket.socket(family, self.kind)
        try:
            if source:
                connection.bind((source, 0))
            # Connected, so that the kernel tells when nobody listens there.
            connection.connect(where)
            remote = connection.getpeername()
            return self.link(SharedSocket(connection), (remote[0], remote[1]), clock, label, trace, transport=self.name)
        except OSError:
            connection.close()
            raise

    def listen(self, address: Address, framing: Framing, clock: Clock) -> UdpListener:
        return UdpListener(address, self.socket_addresses(address)[0], clock)

    async def serve(
        self, address: Address, framing: Framing, owner: LinkOwner, certificate: Certificate
    ) -> Sequence[Closable]:
        loop = asyncio.get_running_loop()
        made = []
        for each in listening_sockets(self.socket_addresses(address), self.kind):
            transport, _ = await loop.create_datagram_endpoint(lambda: DatagramServer(owner, self.peername), sock=each)
            made.append(transport)
        return made

    async def connect(self, address: Address, framing: Framing, owner: LinkOwner, server: int | None) -> None:
        family, where = self.socket_addresses(address)[0]
        with socket.socket(family, self.kind) as trial:
            trial.connect(where)
            host = trial.getsockname()[0]
        opened = socket.socket(family, self.kind)
        opened.setblocking(False)
        # Not connected itself: others may speak to it as well, from addresses that it has not heard of.
        opened.bind((host, 0))
        _, made = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: DatagramServer(owner, self.peername), sock=opened
        )
        made.dial((str(where[0]), int(str(where[1]))), server)
