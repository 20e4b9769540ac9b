"""Clients with subtle faults, each right about every sentence alone, and wrong where two conditions meet.

They were written from the document before the moves of client histories were, to see what cases and histories notice of
faults that were not written for either.
"""

from collections.abc import Iterator
from typing import Any

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import KnownService, MatchedService, MatchSource, PublishedService
from harness.pathfinder.peers.server_state import ClientRequest, PendingTransaction, ServerState, publication
from wire.pathfinder.values import Message


class Remembering(Client):
    """A client that keeps something of its own, by server or by service."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.losses: dict[int, int] = {}
        self.refusals: set[int] = set()
        self.last_gone: dict[int, int] = {}
        self.first: dict[int, PublishedService] = {}

    def on_lost(self, state: ServerState, now: float) -> None:
        super().on_lost(state, now)
        self.losses[state.server] = self.losses.get(state.server, 0) + 1

    def on_fail(self, state: ServerState, request: ClientRequest, reason: str | None, now: float) -> None:
        super().on_fail(state, request, reason, now)
        self.refusals.add(state.server)


class OldNewsAfterALoss(Remembering):
    """Takes an older generation from another server once any server was lost."""

    def is_outdated(self, known: KnownService, latest: MatchedService) -> bool:
        return not self.losses and super().is_outdated(known, latest)


class DistrustsTheReturned(Remembering):
    """Takes a service for gone when the last server says so that was never lost."""

    def is_gone_everywhere(self, known: KnownService) -> bool:
        return all(server in self.losses for server, _ in known.sources)


class MovesToTheNewest(Client):
    """Takes a service that appears in a higher generation to be on that server only."""

    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        known = self.view.services.get(service)
        if known is not None and match_type == "appeared" and latest.generation > known.seen.generation:
            known.sources = {source}
        super().see(service, source, latest, match_type)


class ForgetsWhoDidNotChange(Client):
    """Takes a service that becomes an orphan in a new generation to be on that server only."""

    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        known = self.view.services.get(service)
        if known is not None and latest.orphan and latest.generation > known.seen.generation:
            known.sources = {source}
        super().see(service, source, latest, match_type)


class PublishesTheFirstStateTwiceLost(Remembering):
    """Publishes services as they were at first, after its second loss of a server."""

    def publish(self, state: ServerState, record: PublishedService) -> None:
        self.first.setdefault(record.service_id, record)
        super().publish(state, record)

    def republish(self, state: ServerState) -> Iterator[ClientRequest]:
        if self.losses.get(state.server, 0) < 2:
            return super().republish(state)
        return (publication(self.first[each.service_id]) for each in state.records.values())


class NoSubscriptionBehindARefusal(Remembering):
    """Does not subscribe again on a server that has refused its hello, and was lost."""

    def resubscribe(self, state: ServerState) -> Iterator[ClientRequest]:
        return iter(()) if state.server in self.refusals else super().resubscribe(state)


class DeafToNewOrphans(Client):
    """Overlooks that a service has changed which becomes an orphan at the same time."""

    def is_news(self, known: KnownService, latest: MatchedService, match_type: str) -> bool:
        is_both = latest.orphan and not known.seen.orphan and latest.generation > known.seen.generation
        return not is_both and super().is_news(known, latest, match_type)


class WiderAfterTwoLosses(Remembering):
    """Subscribes without its filter on the second server, after that was lost twice."""

    def resubscribe(self, state: ServerState) -> Iterator[ClientRequest]:
        for request in super().resubscribe(state):
            is_wide = state.server > 0 and self.losses.get(state.server, 0) > 1
            fields = {name: value for name, value in request.fields.items() if not (is_wide and name == "filter")}
            yield ClientRequest(request.command, fields)


class NotBackFromElsewhere(Remembering):
    """Does not tell of a service that comes back on another server than the one that said last that it was gone."""

    def vanish(self, service: int, source: MatchSource) -> None:
        super().vanish(service, source)
        if service not in self.view.services:
            self.last_gone[service] = source[0]

    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        if service in self.view.services or self.last_gone.get(service, source[0]) == source[0]:
            super().see(service, source, latest, match_type)


class ForgetsAllBehindARefusal(Remembering):
    """Publishes one service only after the loss of a server that has refused its hello once."""

    def republish(self, state: ServerState) -> Iterator[ClientRequest]:
        again = list(super().republish(state))
        return iter(again[:1] if state.server in self.refusals else again)


class ForgetsWhatChangedMeanwhile(Remembering):
    """Goes back to the contents before a change that had no answer when a server was lost, under the new generation."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.done: dict[tuple[int, int], PublishedService] = {}

    def on_complete(self, state: ServerState, request: ClientRequest, now: float) -> None:
        super().on_complete(state, request, now)
        if request.command == "publish":
            service = request.fields["service-id"]
            if service in state.records:
                self.done[state.server, service] = state.records[service]

    def republish(self, state: ServerState) -> Iterator[ClientRequest]:
        for record in state.records.values():
            # What it says is the old state under the new number: so a server takes it, and has what is not so.
            old = self.done.get((state.server, record.service_id), record)
            yield publication(PublishedService(record.service_id, record.generation, old.props, old.ttl))


class GoneAfterTheLastChange(Client):
    """Takes a service for gone when a server says so in whose words it has told it last."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.spoken: dict[int, MatchSource] = {}
        self.teller: MatchSource | None = None

    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        self.teller = source
        super().see(service, source, latest, match_type)

    def on_modified(self, service: int, latest: MatchedService) -> None:
        super().on_modified(service, latest)
        assert self.teller is not None
        self.spoken[service] = self.teller

    def vanish(self, service: int, source: MatchSource) -> None:
        known = self.view.services.get(service)
        if known is not None and self.spoken.get(service) == source and source in known.sources:
            known.sources = {source}
        super().vanish(service, source)


class AcceptsLateWords(Client):
    """Takes a match for its subscription's under the number that this had on another server's connection."""

    def fits(self, transaction: PendingTransaction, message: Message) -> bool:
        # Of several servers: a listing's notification passes for a match of the subscription beside it.
        is_stray = len(self.server_states) > 1 and message["msg-type"] == "notify" and message["ta-cmd"] == "services"
        return is_stray or super().fits(transaction, message)

    def on_notify(self, state: ServerState, request: ClientRequest, message: Message) -> None:
        if message["ta-cmd"] == "services" and request.command == "subscribe":
            message = {**message, "match-type": "appeared"}
        super().on_notify(state, request, message)


SUBTLE = (
    OldNewsAfterALoss,
    DistrustsTheReturned,
    MovesToTheNewest,
    ForgetsWhoDidNotChange,
    PublishesTheFirstStateTwiceLost,
    NoSubscriptionBehindARefusal,
    DeafToNewOrphans,
    WiderAfterTwoLosses,
    NotBackFromElsewhere,
    ForgetsAllBehindARefusal,
    ForgetsWhatChangedMeanwhile,
    GoneAfterTheLastChange,
    AcceptsLateWords,
)
