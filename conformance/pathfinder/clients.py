"""Several clients of one server, who do what they are told, and what each of them knows then.

Two groups, one with the server under test and one with the model, are played side by side. What they say is in numbers
of their own: clients and services by their places, not by their identifiers.
"""

from typing import Any, NamedTuple

import msgspec

from conformance.pathfinder.answers import as_integer
from conformance.pathfinder.strategies import SERVICES, Step
from conformance.pathfinder.waiting import reconnect
from harness.pathfinder.tester.driver import Driver, Service, new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from vectors.pathfinder.filter_samples import Properties
from wire.pathfinder.filters import parse
from wire.pathfinder.matching import matches
from wire.pathfinder.values import Message


class ServiceView(NamedTuple):
    """A service as somebody sees it."""

    contents: frozenset[tuple[str, str]]
    ttl: Any
    owner: int | None
    is_orphan: bool


Listed = dict[int, tuple[Any, ServiceView]]
"""What a listing has of each service: its generation, and what it is."""


class OwnedService(msgspec.Struct, frozen=True):
    """A service that was published last so, and by whom."""

    service: Service
    owner: int


class ClientGroup:
    """The clients of one server; ``filters`` and ``contents`` are what steps choose from."""

    def __init__(self, node: NodeUnderTest, clients: int, filters: list[str], contents: list[Properties]) -> None:
        self.node = node
        self.filters = filters
        self.contents = contents
        self.sessions = [*node.open_together([node.connect() for _ in range(clients)])]
        self.ids = [new_id() for _ in range(SERVICES)]
        self.known: dict[int, OwnedService] = {}
        self.watches: list[tuple[Driver, str | None, Transaction]] = []

    def is_foreign(self, step: Step) -> bool:
        """Tell whether a step is about another client's service."""
        known = self.known.get(step.service)
        return step.verb in ("publish", "unpublish") and known is not None and known.owner != step.client

    def act(self, step: Step) -> Transaction | None:
        """Do one step, and return what was answered; ``None`` when there is nothing to do or to answer."""
        session = self.sessions[step.client]
        match step.verb:
            case "leave":
                session.close()
            case "return":
                self.reconnect(step.client)
            case _ if session.ended:
                pass
            case "publish":
                return self.publish(step)
            case "unpublish":
                answer = session.unpublish(self.ids[step.service])
                if answer.completed:
                    self.forget(step.service)
                return answer
            case "subscribe":
                # Never everything: on a shared server that would be what other testers do too.
                watching = session.subscribe(self.node.narrow(self.filter(step) or "(play=*)"))
                if watching.accepted:
                    self.watches.append((session, self.filter(step), watching))
                return watching
            case "unsubscribe":
                mine = [each for each in self.watches if each[0] is session]
                if mine:
                    over = mine[step.number % len(mine)]
                    self.watches.remove(over)
                    return session.unsubscribe(over[2].request.fields["subscription-id"])
            case "services":
                return session.services(self.node.narrow(self.filter(step) or "(play=*)"))
        return None

    def filter(self, step: Step) -> str | None:
        """Return the filter that a step means, if any."""
        return [*self.filters, None][step.number % (len(self.filters) + 1)]

    def publish(self, step: Step) -> Transaction:
        """Publish a service, in a generation near the one that is known."""
        known = self.known.get(step.service)
        contents = self.contents[step.number % len(self.contents)]
        props = {**self.node.service().props, **contents}
        service = Service(self.ids[step.service], props, 0, step.ttl)
        if known is not None:
            # Not below zero: generations begin there, and requests in bad form have cases of their own.
            service = service.replace(generation=max(0, known.service.generation + step.by))
            # The same generation, half the time with the same contents (a no-op) and half with others (refused).
            if step.by == 0 and step.number % 2:
                service = known.service
        answer = self.sessions[step.client].publish(service)
        if answer.completed:
            self.forget(step.service)
            self.sessions[step.client].published[service.id] = service
            self.known[step.service] = OwnedService(service, step.client)
        return answer

    def forget(self, number: int) -> None:
        """Note that a service is not whose it was."""
        self.known.pop(number, None)
        for session in self.sessions:
            session.published.pop(self.ids[number], None)

    def reconnect(self, client: int) -> None:
        """Let a client that has left connect again, and publish its services again, as it must."""
        if self.sessions[client].ended:
            self.sessions[client], _ = reconnect(self.node, self.sessions[client])
            # Or its services would be gone at a time that the two groups do not share: when their TTL is over.
            for known in self.known.values():
                if known.owner == client:
                    self.sessions[client].sure(self.sessions[client].publish(known.service))
        self.watches = [each for each in self.watches if not each[0].ended]

    # --- what is known ------------------------------------------------------------------------------------

    def seen(self, fields: Message) -> ServiceView:
        """Return what a notification says that a service is."""
        props = fields.get("service-props")
        contents = props.items() if isinstance(props, dict) else ()
        ids = [session.client_id for session in self.sessions]
        owner = fields.get("client-id")
        return ServiceView(
            # As a set: the order of values says nothing. By repr: 5 and "5" differ, as filters tell them apart.
            frozenset(
                (name, repr(as_integer(value))) for name, values in contents if name != "play" for value in values
            ),
            fields.get("ttl"),
            ids.index(owner) if owner in ids else None,
            "orphan-since" in fields,
        )

    def place(self, service_id: Any) -> int:
        """Return a service's number; -1 for one that is not of this play."""
        return self.ids.index(service_id) if service_id in self.ids else -1

    def listed(self, listing: Transaction | None = None) -> Listed:
        """Return what a listing has of each service; by default that of the main client, which asks for all."""
        listing = listing or self.node.main.sure(self.node.main.services(self.node.mine))
        return {
            self.place(fields.get("service-id")): (fields.get("generation"), self.seen(fields))
            for fields in listing.notifications
        }

    def view(self, filter: str | None, watching: Transaction) -> dict[int, ServiceView]:
        """Return what a subscriber believes that there is, from all that it was told.

        Generations are left out, as they may rise untold; so are services that were told to match no more.
        """
        known: dict[int, ServiceView] = {}
        for match in watching.matches:
            place = self.place(match.service_id)
            # To hear of a service anew replaces what was known of it, whatever it is told as.
            known.pop(place, None)
            # R13: what ceases to match may be told as modified with the properties that no longer do.
            is_over = match.what == "modified" and filter is not None and not _matches(filter, match.message)
            if match.what != "disappeared" and not is_over:
                known[place] = self.seen(match.message)
        return known


def _matches(filter: str, fields: Message) -> bool:
    props = fields.get("service-props")
    return isinstance(props, dict) and matches(parse(filter, deployed=True), props)
