"""Links of the tester's side: dialling an implementation, or waiting for it to dial.

Everything that a user of links needs can be imported from here.
"""

import select
import socket

from harness.addresses import LOOPBACK, Address, Transport, free_port, parse_address
from harness.clock import Clock
from harness.errors import Deadline, LinkError, Unreachable
from harness.framing import Framing, LengthPrefixed
from harness.link import Link, wait
from harness.tcp import TcpLink
from harness.trace import Direction, Trace
from harness.udp import Door, UdpLink

__all__ = [
    "Address",
    "Framing",
    "LengthPrefixed",
    "Link",
    "Listener",
    "TcpLink",
    "UdpLink",
    "dial",
    "free_port",
    "parse_address",
]


def dial(
    address: str,
    framing: Framing,
    clock: Clock,
    timeout: float = 5.0,
    label: str = "a",
    trace: Trace | None = None,
) -> TcpLink | UdpLink:
    """Connect to an address, within ``timeout`` seconds.

    Unreachable when nobody is there, BadDescription when the address is misspelt.
    """
    target = parse_address(address)
    kind = socket.SOCK_STREAM if target.transport == "tcp" else socket.SOCK_DGRAM
    try:
        family, _, _, _, where = socket.getaddrinfo(target.host, target.port, type=kind)[0]
        connection = socket.socket(family, kind)
    except OSError as error:
        raise Unreachable(f"{address}: {error}") from error
    try:
        connection.settimeout(timeout)
        connection.connect(where)
        # The kernel lets a dial to a free port of the ephemeral range meet itself.
        if connection.getsockname() == connection.getpeername():
            raise Unreachable(f"{address}: nobody listens")
        if target.transport == "tcp":
            return TcpLink(connection, framing, clock, label, trace)
        remote = connection.getpeername()
        return UdpLink(Door(connection), (remote[0], remote[1]), clock, label, trace)
    except OSError as error:
        connection.close()
        raise Unreachable(f"{address}: {error}") from error
    except LinkError:
        connection.close()
        raise


class Listener:
    """A listening tester, for implementations that dial; ``address`` is where."""

    def __init__(
        self,
        transport: Transport,
        framing: Framing,
        clock: Clock,
        host: str = LOOPBACK,
        trace: Trace | None = None,
    ) -> None:
        self._framing = framing
        self._clock = clock
        self._trace = trace
        kind = socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
        self._socket.bind((host, 0))
        self._socket.setblocking(False)
        self._door: Door | None = None
        if transport == "udp":
            self._door = Door(self._socket)
            self._door.listen()
        else:
            self._socket.listen()
        self.address = str(Address(transport, host, self._socket.getsockname()[1]))

    def accept(self, deadline: float, label: str = "a", trace: Trace | None = None) -> TcpLink | UdpLink:
        """Return the next link that was dialled (UDP: next new sender); Deadline when none came in time."""
        while True:
            link = self._next(label, self._trace if trace is None else trace)
            if link is not None:
                return link
            left = deadline - self._clock.now()
            if left <= 0 or not wait(self._socket, select.POLLIN, left):
                raise Deadline(f"nobody dialled {self.address} in time")

    def close(self) -> None:
        """Stop listening; links that were accepted stay."""
        if self._door is None:
            self._socket.close()
        else:
            self._door.close()

    def _next(self, label: str, trace: Trace | None) -> TcpLink | UdpLink | None:
        if self._door is not None:
            self._door.pump()
            remote = self._door.stranger()
            return (
                None if remote is None else UdpLink(self._door, remote, self._clock, label, trace, Direction.RECEIVED)
            )
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return None
        try:
            return TcpLink(connection, self._framing, self._clock, label, trace, Direction.RECEIVED)
        except OSError:
            # It was reset before we looked at it; the next one may be better.
            connection.close()
            return None
