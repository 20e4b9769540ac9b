"""Unusual, legal ways to keep services."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.values import Message


@oddity("PF-023", "PF-024", does="lets nobody but the owner publish a service anew")
class OwnersOnly(Server):
    def may_publish(self, session: Session, known: ServiceRecord) -> bool:
        return session.client_id == known.owner


@oddity("PF-024", does="lets nobody but the owner publish or unpublish a service, and says not why")
class SilentOwnersOnly(OwnersOnly):
    def may_unpublish(self, session: Session, service: ServiceRecord) -> bool:
        return session.client_id == service.owner

    def fail(self, session: Session, request: Message, reason: str) -> None:
        self.send(session, self.answer(request, "fail"))


@oddity("PF-012", "PF-203", does="keeps properties as sets: names and values sorted, each value once")
class SortedProperties(Server):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        # By their text: integers and strings have no order among each other.
        props = {name: sorted(set(values), key=repr) for name, values in sorted(request["service-props"].items())}
        kept = {name: values for name, values in props.items() if values}
        return super().record(session, {**request, "service-props": kept}, known)


@oddity("PF-012", "PF-129", does="keeps the values of a property in an order of its own")
class ReversedProperties(Server):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        props = {name: values[::-1] for name, values in request["service-props"].items()}
        return super().record(session, {**request, "service-props": props}, known)


@oddity("PF-023", does="tells a change of owner and a change of state one after the other")
class StepByStep(Server):
    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        if old is None or new is None or old.owner == new.owner:
            super().announce(old, new)
            return
        # In between the new owner has the service as it was.
        taken = replace(old, owner=new.owner, orphan_since=None, expires=None)
        super().announce(old, taken)
        super().announce(taken, new)


@oddity("PF-011", "PF-016", does="lists the newest service first, and tells the newest subscription first")
class NewestFirst(Server):
    def snapshot(self, selection: Any) -> list[ServiceRecord]:
        return super().snapshot(selection)[::-1]

    def concerned(self, old: ServiceRecord | None, new: ServiceRecord | None) -> list[Subscription]:
        return super().concerned(old, new)[::-1]
