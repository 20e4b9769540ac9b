"""The model that property cases compare an implementation with: the reference server, in memory and virtual time."""

from harness.pathfinder.peers.server import Server
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.peers.memory import World
from harness.trace import Trace


def model(profile: str) -> NodeUnderTest:
    """Return the reference server as a node under test of its own, in memory."""
    # In virtual time: what the model waits for costs the play nothing.
    world = World(Server.of, "server", profile=profile)
    return NodeUnderTest(world, Trace("pathfinder", clock=world.clock), profile=profile, namespace="model/")
