"""Stimuli of the cases: right requests of every command, what is wrong beside them, and what a server makes of it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from conformance.cases import Inconclusive
from harness.pathfinder.conversation import Event
from harness.pathfinder.driver import WINDOW, NotAnswered, Service, Session, new_id
from harness.pathfinder.transactions import Transaction
from harness.pathfinder.under_test import NodeUnderTest
from wire.pathfinder.frames import VERSION, Message

EXCUSES = ("insufficient-resources", "permission-denied")
"""What a server may say to any request."""

TA = 1 << 40
"""A transaction identifier that the driver does not come to by counting."""


def granted(transaction: Transaction) -> bool:
    """Tell whether a request was carried out; ``Inconclusive`` when it was refused for want of resources or rights."""
    if transaction.reason in EXCUSES:
        raise Inconclusive(f"the server would not: {transaction}")
    return transaction.completed or (transaction.command == "subscribe" and transaction.accepted)


def listed(node: NodeUnderTest, service: Service, *, session: Session | None = None) -> Message:
    """Return how a service is listed; ``NotAnswered`` when it is not, which is for other cases to judge."""
    found = node.listed(session=session).get(service.id)
    if found is None:
        raise NotAnswered("a service that was published is not listed")
    return found


def values_of(fields: Message, name: str) -> list[Any]:
    """Return the values that a property has in a notification; none if it has no such property."""
    props = fields.get("service-props")
    values = props.get(name) if isinstance(props, dict) else None
    return values if isinstance(values, list) else []


def requests(node: NodeUnderTest) -> Iterator[Message]:
    """Yield a right request of every command, each with identifiers of its own."""
    service = node.service(name=["x"])
    for command, fields in (
        ("hello", {"client-id": new_id(), "protocol-minimum-version": VERSION, "protocol-maximum-version": VERSION}),
        ("publish", service.fields),
        ("unpublish", {"service-id": new_id()}),
        ("subscribe", {"subscription-id": new_id(), "filter": node.mine}),
        ("unsubscribe", {"subscription-id": new_id()}),
        ("subscriptions", {}),
        ("services", {"filter": node.mine}),
        ("clients", {}),
        ("ping", {}),
    ):
        yield {"ta-cmd": command, "ta-id": TA, "msg-type": "request", **fields}


def of_other_type(value: Any) -> list[Any]:
    """Return values of other types that somebody might take for this one, as the driver spells them."""
    match value:
        case str():
            return [5, b"null", [value]]
        case int():
            return [str(value), b"null", 1.5, b"true"]
        case _:
            return ["x", b"null", [value]]


class Offence(NamedTuple):
    """A stimulus that may be refused, the connection of its own on which it was sent, and what was said there since."""

    stimulus: Message | bytes
    session: Session
    before: int

    @property
    def said(self) -> list[Event]:
        """What the server said to it."""
        return self.session.received()[self.before :]

    @property
    def was_done(self) -> bool:
        """Whether it was answered as something that is carried out."""
        return any(event.type in ("accept", "complete") for event in self.said)

    @property
    def reaction(self) -> str:
        """How it was refused: the connection was ended (A), it failed (B), nothing (C), or it was not (empty)."""
        if self.was_done:
            return ""
        if any(event.type == "fail" for event in self.said):
            return "B"
        return "A" if self.session.ended else "C"


def offend(node: NodeUnderTest, stimuli: Iterable[Message | bytes]) -> list[Offence]:
    """Send each stimulus on a connection of its own, then read what comes; the connections stay open."""
    offences = []
    for stimulus in stimuli:
        is_hello = not isinstance(stimulus, bytes) and stimulus.get("ta-cmd") == "hello"
        session = node.connect() if is_hello else node.session()
        offences.append(Offence(stimulus, session, len(session.received())))
        if isinstance(stimulus, bytes):
            session.send_bytes(stimulus)
        else:
            session.send(stimulus)
    deadline = node.instance.clock.now() + WINDOW
    for each in offences:
        left = max(0.0, deadline - node.instance.clock.now())
        each.session.wait_until(lambda each=each: bool(each.session.ended or each.said), seconds=left * node.tempo)  # type: ignore[misc]
    return offences


def tour(node: NodeUnderTest) -> list[Event]:
    """Play every command through, rightly and wrongly, and return everything that the server said."""
    asking, owner = node.main, node.other
    node.connect().hello(minimum=1000, maximum=2000)
    asking.hello()
    watch = asking.subscribe(node.mine)
    service = node.service(name=["x", "y"], n=[1])
    owner.publish(service)
    asking.hears(watch, "appeared", service.id)
    owner.publish(service.newer(ttl=30))
    asking.hears(watch, "modified", service.id)
    owner.publish(service)
    for listing in (asking.services(node.mine), asking.services("(a=b"), asking.subscriptions(), asking.clients()):
        asking.finish(listing)
    asking.ping()
    owner.unpublish(service.id)
    owner.unpublish(service.id)
    asking.hears(watch, "disappeared", service.id)
    for _ in range(2):
        asking.unsubscribe(watch.request.fields["subscription-id"])
    asking.finish(watch)
    return [event for session in node.sessions for event in session.received()]


class Bystanders:
    """Two clients that are served on, whatever others do: one watches what the other publishes."""

    def __init__(self, node: NodeUnderTest) -> None:
        self.node = node
        node.other.barrier()
        self.watch = node.main.sure(node.main.subscribe(node.mine))

    def are_served(self) -> bool:
        """Tell whether both are answered, and one hears what the other publishes."""
        service = self.node.service(name=["x"])
        publisher, watcher = self.node.other, self.node.main
        served = publisher.publish(service).completed and publisher.is_served() and watcher.is_served()
        return served and watcher.hears(self.watch, "appeared", service.id) is not None
