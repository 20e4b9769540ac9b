"""Unusual clients."""

from harness.zenoh.client import Client
from harness.zenoh.face import Entity, Face
from harness.zenoh.oddities.registry import oddity


@oddity("ZI-002", does="pushes its declarations unasked, and answers interests all the same")
class EagerClient(Client):
    def is_wanted(self, face: Face, entity: Entity) -> bool:
        return True
