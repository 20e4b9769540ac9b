"""Faults of a client against Pathfinder, "Service Records" and the commands for them."""

from collections.abc import Mapping
from typing import Any

from harness.pathfinder.account import Account
from harness.pathfinder.client import Client
from harness.pathfinder.faults.client_messages import Rewriting
from harness.pathfinder.faults.registry import fault
from harness.pathfinder.records import Record
from wire.pathfinder.frames import Message


@fault("PF-003", does="publishes services with a negative ttl")
class PublishesNegativeTtl(Rewriting):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"ttl": -1}


@fault("PF-006", does="identifies its services by negative numbers")
class NegativeServiceIds(Rewriting):
    def service_ids(self, account: Account, count: int) -> list[int]:
        return [-each for each in super().service_ids(account, count)]


@fault("PF-011", does="gives a service another identifier with each change")
class NewIdForChanges(Client):
    def changed(self, record: Record, props: Mapping[str, Any], ttl: int) -> Record:
        changed = super().changed(record, props, ttl)
        return Record(changed.service_id ^ changed.generation, changed.generation, props, ttl)


@fault("PF-017", does="publishes services without a generation")
class PublishesNoGeneration(Rewriting):
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
    def changed(self, record: Record, props: Mapping[str, Any], ttl: int) -> Record:
        if ttl != record.ttl:
            return Record(record.service_id, record.generation, props, ttl)
        return super().changed(record, props, ttl)


@fault("PF-020", does="raises generations by two")
class RaisesByTwo(Client):
    def next_generation(self, record: Record) -> int:
        return record.generation + 2


@fault("PF-160", does="publishes services without a ttl")
class PublishesNoTtl(Rewriting):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        del message["ttl"]
        return message


@fault("PF-160", does="says who owns a service that it publishes")
class PublishesItsOwner(Rewriting):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"client-id": self.id}


@fault("PF-168", does="adds the generation to its unpublish")
class UnpublishesGenerations(Rewriting):
    asking = "unpublish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"generation": 0}


@fault("PF-168", does="unpublishes another service than it had published")
class UnpublishesAnother(Rewriting):
    asking = "unpublish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"service-id": message["service-id"] ^ 1}
