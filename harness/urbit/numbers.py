"""What the datagrams of a recorded session show to be missing: heartbeats by their numbers, the rest by its answers.

Only heartbeats are numbered: that one was not sent before is proven by the number of the next. But a publisher says
nothing that no packet of the subscriber has asked for, and there is no heartbeat without a promise: what stands there
unasked shows that something before it was not captured, or came from another address. A publisher that says such things
is so not accused of them by a recording, as nobody could tell.
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

UNASKED, REPEATED = Irregularity(Missing.DATAGRAM), Irregularity(Missing.REPEATED)


class _Session:
    """A session: the number of its last heartbeat, and where that stands, or its first promise.

    ``early`` is where something stands that answers a later heartbeat: is it one that was not captured, or is it none?
    The number of the next one tells.
    """

    __slots__ = ("early", "last", "since")

    def __init__(self, last: int, since: int) -> None:
        self.last = last
        self.since = since
        self.early: int | None = None


class HeartbeatNumbers:
    """Reads the datagrams of one session: either side may ask, and either may answer."""

    def __init__(self) -> None:
        self._count = 0
        """How many entries there are."""
        self._limit: int | None = None
        self._asked: set[tuple[Direction, bytes]] = set()
        """By whom which path was asked for."""
        self._sessions: dict[tuple[Direction, int], _Session] = {}
        """By subscriber and id."""

    @property
    def proven(self) -> int:
        """How many entries stand before the first irregularity, and before what the next heartbeat has to explain."""
        early = [each.early for each in self._sessions.values() if each.early is not None]
        return min([self._count, *early, *([] if self._limit is None else [self._limit])])

    def take(self, direction: Direction, frame: bytes, place: int) -> Irregularity | None:
        """Take the next datagram; return what it shows."""
        found = self._shown(direction, frame, place)
        self._count = place + (found is not REPEATED)
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
            case Promise(path=path, session=id):
                self._sessions.setdefault((asker, id), _Session(0, place))
                return self._answer((asker, path) in self._asked, place)
            # The other fragments of a path may be sent with the one that was asked for (reading A29).
            case ScryResponse(path=path):
                return self._answer((asker, path) in self._asked, place)
            case HeartbeatRequest(session=id, number=number):
                return self._heartbeat((direction, id), number, place)
            case HeartbeatResponse(session=id, number=number):
                session = self._sessions.get((asker, id))
                if session is not None and number > session.last and session.early is None:
                    session.early = place
                return self._answer(session is not None, place)
        return None

    def _answer(self, is_asked: bool, place: int) -> Irregularity | None:
        return None if is_asked else self._irregular(UNASKED, place)

    def _heartbeat(self, key: tuple[Direction, int], number: int, place: int) -> Irregularity | None:
        session = self._sessions.get(key)
        if session is None:
            self._sessions[key] = _Session(number, place)
            return self._irregular(Irregularity(Missing.BEGINNING), place)
        if number == session.last:
            return REPEATED
        if number < session.last:
            return self._irregular(Irregularity(Missing.DISORDER), place)
        skipped, since = number - session.last - 1, session.since
        session.last, session.since, session.early = number, place, None
        # Those that are missing may have stood anywhere behind the one before.
        return self._irregular(Irregularity(Missing.DATAGRAM, skipped), since + 1) if skipped else None

    def _irregular(self, found: Irregularity, place: int) -> Irregularity:
        self._limit = place if self._limit is None else min(self._limit, place)
        return found
