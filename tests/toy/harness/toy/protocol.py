"""Toy, as the harness has it: what everybody gets who asks for the protocol by its name."""

from harness.clock import RealClock
from harness.iuts.implementation import probing
from harness.links.framing import Framings, LengthPrefixed
from harness.links.transports import dial
from harness.protocol import WireProtocol
from harness.timing import Timing
from harness.toy.peers.server import Server
from harness.toy.tester.conversation import conversations
from harness.toy.tester.driver import Driver
from harness.toy.tester.node_under_test import NodeUnderTest
from harness.toy.variants.registry import FAULTS, ODDITIES
from harness.trace import Trace

# Section 1, by transport: over another one (udp, tls …) frames may stand otherwise, or alone in a packet.
FRAMINGS: Framings = {"tcp": LengthPrefixed(2, "little")}


def probe(address: str, patience: float) -> None:
    """Ask a server for something and leave; raises ``LinkError`` when it does not answer in so many seconds."""
    trace = Trace("toy")
    driver = Driver(dial(address, FRAMINGS, RealClock(), trace=trace), timing=Timing(answer=patience))
    with probing(driver):
        driver.load("probe")


# What harness/protocol.py asks of a protocol; a part that is missing is refused by name.
PROTOCOL = WireProtocol(
    name="toy",
    layout="toy/message",
    framings=FRAMINGS,
    roles={"server": Server},
    node_under_test=NodeUnderTest,
    conversations=conversations,
    probe=probe,
    faults=FAULTS,
    oddities=ODDITIES,
)
