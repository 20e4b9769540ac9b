"""Subscriptions and lists: which clients are notified of which services."""

from collections import Counter
from typing import Any

from harness.pathfinder.peers.answering import (
    INSUFFICIENT_RESOURCES,
    INVALID_FILTER_SYNTAX,
    NO_REASON,
    NON_EXISTENT_SUBSCRIPTION_ID,
    PERMISSION_DENIED,
    SUBSCRIPTION_ID_EXISTS,
    Answering,
    RequestRefused,
)
from harness.pathfinder.peers.directory import Directory, ServiceRecord
from harness.pathfinder.peers.limits import Limits
from harness.pathfinder.peers.matching_cost import PER_BYTE, PER_ITEM, Demand, Look, demand_of, effort, is_beyond
from harness.pathfinder.peers.matching_index import ANYTHING, Index, anchors_of_filter
from harness.pathfinder.peers.session import Selection, Session, Subscription
from wire.pathfinder.filters import Filter, FilterError, parse
from wire.pathfinder.matching import compiled
from wire.pathfinder.values import Message

APPEARED, MODIFIED, DISAPPEARED = "appeared", "modified", "disappeared"

NONE: Demand = {}

EVERYTHING = Selection(None, None, (ANYTHING,))


class Subscribing(Answering):
    """The part of the server that notifies of services."""

    def __init__(self, *, deployed: bool, limits: Limits) -> None:
        super().__init__(deployed=deployed, limits=limits)
        self.directory = Directory()
        self.subscriptions: dict[int, Subscription] = {}
        self.subscribers = Index()
        self.filters = 0
        # Kept as a sum: to add up all filters at each request would cost what this is to bound.
        self.demand: Counter[Look] = Counter()

    # --- subscribe, unsubscribe ---------------------------------------------------------------------------

    def on_subscribe(self, session: Session, request: Message) -> None:
        """Begin a subscription: the services that match now are notified at once."""
        if self.is_taken(request["subscription-id"]):
            raise RequestRefused(SUBSCRIPTION_ID_EXISTS)
        if not self.has_room_for_subscription(session, request.get("filter")):
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        subscription = self.subscription(session, request)
        if not self.can_afford(subscription.selection):
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        self.accept(session, request)
        self.remember(subscription)
        self.begin(subscription)

    def is_taken(self, subscription_id: int) -> bool:
        """Tell whether a subscription of any client has an identifier: they are unique within the domain."""
        return subscription_id in self.subscriptions

    def has_room_for_subscription(self, session: Session, filter: str | None) -> bool:
        """Tell whether a client may have one more subscription, with such a filter."""
        in_all = self.filters + len(filter or "")
        return len(session.live) < self.limits.subscriptions_each and in_all <= self.limits.filters

    def can_afford(self, selection: Selection) -> bool:
        """Tell whether the server can match one more subscription, now and at every change."""
        demand = selection.demand
        if self.demand.total() + sum(demand.values()) > self.limits.items:
            return False
        # What changes is held against the filters of all.
        services = self.directory.find(selection.anchors) if demand else []
        return self.can_search(selection) and all(self.can_announce(service, demand) for service in services)

    def can_announce(self, service: ServiceRecord, more: Demand = NONE) -> bool:
        """Tell whether the server can match a service, at every change, against all filters that concern it."""
        most = self.limits.effort - effort(more, service.bulk)
        # A bound that is cheap to know; only when it is exceeded are those whom it concerns looked for.
        if effort(self.demand, service.bulk) <= most:
            return True  # whomever it concerns
        concerned = self.concerned(None, service)
        return sum(effort(each.selection.demand, service.bulk) for each in concerned) <= most

    def subscription(self, session: Session, request: Message) -> Subscription:
        """Return the subscription that a request asks for."""
        return Subscription(request["subscription-id"], session, request, self.selection(request))

    def begin(self, subscription: Subscription) -> None:
        """Notify a subscriber of every service that matches already."""
        for service in self.snapshot(subscription.selection):
            self.notify_match(subscription, APPEARED, service)

    def on_unsubscribe(self, session: Session, request: Message) -> None:
        """End a subscription."""
        subscription = self.subscriptions.get(request["subscription-id"])
        if subscription is None:
            raise RequestRefused(NON_EXISTENT_SUBSCRIPTION_ID)
        if not self.may_unsubscribe(session, subscription):
            raise RequestRefused(PERMISSION_DENIED)
        self.forget(subscription)
        # Two transactions end; the document leaves open which is told first.
        self.end(subscription)
        self.complete(session, request)

    def may_unsubscribe(self, session: Session, subscription: Subscription) -> bool:
        """Tell whether a connection may end a subscription: only its own may."""
        return subscription.session is session

    def end(self, subscription: Subscription) -> None:
        """End the transaction of a subscription."""
        self.complete(subscription.session, subscription.request)

    def remember(self, subscription: Subscription) -> None:
        """Record a subscription."""
        self.subscriptions[subscription.id] = subscription
        self.subscribers.add(subscription.id, subscription.selection.anchors)
        self.filters += len(subscription.selection.filter or "")
        self.demand.update(subscription.selection.demand)
        subscription.session.live[subscription.request["ta-id"]] = subscription

    def forget(self, subscription: Subscription) -> None:
        """Forget a subscription: it causes no more notifications."""
        del self.subscriptions[subscription.id]
        self.subscribers.remove(subscription.id, subscription.selection.anchors)
        self.filters -= len(subscription.selection.filter or "")
        for look, count in subscription.selection.demand.items():
            self.demand[look] -= count
            if not self.demand[look]:
                del self.demand[look]
        del subscription.session.live[subscription.request["ta-id"]]

    # --- which services -----------------------------------------------------------------------------------

    def selection(self, request: Message) -> Selection:
        """Return the criteria of a request: which services it is about."""
        text = request.get("filter")
        if text is None:
            return EVERYTHING
        if len(text) > self.limits.filter:
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        tree = self.parse(text)
        return Selection(text, compiled(tree), anchors_of_filter(tree), demand_of(tree))

    def parse(self, text: str) -> Filter:
        """Read a filter."""
        try:
            return parse(text, deployed=self.deployed)
        except FilterError as error:
            raise RequestRefused(INVALID_FILTER_SYNTAX) from error

    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        """Return the published services that match."""
        return [service for service in self.directory.find(selection.anchors) if self.matches(selection, service)]

    def matches(self, selection: Selection, service: ServiceRecord) -> bool:
        """Tell whether a service matches."""
        return selection.predicate is None or selection.predicate(service.props)

    # --- notifications ------------------------------------------------------------------------------------

    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        """Notify the subscribers concerned of a service's change; ``None`` stands for a service that is not there."""
        for subscription in self.concerned(old, new):
            what = self.change(subscription, old, new)
            if what is not None:
                service = new or old
                assert service is not None
                self.notify_match(subscription, what, service)

    def concerned(self, old: ServiceRecord | None, new: ServiceRecord | None) -> list[Subscription]:
        """Return the subscriptions that may match a service as it was or as it is."""
        anchors = () if new is None else new.anchors
        if old is not None and old.anchors != anchors:
            anchors = (*anchors, *old.anchors)
        return [self.subscriptions[each] for each in self.subscribers.find(anchors)]

    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        """Return the notification that a change causes for a subscriber, if any."""
        before = old is not None and self.matches(subscription.selection, old)
        after = new is not None and self.matches(subscription.selection, new)
        if old is not None and new is not None and before and after:
            return MODIFIED if self.is_modified(old, new) else None
        if after:
            return APPEARED
        return DISAPPEARED if before else None

    def is_modified(self, old: ServiceRecord, new: ServiceRecord) -> bool:
        """Tell whether a service has been modified: section "Subscribe Command" lists what counts.

        The generation is not in that list, so a change of it alone is not told.
        """
        return (
            old.owner != new.owner
            or old.ttl != new.ttl
            or old.is_orphan != new.is_orphan
            or old.contents != new.contents
        )

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        """Send a subscriber one notification of one service."""
        fields = {"service-id": service.id} if what == DISAPPEARED else self.describe(service)
        self.notify(subscription.session, subscription.request, {"match-type": what, **fields})

    def describe(self, service: ServiceRecord) -> Message:
        """Return the fields that describe a service."""
        fields: dict[str, Any] = {
            "service-id": service.id,
            "generation": service.generation,
            "service-props": service.props,
            "ttl": service.ttl,
            "client-id": service.owner,
        }
        if service.orphan_since is not None:
            fields["orphan-since"] = service.orphan_since
        return fields

    # --- lists --------------------------------------------------------------------------------------------

    def on_services(self, session: Session, request: Message) -> None:
        """List the services."""
        try:
            selection = self.selection(request)
        except RequestRefused as refused:
            raise RequestRefused(self.reason_of_list(refused.reason)) from refused
        if not self.can_search(selection):
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        self.enumerate(session, request, [self.describe(service) for service in self.snapshot(selection)])

    def reason_of_list(self, reason: str) -> str:
        """Return the reason for which a list of services is refused, in the words that such a refusal has."""
        # Reading: by the letter these are the common ones (section "Services Fail"), and none of them is about filters.
        return reason if self.deployed or reason != INVALID_FILTER_SYNTAX else NO_REASON

    def can_search(self, selection: Selection) -> bool:
        """Tell whether the server can match the services that are asked for."""
        items = sum(selection.demand.values())
        everything = PER_ITEM * len(self.directory) + PER_BYTE * self.directory.volume
        # Again the cheap bound first.
        if items * everything <= self.limits.effort:
            return True  # whatever it finds
        services = (service.bulk for service in self.directory.find(selection.anchors))
        return not is_beyond(self.limits.effort, selection.demand, services)

    def on_subscriptions(self, session: Session, request: Message) -> None:
        """List the subscriptions of all clients."""
        self.enumerate(session, request, [self.describe_subscription(each) for each in self.subscriptions.values()])

    def describe_subscription(self, subscription: Subscription) -> Message:
        """Return the fields that describe a subscription."""
        fields: dict[str, Any] = {"subscription-id": subscription.id, "client-id": subscription.session.client_id}
        if subscription.selection.filter is not None:
            fields["filter"] = subscription.selection.filter
        return fields

    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        """Answer a request for a list."""
        self.accept(session, request)
        for fields in found:
            self.notify(session, request, fields)
        self.complete(session, request)
