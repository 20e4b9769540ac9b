"""Traces that a report keeps: decoded beside the bytes, and as a capture that Wireshark opens with our dissector."""

import json
from pathlib import Path

import pytest
from tshark import need_tshark, packets

from conformance.engine.play import PlayResult, play
from conformance.run.kept_traces import keep_trace
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from harness.captures.recordings import Recording
from harness.dissector_command import dissector_of
from harness.trace import EntryKind

FAULTS = {"zenoh": "two-finals", "pathfinder": "services-of-each"}


def faulty_play(protocol: str) -> PlayResult:
    """Play a case that accuses a fault."""
    suite = Suite(protocol)
    fault = suite.harness.faults.all[FAULTS[protocol]]
    world = suite.harness.world(fault.peer.of, fault.role)
    cases = [case for case in fitting(suite, fault.role) if set(case.marks.rules) & set(fault.rules)]
    results = (play(case, world, suite, profile="document", number=n) for n, case in enumerate(cases, 1))
    return next(each for each in results if each.outcome.accuses)


@pytest.mark.parametrize("protocol", FAULTS)
def test_messages_stand_beside_their_bytes(protocol: str, tmp_path: Path) -> None:
    result = faulty_play(protocol)
    keep_trace(result.trace, protocol, tmp_path, "kept")
    lines = [json.loads(line) for line in (tmp_path / "kept.ndjson").read_text().splitlines()]
    assert len(lines) == len(result.trace)
    for line in lines:
        assert ("messages" in line) == (line["what"] == "frame")
        assert all(line.get("messages", ["said"]))
    # What is said beside the bytes changes nothing for whoever reads them.
    assert sum(session.frames for session in Recording(tmp_path / "kept.ndjson", protocol)) == sum(
        line["what"] == "frame" for line in lines
    )


@pytest.mark.parametrize("protocol", FAULTS)
def test_the_capture_of_a_run_opens_in_wireshark(protocol: str, tmp_path: Path) -> None:
    need_tshark()
    result = faulty_play(protocol)
    keep_trace(result.trace, protocol, tmp_path, "kept")
    script = tmp_path / "dissector.lua"
    script.write_text(dissector_of(Suite(protocol).harness))
    name = f"goldwire_{protocol}"
    roots = [
        root
        for packet in packets(tmp_path / "kept.pcapng", script, (name, f"{name}_tcp"))
        for root in packet.iter("proto")
        if root.get("name") in (name, f"{name}_tcp")
    ]
    frames = [entry.data for entry in result.trace if entry.what is EntryKind.FRAME]
    assert len(roots) == len(frames)
    assert not [each for root in roots for each in root.iter("proto") if each.get("name") == "_ws.malformed"]
