"""Urbit's session-based notifications, as the harness has them."""

from harness.clock import RealClock
from harness.errors import NotAnswered
from harness.iuts.implementation import probing
from harness.links.transports import dial
from harness.protocol import WireProtocol
from harness.timing import Timing
from harness.trace import Trace
from harness.urbit.framings import FRAMINGS, LAYOUT
from harness.urbit.numbers import HeartbeatNumbers
from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.subscriber import Subscriber
from harness.urbit.ships import PUBLISHER, SUBSCRIBER
from harness.urbit.tester.conversation import conversations
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session
from harness.urbit.tester.topics import is_of_subscriber, topic
from harness.urbit.variants.registry import DEFECTS, FAULTS, ODDITIES


def probe(address: str, patience: float) -> None:
    """Ask a publisher for a session that there is not; ``LinkError`` when it does not answer in so many seconds."""
    trace = Trace("urbit", "udp")
    link = dial(address, FRAMINGS, RealClock(), trace=trace)
    asking = TestSubscriber(link, trace, SUBSCRIBER, PUBLISHER, timing=Timing(answer=patience))
    with probing(asking):
        if asking.beat(unknown_session(), number=1) is None:
            raise NotAnswered(f"{address} answers no heartbeat")


PROTOCOL = WireProtocol(
    name="urbit",
    layout=LAYOUT,
    framings=FRAMINGS,
    roles={"publisher": Publisher, "subscriber": Subscriber},
    dials=frozenset({"subscriber"}),
    node_under_test=NodeUnderTest,
    conversations=conversations,
    probe=probe,
    faults=FAULTS,
    oddities=ODDITIES,
    defects=DEFECTS,
    tempo=50.0,  # a lease is a minute, which nobody wants to wait for
    decisions=(
        "harness.urbit.peers.publisher",
        "harness.urbit.peers.session",
        "harness.urbit.peers.ship",
        "harness.urbit.peers.subscriber",
        "harness.urbit.peers.times",
    ),
    topic=topic,
    numbers=HeartbeatNumbers,
    is_of_dialler=is_of_subscriber,
    side_by_side=8,
)
