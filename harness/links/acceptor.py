"""Accepting: sockets that listen on an asyncio loop, and go on when descriptors run out."""

import asyncio
import contextlib
import errno
import resource
import socket
import traceback
from collections.abc import Awaitable, Callable, Iterable

from harness.links.addresses import SocketAddress

# A TLS handshake holds about a quarter of a megabyte of buffers: those who dial and say nothing may have 64 MB of them.
MAX_HANDSHAKES = 256
"""How many may shake hands at once, at one address; who has begun first makes room for another."""

# Who dials in a crowd waits in the kernel rather than being refused; the kernel cuts this down to its own bound.
_BACKLOG = 4096
_AT_ONCE = 64  # so that a crowd that dials does not keep those waiting who are connected
# Seconds until it is looked again for free files: accepting in a loop would take all of the processor.
_RETRY = 0.1
# What accept(2) answers when files or memory have run out: no fault of the connection, and it passes.
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

ConnectionHandler = Callable[[socket.socket], Awaitable[None]]
"""What makes a link of an accepted connection, maybe behind a handshake; OSError when it came to nothing."""


class Acceptor:
    """Takes in what a listening socket brings; each connection is welcomed in a task of its own."""

    def __init__(self, listening: socket.socket, handle_connection: ConnectionHandler) -> None:
        self._socket = listening
        self._handle_connection = handle_connection
        self._loop = asyncio.get_running_loop()
        self._handling: dict[asyncio.Task[None], socket.socket] = {}  # who came first stands first
        self._retry: asyncio.TimerHandle | None = None
        self._resume()

    def close(self) -> None:
        """Stop listening; connections that were made stay."""
        if self._retry is not None:
            self._retry.cancel()
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()
        for task in [*self._handling]:
            self._give_up(task)

    def _resume(self) -> None:
        self._loop.add_reader(self._socket, self._on_connections)

    def _on_connections(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._socket.accept()
            # Level-triggered: the loop calls again while others wait, also after one who has left the queue.
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _SCARCE:
                    raise
                # Those who wait are accepted when others have left, and files are free again.
                self._loop.remove_reader(self._socket)
                self._retry = self._loop.call_later(_RETRY, self._resume)
                return
            # On Linux an accepted socket does not inherit it.
            connection.setblocking(False)
            task = self._loop.create_task(self._handle(connection))
            self._handling[task] = connection
            task.add_done_callback(self._forget)
            if len(self._handling) > MAX_HANDSHAKES:
                self._give_up(next(iter(self._handling)))

    def _give_up(self, task: "asyncio.Task[None]") -> None:
        connection = self._handling.pop(task)
        if not task.cancel():
            return
        # A task that has not begun yet never will, and so would close nothing.
        task.add_done_callback(lambda _: connection.close())

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._handling.pop(task, None)

    async def _handle(self, connection: socket.socket) -> None:
        try:
            await self._handle_connection(connection)
        except (OSError, asyncio.CancelledError) as error:
            connection.close()  # it has left already, does not speak TLS, or had to make room
            # The frames and the error hold each other, and a quarter of a megabyte of buffers with them.
            traceback.clear_frames(error.__traceback__)


def listening_sockets(addresses: Iterable[SocketAddress], kind: socket.SocketKind) -> list[socket.socket]:
    """Return sockets that listen, one at each address: a host's name may stand for one of each family."""
    sockets: list[socket.socket] = []
    try:
        for family, where in addresses:
            sockets.append(_listening(family, kind, where))
    # All of them or none: else it would depend on the family that is dialled whether anybody is there.
    except OSError:
        for each in sockets:
            each.close()
        raise
    return sockets


def _listening(family: int, kind: socket.SocketKind, where: str | tuple[object, ...]) -> socket.socket:
    made = socket.socket(family, kind)
    try:
        if family == socket.AF_INET6:
            # Else it would take the port of the other family too, which has a socket of its own here.
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if kind == socket.SOCK_STREAM:
            # Connections that a peer before had may still hold the port.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
        made.setblocking(False)
        if kind != socket.SOCK_DGRAM:
            made.listen(_BACKLOG)
    except OSError:
        made.close()
        raise
    return made


def open_more_files() -> None:
    """Let this process open as many files as the system allows it."""
    # The soft limit is low (1024) for programs that use select(2); neither asyncio nor the links here do.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A container may forbid it. Then those who dial wait until files are free again.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
