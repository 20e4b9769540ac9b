"""Links over TCP."""

import select
import socket

from harness.addresses import Address
from harness.clock import Clock
from harness.errors import Deadline, LinkClosed
from harness.framing import Framing
from harness.link import SEND_PATIENCE, SocketLink, wait
from harness.trace import Direction, Happening, Trace

_CHUNK = 1 << 16


class TcpLink(SocketLink):
    """A TCP connection; frames that came before its end are delivered before LinkClosed is raised.

    ``opened`` says who dialled: the tester (SENT) or the implementation (RECEIVED).
    """

    def __init__(
        self,
        connection: socket.socket,
        framing: Framing,
        clock: Clock,
        label: str = "a",
        trace: Trace | None = None,
        opened: Direction = Direction.SENT,
    ) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        self._framing = framing
        self._buffer = bytearray()
        remote = connection.getpeername()
        peername = str(Address("tcp", remote[0], remote[1]))
        super().__init__(label, clock, trace, peername, (connection.getsockname()[1], remote[1]), opened)

    def send(self, frame: bytes) -> None:
        self._push(self._framing.encode(frame))
        self._record(Happening.FRAME, Direction.SENT, frame)

    def send_raw(self, data: bytes) -> None:
        self._push(data)
        self._record(Happening.RAW, Direction.SENT, data)

    def close(self) -> None:
        """End the link with a FIN; what has arrived by then is still recorded."""
        # Also because the kernel answers unread bytes with a reset instead of a FIN.
        if self._socket.fileno() >= 0:
            self._drain()
        self._end("closed")
        self._socket.close()
        self._how = "closed"

    def abort(self) -> None:
        """End the link with a reset."""
        if self._socket.fileno() >= 0:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.close()

    def _handle(self) -> socket.socket:
        return self._socket

    def _fill(self) -> bool:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            self._finish("reset")
            return True
        if not data:
            self._finish("fin")
            return True
        self._buffer += data
        for frame in self._framing.split(self._buffer):
            self._arrived(frame)
        return True

    def _finish(self, how: str) -> None:
        if self._buffer:
            self._record(Happening.RAW, Direction.RECEIVED, bytes(self._buffer))
            self._buffer.clear()
        self._end(how)

    def _push(self, data: bytes) -> None:
        if self._how in ("closed", "reset"):
            raise LinkClosed(self._how)
        rest = memoryview(data)
        give_up = self.clock.now() + SEND_PATIENCE
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
                give_up = self.clock.now() + SEND_PATIENCE
            except BlockingIOError:
                self._make_room(give_up)
            except OSError as error:
                # The frames that came before the end are still there to be read, and so is the way it ended.
                self._drain()
                self._finish("reset")
                raise LinkClosed(self._how or "reset") from error

    def _make_room(self, give_up: float) -> None:
        """Wait until more bytes are taken; read meanwhile, or two sides that only write block each other."""
        events = select.POLLOUT | (select.POLLIN if self._how is None else 0)
        left = give_up - self.clock.now()
        if left <= 0 or not wait(self._socket, events, left):
            raise Deadline(f"{self.peername} took no bytes for {SEND_PATIENCE:g} s")
        if self._how is None:
            self._fill()
