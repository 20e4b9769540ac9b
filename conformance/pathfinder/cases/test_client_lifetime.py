"""Pathfinder, "Service Lifetime" and "Transient Clients": what a client does when its connection is lost."""

from collections.abc import Mapping
from typing import Any

from conformance.cases import Inconclusive, rule
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import CLIENT, EVERY_LINK
from conformance.wording import worded
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain

STATE = ("service-id", "generation", "service-props", "ttl")
PATIENCE = 15.0
"""Seconds in which a client should have given up a server that says nothing."""

TOLERANCE = 0.1
"""The part of what a slow machine may take to answer that it may take for a connection."""

State = Mapping[int, Mapping[str, Any]]


def services(connection: AcceptedConnection) -> State:
    """Return the services that a client has published on a connection, as they are now."""
    return {id: {name: fields.get(name) for name in STATE} for id, fields in connection.published.items()}


def brings_all(domain: Domain, connection: AcceptedConnection, known: State) -> bool:
    """Tell whether a client publishes all its services on a connection, as they were."""
    return domain.wait_until(lambda: services(connection) == known)


def all_published(domain: Domain, connection: AcceptedConnection) -> State:
    """Return the client's two services, once they are published."""
    domain.needs(lambda: len(connection.published) == 2, "published two services")
    return services(connection)


@rule("PF-046", roles=CLIENT, transports=EVERY_LINK)
def test_services_after_a_loss(node: NodeUnderTest) -> None:
    """Cut off a client that has published two services: by an orderly end, a reset, in the middle, and for a while.

    Each time it comes back it publishes both services as they were.
    """
    # Two servers, of which one is never lost: a client must not take the loss of one for that of both.
    domain = node.begin("publish", servers=2)
    connection, other = domain.greeted(0), domain.greeted(1)
    known = all_published(domain, connection)
    all_published(domain, other)
    # An end of the stream and a reset: clients notice them in different places.
    for how, end in ((AcceptedConnection.drop, "an end of the stream"), (AcceptedConnection.abort, "a reset")):
        how(connection)
        connection = domain.greeted()
        assert brings_all(domain, connection, known), (
            f"not all services come back after {end} ({connection.ended or 'the new connection lasts'})"
        )
    connection.drop()
    connection = domain.greeted()
    connection.obliges = False
    # In the midst of its publishing, if it waits for answers at all; one that does not has said it all by then.
    domain.wait_until(lambda: bool(connection.waiting), domain.after(0.5))
    domain.refuse()
    connection.drop()
    # Long enough for several attempts: what a client brings must not depend on how often it was turned away.
    domain.read(1.0)
    domain.admit()
    connection = domain.greeted()
    assert brings_all(domain, connection, known), "not all services come back after losses on end"


@rule("PF-046", roles=CLIENT)
def test_services_after_a_silence(node: NodeUnderTest) -> None:
    """Answer a client's hello and nothing more.

    When it has given up that connection it publishes its services on the next.
    """
    domain = node.begin("publish")
    connection = domain.greeted()
    connection.obliges = False
    if not domain.wait_until(lambda: bool(connection.ended), domain.after(PATIENCE)):
        raise Inconclusive(f"the client waits for an answer for more than {PATIENCE:g} s")
    again = domain.greeted()
    assert domain.wait_until(lambda: len(again.published) == 2), "not all services come to a server that was silent"


@rule("PF-045", roles=CLIENT)
def test_a_service_that_was_unpublished(node: NodeUnderTest) -> None:
    """Cut off a client that has published a service and unpublished it.

    It does not publish it again.
    """
    domain = node.begin("unpublish")
    connection = domain.greeted()
    domain.asks(connection, "publish")
    assert domain.does(lambda: bool(connection.asked("unpublish"))), "a service that is withdrawn is not unpublished"
    for _ in range(2):
        connection.drop()
        connection = domain.greeted()
        # It publishes first thing after its hello, if it does at all.
        domain.read(0.5)
        assert not connection.asked("publish"), "a service is published again that was unpublished"


def resubscribed(domain: Domain, connection: AcceptedConnection) -> AcceptedConnection:
    """Return the client's next connection to a server, once it has subscribed there as it had on this one."""
    again = domain.greeted(connection.server)
    assert domain.wait_until(lambda: bool(again.subscriptions)), "a client that comes back does not subscribe again"
    # The filter: a subscription without it, or with another one, would be told of other services.
    before, after = (each.asked("subscribe")[0].request.fields.get("filter") for each in (connection, again))
    assert after == before, f"the filter was {worded(before)}, and is {worded(after)} after a loss"
    return again


@rule("PF-220", roles=CLIENT, transports=EVERY_LINK)
def test_a_subscription_after_a_loss(node: NodeUnderTest) -> None:
    """Cut off a client that has subscribed, by an orderly end and by a reset.

    When it comes back it subscribes with the same filter, and tells what it hears there.
    """
    domain = node.begin("subscribe")
    connection = domain.subscribed()
    for number, how in enumerate((AcceptedConnection.drop, AcceptedConnection.abort)):
        how(connection)
        connection = resubscribed(domain, connection)
        connection.notify("appeared", number)
        assert domain.application_receives(domain.told("appeared", number, 0)), (
            "what a subscription says after a loss is not told"
        )


@rule("PF-031", roles=CLIENT)
def test_a_client_that_comes_and_goes(node: NodeUnderTest) -> None:
    """Let a client in that publishes two services, one with a short ttl, and disconnects, again and again.

    It has published both again before half of the lower ttl has passed.
    """
    domain = node.begin("transient")
    connection = domain.greeted()
    known = all_published(domain, connection)
    for _ in range(2):
        # From its end to its last publish: that is the time that its services are orphans.
        left = departure(domain, connection)
        again = domain.comes()
        assert again is not None, "a client that comes and goes does not come back"
        connection = again
        assert brings_all(domain, connection, known), "it does not publish its services as they were"
        back = domain.asks(connection, "publish")[-1].request.time
        away, half = (back - left) * domain.timing.tempo, half_life(known)
        assert away <= half + TOLERANCE * domain.timing.patience * domain.timing.tempo, (
            f"away for {away:.2f} s, half is {half:g}"
        )


def half_life(known: State) -> float:
    """Return half of the lowest ttl of some services, in seconds."""
    lowest = min((each["ttl"] for each in known.values() if is_whole(each["ttl"])), default=0)
    if lowest <= 0:
        raise Inconclusive("the client publishes no service with a ttl")
    return lowest / 2


def departure(domain: Domain, connection: AcceptedConnection) -> float:
    """Return when a client ended a connection, once it has."""
    domain.needs(lambda: bool(connection.ended), "disconnected")
    return connection.ended_at
