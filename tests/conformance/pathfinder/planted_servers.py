"""Servers with faults that somebody planted who had not read the cases: small ones, most of which none noticed then."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.answering import (
    CLIENT_ID_EXISTS,
    INVALID_FILTER_SYNTAX,
    SAME_GENERATION_BUT_DIFFERENT,
    RequestRefused,
)
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection, Session, Subscription
from harness.pathfinder.peers.subscribing import APPEARED, DISAPPEARED, MODIFIED
from harness.pathfinder.variants.lenient import salvaged
from wire.pathfinder.filters import INTEGER, Filter, Greater, Less, Substring, parse, walk
from wire.pathfinder.values import Message

# --- timers -----------------------------------------------------------------------------------------------


class TimerOutlivesReturn(Server):
    """Lets the timer of an orphan run on when its owner is back."""

    def reclaim(self, service: ServiceRecord) -> None:
        self.update(service, replace(service, orphan_since=None))

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        return replace(new, expires=known.expires) if known is not None and self.lasts(known, new) else new

    def lasts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        """Tell whether the timer runs on behind a republish."""
        return known.owner == new.owner


class TimerOutlivesChange(TimerOutlivesReturn):
    """Lets the timer of an orphan run on when its owner is back and publishes it in a higher generation."""

    def reclaims(self, service: ServiceRecord) -> bool:
        return False

    def lasts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return known.owner == new.owner and known.generation < new.generation


class TimerOutlivesTakeover(TimerOutlivesReturn):
    """Lets the timer of an orphan run on when another client publishes it."""

    def reclaim(self, service: ServiceRecord) -> None:
        self.update(service, replace(service, orphan_since=None, expires=None))

    def lasts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return known.owner != new.owner


class TimerOfTheFirstLoss(Server):
    """Counts the TTL of an orphan from the first time that its owner was lost."""

    def expires(self, service: ServiceRecord) -> float:
        return float(vars(self).setdefault("first", {}).setdefault(service.id, super().expires(service)))


# --- orphan-since: of servers in a world whose clock and calendar go together --------------------------------


EPOCH = 1_700_000_000.0
"""When a world begins, in seconds since the epoch."""


class OnWorldTime(Server):
    """Says the time of the world that it lives in; it is right."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.wall = lambda: EPOCH + self.now


class SinceTheEnd(OnWorldTime):
    """Says of an orphan when it will go, as the time since which it is one."""

    def orphan(self, service: ServiceRecord, since: float) -> None:
        super().orphan(service, since + service.ttl)


class SinceThePublish(OnWorldTime):
    """Says of an orphan when it was published, as the time since which it is one."""

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        vars(self).setdefault("published", {})[request["service-id"]] = self.orphan_since()
        return super().record(session, request, known)

    def orphan(self, service: ServiceRecord, since: float) -> None:
        super().orphan(service, vars(self)["published"][service.id])


class SinceTheHello(OnWorldTime):
    """Says of an orphan when its owner connected, as the time since which it is one."""

    def leave(self, session: Session) -> None:
        vars(self)["leaving_since"] = session.since
        super().leave(session)

    def orphan(self, service: ServiceRecord, since: float) -> None:
        super().orphan(service, vars(self)["leaving_since"])


# --- subscriptions ----------------------------------------------------------------------------------------


class FilterOfBefore(Server):
    """Gives a subscription the filter that its identifier had before."""

    def subscription(self, session: Session, request: Message) -> Subscription:
        new = super().subscription(session, request)
        return replace(new, selection=vars(self).setdefault("had", {}).setdefault(new.id, new.selection))


class MatchesOfBefore(Server):
    """Does not tell a subscription of what one of its identifier was told before."""

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        told = vars(self).setdefault("told", set())
        place = subscription.id, service.id
        if what != APPEARED or place not in told:
            super().notify_match(subscription, what, service)
        (told.discard if what == DISAPPEARED else told.add)(place)


class EndsBeforeTheEnd(Server):
    """Completes an unsubscribe, and goes on with the subscription."""

    def forget(self, subscription: Subscription) -> None:
        if subscription.session.closing:
            super().forget(subscription)

    def end(self, subscription: Subscription) -> None:
        pass


class DisappearsTwice(Server):
    """Tells twice that a service is gone."""

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        for _ in range(2 if what == DISAPPEARED else 1):
            super().notify_match(subscription, what, service)


class ModifiedBehindTheEnd(Server):
    """Tells of a change of a service that it has told to be gone."""

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        super().notify_match(subscription, what, service)
        if what == DISAPPEARED:
            super().notify_match(subscription, MODIFIED, service)


class LowerGenerations(Server):
    """Takes a service in a lower generation."""

    def accepts_generation(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return True


# --- transactions -----------------------------------------------------------------------------------------


class KeepsRefusedTransactions(Server):
    """Takes the identifier of a transaction that has failed for one that goes on."""

    commands_kept = ("subscribe", "services", "publish", "unpublish", "unsubscribe")

    def fail(self, session: Session, request: Message, reason: str) -> None:
        super().fail(session, request, reason)
        if request["ta-cmd"] in self.commands_kept:
            vars(session).setdefault("failed", set()).add(request["ta-id"])

    def is_live(self, session: Session, request: Message) -> bool:
        return request["ta-id"] in vars(session).get("failed", ()) or super().is_live(session, request)


class KeepsRefusedSubscriptions(KeepsRefusedTransactions):
    """Does so where a subscription was refused."""

    commands_kept = ("subscribe",)


class DeafBehindAnAnswer(Server):
    """Ends a subscription, and says nothing, when its client sends an answer in its transaction."""

    answers: tuple[str, ...] = ("accept", "notify", "complete", "fail")

    def understand(self, frame: bytes) -> Message | None:
        fields = salvaged(frame) or {}
        live = [(each, ta) for each in self.sessions.values() for ta in each.live]
        for session, ta in live:
            if ta == fields.get("ta-id") and fields.get("msg-type") in self.answers:
                self.forget(session.live[ta])
                return {"ta-cmd": "ping", "ta-id": ta, "msg-type": "nothing"}
        return super().understand(frame)

    def execute(self, session: Session, request: Message) -> None:
        if request["msg-type"] != "nothing":
            super().execute(session, request)


class CompletesForItsClient(DeafBehindAnAnswer):
    """Completes a subscription when its client sends complete in its transaction."""

    answers = ("complete",)

    def execute(self, session: Session, request: Message) -> None:
        if request["msg-type"] == "nothing":
            self.complete(session, {**request, "ta-cmd": "subscribe"})
        super().execute(session, request)


# --- identifiers ------------------------------------------------------------------------------------------


def in_32_bits(id: int) -> int:
    """Return what is left of an identifier in 32 bits."""
    return id & 0xFFFFFFFF


class ComparesClients(Server):
    """Compares identifiers of clients in 32 bits."""

    same = staticmethod(in_32_bits)

    def is_connected(self, client_id: int) -> bool:
        return self.same(client_id) in map(self.same, self.clients)


class RoundsClients(ComparesClients):
    """Compares identifiers of clients as numbers with a point."""

    same = staticmethod(float)  # type: ignore[assignment]


class ComparesSubscriptions(Server):
    """Compares identifiers of subscriptions in 32 bits."""

    same = staticmethod(in_32_bits)

    def is_taken(self, subscription_id: int) -> bool:
        return self.same(subscription_id) in map(self.same, self.subscriptions)


class RoundsSubscriptions(ComparesSubscriptions):
    """Compares identifiers of subscriptions as numbers with a point."""

    same = staticmethod(float)  # type: ignore[assignment]


class ComparesServices(Server):
    """Compares identifiers of services in 32 bits."""

    same = staticmethod(in_32_bits)

    def on_publish(self, session: Session, request: Message) -> None:
        id = request["service-id"]
        if any(each.id != id and self.same(each.id) == self.same(id) for each in self.directory):
            raise RequestRefused(SAME_GENERATION_BUT_DIFFERENT)
        super().on_publish(session, request)


class RoundsServices(ComparesServices):
    """Compares identifiers of services as numbers with a point."""

    same = staticmethod(float)  # type: ignore[assignment]


class ComparesTransactions(Server):
    """Compares identifiers of transactions in 32 bits."""

    same = staticmethod(in_32_bits)

    def is_live(self, session: Session, request: Message) -> bool:
        return self.same(request["ta-id"]) in map(self.same, session.live)


class RoundsTransactions(ComparesTransactions):
    """Compares identifiers of transactions as numbers with a point."""

    same = staticmethod(float)  # type: ignore[assignment]


class KeepsTheIdsOfThoseItCutOff(Server):
    """Keeps the identifier of a client whose connection it has ended itself."""

    def take(self, session: Session, frame: bytes) -> None:
        super().take(session, frame)
        if session.closing and session.client_id is not None:
            vars(self).setdefault("kept", set()).add(session.client_id)

    def is_connected(self, client_id: int) -> bool:
        return client_id in vars(self).get("kept", ()) or super().is_connected(client_id)


class OrphansOfNobody(Server):
    """Says of an orphan that nobody owns it."""

    def describe(self, service: ServiceRecord) -> Message:
        fields = super().describe(service)
        return {**fields, "client-id": 0} if service.is_orphan else fields


# --- what is listed and found -----------------------------------------------------------------------------


class EscapedAsterisksMatchAll(Server):
    """Takes an escaped asterisk in a substring filter for one that stands for anything."""

    def parse(self, text: str) -> Filter:
        tree = super().parse(text)
        return super().parse(text.replace("\\*", "*")) if isinstance(tree, Substring) else tree


class ListsNoOrphans(Server):
    """Leaves orphans out of a list without a filter."""

    def on_services(self, session: Session, request: Message) -> None:
        self.is_listing = "filter" not in request
        super().on_services(session, request)
        self.is_listing = False

    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        found = super().snapshot(selection)
        return [each for each in found if not each.is_orphan] if getattr(self, "is_listing", False) else found


class BeginsWithoutOrphans(Server):
    """Does not tell a new subscription without a filter of orphans."""

    def begin(self, subscription: Subscription) -> None:
        for service in self.snapshot(subscription.selection):
            if subscription.selection.filter is not None or not service.is_orphan:
                self.notify_match(subscription, APPEARED, service)


class ListsNothingBare(Server):
    """Leaves services without properties out of lists."""

    def on_services(self, session: Session, request: Message) -> None:
        self.is_listing = True
        super().on_services(session, request)
        self.is_listing = False

    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        found = super().snapshot(selection)
        return [each for each in found if each.props] if getattr(self, "is_listing", False) else found


class TellsOfNothingBare(Server):
    """Tells no subscription of services without properties."""

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        if service.props:
            super().notify_match(subscription, what, service)


class KeepsNothingBare(Server):
    """Does not make orphans of services without properties."""

    def orphan(self, service: ServiceRecord, since: float) -> None:
        if service.props:
            super().orphan(service, since)


# --- readings: what the field does and the document's letter does not --------------------------------------


class ComparesWithIntegers(Server):
    """Refuses to compare with anything but an integer (R05)."""

    def parse(self, text: str) -> Filter:
        tree = super().parse(text)
        if any(isinstance(part, Greater | Less) and not INTEGER.fullmatch(part.value) for part in walk(tree)):
            raise RequestRefused(INVALID_FILTER_SYNTAX)
        return tree


class TakesBraces(Server):
    """Takes a closing brace for a character as any other (R25)."""

    def parse(self, text: str) -> Filter:
        return parse(text, deployed=True) if "}" in text else super().parse(text)


class ReasonOfSubscribe(Server):
    """Says of a list why its filter is refused, as of a subscription (R07)."""

    def reason_of_list(self, reason: str) -> str:
        return reason


# --- addresses --------------------------------------------------------------------------------------------


class ListsItsOwnHost(Server):
    """Lists all clients at the host that it listens on itself."""

    def describe_client(self, session: Session) -> Message:
        fields = super().describe_client(session)
        return {**fields, "client-addr": f"tcp:127.0.0.1:{session.address.rpartition(':')[2]}"}


class KnowsClientsByHost(Server):
    """Lets a client in only from the host that it came from first."""

    def greet(self, session: Session, request: Message) -> None:
        host = session.address.rpartition(":")[0]
        if vars(self).setdefault("hosts", {}).setdefault(request["client-id"], host) != host:
            raise RequestRefused(CLIENT_ID_EXISTS)
        super().greet(session, request)


class ServesOneHost(Server):
    """Shows each client only what clients of its own host have published."""

    def on_services(self, session: Session, request: Message) -> None:
        self.asking: str | None = session.address.rpartition(":")[0]
        super().on_services(session, request)
        self.asking = None

    def on_publish(self, session: Session, request: Message) -> None:
        super().on_publish(session, request)
        host = session.address.rpartition(":")[0]
        vars(self).setdefault("from_host", {})[request["service-id"]] = host

    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        found, host = super().snapshot(selection), getattr(self, "asking", None)
        hosts: dict[int, Any] = vars(self).get("from_host", {})
        return [each for each in found if host is None or hosts.get(each.id) == host]
