"""Faults against Pathfinder, "Service Records": what a service is, and whose."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.answering import OLD_GENERATION, PERMISSION_DENIED, RequestRefused
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.peers.subscribing import MODIFIED
from harness.pathfinder.variants.lenient import Fields, Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


class RewritesProperties(Server):
    """Keeps other properties than were published."""

    def props(self, published: Fields, known: ServiceRecord | None) -> Fields:
        """Return the properties that are kept."""
        return published

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        return super().record(session, {**request, "service-props": self.props(request["service-props"], known)}, known)


@fault("PF-011", does="tells a modification a second time, under another id")
class TwoIds(Server):
    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        super().notify_match(subscription, what, service)
        if what == MODIFIED:
            # A neighbour's id: of the same form, and nobody's.
            super().notify_match(subscription, what, replace(service, id=service.id ^ 1))


@fault("PF-012", does="keeps the first value of each name")
class FirstValues(RewritesProperties):
    def props(self, published: Fields, known: ServiceRecord | None) -> Fields:
        return {name: values[:1] for name, values in published.items()}


@fault("PF-013", does="takes any JSON for properties, and lists it")
class AnyProperties(Lenient):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.odd: dict[int, Fields] = {}

    def mend(self, fields: Fields) -> Fields | None:
        props = fields.get("service-props")
        if not isinstance(props, dict) or not isinstance(fields.get("service-id"), int):
            return None
        self.odd[fields["service-id"]] = props
        kept = {
            # type() and not isinstance(): True is an int.
            name: [each for each in values if type(each) in (str, int)]
            for name, values in props.items()
            if isinstance(values, list)
        }
        return {**fields, "service-props": kept}

    def describe(self, service: ServiceRecord) -> Message:
        fields = super().describe(service)
        return {**fields, "service-props": self.odd.get(service.id, fields["service-props"])}


@fault("PF-014", does="merges new properties into the old ones")
class Merging(RewritesProperties):
    def props(self, published: Fields, known: ServiceRecord | None) -> Fields:
        return published if known is None else {**known.props, **published}


@fault("PF-016", does="keeps the first TTL of a service")
class FirstTtl(Server):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        return new if known is None else replace(new, ttl=known.ttl)


@fault("PF-022", does="gives the asking client's id for the owner's")
class AskersOwn(Server):
    asking: int | None = None

    def take(self, session: Session, frame: bytes) -> None:
        self.asking = session.client_id
        super().take(session, frame)

    def describe(self, service: ServiceRecord) -> Message:
        fields = super().describe(service)
        return fields if self.asking is None else {**fields, "client-id": self.asking}

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        asking, self.asking = self.asking, None
        super().notify_match(subscription, what, service)
        self.asking = asking


@fault("PF-022", does="gives the subscriber's id for the owner's")
class SubscribersOwn(Server):
    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        reader = subscription.session.client_id
        super().notify_match(subscription, what, service if reader is None else replace(service, owner=reader))


@fault("PF-023", does="completes another client's republish, and keeps the owner")
class OwnerForLife(Server):
    def becomes_owner(self, session: Session, known: ServiceRecord) -> bool:
        return False


@fault("PF-024", does="fails another client's republish, and carries it out all the same")
class RefusedAndDone(Server):
    def check_republish(self, session: Session, known: ServiceRecord, new: ServiceRecord) -> None:
        super().check_republish(session, known, new)
        if session.client_id != known.owner:
            self.update(known, new)
            raise RequestRefused(PERMISSION_DENIED)


@fault("PF-024", does="says that another client's generation is old, whatever it is")
class ForeignIsOld(Server):
    def accepts_generation(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return known.owner == new.owner and super().accepts_generation(known, new)


@fault("PF-203", does="takes a number and its text for one value")
class OneOfBoth(RewritesProperties):
    def props(self, published: Fields, known: ServiceRecord | None) -> Fields:
        return {name: list({str(each): each for each in values}.values()) for name, values in published.items()}


@fault("PF-204", does="refuses a new service whose generation is not 0")
class FromZero(Server):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        if known is None and request["generation"] > 0:
            raise RequestRefused(OLD_GENERATION)
        return super().record(session, request, known)
