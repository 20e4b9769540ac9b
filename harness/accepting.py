"""Accepting: sockets that listen on an asyncio loop, and go on when descriptors run out."""

import asyncio
import contextlib
import errno
import resource
import socket
import ssl
import traceback
from collections.abc import Callable

from harness.addresses import Address, places, socket_kind
from harness.packets import PacketTransport

TLS_PATIENCE = 10.0
"""Seconds for the handshake of TLS."""

MOST_HANDSHAKES = 256
"""How many may shake hands at once, at one address; who has begun first makes room for another."""

_BACKLOG = 4096
_AT_ONCE = 64  # so that a crowd at the door does not keep those inside waiting
_RETRY = 0.1
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

Protocols = Callable[[], asyncio.Protocol]


class Acceptor:
    """Takes in what a listening socket brings; each connection gets a protocol of its own."""

    def __init__(self, door: socket.socket, protocols: Protocols, secure: ssl.SSLContext | None) -> None:
        self._socket = door
        self._protocols = protocols
        self._secure = secure
        self._loop = asyncio.get_running_loop()
        self._arriving: dict[asyncio.Task[None], None] = {}  # who came first stands first
        self._retry: asyncio.TimerHandle | None = None
        self._resume()

    def close(self) -> None:
        """Stop listening; connections that were made stay."""
        if self._retry is not None:
            self._retry.cancel()
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()
        for task in self._arriving:
            task.cancel()

    def _resume(self) -> None:
        self._loop.add_reader(self._socket, self._on_connections)

    def _on_connections(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _SCARCE:
                    raise
                # Those who wait at the door are let in when others have left.
                self._loop.remove_reader(self._socket)
                self._retry = self._loop.call_later(_RETRY, self._resume)
                return
            connection.setblocking(False)
            task = self._loop.create_task(self._arrive(connection))
            self._arriving[task] = None
            task.add_done_callback(self._forget)
            if len(self._arriving) > MOST_HANDSHAKES:
                first = next(iter(self._arriving))
                del self._arriving[first]
                first.cancel()

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._arriving.pop(task, None)

    async def _arrive(self, connection: socket.socket) -> None:
        if connection.family == socket.AF_UNIX:
            try:
                PacketTransport(self._loop, connection, self._protocols())
            except OSError:
                connection.close()  # it has left already
            return
        patience = TLS_PATIENCE if self._secure else None
        try:
            await self._loop.connect_accepted_socket(
                self._protocols,
                connection,
                ssl=self._secure,
                ssl_handshake_timeout=patience,
                ssl_shutdown_timeout=patience and patience / 5,
            )
        except (OSError, asyncio.CancelledError) as error:
            connection.close()  # it has left already, does not speak TLS, or had to make room
            # The frames and the error hold each other, and a quarter of a megabyte of buffers with them.
            traceback.clear_frames(error.__traceback__)


def listening(where: Address) -> list[socket.socket]:
    """Return sockets that listen at an address: one, or one per family that the host's name stands for."""
    sockets: list[socket.socket] = []
    try:
        for family, place in places(where):
            sockets.append(_listening(family, socket_kind(where.transport), place))
    except OSError:
        for each in sockets:
            each.close()
        raise
    return sockets


def _listening(family: int, kind: socket.SocketKind, place: str | tuple[object, ...]) -> socket.socket:
    made = socket.socket(family, kind)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if kind == socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.setblocking(False)
        if kind != socket.SOCK_DGRAM:
            made.listen(_BACKLOG)
    except OSError:
        made.close()
        raise
    return made


def open_more_files() -> None:
    """Let this process open as many files as the system allows it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
