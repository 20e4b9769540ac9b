"""Nothing of a run stays behind on a node that others use, nor beside it: also when the run was interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from watched_runs import MARK, processes, wait_for_cases

from harness.iuts.description import resolve
from harness.peers.embedded import EmbeddedImplementation
from harness.protocol import load

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))

SOON = 10.0
"""Seconds until a node has taken note that links have ended, and until what was published for a second is gone."""

LONG = 600.0
"""Seconds after which a run hangs: on a machine with other work it takes a quarter of that."""

ENDS = [
    pytest.param(0, id="to the end"),
    pytest.param(signal.SIGINT, id="interrupted"),
    # One way out for both signals: it is test_terminated that plays each time what this ends with.
    pytest.param(signal.SIGTERM, id="terminated", marks=pytest.mark.sweep),
]
"""The signals that end a run early: by hand, or by the ``timeout`` of a CI."""

SOME = 5
"""Cases after which a run is interrupted."""

LISTENING = [
    ("zenoh", "router"),
    pytest.param("pathfinder", "server", marks=pytest.mark.sweep),  # the longest of all, a minute twice
]
DIALLING = [("zenoh", "test_modes or test_sender"), ("pathfinder", "test_client_services or test_client_hello")]
"""Who dials, and the cases that are played: each wants a process, which takes longer to begin than to play."""

CLIENT = """
name = "client"
protocol = "{protocol}"
roles = ["client"]
dials = ["client"]
{more}
[process]
command = ["sh", "-c", '{script}']
{control}
"""

DIALS = """
for each in $(echo "$GOLDWIRE_CONNECT" | tr , " "); do set -- "$@" --connect "$each"; done
exec {goldwire} peer {protocol} --role client "$@" {scenario}
"""
"""A program that dials, as docs/iut.md and docs/pathfinder-client.md have it; servers come with commas between."""


@contextmanager
def shared_node(protocol: str, role: str) -> Iterator[EmbeddedImplementation]:
    """Serve a peer of ours that lives on, at the pace of the clock, as the nodes of others do."""
    running = load(protocol).embedded(resolve(f"peer:{role}", protocol))
    try:
        yield running
    finally:
        running.stop()


def left_on(node: EmbeddedImplementation) -> list[str]:
    """Return what a peer has of anybody: sessions, and what outlives them."""
    peer: Any = node._server.peer
    found = [f"session {link}" for link in list(peer.sessions)]
    for table in ("directory", "subscriptions"):
        found += [f"{table}: {getattr(each, 'props', each)}" for each in list(getattr(peer, table, ()))]
    return found


def wait_for_nothing(left: Callable[[], list[str]]) -> list[str]:
    """Return what is left when nothing changes any more."""
    deadline = time.monotonic() + SOON
    while (found := left()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def run(folder: Path, protocol: str, iut: str, *options: str, interrupted: int) -> subprocess.CompletedProcess[str]:
    """Run the gate to its end, or until it gets a signal; its processes carry the folder's name."""
    command = [GOLDWIRE, "test", protocol, "--iut", iut, "--report", "out", *options]
    environment = os.environ | {MARK: folder.name}
    with subprocess.Popen(
        command, cwd=folder, env=environment, start_new_session=True, stdout=subprocess.PIPE, text=True
    ) as running:
        if interrupted:
            wait_for_cases(folder / "out" / "run.ndjson", SOME, within=SOON * SOME)
            os.killpg(running.pid, interrupted)
        output, _ = running.communicate(timeout=LONG)
    return subprocess.CompletedProcess(command, running.returncode, output)


@pytest.mark.slow(seconds=20)  # whole runs at the pace of the clock
@pytest.mark.parametrize("interrupted", ENDS)
@pytest.mark.parametrize(("protocol", "role"), LISTENING)
def test_nothing_stays_on_a_node_that_others_use(protocol: str, role: str, interrupted: int, tmp_path: Path) -> None:
    with shared_node(protocol, role) as node:
        done = run(tmp_path, protocol, node.address(), interrupted=interrupted)
        assert done.returncode == (130 if interrupted else 0), done.stdout
        assert processes(tmp_path.name) == []
        assert wait_for_nothing(lambda: left_on(node)) == []
        assert node.alive()


@pytest.mark.slow(seconds=20)  # whole runs at the pace of the clock
@pytest.mark.parametrize("interrupted", ENDS)
@pytest.mark.parametrize(("protocol", "cases"), DIALLING)
def test_no_client_that_was_started_stays(protocol: str, cases: str, interrupted: int, tmp_path: Path) -> None:
    commanded = protocol == "zenoh"
    scenario = "" if commanded else "--scenario $GOLDWIRE_SCENARIO"
    script = DIALS.format(goldwire=GOLDWIRE, protocol=protocol, scenario=scenario)
    more, control = ('capabilities = ["control"]', "control = true") if commanded else ("", "")
    text = CLIENT.format(protocol=protocol, script=script.replace("\n", "; ").strip("; "), more=more, control=control)
    (tmp_path / "client.toml").write_text(text)
    done = run(tmp_path, protocol, "client.toml", "-k", cases, interrupted=interrupted)
    assert done.returncode == (130 if interrupted else 0), done.stdout
    assert processes(tmp_path.name) == []
