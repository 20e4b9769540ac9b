"""Unusual, legal ways to promise, to tell and to forget."""

from typing import Any

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import PromisedDatum, Session
from harness.urbit.peers.ship import FRAGMENT
from harness.urbit.peers.times import FIRST_GAP
from harness.urbit.variants.registry import oddity
from wire.urbit.values import HeartbeatRequest, Packet, ScryRequest, ScryResponse

DRIFT = (1.15, 0.9, 1.0, 1.1, 0.85)
"""What chance does to one pause after the other."""


@oddity("URB-038", does="passes over a request that it has promised")
class PromisesOnce(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        if session is None or (request.path, request.fragment) not in session.interests:
            super().on_request_of_none(packet, request, link, now)


@oddity("URB-037", "URB-073", does="nacks a session's heartbeats that come from another address, and ends it")
class SessionsOfAddresses(Publisher):
    def recognised(self, packet: Packet, heartbeat: HeartbeatRequest, now: float) -> Session | None:
        session = super().recognised(packet, heartbeat, now)
        return session if session is not None and session.link == self.heard_at else None

    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is not None and session.link != link:
            # A ship has one session, and it is the one of the address that it asks from.
            self.sessions.kill(session)
        return super().session_for(packet, link, now)

    def take(self, packet: Packet, link: int, now: float) -> None:
        self.heard_at = link
        super().take(packet, link, now)


@oddity("URB-043", does="begins its backoff with a tenth of a second and multiplies it by 1.3")
class SlowBackoff(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        super().notify(interest, gap if interest.gap else FIRST_GAP / 10, now)

    def pause_after(self, interest: PromisedDatum) -> float:
        return min(1.3 * interest.gap, 120.0)


@oddity("URB-043", does="begins its backoff with five seconds, multiplies it by 4, and ends with two minutes")
class SteepBackoff(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        super().notify(interest, gap if interest.gap else 5 * FIRST_GAP, now)

    def pause_after(self, interest: PromisedDatum) -> float:
        return min(4 * interest.gap, 120.0)


@oddity("URB-043", does="doubles its pauses to four seconds at most")
class LowCeiling(Publisher):
    def pause_after(self, interest: PromisedDatum) -> float:
        return min(super().pause_after(interest), 4 * FIRST_GAP)


@oddity("URB-043", does="has chance change each pause a little")
class DriftingBackoff(Publisher):
    drawn = 0

    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        # What is drawn changes this pause, and not those that are reckoned from it.
        self.drawn += 1
        super().notify(interest, gap * DRIFT[self.drawn % len(DRIFT)], now)
        interest.gap = gap


@oddity("URB-155", does="tells of a value eight seconds after it is there")
class TakesItsTime(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.late: set[PromisedDatum] = set()

    def keep(self, interest: PromisedDatum, now: float) -> None:
        self.late.add(interest)
        self.timers.set(now + 8, interest)

    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        is_first = interest in self.late
        self.late.discard(interest)
        super().notify(interest, FIRST_GAP if is_first else gap, now)


@oddity("URB-054", "URB-156", does="tells all fragments of a value of which one was promised")
class TellsAllFragments(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        path, fragment = interest.datum
        if not interest.gap:
            for other in range(1, -(-len(self.values[path]) // FRAGMENT) + 1):
                response = self.response(path, other) if other != fragment else None
                if response is not None:
                    self.put(interest.session.link, response, interest.session.ship)
        super().notify(interest, gap, now)


@oddity("URB-031", does="answers a request for a fragment beyond the end by nothing but the number of fragments")
class TellsTheEnd(Publisher):
    def on_request_of_value(self, packet: Packet, request: ScryRequest, link: int) -> None:
        if self.response(request.path, request.fragment) is None:
            self.answer(packet, ScryResponse(request.path, request.fragment, bytes(64), 1, b"", 1), link)
        else:
            super().on_request_of_value(packet, request, link)


@oddity("URB-148", does="looks at no signatures of requests")
class UnsignedRequests(Publisher):
    def has_signed(self, packet: Packet, request: ScryRequest) -> bool:
        return True
