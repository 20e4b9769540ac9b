"""Servers with subtle faults, each right about every sentence alone, and wrong where two conditions meet.

Written from the document when the moves of server histories were known; those of clients were written before theirs.
"""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection, Session, Subscription
from harness.pathfinder.peers.subscribing import APPEARED, DISAPPEARED, MODIFIED
from wire.pathfinder.values import Message


class StaysAnOrphanForOthers(Server):
    """Leaves a service an orphan that another client publishes as it is."""

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        is_same = known is not None and known.owner != new.owner and known.generation == new.generation
        if known is not None and is_same and known.is_orphan:
            return replace(new, orphan_since=known.orphan_since, expires=known.expires)
        return new


class KeepsTheTtlOfTheFormerOwner(Server):
    """Keeps the TTL of a service that another client takes over and changes."""

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        return replace(new, ttl=known.ttl) if known is not None and known.owner != new.owner else new


class SilentAboutTheEndOfOrphans(Server):
    """Does not tell a subscription with a filter that an orphan is gone."""

    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        what = super().change(subscription, old, new)
        is_end = what == DISAPPEARED and old is not None and old.is_orphan
        return None if is_end and subscription.selection.filter is not None else what


class EndsEqualSubscriptions(Server):
    """Ends what is told to the other subscription of a client that has the same filter as the one that it ends."""

    def forget(self, subscription: Subscription) -> None:
        super().forget(subscription)
        for other in self.subscriptions.values():
            if other.session is subscription.session and other.selection.filter == subscription.selection.filter:
                self.subscribers.remove(other.id, other.selection.anchors)


class OldFilterOfAnId(Server):
    """Gives a subscription the filter that the identifier had when another client used it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.had: dict[int, tuple[int | None, Selection]] = {}

    def subscription(self, session: Session, request: Message) -> Subscription:
        new = super().subscription(session, request)
        owner, selection = self.had.setdefault(new.id, (session.client_id, new.selection))
        return new if owner == session.client_id else replace(new, selection=selection)


class NewNameForWhatMovedAway(Server):
    """Tells that a service has changed, and not that it matches now, when it has changed its owner with that."""

    def change(self, subscription: Subscription, old: ServiceRecord | None, new: ServiceRecord | None) -> str | None:
        what = super().change(subscription, old, new)
        is_moved = old is not None and new is not None and old.owner != new.owner
        return MODIFIED if what == APPEARED and is_moved else what


class AsksTheOwnerAboutGenerations(Server):
    """Takes a lower generation from a client that does not own the service, when that is an orphan."""

    def accepts_generation(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return known.is_orphan or super().accepts_generation(known, new)
