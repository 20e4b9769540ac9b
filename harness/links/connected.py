"""Links over connected sockets, whatever these carry: a stream of bytes, or packets."""

import select
import socket
import struct
from abc import abstractmethod

from harness.clock import Clock
from harness.errors import Deadline, LinkClosed, Oversized
from harness.links.framing import Framing
from harness.links.link import SocketLink, wait
from harness.trace import Direction, Entry, EntryKind, Trace

CHUNK = 1 << 16
"""Bytes of one read: what a socket's buffer has at once as a rule, so that fewer reads are not to be had."""

# Not `fin`: who has ended its own direction may still read.
_OVER = ("closed", "reset", "oversized")


class ConnectedLink(SocketLink):
    """A connection; frames that came before its end are delivered before LinkClosed is raised.

    ``opened`` says who dialled: the tester (SENT) or the implementation (RECEIVED).
    """

    def __init__(
        self,
        connection: socket.socket,
        framing: Framing,
        clock: Clock,
        label: str,
        trace: Trace | None,
        opened: Direction,
        peername: str,
        ports: tuple[int, int],
    ) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._framing = framing
        self._reader = framing.reader()
        super().__init__(label, clock, trace, peername, ports, opened)

    def send(self, frame: bytes) -> Entry:
        self._push(self._framing.encode(frame))
        return self._record(EntryKind.FRAME, Direction.SENT, frame)

    def send_raw(self, data: bytes) -> Entry:
        self._push(data)
        return self._record(EntryKind.RAW, Direction.SENT, data)

    def close(self) -> None:
        """End the link with a FIN; what has arrived by then is still recorded."""
        # Also because the kernel answers unread bytes with a reset instead of a FIN.
        if self._socket.fileno() >= 0:
            self._drain()
        self._end("closed")
        self._shut()
        # Also where the other side ended it first: who uses a link that he closed is told that.
        self._how = "closed"

    @property
    def can_reset(self) -> bool:
        return True

    def abort(self) -> None:
        """End the link with a reset."""
        if self._socket.fileno() >= 0:
            reset_on_close(self._socket)
        self.close()

    @abstractmethod
    def _take(self) -> bytes | None:
        """Return what has come, None at the end; BlockingIOError when nothing has, another OSError on a reset."""

    @abstractmethod
    def _put(self, data: memoryview) -> int:
        """Return how much was taken of some data; BlockingIOError when nothing can be, another OSError on a reset."""

    def _shut(self) -> None:
        self._socket.close()

    def _handle(self) -> socket.socket:
        return self._socket

    def _fill(self) -> bool:
        try:
            data = self._take()
            frames = [] if data is None else self._reader.feed(data)
        except BlockingIOError:
            return False
        except OSError:
            self._finish("reset")
            return True
        except Oversized as error:
            self._deliver(error.frames)
            self._finish("oversized")
            # At once: behind it no frame can be found, and to go on taking bytes would only fill the memory.
            self._shut()
            return True
        self._deliver(frames)
        if data is None:
            self._finish("fin")
        return True

    def _deliver(self, frames: list[bytes]) -> None:
        for frame in frames:
            self._arrived(frame)

    def _finish(self, how: str) -> None:
        # A piece of a frame is evidence of how the other side left, so it is recorded, once.
        if self._how is None and (rest := self._reader.rest):
            self._record(EntryKind.RAW, Direction.RECEIVED, rest)
        self._end(how)

    def _push(self, data: bytes) -> None:
        if self._how in _OVER:
            raise LinkClosed(self._how)
        rest = memoryview(data)
        give_up = self.clock.now() + self.sending
        while True:
            try:
                rest = rest[self._put(rest) :]
                # Anew with every byte that is taken: slow is not deaf.
                give_up = self.clock.now() + self.sending
            except BlockingIOError:
                self._make_room_for(rest, data, give_up)
            except OSError as error:
                # The frames that came before the end are still there to be read, and so is the way it ended.
                self._drain()
                self._finish("reset")
                raise LinkClosed(self._how or "reset") from error
            else:
                if not rest:
                    return

    def _make_room_for(self, rest: memoryview, data: bytes, give_up: float) -> None:
        try:
            self._make_room(give_up)
        except Deadline:
            # Half of something is on its way, and nobody can know what is read of that, and of all behind it.
            if taken := len(data) - len(rest):
                self._record(EntryKind.RAW, Direction.SENT, data[:taken])
            raise

    def _make_room(self, give_up: float) -> None:
        """Wait until more bytes are taken; read meanwhile, or two sides that only write block each other."""
        events = select.POLLOUT | (select.POLLIN if self._how is None else 0)
        left = give_up - self.clock.now()
        if left <= 0 or not wait(self._socket, events, left):
            raise Deadline(f"{self.peername} took no bytes for {self.sending:g} s")
        if self._how is None:
            self._fill()
        if self._how in _OVER:
            raise LinkClosed(self._how)


def reset_on_close(connection: socket.socket) -> None:
    """Have the end of a TCP connection be a reset."""
    # struct linger: on, for 0 seconds. close(2) then sends a reset, and what waited to be sent is lost (socket(7)).
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
