"""Pathfinder, "Unique Identifiers": of clients, services and subscriptions."""

from conformance.cases import Inconclusive, rule
from conformance.pathfinder.answers import granted
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.stimuli import offend, requests
from harness.pathfinder.tester.driver import Driver, new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.json.strict import MOST

IDENTIFIERS = ("client-id", "service-id", "subscription-id")

# Cut down to 32 bits the second is 1 and the third 0: who does that meets them again at the end.
ANY = (MOST, 2**53 + 1, 2**32, 1, 0)
"""Identifiers that are as good as any other, in falling order."""

IN_USE = ("client-id-exists", "subscription-id-exists", "old-generation", "same-generation-but-different")


def require_free(session: Driver) -> None:
    """Make sure that nothing has one of ``ANY`` yet: a server that others use may refuse it, and not say why."""
    listings = session.clients(), session.services(), session.subscriptions()
    for listing, name in zip(listings, IDENTIFIERS, strict=True):
        used = {fields.get(name) for fields in session.sure(listing).notifications}
        if not used.isdisjoint(ANY):
            raise Inconclusive(f"a {name} is in use: one of {ANY}")


def taken(transaction: Transaction) -> bool:
    """Tell whether an identifier was taken; ``Inconclusive`` when somebody else may have it already."""
    if transaction.reason in IN_USE:
        raise Inconclusive(f"an identifier may be in use: {transaction}")
    return granted(transaction)


@rule("PF-006", roles=SERVER)
def test_identifiers_that_are_none(node: NodeUnderTest) -> None:
    """Say hello, publish and subscribe with -1, 1.5, 2^63 and a text as the identifier.

    However that is answered, no such identifier is listed.
    """
    named = {"hello": "client-id", "publish": "service-id", "subscribe": "subscription-id"}
    offend(
        node,
        [
            {**request, named[request["ta-cmd"]]: value}
            for request in requests(node)
            if request["ta-cmd"] in named
            # Below 0, broken, one beyond the range, a text.
            for value in (-1, 1.5, MOST + 1, "7")
        ],
    )
    for listing in (node.main.services(), node.main.subscriptions(), node.main.clients()):
        for fields in node.main.sure(listing).notifications:
            values = [fields[name] for name in IDENTIFIERS if name in fields]
            wrong = [value for value in values if not is_whole(value)]
            assert not wrong, "something is listed as an identifier that is none"


@rule("PF-007", roles=SERVER, needs=("PF-120",))
def test_one_subscription_of_an_identifier(node: NodeUnderTest) -> None:
    """Somebody subscribes; then another client, and the same one, subscribe with the same subscription-id.

    They are refused, the first subscription goes on, and it is listed once.
    """
    id = new_id()
    watch = node.main.sure(node.main.subscribe(node.mine, id=id))
    for session in (node.session(), node.main):
        again = session.subscribe(node.narrow("(name=x)"), id=id)
        assert again.refused, "two subscriptions have one identifier"
    found = node.other.sure(node.other.subscriptions()).notifications
    count = [fields.get("subscription-id") for fields in found].count(id)
    assert count == 1, "a subscription is not listed once"
    service = node.service(name=["y"])
    node.other.sure(node.other.publish(service))
    assert node.main.receives(watch, "appeared", service.id), "a subscription ends when its identifier is used again"


@rule("PF-010", roles=SERVER)
def test_any_identifiers(node: NodeUnderTest) -> None:
    """Say hello, publish and subscribe with 2^63-1, 2^53+1, 2^32, 1 and 0, in this order.

    They are taken, and listed as they are.
    """
    require_free(node.main)
    for id in ANY:
        session = node.connect(client_id=id)
        assert taken(session.hello()), "a client is refused for its identifier"
        assert taken(session.publish(node.service(name=["x"]).replace(id=id))), (
            "a service is refused for its identifier"
        )
        assert taken(session.subscribe(node.mine, id=id)), "a subscription is refused for its identifier"
    found = set(node.listed())
    assert found == set(ANY), "services are listed with other identifiers than they were published with"
    for listing, name in ((node.main.subscriptions(), "subscription-id"), (node.main.clients(), "client-id")):
        seen = {fields.get(name) for fields in node.main.sure(listing).notifications}
        assert set(ANY) <= seen, f"a {name} is not listed as it was given"


@rule("PF-202", roles=SERVER, needs=("PF-120",))
def test_one_number_for_three_things(node: NodeUnderTest) -> None:
    """A client publishes a service and subscribes, each with its own client-id as the identifier.

    The three do not meet.
    """
    session = node.session()
    id = session.client_id
    assert granted(session.publish(node.service(name=["x"]).replace(id=id))), "a service is refused for a client's id"
    watch = session.subscribe(node.mine, id=id)
    assert granted(watch), "a subscription is refused for a service's id"
    assert session.receives(watch, "appeared", id), "a subscription with a service's id is not told of the service"
