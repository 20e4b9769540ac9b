"""Fixtures of the cases: services that stand ready to be found by filters, and clients that are served throughout."""

from collections.abc import Iterable, Mapping, Sequence

from conformance.pathfinder.answers import granted
from harness.errors import NotAnswered
from harness.pathfinder.tester.driver import Driver
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.pathfinder.values import Message


def open_session(node: NodeUnderTest) -> Driver:
    """Return the main connection, or a fresh one once that was ended."""
    return node.session() if node.main.ended else node.main


def ask_together(node: NodeUnderTest, requests: Sequence[tuple[str, Message]]) -> list[Transaction]:
    """Make several requests at once, each by its command and fields, and return them with their answers.

    A server may refuse one by ending the connection, and the others are not answered then: each of these is made again
    by itself.
    """
    asking = open_session(node)
    asked = asking.finish_all([asking.begin(*request) for request in requests])
    if len(requests) == 1:
        return list(asked)
    # By itself, as nothing says in which order a server looks at what it was asked on one connection.
    return [_ask(node, *request) if each.was_cut else each for request, each in zip(requests, asked, strict=True)]


def _ask(node: NodeUnderTest, command: str, fields: Message) -> Transaction:
    session = open_session(node)
    (transaction,) = session.finish_all([session.begin(command, fields)])
    return transaction


class PublishedServices:
    """Services under names that a play has for them, to see which of them a filter matches."""

    def __init__(self, node: NodeUnderTest, properties: Mapping[str, Mapping[str, Sequence[str | int]]]) -> None:
        self.node = node
        services = {name: node.service() for name in properties}
        asked = [
            node.other.begin("publish", service.replace(props={**service.props, **properties[name]}).fields)
            for name, service in services.items()
        ]
        for transaction in node.other.finish_all(asked):
            if not granted(transaction):
                raise NotAnswered(f"services are not taken, such as {transaction.request.fields.get('service-props')}")
        self.names = {service.id: name for name, service in services.items()}

    def found(self, filter: str) -> set[str]:
        """Return what a filter matches; it is one that must be accepted."""
        found = self.found_if_taken(filter)
        assert found is not None, f"{filter} is refused"
        return found

    def found_if_taken(self, filter: str) -> set[str] | None:
        """Return what a filter matches, beside another one and alone; ``None`` when it is refused, as it may be."""
        return self.all_found_if_taken([filter])[0]

    def all_found_if_taken(self, filters: Sequence[str]) -> list[set[str] | None]:
        """Return what each of some filters matches that are asked together; otherwise as ``found_if_taken``."""
        # What stands in a conjunction is looked up and tested in another way than the same alone, by some servers.
        texts = [text for filter in filters for text in (self.node.narrow(filter), filter)]
        listings = ask_together(self.node, [("services", {"filter": text}) for text in texts])
        for listing, filter in zip(listings, (each for each in filters for _ in range(2)), strict=True):
            assert listing.completed or listing.refused, f"{filter} is neither taken nor refused"
        found = [self.named(listing) if granted(listing) else None for listing in listings]
        for filter, beside, alone in zip(filters, found[::2], found[1::2], strict=True):
            assert beside == alone, f"{filter} matches other services alone than beside another filter"
        return found[::2]

    def named(self, listing: Transaction) -> set[str]:
        """Return the names of the services in a listing."""
        # Only those of this play: an implementation under test may be shared with other testers.
        ids = [fields.get("service-id") for fields in listing.notifications]
        return {self.names[each] for each in ids if each in self.names}

    def check(self, expected: Iterable[tuple[str, str]]) -> None:
        """Compare what filters match with what they should: names with spaces between."""
        expected = list(expected)
        found = self.all_found_if_taken([filter for filter, _ in expected])
        for (filter, names), matched in zip(expected, found, strict=True):
            assert matched is not None, f"{filter} is refused"
            assert matched == set(names.split()), f"{filter} does not match what it says"


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
        asked = [publisher.begin("publish", service.fields), publisher.begin("ping")]
        watched = watcher.begin("ping")
        served = all(each.completed for each in publisher.finish_all(asked)) and watcher.finish(watched).completed
        return served and watcher.receives(self.watch, "appeared", service.id) is not None
