"""Unusual, legal ways to answer requests."""

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.answering import INSUFFICIENT_RESOURCES, PERMISSION_DENIED, RequestRefused
from harness.pathfinder.peers.limits import GENEROUS
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.delaying import Later
from harness.pathfinder.variants.registry import oddity
from harness.peers.delay_line import DelayLine
from wire.pathfinder.values import SINGLE, Message

# Above what a link needs, and far below any patience.
LATENCY = 0.02
"""Seconds."""


@oddity("PF-230", does="answers a request under a ta-id in use as any other")
class Unperturbed(Server):
    def is_live(self, session: Session, request: Message) -> bool:
        return request["ta-cmd"] not in SINGLE and super().is_live(session, request)


@oddity("PF-230", does="fails a request under a ta-id in use")
class Pedantic(Server):
    def is_live(self, session: Session, request: Message) -> bool:
        return False

    def execute(self, session: Session, request: Message) -> None:
        if request["ta-id"] in session.live:
            raise RequestRefused(PERMISSION_DENIED)
        super().execute(session, request)


@oddity("PF-087", "PF-088", does="has room for thirty open transactions of a client")
class Frugal(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.limits = replace(GENEROUS, transactions=30, subscriptions_each=30)


@oddity("PF-087", does="has room for three subscriptions of a client")
class Meagre(Server):
    def has_room_for_subscription(self, session: Session, filter: str | None) -> bool:
        return len(session.live) < 3 and super().has_room_for_subscription(session, filter)


@oddity("PF-088", does="gives no reason for any refusal")
class Taciturn(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        self.send(session, self.answer(request, "fail"))


@oddity("PF-094", does="gives the common reasons and those of hello, and no others")
class HalfTaciturn(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        if request["ta-cmd"] == "hello" or reason in (INSUFFICIENT_RESOURCES, PERMISSION_DENIED):
            super().fail(session, request, reason)
        else:
            self.send(session, self.answer(request, "fail"))


@oddity("PF-085", "PF-099", does="takes 20 ms for everything that it says")
class Sluggish(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.delay_line = DelayLine(LATENCY)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        return self.delay_line.delay(super().drain(now), now)

    def next_tick(self) -> float | None:
        return self.delay_line.next_tick(super().next_tick())


@oddity(
    "PF-098", "PF-099", "PF-101", does="accepts a listing at once and tells it later, behind what was asked meanwhile"
)
class Asynchronous(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.later: deque[tuple[float, Session, Message, list[Message]]] = deque()

    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        self.accept(session, request)
        self.later.append((self.now + LATENCY, session, request, found))

    def tick(self, now: float) -> None:
        super().tick(now)
        while self.later and self.later[0][0] <= now:
            _, session, request, found = self.later.popleft()
            if session.link in self.sessions:
                for fields in found:
                    self.notify(session, request, fields)
                self.complete(session, request)
        self.settle()

    def next_tick(self) -> float | None:
        times = [at for at in (super().next_tick(), self.later[0][0] if self.later else None) if at is not None]
        return min(times, default=None)

    def is_live(self, session: Session, request: Message) -> bool:
        open_tas = (each[2]["ta-id"] for each in self.later if each[1] is session)
        return super().is_live(session, request) or request["ta-id"] in open_tas


@oddity(
    "PF-086", does="lists the subscriptions of a lost connection for a moment, and takes their identifiers for free"
)
class SlowToForget(Later):
    def forget_subscriptions(self, session: Session) -> None:
        # A few times what an answer takes.
        self.postpone(10 * LATENCY, partial(self.forget_lost, list(session.live.values())))

    def is_taken(self, subscription_id: int) -> bool:
        known = self.subscriptions.get(subscription_id)
        return known is not None and not known.session.closing

    def remember(self, subscription: Subscription) -> None:
        if subscription.id in self.subscriptions:
            self.forget(self.subscriptions[subscription.id])
        super().remember(subscription)

    def forget_lost(self, lost: list[Subscription]) -> None:
        """Forget subscriptions, but for those in whose place others have come."""
        for each in lost:
            if self.subscriptions.get(each.id) is each:
                self.forget(each)
