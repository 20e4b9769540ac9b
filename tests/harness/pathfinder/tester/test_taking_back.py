"""What a play has published is taken back at its end, whoever is still there."""

import pytest

from harness.pathfinder.peers.server import Server
from harness.pathfinder.protocol import PROTOCOL
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.trace import Trace


@pytest.fixture
def node() -> NodeUnderTest:
    world = PROTOCOL.world(Server.of, "server")
    return NodeUnderTest(world, Trace("pathfinder", clock=world.clock), profile="document", namespace="t/")


def left_on(node: NodeUnderTest) -> list[int]:
    visitor = NodeUnderTest(node.instance, node.trace, profile="document", namespace="v/").session()
    return [fields["service-id"] for fields in visitor.sure(visitor.services()).notifications]


def test_by_its_owner_that_comes_back_when_all_have_left(node: NodeUnderTest) -> None:
    owner, other = node.session(), node.session()
    owner.sure(owner.publish(node.service()))
    owner.close()
    other.close()
    assert len(left_on(node)) == 1
    node.close()
    assert left_on(node) == []


def test_also_when_nobody_has_waited_for_the_answer(node: NodeUnderTest) -> None:
    node.main.begin("publish", node.service().fields)
    node.close()
    assert left_on(node) == []


def test_but_nothing_is_asked_that_no_client_may_ask(node: NodeUnderTest) -> None:
    sound, breaking = node.session(), node.session()
    breaking.begin("publish", {**node.service().fields, "service-id": 2**63})
    node.close()
    assert [each.command for each in sound.conversation.transactions] == ["hello"]
