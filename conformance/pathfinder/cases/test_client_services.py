"""Pathfinder, "Service Records" and the commands for them: what a client publishes."""

from typing import Any

from conformance.cases import Inconclusive, judging, rule
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import CLIENT, EVERY_LINK
from conformance.wording import worded
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain
from wire.pathfinder.values import Message

MANDATORY = {"ta-cmd", "ta-id", "msg-type"}
SERVICE = {"service-id", "generation", "service-props", "ttl"}


def published(domain: Domain, connection: AcceptedConnection, count: int) -> list[Message]:
    """Return what a client publishes, once it has sent ``count`` publishes."""
    return [each.request.fields for each in domain.asks(connection, "publish", times=count)]


@rule("PF-003", "PF-006", "PF-017", "PF-018", "PF-160", roles=CLIENT, transports=EVERY_LINK, needs=("PF-093",))
def test_services_that_are_published(node: NodeUnderTest) -> None:
    """Have a client publish two services.

    Each has an identifier, a generation, which is 0, properties and a ttl, all numbers of the range of Int>=0.
    """
    domain = node.begin("publish")
    for service in published(domain, domain.greeted(), 2):
        with judging("PF-017"):
            assert is_whole(service.get("generation")), f"the generation is {worded(service.get('generation'))}"
        with judging("PF-018"):
            assert service["generation"] == 0, f"a service begins at generation {worded(service['generation'])}"
        with judging("PF-160"):
            assert service.keys() - MANDATORY == SERVICE, (
                f"publish has the fields {worded(sorted(service.keys() - MANDATORY))}"
            )
        with judging("PF-006"):
            assert is_whole(service["service-id"]), f"the service-id is {worded(service['service-id'])}"
        with judging("PF-003"):
            # Of publish's numbers those that no rule of their own is about.
            assert is_whole(service["ttl"]), f"the ttl is {worded(service['ttl'])}"
            assert is_whole(service["ta-id"]), f"the ta-id is {worded(service['ta-id'])}"


@rule("PF-011", "PF-019", "PF-020", "PF-046", roles=CLIENT, needs=("PF-093",))
def test_a_service_that_changes(node: NodeUnderTest) -> None:
    """Have a client publish a service and change its properties and then its ttl; cut it off when that is done.

    The service keeps its identifier, and each change has the next generation. What is published after the loss is the
    service as it is now.
    """
    domain = node.begin("modify")
    connection = domain.greeted()
    published(domain, connection, 1)
    with judging("PF-019"):
        assert domain.does(lambda: len(connection.asked("publish")) >= 3), (
            "a service that changes is not published anew"
        )
    states = published(domain, connection, 3)
    with judging("PF-019"):
        contents = [(each.get("service-props"), each.get("ttl")) for each in states]
        assert contents[0] != contents[1] != contents[2], "a service that changes is published anew as it was"
    with judging("PF-011"):
        assert len({each.get("service-id") for each in states}) == 1, "a service that changes gets another identifier"
    generations: list[Any] = [each.get("generation") for each in states]
    if not all(map(is_whole, generations)):
        raise Inconclusive(f"the generations are {generations}")
    with judging("PF-019"):
        # Rising strictly is one rule, by one at a time (below) another, and a stricter one.
        assert generations == sorted(set(generations)), f"a service changes with the generations {worded(generations)}"
    with judging("PF-020"):
        assert generations == [generations[0] + number for number in range(3)], (
            f"the generations are {worded(generations)}"
        )
    # Cut off when all three states were published: a client that brings its first state back is found out.
    connection.drop()
    again = domain.greeted()
    with judging("PF-046"):
        assert domain.wait_until(lambda: bool(again.published)), "nothing is published after a loss"
        state = again.asked("publish")[0].request.fields
        assert all(state.get(name) == states[-1].get(name) for name in SERVICE), (
            "another state is published after a loss"
        )


@rule("PF-168", roles=CLIENT)
def test_a_service_that_is_unpublished(node: NodeUnderTest) -> None:
    """Have a client publish a service and unpublish it.

    The request names this service and has nothing else of its own.
    """
    domain = node.begin("unpublish")
    connection = domain.greeted()
    service = published(domain, connection, 1)[0]
    request = domain.asks(connection, "unpublish")[0].request.fields
    assert request.keys() - MANDATORY == {"service-id"}, f"unpublish has {worded(sorted(request.keys() - MANDATORY))}"
    assert request["service-id"] == service.get("service-id"), "another service is unpublished than was published"
