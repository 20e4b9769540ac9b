"""Departures: what a server makes of the end of a connection, which it may notice late."""

from collections.abc import Callable, Collection

from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.histories.comparison import AnswerComparison
from conformance.pathfinder.histories.model import DirectoryModel
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.tester.driver import Driver
from harness.pathfinder.tester.node_under_test import NodeUnderTest

PAUSE = 0.02
"""Seconds of our time between two looks at what a server has noticed."""

SHORT = 1
"""The longest TTL, in seconds, whose end a history waits for."""

GRAIN = 1.0
"""Seconds by which an orphan may go later than its TTL says: some servers count whole ones (R19)."""

NEARLY = 0.95
"""The part of a TTL that has to pass in any case: clocks have grains."""


class Departures:
    """Looks at a server's lists until the end of a connection shows there, and the end of what is soon over with it."""

    def __init__(
        self, node: NodeUnderTest, model: DirectoryModel, comparison: AnswerComparison, witness: Driver
    ) -> None:
        self.node = node
        self.model = model
        self.comparison = comparison
        self.witness = witness

    def settle(self, client_id: int, ended: Collection[int], began: float) -> None:
        """Wait until a client is gone, with its subscriptions and with those of its services that have a short TTL.

        ``began`` is when it left, in the protocol's time.
        """
        going = [service for service in self.model.directory.owned(client_id) if service.ttl <= SHORT]
        difference = self.look_until_gone(client_id, ended)
        if difference is not None:
            raise difference
        for service in going:
            self.await_end(service, began)
            self.model.expire_now(service)
        difference = self.look(self.untrue)
        if difference is None:
            # Not only at once: what has a long TTL is there a moment later as well.
            self.witness.read(PAUSE * self.node.tempo)
            difference = self.untrue()
        if difference is not None:
            raise difference

    def look_until_gone(self, client_id: int, ended: Collection[int]) -> Mismatch | None:
        """Look until neither the client nor its subscriptions are listed."""

        def leftover() -> Mismatch | None:
            clients, subscriptions = self.witness.begin("clients"), self.witness.begin("subscriptions")
            for each in (clients, subscriptions):
                self.witness.sure(self.witness.finish(each))
            return self.comparison.leftover(clients, subscriptions, (client_id,), ended)

        return self.look(leftover)

    def look(self, wrong: Callable[[], Mismatch | None], *, seconds: float | None = None) -> Mismatch | None:
        """Look again and again until nothing is wrong, or patience (or so many seconds of our time) ends."""
        clock = self.node.instance.clock
        deadline = clock.now() + (self.node.patience if seconds is None else seconds)
        while (difference := wrong()) is not None and clock.now() < deadline:
            self.witness.read(PAUSE * self.node.tempo)
        return difference

    def untrue(self) -> Mismatch | None:
        """Return what is wrong with the list of the play's services."""
        listing = self.witness.sure(self.witness.services(self.node.mine))
        listed = self.model.listed(self.node.mine)
        there = {fields.get("service-id") for fields in listing.notifications}
        for fields in listed:
            if fields["service-id"] not in there:
                rule, owner = ("PF-015", "left") if "orphan-since" in fields else ("PF-205", "is there")
                return Mismatch(rule, f"{fields['service-id']} is not listed any more, and its owner {owner}")
        try:
            self.comparison.compare_services(listing, listed, "witness.services(node.mine)", filter="")
        except Mismatch as difference:
            return Mismatch("PF-049" if difference.rule == "PF-131" else difference.rule, difference.what)
        return None

    def await_end(self, service: ServiceRecord, began: float) -> None:
        """Wait until an orphan is gone, and make sure that it was there for its TTL."""
        clock, ttl, tempo = self.node.instance.clock, service.ttl, self.node.tempo

        def listed() -> Mismatch | None:
            there = self.witness.sure(self.witness.services(self.node.mine)).notifications
            if all(fields.get("service-id") != service.id for fields in there):
                return None
            return Mismatch("PF-052", f"{service.id} is listed long after its TTL of {ttl} s is over")

        seconds = self.node.timing.within(ttl + GRAIN)
        # Again late is no proof: the client may have been gone before the server knew.
        if (difference := self.look(listed, seconds=seconds)) is not None:
            raise difference
        if clock.now() * tempo - began < NEARLY * ttl:
            raise Mismatch("PF-015", f"{service.id} is gone before its TTL of {ttl} s is over")
