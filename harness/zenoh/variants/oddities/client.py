"""Unusual clients."""

from harness.zenoh.peers.client import Client
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import oddity
from wire.zenoh.values import EntityKind


@oddity("ZI-002", does="pushes its tokens unasked, and answers interests all the same")
class EagerClient(Client):
    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return entity.kind is EntityKind.TOKEN or super().is_wanted(session, entity)
