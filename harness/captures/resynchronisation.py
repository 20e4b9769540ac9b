"""Resynchronisation: where frames begin in a stream of which a part is missing, or that may be of another protocol."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from harness.captures.reassembly import StreamBytes
from harness.captures.recorded_session import LINK
from harness.errors import Oversized
from harness.links.framing import Framing, Reader
from harness.protocol import WireProtocol
from harness.trace import Direction, Entry, EntryKind, Trace

MAX_GAP_FILLED = 1 << 18
"""Bytes of a gap that may lie within one frame. A longer gap is hardly within one, and costs as much memory to try."""


class TimedFrame(NamedTuple):
    """A frame with the packet that completed it."""

    frame: bytes
    number: int
    time: int


class Resynchroniser:
    """Looks for the first plausible frame; sets ``frames`` and ``reader`` when it ``is_found``.

    The ``broken`` reader, with which the stream was read up to a gap, may know where the frame ends in which the gap
    lies: it is tried first. Otherwise a frame may begin wherever a segment does, as senders begin a segment with a
    frame more often than not; unless it ``moves``, only where the first one does. A frame that is not telling proves
    nothing: the first that is has to be plausible.
    """

    def __init__(
        self,
        framing: Framing,
        is_plausible: Callable[[bytes], bool],
        *,
        is_telling: Callable[[bytes], bool] = lambda frame: True,
        moves: bool = True,
        broken: Reader | None = None,
        gap: int = 0,
    ) -> None:
        self.frames: list[TimedFrame] = []
        self.left: list[StreamBytes] = []
        """What came behind the frames and was not given to the reader."""
        self.is_found = False
        self.has_failed = False
        self.is_oversized = False
        self.passed_over = 0
        """Bytes that cannot be read, as far as that is known."""
        self.reader: Reader = framing.reader()
        self._framing = framing
        self._is_plausible = is_plausible
        self._is_telling = is_telling
        self._moves = moves
        self.size = 0
        """Bytes that are kept until something is found."""
        self._pieces: deque[StreamBytes] = deque()
        self._fed = 0
        self._skipped = 0
        if broken is not None and broken.rest and gap <= MAX_GAP_FILLED and _fills(broken, gap):
            # The frame in which the gap lies is read only to find its end, and then left out.
            self.reader, self._skipped = broken, 1

    def offer(self, piece: StreamBytes) -> None:
        """Take the next piece."""
        if piece.gap:
            self._forget()
        self._pieces.append(piece)
        self.size += len(piece.data)
        self._look()

    def finish(self) -> None:
        """Take what there is for all there will be."""
        while self._pieces and not (self.is_found or self.has_failed):
            self._move()
            self._look()

    def _forget(self) -> None:
        """Begin anew behind another gap."""
        self.passed_over += self.size
        self.size = 0
        self._pieces.clear()
        self._restart()

    def _restart(self) -> None:
        self.reader = self._framing.reader()
        self.frames, self._fed, self._skipped, self.is_oversized = [], 0, 0, False

    def _move(self) -> None:
        """Try the next place."""
        # With the broken reader nothing was lost yet: the same bytes are tried again, from their beginning.
        if not self._skipped:
            if not self._moves:
                self.has_failed = True
                return
            lost = len(self._pieces.popleft().data)
            self.passed_over += lost
            self.size -= lost
        self._restart()

    def _look(self) -> None:
        while self._fed < len(self._pieces) and not (self.is_found or self.has_failed):
            piece = self._pieces[self._fed]
            self._fed += 1
            try:
                frames = self.reader.feed(piece.data)
            except Oversized as error:
                frames = error.frames
                self.is_oversized = True
            known = max(len(self.frames), self._skipped)
            self.frames += [TimedFrame(frame, piece.number, piece.time) for frame in frames]
            first = next((each.frame for each in self.frames[known:] if self._is_telling(each.frame)), None)
            if first is not None:
                # Zeros read as lengths give empty frames anywhere, so an empty one proves nothing.
                if first and self._is_plausible(first):
                    self._settle()
                else:
                    self._move()
            elif self.is_oversized:
                self._move()

    def _settle(self) -> None:
        self.is_found = True
        del self.frames[: self._skipped]
        pieces = list(self._pieces)
        read = sum(len(piece.data) for piece in pieces[: self._fed]) - len(self.reader.rest)
        self.passed_over += max(read - sum(_size(self._framing, each.frame) for each in self.frames), 0)
        self.left = pieces[self._fed :]
        self._pieces.clear()


def _fills(reader: Reader, gap: int) -> bool:
    """Give a reader some bytes in place of those that are missing; False when a frame might end among them."""
    try:
        # The values do not matter: the frame that they fill is left out.
        return not reader.feed(bytes(gap))
    except Oversized:
        return False


def _size(framing: Framing, frame: bytes) -> int:
    try:
        return len(framing.encode(frame))
    except ValueError:
        return len(frame)


def plausible(definition: WireProtocol) -> Callable[[bytes], bool]:
    """Return a function that tells whether a frame can be one of a protocol: a tester that sends it keeps to it."""

    def is_plausible(frame: bytes) -> bool:
        # A conversation knows already what a tester may send: a second judgement of frames would be another opinion.
        trace = Trace(definition.name)
        trace.add(Entry(0.0, LINK, EntryKind.FRAME, Direction.SENT, frame))
        return all(conversation.is_clean for conversation in definition.conversations(trace).values())

    return is_plausible
