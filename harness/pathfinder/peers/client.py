"""The reference client: plays a scenario on every server of a domain, comes back when it is cut off, and tells what its
subscriptions see.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.pathfinder.peers.reconnecting import ReconnectingClient
from harness.pathfinder.peers.records import PublishedService, Watcher
from harness.pathfinder.peers.scenarios import (
    Change,
    Leave,
    Publish,
    Query,
    Step,
    Subscribe,
    Unpublish,
    Unsubscribe,
)
from harness.pathfinder.peers.scenarios import scenario as known_scenario
from harness.pathfinder.peers.server_state import ClientRequest, ServerState, publication, subscription
from wire.pathfinder.values import Message

# The document leaves it to the client. Often enough to be seen within a play, seldom enough to burden nobody.
RETRY = 2.0
"""Seconds until a failed command is tried again."""

# The rest is for dialling, the hello and publishing anew.
AWAY_SHARE = 0.7
"""The part of the time until a transient client must be back that it spends away."""

HOPELESS = frozenset(
    {
        "old-generation",
        "same-generation-but-different",
        "invalid-filter-syntax",
        "non-existent-subscription-id",
        "non-existent-service-id",
    }
)
"""Reasons that repeating the same command cannot change."""


class Client(ReconnectingClient, Watcher):
    """A Pathfinder client; ``events`` has the notifications to its application (docs/pathfinder-client.md).

    ``servers`` is how many servers the domain has; ``seed`` chooses the identifiers, the system's randomness without.
    Each decision that the document leaves to a client is a method, here or in a base.
    """

    def __init__(
        self, *, profile: str = "document", scenario: str = "", servers: int = 1, seed: int | None = None
    ) -> None:
        self.random = random.SystemRandom() if seed is None else random.Random(seed)
        ReconnectingClient.__init__(self, client_id=self.new_id(), deployed=profile == "deployed", servers=servers)
        Watcher.__init__(self)
        self.steps = known_scenario(scenario).steps
        self.subscription = self.new_id()
        self.services: list[int] = []

    def take_events(self) -> list[str]:
        """Return the notifications to the application since the last call."""
        events, self.events = self.events, []
        return events

    # --- decisions ----------------------------------------------------------------------------------------

    def new_id(self) -> int:
        """Return an identifier. Section "Unique Identifiers": chosen at random, so that no coordination is needed."""
        return self.random.getrandbits(63)

    def service_ids(self, state: ServerState, count: int) -> list[int]:
        """Return the identifiers of the first ``count`` services: the same on all servers."""
        while len(self.services) < count:
            self.services.append(self.new_id())
        return self.services[:count]

    def subscription_id(self, state: ServerState) -> int:
        """Return the subscription's identifier: the same on all servers, and after each loss."""
        return self.subscription

    def first_generation(self) -> int:
        """Return the generation of a service that is published for the first time."""
        return 0

    def next_generation(self, record: PublishedService) -> int:
        """Return the generation of a service that was changed."""
        return record.generation + 1

    def half_life(self, records: Iterable[PublishedService]) -> float:
        """Return how many seconds a transient client may stay away. Section "Transient Clients"."""
        return min(record.ttl for record in records) / 2

    def republish(self, state: ServerState) -> Iterator[ClientRequest]:
        """Return the requests that publish all services on a server again. Section "Service Lifetime"."""
        return map(publication, state.records.values())

    def resubscribe(self, state: ServerState) -> Iterator[ClientRequest]:
        """Return the requests that make all subscriptions again: they ended with the connection before."""
        return (subscription(*each) for each in state.subscriptions.items())

    def is_hopeless(self, reason: str | None) -> bool:
        """Tell whether a command that failed would fail again."""
        return reason in HOPELESS

    # --- the course of a connection -----------------------------------------------------------------------

    def on_greeted(self, state: ServerState, now: float) -> None:
        """Bring a server up to date, before what the connection before left undone."""
        # In front, and in this order: what is published must be there before what the connection before left undone.
        state.queue.extendleft(reversed([*self.republish(state), *self.resubscribe(state)]))

    def on_settled(self, state: ServerState, now: float) -> bool:
        """Play the next step, if there is one."""
        if state.step == len(self.steps):
            return False
        state.step += 1
        self.play(state, self.steps[state.step - 1], now)
        return True

    def on_lost(self, state: ServerState, now: float) -> None:
        """Keep what was seen there, to be confirmed."""
        self.mark_unconfirmed(now, server=state.server)

    def on_notify(self, state: ServerState, request: ClientRequest, message: Message) -> None:
        """Take the matches of a subscription that has not been ended; a listing's entries interest nobody here."""
        subscription_id = request.fields.get("subscription-id")
        if subscription_id in state.subscriptions:
            self.on_match((state.server, subscription_id), message)

    def on_complete(self, state: ServerState, request: ClientRequest, now: float) -> None:
        """Subscribe again when the server has ended a subscription that nobody unsubscribed."""
        subscription_id = request.fields.get("subscription-id")
        if request.command == "subscribe" and subscription_id in state.subscriptions:
            self.mark_unconfirmed(now, server=state.server, subscription=subscription_id)
            state.later.append((now + RETRY, request))

    def on_fail(self, state: ServerState, request: ClientRequest, reason: str | None, now: float) -> None:
        """Tell the application, and try again later what may succeed then."""
        self.events.append(f"failed {request.command} {word(reason)}")
        # A hello is repeated by `greet_again`, with pauses of its own.
        if request.command != "hello" and not self.is_hopeless(reason):
            state.later.append((now + RETRY, request))

    def tick(self, now: float) -> None:
        """Let time pass."""
        super().tick(now)
        self.give_up_unconfirmed(now)

    def next_tick(self) -> float | None:
        """Return when to call ``tick`` next."""
        return min((at for at in (super().next_tick(), self.view.next_unconfirmed()) if at is not None), default=None)

    # --- the scenario -------------------------------------------------------------------------------------

    def play(self, state: ServerState, step: Step, now: float) -> None:
        """Do one step of the scenario on one server."""
        match step:
            case Publish(services=services):
                ids = self.service_ids(state, len(services))
                for service_id, each in zip(ids, services, strict=True):
                    self.publish(state, PublishedService(service_id, self.first_generation(), each.props, each.ttl))
            case Change(props=props, ttl=ttl):
                old = state.records[self.service_ids(state, 1)[0]]
                self.publish(state, self.changed(old, props or old.props, ttl or old.ttl))
            case Unpublish():
                self.unpublish(state, self.service_ids(state, 1)[0])
            case Subscribe(filter=filter):
                self.subscribe(state, self.subscription_id(state), filter)
            case Unsubscribe():
                self.unsubscribe(state, now)
            case Query(command=command, filter=filter):
                state.queue.append(ClientRequest(command, {} if filter is None else {"filter": filter}))
            case Leave():
                self.leave(state, now)

    def publish(self, state: ServerState, record: PublishedService) -> None:
        """Publish a service, or a change of it."""
        state.records[record.service_id] = record
        state.queue.append(publication(record))

    def changed(self, record: PublishedService, props: Mapping[str, Any], ttl: int) -> PublishedService:
        """Return a service with other properties or another TTL. Section "Generation"."""
        return PublishedService(record.service_id, self.next_generation(record), props, ttl)

    def unpublish(self, state: ServerState, service_id: int) -> None:
        """Unpublish a service; from now on it is not published again."""
        del state.records[service_id]
        state.queue.append(ClientRequest("unpublish", {"service-id": service_id}))

    def subscribe(self, state: ServerState, subscription_id: int, filter: str | None) -> None:
        """Subscribe."""
        state.subscriptions[subscription_id] = filter
        state.queue.append(subscription(subscription_id, filter))

    def unsubscribe(self, state: ServerState, now: float) -> None:
        """End the subscriptions; those that the server refused need no end there."""
        for subscription_id in state.subscriptions:
            self.drop_subscription(server=state.server, subscription=subscription_id)
        state.subscriptions.clear()
        # Only subscriptions live on here: a step begins when everything else is answered.
        for transaction in state.live.values():
            transaction.deadline = now + self.patience()
            state.queue.append(
                ClientRequest("unsubscribe", {"subscription-id": transaction.request.fields["subscription-id"]})
            )

    def leave(self, state: ServerState, now: float) -> None:
        """Disconnect, to come back and do the same again before half of the lowest TTL has passed."""
        # So that this step is played again after the next hello.
        state.step -= 1
        self.hang_up(state, now)
        state.dial_at = now + self.half_life(state.records.values()) * AWAY_SHARE


def word(reason: str | None) -> str:
    """Return a reason as one word of plain letters, ``-`` for none: a server may say anything, an event is one line."""
    return "".join(each if "!" <= each <= "~" else "_" for each in reason or "-")[:100]
