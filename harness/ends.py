"""Ends: a server's end of each of its links."""

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from typing import Any, Protocol, cast

from harness.addresses import Transport
from harness.errors import Oversized
from harness.framing import Framing
from harness.nodes import HANG_UP
from harness.packets import PacketTransport

WRITE_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for a link that does not read; beyond it the link is cut."""

HIGH_WATER = 4 * 1024 * 1024
"""Bytes that wait for a link from which on nothing more is read from it."""

LINGER = 2.0
"""Seconds in which the other side of a link that the node has ended may take the last and leave."""


class End(Protocol):
    """A server's end of one link."""

    def put(self, frame: bytes | None) -> None:
        """Take a frame to be sent, or ``HANG_UP``."""
        ...

    def flush(self) -> None:
        """Send what was put."""
        ...

    def abort(self) -> None:
        """End the link at once."""
        ...


class Runner(Protocol):
    """What runs the node (``harness.serving``), as its ends see it."""

    def arrived(self, link: End, address: str, *, dialled: bool = False, server: int | None = None) -> int:
        """Give a new link a number and tell the node, also the other side's address."""
        ...

    def received(self, number: int, frames: Sequence[bytes]) -> None:
        """Give the node frames of one link."""
        ...

    def left(self, number: int) -> None:
        """Tell the node that a link is gone."""
        ...


def _spelt(transport: Transport, peername: Any) -> str:
    """Spell the address of the other side; one that has none is called by its transport alone."""
    match peername:
        case (str(host), int(port), *_):
            return f"{transport}:[{host}]:{port}" if ":" in host else f"{transport}:{host}:{port}"
        case bytes(name):
            return f"{transport}:{name.decode(errors='replace').strip(chr(0))}"
        case _:
            return transport


class StreamEnd(asyncio.Protocol):
    """The end of a connection: TCP, TLS, or packets."""

    def __init__(
        self,
        runner: Runner,
        transport: Transport,
        framing: Framing,
        *,
        dialled: bool = False,
        server: int | None = None,
    ) -> None:
        self._runner = runner
        self._kind = transport
        self._framing = framing
        self._reader = framing.reader()
        self._dialled = dialled
        self._server = server
        self._number = 0
        self._frames: list[bytes] = []
        self._is_over = False
        self._linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # that of TLS is no subclass
        self._transport.set_write_buffer_limits(HIGH_WATER)
        connection = transport.get_extra_info("socket")
        if connection.family != socket.AF_UNIX:
            with contextlib.suppress(OSError):  # it may have left already
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address = _spelt(self._kind, transport.get_extra_info("peername"))
        self._number = self._runner.arrived(self, address, dialled=self._dialled, server=self._server)

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        try:
            frames = self._reader.feed(data)
        except Oversized as error:
            self._runner.received(self._number, error.frames)
            self._runner.left(self._number)
            self._hang_up()
            return
        if frames:
            self._runner.received(self._number, frames)

    def pause_writing(self) -> None:
        # Who does not read the answers may not ask for more.
        if not self._is_over:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._transport.resume_reading()

    def eof_received(self) -> None:
        # At once, so that who comes again right after is not taken for somebody else; what was said is still sent.
        self._is_over = True
        self._runner.left(self._number)

    def connection_lost(self, error: Exception | None) -> None:
        self._is_over = True
        if self._linger is not None:
            self._linger.cancel()
        self._runner.left(self._number)

    def put(self, frame: bytes | None) -> None:
        if frame is HANG_UP:
            self._is_over = True
        elif not self._is_over:
            self._frames.append(frame)

    def flush(self) -> None:
        frames, self._frames = self._frames, []
        if frames and not self._transport.is_closing():
            self._write(frames)
        if self._is_over:
            self._hang_up()

    def abort(self) -> None:
        self._is_over = True
        self._transport.abort()

    def _write(self, frames: list[bytes]) -> None:
        try:
            framed = [self._framing.encode(frame) for frame in frames]
        except ValueError:
            # It cannot be told, and to leave it out would be a lie.
            self._transport.abort()
            return
        if isinstance(self._transport, PacketTransport):
            for packet in framed:
                self._transport.write(packet)
        else:
            self._transport.write(framed[0] if len(framed) == 1 else b"".join(framed))
        if self._transport.get_write_buffer_size() > WRITE_LIMIT:
            self._transport.abort()

    def _hang_up(self) -> None:
        """End this direction, and take what still comes: to close at once would destroy what was sent last."""
        self._is_over = True
        if self._linger is not None or self._transport.is_closing():
            return
        self._transport.resume_reading()
        self._linger = asyncio.get_running_loop().call_later(LINGER, self._transport.abort)
        if self._transport.get_write_buffer_size() or not self._transport.can_write_eof():
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:
            self._transport.abort()  # the other side has left


class Datagrams(asyncio.DatagramProtocol):
    """An endpoint of UDP; whoever sends to it has a link of its own."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._ends: dict[tuple[str, int], _DatagramEnd] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)  # the selector loop's own class is no subclass

    def datagram_received(self, data: bytes, sender: tuple[str, int]) -> None:
        end = self._ends.get(sender)
        if end is None:
            end = self._ends[sender] = _DatagramEnd(self, sender)
            end.number = self._runner.arrived(end, _spelt("udp", sender))
        self._runner.received(end.number, [data])

    def forget(self, sender: tuple[str, int]) -> None:
        """Take what comes from a sender next for a new link."""
        self._ends.pop(sender, None)


class _DatagramEnd:
    def __init__(self, datagrams: Datagrams, sender: tuple[str, int]) -> None:
        self.number = 0
        self._datagrams = datagrams
        self._sender = sender
        self._frames: list[bytes] = []

    def put(self, frame: bytes | None) -> None:
        if frame is HANG_UP:
            self._datagrams.forget(self._sender)
        else:
            self._frames.append(frame)

    def flush(self) -> None:
        for frame in self._frames:
            self._datagrams.transport.sendto(frame, self._sender)
        self._frames.clear()

    def abort(self) -> None:
        self._datagrams.forget(self._sender)
