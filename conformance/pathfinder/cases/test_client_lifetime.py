"""Pathfinder, "Service Lifetime" and "Transient Clients": what a client does when its connection is lost."""

from collections.abc import Mapping
from typing import Any

from conformance.cases import Inconclusive, rule
from conformance.pathfinder.monitors.forms import is_whole
from harness.pathfinder.scripted import Domain, Visit
from harness.pathfinder.under_test import NodeUnderTest

CLIENT = ("client",)
EVERY_LINK = ("tcp", "tcp-stream", "tls", "ux")
STATE = ("service-id", "generation", "service-props", "ttl")
PATIENCE = 15.0
"""Seconds in which a client should have given up a server that says nothing."""

TOLERANCE = 0.1
"""The part of what a slow machine may take to answer that it may take for a connection."""

State = Mapping[int, Mapping[str, Any]]


def services(visit: Visit) -> State:
    """Return the services that a client has published on a connection, as they are now."""
    return {id: {name: fields.get(name) for name in STATE} for id, fields in visit.published.items()}


def brings_all(domain: Domain, visit: Visit, known: State) -> bool:
    """Tell whether a client publishes all its services on a connection, as they were."""
    return domain.wait_until(lambda: services(visit) == known)


def all_published(domain: Domain, visit: Visit) -> State:
    """Return the client's two services, once they are published."""
    domain.needs(lambda: len(visit.published) == 2, "published two services")
    return services(visit)


@rule("PF-046", roles=CLIENT, transports=EVERY_LINK)
def test_services_after_a_loss(node: NodeUnderTest) -> None:
    """Cut off a client that has published two services: by an orderly end, a reset, in the middle, and for a while.

    Each time it comes back it publishes both services as they were.
    """
    domain = node.begin("publish", servers=2)
    visit, other = domain.greeted(0), domain.greeted(1)
    known = all_published(domain, visit)
    all_published(domain, other)
    for how in (Visit.drop, Visit.abort):
        how(visit)
        visit = domain.greeted()
        assert brings_all(domain, visit, known), f"not all services come back after a loss ({visit.ended or how})"
    visit.drop()
    visit = domain.greeted()
    visit.obliges = False
    domain.wait_until(lambda: bool(visit.waiting), seconds=0.5)
    domain.refuse()
    visit.drop()
    domain.read(1.0)
    domain.admit()
    visit = domain.greeted()
    assert brings_all(domain, visit, known), "not all services come back after losses on end"


@rule("PF-046", roles=CLIENT)
def test_services_after_a_silence(node: NodeUnderTest) -> None:
    """Answer a client's hello and nothing more.

    When it has given up that connection it publishes its services on the next.
    """
    domain = node.begin("publish")
    visit = domain.greeted()
    visit.obliges = False
    if not domain.wait_until(lambda: bool(visit.ended), seconds=PATIENCE):
        raise Inconclusive(f"the client waits for an answer for more than {PATIENCE:g} s")
    again = domain.greeted()
    assert domain.wait_until(lambda: len(again.published) == 2), "not all services come to a server that was silent"


@rule("PF-045", roles=CLIENT)
def test_a_service_that_was_unpublished(node: NodeUnderTest) -> None:
    """Cut off a client that has published a service and unpublished it.

    It does not publish it again.
    """
    domain = node.begin("unpublish")
    visit = domain.greeted()
    domain.asks(visit, "unpublish")
    for _ in range(2):
        visit.drop()
        visit = domain.greeted()
        domain.read(0.5)
        assert not visit.asked("publish"), "a service is published again that was unpublished"


def resubscribed(domain: Domain, visit: Visit) -> Visit:
    """Return the client's next connection to a server, once it has subscribed there as it had on this one."""
    again = domain.greeted(visit.server)
    assert domain.wait_until(lambda: bool(again.subscriptions)), "a client that comes back does not subscribe again"
    before, after = (each.asked("subscribe")[0].request.fields.get("filter") for each in (visit, again))
    assert after == before, f"the filter was {before}, and is {after} after a loss"
    return again


@rule("PF-220", roles=CLIENT, transports=EVERY_LINK)
def test_a_subscription_after_a_loss(node: NodeUnderTest) -> None:
    """Cut off a client that has subscribed, by an orderly end and by a reset.

    When it comes back it subscribes with the same filter, and tells what it hears there.
    """
    domain = node.begin("subscribe")
    visit = domain.subscribed()
    for number, how in enumerate((Visit.drop, Visit.abort)):
        how(visit)
        visit = resubscribed(domain, visit)
        visit.tell("appeared", number)
        assert domain.told(f"appeared {number} 0"), "what a subscription says after a loss is not told"


@rule("PF-031", roles=CLIENT)
def test_a_client_that_comes_and_goes(node: NodeUnderTest) -> None:
    """Let a client in that publishes a service with a short ttl and disconnects, again and again.

    It has published the service again before half of the ttl has passed.
    """
    domain = node.begin("transient")
    visit = domain.greeted()
    domain.asks(visit, "publish")
    for _ in range(2):
        known, left = services(visit), departure(domain, visit)
        visit = domain.greeted()
        back = domain.asks(visit, "publish")[0].request.time
        assert services(visit) == known, "another service is published than before"
        away, half = (back - left) * domain.tempo, half_life(known)
        assert away <= half + TOLERANCE * domain.patience * domain.tempo, f"away for {away:.2f} s, half is {half:g}"


def half_life(known: State) -> float:
    """Return half of the lowest ttl of some services, in seconds."""
    lowest = min((each["ttl"] for each in known.values() if is_whole(each["ttl"])), default=0)
    if lowest <= 0:
        raise Inconclusive("the client publishes no service with a ttl")
    return lowest / 2


def departure(domain: Domain, visit: Visit) -> float:
    """Return when a client ended a connection, once it has."""
    domain.needs(lambda: bool(visit.ended), "disconnected")
    return visit.ended_at
