"""Ends: a server's end of each of its links."""

import asyncio
import contextlib
import socket
from collections import deque
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

QUIET = 0.05
"""Seconds without a byte after which a link that cannot be ended in one direction alone (TLS) is closed."""


class End(Protocol):
    """A server's end of one link."""

    @property
    def is_full(self) -> bool:
        """Whether so much was put that it should be flushed before there is more."""
        ...

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

    def received(self, number: int, frames: deque[bytes]) -> None:
        """Give the node frames of one link, and take those away; others may have to wait for the next time."""
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
        self._heard: deque[bytes] = deque()
        self._frames: list[bytes] = []
        self._size = 0
        self._is_held = False
        self._is_waiting = False
        self._is_lost = False
        self._has_left = False
        self._is_over = False
        self._linger: asyncio.TimerHandle | None = None
        self._quiet: asyncio.TimerHandle | None = None

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
            self._close_when_quiet()
            return
        try:
            self._heard += self._reader.feed(data)
        except Oversized as error:
            self._heard += error.frames
            self._is_lost = True
        if not self._is_waiting:
            self._hand_on()

    def _hand_on(self) -> None:
        """Give the node what was heard: now, or as soon as others have had their turn and the answers are taken."""
        self._is_waiting = False
        if self._heard and not self._is_over:
            self._runner.received(self._number, self._heard)
        if self._is_over:
            self._heard.clear()
        elif self._heard:
            self._transport.pause_reading()
            self._hand_on_later()
        elif self._is_lost:
            self._runner.left(self._number)
            self._hang_up()
        elif self._has_left:
            self._leave()
        elif not self._is_held:
            self._transport.resume_reading()

    def _hand_on_later(self) -> None:
        if not self._is_held and not self._is_waiting:
            self._is_waiting = True
            asyncio.get_running_loop().call_soon(self._hand_on)

    def pause_writing(self) -> None:
        # Who does not read the answers may not ask for more.
        self._is_held = True
        if not self._is_over:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_held = False
        if self._is_over:
            self._transport.resume_reading()
        else:
            self._hand_on_later()

    @property
    def is_full(self) -> bool:
        return self._size > HIGH_WATER

    def eof_received(self) -> None:
        # At once, so that who comes again right after is not taken for somebody else; what was said is still sent.
        self._leave()

    def connection_lost(self, error: Exception | None) -> None:
        for timer in (self._linger, self._quiet):
            if timer is not None:
                timer.cancel()
        self._is_held = False
        if error is not None:
            self._heard.clear()
        self._leave()

    def _leave(self) -> None:
        """Take note that nothing more comes; what the other side said before it left still counts."""
        self._has_left = True
        if self._heard and not self._is_over:
            self._hand_on_later()
            return
        self._is_over = True
        self._runner.left(self._number)

    def put(self, frame: bytes | None) -> None:
        if frame is HANG_UP:
            self._is_over = True
        elif not self._is_over:
            self._frames.append(frame)
            self._size += len(frame)

    def flush(self) -> None:
        frames, self._frames, self._size = self._frames, [], 0
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
        if not self._transport.can_write_eof():
            self._quiet = asyncio.get_running_loop().call_later(QUIET, self._transport.close)
            return
        if self._transport.get_write_buffer_size():
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:
            self._transport.abort()  # the other side has left

    def _close_when_quiet(self) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
            self._quiet = asyncio.get_running_loop().call_later(QUIET, self._transport.close)


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
        self._runner.received(end.number, deque([data]))

    def forget(self, sender: tuple[str, int]) -> None:
        """Take what comes from a sender next for a new link."""
        self._ends.pop(sender, None)


class _DatagramEnd:
    is_full = False

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
