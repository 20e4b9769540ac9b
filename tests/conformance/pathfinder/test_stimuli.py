"""Stimuli on connections of their own: none of these is silent while many others are made."""

from conformance.pathfinder.stimuli import AT_ONCE, offend
from harness.pathfinder.peers.server import Server
from harness.pathfinder.protocol import PROTOCOL
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.trace import EntryKind, Trace


def test_connections_say_hello_before_many_more_are_made() -> None:
    world = PROTOCOL.world(Server.of, "server")
    node = NodeUnderTest(world, Trace("pathfinder", clock=world.clock), profile="document", namespace="t/")
    ping = {"ta-cmd": "ping", "ta-id": 1, "msg-type": "request"}
    offences = offend(node, [ping] * 100)
    assert [each.was_done for each in offences] == [True] * 100
    silent: set[str] = set()
    most = 0
    for entry in node.trace.entries:
        if entry.what is EntryKind.OPENED:
            silent.add(entry.link)
        elif entry.what is EntryKind.FRAME:
            silent.discard(entry.link)
        most = max(most, len(silent))
    assert most == AT_ONCE
