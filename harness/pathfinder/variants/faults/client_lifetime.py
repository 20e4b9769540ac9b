"""Faults of a client against Pathfinder, "Service Lifetime" and "Transient Clients"."""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.pathfinder.peers.client import AWAY_SHARE, Client
from harness.pathfinder.peers.records import PublishedService
from harness.pathfinder.peers.server_state import ClientRequest, ServerState
from harness.pathfinder.variants.registry import fault


@fault("PF-031", does="comes back when three quarters of the ttl have passed")
class ComesLate(Client):
    def half_life(self, records: Iterable[PublishedService]) -> float:
        # The reference spends the part AWAY_SHARE of this time away: this makes it three quarters.
        return min(record.ttl for record in records) * 0.75 / AWAY_SHARE


@fault("PF-045", does="publishes a service again after a loss that it had unpublished")
class ForgetsToForget(Client):
    def unpublish(self, state: ServerState, service_id: int) -> None:
        record = state.records[service_id]
        super().unpublish(state, service_id)
        state.records[service_id] = record


@fault("PF-046", does="publishes its first service only after a loss")
class RepublishesOneService(Client):
    def republish(self, state: ServerState) -> Iterator[ClientRequest]:
        return iter(list(super().republish(state))[:1])


@fault("PF-046", does="publishes nothing after a loss")
class PublishesOnce(Client):
    def republish(self, state: ServerState) -> Iterator[ClientRequest]:
        return iter(())


@fault("PF-046", does="publishes its services after a loss with the ttl that they had at first")
class PublishesTheFirstTtl(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.first: dict[int, int] = {}

    def publish(self, state: ServerState, record: PublishedService) -> None:
        self.first.setdefault(record.service_id, record.ttl)
        super().publish(state, record)

    def republish(self, state: ServerState) -> Iterator[ClientRequest]:
        for request in super().republish(state):
            yield ClientRequest("publish", {**request.fields, "ttl": self.first[request.fields["service-id"]]})


@fault("PF-220", does="subscribes on its first connections only")
class SubscribesOnce(Client):
    def resubscribe(self, state: ServerState) -> Iterator[ClientRequest]:
        return iter(())


@fault("PF-220", does="subscribes to everything after a loss")
class LosesItsFilter(Client):
    def resubscribe(self, state: ServerState) -> Iterator[ClientRequest]:
        for request in super().resubscribe(state):
            yield ClientRequest("subscribe", {"subscription-id": request.fields["subscription-id"]})
