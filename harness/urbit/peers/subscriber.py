"""The reference subscriber: it asks for what its application wants, and keeps a session while it is promised it.

It speaks to one publisher, whom it dials. Whatever gets lost is asked for again: requests until there is a promise or
the value, and after a nack all of them.
"""

from harness.errors import ControlFailed, Unsupported
from harness.peers.timers import Timers
from harness.urbit.peers.ship import ShipPeer
from harness.urbit.peers.times import FIRST_GAP, HEARTBEAT, longer
from harness.urbit.ships import PUBLISHER, SUBSCRIBER
from wire.urbit.signatures import cancellation_input, promise_input, request_input, response_input
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    path_is_valid,
)

FRAGMENT = 1
"""What is asked for of a path: its first fragment."""

RETIRED = 64
"""Ids of dead sessions that are remembered, so that a promise that comes late does not bring one back."""


class Want:
    """A path that the application wants; ``gap`` is the seconds to the next request, and ``due`` when that is.

    ``session`` is the id of the session in which it was promised, ``None`` while it is not: it is asked for until then.
    """

    __slots__ = ("due", "gap", "path", "session")

    def __init__(self, path: bytes) -> None:
        self.path = path
        self.session: int | None = None
        self.gap = 0.0
        self.due = 0.0


class Heartbeats:
    """The session that a subscriber keeps alive: its id, the number of its last heartbeat, and when the next is due.

    ``answered`` is the highest number that was answered.
    """

    __slots__ = ("answered", "due", "id", "number")

    def __init__(self, id: int) -> None:
        self.id = id
        self.number = 0
        self.answered = 0
        self.due = 0.0


class Subscriber(ShipPeer):
    """A subscriber; ``command`` takes the verbs of docs/control.md."""

    role = "subscriber"
    verbs = ("want", "drop")

    def __init__(self, *, profile: str = "document", me: Ship = SUBSCRIBER, publisher: Ship = PUBLISHER) -> None:
        super().__init__(me, profile=profile)
        self.publisher = publisher
        self.link: int | None = None
        """Where the publisher is."""
        self.wants: dict[bytes, Want] = {}
        self.session: Heartbeats | None = None
        self.retired: dict[int, None] = {}
        self.timers = Timers[Want | Heartbeats]()
        self.delivered = 0
        self._events: list[str] = []

    # --- what its application asks ------------------------------------------------------------------------

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        match verb, arguments:
            case "want", [path]:
                self.want(path.encode(), now)
            case "drop", [path]:
                self.drop(path.encode(), now)
            case _:
                raise Unsupported(f"{verb} {' '.join(arguments)}".strip())
        return ""

    def take_events(self) -> list[str]:
        events, self._events = self._events, []
        return events

    def want(self, path: bytes, now: float) -> None:
        """Ask for what is at a path, or will be."""
        if not path_is_valid(path):
            raise ControlFailed(f"no path: {path!r}")
        if path not in self.wants:
            self.wants[path] = want = Want(path)
            self.request(want, FIRST_GAP, now)

    def drop(self, path: bytes, now: float) -> None:
        """Cease to be interested in a path, and tell the publisher out of courtesy."""
        if path not in self.wants:
            raise ControlFailed(f"no such path: {path!r}")
        del self.wants[path]
        self.cancel(path, FRAGMENT)

    # --- what the publisher says --------------------------------------------------------------------------

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        super().connected(link, now, dialled=dialled, address=address)
        if dialled:
            self.link = link
            for want in self.wants.values():
                self.request(want, FIRST_GAP, now)

    def is_for_me(self, packet: Packet) -> bool:
        return super().is_for_me(packet) and packet.sender == self.publisher

    def take(self, packet: Packet, link: int, now: float) -> None:
        match packet.body:
            case Promise():
                self.on_promise(packet.body, now)
            case HeartbeatResponse():
                self.on_answer(packet.body, now)
            case ScryResponse():
                self.on_response(packet.body, now)
            case _:
                pass  # commands are another protocol's, and requests are for publishers

    def on_promise(self, promise: Promise, now: float) -> None:
        """Take a promise of something that is wanted; with a new id it begins another session."""
        want = self.wants.get(promise.path) if promise.fragment == FRAGMENT else None
        if want is None or promise.session in self.retired or not self.is_genuine(promise):
            return
        want.session = promise.session
        if self.session is None or self.session.id != promise.session:
            self.begin(promise.session, now)

    def is_genuine(self, promise: Promise) -> bool:
        """Tell whether a promise is the publisher's."""
        signed = promise_input(promise.session, promise.path, promise.fragment)
        return self.is_signed_by(self.publisher, promise.signature, signed)

    def begin(self, id: int, now: float) -> None:
        """Keep another session alive; what was promised in the one before is asked for again."""
        if self.session is not None:
            self.retire(self.session.id)
        self.session = Heartbeats(id)
        self.beat(self.session, now)
        for want in self.wants.values():
            if want.session is not None and want.session != id:
                self.request(want, FIRST_GAP, now)

    def retire(self, id: int) -> None:
        """Remember that a session is dead."""
        self.retired[id] = None
        if len(self.retired) > RETIRED:
            del self.retired[next(iter(self.retired))]

    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        """Take an answer to a heartbeat: that the session lives is nothing new, and a nack ends it."""
        session = self.session
        if session is None or answer.session != session.id or not self.is_news(session, answer):
            return
        session.answered = answer.number
        if not answer.live:
            self.die(session, now)

    def is_news(self, session: Heartbeats, answer: HeartbeatResponse) -> bool:
        """Tell whether an answer is to a heartbeat that was sent, and newer than the last: others may be replayed."""
        return session.answered < answer.number <= session.number

    def die(self, session: Heartbeats, now: float) -> None:
        """Take note that the session is dead, and ask again for all that is wanted."""
        self.session = None
        self.retire(session.id)
        for want in self.wants.values():
            self.request(want, FIRST_GAP, now)

    def on_response(self, response: ScryResponse, now: float) -> None:
        """Take a value, wanted or not, and say that it has come: the publisher repeats it until then."""
        if not self.is_of_publisher(response):
            return
        if response.fragment == FRAGMENT and self.wants.pop(response.path, None) is not None:
            self.deliver(response)
        self.cancel(response.path, response.fragment)

    def is_of_publisher(self, response: ScryResponse) -> bool:
        """Tell whether a value is the publisher's."""
        signed = response_input(response.path, response.fragment, response.data)
        return self.is_signed_by(self.publisher, response.signature, signed)

    def deliver(self, response: ScryResponse) -> None:
        """Hand a value to the application."""
        self.delivered += 1
        text = response.data.decode("ascii", "backslashreplace")
        self._events.append(f"got {response.path.decode('ascii')} {text}".rstrip())

    # --- what it says -------------------------------------------------------------------------------------

    def say(self, body: Body) -> None:
        """Send something to the publisher, once it is known where that is."""
        if self.link is not None:
            self.put(self.link, body, self.publisher)

    def request(self, want: Want, gap: float, now: float) -> None:
        """Ask for a path, and again after a gap unless it is promised or there."""
        want.session, want.gap, want.due = None, gap, now + gap
        self.say(ScryRequest(want.path, FRAGMENT, self.sign(request_input(want.path, FRAGMENT))))
        self.timers.set(want.due, want)

    def cancel(self, path: bytes, fragment: int) -> None:
        """Tell the publisher that nobody wants a path, or that it has come."""
        self.say(Cancellation(path, fragment, self.sign(cancellation_input(path, fragment))))

    def beat(self, session: Heartbeats, now: float) -> None:
        """Send the next heartbeat."""
        session.number += 1
        session.due = now + HEARTBEAT
        self.say(HeartbeatRequest(session.id, session.number))
        self.timers.set(session.due, session)

    # --- time ---------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        for at, due in self.timers.due(now):
            if at != due.due:
                continue  # it was set anew meanwhile
            if isinstance(due, Heartbeats):
                if due is self.session:
                    self.beat(due, now)
            elif self.wants.get(due.path) is due and due.session is None:
                self.request(due, self.longer(due.gap), now)

    def longer(self, gap: float) -> float:
        """Return the seconds between two requests that follow so many between the two before."""
        return longer(gap)

    def next_tick(self) -> float | None:
        return self.timers.next()

    def needs(self, link: int) -> bool:
        return link == self.link
