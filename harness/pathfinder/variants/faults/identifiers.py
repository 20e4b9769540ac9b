"""Faults against Pathfinder, "Unique Identifiers": of clients, services and subscriptions."""

from typing import Any

from harness.pathfinder.peers.answering import SUBSCRIPTION_ID_EXISTS, RequestRefused
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.lenient import Fields, Lenient
from harness.pathfinder.variants.registry import fault
from wire.json.strict import MOST
from wire.pathfinder.values import Message


class Translating(Lenient):
    """Keeps subscriptions under identifiers of its own: ``outer`` maps them to those of the client."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.outer: dict[int, int] = {}

    def describe_subscription(self, subscription: Subscription) -> Message:
        fields = super().describe_subscription(subscription)
        return {**fields, "subscription-id": self.outer.get(subscription.id, subscription.id)}


@fault("PF-006", "PF-003", does="takes negative subscription-ids, and lists them")
class NegativeSubscriptions(Translating):
    def mend(self, fields: Fields) -> Fields | None:
        id = fields.get("subscription-id")
        if not isinstance(id, int) or id >= 0:
            return None
        # Into the range and back: no positive identifier of a play is as large.
        self.outer[MOST + id] = id
        return {**fields, "subscription-id": MOST + id}


@fault("PF-007", does="keeps the subscription-ids of each client apart")
class IdsOfEach(Translating):
    def execute(self, session: Session, request: Message) -> None:
        id = request.get("subscription-id")
        known = None if id is None else self.subscriptions.get(id)
        if id is not None and known is not None and known.session is not session:
            # Always the same one for a connection and an identifier, and hardly ever one that is in use.
            inner = (id ^ hash((session.link, id))) & MOST
            self.outer[inner] = id
            request = {**request, "subscription-id": inner}
        super().execute(session, request)


@fault("PF-010", does="refuses service-ids of more than 62 bits")
class ShortIds(Server):
    def on_publish(self, session: Session, request: Message) -> None:
        # One bit less than the document has.
        if request["service-id"] >> 62:
            raise RequestRefused("out-of-range")
        super().on_publish(session, request)


@fault("PF-202", does="keeps one set of identifiers for all sorts of things")
class OneSetOfIds(Server):
    def execute(self, session: Session, request: Message) -> None:
        id, service = request.get("subscription-id"), request.get("service-id")
        if request["ta-cmd"] == "subscribe" and (id in self.clients or self.directory.get(id or 0) is not None):
            raise RequestRefused(SUBSCRIPTION_ID_EXISTS)
        if request["ta-cmd"] == "publish" and (service in self.clients or service in self.subscriptions):
            raise RequestRefused("service-id-exists")
        super().execute(session, request)
