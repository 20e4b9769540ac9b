"""Traces that a report keeps: each as records with what their messages say, and as packets for Wireshark."""

from pathlib import Path

from harness.captures.traces import write_pcapng
from harness.protocol import load
from harness.trace import Trace, write_ndjson
from wire.escaping import escaped
from wire.message_lines import message_lines


def keep_trace(trace: Trace, protocol: str, folder: Path, name: str) -> str:
    """Write a trace as ``NAME.ndjson`` and ``NAME.pcapng`` into a folder, and return the name; OSError as files do."""
    definition = load(protocol)

    def tell(frame: bytes) -> list[str]:
        return [escaped(each.text) for each in message_lines(definition.layout, frame)]

    write_ndjson(trace, folder / f"{name}.ndjson", tell)
    write_pcapng(trace, folder / f"{name}.pcapng", definition.framings)
    return name
