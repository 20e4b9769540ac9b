"""Faults against Pathfinder, "Subscriptions": what is told when services change, how late, and in which order."""

from collections import Counter
from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.peers.subscribing import APPEARED, MODIFIED
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-051", does="tells a subscription of four changes of a service, and of no later ones")
class FourChanges(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.changes: Counter[tuple[int, int]] = Counter()

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        key = subscription.id, service.id
        # Five changes are what the case makes.
        self.changes[key] += what == MODIFIED
        if what != MODIFIED or self.changes[key] <= 4:
            super().notify_match(subscription, what, service)


@fault("PF-051", does="tells the state before the last once more")
class OneMoreTime(Server):
    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        super().announce(old, new)
        # From the second change on: before it, the state before the last is the one that appeared.
        if old is not None and new is not None and new.generation > old.generation > 1:
            for subscription in self.concerned(old, new):
                if self.change(subscription, old, new) == MODIFIED:
                    self.notify_match(subscription, MODIFIED, old)


@fault("PF-055", does="completes a republish that only raises the generation, and lists the old one")
class GenerationUnnoticed(Server):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        if known is None or known.ttl != new.ttl or known.contents != new.contents or known.owner != new.owner:
            return new
        return replace(new, generation=min(known.generation, new.generation))


@fault("PF-055", does="refuses a higher generation of a service that is the same otherwise")
class NothingElseNew(Server):
    def accepts_generation(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        is_same = known.ttl == new.ttl and known.contents == new.contents and known.owner == new.owner
        return super().accepts_generation(known, new) and not (is_same and new.generation > known.generation)


@fault("PF-057", does="tells of an orphan just before its TTL is over")
class AtTheLastMoment(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.untold: dict[int, ServiceRecord] = {}

    def orphan(self, service: ServiceRecord, since: float) -> None:
        orphan = replace(service, orphan_since=since, expires=self.expires(service))
        # The TTL of the case, and not the short ones of others.
        if not 2 < service.ttl < 10:
            self.update(service, orphan)
            return
        self.directory.put(orphan)
        self.untold[service.id] = service

    def expire(self, service: ServiceRecord) -> None:
        before = self.untold.pop(service.id, None)
        if before is not None:
            self.announce(before, service)
        super().expire(service)


@fault("PF-207", does="tells a service that begins to match as modified")
class ModifiedFirst(Server):
    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        what = super().change(subscription, old, new)
        return MODIFIED if what == APPEARED and old is not None else what


@fault("PF-207", does="looks at a service's properties only when it is new")
class OnceAndForAll(Server):
    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        what = super().change(subscription, old, new)
        return None if what == APPEARED and old is not None else what


@fault("PF-208", does="says nothing when a service ceases to match")
class CeasesUnnoticed(Server):
    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        what = super().change(subscription, old, new)
        return None if what is not None and new is not None and not self.matches(subscription.selection, new) else what


@fault("PF-209", does="says appeared again for each change of the TTL")
class AppearsAgain(Server):
    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        what = super().change(subscription, old, new)
        if old is not None and new is not None and what == MODIFIED and old.ttl != new.ttl:
            return APPEARED
        return what
