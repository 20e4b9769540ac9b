"""Unusual, legal ways to tell what becomes of services, and when."""

from bisect import insort
from typing import Any

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.peers.subscribing import APPEARED, DISAPPEARED, MODIFIED
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.values import Message

# Longer than an answer takes, and a small part of any TTL.
DELAY = 0.2
"""Seconds."""


@oddity("PF-055", does="tells of a higher generation, whatever else has changed")
class GenerationsToo(Server):
    def is_modified(self, old: ServiceRecord, new: ServiceRecord) -> bool:
        return super().is_modified(old, new) or old.generation != new.generation


@oddity("PF-051", "PF-057", does="tells subscriptions everything a fifth of a second later", everywhere=True)
class Delaying(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.waiting: list[tuple[float, Subscription, str, ServiceRecord]] = []

    def delay(self, subscription: Subscription, service: ServiceRecord) -> float:
        """Return after how many seconds a subscription is notified of a service."""
        return DELAY

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        entry = self.now + self.delay(subscription, service), subscription, what, service
        # By time alone, and behind what is due at the same time: what was told first stays first.
        insort(self.waiting, entry, key=lambda each: each[0])

    def tick(self, now: float) -> None:
        super().tick(now)
        while self.waiting and self.waiting[0][0] <= now:
            super().notify_match(*self.waiting.pop(0)[1:])
        self.settle()

    def next_tick(self) -> float | None:
        times = [at for at in (super().next_tick(), self.waiting[0][0] if self.waiting else None) if at is not None]
        return min(times, default=None)

    def end(self, subscription: Subscription) -> None:
        # What waits is told before the end: behind it nothing may come.
        for each in [each for each in self.waiting if each[1] is subscription]:
            self.waiting.remove(each)
            super().notify_match(*each[1:])
        super().end(subscription)


@oddity("PF-051", "PF-122", does="tells several changes within a fifth of a second as one")
class Gathering(Delaying):
    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        places = [
            place
            for place, (_, waiting, _, other) in enumerate(self.waiting)
            if waiting is subscription and other.id == service.id
        ]
        if what == MODIFIED and places:
            at, _, earlier, _ = self.waiting[places[-1]]
            # Behind a disappearance it is another service's life that begins.
            if earlier != DISAPPEARED:
                self.waiting[places[-1]] = (at, subscription, earlier, service)
                return
        super().notify_match(subscription, what, service)


@oddity("PF-208", does="goes on to tell of a service that once matched, as modified")
class Clinging(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.known: set[tuple[int, int]] = set()

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        (self.known.discard if what == DISAPPEARED else self.known.add)((subscription.id, service.id))
        super().notify_match(subscription, what, service)

    def forget(self, subscription: Subscription) -> None:
        self.known = {each for each in self.known if each[0] != subscription.id}
        super().forget(subscription)

    def concerned(self, old: ServiceRecord | None, new: ServiceRecord | None) -> list[Subscription]:
        # Filed by what they once matched, they would not be found any more.
        return list(self.subscriptions.values())

    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        service = new or old
        if service is None or (subscription.id, service.id) not in self.known:
            what = super().change(subscription, old, new)
            return what if what == APPEARED else None
        if old is None or new is None:
            return DISAPPEARED
        return MODIFIED if self.is_modified(old, new) else None


@oddity("PF-121", "PF-123", does="tells what becomes of a service before it answers who did it")
class TellsFirst(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.held: list[tuple[Session, Message]] = []

    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        if request["ta-cmd"] in ("publish", "unpublish"):
            self.held.append((session, request))
        else:
            super().complete(session, request, fields)

    def execute(self, session: Session, request: Message) -> None:
        super().execute(session, request)
        while self.held:
            super().complete(*self.held.pop())


@oddity("PF-051", "PF-120", "PF-215", does="tells subscriptions everything a sixth of the service's TTL later")
class Leisurely(Delaying):
    def delay(self, subscription: Subscription, service: ServiceRecord) -> float:
        """Return a delay that keeps notifications in the order in which they arose."""
        latest = max((at for at, each, *_ in self.waiting if each is subscription), default=self.now)
        # At most ten seconds: with long TTLs a case would wait for ever.
        return max(min(service.ttl / 6, 10.0), latest - self.now)
