"""Who cannot be tried is told so before the first test, and accused of nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.suite import Suite
from fuzz.net.node_on_trial import NodeOnTrial
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial
from harness.errors import StartFailed

MUTE = """
name = "mute"
protocol = "zenoh"
roles = ["client"]
dials = ["client"]
[process]
command = ["{python}", "-m", "goldwire", "peer", "zenoh", "--role", "client", "--connect", "{connect}"]
ready = "line"
"""


def put_on_trial(iut: str, role: str, *options: str) -> Iterator[NodeOnTrial]:
    suite = Suite("zenoh")
    job = FuzzJob(protocol="zenoh", iut=iut, role=role, seconds=0, seed=0, out="", options=options)
    description, transport = on_trial(job, suite)
    node = NodeOnTrial(suite, description, load("zenoh")[role], profile="document", transport=transport)
    try:
        yield node
    finally:
        node.stop()


def test_who_takes_no_control_lines_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "mute.toml").write_text(MUTE)
    for node in put_on_trial(str(tmp_path / "mute.toml"), "client"):
        with pytest.raises(StartFailed, match="mute:client takes no control lines: without them nothing"):
            node.prove_service()


@pytest.mark.slow(seconds=5)  # an answer that never comes is waited for
def test_who_serves_nobody_even_when_fresh_is_no_finding() -> None:
    for node in put_on_trial("peer:router", "router", "--fault", "no-final"):
        with pytest.raises(StartFailed, match="does not work on a fresh instance"):
            node.prove_service()


def test_a_healthy_router_is_served() -> None:
    for node in put_on_trial("peer:router", "router"):
        node.prove_service()
