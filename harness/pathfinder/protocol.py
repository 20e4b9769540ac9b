"""Pathfinder, as the harness has it."""

from harness.clock import RealClock
from harness.iuts.implementation import probing
from harness.links.transports import dial
from harness.pathfinder.framings import FRAMINGS, LAYOUT
from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.scenarios import SCENARIOS
from harness.pathfinder.peers.server import Server
from harness.pathfinder.tester.conversation import conversations
from harness.pathfinder.tester.driver import Driver
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import GENERATIONS
from harness.pathfinder.tester.topics import topic
from harness.pathfinder.variants.registry import DEFECTS, FAULTS, ODDITIES
from harness.protocol import WireProtocol
from harness.timing import Timing
from harness.trace import Trace


def probe(address: str, patience: float) -> None:
    """Say hello to a server and leave; raises ``LinkError`` when it does not answer in so many seconds."""
    trace = Trace("pathfinder")
    driver = Driver(dial(address, FRAMINGS, RealClock(), trace=trace), trace, timing=Timing(answer=patience))
    with probing(driver):
        driver.open()


PROTOCOL = WireProtocol(
    name="pathfinder",
    layout=LAYOUT,
    framings=FRAMINGS,
    roles={"server": Server, "client": Client},
    dials=frozenset({"client"}),
    node_under_test=NodeUnderTest,
    conversations=conversations,
    probe=probe,
    faults=FAULTS,
    oddities=ODDITIES,
    defects=DEFECTS,
    tempo=20.0,  # the TTLs of its plays are seconds, which nobody wants to wait for
    # Not what a server has room for (limits, matching_cost), and not what a client is told to do (scenarios): the
    # document speaks of neither.
    decisions=(
        "harness.pathfinder.peers.server",
        "harness.pathfinder.peers.publishing",
        "harness.pathfinder.peers.subscribing",
        "harness.pathfinder.peers.answering",
        "harness.pathfinder.peers.directory",
        "harness.pathfinder.peers.session",
        "harness.pathfinder.peers.records",
        "harness.pathfinder.peers.matching_index",
        "harness.pathfinder.peers.client",
        "harness.pathfinder.peers.server_state",
        "harness.pathfinder.peers.reconnecting",
        "wire.pathfinder.matching",
    ),
    topic=topic,
    # What an application can ask of a client, and be told by it, is its library's affair.
    optional=frozenset(SCENARIOS) | {GENERATIONS},
)
