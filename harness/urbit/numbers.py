"""What the datagrams of a recorded session show to be missing: heartbeats by their numbers, the rest by its answers.

Only heartbeats are numbered. But a publisher says nothing that no packet of the subscriber has asked for, and there is
no heartbeat without a promise: what stands there unasked shows that something before it was not captured, or came from
another address. A publisher that says such things is so not accused of them by a recording, as nobody could tell.
"""

from harness.captures.losses import Irregularity, Missing
from harness.captures.recorded_session import OTHER
from harness.trace import Direction
from wire.errors import DecodeError
from wire.urbit.values import (
    HeartbeatRequest,
    HeartbeatResponse,
    Promise,
    ScryRequest,
    ScryResponse,
    read,
)

UNASKED = Irregularity(Missing.DATAGRAM)


class _Numbers:
    """The heartbeats of one session: the numbers of the first and the last, and where the last stands."""

    __slots__ = ("first", "last", "since")

    def __init__(self, number: int, place: int) -> None:
        self.first = self.last = number
        self.since = place


class HeartbeatNumbers:
    """Reads the datagrams of one session: either side may ask, and either may answer."""

    def __init__(self) -> None:
        self.proven = 0
        self._limit: int | None = None
        self._asked: set[tuple[Direction, bytes]] = set()
        """By whom which path was asked for."""
        self._promised: set[tuple[Direction, int]] = set()
        """To whom something was promised, in which session."""
        self._heartbeats: dict[tuple[Direction, int], _Numbers] = {}

    def take(self, direction: Direction, frame: bytes, place: int) -> Irregularity | None:
        """Take the next datagram; return what it shows."""
        found = self._shown(direction, frame, place)
        if self._limit is None:
            self.proven = place + (found is None or found.kind is not Missing.REPEATED)
        else:
            self.proven = self._limit
        return found

    def _shown(self, direction: Direction, frame: bytes, place: int) -> Irregularity | None:
        try:
            packet = read(frame)
        except DecodeError:
            return None
        if packet.checksum is not None:  # nobody takes it
            return None
        asker = OTHER[direction]
        match packet.body:
            case ScryRequest(path=path):
                self._asked.add((direction, path))
            case Promise(path=path, session=session):
                self._promised.add((asker, session))
                return self._answer((asker, path) in self._asked, place)
            # The other fragments of a path may be sent with the one that was asked for (reading A29).
            case ScryResponse(path=path):
                return self._answer((asker, path) in self._asked, place)
            case HeartbeatRequest(session=session, number=number):
                return self._heartbeat((direction, session), number, place)
            case HeartbeatResponse(session=session, number=number):
                sent = self._heartbeats.get((asker, session))
                return self._answer(sent is not None and sent.first <= number <= sent.last, place)
        return None

    def _answer(self, is_asked: bool, place: int) -> Irregularity | None:
        if is_asked:
            return None
        self._lose(place)
        return UNASKED

    def _heartbeat(self, session: tuple[Direction, int], number: int, place: int) -> Irregularity | None:
        before = self._heartbeats.get(session)
        if before is None:
            self._heartbeats[session] = _Numbers(number, place)
            if session not in self._promised:
                self._lose(place)
                return Irregularity(Missing.BEGINNING)
            if number > 1:
                self._lose(place)
                return Irregularity(Missing.DATAGRAM, number - 1)
            return None
        if number == before.last:
            return Irregularity(Missing.REPEATED)
        if number < before.last:
            self._lose(place)
            return Irregularity(Missing.DISORDER)
        skipped, since = number - before.last - 1, before.since
        before.last, before.since = number, place
        if not skipped:
            return None
        # Those that are missing may have stood anywhere behind the one before.
        self._lose(since + 1)
        return Irregularity(Missing.DATAGRAM, skipped)

    def _lose(self, place: int) -> None:
        self._limit = place if self._limit is None else min(self._limit, place)
