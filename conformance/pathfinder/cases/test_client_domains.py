"""Pathfinder, "Multiple Server Domains": one client of several servers."""

from itertools import count

from conformance.cases import judging, rule
from conformance.pathfinder.roles import CLIENT, EVERY_LINK
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain

STATE = ("service-id", "generation", "service-props", "ttl")


class ToldEvents:
    """What the application of a client is told, and what it was told of a service up to now."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        # Marks are services of numbers that no play uses otherwise.
        self._marks = count(1000)

    def of(self, service: int, *connections: AcceptedConnection) -> list[str]:
        """Return what was told of a service, once the client has dealt with all that came on some connections."""
        for connection in connections:
            mark = next(self._marks)
            # Behind all that was told on this connection: when the mark has come through, the rest has been dealt with.
            connection.notify("appeared", mark)
            self.sure(self.domain.told("appeared", mark, 0))
        return [event for event in self.domain.events if event.split()[1] == str(service)]

    def sure(self, text: str) -> None:
        """Make sure that something was told on which the play rests."""
        self.domain.needs(lambda: text in self.domain.events, f"told: {text}")


@rule("PF-009", "PF-038", "PF-039", roles=CLIENT, needs=("PF-093",))
def test_a_service_on_several_servers(node: NodeUnderTest) -> None:
    """Have a client publish a service and change it at two servers.

    It is the same client, and the same service with the same changes.
    """
    domain = node.begin("modify", servers=2)
    connections = [domain.greeted(0), domain.greeted(1)]
    for connection in connections:
        domain.asks(connection, "publish", times=3)
    with judging("PF-009", "PF-038"):
        assert len({connection.client_id for connection in connections}) == 1, (
            "a client has a client-id for each server"
        )
    states = [
        [{name: each.request.fields.get(name) for name in STATE} for each in v.asked("publish")] for v in connections
    ]
    # The identifiers first, since states of different services would all differ.
    ids = [{each["service-id"] for each in known} for known in states]
    with judging("PF-009"):
        assert ids[0] == ids[1], "a service has an identifier for each server"
    with judging("PF-039"):
        assert states[0] == states[1], "a service is published with other data on another server"


@rule("PF-009", "PF-040", roles=CLIENT, needs=("PF-097",))
def test_a_subscription_on_several_servers(node: NodeUnderTest) -> None:
    """Have a client subscribe at two servers, and cut off its connection to one.

    Its subscription has one identifier, also when it has been made anew.
    """
    domain = node.begin("subscribe", servers=2)
    connections = [domain.subscribed(0), domain.subscribed(1)]
    # After a loss too, where a client that counts would count on.
    connections[0].drop()
    connections.append(domain.subscribed(0))
    ids = {connection.asked("subscribe")[0].request.fields.get("subscription-id") for connection in connections}
    assert len(ids) == 1, "a subscription has an identifier for each server"


@rule("PF-021", "PF-041", "PF-042", "PF-043", "PF-044", roles=CLIENT, transports=EVERY_LINK)
def test_matches_of_several_servers(node: NodeUnderTest) -> None:
    """Have a client subscribe at three servers, and tell it of services there, in order and out of order.

    Its application is told when the first server says that a service has appeared or was modified, when the last one
    says that it is gone, and nothing of an older generation.
    """
    domain = node.begin("subscribe", servers=3)
    # The third server never tells anything: what two say has to suffice.
    a, b, _ = domain.subscribed(0), domain.subscribed(1), domain.subscribed(2)
    told = ToldEvents(domain)
    with judging("PF-042"):
        b.notify("appeared", 1)
        assert domain.application_receives(domain.told("appeared", 1, 0)), (
            "a service is not told that has appeared on one server"
        )
        a.notify("appeared", 1)
        assert told.of(1, a) == [domain.told("appeared", 1, 0)], (
            "a service is told again that has appeared on another server, too"
        )
    with judging("PF-043"):
        # Another TTL too: of what makes a service modified the document names that, and not the generation.
        b.notify("modified", 1, 1, ttl=61)
        assert domain.application_receives(domain.told("modified", 1, 1)), (
            "a service is not told that was modified on one server"
        )
        a.notify("modified", 1, 1, ttl=61)
        assert told.of(1, a)[1:] == [domain.told("modified", 1, 1)], (
            "a service is told again that was modified on another server, too"
        )
    with judging("PF-021", "PF-041"):
        a.notify("appeared", 2, 5)
        told.sure(domain.told("appeared", 2, 5))
        # Older than what the other server has told, and, below, than what this one has.
        b.notify("appeared", 2, 4)
        b.notify("modified", 2, 4, ttl=61)
        a.notify("modified", 2, 4, ttl=62)
        assert told.of(2, a, b) == [domain.told("appeared", 2, 5)], (
            "an older generation is told, of another server or of the same"
        )
        a.notify("modified", 2, 6, ttl=63)
        assert domain.application_receives(domain.told("modified", 2, 6)), "a newer generation is not told"
    with judging("PF-044"):
        a.notify("appeared", 3)
        b.notify("appeared", 3)
        told.of(3, a, b)
        a.notify("disappeared", 3)
        assert told.of(3, a) == [domain.told("appeared", 3, 0)], (
            "a service is told to be gone that is there on another server"
        )
        b.notify("disappeared", 3)
        assert domain.application_receives("disappeared 3"), (
            "a service is not told to be gone that has disappeared from all servers"
        )


@rule("PF-043", "PF-044", roles=CLIENT)
def test_a_server_of_several_that_is_lost(node: NodeUnderTest) -> None:
    """Tell a client of a service at two servers, and cut off its connection to one of them.

    Nothing disappears by that: neither now, nor when the server is back and knows the service, until both say so.
    """
    domain = node.begin("subscribe", servers=2)
    a, b = domain.subscribed(0), domain.subscribed(1)
    told = ToldEvents(domain)
    a.notify("appeared", 1)
    b.notify("appeared", 1)
    told.of(1, a, b)
    a.drop()
    a = domain.subscribed(0)
    with judging("PF-044"):
        assert "disappeared 1" not in told.of(1, b), "a service is told to be gone that is there on another server"
    with judging("PF-043"):
        b.notify("modified", 1, 1, ttl=61)
        assert domain.application_receives(domain.told("modified", 1, 1)), (
            "a service is not told that was modified on a server that is still there"
        )
    with judging("PF-044"):
        # Its server is back and knows the service, in the generation that the other one has told of.
        a.notify("appeared", 1, 1, ttl=61)
        told.of(1, a)
        b.notify("disappeared", 1)
        assert "disappeared 1" not in told.of(1, b), "a service is told to be gone that has come back with its server"
        a.notify("disappeared", 1)
        assert domain.application_receives("disappeared 1"), (
            "a service is not told to be gone that has disappeared from all servers"
        )


@rule("PF-043", roles=CLIENT)
def test_changes_within_a_generation(node: NodeUnderTest) -> None:
    """Tell a client of services, then that one has become an orphan, and that another one has another owner.

    Its application is told that they were modified: that is what the document calls so, in whatever generation.
    """
    domain = node.begin("subscribe")
    connection = domain.subscribed()
    told = ToldEvents(domain)
    for service, changed in ((1, {"orphan_since": 1700000000}), (2, {"client_id": 8})):
        connection.notify("appeared", service)
        told.sure(domain.told("appeared", service, 0))
        connection.notify("modified", service, **changed)
        assert domain.application_receives(domain.told("modified", service, 0)), (
            "a change of orphan status or owner is not told"
        )


@rule("PF-044", roles=CLIENT)
def test_a_service_of_another_server_than_the_one_that_is_lost(node: NodeUnderTest) -> None:
    """Tell a client of a service with a ttl of 1 at one of two servers; cut off the other one, and wait for longer.

    The service does not disappear: the server that told of it is there, and has not said so.
    """
    domain = node.begin("subscribe", servers=2)
    lost, kept = domain.subscribed(0), domain.subscribed(1)
    told = ToldEvents(domain)
    kept.notify("appeared", 1, ttl=1)
    told.sure(domain.told("appeared", 1, 0))
    domain.refuse(0)
    lost.drop()
    # The ttl is that of a service whose owner is lost; what a client keeps by it is only of the server that is lost.
    domain.read(1.5)
    assert told.of(1, kept) == [domain.told("appeared", 1, 0)], "a service is told to be gone whose server is there"


@rule("PF-044", roles=CLIENT)
def test_a_service_that_a_lost_server_tells_of_again(node: NodeUnderTest) -> None:
    """Tell a client of a service with a ttl of 1, cut it off, tell of the service again, and wait for longer.

    The service does not disappear after that: its server is back and has not said so.
    """
    domain = node.begin("subscribe")
    lost = domain.subscribed()
    told = ToldEvents(domain)
    lost.notify("appeared", 1, ttl=1)
    told.sure(domain.told("appeared", 1, 0))
    lost.drop()
    back = domain.subscribed()
    back.notify("appeared", 1, ttl=1)
    # What a client makes of the time between is its own affair.
    before = told.of(1, back)
    domain.read(1.5)
    assert told.of(1, back) == before, "a service is told to be gone that its server has told of again"


@rule("PF-042", roles=CLIENT)
def test_servers_that_are_of_no_use(node: NodeUnderTest) -> None:
    """Of three servers one refuses connections, one says nothing, and one tells of a service; then the first lets in.

    Each service is told as soon as one server has told of it.
    """
    domain = node.begin("subscribe", servers=3)
    domain.refuse(0)
    # It is let in and never answered, not even its hello.
    domain.accept(1, obliges=False)
    domain.subscribed(2).notify("appeared", 1)
    assert domain.application_receives(domain.told("appeared", 1, 0)), (
        "a service is not told while other servers are of no use"
    )
    domain.admit(0)
    domain.subscribed(0).notify("appeared", 2)
    assert domain.application_receives(domain.told("appeared", 2, 0)), (
        "a service is not told of a server that refused connections before"
    )
