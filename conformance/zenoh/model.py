"""The model that property cases compare an implementation with: the reference router, in memory and virtual time."""

from harness.peers.memory import World
from harness.trace import Trace
from harness.zenoh.peers.router import Router
from harness.zenoh.tester.node_under_test import NodeUnderTest


def model(profile: str) -> NodeUnderTest:
    """Return the reference router as a node under test of its own, in memory."""
    world = World(Router.of, "router", profile=profile)
    return NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile=profile, namespace="model/")
