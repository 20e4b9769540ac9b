"""Recorded sessions as rows, and rows as recorded sessions."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from harness.captures.losses import Loss, Losses
from harness.captures.recorded_session import LINK, RecordedSession
from harness.protocol import load
from harness.trace import Direction, Entry, EntryKind, Trace
from reports.lake.schemas import FRAMES, LOSSES, SESSIONS, LakeTable

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
                    "port": port,
                    "other_port": other,
                }
            )
        self._write(SESSIONS, SESSIONS.rows(sessions))
        if self._size:
            self._write(FRAMES, columns.table(self._source, self._protocol, self._layout))
        self._held.clear()
        self._size = 0


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
    held: list[list[Any]] = []
    for batch in batches:
        names = batch.column("session")
        # Whole columns at once: to ask Arrow for each value costs more than judging it.
        columns = [batch.column(each).to_pylist() for each in SESSION_COLUMNS[2:]]
        start = 0
        # Arrow finds where one session ends and the next begins, so that Python sees sessions and not rows.
        for end in pc.run_end_encode(names).run_ends.to_pylist() if len(batch) else ():
            begun = names[start].as_py()
            if begun != name:
                if name:
                    yield name, _recorded(name, held, protocol)
                name, held = begun, [column[start:end] for column in columns]
            else:
                for column, more in zip(held, columns, strict=True):
                    column += more[start:end]
            start = end
    if name:
        yield name, _recorded(name, held, protocol)


def _recorded(session: str, columns: list[list[Any]], protocol: str) -> RecordedSession:
    *parts, transports, sound = columns
    trace = Trace(protocol, transports[0])
    trace.entries = [
        Entry(time, LINK, _WHAT[what], _DIRECTION[direction], data, note, index)
        for index, (time, what, direction, data, note) in enumerate(zip(*parts, strict=True))
    ]
    file, _, number = session.partition("/")[2].rpartition("#")
    return RecordedSession(source=file, number=int(number), key="", trace=trace, sound=sum(sound))
