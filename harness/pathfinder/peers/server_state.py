"""Accounts: what a client has to do with one server: what the server is to know, and what is under way."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from harness.pathfinder.peers.records import PublishedService


class ClientRequest(msgspec.Struct, frozen=True):
    """A command to be sent, with the fields of its own."""

    command: str
    fields: Mapping[str, Any] = {}


class PendingTransaction(msgspec.Struct):
    """A request that was sent; ``deadline`` is when the server's next word must be there, if it must."""

    request: ClientRequest
    deadline: float | None
    accepted: bool = False


class ServerState:
    """What a client has to do with one server, over all its connections to it.

    ``dial_at`` and ``hello_at`` are when it dials and greets next, ``failures`` how often that was in vain;
    ``records`` and ``subscriptions`` are what the server is to know; ``live`` has the transactions of the connection
    by their identifiers, ``queue`` and ``later`` what waits for its turn, or for a time.
    """

    def __init__(self, server: int) -> None:
        self.server = server
        self.dial_at: float | None = 0.0
        self.hello_at: float | None = None
        self.failures = 0
        self.link: int | None = None
        self.greeted = False
        self.step = 0
        self.records: dict[int, PublishedService] = {}
        self.subscriptions: dict[int, str | None] = {}
        self.next_ta = 0
        self.live: dict[int, PendingTransaction] = {}
        self.queue: deque[ClientRequest] = deque()
        self.later: list[tuple[float, ClientRequest]] = []

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked for is answered; a subscription is, by the ``accept``."""
        return not self.queue and not self.later and all(map(self._is_settled, self.live.values()))

    def _is_settled(self, transaction: PendingTransaction) -> bool:
        return transaction.accepted and transaction.request.fields.get("subscription-id") in self.subscriptions

    def unanswered(self) -> Iterator[ClientRequest]:
        """Return what was asked for, or was to be, and has no answer."""
        yield from (transaction.request for transaction in self.live.values())
        yield from self.queue
        yield from (request for _, request in self.later)

    def take_overdue(self, now: float) -> bool:
        """Return whether the server owes an answer since before now, and stop waiting for that."""
        overdue = [each for each in self.live.values() if each.deadline is not None and each.deadline <= now]
        for transaction in overdue:
            transaction.deadline = None
        return bool(overdue)

    def take_hello(self, now: float) -> bool:
        """Return whether it is time to greet, and forget that."""
        if self.hello_at is None or self.hello_at > now:
            return False
        self.hello_at = None
        return True

    def take_due(self, now: float) -> list[ClientRequest]:
        """Return what was put off until now, and put it off no longer."""
        due = [request for at, request in self.later if at <= now]
        self.later = [(at, request) for at, request in self.later if at > now]
        return due

    def times(self) -> Iterator[float]:
        """Return the times at which something is to be done."""
        times = [self.dial_at, self.hello_at, *(transaction.deadline for transaction in self.live.values())]
        yield from (at for at in times if at is not None)
        yield from (at for at, _ in self.later)


def publication(record: PublishedService) -> ClientRequest:
    """Return the request that publishes a service."""
    fields = {"generation": record.generation, "service-props": record.props, "ttl": record.ttl}
    return ClientRequest("publish", {"service-id": record.service_id, **fields})


def subscription(subscription_id: int, filter: str | None) -> ClientRequest:
    """Return the request that subscribes."""
    return ClientRequest(
        "subscribe", {"subscription-id": subscription_id, **({} if filter is None else {"filter": filter})}
    )
