"""A play that somebody ends takes back what it has brought about."""

from typing import Any

import pytest
from msgspec.structs import replace

from conformance.engine.play import play
from conformance.suite import Suite
from harness.pathfinder.peers.server import Server


def test_an_interrupted_play_leaves_nothing_on_the_node() -> None:
    suite, peers = Suite("pathfinder"), list[Server]()

    def make(settings: Any) -> Server:
        peers.append(Server.of(settings))
        return peers[-1]

    def publishes(node: Any) -> None:
        node.main.sure(node.main.publish(node.service()))
        assert len(peers[-1].directory) == 1
        raise KeyboardInterrupt

    case = replace(next(case for case in suite.cases if case.fits("server", "tcp")), function=publishes)
    with pytest.raises(KeyboardInterrupt):
        play(case, suite.harness.world(make, "server"), suite, profile="document")
    assert len(peers[-1].directory) == 0
    assert not peers[-1].clients
