"""Links over AF_UNIX SOCK_SEQPACKET sockets in the abstract namespace: a packet is a frame.

asyncio has no transport for such sockets, so that of the reference peers stands here as well.
"""

import asyncio
import errno
import socket
from collections import deque

from harness.addresses import Address
from harness.clock import Clock
from harness.connection import ConnectedLink
from harness.errors import LinkError, Oversized
from harness.framing import LARGEST, Framing
from harness.trace import Direction, Trace

_ROOM = 1 << 20
# Credentials come with every packet, and not with the end: it is all that tells an empty packet from the end.
_CREDENTIALS = socket.CMSG_SPACE(12)
_AT_ONCE = 32


def prepare(connection: socket.socket) -> None:
    """Make a connected socket ready for packets of ``framing.LARGEST`` bytes, and for empty ones."""
    connection.setblocking(False)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _ROOM)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)


def take(connection: socket.socket) -> bytes | None:
    """Return the next packet, None at the end; Oversized when it is too long, OSError as ``recv`` does."""
    data, credentials, flags, _ = connection.recvmsg(LARGEST, _CREDENTIALS)
    if flags & socket.MSG_TRUNC:
        raise Oversized(f"a packet has more than {LARGEST} bytes, which are the most", [])
    return data if data or credentials else None


class UxLink(ConnectedLink):
    """A connection that carries packets; LinkError when one is too long for the kernel."""

    def __init__(
        self,
        connection: socket.socket,
        framing: Framing,
        clock: Clock,
        label: str = "a",
        trace: Trace | None = None,
        opened: Direction = Direction.SENT,
    ) -> None:
        prepare(connection)
        name = connection.getpeername() if opened is Direction.SENT else connection.getsockname()
        peername = str(Address("ux", name.decode(errors="replace").lstrip("\0")))
        super().__init__(connection, framing, clock, label, trace, opened, peername, (0, 0))

    def _take(self) -> bytes | None:
        return take(self._socket)

    def _put(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                raise LinkError(f"{len(data)} bytes are too many for one packet") from error
            raise


class PacketTransport(asyncio.Transport):
    """What asyncio lacks: a transport whose writes, and what it hands to its protocol, are packets."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: socket.socket, protocol: asyncio.Protocol) -> None:
        prepare(connection)
        super().__init__({"socket": connection, "peername": connection.getpeername()})
        self._loop = loop
        self._socket = connection
        self._protocol = protocol
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._limits = (1 << 14, 1 << 16)
        self._is_full = False
        self._is_reading = False
        self._is_closing = False
        self._is_finishing = False
        self._is_gone = False
        protocol.connection_made(self)
        self.resume_reading()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send one packet, as soon as there is room for it."""
        if self._is_closing or self._is_finishing:
            return
        packet = bytes(data)
        if not self._waiting and self._sent(packet):
            return
        if self._is_closing:
            return
        if not self._waiting:
            self._loop.add_writer(self._socket, self._on_room)
        self._waiting.append(packet)
        self._size += len(packet)
        if self._size > self._limits[1] and not self._is_full:
            self._is_full = True
            self._protocol.pause_writing()

    def _sent(self, packet: bytes) -> bool:
        try:
            self._socket.send(packet)
        except BlockingIOError:
            return False
        except OSError as error:
            self._end(error)
            return False
        return True

    def _on_room(self) -> None:
        while self._waiting and self._sent(self._waiting[0]):
            self._size -= len(self._waiting.popleft())
        if self._is_gone:
            return
        if self._is_full and self._size <= self._limits[0]:
            self._is_full = False
            self._protocol.resume_writing()
        if not self._waiting:
            self._loop.remove_writer(self._socket)
            if self._is_closing:
                self._end(None)
            elif self._is_finishing:
                self._finish()

    def _on_packets(self) -> None:
        for _ in range(_AT_ONCE):
            if not self._is_reading or self._is_closing:
                return
            try:
                packet = take(self._socket)
            except BlockingIOError:
                return
            except (OSError, Oversized) as error:
                self._end(error)
                return
            if packet is None:
                self.pause_reading()
                if not self._protocol.eof_received():
                    self.close()
                return
            self._protocol.data_received(packet)

    def is_closing(self) -> bool:
        """Tell whether it is closed, or about to be."""
        return self._is_closing

    def is_reading(self) -> bool:
        """Tell whether packets are handed on."""
        return self._is_reading

    def pause_reading(self) -> None:
        """Hand on no more packets for a while."""
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._socket)

    def resume_reading(self) -> None:
        """Hand on packets again."""
        if not self._is_reading and not self._is_closing:
            self._is_reading = True
            self._loop.add_reader(self._socket, self._on_packets)

    def can_write_eof(self) -> bool:
        """Tell that one direction can be ended alone."""
        return True

    def write_eof(self) -> None:
        """End this direction once everything is sent."""
        self._is_finishing = True
        if not self._waiting and not self._is_gone:
            self._finish()

    def _finish(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            self._end(error)

    def close(self) -> None:
        """End it once everything is sent."""
        if self._is_closing:
            return
        self.pause_reading()
        self._is_closing = True
        if not self._waiting:
            self._end(None)

    def abort(self) -> None:
        """End it at once."""
        self._end(None)

    def get_write_buffer_size(self) -> int:
        """Return how many bytes wait to be sent."""
        return self._size

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the bytes beyond which the protocol is paused, and from which on it is resumed."""
        high = 1 << 16 if high is None else high
        self._limits = (high // 4 if low is None else low, high)

    def _end(self, error: Exception | None) -> None:
        if self._is_gone:
            return
        self._is_gone = self._is_closing = True
        self._is_reading = False
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._waiting.clear()
        self._size = 0
        # Not at once: who closes it may be in the middle of something.
        self._loop.call_soon(self._leave, error)

    def _leave(self, error: Exception | None) -> None:
        try:
            self._protocol.connection_lost(error)
        finally:
            self._socket.close()
