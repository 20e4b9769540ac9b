"""Unusual clients."""

from harness.zenoh.client import Client
from harness.zenoh.face import Entity, Face
from harness.zenoh.oddities.registry import oddity
from wire.zenoh.messages import Kind


@oddity("ZI-002", does="pushes its tokens unasked, and answers interests all the same")
class EagerClient(Client):
    def is_wanted(self, face: Face, entity: Entity) -> bool:
        return entity.kind is Kind.TOKEN or super().is_wanted(face, entity)
