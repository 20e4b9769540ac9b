"""Pathfinder, "Transactions": how a client numbers its transactions, and how many it begins."""

from conformance.cases import judging, rule
from harness.pathfinder.scenarios import MANY
from harness.pathfinder.scripted import Domain, Visit
from harness.pathfinder.under_test import NodeUnderTest

CLIENT = ("client",)
EVERY_LINK = ("tcp", "tcp-stream", "tls", "ux")
MOST = 100
"""How many transactions the scenario allows at once."""


def asks_on(domain: Domain, visit: Visit) -> bool:
    """Tell whether another request comes within a moment."""
    known = len(visit.requests)
    return domain.wait_until(lambda: len(visit.requests) > known, seconds=0.2)


@rule("PF-089", "PF-091", roles=CLIENT, transports=EVERY_LINK)
def test_many_services_at_once(node: NodeUnderTest) -> None:
    """Have a client publish 500 services, and answer nothing until no more requests come; then go on answering.

    No more than a hundred wait at any time, all under numbers of their own, and in the end all services are there.
    """
    domain = node.begin("many")
    visit = domain.greeted()
    visit.obliges = False
    while len(visit.published) < MANY:
        while len(visit.waiting) < MANY and asks_on(domain, visit):
            pass
        with judging("PF-089"):
            assert len(visit.waiting) <= MOST, f"{len(visit.waiting)} transactions wait at once"
        with judging("PF-091"):
            numbers = [each.ta for each in visit.waiting]
            assert len(set(numbers)) == len(numbers), "transactions that wait have the same number"
        domain.needs(lambda: bool(visit.waiting), "published all its services")
        for each in visit.waiting:
            visit.grant(each)
    assert len(visit.asked("publish")) == MANY, "services are published twice"
