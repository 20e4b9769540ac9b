"""Traces: everything that went over the links of one case, in order."""

import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path

import msgspec

from harness.clock import Clock, RealClock


class Direction(Enum):
    """Which way a frame went, seen from the tester."""

    SENT = "sent"
    RECEIVED = "received"

    # Each member exists once, so its identity will do: Enum's own hash is a Python function, called for every frame.
    __hash__ = object.__hash__

    @property
    def other(self) -> "Direction":
        """The other way."""
        return Direction.SENT if self is Direction.RECEIVED else Direction.RECEIVED


class EntryKind(Enum):
    """What an entry of a trace is.

    ``RAW`` is bytes outside any frame: what was sent as it is, or a piece of a frame when a link ended.
    """

    OPENED = "opened"
    FRAME = "frame"
    RAW = "raw"
    CLOSED = "closed"
    NOTE = "note"


# gc=False: an entry refers to nothing that could refer back to it, and a recording has millions of them.
class Entry(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened on one link.

    ``time`` is in seconds since the trace began, ``link`` the label of the link (``a``, ``b`` …), ``data``
    one whole frame without its framing (for ``FRAME``), ``note`` a remark: how a link was closed, what a
    control line asked. ``index`` is its place in the trace, by which findings cite it; -1 outside any trace.
    """

    time: float
    link: str
    what: EntryKind
    direction: Direction = Direction.RECEIVED
    data: bytes = b""
    note: str = ""
    index: int = -1


class Trace:
    """An append-only list of entries with the addresses of its links.

    ``transport`` (``tcp``, ``udp`` …) says how the frames travelled; ``ports`` maps a link's label to its
    ``(tester, implementation)`` port numbers where there are any; ``epoch`` is the wall-clock time, in
    seconds since 1970, at which the trace began.
    """

    def __init__(self, protocol: str, transport: str = "tcp", clock: Clock | None = None) -> None:
        self.protocol = protocol
        self.transport = transport
        self.entries: list[Entry] = []
        self.names: Sequence[str | None] = ()
        """Of each entry the name of the message in its frame, where whoever made the trace has decoded the frames in a
        batch (``wire.columnar``): its layout accepts it, and whoever reads it need not check it again. Empty where
        nobody has; ``None`` for what is refused."""
        self.ports: dict[str, tuple[int, int]] = {}
        self.heard = 0
        """How many entries there were when the implementation was last heard of in another way than on a link."""
        self.clock = clock or RealClock()
        self.began = self.clock.now()
        self.epoch = time.time()

    def now(self) -> float:
        """Return the seconds since the trace began."""
        return self.clock.now() - self.began

    def record(self, link: str, what: EntryKind, direction: Direction, data: bytes = b"", note: str = "") -> Entry:
        """Append what happens now and return its entry."""
        entry = Entry(self.now(), link, what, direction, data, note, len(self.entries))
        self.entries.append(entry)
        return entry

    def add(self, entry: Entry) -> Entry:
        """Append an entry that has its time already, and return it with its place in this trace."""
        placed = msgspec.structs.replace(entry, index=len(self.entries))
        self.entries.append(placed)
        return placed

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, link: str) -> list[Entry]:
        """Return the entries of one link, in order."""
        return [entry for entry in self.entries if entry.link == link]


def write_ndjson(trace: Trace, path: Path, tell: Callable[[bytes], Sequence[str]] | None = None) -> None:
    """Write one JSON object per entry, in order; ``data`` is in hex.

    ``tell`` says what the messages in a frame are, in a line each: they stand beside its bytes, as ``messages``.
    """
    encoder = msgspec.json.Encoder()
    with path.open("wb") as file:
        for entry in trace:
            record = msgspec.to_builtins(entry, builtin_types=(bytes,))
            # msgspec would write base64; people compare hex with dumps.
            record["data"] = entry.data.hex()
            del record["index"]  # the line's own number says it
            if tell is not None and entry.what is EntryKind.FRAME:
                record["messages"] = tell(entry.data)
            file.write(encoder.encode(record) + b"\n")
