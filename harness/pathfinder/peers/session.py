"""What the server knows of one connection, and of the subscriptions made on it."""

import msgspec

from harness.pathfinder.peers.matching_cost import Demand
from harness.pathfinder.peers.matching_index import Anchor
from wire.pathfinder.matching import Predicate
from wire.pathfinder.values import Message


class Selection(msgspec.Struct, frozen=True, eq=False):
    """Which services are meant: the filter's text, what it demands, and what services must have to be looked at.

    ``demand`` is how often it looks at each property.
    """

    filter: str | None
    predicate: Predicate | None
    anchors: tuple[Anchor, ...]
    demand: Demand = {}


class Session:
    """One connection; ``since`` is when it was made, in seconds since the epoch."""

    def __init__(self, link: int, address: str, since: float) -> None:
        self.link = link
        self.address = address
        self.since = since
        self.client_id: int | None = None
        self.version: int | None = None
        self.closing = False
        self.live: dict[int, Subscription] = {}
        """The transactions that go on, by their identifiers: those of subscriptions."""


class Subscription(msgspec.Struct, frozen=True, eq=False):
    """A subscription: whose it is, the request whose transaction it lives in, and which services it is about."""

    id: int
    session: Session
    request: Message
    selection: Selection
