"""Links of the tester's side: dialling an implementation, or waiting for it to dial.

Everything that a user of links needs can be imported from here.
"""

import contextlib
import select
import socket
import ssl
import struct

from harness.addresses import (
    LOOPBACK,
    Address,
    Transport,
    free_addresses,
    free_port,
    parse_address,
    places,
    socket_kind,
)
from harness.clock import Clock
from harness.errors import Deadline, LinkError, Unreachable, Unsupported
from harness.framing import Framing, Framings, JsonStream, LengthPrefixed, framing_of
from harness.link import Link, wait
from harness.packets import UxLink
from harness.tcp import TcpLink
from harness.tls import TlsLink, client_context, server_context
from harness.trace import Direction, Trace
from harness.udp import Door, UdpLink

__all__ = [
    "Address",
    "Framing",
    "Framings",
    "JsonStream",
    "LengthPrefixed",
    "Link",
    "Listener",
    "SomeLink",
    "TcpLink",
    "TlsLink",
    "UdpLink",
    "UxLink",
    "dial",
    "free_port",
    "parse_address",
]

SomeLink = TcpLink | UdpLink | UxLink

_BACKLOG = 1024
_HANDSHAKE_PATIENCE = 5.0


def dial(
    address: str,
    framings: Framings,
    clock: Clock,
    timeout: float = 5.0,
    label: str = "a",
    trace: Trace | None = None,
) -> SomeLink:
    """Connect to an address, within ``timeout`` seconds.

    Unreachable when nobody is there, BadDescription when the address is misspelt or has no framing.
    """
    target = parse_address(address)
    framing = framing_of(framings, target.transport)
    try:
        family, where = places(target)[0]
        connection = socket.socket(family, socket_kind(target.transport))
    except OSError as error:
        raise Unreachable(f"{address}: {error}") from error
    try:
        if target.transport == "ux":
            # The kernel lets nobody wait at a full door who may not be blocked there.
            until = struct.pack("ll", *divmod(round(timeout * 1_000_000), 1_000_000))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, until)
        else:
            connection.settimeout(timeout)
        connection.connect(where)
        # The kernel lets a dial to a free port of the ephemeral range meet itself.
        if target.transport != "ux" and connection.getsockname() == connection.getpeername():
            raise Unreachable(f"{address}: nobody listens")
        if target.transport == "tls":
            connection = client_context().wrap_socket(connection, server_hostname=target.host)
        if target.transport == "udp":
            remote = connection.getpeername()
            return UdpLink(Door(connection), (remote[0], remote[1]), clock, label, trace)
        return _link(connection, target.transport, framing, clock, label, trace, Direction.SENT)
    except OSError as error:
        connection.close()
        raise Unreachable(f"{address}: {error}") from error
    except LinkError:
        connection.close()
        raise


def _link(
    connection: socket.socket,
    transport: Transport,
    framing: Framing,
    clock: Clock,
    label: str,
    trace: Trace | None,
    opened: Direction,
) -> TcpLink | UxLink:
    if transport == "ux":
        return UxLink(connection, framing, clock, label, trace, opened)
    kind = TlsLink if transport == "tls" else TcpLink
    return kind(connection, framing, clock, label, trace, opened, transport)


class Listener:
    """A listening tester, for implementations that dial; ``address`` is where.

    Its door can be shut (connections are refused) and opened again at the same address.
    """

    def __init__(
        self,
        transport: Transport,
        framings: Framings,
        clock: Clock,
        host: str = LOOPBACK,
        trace: Trace | None = None,
    ) -> None:
        self._framing = framing_of(framings, transport)
        self._clock = clock
        self._trace = trace
        where = free_addresses([transport])[0]
        self.transport = transport
        self._where = where if transport == "ux" else Address(transport, host, where.port)
        self.address = str(self._where)
        self._door: Door | None = None
        self._listen()

    def open(self) -> None:
        """Listen again, after ``shut``; does nothing where it listens."""
        if self._socket.fileno() < 0:
            self._listen()

    def _listen(self) -> None:
        family, where = places(self._where)[0]
        self._socket = socket.socket(family, socket_kind(self.transport))
        if self._where.transport not in ("udp", "ux"):
            # Links that were accepted before may still hold the port.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(where)
        self._socket.setblocking(False)
        if self._where.transport == "udp":
            self._door = Door(self._socket)
            self._door.listen()
        else:
            self._socket.listen(_BACKLOG)

    def shut(self) -> None:
        """Refuse connections until ``open``; those that were not accepted are reset. Unsupported over UDP."""
        if self._door is not None:
            raise Unsupported("nothing refuses a connection over UDP: there are none")
        self._socket.close()

    def accept(self, deadline: float, label: str = "a", trace: Trace | None = None) -> SomeLink:
        """Return the next link that was dialled (UDP: next new sender); Deadline when none came in time."""
        while True:
            is_shut = self._socket.fileno() < 0
            link = None if is_shut else self._next(label, self._trace if trace is None else trace)
            if link is not None:
                return link
            left = deadline - self._clock.now()
            if left <= 0 or not wait(None if is_shut else self._socket, select.POLLIN, left):
                raise Deadline(f"nobody dialled {self.address} in time")

    def forget(self) -> None:
        """Cut those who dialled and were not accepted."""
        if self._door is not None:
            while link := self._next("", None):
                link.close()
            return
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.accept()[0].close()

    def close(self) -> None:
        """Stop listening; links that were accepted stay."""
        if self._door is None:
            self._socket.close()
        else:
            self._door.close()

    def _next(self, label: str, trace: Trace | None) -> SomeLink | None:
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
            if self._where.transport == "tls":
                connection = _secured(connection)
            return _link(
                connection, self._where.transport, self._framing, self._clock, label, trace, Direction.RECEIVED
            )
        except OSError:
            # It was reset before we looked at it; the next one may be better.
            connection.close()
            return None


def _secured(connection: socket.socket) -> ssl.SSLSocket:
    connection.settimeout(_HANDSHAKE_PATIENCE)
    return server_context().wrap_socket(connection, server_side=True)
