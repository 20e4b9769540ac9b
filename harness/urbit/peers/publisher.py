"""The reference publisher: it promises what does not exist yet, and tells who was promised once it does.

Its application grows values at paths. A session belongs to a subscriber, whichever address it speaks from, and lives as
long as its heartbeats come.
"""

import secrets
from collections.abc import Callable
from math import inf, nextafter
from typing import TypeAlias

from harness.errors import ControlFailed, Unsupported
from harness.peers.timers import Timers
from harness.urbit.peers.session import PromisedDatum, Session, Sessions
from harness.urbit.peers.ship import FRAGMENT, ShipPeer
from harness.urbit.peers.times import FIRST_GAP, LEASE, longer
from harness.urbit.ships import PUBLISHER
from wire.urbit.signatures import cancellation_input, promise_input, request_input, response_input
from wire.urbit.values import (
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

Due: TypeAlias = Session | PromisedDatum
"""What a timer is about: a session's lease, or the next repetition of a notification."""

SESSION_BITS = 64


class Publisher(ShipPeer):
    """A publisher; ``command`` takes the verbs of docs/control.md.

    ``draw`` makes the ids of sessions, numbers of 64 bits that nobody can guess.
    """

    role = "publisher"
    verbs = ("grow",)

    def __init__(
        self,
        *,
        profile: str = "document",
        me: Ship = PUBLISHER,
        draw: Callable[[], int] = lambda: secrets.randbits(SESSION_BITS),
    ) -> None:
        super().__init__(me, profile=profile)
        self.values: dict[bytes, bytes] = {}
        self.sessions = Sessions(self.left)
        self.timers = Timers[Due]()
        self._draw = draw

    # --- what its application asks ------------------------------------------------------------------------

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        match verb, arguments:
            case "grow", [path, *text]:
                self.grow(path.encode(), " ".join(text).encode(), now)
            case _:
                raise Unsupported(f"{verb} {' '.join(arguments)}".strip())
        return ""

    def grow(self, path: bytes, value: bytes, now: float) -> None:
        """Have a value exist, and tell who was promised it; ``ControlFailed`` if there is one, or the path is none."""
        if not path_is_valid(path):
            raise ControlFailed(f"no path: {path!r}")
        if path in self.values:
            raise ControlFailed(f"{path!r} has a value, which never changes")
        self.values[path] = value
        for interest in self.sessions.waiting.pop(path, {}):
            self.keep(interest, now)

    def keep(self, interest: PromisedDatum, now: float) -> None:
        """Keep a promise, now that there is a value."""
        if self.live(interest.session, now) is not None:
            self.notify(interest, FIRST_GAP, now)

    # --- what subscribers say -----------------------------------------------------------------------------

    def take(self, packet: Packet, link: int, now: float) -> None:
        match packet.body:
            case ScryRequest():
                self.on_request(packet, packet.body, link, now)
            case HeartbeatRequest():
                self.on_heartbeat(packet, packet.body, link, now)
            case Cancellation():
                self.on_cancellation(packet, packet.body, now)
            case _:
                pass  # commands are another protocol's, and responses are for subscribers

    def on_request(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        """Answer a scry request: with the value, or else with a promise."""
        if not self.has_signed(packet, request):
            return
        if request.path in self.values:
            self.on_request_of_value(packet, request, link)
        else:
            self.on_request_of_none(packet, request, link, now)

    def on_request_of_value(self, packet: Packet, request: ScryRequest, link: int) -> None:
        """Answer a request for what is there, if it has such a fragment."""
        response = self.response(request.path, request.fragment)
        if response is not None:
            self.answer(packet, response, link)

    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        """Promise what is not there yet."""
        session = self.session_for(packet, link, now)
        interest = self.sessions.promise(session, (request.path, request.fragment))
        self.answer(packet, self.promise(interest), link)

    def has_signed(self, packet: Packet, request: ScryRequest) -> bool:
        """Tell whether a request is of the ship that it says it is of (reading A10)."""
        return self.is_signed_by(packet.sender, request.signature, request_input(request.path, request.fragment))

    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        """Return the live session of a subscriber, opened if there is none."""
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is None:
            ticks = packet.receiver_tick, packet.sender_tick
            session = Session(self.fresh_id(), packet.sender, ticks, link, now + LEASE)
            self.sessions.open(session)
            self.time(session)
        return session

    def fresh_id(self) -> int:
        """Return an id that no live session has."""
        while (id := self._draw()) in self.sessions.of_id:
            pass
        return id

    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        """Answer a heartbeat: of a live session that goes on, or with a nack; old ones are passed over."""
        session = self.recognised(packet, heartbeat, now)
        if session is None:
            self.nack(packet, heartbeat, link)
        elif self.is_new(session, heartbeat):
            session.number = heartbeat.number
            self.renew(session, now)
            self.follow(session, packet, link)
            self.affirm(packet, heartbeat, link)

    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        """Say that there is no such session."""
        self.answer(packet, HeartbeatResponse(heartbeat.session, heartbeat.number, live=False), link)

    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        """Say that a session lives."""
        self.answer(packet, HeartbeatResponse(heartbeat.session, heartbeat.number, live=True), link)

    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        """Tell whether a heartbeat is newer than all before: others may be replayed."""
        return heartbeat.number > session.number

    def follow(self, session: Session, packet: Packet, link: int) -> None:
        """Take note of where a subscriber is, and of its ticks."""
        self.sessions.move(session, link)
        session.ticks = packet.receiver_tick, packet.sender_tick

    def recognised(self, packet: Packet, heartbeat: HeartbeatRequest, now: float) -> Session | None:
        """Return the live session of a heartbeat: that of its id, if it is its sender's."""
        session = self.live(self.sessions.of_id.get(heartbeat.session), now)
        return session if session is not None and session.ship == packet.sender else None

    def renew(self, session: Session, now: float) -> None:
        """Have a session's lease begin anew."""
        # Its timer stays where it is, and is set anew when it is due: a heartbeat costs nothing but this.
        session.expires = now + LEASE

    def time(self, session: Session) -> None:
        """Look at a session again when its lease is over: behind its last moment, in which it is alive."""
        self.timers.set(nextafter(session.expires, inf), session)

    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        """Forget what a subscriber is not interested in any more, or has got."""
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is not None and self.may_cancel(packet, cancellation):
            interest = session.interests.get((cancellation.path, cancellation.fragment))
            if interest is not None:
                self.release(interest)

    def release(self, interest: PromisedDatum) -> None:
        """Forget a promise that its subscriber has cancelled."""
        self.sessions.release(interest)

    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        """Tell whether a cancellation is of the ship that it says it is of."""
        signed = cancellation_input(cancellation.path, cancellation.fragment)
        return self.is_signed_by(packet.sender, cancellation.signature, signed)

    # --- what it says -------------------------------------------------------------------------------------

    def answer(self, packet: Packet, body: Promise | ScryResponse | HeartbeatResponse, link: int) -> None:
        """Answer a packet, where it came from."""
        self.put(link, body, packet.sender, sender_tick=packet.receiver_tick, receiver_tick=packet.sender_tick)

    def promise(self, interest: PromisedDatum) -> Promise:
        """Return the promise of a datum."""
        path, fragment = interest.datum
        id = interest.session.id
        return Promise(id, path, fragment, self.sign(promise_input(id, path, fragment)))

    def response(self, path: bytes, fragment: int) -> ScryResponse | None:
        """Return a fragment of the value at a path; ``None`` if it has not so many."""
        value = self.values[path]
        # Also of a value without bytes there is a first fragment.
        total = max(1, -(-len(value) // FRAGMENT))
        if fragment > total:
            return None
        data = value[(fragment - 1) * FRAGMENT : fragment * FRAGMENT]
        return ScryResponse(path, fragment, self.sign(response_input(path, fragment, data)), total, data)

    def notification(self, interest: PromisedDatum) -> ScryResponse | None:
        """Return what keeps a promise: what a request would be answered with."""
        return self.response(*interest.datum)

    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        """Tell a subscriber what it was promised, and again after a gap unless it cancels."""
        response = self.notification(interest)
        if response is None:
            return  # the value has not so many fragments: nothing will ever be there
        interest.gap = gap
        session = interest.session
        mine, its = session.ticks
        self.put(session.link, response, session.ship, sender_tick=mine, receiver_tick=its)
        self.timers.set(now + gap, interest)

    def pause_after(self, interest: PromisedDatum) -> float:
        """Return the seconds between the next repetition of a notification and the one behind it."""
        return longer(interest.gap)

    # --- time ---------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        for _, due in self.timers.due(now):
            if isinstance(due, Session):
                if not due.is_dead and self.live(due, now) is not None:
                    self.time(due)
            # The same one: after a cancellation another promise of the same datum may have been made.
            elif due.session.interests.get(due.datum) is due and self.live(due.session, now) is not None:
                self.notify(due, self.pause_after(due), now)

    def next_tick(self) -> float | None:
        return self.timers.next()

    def live(self, session: Session | None, now: float) -> Session | None:
        """Return a session if it is alive; one whose lease is over is killed."""
        if session is None or session.is_dead:
            return None
        if now > session.expires:
            self.sessions.kill(session)
            return None
        return session

    def needs(self, link: int) -> bool:
        return self.sessions.is_known(link)
