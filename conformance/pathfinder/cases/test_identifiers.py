"""Pathfinder, "Unique Identifiers": of clients, services and subscriptions."""

from collections.abc import Mapping

from conformance.cases import Inconclusive, judging, rule
from conformance.pathfinder.answers import granted
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.same_filters import say_the_same
from conformance.pathfinder.stimuli import offend, requests
from conformance.pathfinder.waiting import end_subscription, expect_match, wait_until_gone
from harness.pathfinder.tester.driver import Driver, Service, new_id
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


def lookalikes() -> list[tuple[int, int]]:
    """Return pairs of unused identifiers that are the same in 32 bits, or for who keeps them in floating point."""
    # Nobody else has one of these: the other bits are this play's own.
    one, *two = new_id(), new_id(), new_id()
    # With bit 61, which not all of them have, these two follow each other where a double holds one in many.
    low, high = (id | 1 << 61 for id in two)
    return [(one, one ^ 1 << 32), (low, high)]


@rule("PF-010", roles=SERVER, needs=("PF-120",))
def test_identifiers_that_look_alike(node: NodeUnderTest) -> None:
    """Connect, publish and subscribe under two identifiers that agree in 32 bits, and two that do in their first bits.

    None is taken for another: each is granted and listed, and what is done to one is done to it alone.
    """
    for pair in lookalikes():
        sessions = [node.connect(client_id=id) for id in pair]
        for session in sessions:
            assert granted(session.hello()), "a client is refused for its identifier"
        services = [node.service(name=[str(number)]).replace(id=id) for number, id in enumerate(pair)]
        watches = []
        for number, (session, service) in enumerate(zip(sessions, services, strict=True)):
            assert granted(session.publish(service)), "a service is refused for its identifier"
            watching = session.subscribe(node.narrow(f"(name={number})"), id=service.id)
            assert granted(watching), "a subscription is refused for its identifier"
            # Not before it has appeared: several changes may be told as one.
            expect_match(session, watching, "appeared", service)
            watches.append(watching)
        found = {fields.get("client-id") for fields in node.main.sure(node.main.clients()).notifications}
        assert set(pair) <= found, "a client is not listed as it is called"
        owners = {id: fields.get("client-id") for id, fields in node.listed().items() if id in pair}
        assert owners == {id: id for id in pair}, "a service is not listed as it is called, and as its owner's"
        # What is done to the first is to leave the second as it is.
        assert granted(sessions[0].unsubscribe(pair[0])), "a subscription cannot be ended"
        assert granted(sessions[0].unpublish(pair[0])), "a service cannot be taken back"
        assert pair[1] in node.listed(), "another service is taken back than was asked for"
        changed = services[1].newer(ttl=30)
        assert granted(sessions[1].publish(changed)), "a service cannot be changed"
        assert sessions[1].receives(watches[1], "modified", pair[1]), (
            "another subscription has ended than was asked for"
        )


@rule("PF-092", roles=SERVER, needs=("PF-120",))
def test_transactions_that_look_alike(node: NodeUnderTest) -> None:
    """Subscribe under some ta-ids, and ping under others that agree with them in 32 bits, or in their first bits.

    Each ping is completed, and the subscriptions go on.
    """
    session = node.session()
    for living, another in ((5, 5 + 2**32), (2**53, 2**53 + 1), (MOST - 1, MOST)):
        watch = session.begin("subscribe", {"subscription-id": new_id(), "filter": node.mine}, ta=living)
        session.sure(session.answered(watch))
        ping = session.finish(session.begin("ping", ta=another))
        assert granted(ping), f"a ping under {another} is not completed while a subscription has {living}: {ping}"
        assert not watch.is_over, f"a subscription under {living} is over since a ping under {another}"


@rule("PF-120", "PF-121", "PF-148", roles=SERVER, needs=("PF-120",))
def test_a_subscription_id_that_is_used_again(node: NodeUnderTest) -> None:
    """Subscribe, unsubscribe and subscribe with another filter under one identifier; leave; another client does so.

    Each time what matches now is told, from the beginning, and nothing else; and the filter is listed that was given.
    """
    id, first = new_id(), node.session()
    services = {name: node.service(name=[name, "any"]) for name in ("x", "y")}
    for service in services.values():
        node.other.sure(node.other.publish(service))
    tell_anew(node, first, id, services, "x")
    # The same filter first, as what was told before may be taken for known; then another one.
    tell_anew(node, first, id, services, "x")
    tell_anew(node, first, id, services, "y")
    # Not unsubscribed: this one ends with its connection.
    first.sure(first.subscribe(node.narrow("(name=any)"), id=id))
    first.close()
    wait_until_gone(node, first)
    tell_anew(node, node.main, id, services, "x")


def tell_anew(node: NodeUnderTest, session: Driver, id: int, services: Mapping[str, Service], name: str) -> None:
    """Subscribe under an identifier to what has a name, make sure that all of it is told, also later, and end that."""
    filter = node.narrow(f"(name={name})")
    watching = session.sure(session.subscribe(filter, id=id))
    with judging("PF-120"):
        told = session.receives(watching, "appeared", services[name].id)
        assert told, "a subscription under an identifier that was used before is not told what is there"
    with judging("PF-148"):
        found = session.sure(session.subscriptions()).notifications
        texts = [fields.get("filter") for fields in found if fields.get("subscription-id") == id]
        assert all(isinstance(text, str) and say_the_same(text, filter) for text in texts), (
            "a subscription under an identifier that was used before is listed with another filter"
        )
    later = {each: node.service(name=[each]) for each in services}
    # What matches comes last: when it is told, the rest would have been.
    for each in sorted(later, key=lambda each: each == name):
        node.other.sure(node.other.publish(later[each]))
    with judging("PF-121"):
        told = session.receives(watching, "appeared", later[name].id)
        assert told, "a subscription under an identifier that was used before is not told what is new"
        alien = {match.service_id for match in end_subscription(session, watching)}
        alien -= {services[name].id, later[name].id}
        assert not alien, "a subscription is told what matched another one that had its identifier before"
    for service in later.values():
        node.other.sure(node.other.unpublish(service.id))


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
