"""Pathfinder: what a server or a client does at all. Other rules rest on it, and who lacks it is told so once."""

from conformance.cases import Inconclusive, basic
from conformance.pathfinder.answers import granted
from conformance.pathfinder.roles import CLIENT, EVERY_LINK, SERVER
from conformance.pathfinder.waiting import watch
from harness.pathfinder.tester.driver import new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import Domain

TTL = 2
"""Seconds that the service lives: a server may be late with its news by a part of that, and is waited for so long."""


SOON = 5.0
"""Seconds of the protocol's time within which a client is expected to ask for what it is there for."""


def is_asked(domain: Domain, command: str) -> None:
    """Let a client in, and make sure that it asks for something; ``NotCome`` when it does not.

    Nobody is accused: the document obliges no client to ask. But rules rest on it, so a run that lacks it is red.
    """
    connection = domain.accept()
    domain.needs(lambda: bool(connection.asked(command)), f"asked for {command}", seconds=SOON)


@basic("PF-114", roles=SERVER, transports=EVERY_LINK)
def test_some_hello_is_completed(node: NodeUnderTest) -> None:
    """Say hello with the version of the document, under two identifiers on connections of their own.

    One of them is completed.
    """
    hellos = [node.connect().hello() for _ in range(2)]
    assert any(map(granted, hellos)), f"no hello is completed: {hellos[0]}"


@basic("PF-094", roles=SERVER, transports=EVERY_LINK)
def test_some_request_is_answered(node: NodeUnderTest) -> None:
    """Say hello; ping, publish a service, and take back what is not there.

    One of these is answered.
    """
    session = node.main
    asked = [
        session.begin("ping"),
        session.begin("publish", node.service().fields),
        session.begin("unpublish", {"service-id": new_id()}),
    ]
    session.wait_until(lambda: any(each.answers or each.is_over for each in asked))
    assert any(each.answers for each in asked), f"no request behind hello is answered: {asked[0]}"


@basic("PF-098", roles=SERVER, transports=EVERY_LINK)
def test_some_listing_is_answered(node: NodeUnderTest) -> None:
    """Say hello; subscribe, and list services, subscriptions and clients.

    One of these is accepted or fails.
    """
    session = node.main
    asked = [
        session.begin("subscribe", {"subscription-id": new_id(), "filter": node.mine}),
        *(session.begin(command) for command in ("services", "subscriptions", "clients")),
    ]
    session.wait_until(lambda: any(each.answers or each.is_over for each in asked))
    assert any(each.answers for each in asked), f"no request for several responses is answered: {asked[0]}"


@basic("PF-157", roles=SERVER)
def test_some_service_is_listed(node: NodeUnderTest) -> None:
    """Publish two services; another client lists the services of this play, and all that there are.

    One of the two is listed.
    """
    services = [node.service(), node.service(name=["x"])]
    published = [granted(node.main.publish(service)) for service in services]
    if not any(published):
        raise Inconclusive("the server lets nobody publish a service")
    known = [
        fields.get("service-id") for filter in (node.mine, None) for fields in node.other.services(filter).notifications
    ]
    assert {service.id for service in services} & set(known), "a service that was published is listed to nobody"


@basic("PF-120", roles=SERVER)
def test_some_service_is_told_to_a_subscription(node: NodeUnderTest) -> None:
    """A service is published between two subscriptions that it matches.

    One of them is told of it.
    """
    before = watch(node)
    service = node.service(ttl=TTL)
    if not granted(node.other.publish(service)):
        raise Inconclusive("the server does not let this service be published")
    after = watch(node)
    told = node.main.wait_until(
        lambda: bool(before.notifications or after.notifications), node.main.now() + node.timing.within(TTL)
    )
    assert told, "no subscription is told of a service that matches"


@basic("PF-107", roles=CLIENT, transports=EVERY_LINK)
def test_a_client_says_hello(node: NodeUnderTest) -> None:
    """Let a client in that has something to publish.

    It says hello.
    """
    is_asked(node.begin("publish"), "hello")


@basic("PF-093", roles=CLIENT, transports=EVERY_LINK)
def test_a_client_publishes(node: NodeUnderTest) -> None:
    """Let a client in that has something to publish, and complete its hello.

    It asks to publish.
    """
    is_asked(node.begin("publish"), "publish")


@basic("PF-097", roles=CLIENT, transports=EVERY_LINK)
def test_a_client_subscribes(node: NodeUnderTest) -> None:
    """Let a client in that has something to subscribe to, and complete its hello.

    It asks to subscribe.
    """
    is_asked(node.begin("subscribe"), "subscribe")
