"""Rai's protocol for cache-backed publish and subscribe, as the harness has it."""

from harness.clock import RealClock
from harness.links.transports import dial
from harness.protocol import WireProtocol
from harness.rai.framings import FRAMINGS, LAYOUT
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.router_cache import RouterCache
from harness.rai.peers.subscriber import Subscriber
from harness.rai.tester.conversation import conversations
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.topics import is_telling, topic
from harness.rai.variants.registry import DEFECTS, FAULTS, ODDITIES


def probe(address: str, patience: float) -> None:
    """Connect to a broker; ``LinkError`` when nobody answers in so many seconds."""
    dial(address, FRAMINGS, RealClock(), timeout=patience).close()


PROTOCOL = WireProtocol(
    name="rai",
    layout=LAYOUT,
    framings=FRAMINGS,
    roles={"publisher": Publisher, "subscriber": Subscriber, "router-cache": RouterCache},
    dials=frozenset({"publisher", "subscriber", "router-cache"}),
    is_brokered=True,
    servers={"router-cache": 2},
    node_under_test=NodeUnderTest,
    conversations=conversations,
    probe=probe,
    faults=FAULTS,
    oddities=ODDITIES,
    defects=DEFECTS,
    tempo=50.0,  # a heartbeat is due every ten seconds, and sessions are over after thirty
    decisions=(
        "harness.rai.peers.interests",
        "harness.rai.peers.node",
        "harness.rai.peers.publisher",
        "harness.rai.peers.router_cache",
        "harness.rai.peers.router_halves",
        "harness.rai.peers.subscriber",
    ),
    topic=topic,
    is_telling=is_telling,
)
