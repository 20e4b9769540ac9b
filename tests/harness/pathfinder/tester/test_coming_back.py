"""A client that comes back as soon as it has left: the server may not have noticed the end yet."""

import pytest

from harness.links.network_path import NetworkPath
from harness.pathfinder.peers.server import Server
from harness.pathfinder.protocol import PROTOCOL
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.variants.oddities.transactions import Taciturn
from harness.trace import Trace


@pytest.mark.parametrize("server", [Server, Taciturn])
def test_it_is_let_in_by_who_refuses_it_for_a_moment_whether_that_says_why_or_not(server: type[Server]) -> None:
    world = PROTOCOL.world(server.of, "server", path=NetworkPath(0.5, jitter=0.5, seed=1))
    node = NodeUnderTest(world, Trace("pathfinder", clock=world.clock), profile="document", namespace="t/")
    session = node.session()
    for _ in range(10):
        session.close()
        session = node.back(session.client_id)
    assert len(node.sessions) > 11, "the end was noticed in time each time, so this shows nothing"
