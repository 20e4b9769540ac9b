"""Serving: a node over real sockets, on one asyncio loop."""

import asyncio
import socket
from collections.abc import Callable, Iterable
from functools import partial
from typing import cast

from harness.addresses import Address, parse_address
from harness.errors import HarnessError, Unreachable
from harness.framing import Framing
from harness.nodes import HANG_UP, Node

WRITE_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for a link that does not read; beyond it the link is cut."""

Datagrams = tuple[asyncio.DatagramTransport, tuple[str, int]]


class Server:
    """Runs one node: listens, dials, keeps its timers, hangs up. ``scale`` makes its time run faster than ours."""

    def __init__(self, node: Node, framing: Framing, *, scale: float = 1.0) -> None:
        self.node = node
        self.framing = framing
        self.scale = scale
        self.addresses: list[str] = []
        self.death: BaseException | None = None
        self.on_death: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        self._streams: dict[int, asyncio.Transport] = {}
        self._datagrams: dict[int, Datagrams] = {}
        self._senders: dict[tuple[str, int], int] = {}
        self._servers: list[asyncio.Server | asyncio.DatagramTransport] = []
        self._timer: asyncio.TimerHandle | None = None
        self._count = 0

    def now(self) -> float:
        """Return the node's time in seconds."""
        return self._loop.time() * self.scale

    async def listen(self, addresses: Iterable[str]) -> None:
        """Listen on addresses; ``Unreachable`` names the one that is taken."""
        for text in addresses:
            where = parse_address(text)
            try:
                port = await self._listen(where)
            except OSError as error:
                raise Unreachable(f"cannot listen on {text}: {error.strerror or error}") from error
            self.addresses.append(str(Address(where.transport, where.host, port)))

    async def _listen(self, where: Address) -> int:
        if where.transport == "tcp":
            server = await self._loop.create_server(lambda: _Stream(self, dialled=False), where.host, where.port)
            self._servers.append(server)
            port: int = server.sockets[0].getsockname()[1]
            return port
        transport, _ = await self._loop.create_datagram_endpoint(
            lambda: _Datagrams(self), local_addr=(where.host, where.port)
        )
        self._servers.append(transport)
        bound: int = transport.get_extra_info("sockname")[1]
        return bound

    async def dial(self, address: str) -> None:
        """Connect the node to an address; ``Unreachable`` when nobody is there."""
        where = parse_address(address)
        try:
            await self._loop.create_connection(lambda: _Stream(self, dialled=True), where.host, where.port)
        except OSError as error:
            raise Unreachable(f"{address}: {error.strerror or error}") from error

    def command(self, verb: str, arguments: list[str]) -> str:
        """Tell the node to act; raises what the node raises."""
        try:
            return self.node.command(verb, arguments, self.now())
        finally:
            self.flush()

    def stop(self) -> None:
        """Close every link and stop listening."""
        for server in self._servers:
            server.close()
        for stream in list(self._streams.values()):
            stream.abort()
        if self._timer is not None:
            self._timer.cancel()

    def arrived(self, transport: asyncio.Transport, *, dialled: bool) -> int:
        """Give a new stream a number and tell the node."""
        self._count += 1
        self._streams[self._count] = transport
        number = self._count
        self.act(lambda: self.node.connected(number, self.now(), dialled=dialled))
        return number

    def left(self, number: int) -> None:
        """Tell the node that a stream is gone."""
        if self._streams.pop(number, None) is not None:
            self.act(lambda: self.node.disconnected(number, self.now()))

    def datagram(self, transport: asyncio.DatagramTransport, data: bytes, sender: tuple[str, int]) -> None:
        """Give a datagram to the node, on the link of its sender."""
        number = self._senders.get(sender)
        if number is None:
            self._count += 1
            number = self._senders[sender] = self._count
            self._datagrams[number] = (transport, sender)
            self.node.connected(number, self.now())
        self.act(lambda: self.node.received(number, data, self.now()))

    def act(self, deed: Callable[[], None]) -> None:
        """Let the node do something, then send what it puts out; a node that raises has died."""
        if self.death is not None:
            return
        try:
            deed()
            self.flush()
        except HarnessError:
            raise
        except Exception as error:  # whatever the reason, the node is dead and its links with it
            self.death = error
            self.stop()
            self.on_death()

    def flush(self) -> None:
        """Send what the node puts out, and set its timer."""
        for number, frame in self.node.drain(self.now()):
            if number in self._datagrams:
                self._send_datagram(number, frame)
            elif (stream := self._streams.get(number)) is not None:
                self._send(number, stream, frame)
        if self._timer is not None:
            self._timer.cancel()
        at = self.node.next_tick()
        self._timer = None if at is None else self._loop.call_at(at / self.scale, self._tick)

    def _tick(self) -> None:
        self.act(lambda: self.node.tick(self.now()))

    def _send(self, number: int, stream: asyncio.Transport, frame: bytes | None) -> None:
        if frame is HANG_UP:
            self._streams.pop(number, None)
            stream.close()
        elif stream.get_write_buffer_size() > WRITE_LIMIT:
            stream.abort()
        else:
            stream.write(self.framing.encode(frame))

    def _send_datagram(self, number: int, frame: bytes | None) -> None:
        transport, sender = self._datagrams[number]
        if frame is HANG_UP:
            del self._datagrams[number], self._senders[sender]
        else:
            transport.sendto(frame, sender)


class _Stream(asyncio.Protocol):
    """One TCP link of a server."""

    def __init__(self, server: Server, *, dialled: bool) -> None:
        self.server = server
        self.dialled = dialled
        self.buffer = bytearray()
        self.number = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = self.server.arrived(transport, dialled=self.dialled)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        for frame in self.server.framing.split(self.buffer):
            self.server.act(partial(self.server.node.received, self.number, frame, self.server.now()))

    def connection_lost(self, error: Exception | None) -> None:
        self.server.left(self.number)


class _Datagrams(asyncio.DatagramProtocol):
    """One UDP endpoint of a server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)  # the selector loop's own class is no subclass

    def datagram_received(self, data: bytes, sender: tuple[str, int]) -> None:
        assert self.transport is not None
        self.server.datagram(self.transport, data, sender)
