"""Traces that a report keeps: each as records with what their messages say, and as packets for Wireshark."""

from pathlib import Path

from harness.captures.traces import write_pcapng
from harness.protocol import load
from harness.trace import Trace, write_ndjson
from wire.escaping import escaped
from wire.files import written_whole
from wire.message_lines import message_lines


def keep_trace(trace: Trace, protocol: str, folder: Path, name: str) -> str:
    """Write a trace as ``NAME.ndjson`` and ``NAME.pcapng`` into a folder, and return the name; OSError as files do."""
    definition = load(protocol)

    def tell(frame: bytes) -> list[str]:
        return [escaped(each.text) for each in message_lines(definition.layout, frame)]

    with written_whole(folder / f"{name}.ndjson") as draft:
        write_ndjson(trace, draft, tell)
    with written_whole(folder / f"{name}.pcapng") as draft:
        write_pcapng(trace, draft, definition.framings)
    return name
