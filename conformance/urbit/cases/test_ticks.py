"""Section "Packet Types": the ticks of the prelude."""

from conformance.cases import NotPlayed, rule
from conformance.urbit.roles import PUBLISHER
from harness.urbit.tester.node_under_test import NodeUnderTest

TICKS = (3, 10)
"""Two that differ from each other, and from those of everybody's first keys."""


@rule("URB-011", roles=PUBLISHER, needs=("URB-060",))
def test_other_ticks(node: NodeUnderTest) -> None:
    """Ask for a path and send a heartbeat with ticks that differ.

    The ticks of both answers are the same, swapped.
    """
    asking = node.main
    asking.ticks = TICKS
    promise = asking.request("none")
    if promise is None:
        raise NotPlayed("it answers no ship that has other ticks than those of first keys")
    asking.heartbeat()
    for answer in asking.received():
        ticks = answer.packet.receiver_tick, answer.packet.sender_tick
        assert ticks == TICKS, f"an answer to ticks {TICKS} has {ticks[::-1]}"
