"""Recordings: files of whatever kind (captures, traces of runs) as sessions."""

from collections.abc import Iterator
from pathlib import Path

from harness.captures.flow_table import FlowTable
from harness.captures.losses import Loss, Losses
from harness.captures.partition import ALL, Partition
from harness.captures.reader import CaptureReader, lines_of, magic_of
from harness.captures.recorded_session import RecordedSession, read_lines
from harness.captures.servers import ServerEndpoint
from harness.protocol import load


class Recording:
    """One file; iterate over it once for its sessions. ``losses`` and ``packets`` are complete after that.

    A capture (pcap, pcapng, plain or compressed) or the trace of a run (NDJSON). OSError when it cannot be opened,
    NotInstalled when it is compressed with what is not there. Its sessions are called after ``name``.
    When several read one capture at once, each takes its ``partition`` of the sessions and losses; ``ending``, what was
    wrong where reading ended, is the same for all. A trace is read by one reader as a whole.
    """

    def __init__(
        self,
        path: Path,
        protocol: str,
        *,
        servers: tuple[ServerEndpoint, ...] = (),
        transport: str | None = None,
        name: str = "",
        partition: Partition = ALL,
    ) -> None:
        self.path = path
        self.name = name or path.name
        self.losses = Losses()
        self.ending: tuple[Loss, ...] = ()
        self.packets = 0
        self.size = path.stat().st_size
        self.protocol = protocol
        self._servers = servers
        self._transport = transport
        # A run's trace is lines of JSON, and no capture begins with a brace.
        self._capture = None if magic_of(path)[:1] == b"{" else CaptureReader(path, partition)

    @property
    def position(self) -> int:
        """How many bytes of the file were read."""
        return 0 if self._capture is None else self._capture.position

    def __iter__(self) -> Iterator[RecordedSession]:
        if self._capture is None:
            side = load(self.protocol).usual_side
            yield from read_lines(lines_of(self.path, self.losses), self.name, self.protocol, self.losses, side)
            return
        sessions = FlowTable(self.name, self.protocol, servers=self._servers, transport=self._transport)
        for packet in self._capture:
            if ended := sessions.feed(packet):
                yield from ended
        yield from sessions.end()
        self.packets, self.ending = self._capture.packets, self._capture.ending
        self.losses.take(self._capture.losses.all())
        self.losses.take(sessions.losses.all())
