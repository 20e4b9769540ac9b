"""What a link is, and what all links share: the queue of frames, how they ended, their entries in the trace.

A link is used by one thread. Deadlines are absolute times on the link's clock, in seconds.
"""

import math
import select
import socket
from abc import ABC, abstractmethod
from collections import deque
from typing import Protocol

import msgspec

from harness.clock import Clock
from harness.errors import Deadline, LinkClosed
from harness.timing import SEND
from harness.trace import Direction, Entry, EntryKind, Trace

# Reads of what has arrived when a link ends: enough for any answer, and an end to one who never stops sending.
_DRAINED_READS = 64


class Labels(msgspec.Struct):
    """Hands out labels of links: ``a``, ``b`` …, ``z``, ``aa`` …"""

    count: int = 0

    def next(self) -> str:
        """Return the next label."""
        self.count += 1
        # Bijective base 26, as the columns of a table are named: no digit is zero, hence the minus one.
        label, rest = "", self.count
        while rest:
            rest, letter = divmod(rest - 1, 26)
            label = chr(97 + letter) + label
        return label


class Link(Protocol):
    """A connection to one implementation; ``ports`` are the tester's and the implementation's.

    What is sent and received comes back as the trace's entry, so that nobody has to look for it there. A link that
    writes no trace gives entries too, of index -1.
    """

    label: str
    clock: Clock
    peername: str
    ports: tuple[int, int]
    sending: float
    """Seconds in which the other side must take some bytes: who takes none for so long does not read."""

    def send(self, frame: bytes) -> Entry:
        """Send one frame; LinkClosed when it cannot be sent, Deadline when nothing is taken for ``sending`` seconds."""
        ...

    def send_raw(self, data: bytes) -> Entry:
        """Send bytes as they are, without framing; raises as ``send`` does."""
        ...

    def receive(self, deadline: float) -> Entry:
        """Return the next frame, with the time when it came in.

        Deadline when none came in time, LinkClosed when none will come.
        """
        ...

    def close(self) -> None:
        """End the link; once is enough, twice does no harm."""
        ...

    @property
    def can_reset(self) -> bool:
        """Whether ``abort`` ends it in another way than ``close`` does."""
        ...

    def abort(self) -> None:
        """End the link with a reset, where there is such a thing; else as ``close`` does."""
        ...


class RecordedLink(ABC):
    """What all links share: the queue of frames, the way the link ended, the entries in the trace."""

    def __init__(
        self,
        label: str,
        clock: Clock,
        trace: Trace | None,
        peername: str,
        ports: tuple[int, int],
        opened: Direction = Direction.SENT,
    ) -> None:
        self.label = label
        self.clock = clock
        self.peername = peername
        self.ports = ports
        # Until whoever made the link says how far away the other side is.
        self.sending = SEND
        self._trace = trace
        self._frames: deque[Entry] = deque()
        self._how: str | None = None
        if trace is not None:
            trace.ports[label] = ports
        self._record(EntryKind.OPENED, opened, note=peername)

    @property
    def can_reset(self) -> bool:
        return False

    @abstractmethod
    def close(self) -> None: ...

    def abort(self) -> None:
        self.close()

    def _arrived(self, frame: bytes) -> None:
        self._frames.append(self._record(EntryKind.FRAME, Direction.RECEIVED, frame))

    def _end(self, how: str) -> None:
        if self._how is None:
            self._how = how
            by = Direction.SENT if how == "closed" else Direction.RECEIVED
            self._record(EntryKind.CLOSED, by, note=how)

    def _record(self, what: EntryKind, direction: Direction, data: bytes = b"", note: str = "") -> Entry:
        if self._trace is not None:
            return self._trace.record(self.label, what, direction, data, note)
        return Entry(self.clock.now(), self.label, what, direction, data, note)


class SocketLink(RecordedLink):
    """A link that waits on a socket."""

    def receive(self, deadline: float) -> Entry:
        while not self._frames:
            # Only now: frames that came before the end are delivered before it is told.
            if self._how is not None:
                raise LinkClosed(self._how)
            if self._fill():
                continue
            left = deadline - self.clock.now()
            if left <= 0 or not wait(self._handle(), select.POLLIN, left):
                raise Deadline(f"nothing arrived on link {self.label} ({self.peername}) in time")
        if self._how == "closed":
            raise LinkClosed("closed")
        return self._frames.popleft()

    @abstractmethod
    def _handle(self) -> socket.socket:
        """Return the socket to wait on."""

    @abstractmethod
    def _fill(self) -> bool:
        """Take in what has arrived, without waiting; False when there was nothing."""

    def _drain(self) -> None:
        # Bounded, so that an implementation that never stops sending cannot hold us here.
        for _ in range(_DRAINED_READS):
            if self._how is not None or not self._fill():
                break


def wait(connection: socket.socket | None, events: int, seconds: float) -> bool:
    """Wait until something happens on a socket, if there is one; False when nothing did within ``seconds``."""
    # Not select(2), which fails for the descriptors from 1024 on.
    poll = select.poll()
    if connection is not None:
        poll.register(connection, events)
    # Rounded up: poll takes whole milliseconds, and 0 would make a busy loop of the last one.
    return bool(poll.poll(math.ceil(max(seconds, 0.0) * 1000)))
