"""Faults of a client against Pathfinder, "Multiple Server Domains"."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import KnownService, MatchedService, MatchSource, PublishedService
from harness.pathfinder.peers.server_state import ServerState
from harness.pathfinder.variants.registry import fault


@fault("PF-009", does="identifies a service by another number at each server")
class ServiceIdsPerServer(Client):
    def service_ids(self, state: ServerState, count: int) -> list[int]:
        # Another for the second server, and the same again at each connection.
        return [each ^ state.server for each in super().service_ids(state, count)]


@fault("PF-038", "PF-009", does="has a client-id for each server")
class ClientIdPerServer(Client):
    def client_id(self, state: ServerState) -> int:
        return super().client_id(state) ^ state.server


@fault("PF-039", does="publishes with a longer ttl on its second server")
class TtlPerServer(Client):
    def publish(self, state: ServerState, record: PublishedService) -> None:
        super().publish(state, replace(record, ttl=record.ttl + state.server))


@fault("PF-040", "PF-009", does="has a subscription-id for each server")
class SubscriptionIdPerServer(Client):
    def subscription_id(self, state: ServerState) -> int:
        return super().subscription_id(state) ^ state.server


@fault("PF-021", "PF-041", does="compares generations within each server only")
class ComparesWithinServers(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.latest: dict[tuple[int, MatchSource], int] = {}

    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        known = self.view.services.get(service)
        older = latest.generation < self.latest.get((service, source), 0)
        self.latest[service, source] = latest.generation
        if known is not None and not older and latest.generation < known.seen.generation:
            self.view.add(service, source)
            known.seen = latest
            self.on_modified(service, latest)
        elif not older:
            super().see(service, source, latest, match_type)


@fault("PF-021", "PF-041", does="tells every change, whatever its generation")
class TellsOldNews(Client):
    def is_outdated(self, known: KnownService, latest: MatchedService) -> bool:
        return False

    def is_news(self, known: KnownService, latest: MatchedService, match_type: str) -> bool:
        return latest != known.seen


@fault("PF-042", does="tells of a service when all servers have said that it appeared")
class WaitsForAll(Client):
    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        before = len(self.sources(service))
        super().see(service, source, latest, match_type)
        if before < len(self.server_states) == len(self.sources(service)):
            super().on_appeared(service, latest)

    def sources(self, service: int) -> set[MatchSource]:
        """Return where a service has appeared."""
        known = self.view.services.get(service)
        return known.sources if known else set()

    def on_appeared(self, service: int, latest: MatchedService) -> None:
        """Tell nothing yet."""


@fault("PF-042", does="tells of a service again when another server says that it appeared")
class TellsAllAppearances(Client):
    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        known = self.view.services.get(service)
        if match_type == "appeared" and known is not None and not self.is_outdated(known, latest):
            self.on_appeared(service, latest)
        super().see(service, source, latest, match_type)


@fault("PF-043", does="tells of a change when all servers that have a service have told of it")
class WaitsForAllChanges(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.said: dict[tuple[int, int], set[MatchSource]] = {}

    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        known = self.view.services.get(service)
        said = self.said.setdefault((service, latest.generation), set())
        said.add(source)
        if known is None or match_type != "modified" or said >= known.sources:
            super().see(service, source, latest, match_type)


@fault("PF-043", does="tells of changes in a higher generation only")
class NeedsHigherGenerations(Client):
    def is_news(self, known: KnownService, latest: MatchedService, match_type: str) -> bool:
        return latest.generation > known.seen.generation


@fault("PF-044", does="takes a service for gone when one server says so")
class GoneAtTheFirst(Client):
    def is_gone_everywhere(self, known: KnownService) -> bool:
        return True


@fault("PF-044", does="takes all services of a server for gone when its connection is lost")
class GoneWithTheServer(Client):
    def on_lost(self, state: ServerState, now: float) -> None:
        for service, _ in self.view.at(server=state.server):
            self.view.forget(service)
            self.on_disappeared(service)


@fault("PF-044", does="never takes a service for gone that was on several servers")
class NeverGone(Client):
    # With one server it behaves, or every scenario would show it.
    def is_gone_everywhere(self, known: KnownService) -> bool:
        return super().is_gone_everywhere(known) and len(self.server_states) == 1
