"""Borders: where frames begin in a stream of which a part is missing, or that may be of another protocol."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from harness.errors import Oversized
from harness.framing import Framing, Reader
from harness.trace import Direction, Entry, Happening, Trace
from reports.recordings import LINK
from reports.streams import Piece

MOST_FILLED = 1 << 18
"""Bytes of a gap that may lie within one frame."""


class Dated(NamedTuple):
    """A frame with the packet that completed it."""

    frame: bytes
    number: int
    time: int


class Border:
    """Looks for the first frame that can be one; ``frames`` and ``reader`` are there once ``is_found``.

    The ``broken`` reader, with which the stream was read up to a gap, may know where the frame ends in which the gap
    lies. Otherwise a frame may begin wherever a piece does; unless it ``moves``, only where the first one does.
    """

    def __init__(
        self,
        framing: Framing,
        is_plausible: Callable[[bytes], bool],
        *,
        moves: bool = True,
        broken: Reader | None = None,
        gap: int = 0,
    ) -> None:
        self.frames: list[Dated] = []
        self.left: list[Piece] = []
        """What came behind the frames and was not given to the reader."""
        self.is_found = False
        self.has_failed = False
        self.is_oversized = False
        self.passed_over = 0
        """Bytes that cannot be read, as far as that is known."""
        self.reader: Reader = framing.reader()
        self._framing = framing
        self._is_plausible = is_plausible
        self._moves = moves
        self.size = 0
        """Bytes that are kept until something is found."""
        self._pieces: deque[Piece] = deque()
        self._fed = 0
        self._skipped = 0
        if broken is not None and broken.rest and gap <= MOST_FILLED and _fills(broken, gap):
            self.reader, self._skipped = broken, 1

    def offer(self, piece: Piece) -> None:
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
            self.frames += [Dated(frame, piece.number, piece.time) for frame in frames]
            if len(self.frames) > self._skipped:
                first = self.frames[self._skipped].frame
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
        return not reader.feed(bytes(gap))
    except Oversized:
        return False


def _size(framing: Framing, frame: bytes) -> int:
    try:
        return len(framing.encode(frame))
    except ValueError:
        return len(frame)


def plausible(harness: Any, protocol: str) -> Callable[[bytes], bool]:
    """Return what tells whether a frame is one of a protocol: the tester would have kept to the document with it."""

    def is_plausible(frame: bytes) -> bool:
        trace = Trace(protocol)
        trace.add(Entry(0.0, LINK, Happening.FRAME, Direction.SENT, frame))
        return all(conversation.is_clean for conversation in harness.conversations(trace).values())

    return is_plausible
