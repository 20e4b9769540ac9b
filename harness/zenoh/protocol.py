"""Zenoh, as the harness has it."""

from harness.clock import RealClock
from harness.iuts.implementation import probing
from harness.links.transports import dial
from harness.protocol import WireProtocol
from harness.timing import Timing
from harness.trace import Trace
from harness.zenoh.framings import FRAMINGS, LAYOUT
from harness.zenoh.numbers import SequenceNumbers
from harness.zenoh.peers.client import Client
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.transport import Settings
from harness.zenoh.tester.conversation import conversations
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.topics import topic
from harness.zenoh.variants.registry import DEFECTS, FAULTS, ODDITIES
from wire.zenoh.values_transport import WhatAmI


def probe(address: str, patience: float) -> None:
    """Shake hands with a node and leave; raises ``LinkError`` when it does not answer in so many seconds."""
    trace = Trace("zenoh")
    link = dial(address, FRAMINGS, RealClock(), trace=trace)
    driver = Driver(link, trace, Settings(b"gw-probe", WhatAmI.CLIENT), timing=Timing(answer=patience))
    with probing(driver):
        driver.open()


PROTOCOL = WireProtocol(
    name="zenoh",
    layout=LAYOUT,
    framings=FRAMINGS,
    roles={"router": Router, "client": Client},
    dials=frozenset({"client"}),
    node_under_test=NodeUnderTest,
    conversations=conversations,
    probe=probe,
    faults=FAULTS,
    oddities=ODDITIES,
    defects=DEFECTS,
    decisions=(
        "harness.zenoh.peers.router",
        "harness.zenoh.peers.routing",
        "harness.zenoh.peers.session",
        "harness.zenoh.peers.client",
        "wire.zenoh.keys",
    ),
    ports=(7447,),
    topic=topic,
    numbers=SequenceNumbers,
)
