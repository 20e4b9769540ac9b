"""Pathfinder, "Transactions": how a client numbers its transactions, and how many it begins."""

from conformance.cases import judging, rule
from conformance.pathfinder.roles import CLIENT, EVERY_LINK
from harness.pathfinder.peers.scenarios import MANY
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain

MOST = 100
"""How many transactions the scenario allows at once."""


def asks_on(domain: Domain, connection: AcceptedConnection) -> bool:
    """Tell whether another request comes within a moment."""
    known = len(connection.requests)
    return domain.wait_until(lambda: len(connection.requests) > known, domain.after(0.2))


@rule("PF-089", "PF-091", roles=CLIENT, transports=EVERY_LINK, needs=("PF-093",))
def test_many_services_at_once(node: NodeUnderTest) -> None:
    """Have a client publish 500 services, and answer nothing until no more requests come; then go on answering.

    No more than a hundred wait at any time, all under numbers of their own, and in the end all services are there.
    """
    domain = node.begin("many")
    connection = domain.greeted()
    connection.obliges = False
    while len(connection.published) < MANY:
        # As many as there are to come at once, or as come within a moment.
        while len(connection.waiting) < MANY and asks_on(domain, connection):
            pass
        with judging("PF-089"):
            assert len(connection.waiting) <= MOST, f"{len(connection.waiting)} transactions wait at once"
        with judging("PF-091"):
            numbers = [each.ta for each in connection.waiting]
            assert len(set(numbers)) == len(numbers), "transactions that wait have the same number"
        domain.needs(lambda: bool(connection.waiting), "published all its services")
        for each in connection.waiting:
            connection.grant(each)
    assert len(connection.asked("publish")) == MANY, "services are published twice"
