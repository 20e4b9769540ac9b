"""Traces that a report keeps: each as records for programs and as packets for Wireshark."""

from pathlib import Path

from harness.captures.traces import write_pcapng
from harness.protocol import load
from harness.trace import Trace, write_ndjson


def keep_trace(trace: Trace, protocol: str, folder: Path, name: str) -> str:
    """Write a trace as ``NAME.ndjson`` and ``NAME.pcapng`` into a folder, and return the name; OSError as files do."""
    write_ndjson(trace, folder / f"{name}.ndjson")
    write_pcapng(trace, folder / f"{name}.pcapng", load(protocol).framings)
    return name
