"""Pathfinder, "Ping Command": whether the server is there."""

from conformance.cases import rule
from conformance.pathfinder.answers import EXCUSES, granted
from conformance.pathfinder.roles import SERVER
from conformance.wording import worded
from harness.pathfinder.tester.node_under_test import NodeUnderTest

MANDATORY = {"ta-cmd", "ta-id", "msg-type"}

PINGS = 500
BATCH = 100
"""Requests that are sent before answers are read: a server may stop reading from a client that does not."""


@rule("PF-182", roles=SERVER)
def test_a_ping(node: NodeUnderTest) -> None:
    """Ping; the complete has the mandatory fields and no others."""
    ping = node.main.ping()
    assert granted(ping), f"a ping is not completed: {ping}"
    assert ping.ending is not None
    alien = sorted(ping.ending.fields.keys() - MANDATORY)
    assert not alien, f"the complete of a ping has the fields {worded(alien)}"


@rule("PF-227", roles=SERVER)
def test_five_hundred_pings(node: NodeUnderTest) -> None:
    """Ping five hundred times, a hundred at once, beside an open subscription and a list of services.

    Each is completed.
    """
    # Something else to do meanwhile: a list of twenty is still being sent when the pings come.
    node.main.sure(node.main.subscribe(node.mine))
    services = [node.service(n=[number]) for number in range(20)]
    for published in node.other.finish_all([node.other.begin("publish", each.fields) for each in services]):
        node.other.sure(published)
    listing = node.main.begin("services", {"filter": node.mine})
    for _ in range(PINGS // BATCH):
        # Whatever the order in which they are answered: no document states one.
        pings = node.main.finish_all([node.main.begin("ping") for _ in range(BATCH)])
        missing = [ping for ping in pings if not granted(ping)]
        assert not missing, f"of {BATCH} pings {len(missing)} are not completed: {missing[0]}"
    assert granted(node.main.finish(listing)), "a list that was asked for before many pings is not completed"


@rule("PF-147", roles=SERVER)
def test_a_ping_before_hello(node: NodeUnderTest) -> None:
    """Ping as the first thing on a connection; it fails with a common reason, if any, or the connection is closed."""
    ping = node.connect().ping()
    assert ping.refused, f"a ping before hello is not refused: {ping}"
    assert ping.reason in (None, "no-hello", *EXCUSES), f"ping has no reason {worded(ping.reason)}"
