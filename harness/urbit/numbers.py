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
    Ship,
    read,
)

AT_ONCE = 1.0
"""Seconds within which a heartbeat that is there twice was captured twice, or doubled on its way; behind them whoever
counts has not counted on."""

UNASKED, REPEATED = Irregularity(Missing.DATAGRAM), Irregularity(Missing.REPEATED)


class _Session:
    """A session: the number of its last heartbeat, and where that stands, or its first promise.

    ``early`` is where something stands that answers a later heartbeat: is it one that was not captured, or is it none?
    The number of the next one tells. ``doubled`` is the number of the last heartbeat that was there twice at once,
    ``answered`` what the answer was to each.
    """

    __slots__ = ("answered", "doubled", "early", "last", "since", "time")

    def __init__(self, last: int, since: int, time: float) -> None:
        self.last = last
        self.since = since
        self.time = time
        self.doubled = 0
        self.early: int | None = None
        self.answered: dict[int, bytes] = {}


class HeartbeatNumbers:
    """Reads the datagrams of one session: either side may ask, and either may answer."""

    def __init__(self) -> None:
        self._count = 0
        """How many entries there are."""
        self._limit: int | None = None
        self._asked: set[tuple[Direction, Ship, Ship, bytes, int]] = set()
        """Which ship has asked which one for which fragment of a path; 0 stands for any."""
        self._sessions: dict[tuple[Direction, int], _Session] = {}
        """By subscriber and id."""

    @property
    def proven(self) -> int:
        """How many entries stand before the first irregularity, and before what the next heartbeat has to explain."""
        early = [each.early for each in self._sessions.values() if each.early is not None]
        return min([self._count, *early, *([] if self._limit is None else [self._limit])])

    def take(self, direction: Direction, frame: bytes, place: int, time: float) -> Irregularity | None:
        """Take the next datagram; return what it shows."""
        found = self._shown(direction, frame, place, time)
        self._count = place + (found is not REPEATED)
        return found

    def _shown(self, direction: Direction, frame: bytes, place: int, time: float) -> Irregularity | None:
        try:
            packet = read(frame)
        except DecodeError:
            return None
        if packet.checksum is not None:  # nobody takes it
            return None
        asker = OTHER[direction]
        match packet.body:
            case ScryRequest(path=path, fragment=fragment):
                route = direction, packet.sender, packet.receiver
                self._asked |= {(*route, path, fragment), (*route, path, 0)}
            case Promise(path=path, fragment=fragment, session=id):
                self._sessions.setdefault((asker, id), _Session(0, place, time))
                return self._answer((asker, packet.receiver, packet.sender, path, fragment), place)
            # The other fragments of a path may be sent with the one that was asked for (reading A29).
            case ScryResponse(path=path):
                return self._answer((asker, packet.receiver, packet.sender, path, 0), place)
            case HeartbeatRequest(session=id, number=number):
                return self._heartbeat((direction, id), number, place, time)
            case HeartbeatResponse(session=id, number=number):
                return self._heartbeat_answer(self._sessions.get((asker, id)), number, frame, place)
        return None

    def _answer(self, question: tuple[Direction, Ship, Ship, bytes, int], place: int) -> Irregularity | None:
        return None if question in self._asked else self._irregular(UNASKED, place)

    def _heartbeat_answer(self, session: _Session | None, number: int, frame: bytes, place: int) -> Irregularity | None:
        if session is None:
            return self._irregular(UNASKED, place)
        if session.answered.get(number) == frame:
            if number == session.doubled:
                return REPEATED
            # Captured twice, or said twice: the one is nobody's fault, so nobody is accused of the other.
            self._lose(place)
        session.answered[number] = frame
        if number > session.last and session.early is None:
            session.early = place
        return None

    def _heartbeat(self, key: tuple[Direction, int], number: int, place: int, time: float) -> Irregularity | None:
        session = self._sessions.get(key)
        if session is None:
            self._sessions[key] = _Session(number, place, time)
            return self._irregular(Irregularity(Missing.BEGINNING), place)
        if number == session.last:
            session.doubled = number if time <= session.time + AT_ONCE else 0
            return REPEATED if session.doubled else None
        if number < session.last:
            return self._irregular(Irregularity(Missing.DISORDER), place)
        skipped, since = number - session.last - 1, session.since
        session.last, session.since, session.time, session.early = number, place, time, None
        # Those that are missing may have stood anywhere behind the one before.
        return self._irregular(Irregularity(Missing.DATAGRAM, skipped), since + 1) if skipped else None

    def _irregular(self, found: Irregularity, place: int) -> Irregularity:
        self._lose(place)
        return found

    def _lose(self, place: int) -> None:
        self._limit = place if self._limit is None else min(self._limit, place)
