"""Faults of a client against Pathfinder, "Service Lifetime" and "Transient Clients"."""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.pathfinder.peers.account import Account, ClientRequest
from harness.pathfinder.peers.client import HASTE, Client
from harness.pathfinder.peers.records import PublishedService
from harness.pathfinder.variants.registry import fault


@fault("PF-031", does="comes back when three quarters of the ttl have passed")
class ComesLate(Client):
    def half_life(self, records: Iterable[PublishedService]) -> float:
        return min(record.ttl for record in records) * 0.75 / HASTE


@fault("PF-045", does="publishes a service again after a loss that it had unpublished")
class ForgetsToForget(Client):
    def unpublish(self, account: Account, service_id: int) -> None:
        record = account.records[service_id]
        super().unpublish(account, service_id)
        account.records[service_id] = record


@fault("PF-046", does="publishes its first service only after a loss")
class RepublishesOneService(Client):
    def republish(self, account: Account) -> Iterator[ClientRequest]:
        return iter(list(super().republish(account))[:1])


@fault("PF-046", does="publishes nothing after a loss")
class PublishesOnce(Client):
    def republish(self, account: Account) -> Iterator[ClientRequest]:
        return iter(())


@fault("PF-046", does="publishes its services after a loss with the ttl that they had at first")
class PublishesTheFirstTtl(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.first: dict[int, int] = {}

    def publish(self, account: Account, record: PublishedService) -> None:
        self.first.setdefault(record.service_id, record.ttl)
        super().publish(account, record)

    def republish(self, account: Account) -> Iterator[ClientRequest]:
        for request in super().republish(account):
            yield ClientRequest("publish", {**request.fields, "ttl": self.first[request.fields["service-id"]]})


@fault("PF-220", does="subscribes on its first connections only")
class SubscribesOnce(Client):
    def subscribe_anew(self, account: Account) -> Iterator[ClientRequest]:
        return iter(())


@fault("PF-220", does="subscribes to everything after a loss")
class LosesItsFilter(Client):
    def subscribe_anew(self, account: Account) -> Iterator[ClientRequest]:
        for request in super().subscribe_anew(account):
            yield ClientRequest("subscribe", {"subscription-id": request.fields["subscription-id"]})
