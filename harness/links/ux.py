"""AF_UNIX SOCK_SEQPACKET sockets in the abstract namespace, where a packet is a frame: both ends, for both sides.

asyncio has no transport for such sockets, so that of the reference peers stands here as well.
"""

import asyncio
import errno
import re
import secrets
import socket
import struct
from collections import deque
from collections.abc import Sequence

from harness.clock import Clock
from harness.errors import BadDescription, LinkError, Oversized
from harness.links.acceptor import Acceptor, listening_sockets
from harness.links.addresses import Address, FreePorts, SocketAddress
from harness.links.asyncio_links import LinkOwner, StreamLink
from harness.links.connected import ConnectedLink
from harness.links.framing import LARGEST, Framing
from harness.links.listener import ConnectionListener, Listener
from harness.links.transport import Certificate, Closable, Transport
from harness.trace import Direction, Trace

# The kernel's default (208 KiB) is less than the longest packet (`LARGEST`). It cuts this down to its own bound
# (wmem_max), and doubles that.
_ROOM = 1 << 20
# Credentials come with every packet, and not with the end: it is all that tells an empty packet from the end.
_CREDENTIALS = socket.CMSG_SPACE(12)  #  struct ucred: pid, uid, gid
# Packets that are taken in one turn, so that one link does not keep the others waiting.
_AT_ONCE = 32
# Commas stand between addresses, colons before roles; the kernel takes names of up to 107 bytes.
_NAME = re.compile(r"[^\0\s,:]+")
_LONGEST_NAME = 107


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
        # asyncio's own defaults: writing stops above 64 KiB, and goes on below a quarter of that.
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
        # Sending may have failed, and have ended it.
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
                # As asyncio's transports do: a protocol that returns nothing wants the link closed.
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


class Ux(Transport):
    """Packets between processes of this machine; addresses are names in the abstract namespace."""

    kind = socket.SOCK_SEQPACKET
    has_ports = False
    has_packets = True

    # --- addresses ----------------------------------------------------------------------------------------

    def parse(self, text: str, rest: str) -> Address:
        if not _NAME.fullmatch(rest):
            raise BadDescription(
                f"{text!r} is not an address: expected {self.name}/NAME, a name without spaces, commas and colons"
            )
        if len(rest.encode()) > _LONGEST_NAME:
            raise BadDescription(f"the name in {text!r} is longer than {_LONGEST_NAME} bytes")
        return Address(self.name, rest)

    def free_address(self, ports: FreePorts) -> Address:
        return Address(self.name, f"goldwire-{secrets.token_hex(8)}")

    def socket_addresses(self, address: Address) -> list[SocketAddress]:
        return [(socket.AF_UNIX, f"\0{address.host}")]

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
    ) -> UxLink:
        [(family, where)] = self.socket_addresses(address)
        connection = socket.socket(family, self.kind)
        try:
            # Not settimeout: whoever may not be blocked is turned away where too many wait already to be accepted.
            # The time-out of connect(2) on AF_UNIX is that of sending.
            until = struct.pack("ll", *divmod(round(timeout * 1_000_000), 1_000_000))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, until)
            # Before connect(2), which then gives this end a name: else its first packet does, and who accepts the
            # connection before that does not learn where it comes from.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            connection.connect(where)
            return UxLink(connection, framing, clock, label, trace, Direction.SENT)
        except OSError:
            connection.close()
            raise

    def listen(self, address: Address, framing: Framing, clock: Clock) -> Listener:
        def link(connection: socket.socket, label: str, trace: Trace | None) -> UxLink:
            return UxLink(connection, framing, clock, label, trace, Direction.RECEIVED)

        return ConnectionListener(address, self.socket_addresses(address)[0], self.kind, clock, link)

    # --- our own peers' ends ------------------------------------------------------------------------------

    async def serve(
        self, address: Address, framing: Framing, owner: LinkOwner, certificate: Certificate
    ) -> Sequence[Closable]:
        loop = asyncio.get_running_loop()

        async def handle_connection(connection: socket.socket) -> None:
            PacketTransport(loop, connection, StreamLink(owner, self.peername, framing, has_packets=True))

        return [
            Acceptor(each, handle_connection) for each in listening_sockets(self.socket_addresses(address), self.kind)
        ]

    async def connect(self, address: Address, framing: Framing, owner: LinkOwner, server: int | None) -> None:
        [(family, where)] = self.socket_addresses(address)
        connection = socket.socket(family, self.kind)
        connection.setblocking(False)
        try:
            connection.connect(where)  # at once, or not at all
        except BaseException:
            connection.close()
            raise
        link = StreamLink(owner, self.peername, framing, has_packets=True, dialled=True, server=server)
        PacketTransport(asyncio.get_running_loop(), connection, link)
