"""What the reference server has room for."""

import msgspec

from wire.pathfinder.grammar import LARGEST

ROOM = 1024
"""Bytes more than its request that a notification about a service or a subscription may have."""


class Limits(msgspec.Struct, frozen=True):
    """The upper bounds of a server: a request beyond one fails, a connection beyond one is ended.

    ``hello_patience`` is in seconds; ``message``, ``volume``, ``answers`` and ``backlog`` in bytes; ``filter`` and
    ``filters`` in characters.
    """

    # The document says nothing of who never says hello; to close the connection after some seconds is allowed.
    hello_patience: float = 10.0
    """How long a connection may go without a hello."""

    awaiting_hello: int = 512
    """Connections without a hello; the one that has waited longest makes room for another."""

    clients: int = 2_000
    services: int = 20_000
    services_each: int = 10_000
    """Services of one client."""

    subscriptions_each: int = 2_000
    """Subscriptions of one client."""

    transactions: int = 4_000
    """Transactions of one client that go on at the same time."""

    message: int = LARGEST - ROOM
    """A request: every notification about what it brings fits into the largest message."""

    filter: int = 131_072
    filters: int = 4 * 1024 * 1024
    """The filters of all subscriptions."""

    items: int = 131_072
    """The items of the filters of all subscriptions."""

    # 0.2 seconds: nobody else is served meanwhile.
    effort: int = 200_000_000
    """What it may cost to hold filters against services for the sake of one request; see ``effort``."""

    volume: int = 32 * 1024 * 1024
    """The properties of all services, roughly as they stand in memory."""

    answers: int = 16 * 1024 * 1024
    """What waits for one client when it asks for another list."""

    backlog: int = 128 * 1024 * 1024
    """Bytes and requests that wait for one client, counted against its limits."""


GENEROUS = Limits()
