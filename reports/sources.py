"""Sources: files of recordings, whichever kind they are, as sessions."""

from collections.abc import Iterator
from pathlib import Path

from harness.addresses import Transport
from reports.captures import Capture, lines_of, magic_of
from reports.recordings import Loss, Losses, Recorded, read_lines
from reports.servers import Server
from reports.sessions import Sessions
from reports.shares import ALL, Share


class Source:
    """One file; iterate over it once for its sessions. ``losses`` and ``packets`` are complete after that.

    A capture (pcap, pcapng, plain or compressed) or the trace of a run (NDJSON). OSError when it cannot be opened,
    NotInstalled when it is compressed with what is not there. ``name`` is what its sessions are called after. Of a
    capture that several read at once each takes its ``share`` of the sessions and losses, and ``ending`` is the same
    for all: what was wrong where reading ended. A trace is not shared.
    """

    def __init__(
        self,
        path: Path,
        protocol: str,
        *,
        servers: tuple[Server, ...] = (),
        transport: Transport | None = None,
        name: str = "",
        share: Share = ALL,
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
        self._capture = None if magic_of(path)[:1] == b"{" else Capture(path, share)

    @property
    def position(self) -> int:
        """How many bytes of the file were read."""
        return 0 if self._capture is None else self._capture.position

    def __iter__(self) -> Iterator[Recorded]:
        if self._capture is None:
            yield from read_lines(lines_of(self.path, self.losses), self.name, self.protocol, self.losses)
            return
        sessions = Sessions(self.name, self.protocol, servers=self._servers, transport=self._transport)
        for packet in self._capture:
            if ended := sessions.feed(packet):
                yield from ended
        yield from sessions.end()
        self.packets, self.ending = self._capture.packets, self._capture.ending
        self.losses.take(self._capture.losses.all())
        self.losses.take(sessions.losses.all())
