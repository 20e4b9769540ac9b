"""Clients against the tester's servers: the reference client in memory, and the example of the manual as a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.iuts.description import resolve
from harness.iuts.instance import Instance, SocketInstance
from harness.pathfinder.framings import FRAMINGS
from harness.pathfinder.peers.client import Client
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain
from harness.peers.memory import World
from harness.trace import Trace

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "pathfinder-client.toml"


def soon(node: NodeUnderTest) -> float | None:
    """Return the seconds within which a client must be back. A process has ample time: the machine may be busy."""
    return 2.0 if isinstance(node.instance, World) else None


@pytest.fixture(params=["reference", "example"])
def node(request: pytest.FixtureRequest) -> Iterator[NodeUnderTest]:
    """A client that has not begun yet, with all that a play needs."""
    instance: Instance
    if request.param == "reference":
        instance = World(Client.of, "client", dials=True)
    else:
        instance = SocketInstance(resolve(str(EXAMPLE), "pathfinder"), FRAMINGS, scenario="idle")
    node = NodeUnderTest(instance, Trace("pathfinder", clock=instance.clock), profile="document", namespace="n/")
    yield node
    node.close()
    instance.stop()


def arrived(domain: Domain, server: int = 0, *, done: int = 1, command: str = "hello") -> AcceptedConnection:
    """Return the client's next connection to a server, once so many commands were answered there."""
    connection = domain.accept(server)
    domain.needs(lambda: len([each for each in connection.asked(command) if each.answers]) == done, f"did {command}")
    return connection


def subscribed(domain: Domain, server: int = 0) -> AcceptedConnection:
    """Return the client's next connection to a server, once it has subscribed there."""
    return arrived(domain, server, command="subscribe")


@pytest.mark.parametrize(
    ("scenario", "commands"),
    [
        ("idle", []),
        ("publish", ["publish"] * 2),
        ("modify", ["publish"] * 3),
        ("unpublish", ["publish", "unpublish"]),
        ("subscribe", ["subscribe"]),
        ("subscribe-all", ["subscribe"]),
        ("unsubscribe", ["subscribe", "unsubscribe"]),
        ("list", ["services", "subscriptions", "clients", "ping"]),
        ("transient", ["publish", "publish"]),
        ("many", ["publish"] * 500),
    ],
)
def test_scenarios(node: NodeUnderTest, scenario: str, commands: list[str]) -> None:
    domain = node.begin(scenario)
    connection = domain.accept()
    expected = ["hello", *commands]
    domain.needs(
        lambda: (
            len(connection.requests) == len(expected)
            and all(each.is_over or each.command == "subscribe" for each in connection.requests)
        ),
        f"did {expected}",
    )
    assert [each.command for each in connection.requests] == expected
    assert len({each.ta for each in connection.requests}) == len(expected)
    assert all(event.error is None for event in connection.conversation.events)


def test_a_lost_connection(node: NodeUnderTest) -> None:
    domain = node.begin("modify")
    first = arrived(domain, done=3, command="publish")
    first.drop()
    second = domain.accept(within=soon(node))
    domain.needs(lambda: bool(second.asked("publish")), "republished")
    assert second.published == {
        id: {**fields, "ta-id": second.asked("publish")[0].ta} for id, fields in first.published.items()
    }
    assert second.generations == first.generations[-1:]


def test_a_refused_connection(node: NodeUnderTest) -> None:
    domain = node.begin("publish")
    arrived(domain, done=2, command="publish").drop()
    domain.refuse()
    assert domain.comes(within=1.0) is None
    domain.admit()
    assert arrived(domain, done=2, command="publish").client_id == domain.connections[0].client_id


def test_a_refused_hello(node: NodeUnderTest) -> None:
    domain = node.begin("publish")
    connection = domain.accept(obliges=False)
    domain.needs(lambda: bool(connection.requests), "said hello")
    connection.answer(connection.requests[0], "fail", {"fail-reason": "client-id-exists"})
    connection.obliges = True
    domain.needs(lambda: len(connection.published) == 2, "published")
    assert domain.application_receives("failed hello client-id-exists")


@pytest.mark.parametrize(
    "frame",
    [
        b"garbage",
        b"[1]",
        b"\xff",
        b'{"ta-cmd": "ping", "ta-id": 99, "msg-type": "complete"}',
        b'{"ta-cmd": "subscribe", "ta-id": 1, "msg-type": "notify", "match-type": "appeared", "service-id": 1}',
        b'{"ta-cmd": "subscribe", "ta-id": 1, "ta-id": 1, "msg-type": "complete"}',
        b'{"ta-cmd": "hello", "ta-id": 0, "msg-type": "request"}',
    ],
    ids=range(7),
)
def test_garbage(node: NodeUnderTest, frame: bytes) -> None:
    domain = node.begin("subscribe")
    connection = subscribed(domain)
    connection.say(frame)
    domain.accept(within=soon(node))
    again = domain.connections[-1]
    domain.needs(lambda: bool(again.subscriptions), "subscribed anew")
    assert (
        again.asked("subscribe")[0].request.fields["subscription-id"]
        == (connection.asked("subscribe")[0].request.fields["subscription-id"])
    )


def test_two_servers_have_one_picture(node: NodeUnderTest) -> None:
    domain = node.begin("subscribe", servers=2)
    a, b = subscribed(domain, 0), subscribed(domain, 1)
    assert a.client_id == b.client_id
    a.notify("appeared", 7, 3)
    assert domain.application_receives("appeared 7 3")
    b.notify("appeared", 7, 2)
    b.notify("modified", 7, 2)
    b.notify("modified", 7, 4)
    assert domain.application_receives("modified 7 4")
    a.notify("modified", 7, 4)
    a.notify("disappeared", 7)
    a.notify("appeared", 8)
    assert domain.application_receives("appeared 8 0")
    assert domain.events == ["appeared 7 3", "modified 7 4", "appeared 8 0"]
    b.notify("disappeared", 7)
    assert domain.application_receives("disappeared 7")


def test_a_lost_server_takes_nothing_away(node: NodeUnderTest) -> None:
    domain = node.begin("subscribe", servers=2)
    a, b = subscribed(domain, 0), subscribed(domain, 1)
    a.notify("appeared", 7)
    b.notify("appeared", 7)
    assert domain.application_receives("appeared 7 0")
    a.drop()
    a = subscribed(domain, 0)
    b.notify("disappeared", 7)
    b.notify("appeared", 8)
    assert domain.application_receives("appeared 8 0")
    assert "disappeared 7" not in domain.events
    a.notify("appeared", 7)
    a.notify("appeared", 9)
    assert domain.application_receives("appeared 9 0")
    a.notify("disappeared", 7)
    assert domain.application_receives("disappeared 7")


def test_what_a_lost_server_does_not_tell_of_again_is_gone_after_its_ttl(node: NodeUnderTest) -> None:
    domain = node.begin("subscribe")
    connection = subscribed(domain)
    connection.notify("appeared", 7, ttl=1)
    connection.notify("appeared", 8, ttl=1)
    assert domain.application_receives("appeared 7 0", "appeared 8 0")
    connection.drop()
    subscribed(domain).notify("appeared", 8, ttl=1)
    assert domain.application_receives("disappeared 7")
    assert "disappeared 8" not in domain.events


def test_a_transient_client_is_back_in_time(node: NodeUnderTest) -> None:
    domain = node.begin("transient")
    arrived(domain, done=2, command="publish")
    for _ in range(2):
        ended = domain.now()
        arrived(domain, done=2, command="publish")
        assert domain.now() - ended <= (soon(node) or 4.0), "it is back after its TTL"
    assert len({tuple(connection.published) for connection in domain.connections}) == 1


def test_a_bounded_number_of_transactions(node: NodeUnderTest) -> None:
    domain = node.begin("many")
    connection = arrived(domain)
    connection.obliges = False
    while len(connection.published) < 500:
        waiting = [each for each in connection.asked("publish") if not each.is_over]
        if len(waiting) + len(connection.published) < 500:
            domain.needs(lambda: len([1 for each in connection.requests if not each.is_over]) >= 100, "sent a hundred")
            domain.read(0.02)
            waiting = [each for each in connection.asked("publish") if not each.is_over]
        assert len(waiting) <= 100
        for each in waiting:
            connection.grant(each)
    assert len(connection.asked("publish")) == 500
