"""Faults of publishers against the rules of the lease, and of what ends with a session."""

from abc import abstractmethod
from math import inf
from typing import Any

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import Datum, PromisedDatum, Session
from harness.urbit.variants.registry import fault
from wire.urbit.values import Cancellation, HeartbeatRequest, Packet, ScryRequest, Ship


@fault("URB-053", does="keeps the promises of dead sessions")
class KeepsOldPromises(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.old: list[PromisedDatum] = []

    def needs(self, link: int) -> bool:
        return True

    def live(self, session: Session | None, now: float) -> Session | None:
        if session is not None and not session.is_dead and now > session.expires:
            self.old += session.interests.values()
        return super().live(session, now)

    def grow(self, path: bytes, value: bytes, now: float) -> None:
        super().grow(path, value, now)
        for interest in self.old:
            # Where there is another session, it would be another rule's matter.
            if interest.datum[0] == path and interest.session.ship not in self.sessions.of_ship:
                self.notify(interest, inf, now)


@fault("URB-055", does="has the same id for all sessions of a ship")
class SameIdAgain(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.ids: dict[Ship, int] = {}

    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        del self.sessions.of_id[session.id]
        session.id = self.ids.setdefault(session.ship, session.id)
        self.sessions.of_id[session.id] = session
        return session


@fault("URB-057", does="lets requests renew the lease")
class RequestsRenew(Publisher):
    def on_request(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        super().on_request(packet, request, link, now)
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is not None:
            self.renew(session, now)


@fault("URB-057", does="lets cancellations renew the lease")
class CancellationsRenew(Publisher):
    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        super().on_cancellation(packet, cancellation, now)
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is not None:
            self.renew(session, now)


class Lasting(Publisher):
    """What has leases of another length is made of this."""

    @abstractmethod
    def lease(self, session: Session) -> float:
        """Return the seconds for which a lease is longer than it should be."""

    def renew(self, session: Session, now: float) -> None:
        super().renew(session, now)
        session.expires += self.lease(session)
        self.time(session)


@fault("URB-063", does="never ends a session that had a heartbeat")
class NeverEnds(Lasting):
    def lease(self, session: Session) -> float:
        return inf


@fault("URB-063", does="ends sessions after two minutes")
class EndsAfterTwoMinutes(Lasting):
    def lease(self, session: Session) -> float:
        return 60


@fault("URB-063", does="ends no session in which something is pending")
class EndsIdleOnly(Publisher):
    def live(self, session: Session | None, now: float) -> Session | None:
        if session is not None and session.number and session.interests and not session.is_dead:
            session.expires = max(session.expires, now + 1)
        return super().live(session, now)


@fault("URB-064", does="ends sessions after forty seconds")
class EndsAfterFortySeconds(Lasting):
    def lease(self, session: Session) -> float:
        return -20


@fault("URB-064", does="ends a session a minute after its beginning")
class NeverRenews(Publisher):
    def renew(self, session: Session, now: float) -> None:
        pass


@fault("URB-064", does="renews a lease twice")
class RenewsTwice(Publisher):
    def renew(self, session: Session, now: float) -> None:
        if session.number <= 2:
            super().renew(session, now)


@fault("URB-056", does="renews the lease of sessions in which something is pending only")
class RenewsPendingOnly(Publisher):
    def renew(self, session: Session, now: float) -> None:
        if any(not interest.gap for interest in session.interests.values()):
            super().renew(session, now)


@fault("URB-065", does="takes the promises of a dead session over into the next")
class TakesPromisesOver(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.old: dict[Ship, list[Datum]] = {}

    def live(self, session: Session | None, now: float) -> Session | None:
        if session is not None and not session.is_dead and now > session.expires:
            self.old[session.ship] = [*session.interests]
        return super().live(session, now)

    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        for datum in self.old.pop(session.ship, []):
            self.sessions.promise(session, datum)
        return session


@fault("URB-065", does="goes on with the numbers of a ship's last session")
class KeepsNumbers(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.numbers: dict[Ship, int] = {}

    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        if heartbeat.number <= self.numbers.get(session.ship, 0):
            return False
        self.numbers[session.ship] = heartbeat.number
        return True


@fault("URB-066", does="repeats what nobody cancels until it is cancelled, session or none")
class RepeatsBeyondTheEnd(Publisher):
    def live(self, session: Session | None, now: float) -> Session | None:
        # What is repeated would keep its promise, what has no value yet is forgotten.
        if session is None or now <= session.expires or not any(each.gap for each in session.interests.values()):
            return super().live(session, now)
        self.ended.add(session)
        return session

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.ended: set[Session] = set()

    def recognised(self, packet: Packet, heartbeat: HeartbeatRequest, now: float) -> Session | None:
        session = super().recognised(packet, heartbeat, now)
        return None if session in self.ended else session

    def time(self, session: Session) -> None:
        if session not in self.ended:
            super().time(session)


@fault("URB-068", does="has no lease before the first heartbeat")
class LeaseFromTheFirstHeartbeat(Publisher):
    def live(self, session: Session | None, now: float) -> Session | None:
        if session is not None and not session.number:
            session.expires = now + 60
        return super().live(session, now)


@fault("URB-078", does="forgets promises after a minute")
class ForgetsAfterAMinute(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.made: dict[PromisedDatum, float] = {}

    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        super().on_request_of_none(packet, request, link, now)
        interest = self.sessions.of_ship[packet.sender].interests[request.path, request.fragment]
        self.made.setdefault(interest, now)

    def keep(self, interest: PromisedDatum, now: float) -> None:
        if now - self.made[interest] <= 60:
            super().keep(interest, now)


@fault("URB-078", does="keeps one promise in a session")
class KeepsOnePromise(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept: set[Session] = set()

    def keep(self, interest: PromisedDatum, now: float) -> None:
        if interest.session not in self.kept:
            self.kept.add(interest.session)
            super().keep(interest, now)


@fault("URB-080", does="renews all leases at any heartbeat")
class RenewsAll(Publisher):
    def renew(self, session: Session, now: float) -> None:
        for each in self.sessions.of_ship.values():
            super().renew(each, now)


@fault("URB-080", does="renews the leases of all ships at an address")
class RenewsNeighbours(Publisher):
    def renew(self, session: Session, now: float) -> None:
        for each in self.sessions.of_ship.values():
            if each.link == session.link:
                super().renew(each, now)


@fault("URB-152", does="renews the lease at old heartbeats")
class OldHeartbeatsRenew(Publisher):
    renewed: Session | None = None

    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        is_new = super().is_new(session, heartbeat)
        if not is_new:
            self.renewed = session
        return is_new

    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        self.renewed = None
        super().on_heartbeat(packet, heartbeat, link, now)
        if self.renewed is not None:
            self.renew(self.renewed, now)


@fault("URB-152", does="renews the lease at a repetition of the last heartbeat")
class LastHeartbeatRenews(Publisher):
    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        session = self.recognised(packet, heartbeat, now)
        is_last = session is not None and session.number == heartbeat.number
        super().on_heartbeat(packet, heartbeat, link, now)
        if session is not None and is_last:
            self.renew(session, now)
