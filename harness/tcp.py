"""Links over TCP."""

import socket

from harness.addresses import Address, Transport
from harness.clock import Clock
from harness.connection import CHUNK, ConnectedLink
from harness.framing import Framing
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
        transport: Transport = "tcp",
    ) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        remote = connection.getpeername()
        peername = str(Address(transport, remote[0], remote[1]))
        ports = (connection.getsockname()[1], remote[1])
        super().__init__(connection, framing, clock, label, trace, opened, peername, ports)

    def _take(self) -> bytes | None:
        return self._socket.recv(CHUNK) or None

    def _put(self, data: memoryview) -> int:
        return self._socket.send(data)
