"""Faults against Pathfinder, "TTL", "Transient Clients" and "Service Lifetime": how long a service is there."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.answering import CLIENT_ID_EXISTS, SAME_GENERATION_BUT_DIFFERENT, RequestRefused
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.peers.subscribing import MODIFIED
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message

# Cases publish for a few seconds what is to expire, and for a minute what is not.
SHORT = 10
"""Seconds: what the tester publishes for longer is not meant to expire."""


@fault("PF-015", does="removes orphans at half of their TTL")
class HalfTheTime(Server):
    def expires(self, service: ServiceRecord) -> float:
        return self.now + service.ttl / 2


@fault("PF-030", does="removes a client's services as soon as its connection ends, if they are its own for long")
class OnlyWhileConnected(Server):
    def orphan(self, service: ServiceRecord, since: float) -> None:
        # In its first generation only: services that other cases take over or change are left alone.
        if service.ttl > SHORT and service.generation == 0:
            self.remove(service)
        else:
            super().orphan(service, since)


@fault("PF-047", does="refuses a republish that changes nothing")
class NothingNew(Server):
    def check_republish(self, session: Session, known: ServiceRecord, new: ServiceRecord) -> None:
        super().check_republish(session, known, new)
        # An orphan may be claimed, and another client take over: those are other rules' matter.
        if new.generation == known.generation and not known.is_orphan and new.owner == known.owner:
            raise RequestRefused(SAME_GENERATION_BUT_DIFFERENT)


@fault("PF-049", does="makes an orphan of the first of a client's services only")
class OneOrphan(Server):
    def lose_contact(self, client_id: int) -> None:
        since = self.orphan_since()
        for service in self.directory.owned(client_id)[:1]:
            self.orphan(service, since)


@fault("PF-049", does="makes an orphan of a service once only, though its owner has been back and published it again")
class OrphanOnce(Server):
    """As paf up to 1.1.3, where such a service stays with its owner's old connection."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.lost: set[tuple[int, int]] = set()

    def orphan(self, service: ServiceRecord, since: float) -> None:
        state = service.id, service.generation
        if state not in self.lost:
            super().orphan(service, since)
        self.lost.add(state)


@fault("PF-050", does="tells nobody that an orphan is claimed again")
class QuietReturn(Server):
    def is_modified(self, old: ServiceRecord, new: ServiceRecord) -> bool:
        return super().is_modified(old, replace(new, orphan_since=old.orphan_since) if old.is_orphan else new)


@fault("PF-050", does="tells one subscriber only that a service has become an orphan")
class OneIsTold(Server):
    def orphan(self, service: ServiceRecord, since: float) -> None:
        orphan = replace(service, orphan_since=since, expires=self.expires(service))
        self.directory.put(orphan)
        concerned = [each for each in self.concerned(service, orphan) if self.change(each, service, orphan)]
        for subscription in concerned[:1]:
            self.notify_match(subscription, MODIFIED, orphan)


@fault("PF-052", does="removes orphans whose TTL is over, and tells nobody")
class QuietEnd(Server):
    def expire(self, service: ServiceRecord) -> None:
        self.directory.remove(service)


@fault("PF-052", does="tells that an orphan is gone, and lists it ever after")
class NeverRemoved(Server):
    def expire(self, service: ServiceRecord) -> None:
        self.announce(service, None)


@fault("PF-052", does="takes a TTL of 0 for one without end")
class ZeroIsForEver(Server):
    def expires(self, service: ServiceRecord) -> float:
        # Thirty years: longer than anybody waits.
        return super().expires(service) if service.ttl else self.now + 1e9


@fault("PF-052", does="reckons with TTLs in 32 bits")
class ShortTtl(Server):
    def expires(self, service: ServiceRecord) -> float:
        # As a signed number: the largest TTL becomes -1 second.
        ttl = service.ttl & 0xFFFFFFFF
        return self.now + (ttl - (1 << 32) if ttl >> 31 else ttl)


@fault("PF-205", does="removes services a TTL after they were published, owner or not")
class Ageing(Server):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        # Only what was published for a short time: the rest would vanish from under other cases.
        return replace(new, expires=self.expires(new)) if 0 < new.ttl <= SHORT else new


@fault("PF-206", does="makes an orphan of a service when its first publisher leaves")
class FirstPublisher(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.first: dict[int, int] = {}

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        if known is None:
            self.first[new.id] = new.owner
        return new

    def lose_contact(self, client_id: int) -> None:
        super().lose_contact(client_id)
        for service_id, publisher in self.first.items():
            service = self.directory.get(service_id)
            if publisher == client_id and service is not None and service.owner != client_id:
                self.orphan(service, self.orphan_since())


@fault("PF-206", does="makes orphans of the services that a leaving client watches")
class WatchersLeave(Server):
    def leave(self, session: Session) -> None:
        watched = [each for subscription in session.live.values() for each in self.snapshot(subscription.selection)]
        super().leave(session)
        for service in watched:
            if self.directory.get(service.id) is service:
                self.orphan(service, self.orphan_since())


@fault("PF-229", does="keeps a client-id for ten seconds after its connection has closed")
class SlowToForget(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept: dict[int, float] = {}

    def forget_client(self, session: Session) -> None:
        super().forget_client(session)
        if session.client_id is not None:
            # Longer than a case tries to come back.
            self.kept[session.client_id] = self.now + 10.0

    def greet(self, session: Session, request: Message) -> None:
        if self.kept.get(request["client-id"], 0.0) > self.now:
            raise RequestRefused(CLIENT_ID_EXISTS)
        super().greet(session, request)
