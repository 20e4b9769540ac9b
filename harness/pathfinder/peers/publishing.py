"""Publishing: what becomes of services and of whose they are."""

import math
import time
from collections.abc import Callable

from msgspec.structs import replace

from harness.pathfinder.peers.answering import (
    INSUFFICIENT_RESOURCES,
    NON_EXISTENT_SERVICE_ID,
    OLD_GENERATION,
    PERMISSION_DENIED,
    SAME_GENERATION_BUT_DIFFERENT,
    RequestRefused,
)
from harness.pathfinder.peers.directory import ServiceRecord, record
from harness.pathfinder.peers.limits import Limits
from harness.pathfinder.peers.session import Session
from harness.pathfinder.peers.subscribing import Subscribing
from wire.pathfinder.values import Message


class Publishing(Subscribing):
    """The part of the server that keeps the directory; ``wall`` returns the seconds since the epoch."""

    def __init__(self, *, deployed: bool, limits: Limits, wall: Callable[[], float] = time.time) -> None:
        super().__init__(deployed=deployed, limits=limits)
        self.wall = wall

    # --- publish ------------------------------------------------------------------------------------------

    def on_publish(self, session: Session, request: Message) -> None:
        """Publish a service, or republish it."""
        known = self.directory.get(request["service-id"])
        new = self.record(session, request, known)
        if known is not None:
            self.check_republish(session, known, new)
        if not self.has_room_for_service(known, new) or not self.can_announce(new):
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        self.directory.put(new)
        self.complete(session, request)
        self.announce(known, new)

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        """Make a service of a request: it is the publisher's, and the publisher is there."""
        assert session.client_id is not None
        new = record(
            request["service-id"],
            request["generation"],
            request["service-props"],
            request["ttl"],
            session.client_id,
        )
        if known is None or self.becomes_owner(session, known):
            return new
        return replace(new, owner=known.owner, orphan_since=known.orphan_since, expires=known.expires)

    def check_republish(self, session: Session, known: ServiceRecord, new: ServiceRecord) -> None:
        """Refuse to republish a service against the rules of section "Publish Command"."""
        if not self.may_publish(session, known):
            raise RequestRefused(PERMISSION_DENIED)
        if not self.accepts_generation(known, new):
            raise RequestRefused(OLD_GENERATION)
        if self.contradicts(known, new):
            raise RequestRefused(SAME_GENERATION_BUT_DIFFERENT)

    def may_publish(self, session: Session, known: ServiceRecord) -> bool:
        """Tell whether a client may republish a service: every client may."""
        return True

    def accepts_generation(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        """Tell whether a generation may follow the one that is known."""
        return new.generation >= known.generation

    def contradicts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        """Tell whether a service differs from another of its generation."""
        return new.generation == known.generation and (new.ttl != known.ttl or new.contents != known.contents)

    def becomes_owner(self, session: Session, known: ServiceRecord) -> bool:
        """Tell whether who publishes or unpublishes a service becomes its owner."""
        return True

    def has_room_for_service(self, known: ServiceRecord | None, new: ServiceRecord) -> bool:
        """Tell whether the directory can take a service, and its owner have it."""
        volume = self.directory.volume + new.weight - (0 if known is None else known.weight)
        if volume > self.limits.volume or (known is None and len(self.directory) >= self.limits.services):
            return False
        is_theirs = known is not None and known.owner == new.owner
        return is_theirs or self.directory.count_owned(new.owner) < self.limits.services_each

    # --- unpublish ----------------------------------------------------------------------------------------

    def on_unpublish(self, session: Session, request: Message) -> None:
        """Take a service back."""
        service = self.directory.get(request["service-id"])
        if service is None:
            raise RequestRefused(NON_EXISTENT_SERVICE_ID)
        if not self.may_unpublish(session, service):
            raise RequestRefused(PERMISSION_DENIED)
        self.complete(session, request)
        self.remove(self.take_over(session, service))

    def may_unpublish(self, session: Session, service: ServiceRecord) -> bool:
        """Tell whether a client may unpublish a service: anybody may."""
        return True

    def take_over(self, session: Session, service: ServiceRecord) -> ServiceRecord:
        """Make a service that is to go its remover's first, and no orphan."""
        # Reading: only an owner who is there removes a service, so whoever removes it becomes that, and this is told.
        if not self.becomes_owner(session, service):
            return service
        assert session.client_id is not None
        taken = replace(service, owner=session.client_id, orphan_since=None, expires=None)
        self.update(service, taken)
        return taken

    def update(self, old: ServiceRecord, new: ServiceRecord) -> None:
        """Put a service in the place of what it was, and tell whom it concerns."""
        self.directory.put(new)
        self.announce(old, new)

    def remove(self, service: ServiceRecord) -> None:
        """Remove a service, and tell whom it concerns."""
        self.directory.remove(service)
        self.announce(service, None)

    # --- orphans ------------------------------------------------------------------------------------------

    def lose_contact(self, client_id: int) -> None:
        """Make orphans of a client's services."""
        since = self.orphan_since()
        for service in self.directory.owned(client_id):
            self.orphan(service, since)

    def orphan_since(self) -> float:
        """Return the present time, as an orphan has it."""
        # `orphan-since` is not negative, and a clock may be wrong.
        return max(0.0, self.wall())

    def orphan(self, service: ServiceRecord, since: float) -> None:
        """Make an orphan of a service."""
        self.update(service, replace(service, orphan_since=since, expires=self.expires(service)))

    def expires(self, service: ServiceRecord) -> float:
        """Return when a service whose owner is lost now is to be removed, on the server's clock."""
        # A float: the largest TTL (2**63-1) does not overflow.
        return self.now + service.ttl

    def regain_contact(self, client_id: int) -> None:
        """Reclaim the services of a client that is back."""
        # Reading (R24): the document ties a service's life to its owner being connected and leaves `orphan-since` out
        # while the owner is in contact. So the owner's hello is enough; publishing anew, as the client must, changes
        # nothing. Deployed servers wait for that.
        for service in self.directory.owned(client_id):
            if service.is_orphan and self.reclaims(service):
                self.reclaim(service)

    def reclaims(self, service: ServiceRecord) -> bool:
        """Tell whether the mere hello of its owner ends a service's being an orphan."""
        return not self.deployed

    def reclaim(self, service: ServiceRecord) -> None:
        """End a service's being an orphan."""
        self.update(service, replace(service, orphan_since=None, expires=None))

    def expire_due(self) -> None:
        """Remove the orphans whose TTL has expired."""
        for service in self.directory.take_expired(self.now):
            self.expire(service)

    def expire(self, service: ServiceRecord) -> None:
        """Remove an orphan whose TTL has expired."""
        self.remove(service)

    def next_expiry(self) -> float:
        """Return when the next orphan expires."""
        at = self.directory.next_expiry()
        return math.inf if at is None else at
