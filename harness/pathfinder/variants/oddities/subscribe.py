"""Unusual, legal ways to serve a subscription."""

from typing import Any

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection, Session, Subscription
from harness.pathfinder.peers.subscribing import DISAPPEARED
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.values import Message


@oddity("PF-123", does="removes what another client unpublishes without making it the owner first")
class PlainRemoval(Server):
    def take_over(self, session: Session, service: ServiceRecord) -> ServiceRecord:
        return service


@oddity("PF-128", "PF-123", does="says removed for disappeared, where the profile lets it")
class SaysRemoved(Lenient):
    def send(self, session: Session, message: Message) -> None:
        if message.get("match-type") == DISAPPEARED and not self.deployed:
            message = {**message, "match-type": "removed"}
        super().send(session, message)


@oddity("PF-121", does="completes an unsubscribe before the subscription that it ends")
class EndsLast(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.ending: list[Subscription] = []

    def end(self, subscription: Subscription) -> None:
        self.ending.append(subscription)

    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        super().complete(session, request, fields)
        while self.ending:
            super().end(self.ending.pop())


@oddity("PF-120", does="tells a new subscriber of its own services last, and of the others backwards")
class OwnOnesLast(Server):
    def begin(self, subscription: Subscription) -> None:
        client_id = subscription.session.client_id
        backwards = self.snapshot(subscription.selection)
        backwards.reverse()
        for service in sorted(backwards, key=lambda each: each.owner == client_id):
            self.notify_match(subscription, "appeared", service)


@oddity("PF-124", does="looks at every service for every filter")
class LooksAtAll(Server):
    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        return [service for service in self.directory if self.matches(selection, service)]

    def concerned(self, old: ServiceRecord | None, new: ServiceRecord | None) -> list[Subscription]:
        return list(self.subscriptions.values())
