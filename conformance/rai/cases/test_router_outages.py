"""Rai, "Refresh Initial": a router-cache whose broker at the source goes away, and comes back."""

from conformance.cases import rule
from conformance.rai.roles import BROKERS, ROUTER_CACHE
from conformance.rai.routing import Route
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Hello

LONG = 3600
"""Seconds for which subscriptions are kept through anything."""

BACK = 60
"""Seconds after which whoever comes back to a broker is there."""


@rule("RAI-214", roles=ROUTER_CACHE, transports=BROKERS)
def test_outages_at_the_source(node: NodeUnderTest) -> None:
    """Subscribe subjects, have the broker of their publisher go away and come back twice, and a value change meanwhile.

    Subscribers are told what has changed, and get updates again.
    """
    main = node.main
    # While a broker is started again nobody says that the subscribers live.
    routes = [Route(node, name, expires=LONG, BID=0) for name in ("changed", "same")]
    for outage in range(1, 3):
        since = routes[0].place
        broker = node.outage(0)
        # It may have said HELLO before anybody listened.
        greeting = broker.wait_for(lambda event: isinstance(event.body, Hello), seconds=node.timing.within(BACK))
        assert greeting, "nothing is said any more at a broker that was away"
        values = {route.subject: {"BID": 0} for route in routes} | {routes[0].subject: {"BID": 10 * outage}}
        publisher = node.new_publisher(("tara", "dora")[outage - 1], values=values)
        for route in routes:
            route.publisher, route.asking = publisher, main
        assert routes[0].tells(since=since, BID=10 * outage), "nobody is told what has changed during an outage"
        for route in routes:
            assert route.passes(BID=10 * outage + 1), f"{route.subject} is not told any more after an outage"
