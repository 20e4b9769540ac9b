"""What several cases read in an answer: whether a request was carried out, and how services are listed."""

from typing import Any

from conformance.cases import Inconclusive
from harness.errors import NotAnswered
from harness.pathfinder.tester.driver import Driver, Service
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.pathfinder.values import Message

EXCUSES = ("insufficient-resources", "permission-denied")
"""What a server may say to any request."""


def granted(transaction: Transaction) -> bool:
    """Tell whether a request was carried out; ``Inconclusive`` when it was refused for want of resources or rights."""
    if transaction.reason in EXCUSES:
        raise Inconclusive(f"the server would not: {transaction}")
    # A subscription is granted by its accept and completes only when it ends (section "Subscribe Command").
    return transaction.completed or (transaction.command == "subscribe" and transaction.accepted)


def listed(node: NodeUnderTest, service: Service, *, session: Driver | None = None) -> Message:
    """Return how a service is listed; ``NotAnswered`` when it is not, which is for other cases to judge."""
    found = node.listed(session=session).get(service.id)
    if found is None:
        raise NotAnswered("a service that was published is not listed")
    return found


def values_of(fields: Message, name: str) -> list[Any]:
    """Return the values that a property has in a notification; none if it has no such property."""
    props = fields.get("service-props")
    values = props.get(name) if isinstance(props, dict) else None
    return [as_integer(value) for value in values] if isinstance(values, list) else []


def as_integer(value: Any) -> Any:
    """Return a number that is whole as an integer, and everything else as it is.

    JSON has one kind of number: 10, 10.0 and 1e1 are spellings of one.
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value
