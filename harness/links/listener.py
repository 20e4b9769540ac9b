"""A listening tester, for implementations that dial."""

import contextlib
import select
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable

from harness.clock import Clock
from harness.errors import Deadline
from harness.links.addresses import Address, SocketAddress
from harness.links.link import Link, wait
from harness.trace import Trace

# Dials wait here until a play looks at them: more than any client under test makes at once.
_BACKLOG = 1024


class Listener(ABC):
    """A listening end of the tester's; ``address`` is where. It can be shut, and opened again at the same address."""

    def __init__(self, where: Address, clock: Clock) -> None:
        self.transport = where.transport
        self.address = str(where)
        self._clock = clock

    @abstractmethod
    def accept(self, deadline: float, label: str = "a", trace: Trace | None = None) -> Link:
        """Return the next link that was dialled (UDP: next new sender); Deadline when none came in time."""

    @abstractmethod
    def open(self) -> None:
        """Listen again, after ``shut``; does nothing where it listens."""

    @abstractmethod
    def shut(self) -> None:
        """Refuse connections until ``open``; those that were not accepted are reset.

        Unsupported where a transport knows no refusal.
        """

    @abstractmethod
    def forget(self) -> None:
        """Cut those who dialled and were not accepted."""

    @abstractmethod
    def close(self) -> None:
        """Stop listening; links that were accepted stay."""


class SocketListener(Listener):
    """A listening end that waits on a socket."""

    def accept(self, deadline: float, label: str = "a", trace: Trace | None = None) -> Link:
        while True:
            watched = self._handle()
            link = None if watched is None else self._next(label, trace)
            if link is not None:
                return link
            left = deadline - self._clock.now()
            if left <= 0 or not wait(watched, select.POLLIN, left):
                raise Deadline(f"nobody dialled {self.address} in time")

    @abstractmethod
    def _handle(self) -> socket.socket | None:
        """Return the socket to wait on, None while it is shut."""

    @abstractmethod
    def _next(self, label: str, trace: Trace | None) -> Link | None:
        """Return the next link that was dialled, without waiting."""


class ConnectionListener(SocketListener):
    """Listens for connections; ``link`` makes a link of each, and raises OSError for one that is gone already."""

    def __init__(
        self,
        where: Address,
        bound: SocketAddress,
        kind: socket.SocketKind,
        clock: Clock,
        link: Callable[[socket.socket, str, Trace | None], Link],
    ) -> None:
        super().__init__(where, clock)
        self._bound = bound
        self._kind = kind
        self._link = link
        self._listen()

    def _listen(self) -> None:
        family, where = self._bound
        self._socket = socket.socket(family, self._kind)
        if family != socket.AF_UNIX:
            # Links that were accepted before may still hold the port.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(where)
        self._socket.setblocking(False)
        self._socket.listen(_BACKLOG)

    def open(self) -> None:
        if self._socket.fileno() < 0:
            self._listen()

    def shut(self) -> None:
        # This is what refuses: the kernel answers those who dial, and those who wait, with a reset.
        self._socket.close()

    def forget(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.accept()[0].close()

    def close(self) -> None:
        self._socket.close()

    def _handle(self) -> socket.socket | None:
        return None if self._socket.fileno() < 0 else self._socket

    def _next(self, label: str, trace: Trace | None) -> Link | None:
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return None
        try:
            return self._link(connection, label, trace)
        except OSError:
            # It was reset before we looked at it; the next one may be better.
            connection.close()
            return None
