"""Faults of a client against Pathfinder, "Service Records" and the commands for them."""

from collections.abc import Mapping
from typing import Any

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import PublishedService
from harness.pathfinder.peers.server_state import ServerState
from harness.pathfinder.variants.faults.client_messages import RewritesRequests
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-003", does="publishes services with a negative ttl")
class PublishesNegativeTtl(RewritesRequests):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"ttl": -1}


@fault("PF-006", does="identifies its services by negative numbers")
class NegativeServiceIds(RewritesRequests):
    def service_ids(self, state: ServerState, count: int) -> list[int]:
        return [-each for each in super().service_ids(state, count)]


@fault("PF-011", does="gives a service another identifier with each change")
class NewIdForChanges(Client):
    def changed(self, record: PublishedService, props: Mapping[str, Any], ttl: int) -> PublishedService:
        changed = super().changed(record, props, ttl)
        return PublishedService(changed.service_id ^ changed.generation, changed.generation, props, ttl)


@fault("PF-017", does="publishes services without a generation")
class PublishesNoGeneration(RewritesRequests):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        del message["generation"]
        return message


@fault("PF-018", does="begins at generation 1")
class BeginsAtOne(Client):
    def first_generation(self) -> int:
        return 1


@fault("PF-019", does="keeps the generation of a service whose ttl changes")
class SameGenerationForTtl(Client):
    def changed(self, record: PublishedService, props: Mapping[str, Any], ttl: int) -> PublishedService:
        if ttl != record.ttl:
            return PublishedService(record.service_id, record.generation, props, ttl)
        return super().changed(record, props, ttl)


@fault("PF-020", does="raises generations by two")
class RaisesByTwo(Client):
    def next_generation(self, record: PublishedService) -> int:
        return record.generation + 2


@fault("PF-160", does="publishes services without a ttl")
class PublishesNoTtl(RewritesRequests):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        del message["ttl"]
        return message


@fault("PF-160", does="says who owns a service that it publishes")
class PublishesItsOwner(RewritesRequests):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"client-id": self.id}


@fault("PF-168", does="adds the generation to its unpublish")
class UnpublishesGenerations(RewritesRequests):
    asking = "unpublish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"generation": 0}


@fault("PF-168", does="unpublishes another service than it had published")
class UnpublishesAnother(RewritesRequests):
    asking = "unpublish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"service-id": message["service-id"] ^ 1}
