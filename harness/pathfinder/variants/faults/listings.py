"""Faults against Pathfinder, "Subscriptions Command", "Services Command" and "Clients Command"."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, NO_HELLO, NO_REASON
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection, Session, Subscription
from harness.pathfinder.peers.subscribing import EVERYTHING
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


class OpenEnded(Server, ABC):
    """Goes on with a list behind its end: ``listing`` is the list's command, ``trigger`` that of what it hears of."""

    listing = trigger = ""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.lists: list[tuple[Session, Message]] = []

    def execute(self, session: Session, request: Message) -> None:
        super().execute(session, request)
        if request["ta-cmd"] == self.listing:
            self.lists.append((session, request))
        if request["ta-cmd"] == self.trigger:
            for who, what in self.lists:
                if not who.closing and who is not session:
                    self.notify(who, what, self.news(session, request))

    @abstractmethod
    def news(self, session: Session, request: Message) -> Message:
        """Return the notification that goes to a list that has ended."""


@fault("PF-141", does="goes on with a list of subscriptions when there is a new one")
class OpenListOfSubscriptions(OpenEnded):
    listing, trigger = "subscriptions", "subscribe"

    def news(self, session: Session, request: Message) -> Message:
        return self.describe_subscription(self.subscriptions[request["subscription-id"]])


@fault("PF-150", does="goes on with a list of services when there is a new one")
class OpenListOfServices(OpenEnded):
    listing, trigger = "services", "publish"

    def news(self, session: Session, request: Message) -> Message:
        service = self.directory.get(request["service-id"])
        assert service is not None
        return self.describe(service)


@fault("PF-172", does="goes on with a list of clients when there is a new one")
class OpenListOfClients(OpenEnded):
    listing, trigger = "clients", "hello"

    def news(self, session: Session, request: Message) -> Message:
        return self.describe_client(session)


class Counting(Lenient):
    """Adds a count to one type of message of one list."""

    listing = kind = ""

    def answer(self, request: Message, message_type: str) -> dict[str, Any]:
        fields = super().answer(request, message_type)
        if (request["ta-cmd"], message_type) == (self.listing, self.kind):
            fields["count"] = 1
        return fields


@fault("PF-143", does="adds a count to the accept of subscriptions")
class CountInAcceptOfSubscriptions(Counting):
    listing, kind = "subscriptions", "accept"


@fault("PF-145", does="adds a count to the complete of subscriptions")
class CountInCompleteOfSubscriptions(Counting):
    listing, kind = "subscriptions", "complete"


@fault("PF-152", does="adds a count to the accept of services")
class CountInAcceptOfServices(Counting):
    listing, kind = "services", "accept"


@fault("PF-154", does="adds a count to the complete of services")
class CountInCompleteOfServices(Counting):
    listing, kind = "services", "complete"


@fault("PF-175", does="adds a count to the accept of clients")
class CountInAcceptOfClients(Counting):
    listing, kind = "clients", "accept"


@fault("PF-178", does="adds a count to the complete of clients")
class CountInCompleteOfClients(Counting):
    listing, kind = "clients", "complete"


@fault("PF-144", does="lists every subscription as the asking client's")
class AllMine(Server):
    def on_subscriptions(self, session: Session, request: Message) -> None:
        found: list[Message] = []
        for each in self.subscriptions.values():
            found.append({**self.describe_subscription(each), "client-id": session.client_id})
        self.enumerate(session, request, found)


@fault("PF-226", does="lists one subscription of each client")
class OneEach(Server):
    def on_subscriptions(self, session: Session, request: Message) -> None:
        found = {each.session.link: self.describe_subscription(each) for each in self.subscriptions.values()}
        self.enumerate(session, request, list(found.values()))


@fault("PF-226", does="lists subscriptions whose connections have ended")
class ListsPastSubscriptions(Server):
    def forget_subscriptions(self, session: Session) -> None:
        past = [self.describe_subscription(each) for each in session.live.values()]
        self.past = [*getattr(self, "past", []), *past]
        super().forget_subscriptions(session)

    def on_subscriptions(self, session: Session, request: Message) -> None:
        found = [self.describe_subscription(each) for each in self.subscriptions.values()]
        self.enumerate(session, request, [*found, *getattr(self, "past", [])])


@fault("PF-148", does="lists subscriptions without their filters")
class NoFilters(Server):
    def describe_subscription(self, subscription: Subscription) -> Message:
        fields = dict(super().describe_subscription(subscription))
        fields.pop("filter", None)
        return fields


@fault("PF-148", does="lists another filter than was given")
class CutFilters(Server):
    def describe_subscription(self, subscription: Subscription) -> Message:
        fields = dict(super().describe_subscription(subscription))
        if "filter" in fields:
            fields["filter"] = fields["filter"][:-1]
        return fields


class Listing(Lenient):
    """Lists services otherwise than it tells of them; ``is_listing`` while it does."""

    is_listing = False

    def on_services(self, session: Session, request: Message) -> None:
        self.is_listing = True
        try:
            super().on_services(session, request)
        finally:
            self.is_listing = False

    def describe(self, service: ServiceRecord) -> Message:
        fields = super().describe(service)
        return self.distort(dict(fields)) if self.is_listing else fields

    def distort(self, fields: dict[str, Any]) -> Message:
        """Return what is listed instead."""
        return fields


@fault("PF-149", does="takes no notice of the filter of a list of services")
class ListsAllServices(Listing):
    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        return super().snapshot(EVERYTHING if self.is_listing else selection)


@fault("PF-149", does="lists one service when there is no filter")
class OneWithoutFilter(Server):
    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        found = super().snapshot(selection)
        return found[:1] if selection.filter is None else found


@fault("PF-153", does="lists a service as it was when it was new")
class FirstGenerations(Listing):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        self.first = {**getattr(self, "first", {})}
        if known is None:
            self.first[new.id] = new
        return new

    def describe(self, service: ServiceRecord) -> Message:
        first = replace(self.first[service.id], generation=service.generation) if self.is_listing else service
        return super().describe(first)


@fault("PF-153", does="lists services without their TTL")
class NoTtl(Listing):
    def distort(self, fields: dict[str, Any]) -> Message:
        return {name: value for name, value in fields.items() if name != "ttl"}


@fault("PF-131", does="lists orphan-since of services whose owner is there")
class NobodyThere(Listing):
    def distort(self, fields: dict[str, Any]) -> Message:
        return {"orphan-since": 0, **fields}


@fault("PF-131", does="lists orphans without orphan-since")
class NoOrphans(Listing):
    def distort(self, fields: dict[str, Any]) -> Message:
        return {name: value for name, value in fields.items() if name != "orphan-since"}


@fault("PF-228", does="lists the seconds since the owner left instead of the time")
class SecondsOfOrphans(Listing):
    def distort(self, fields: dict[str, Any]) -> Message:
        if "orphan-since" in fields:
            fields["orphan-since"] = max(0, self.wall() - fields["orphan-since"])
        return fields


@fault("PF-228", does="lists the present time as that at which the owner left")
class OrphansOfThisMoment(Listing):
    def distort(self, fields: dict[str, Any]) -> Message:
        if "orphan-since" in fields:
            fields["orphan-since"] = self.wall()
        return fields


@fault("PF-156", does="says bad-filter of a list with a bad filter")
class OwnCodeForFilters(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        own = reason in (NO_REASON, INVALID_FILTER_SYNTAX) and request["ta-cmd"] == "services"
        super().fail(session, request, "bad-filter" if own else reason)


@fault("PF-147", does="says not-ready to who asks for a list before hello, or pings")
class NotReady(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        own = reason == NO_HELLO and request["ta-cmd"] in ("subscriptions", "clients", "ping")
        super().fail(session, request, "not-ready" if own else reason)


@fault("PF-173", does="leaves out the asking client")
class AllButYou(Server):
    def listed_clients(self, session: Session) -> list[Session]:
        return [each for each in super().listed_clients(session) if each is not session]


@fault("PF-176", does="leaves out since when a client is connected")
class NoTime(Lenient):
    def describe_client(self, session: Session) -> Message:
        return {name: value for name, value in super().describe_client(session).items() if name != "time"}


@fault("PF-176", does="lists the version of a client too")
class WithVersion(Lenient):
    def describe_client(self, session: Session) -> Message:
        return {**super().describe_client(session), "version": session.version}


class Mistiming(Server, ABC):
    """Lists other times than those at which clients connected."""

    def describe_client(self, session: Session) -> Message:
        """Return the fields that say who a client is."""
        return {**super().describe_client(session), "time": self.time_of(session)}

    @abstractmethod
    def time_of(self, session: Session) -> int:
        """Return the time that is listed."""


@fault("PF-177", does="lists the milliseconds at which a client connected")
class Milliseconds(Mistiming):
    def time_of(self, session: Session) -> int:
        return int(session.since * 1000)


@fault("PF-177", does="lists how long a client has been connected")
class SecondsConnected(Mistiming):
    def time_of(self, session: Session) -> int:
        return max(0, int(self.wall() - session.since))


@fault("PF-224", does="lists clients of the past for as long as their services are there")
class ListsThePast(Server):
    def forget_client(self, session: Session) -> None:
        # Who leaves nothing behind is forgotten as the reference does.
        if self.directory.owned(session.client_id or 0):
            self.past = {**getattr(self, "past", {}), session.client_id: session}
        super().forget_client(session)

    def listed_clients(self, session: Session) -> list[Session]:
        past: Mapping[Any, Session] = getattr(self, "past", {})
        return [*super().listed_clients(session), *(each for id, each in past.items() if self.directory.owned(id))]


@fault("PF-225", does="lists its own address as every client's")
class OwnAddress(Server):
    def describe_client(self, session: Session) -> Message:
        fields = dict(super().describe_client(session))
        return {**fields, **{name: "tcp:0.0.0.0:0" for name in fields if name.startswith("client-addr")}}


@fault("PF-225", does="lists an empty address")
class NoAddress(Server):
    def describe_client(self, session: Session) -> Message:
        fields = dict(super().describe_client(session))
        return {**fields, **{name: "" for name in fields if name.startswith("client-addr")}}
