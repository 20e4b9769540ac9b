"""Unusual, legal ways to let services live and die."""

import math
from typing import Any

from harness.pathfinder.peers.answering import CLIENT_ID_EXISTS, RequestRefused
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.values import Message


@oddity("PF-050", "PF-131", does="takes a service for an orphan until its owner has published it again")
class UntilRepublished(Server):
    def reclaims(self, service: ServiceRecord) -> bool:
        return False


@oddity("PF-047", "PF-055", does="tells of every republish")
class TellsAll(Server):
    def is_modified(self, old: ServiceRecord, new: ServiceRecord) -> bool:
        return True

    def take_over(self, session: Session, service: ServiceRecord) -> ServiceRecord:
        # An owner's own unpublish is told once: the change of owner would be none.
        return service if session.client_id == service.owner else super().take_over(session, service)


@oddity("PF-052", "PF-057", does="removes orphans on the full second only")
class FullSeconds(Server):
    def expires(self, service: ServiceRecord) -> float:
        # Never earlier than the TTL, and at most a second later.
        return float(math.ceil(super().expires(service)))


@oddity("PF-052", does="removes an orphan with a TTL of 0 after most of a second")
class ZeroIsShort(Server):
    def expires(self, service: ServiceRecord) -> float:
        return self.now + max(service.ttl, 0.8)


@oddity("PF-228", does="notes the full second in which an owner was lost")
class WholeSeconds(Server):
    def orphan_since(self) -> float:
        return int(super().orphan_since())


@oddity("PF-229", does="keeps a client-id for a moment after its connection has closed, where the profile lets it")
class Lingering(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept: dict[int, float] = {}

    def forget_client(self, session: Session) -> None:
        super().forget_client(session)
        if session.client_id is not None and not self.deployed:
            # Within what a case tries to come back in.
            self.kept[session.client_id] = self.now + 0.3

    def greet(self, session: Session, request: Message) -> None:
        if self.kept.get(request["client-id"], 0.0) > self.now:
            raise RequestRefused(CLIENT_ID_EXISTS)
        super().greet(session, request)
