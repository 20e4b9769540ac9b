"""Faults against Pathfinder, "Subscribe Command": what a subscription is told of services, and in which fields."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, SUBSCRIPTION_ID_EXISTS
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection, Session, Subscription
from harness.pathfinder.peers.subscribing import DISAPPEARED, MODIFIED
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-120", does="tells a new subscription of later services only")
class LaterOnly(Server):
    def begin(self, subscription: Subscription) -> None:
        pass


@fault("PF-120", does="does not tell a subscriber of its own services")
class NotTheOwn(Server):
    def begin(self, subscription: Subscription) -> None:
        for service in self.snapshot(subscription.selection):
            if service.owner != subscription.session.client_id:
                self.notify_match(subscription, "appeared", service)


@fault("PF-120", does="tells a new subscription of one service too many")
class OneTooMany(Server):
    def begin(self, subscription: Subscription) -> None:
        super().begin(subscription)
        matching = self.snapshot(subscription.selection)
        for service in self.directory:
            # With three or more alone, as in the case: elsewhere the extra one would show in other rules.
            if len(matching) > 2 and service not in matching:
                self.notify_match(subscription, "appeared", service)
                return


@fault("PF-121", does="tells subscriptions with a narrow filter only of what exists already")
class ExistingOnly(Server):
    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        # The filter of the case, inside that of its play.
        is_narrow = "(name=" in (subscription.selection.filter or "")
        return None if old is None and is_narrow else super().change(subscription, old, new)


@fault("PF-121", does="goes on telling a subscription that has ended")
class GoesOn(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.ended: list[Subscription] = []

    def end(self, subscription: Subscription) -> None:
        super().end(subscription)
        self.ended.append(subscription)

    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        for subscription in self.ended:
            what = self.change(subscription, old, new)
            if what is not None and new is not None:
                self.notify_match(subscription, what, new)
        super().announce(old, new)


class Blind(Server):
    """Does not see some change."""

    def seen(self, old: ServiceRecord, new: ServiceRecord) -> ServiceRecord:
        """Return the new service as it is looked at."""
        return new

    def is_modified(self, old: ServiceRecord, new: ServiceRecord) -> bool:
        return super().is_modified(old, self.seen(old, new))


@fault("PF-122", does="does not tell when only the TTL has changed")
class BlindForTtl(Blind):
    def seen(self, old: ServiceRecord, new: ServiceRecord) -> ServiceRecord:
        return replace(new, ttl=old.ttl)


@fault("PF-122", does="does not tell when only the owner has changed")
class BlindForOwners(Blind):
    def seen(self, old: ServiceRecord, new: ServiceRecord) -> ServiceRecord:
        return replace(new, owner=old.owner)


@fault("PF-122", does="does not tell when only the properties have changed")
class BlindForProperties(Blind):
    def seen(self, old: ServiceRecord, new: ServiceRecord) -> ServiceRecord:
        return replace(new, props=old.props)


@fault("PF-122", does="does not tell when a service becomes an orphan")
class BlindForOrphans(Blind):
    def seen(self, old: ServiceRecord, new: ServiceRecord) -> ServiceRecord:
        return replace(new, orphan_since=None)


@fault("PF-122", does="tells a modification with the state before it")
class StateBefore(Server):
    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        # Where the generation rises: other changes are told as they are.
        if old is None or new is None or old.generation == new.generation:
            super().announce(old, new)
            return
        for subscription in self.concerned(old, new):
            what = self.change(subscription, old, new)
            if what is not None:
                self.notify_match(subscription, what, old if what == MODIFIED else new)


@fault("PF-123", does="tells nobody when a service is unpublished")
class UnpublishesQuietly(Server):
    def remove(self, service: ServiceRecord) -> None:
        # Orphans go as they should: their end is another fault's.
        if service.is_orphan:
            super().remove(service)
        else:
            self.directory.remove(service)


@fault("PF-123", does="tells nobody when another client than the owner unpublishes a service")
class RemovesQuietly(Server):
    def take_over(self, session: Session, service: ServiceRecord) -> ServiceRecord:
        if session.client_id != service.owner:
            self.directory.remove(service)
            service = replace(service, props={}, anchors=())
        return super().take_over(session, service)

    def update(self, old: ServiceRecord, new: ServiceRecord) -> None:
        if old.anchors:
            super().update(old, new)


@fault("PF-123", does="tells nobody when a service expires")
class ExpiresQuietly(Server):
    def expire(self, service: ServiceRecord) -> None:
        self.directory.remove(service)


@fault("PF-124", does="takes a missing filter as one that matches nothing")
class NothingByDefault(Server):
    def subscription(self, session: Session, request: Message) -> Subscription:
        made = super().subscription(session, request)
        if made.selection.filter is not None:
            return made
        nothing = Selection(None, lambda props: False, made.selection.anchors)
        return Subscription(made.id, made.session, made.request, nothing)


class Embroidering(Lenient):
    """Says other fields than it should in what it tells a subscription."""

    def embroider(self, message: Message) -> Message:
        """Return what is said instead of a message to a subscriber."""
        return message

    def send(self, session: Session, message: Message) -> None:
        super().send(session, self.embroider(message) if message["ta-cmd"] == "subscribe" else message)


@fault("PF-126", does="says the subscription-id in the accept")
class AcceptsByNumber(Lenient):
    def accept(self, session: Session, request: Message) -> None:
        said = self.answer(request, "accept")
        if request["ta-cmd"] == "subscribe":
            said["subscription-id"] = request["subscription-id"]
        self.send(session, said)


@fault("PF-127", does="leaves the match-type out when a service is modified")
class Wordless(Embroidering):
    def embroider(self, message: Message) -> Message:
        if message.get("match-type") != MODIFIED:
            return message
        return {name: value for name, value in message.items() if name != "match-type"}


@fault("PF-128", does="says gone for services that have disappeared")
class Gone(Embroidering):
    def embroider(self, message: Message) -> Message:
        return {**message, "match-type": "gone"} if message.get("match-type") == DISAPPEARED else message


@fault("PF-129", does="tells of the changed properties only")
class ChangesOnly(Server):
    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        if old is None or new is None:
            super().announce(old, new)
            return
        changed = {name: values for name, values in new.props.items() if old.props.get(name) != values}
        for subscription in self.concerned(old, new):
            what = self.change(subscription, old, new)
            if what is not None:
                self.notify_match(subscription, what, replace(new, props=changed) if changed else new)


@fault("PF-129", does="leaves the owner out of what it tells")
class Ownerless(Embroidering):
    def embroider(self, message: Message) -> Message:
        return {name: value for name, value in message.items() if name != "client-id"}


@fault("PF-130", does="tells the properties of services that have disappeared")
class LastWords(Lenient):
    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        if what == DISAPPEARED:
            fields = {"match-type": what, "service-id": service.id, "service-props": service.props}
            self.notify(subscription.session, subscription.request, fields)
        else:
            super().notify_match(subscription, what, service)


@fault("PF-131", does="says orphan-since 0 of services whose owner is there")
class OrphanSinceZero(Server):
    def describe(self, service: ServiceRecord) -> Message:
        return {"orphan-since": 0, **super().describe(service)}


@fault("PF-131", does="leaves orphan-since out of lists and of what appears")
class LooksFine(Server):
    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        return [replace(service, orphan_since=None) for service in super().snapshot(selection)]


@fault("PF-134", does="has the two reasons of subscribe the wrong way round")
class SwappedReasons(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        if request["ta-cmd"] == "subscribe":
            swapped = {SUBSCRIPTION_ID_EXISTS: INVALID_FILTER_SYNTAX, INVALID_FILTER_SYNTAX: SUBSCRIPTION_ID_EXISTS}
            reason = swapped.get(reason, reason)
        super().fail(session, request, reason)


@fault("PF-228", does="gives the seconds since its start for the time when an owner was lost")
class OwnTime(Server):
    def orphan_since(self) -> float:
        return self.now


@fault("PF-228", does="gives the present time for that at which an owner was lost")
class SinceNow(Server):
    def describe(self, service: ServiceRecord) -> Message:
        fields = super().describe(service)
        if service.orphan_since is None or service.expires is None:
            return fields
        lost = service.expires - service.ttl
        return {**fields, "orphan-since": service.orphan_since + self.now - lost}
