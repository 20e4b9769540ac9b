"""Faults against Pathfinder, "Transactions": requests and what answers them, several at once."""

from typing import Any

from harness.pathfinder.peers.answering import OLD_GENERATION, PERMISSION_DENIED, RequestRefused
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


class Recalling(Server):
    """Remembers the ta-ids of each connection, or of whatever ``memory`` says."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.known: dict[object, set[int]] = {}

    def memory(self, session: Session) -> object:
        """Return what the ta-ids are remembered for."""
        return session.link

    def is_known(self, session: Session, ta: int) -> bool:
        """Tell whether a ta-id is refused."""
        return ta in self.known.setdefault(self.memory(session), set())

    def execute(self, session: Session, request: Message) -> None:
        if self.is_known(session, request["ta-id"]):
            raise RequestRefused(PERMISSION_DENIED)
        self.known[self.memory(session)].add(request["ta-id"])
        super().execute(session, request)


@fault("PF-008", does="refuses a ta-id that was used on the connection before")
class UsedOnce(Recalling):
    pass


@fault("PF-008", does="refuses a ta-id under which another connection has a subscription")
class IdsOfAll(Server):
    def execute(self, session: Session, request: Message) -> None:
        others = (each for each in self.sessions.values() if each is not session)
        # Large ones only, as this case has: small numbers meet all the time, since each connection counts from 0.
        if request["ta-id"] > 1 << 32 and any(request["ta-id"] in each.live for each in others):
            raise RequestRefused(PERMISSION_DENIED)
        super().execute(session, request)


@fault("PF-084", does="answers unpublish as publish")
class OtherCommand(Server):
    def answer(self, request: Message, message_type: str) -> dict[str, Any]:
        fields = super().answer(request, message_type)
        return {**fields, "ta-cmd": "publish"} if request["ta-cmd"] == "unpublish" else fields


@fault("PF-084", does="lists subscriptions under ta-id 0")
class NoIdentifier(Server):
    def notify(self, session: Session, request: Message, fields: Message) -> None:
        listing = request["ta-cmd"] == "subscriptions"
        super().notify(session, {**request, "ta-id": 0} if listing else request, fields)


@fault("PF-085", does="pings each new connection")
class Greeting(Server):
    def await_hello(self, session: Session) -> None:
        super().await_hello(session)
        if session.link not in self.greeted:
            self.greeted.add(session.link)
            # A number that a client hardly comes to while it says hello.
            self.send(session, {"ta-cmd": "ping", "ta-id": 99, "msg-type": "request"})

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.greeted: set[int] = set()


@fault("PF-086", does="keeps the subscriptions of connections that have ended")
class Undying(Server):
    def forget_subscriptions(self, session: Session) -> None:
        pass


@fault("PF-087", does="refuses everything but unsubscribe while ten subscriptions are open")
class Overburdened(Server):
    def execute(self, session: Session, request: Message) -> None:
        # Fewer than the case opens.
        if len(session.live) >= 10 and request["ta-cmd"] not in ("unsubscribe", "ping"):
            raise RequestRefused(PERMISSION_DENIED)
        super().execute(session, request)


@fault("PF-088", does="ends the oldest of fifty subscriptions without a word to make room for another")
class DroppingTheOldest(Server):
    def remember(self, subscription: Subscription) -> None:
        live = subscription.session.live
        # Fewer than the case opens.
        if len(live) >= 50:
            self.forget(next(iter(live.values())))
        super().remember(subscription)


@fault("PF-092", does="refuses a ta-id that is lower than the one before")
class RisingOnly(Recalling):
    def is_known(self, session: Session, ta: int) -> bool:
        return ta < max(self.known.setdefault(self.memory(session), set()), default=0)


@fault("PF-094", does="says nothing to the unpublish of what it does not know")
class SilentUnpublish(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        if request["ta-cmd"] != "unpublish":
            super().fail(session, request, reason)


@fault("PF-095", does="completes each publish twice")
class TwiceDone(Server):
    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        super().complete(session, request, fields)
        if request["ta-cmd"] == "publish":
            super().complete(session, request, fields)


@fault("PF-095", does="accepts each publish before it completes it")
class AcceptingAll(Lenient):
    def on_publish(self, session: Session, request: Message) -> None:
        self.accept(session, request)
        super().on_publish(session, request)


@fault("PF-096", does="fails an older generation, and keeps it all the same")
class FailedAndDone(Server):
    def check_republish(self, session: Session, known: ServiceRecord, new: ServiceRecord) -> None:
        if not self.accepts_generation(known, new):
            self.update(known, new)
            raise RequestRefused(OLD_GENERATION)
        super().check_republish(session, known, new)


@fault("PF-098", does="lists clients before it accepts the request")
class AcceptingLate(Server):
    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        if request["ta-cmd"] != "clients":
            super().enumerate(session, request, found)
            return
        for fields in found:
            self.notify(session, request, fields)
        self.accept(session, request)
        self.complete(session, request)


@fault("PF-099", does="never ends a listing that finds nothing for a simple filter")
class WaitingForMore(Server):
    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        # Filters with one parenthesis: those of plays have two, and their lists must end.
        if found or request.get("filter", "").count("(") != 1:
            super().enumerate(session, request, found)
        else:
            self.accept(session, request)


@fault("PF-099", does="lists a hundred services at most")
class ShortLists(Server):
    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        # Fewer than the case publishes.
        super().enumerate(session, request, found[:100])


@fault("PF-100", does="answers a listing that has nothing in it with complete alone")
class NothingToAccept(Server):
    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        if found:
            super().enumerate(session, request, found)
        else:
            self.complete(session, request)


@fault("PF-101", does="accepts each listing of subscriptions twice")
class TwiceAccepted(Server):
    def on_subscriptions(self, session: Session, request: Message) -> None:
        self.accept(session, request)
        super().on_subscriptions(session, request)


@fault("PF-101", does="tells a subscription that was unsubscribed of later services")
class Relentless(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.ended: list[Subscription] = []

    def end(self, subscription: Subscription) -> None:
        super().end(subscription)
        self.ended.append(subscription)

    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        super().announce(old, new)
        for subscription in self.ended:
            what = self.change(subscription, old, new)
            if what is not None and new is not None and subscription.session.link in self.sessions:
                self.notify_match(subscription, what, new)


@fault("PF-230", does="says nothing to a request under a ta-id in use")
class PassingOver(Server):
    def take(self, session: Session, frame: bytes) -> None:
        request = self.understand(frame)
        if request is None or not self.is_live(session, request):
            super().take(session, frame)
