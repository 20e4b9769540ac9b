"""Planted defects that are looked into as a campaign does it."""

import json
from pathlib import Path
from random import Random

from conformance.suite import Suite
from fuzz.net.finding import NetworkOrigin, moment
from fuzz.net.investigation import Investigation
from fuzz.net.known_findings import KnownFindings
from fuzz.net.moves import NetworkTest
from fuzz.net.node_on_trial import NodeOnTrial
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial
from harness.timing import ANSWER

ALL = ("--defect", "all")


def described_router(folder: Path, first: str, *options: str) -> Path:
    """Describe our router as somebody's program, which runs a line of shell first; return the description's file."""
    starts = ["{python}", "-P", "-m", "goldwire", "peer", "zenoh", "--listen", "{listen}", *options]
    command = ["sh", "-c", f'{first}; exec "$@"', "sh", *starts]
    path = folder / "described.toml"
    # A list of strings of JSON is one of TOML.
    path.write_text(
        f'name = "described"\nprotocol = "zenoh"\nroles = ["router"]\n[process]\ncommand = {json.dumps(command)}\n'
    )
    return path


def put_on_trial(protocol: str, role: str, *options: str) -> NodeOnTrial:
    """Start one of our own peers, with ``options`` of its process."""
    suite = Suite(protocol)
    job = FuzzJob(protocol=protocol, iut=f"peer:{role}", role=role, seconds=0, seed=0, out="", options=options)
    description, transport = on_trial(job, suite)
    return NodeOnTrial(suite, description, load(protocol)[role], profile="document", transport=transport)


def investigation_of(protocol: str, role: str, node: NodeOnTrial, out: Path) -> Investigation:
    """Return an investigation of a node, with all time to make things small."""
    return Investigation(
        node,
        KnownFindings(out, protocol, role),
        out,
        Random(1),  # of which the first numbers are no doubt
        iut=f"peer:{role}",
        seconds=0,
        options=ALL,
        expect="",
        origin=lambda: NetworkOrigin(0, 0, 0, 0.0, moment()),
        doing=lambda what: None,
    )


def look_into(investigation: Investigation, node: NodeOnTrial, test: NetworkTest) -> None:
    """Play a test that shows something, and have it looked into."""
    node.patience = ANSWER
    _, symptom = node.play(test)
    assert symptom is not None
    investigation.look_into([test], symptom)
