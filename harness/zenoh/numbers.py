"""Sequence numbers of a recorded session: what they show to be missing, repeated or out of order.

Each direction numbers what is reliable and what is not apart, and each priority where frames have one. OPEN says with
which number both begin. Over TCP nothing can be missing without the stream showing it; over UDP only this does.
"""

from collections import OrderedDict

from harness.captures.losses import Irregularity, Missing
from harness.trace import Direction
from harness.zenoh.batches import read
from harness.zenoh.peers.transport import MASKS
from wire.zenoh.grammar_extensions import FRAME_QOS
from wire.zenoh.values_transport import Fragment, Frame, Init, Open, Sizes, TransportMessage

REMEMBERED = 512
"""Frames that are known again when they come twice: many more than a capture has one too late."""

Lane = tuple[Direction, bool, object]
"""Whose frames, whether reliable, and of which priority."""

HANDSHAKE = ((Init, False), (Init, True), (Open, True), (Open, False))
"""The messages with which a session begins, and whether they have a cookie."""


class SequenceNumbers:
    """Reads the numbers of one session's batches."""

    def __init__(self) -> None:
        self._step = 0
        self._limit: int | None = None
        """Where in the trace the first irregularity may lie."""
        self._mask = MASKS[-1]
        self._opened: dict[Direction, tuple[int, int]] = {}
        """The first number of each side, and where it said so."""
        self._due: dict[Lane, tuple[int, int]] = {}
        """The number that is due, and where that before it stands."""
        self._latest = {Direction.SENT: 0, Direction.RECEIVED: 0}
        """How many entries there were with the latest numbered one of each side."""
        self._seen: OrderedDict[tuple[Lane, int], bytes] = OrderedDict()

    @property
    def proven(self) -> int:
        """How many entries stand before the first irregularity, and before the last number of either side."""
        # What was asked in a datagram that is lost is told by the number of the next: an answer proves nothing before.
        shown = min(self._latest.values())
        return shown if self._limit is None else min(self._limit, shown)

    def take(self, direction: Direction, frame: bytes, place: int, time: float) -> Irregularity | None:
        """Take the next batch; return what its numbers show."""
        found = [self._message(direction, message, frame, place) for message in read(frame).messages]
        return next((each for each in found if each is not None), None)

    def _message(
        self, direction: Direction, message: TransportMessage, frame: bytes, place: int
    ) -> Irregularity | None:
        if isinstance(message, Init | Open):
            return self._shake(direction, message, place)
        if not isinstance(message, Frame | Fragment):
            return None
        is_late = self._step < len(HANDSHAKE) and self._limit is None
        found = self._number(direction, message, frame, place)
        return self._begun_late() if is_late else found

    def _begun_late(self) -> Irregularity:
        self._limit = 0
        return Irregularity(Missing.BEGINNING)

    def _shake(self, direction: Direction, message: Init | Open, place: int) -> Irregularity | None:
        step = HANDSHAKE.index((type(message), message.cookie is not None))
        if isinstance(message, Open):
            self._opened.setdefault(direction, (message.initial_sn, place + 1))
            self._latest[direction] = max(self._latest[direction], place + 1)
        else:
            self._mask = min(self._mask, MASKS[(message.sizes or Sizes()).frame_sn])
        # One that comes again, as its answer did not come in time, is nothing; one too early is.
        if step > self._step and self._limit is None:
            return self._begun_late()
        self._step = max(self._step, step + 1)
        return None

    def _number(self, direction: Direction, message: Frame | Fragment, frame: bytes, place: int) -> Irregularity | None:
        priority = next((each.value for each in message.extensions if each.is_(FRAME_QOS)), None)
        lane = direction, message.reliable, priority
        due, since = self._due.get(lane) or self._opened.get(direction) or (message.sn, place)
        behind = (message.sn - due) & self._mask
        kind = None
        if behind <= self._mask // 2:
            self._due[lane] = (message.sn + 1) & self._mask, place + 1
            self._seen[lane, message.sn] = frame
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
            if behind:
                kind = Missing.DATAGRAM
        elif self._seen.get((lane, message.sn)) == frame:
            return Irregularity(Missing.REPEATED)
        else:
            # A receiver passes over what comes behind later ones, whatever the order was in which it got them.
            kind, behind = Missing.DISORDER, 1
        self._latest[direction] = place + 1
        if kind is None:
            return None
        self._limit = since if self._limit is None else min(self._limit, since)
        return Irregularity(kind, behind)
