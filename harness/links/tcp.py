"""TCP: links over it, and both ends of it for the tester and for our own peers."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar, Literal

from harness.clock import Clock
from harness.errors import Unreachable
from harness.links.acceptor import Acceptor, listening_sockets
from harness.links.addresses import Address
from harness.links.asyncio_links import LinkOwner, StreamLink
from harness.links.connected import CHUNK, ConnectedLink
from harness.links.framing import Framing
from harness.links.listener import ConnectionListener, Listener
from harness.links.transport import Certificate, Closable, IpTransport
from harness.trace import Direction, Trace


class TcpLink(ConnectedLink):
    """A TCP connection; ``transport`` is what its addresses call it."""

    def __init__(
        self,
        connection: socket.socket,
        framing: Framing,
        clock: Clock,
        label: str = "a",
        trace: Trace | None = None,
        opened: Direction = Direction.SENT,
        transport: str = "tcp",
    ) -> None:
        # When a frame arrives is part of what is tested: Nagle's algorithm would hold it back to send it with others.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        remote = connection.getpeername()
        peername = str(Address(transport, remote[0], remote[1]))
        ports = (connection.getsockname()[1], remote[1])
        super().__init__(connection, framing, clock, label, trace, opened, peername, ports)

    def _take(self) -> bytes | None:
        return self._socket.recv(CHUNK) or None

    def _put(self, data: memoryview) -> int:
        return self._socket.send(data)

    def hold(self, is_held: bool) -> None:
        """Have what is sent wait in the kernel, or go out at once, together with what has waited.

        Who reads is woken once instead of often; where that cannot be told to the kernel, nothing waits.
        """
        with suppress(OSError, AttributeError):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, is_held)


class Tcp(IpTransport):
    """TCP, under the name of one of a protocol's framings."""

    kind = socket.SOCK_STREAM
    captured_as: ClassVar[Literal["tcp", "udp", ""]] = "tcp"

    # --- the tester's ends --------------------------------------------------------------------------------

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
    ) -> TcpLink:
        connection = self._connected(address, timeout, source)
        try:
            return self._dialled(connection, address, framing, clock, label, trace)
        except OSError:
            connection.close()
            raise

    def _connected(self, address: Address, timeout: float, source: str) -> socket.socket:
        family, where = self.socket_addresses(address)[0]
        connection = socket.socket(family, self.kind)
        try:
            connection.settimeout(timeout)
            if source:
                connection.bind((source, 0))
            connection.connect(where)
            # What then "answers" would be ourselves.
            if is_self_connected(connection):
                raise Unreachable(f"{address}: nobody listens")
        except BaseException:
            connection.close()
            raise
        return connection

    def _dialled(
        self,
        connection: socket.socket,
        address: Address,
        framing: Framing,
        clock: Clock,
        label: str,
        trace: Trace | None,
    ) -> TcpLink:
        """Return the link of the side that dialled."""
        return TcpLink(connection, framing, clock, label, trace, Direction.SENT, self.name)

    def listen(self, address: Address, framing: Framing, clock: Clock) -> Listener:
        def link(connection: socket.socket, label: str, trace: Trace | None) -> TcpLink:
            return self._accepted(connection, framing, clock, label, trace)

        return ConnectionListener(address, self.socket_addresses(address)[0], self.kind, clock, link)

    def _accepted(
        self, connection: socket.socket, framing: Framing, clock: Clock, label: str, trace: Trace | None
    ) -> TcpLink:
        """Return the link of the side that was dialled."""
        return TcpLink(connection, framing, clock, label, trace, Direction.RECEIVED, self.name)

    # --- our own peers' ends ------------------------------------------------------------------------------

    async def serve(
        self, address: Address, framing: Framing, owner: LinkOwner, certificate: Certificate
    ) -> Sequence[Closable]:
        loop = asyncio.get_running_loop()

        async def handle_connection(connection: socket.socket) -> None:
            await loop.connect_accepted_socket(lambda: StreamLink(owner, self.peername, framing), connection)

        return [
            Acceptor(each, handle_connection) for each in listening_sockets(self.socket_addresses(address), self.kind)
        ]

    async def connect(self, address: Address, framing: Framing, owner: LinkOwner, server: int | None) -> None:
        connection = await self._reached(address)
        await asyncio.get_running_loop().create_connection(
            lambda: StreamLink(owner, self.peername, framing, dialled=True, server=server), sock=connection
        )

    async def _reached(self, address: Address) -> socket.socket:
        """Connect to whichever of a host's addresses answers first, in their order."""
        failure: OSError = ConnectionRefusedError("nobody listens")
        for family, where in self.socket_addresses(address):
            connection = socket.socket(family, self.kind)
            connection.setblocking(False)
            try:
                await asyncio.get_running_loop().sock_connect(connection, where)
                if not is_self_connected(connection):
                    return connection
            except OSError as error:
                failure = error
            except BaseException:
                connection.close()
                raise
            connection.close()
        raise failure


def is_self_connected(connection: socket.socket) -> bool:
    """Tell whether a dial has met itself: the kernel lets one to a free port of the ephemeral range do so."""
    return bool(connection.getsockname() == connection.getpeername())
