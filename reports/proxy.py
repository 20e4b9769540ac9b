"""Proxy: stands between those who dial and a server, passes on what both say, and takes it down in a capture."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from struct import pack

from harness.accepting import listening
from harness.addresses import Address, places
from harness.errors import Unreachable
from reports.dumping import Connection, Dump

CHUNK = 1 << 16
DIAL_PATIENCE = 5.0
"""Seconds after which a server that does not answer is taken for not being there."""


class Proxy:
    """Passes connections on to ``target``; ``on_trouble`` is told, once, why nothing more is taken down."""

    def __init__(self, target: Address, dump: Dump) -> None:
        self.target = target
        self.dump = dump
        self.connections = 0
        self.trouble: OSError | None = None
        self.on_trouble: Callable[[], None] = lambda: None
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, where: Address) -> None:
        """Listen at an address; ``Unreachable`` when it is taken."""
        try:
            for each in listening(where):
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
            pass  # by ``stop``: nobody waits for more, and asyncio would tell of it as of an accident
        except OSError as error:
            # Not the network: what goes wrong there ends a connection, and is taken down.
            if self.trouble is None:
                self.trouble = error
                self.on_trouble()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialler = writer.get_extra_info("peername")
        connected = await self._dial()
        where = self.target.host, self.target.port
        if connected is None:
            with contextlib.suppress(OSError, IndexError):
                where = places(self.target)[0][1][:2]  # type: ignore[assignment]
            Connection(self.dump, dialler[:2], where).reset(1)
            _cut(writer)
            return
        their_reader, their_writer = connected
        try:
            # They speak for themselves: nothing is held back to be sent with more.
            for each in (writer, their_writer):
                with contextlib.suppress(OSError):  # it may have left already
                    each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            taken = Connection(self.dump, dialler[:2], their_writer.get_extra_info("peername")[:2])
            self.connections += 1
            ways = [(0, reader, their_writer), (1, their_reader, writer)]
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
            async with asyncio.timeout(DIAL_PATIENCE):
                return await asyncio.open_connection(self.target.host, self.target.port, limit=CHUNK)
        except (OSError, TimeoutError):
            return None

    async def _one_way(
        self, taken: Connection, side: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Pass on what one side says, until it says no more."""
        while True:
            try:
                data = await reader.read(CHUNK)
            except OSError as error:
                raise _Cut(side) from error
            if not data:
                break
            taken.data(side, data)
            try:
                writer.write(data)
                await writer.drain()
            except OSError as error:
                raise _Cut(1 - side) from error
        taken.end(side)
        with contextlib.suppress(OSError):
            writer.write_eof()
            await writer.drain()


def _cut(writer: asyncio.StreamWriter) -> None:
    """End a connection with a reset."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
    writer.transport.abort()


class _Cut(Exception):
    """A side has cut the connection."""

    def __init__(self, side: int) -> None:
        super().__init__(side)
        self.side = side
