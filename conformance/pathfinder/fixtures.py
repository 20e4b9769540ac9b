"""Fixtures of the cases: services that stand ready to be found by filters, and clients that are served throughout."""

from collections.abc import Iterable, Mapping, Sequence

from conformance.pathfinder.answers import granted
from harness.errors import NotAnswered
from harness.pathfinder.tester.driver import Driver, Service
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction


def open_session(node: NodeUnderTest) -> Driver:
    """Return the main connection, or a fresh one once that was ended."""
    return node.session() if node.main.ended else node.main


class PublishedServices:
    """Services under names that a play has for them, to see which of them a filter matches."""

    def __init__(self, node: NodeUnderTest, properties: Mapping[str, Mapping[str, Sequence[str | int]]]) -> None:
        self.node = node
        self.names: dict[int, str] = {}
        for name, props in properties.items():
            service = node.service()
            self._publish(service.replace(props={**service.props, **props}))
            self.names[service.id] = name

    def _publish(self, service: Service) -> None:
        if not granted(self.node.other.publish(service)):
            raise NotAnswered(f"services are not taken, such as {service.props}")

    def found(self, filter: str) -> set[str]:
        """Return what a filter matches; it is one that must be accepted."""
        found = self.found_if_taken(filter)
        assert found is not None, f"{filter} is refused"
        return found

    def found_if_taken(self, filter: str) -> set[str] | None:
        """Return what a filter matches, beside another one and alone; ``None`` when it is refused, as it may be."""
        # What stands in a conjunction is looked up and tested in another way than the same alone, by some servers.
        listings = [open_session(self.node).services(text) for text in (self.node.narrow(filter), filter)]
        for listing in listings:
            assert listing.completed or listing.refused, f"{filter} is neither taken nor refused"
        beside, alone = (self.named(listing) if granted(listing) else None for listing in listings)
        assert beside == alone, f"{filter} matches other services alone than beside another filter"
        return beside

    def named(self, listing: Transaction) -> set[str]:
        """Return the names of the services in a listing."""
        # Only those of this play: an implementation under test may be shared with other testers.
        ids = [fields.get("service-id") for fields in listing.notifications]
        return {self.names[each] for each in ids if each in self.names}

    def check(self, expected: Iterable[tuple[str, str]]) -> None:
        """Compare what filters match with what they should: names with spaces between."""
        for filter, names in expected:
            assert self.found(filter) == set(names.split()), f"{filter} does not match what it says"


class Bystanders:
    """Two clients that are served on, whatever others do: one watches what the other publishes."""

    def __init__(self, node: NodeUnderTest) -> None:
        self.node = node
        # Both connections stand before the offence: who connects only afterwards shows nothing of what it broke.
        node.other.barrier()
        self.watch = node.main.sure(node.main.subscribe(node.mine))

    def are_served(self) -> bool:
        """Tell whether both are answered, and one hears what the other publishes."""
        # A fresh service each time: that one appears cannot be an answer to what came before.
        service = self.node.service(name=["x"])
        publisher, watcher = self.node.other, self.node.main
        served = publisher.publish(service).completed and publisher.is_served() and watcher.is_served()
        return served and watcher.receives(self.watch, "appeared", service.id) is not None
