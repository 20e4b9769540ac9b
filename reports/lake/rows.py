"""Recorded sessions as rows, and rows as recorded sessions."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from harness.captures.losses import Loss, Losses
from harness.captures.recorded_session import LINK, RecordedSession
from harness.protocol import load
from harness.trace import Direction, Entry, EntryKind, Trace
from reports.lake.schemas import FRAMES, LOSSES, SESSIONS, LakeTable
from wire.catalogue import layout as find
from wire.columnar import decode_batch, is_built

MOST_BUFFERED = 50_000
"""Entries that are collected before they are written: a row group large enough for Parquet to compress well."""


def layout_of(protocol: str) -> str:
    """Return the layout of what goes over a protocol's links as one frame."""
    return load(protocol).layout


class SessionWriter:
    """Makes rows of recorded sessions, and writes them: the tables sessions, frames and losses of a ``source``."""

    def __init__(self, write: Callable[[LakeTable, pa.Table], None], source: str, protocol: str) -> None:
        self.sessions = self.entries = self.frames = 0
        self._write = write
        self._source = source
        self._protocol = protocol
        self._layout = layout_of(protocol)
        self._held: list[tuple[str, RecordedSession]] = []
        self._size = 0
        self._losses: list[dict[str, object]] = []
        self.losses = Losses()
        """All that were taken, those of sessions too."""

    def add(self, recorded: RecordedSession) -> None:
        """Take a session."""
        session = f"{self._source}/{recorded.source}#{recorded.number}"
        self._held.append((session, recorded))
        self._size += len(recorded.trace)
        # Beside the session, not in it: what a session lacks can be asked for without reading a frame.
        for loss in recorded.losses:
            self.lose(loss, session)
        # Only between sessions: the rows of one stand together, which those who judge and audit rely on.
        if self._size >= MOST_BUFFERED:
            self._flush()

    def lose(self, loss: Loss, session: str | None = None) -> None:
        """Take a loss, of a session or of the file."""
        self.losses.take((loss,))
        self._losses.append(
            {
                "source": self._source,
                "session": session,
                "kind": loss.kind.value,
                "what": loss.what,
                "count": loss.count,
                "bytes": loss.bytes,
                "protocol": self._protocol,
            }
        )

    def finish(self) -> None:
        """Write what is left; once more does no harm."""
        self._flush()
        if self._losses:
            self._write(LOSSES, LOSSES.rows(self._losses))
            self._losses.clear()

    def _flush(self) -> None:
        if not self._held:
            return
        sessions, columns = [], _Columns()
        for session, recorded in self._held:
            frames, trace = recorded.frames, recorded.trace
            # Elsewhere a trace has no ends, and begins when it is read.
            other, port = trace.ports.get(LINK, (None, None))
            columns.add(session, recorded)
            self.sessions += 1
            self.entries += len(trace)
            self.frames += frames
            sessions.append(
                {
                    "source": self._source,
                    "session": session,
                    "file": recorded.source,
                    "number": recorded.number,
                    "key": recorded.key,
                    "transport": trace.transport,
                    "side": recorded.side,
                    "entries": len(trace),
                    "sound": recorded.sound,
                    "frames": frames,
                    "protocol": self._protocol,
                    "ended": recorded.ended,
                    "began": trace.epoch if port is not None else None,
                    "epoch": trace.epoch if port is not None else None,
                    "port": port,
                    "other_port": other,
                    **ends(recorded.key),
                }
            )
        self._write(SESSIONS, SESSIONS.rows(sessions))
        if self._size:
            self._write(FRAMES, columns.table(self._source, self._protocol, self._layout))
        self._held.clear()
        self._size = 0


_ENDS = re.compile(
    r"\S+ \[?(?P<dialler>[^\]\s]+?)\]?:(?P<dialler_port>\d+)"
    r" to \[?(?P<listener>[^\]\s]+?)\]?:(?P<listener_port>\d+)"
)
"""What the key of a session in a capture spells: its transport, the end that dialled, and the one that listened."""


def ends(key: str) -> dict[str, object]:
    """Return both ends of a session as columns, by its key; none where it has no addresses."""
    match = _ENDS.fullmatch(key)
    found = {} if match is None else match.groupdict()
    return {name: int(text) if name.endswith("port") else text for name, text in found.items()}


class _Columns:
    """The columns of frames while they grow."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {
            name: [] for name in ("session", "seq", "time", "what", "direction", "data", "note", "transport", "sound")
        }

    def add(self, session: str, recorded: RecordedSession) -> None:
        entries, columns = recorded.trace.entries, self.columns
        size = len(entries)
        columns["session"] += [session] * size
        columns["seq"] += range(size)
        columns["time"] += [entry.time for entry in entries]
        columns["what"] += [entry.what.value for entry in entries]
        columns["direction"] += [entry.direction.value for entry in entries]
        columns["data"] += [entry.data for entry in entries]
        columns["note"] += [entry.note for entry in entries]
        columns["transport"] += [recorded.trace.transport] * size
        # A column and not a number per session, as rows are judged where they lie, without the table of sessions.
        columns["sound"] += [number < recorded.sound for number in range(size)]

    def table(self, source: str, protocol: str, layout: str) -> pa.Table:
        size = len(self.columns["session"])
        constant = {"source": source, "protocol": protocol, "layout": layout}
        arrays = [
            # One value in all rows costs Arrow no list in Python.
            pa.repeat(pa.scalar(constant[field.name], field.type), size)
            if field.name in constant
            else pa.array(self.columns[field.name], field.type)
            for field in FRAMES.schema
        ]
        return pa.Table.from_arrays(arrays, schema=FRAMES.schema)


SESSION_COLUMNS = ("session", "seq", "time", "what", "direction", "data", "note", "transport", "sound")
"""The columns of frames that make a recorded session."""

_WHAT = {each.value: each for each in EntryKind}
_DIRECTION = {each.value: each for each in Direction}


def source_of(session: str) -> str:
    """Return the batch that a session came with."""
    return session.partition("/")[0]


def recorded_in(batches: Iterable[pa.RecordBatch], protocol: str) -> Iterator[tuple[str, RecordedSession]]:
    """Yield the sessions, with their names, that rows of frames hold (the columns ``SESSION_COLUMNS``).

    The rows are in the order of session and place; a session may go on from one batch to the next.
    """
    name = ""
    held: list[_Rows] = []
    namer = _namer(layout_of(protocol))
    for batch in batches:
        rows = _Rows.of(batch, namer)
        start = 0
        # Arrow finds where one session ends and the next begins, so that Python sees sessions and not rows.
        runs = pc.run_end_encode(batch.column("session")) if len(batch) else None
        for begun, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True) if runs else ():
            if begun != name:
                if name:
                    yield name, _recorded(name, held, protocol)
                name, held = begun, []
            held.append(rows.part(start, end))
            start = end
    if name:
        yield name, _recorded(name, held, protocol)


class _Rows(NamedTuple):
    """Rows of frames, column by column: a batch, or the part of one that belongs to a session."""

    times: list[float]
    whats: list[EntryKind]
    directions: list[Direction]
    data: list[bytes]
    notes: list[str]
    transports: list[str]
    sound: list[bool]
    names: list[str | None]

    @classmethod
    def of(cls, batch: pa.RecordBatch, namer: "_Namer") -> "_Rows":
        """Read a batch."""
        return cls(
            batch.column("time").to_pylist(),
            _few(batch.column("what"), _WHAT),
            _few(batch.column("direction"), _DIRECTION),
            batch.column("data").to_pylist(),
            _few(batch.column("note")),
            _few(batch.column("transport")),
            batch.column("sound").to_pylist(),
            namer(batch.column("data")),
        )

    def part(self, start: int, end: int) -> "_Rows":
        """Return the rows from ``start`` to ``end``."""
        return _Rows._make([column[start:end] for column in self])


_Namer = Callable[[Any], list[str | None]]
"""Tells which message each frame of a column holds; ``None`` where it is refused."""


def _namer(layout: str) -> _Namer:
    """Return what decodes the frames of a layout in a batch, if a frame is one message and C does it.

    What is known of a text of JSON so need not be checked again when it is read, and checking is most of what reading
    costs. Of other layouts the whole value is made faster than a name is looked up.
    """
    return partial(_named, layout) if find(layout).is_json and is_built(layout) else _unnamed


def _named(layout: str, frames: Any) -> list[str | None]:
    columns = pa.record_batch(decode_batch(layout, frames))
    return _few(columns.column("type")) if "type" in columns.schema.names else []  # one message has no name


def _unnamed(frames: Any) -> list[str | None]:
    return []


def _few(column: pa.Array, meaning: Mapping[str, Any] | None = None) -> list[Any]:
    """Return texts of which most are the same, or what they mean: each is made once, and not for every row."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    texts = column.dictionary.to_pylist()
    known = [*(texts if meaning is None else map(meaning.__getitem__, texts)), None]
    return [known[number] for number in column.indices.fill_null(len(known) - 1).to_pylist()]


def _recorded(session: str, held: list[_Rows], protocol: str) -> RecordedSession:
    rows = held[0] if len(held) == 1 else _Rows._make([[*chain(*parts)] for parts in zip(*held, strict=True)])
    trace = Trace(protocol, rows.transports[0])
    trace.entries = [
        Entry(time, LINK, what, direction, data, note, index)
        for index, (time, what, direction, data, note) in enumerate(zip(*rows[:5], strict=True))
    ]
    trace.names = rows.names
    file, _, number = session.partition("/")[2].rpartition("#")
    side = load(protocol).usual_side
    return RecordedSession(
        source=file, number=int(number), key="", trace=trace, sound=sum(rows.sound), side=side, usual=side
    )
