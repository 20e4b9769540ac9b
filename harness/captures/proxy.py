"""The recording proxy: relays connections between clients and a server, and writes them to a capture."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterable

from harness.captures.segmentation import TcpConnection, packed_end
from harness.captures.writer import PcapngWriter
from harness.errors import Unreachable
from harness.links.acceptor import listening_sockets
from harness.links.addresses import Address
from harness.links.connected import reset_on_close
from harness.links.transports import TRANSPORTS

CHUNK = 1 << 16
"""Bytes that are read at once, and that may wait in this process: who is slow is felt by the other side."""

DIAL_TIMEOUT = 5.0
"""Seconds after which a server that does not accept a connection counts as unreachable."""

DIALLER, LISTENER = 0, 1
"""The sides of a connection."""


class RecordedConnection:
    """A TCP connection that is written to a capture while it lasts; its handshake at once. Raises OSError as files do.

    Both ends are an IP address and a port.
    """

    def __init__(self, capture: PcapngWriter, dialler: tuple[str, int], listener: tuple[str, int]) -> None:
        self._capture = capture
        # The proxy may be dialled over IPv4 and dial over IPv6; a packet has addresses of one kind.
        six = any(":" in host for host, _ in (dialler, listener))
        self._packets = TcpConnection(packed_end(*dialler, six=six), packed_end(*listener, six=six))
        self._is_finished = [False, False]
        self._write(self._packets.handshake())

    def data(self, side: int, data: bytes) -> None:
        """Write bytes that a side has sent."""
        self._write(self._packets.data(side, data))

    def finish(self, side: int) -> None:
        """Write that a side has ended its direction (FIN); twice does no harm."""
        if not self._is_finished[side]:
            self._is_finished[side] = True
            # The acknowledgement of the FIN as well: without it readers take the connection for one that is cut off.
            self._write((self._packets.finish(side), self._packets.acknowledge(1 - side)))

    def reset(self, side: int) -> None:
        """Write that a side has reset the connection, unless it is over."""
        if not all(self._is_finished):
            self._is_finished = [True, True]
            self._write((self._packets.reset(side),))

    def _write(self, packets: Iterable[bytes]) -> None:
        for packet in packets:
            self._capture.write(packet, time.time_ns())


class Proxy:
    """Relays connections to ``target`` and writes them to a ``capture``.

    When that cannot be written any more, ``trouble`` says why, and ``on_trouble`` is called, once.
    """

    def __init__(self, target: Address, capture: PcapngWriter) -> None:
        self.target = target
        self.capture = capture
        self.connections = 0
        self.trouble: OSError | None = None
        self.on_trouble: Callable[[], None] = lambda: None
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, where: Address) -> None:
        """Listen at an address; ``Unreachable`` when it is taken."""
        try:
            # By our own listening sockets: asyncio's would take one address of a host name and leave the others.
            for each in listening_sockets(TRANSPORTS[where.transport].socket_addresses(where), socket.SOCK_STREAM):
                self._servers.append(await asyncio.start_server(self._serve, sock=each, limit=CHUNK))
        except OSError as error:
            raise Unreachable(f"cannot listen on {where}: {error.strerror or error}") from error

    async def stop(self) -> None:
        """Cut all connections and stop listening."""
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._pass_on(reader, writer)
        except asyncio.CancelledError:
            pass  # by ``stop``: nobody waits for more, and asyncio would report it as an accident
        except OSError as error:
            # Not the network: what goes wrong there ends a connection, and is written down.
            if self.trouble is None:
                self.trouble = error
                self.on_trouble()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialler = writer.get_extra_info("peername")
        connected = await self._dial()
        if connected is None:
            # Those who dial are told as the server would: their connection is refused, as far as TCP still allows it.
            RecordedConnection(self.capture, dialler[:2], self._target_end()).reset(LISTENER)
            _cut(writer)
            return
        their_reader, their_writer = connected
        try:
            # They speak for themselves: nothing is held back to be sent with more.
            for each in (writer, their_writer):
                with contextlib.suppress(OSError):  # it may have left already
                    each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A server that has reset the connection by now has no peer's name any more; its reset is read below.
            listener = their_writer.get_extra_info("peername") or self._target_end()
            taken = RecordedConnection(self.capture, dialler[:2], listener[:2])
            self.connections += 1
            ways = [(DIALLER, reader, their_writer), (LISTENER, their_reader, writer)]
            tasks = [asyncio.ensure_future(self._one_way(taken, *way)) for way in ways]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        except _Cut as cut:
            taken.reset(cut.side)
            _cut(writer)
            _cut(their_writer)
        finally:
            their_writer.close()

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        try:
            async with asyncio.timeout(DIAL_TIMEOUT):
                return await asyncio.open_connection(self.target.host, self.target.port, limit=CHUNK)
        except (OSError, TimeoutError):
            return None

    def _target_end(self) -> tuple[str, int]:
        """The IP address and port that the target most likely has, for packets where no connection tells them."""
        try:
            found = TRANSPORTS[self.target.transport].socket_addresses(self.target)
        except OSError:  # a name that nobody resolves
            found = []
        return str(found[0][1][0]) if found else "0.0.0.0", self.target.port

    async def _one_way(
        self, taken: RecordedConnection, side: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Relay the bytes of one side until it ends its direction."""
        while True:
            try:
                data = await reader.read(CHUNK)
            except OSError as error:
                raise _Cut(side) from error
            if not data:
                break
            # Written before it is passed on: no answer may stand before what it answers.
            taken.data(side, data)
            try:
                writer.write(data)
                await writer.drain()
            except OSError as error:
                raise _Cut(1 - side) from error
        taken.finish(side)
        with contextlib.suppress(OSError):
            writer.write_eof()
            await writer.drain()


def _cut(writer: asyncio.StreamWriter) -> None:
    """End a connection with a reset."""
    with contextlib.suppress(OSError):
        reset_on_close(writer.get_extra_info("socket"))
    writer.transport.abort()


class _Cut(Exception):
    """A side has reset the connection."""

    def __init__(self, side: int) -> None:
        super().__init__(side)
        self.side = side
