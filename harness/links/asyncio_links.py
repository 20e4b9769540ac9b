"""Links on an asyncio loop: a peer of ours that is served in a process has one for each connection."""

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, cast

from harness.errors import Oversized
from harness.links.framing import Framing

# So that one who asks and never reads costs some memory, and not all of it.
WRITE_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for a link that does not read; beyond it the link is cut."""

# Back-pressure: what waits is bounded by what one reading can cause, and TCP tells the other side to wait.
HIGH_WATER = 4 * 1024 * 1024
"""Bytes that wait to be sent over a link at which the peer stops reading from it."""

# Else one who neither reads nor leaves would keep a link, and its buffers, for ever.
LINGER = 2.0
"""Seconds that the other side of a link that the peer has ended has to read the rest and to close."""

# TLS has no half-closed state in asyncio. To close while bytes still come makes the kernel send a reset, which
# destroys what was sent last; so it is closed when nothing comes any more, well within LINGER.
QUIET = 0.05
"""Seconds without a byte after which a link that cannot be ended in one direction alone (TLS) is closed."""


class AsyncLink(Protocol):
    """A peer's end of one link."""

    @property
    def is_full(self) -> bool:
        """Whether enough frames were put that they should be flushed before more are."""
        ...

    def put(self, frame: bytes | None) -> None:
        """Queue a frame to be sent; ``None`` ends the link after the frames before."""
        ...

    def flush(self) -> None:
        """Send the queued frames."""
        ...

    def abort(self) -> None:
        """End the link at once."""
        ...


class LinkOwner(Protocol):
    """What runs a peer (``harness.peers.peer_server``), as the peer's links see it."""

    def link_opened(self, link: AsyncLink, address: str, *, dialled: bool = False, server: int | None = None) -> int:
        """Give a new link a number and report it to the peer with the other side's address."""
        ...

    def received(self, number: int, frames: deque[bytes]) -> None:
        """Give the peer frames of one link and remove them; the rest may have to wait for the next call."""
        ...

    def link_closed(self, number: int) -> None:
        """Report to the peer that a link has ended."""
        ...


class StreamLink(asyncio.Protocol):
    """A connection: TCP, TLS, or packets; ``format_address`` formats the other side's socket address."""

    def __init__(
        self,
        owner: LinkOwner,
        format_address: Callable[[Any], str],
        framing: Framing,
        *,
        has_packets: bool = False,
        dialled: bool = False,
        server: int | None = None,
    ) -> None:
        self._owner = owner
        self._has_packets = has_packets
        self._format_address = format_address
        self._framing = framing
        self._reader = framing.reader()
        self._dialled = dialled
        self._server = server
        self._number = 0
        self._waiting_frames: deque[bytes] = deque()
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
        # The same mark as in `is_full`, so that both kinds of back-pressure begin together.
        self._transport.set_write_buffer_limits(HIGH_WATER)
        connection = transport.get_extra_info("socket")
        # A peer writes whole answers: Nagle's algorithm would hold back a short one until the one before is
        # acknowledged.
        if connection.family != socket.AF_UNIX:
            with contextlib.suppress(OSError):  # it may have left already
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address = self._format_address(transport.get_extra_info("peername"))
        self._number = self._owner.link_opened(self, address, dialled=self._dialled, server=self._server)

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            # What comes now is for nobody; but the other side is not quiet yet.
            self._close_when_quiet()
            return
        try:
            # Behind those that wait: frames of one link may not overtake each other.
            self._waiting_frames += self._reader.feed(data)
        except Oversized as error:
            self._waiting_frames += error.frames
            self._is_lost = True
        if not self._is_waiting:
            self._deliver()

    def _deliver(self) -> None:
        """Give the peer the received frames: now, or once other links have had their turn and the answers are sent."""
        self._is_waiting = False
        if self._waiting_frames and not self._is_over:
            self._owner.received(self._number, self._waiting_frames)
        if self._is_over:
            self._waiting_frames.clear()
        elif self._waiting_frames:
            # The owner took no more than this link's share. Nothing is read until it has had the rest.
            self._transport.pause_reading()
            self._deliver_later()
        elif self._is_lost:
            self._owner.link_closed(self._number)
            self._hang_up()
        elif self._has_left:
            self._on_end()
        elif not self._is_held:
            self._transport.resume_reading()

    def _deliver_later(self) -> None:
        if not self._is_held and not self._is_waiting:
            # Through the loop, so that what other links have comes in between.
            self._is_waiting = True
            asyncio.get_running_loop().call_soon(self._deliver)

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
            self._deliver_later()

    @property
    def is_full(self) -> bool:
        return self._size > HIGH_WATER

    def eof_received(self) -> None:
        # At once, so that who comes again right after is not taken for somebody else; what was said is still sent.
        self._on_end()

    def connection_lost(self, error: Exception | None) -> None:
        for timer in (self._linger, self._quiet):
            if timer is not None:
                timer.cancel()
        self._is_held = False
        if error is not None:
            # Unlike an end, a reset says that nobody waits for answers any more.
            self._waiting_frames.clear()
        self._on_end()

    def _on_end(self) -> None:
        """Note that nothing more comes; frames that came before the end are still delivered."""
        self._has_left = True
        if self._waiting_frames and not self._is_over:
            self._deliver_later()
            return
        # First: what the peer puts in answer to the end has nobody to go to.
        self._is_over = True
        self._owner.link_closed(self._number)

    def put(self, frame: bytes | None) -> None:
        if frame is None:
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
        if self._has_packets:
            for packet in framed:
                self._transport.write(packet)
        else:
            # Not by writelines: in 3.12 that forgets to say when too much waits (CVE-2024-12254).
            self._transport.write(framed[0] if len(framed) == 1 else b"".join(framed))
        if self._transport.get_write_buffer_size() > WRITE_LIMIT:
            self._transport.abort()

    def _hang_up(self) -> None:
        """End this direction and go on reading: to close at once would discard what was sent last."""
        self._is_over = True
        # A peer may end a link that is ending already.
        if self._linger is not None or self._transport.is_closing():
            return
        # While reading is paused, it would not be seen that the other side leaves.
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
