"""The reference client: plays a scenario on every server of a domain, comes back when it is cut off, and tells what its
subscriptions see.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.pathfinder.peers.account import Account, ClientRequest, publication, subscription
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
from wire.pathfinder.values import Message

# The document leaves it to the client. Often enough to be seen within a play, seldom enough to burden nobody.
RETRY = 2.0
"""Seconds until a failed command is tried again."""

# The rest is for dialling, the hello and publishing anew.
HASTE = 0.6
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
    """A Pathfinder client; ``events`` has what its application is told (docs/pathfinder-client.md).

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
        """Return what the application was told, and forget it."""
        events, self.events = self.events, []
        return events

    # --- decisions ----------------------------------------------------------------------------------------

    def new_id(self) -> int:
        """Return an identifier. Section "Unique Identifiers": chosen at random, so that nobody need coordinate."""
        return self.random.getrandbits(63)

    def service_ids(self, account: Account, count: int) -> list[int]:
        """Return the identifiers of the first so many services: the same on all servers."""
        while len(self.services) < count:
            self.services.append(self.new_id())
        return self.services[:count]

    def subscription_id(self, account: Account) -> int:
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

    def republish(self, account: Account) -> Iterator[ClientRequest]:
        """Return what makes all services known to a server, anew after a loss. Section "Service Lifetime"."""
        return map(publication, account.records.values())

    def subscribe_anew(self, account: Account) -> Iterator[ClientRequest]:
        """Return what makes the subscriptions: they ended with the connection before."""
        return (subscription(*each) for each in account.subscriptions.items())

    def is_hopeless(self, reason: str | None) -> bool:
        """Tell whether a command that failed would fail again."""
        return reason in HOPELESS

    # --- the course of a connection -----------------------------------------------------------------------

    def on_greeted(self, account: Account, now: float) -> None:
        """Bring a server up to date, before what the connection before left undone."""
        # In front, and in this order: what is published must be there before what the connection before left undone.
        account.queue.extendleft(reversed([*self.republish(account), *self.subscribe_anew(account)]))

    def on_settled(self, account: Account, now: float) -> bool:
        """Play the next step, if there is one."""
        if account.step == len(self.steps):
            return False
        account.step += 1
        self.play(account, self.steps[account.step - 1], now)
        return True

    def on_lost(self, account: Account, now: float) -> None:
        """Keep what was seen there, in doubt."""
        self.unconfirm(now, server=account.server)

    def on_notify(self, account: Account, request: ClientRequest, message: Message) -> None:
        """Take the matches of a subscription that has not been ended; a listing's entries interest nobody here."""
        subscription_id = request.fields.get("subscription-id")
        if subscription_id in account.subscriptions:
            self.on_match((account.server, subscription_id), message)

    def on_complete(self, account: Account, request: ClientRequest, now: float) -> None:
        """Subscribe anew when the server has ended a subscription that nobody unsubscribed."""
        subscription_id = request.fields.get("subscription-id")
        if request.command == "subscribe" and subscription_id in account.subscriptions:
            self.unconfirm(now, server=account.server, subscription=subscription_id)
            account.later.append((now + RETRY, request))

    def on_fail(self, account: Account, request: ClientRequest, reason: str | None, now: float) -> None:
        """Tell the application, and try again later what may succeed then."""
        self.events.append(f"failed {request.command} {word(reason)}")
        # A hello is repeated by `greet_again`, with pauses of its own.
        if request.command != "hello" and not self.is_hopeless(reason):
            account.later.append((now + RETRY, request))

    def tick(self, now: float) -> None:
        """Let time pass."""
        super().tick(now)
        self.give_up_doubtful(now)

    def next_tick(self) -> float | None:
        """Return when time matters next."""
        return min((at for at in (super().next_tick(), self.picture.next_doubt()) if at is not None), default=None)

    # --- the scenario -------------------------------------------------------------------------------------

    def play(self, account: Account, step: Step, now: float) -> None:
        """Do one step of the scenario on one server."""
        match step:
            case Publish(services=services):
                ids = self.service_ids(account, len(services))
                for service_id, each in zip(ids, services, strict=True):
                    self.publish(account, PublishedService(service_id, self.first_generation(), each.props, each.ttl))
            case Change(props=props, ttl=ttl):
                old = account.records[self.service_ids(account, 1)[0]]
                self.publish(account, self.changed(old, props or old.props, ttl or old.ttl))
            case Unpublish():
                self.unpublish(account, self.service_ids(account, 1)[0])
            case Subscribe(filter=filter):
                self.subscribe(account, self.subscription_id(account), filter)
            case Unsubscribe():
                self.unsubscribe(account, now)
            case Query(command=command, filter=filter):
                account.queue.append(ClientRequest(command, {} if filter is None else {"filter": filter}))
            case Leave():
                self.leave(account, now)

    def publish(self, account: Account, record: PublishedService) -> None:
        """Publish a service, or a change of it."""
        account.records[record.service_id] = record
        account.queue.append(publication(record))

    def changed(self, record: PublishedService, props: Mapping[str, Any], ttl: int) -> PublishedService:
        """Return a service with other properties or another TTL. Section "Generation"."""
        return PublishedService(record.service_id, self.next_generation(record), props, ttl)

    def unpublish(self, account: Account, service_id: int) -> None:
        """Unpublish a service; from now on it is not published again."""
        del account.records[service_id]
        account.queue.append(ClientRequest("unpublish", {"service-id": service_id}))

    def subscribe(self, account: Account, subscription_id: int, filter: str | None) -> None:
        """Subscribe."""
        account.subscriptions[subscription_id] = filter
        account.queue.append(subscription(subscription_id, filter))

    def unsubscribe(self, account: Account, now: float) -> None:
        """End the subscriptions; those that the server refused need no end there."""
        for subscription_id in account.subscriptions:
            self.look_away(server=account.server, subscription=subscription_id)
        account.subscriptions.clear()
        # Only subscriptions live on here: a step begins when everything else is answered.
        for transaction in account.live.values():
            transaction.deadline = now + self.patience()
            account.queue.append(
                ClientRequest("unsubscribe", {"subscription-id": transaction.request.fields["subscription-id"]})
            )

    def leave(self, account: Account, now: float) -> None:
        """Disconnect, to come back and do the same again before half of the lowest TTL has passed."""
        # So that this step is played again after the next hello.
        account.step -= 1
        self.hang_up(account, now)
        account.dial_at = now + self.half_life(account.records.values()) * HASTE


def word(reason: str | None) -> str:
    """Return a reason as one word of plain letters, ``-`` for none: a server may say anything, an event is one line."""
    return "".join(each if "!" <= each <= "~" else "_" for each in reason or "-")[:100]
