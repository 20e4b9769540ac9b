"""What a publisher keeps of its subscribers: a session for each, and what it has promised in it."""

from collections.abc import Callable
from typing import TypeAlias

from wire.urbit.values import Ship

Datum: TypeAlias = tuple[bytes, int]
"""What is asked for: a path and the number of a fragment, counted from 1."""


class PromisedDatum:
    """What a subscriber was promised; ``gap`` is the seconds to the next repetition, 0 while there is no value."""

    __slots__ = ("datum", "gap", "session")

    def __init__(self, session: "Session", datum: Datum) -> None:
        self.session = session
        self.datum = datum
        self.gap = 0.0


class Session:
    """A live session: who is told at which address, and until when.

    ``number`` is the highest of the heartbeats that have come, ``expires`` the last moment of its lease.
    """

    __slots__ = ("expires", "id", "interests", "is_dead", "link", "number", "ship", "ticks")

    def __init__(self, id: int, ship: Ship, ticks: tuple[int, int], link: int, expires: float) -> None:
        self.id = id
        self.ship = ship
        self.ticks = ticks
        """The ticks that its packets to the subscriber have: the publisher's, and the subscriber's."""
        self.link = link
        self.expires = expires
        self.number = 0
        self.interests: dict[Datum, PromisedDatum] = {}
        self.is_dead = False


class Sessions:
    """The sessions of a publisher, by subscriber and by id, and who waits for what.

    Whatever comes finds what it is about at once, however many there are. ``left`` is told of each link at which no
    subscriber is any more.
    """

    def __init__(self, left: Callable[[int], None]) -> None:
        self._left = left
        self.of_ship: dict[Ship, Session] = {}
        self.of_id: dict[int, Session] = {}
        self.waiting: dict[bytes, dict[PromisedDatum, None]] = {}
        """Of each path that has no value yet those to whom it was promised."""
        self._links: dict[int, int] = {}
        """How many sessions have their subscriber at a link."""

    def open(self, session: Session) -> None:
        """Add a session."""
        self.of_ship[session.ship] = self.of_id[session.id] = session
        self._links[session.link] = self._links.get(session.link, 0) + 1

    def kill(self, session: Session) -> None:
        """Forget a session, and all that was promised in it."""
        session.is_dead = True
        del self.of_ship[session.ship], self.of_id[session.id]
        for interest in [*session.interests.values()]:
            self.release(interest)
        self._leave(session.link)

    def move(self, session: Session, link: int) -> None:
        """Take note that a subscriber is at another link."""
        if link != session.link:
            self._leave(session.link)
            session.link = link
            self._links[link] = self._links.get(link, 0) + 1

    def is_known(self, link: int) -> bool:
        """Tell whether some session's subscriber is at a link."""
        return link in self._links

    def promise(self, session: Session, datum: Datum) -> PromisedDatum:
        """Take note of a promise; of one that was made before nothing changes."""
        known = session.interests.get(datum)
        if known is None:
            known = session.interests[datum] = PromisedDatum(session, datum)
            self.waiting.setdefault(datum[0], {})[known] = None
        return known

    def release(self, interest: PromisedDatum) -> None:
        """Forget a promise, kept or not."""
        interest.session.interests.pop(interest.datum, None)
        waiting = self.waiting.get(interest.datum[0])
        if waiting is not None:
            waiting.pop(interest, None)
            if not waiting:
                del self.waiting[interest.datum[0]]

    def _leave(self, link: int) -> None:
        left = self._links[link] - 1
        if left:
            self._links[link] = left
        else:
            del self._links[link]
            self._left(link)
