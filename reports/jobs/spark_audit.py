"""Auditing on Spark: recordings that were taken in and judged on Spark, session by session as an audit records them.

The lake is a folder of its own that is gone in the end. A session is its row, its losses and the judgements on it; its
entries are read where they are asked for.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from msgspec.structs import replace

from conformance.audit import FINE
from conformance.catalogue.rules import Profile
from conformance.recordings import ordered
from conformance.verdicts import Judgement, Outcome
from harness.captures.losses import Loss, Losses, Missing
from harness.captures.recorded_session import LINK, RecordedSession, like
from harness.protocol import load
from harness.trace import Entry, Trace
from reports.jobs import runner as jobs
from reports.jobs.ingest import IngestOptions
from reports.jobs.judge import OWN
from reports.jobs.spark import SparkFailed, reporting_tasks, started
from reports.lake.lake import Batch, Lake
from reports.lake.rows import SESSION_COLUMNS, recorded_in
from reports.lake.schemas import FRAMES, LOSSES, RUNS, SESSIONS, VERDICTS, LakeTable
from reports.lake.stores import BROKEN
from reports.progress import progress_bar


class NotJudged(Exception):
    """A recording could not be taken in, or not be read again; the message says why."""


class JudgedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A side of a session with the judgements on it. ``recorded`` has no entries; ``whole`` reads them.

    ``whole`` raises OSError when they cannot be read.
    """

    recorded: RecordedSession
    frames: int
    judgements: tuple[Judgement, ...]
    whole: Callable[[], RecordedSession]


class JudgedRecording:
    """One recording: how many ``packets`` it has, what is missing from it (``losses``), and its sessions.

    ``verdicts`` has the judgements on its sessions, and maybe on others. NotJudged when it cannot be read.
    """

    def __init__(self, lake: Lake, batch: Batch, verdicts: pa.Table, name: str, protocol: str) -> None:
        self.losses = Losses()
        self._lake = lake
        self._batch = batch
        self._verdicts = verdicts.filter(pc.equal(verdicts["source"], batch.id))
        self._name = name
        self._protocol = protocol
        runs, self._sessions = self._rows(RUNS), sorted(self._rows(SESSIONS), key=_order_of_end)
        self._lost: dict[str, Losses] = {}
        for row in self._rows(LOSSES):
            losses = self._lost.setdefault(row["session"], Losses()) if row["session"] else self.losses
            losses.take((Loss(Missing(row["kind"]), row["count"], row["bytes"], row["what"]),))
        # The lake is minutes old and ours: what is damaged there must not pass as a session without findings.
        for damage in lake.damage.values():
            raise NotJudged(f"what was taken in cannot be read again: {damage}")
        self.packets: int = runs[0]["packets"] or 0

    def _rows(self, table: LakeTable) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._lake.read(table, [self._batch]).to_pylist()
        return found

    def sessions(self, sides: Sequence[str], *, keep: bool) -> Iterator[list[JudgedSession]]:
        """Yield the sides of each session, in the order in which the sessions ended.

        If they are to ``keep``, the entries of those that are not all right can be read.
        """
        judgements = self._judgements()
        # Only these are ever read again: with a report, the traces of sessions that did not pass are written.
        bad = {session for (session, _), found in judgements.items() if keep and _is_bad(found)}
        frames = _EntryReader(self._lake, self._batch, bad)
        for row in self._sessions:
            recorded = self._recorded(row)
            yield [self._judged_session(row, replace(recorded, side=side), judgements, frames) for side in sides]

    def _judged_session(
        self, row: dict[str, Any], recorded: RecordedSession, judgements: "_Judgements", frames: "_EntryReader"
    ) -> JudgedSession:
        own = judgements.get((row["session"], recorded.side), ())
        return JudgedSession(
            recorded=recorded,
            frames=row["frames"],
            judgements=tuple(replace(each, case=recorded.name) for each in own),
            whole=partial(_whole, frames, row["session"], recorded),
        )

    def _recorded(self, row: dict[str, Any]) -> RecordedSession:
        trace = Trace(self._protocol, row["transport"])
        if row["port"] is not None:
            # Without ports there was no capture, and no time that means anything outside of the trace.
            trace.epoch = row["epoch"]
            trace.ports[LINK] = row["other_port"], row["port"]
        losses = self._lost.get(row["session"])
        return RecordedSession(
            source=self._name,
            number=row["number"],
            key=row["key"],
            trace=trace,
            sound=row["sound"],
            losses=losses.all() if losses else (),
            ended=row["ended"],
            side=row["side"],
            usual=row["side"],
        )

    def _judgements(self) -> "_Judgements":
        """Return the judgements by session and side."""
        judgements: _Judgements = {}
        for row in self._verdicts.to_pylist():
            # The name of a judged side ends with it, except for the usual one (``RecordedSession.name``).
            side = row["case"].rpartition("#")[2].partition(".")[2] or load(self._protocol).usual_side
            own = {name: row[name] for name in OWN}
            judgement = Judgement(outcome=Outcome(row["outcome"]), case=row["case"], **own)
            judgements.setdefault((row["session"], side), []).append(judgement)
        return {key: ordered(found) for key, found in judgements.items()}


_Judgements = dict[tuple[str, str], list[Judgement]]


def _order_of_end(row: dict[str, Any]) -> tuple[bool, int, int]:
    return row["ended"] is None, row["ended"] or 0, row["number"]


def _is_bad(judgements: Sequence[Judgement]) -> bool:
    return any(each.outcome not in FINE for each in judgements)


def _whole(frames: "_EntryReader", session: str, recorded: RecordedSession) -> RecordedSession:
    """Return a side of a session with its entries, which are kept as the usual side has them."""
    trace = like(recorded.trace)
    trace.entries = frames.of(session, trace.protocol)
    return replace(recorded, trace=trace, side=recorded.usual).seen_from(recorded.side)


class _EntryReader:
    """The entries of some sessions of a batch.

    A session's rows stand together in a row group or two; of those the ones that were used last are kept.
    """

    def __init__(self, lake: Lake, batch: Batch, wanted: set[str]) -> None:
        self._groups: dict[str, list[tuple[Path, int]]] = {}
        files = [lake.path / piece.file for piece in lake.pieces(FRAMES, [batch])] if wanted else []
        for path in files:
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    # Only the column that says which sessions a row group holds; the others are read if somebody asks
                    # for an entry.
                    names = file.read_row_group(group, ["session"]).column(0)
                    for name in pc.unique(names).to_pylist():
                        if name in wanted:
                            self._groups.setdefault(name, []).append((path, group))
        # Sessions are asked for in the order in which they ended, and those of one file stand in its row groups in
        # about that order: one row group per file at hand is enough.
        self._read = lru_cache(len(files) + 1)(_read)

    def of(self, session: str, protocol: str) -> list[Entry]:
        """Return the entries of a session; OSError when they cannot be read."""
        try:
            parts = [self._read(*group) for group in self._groups[session]]
        except BROKEN as error:
            raise OSError(str(error)) from None
        rows = pa.concat_tables([part.filter(pc.equal(part["session"], session)) for part in parts])
        ((_, recorded),) = recorded_in(rows.sort_by("seq").combine_chunks().to_batches(), protocol)
        return recorded.trace.entries


def _read(path: Path, group: int) -> pa.Table:
    with pq.ParquetFile(path) as file:
        return file.read_row_group(group, list(SESSION_COLUMNS))


@contextmanager
def judged_on_spark(
    paths: Sequence[Path],
    options: IngestOptions,
    sides: Sequence[str],
    profile: Profile,
    master: str,
    memory: int | None,
    settings: Mapping[str, str],
) -> Iterator[Callable[[Path, str], JudgedRecording]]:
    """Take recordings in and judge them on Spark; gives what returns each, by its path and the name of its sessions.

    That raises NotJudged when one could not be taken in. Raises what ``reports.jobs.spark.started`` does, and
    SparkFailed when Spark gives up.
    """
    # Not in the user's lake: an audit answers a question and leaves nothing.
    with tempfile.TemporaryDirectory(prefix="goldwire-audit-") as folder:
        lake = Lake(Path(folder), create=True)
        with started(master, memory=memory, settings=settings) as spark:
            with progress_bar("taking in") as on_progress:
                taken = dict(zip(paths, jobs.ingest(lake, paths, options, spark, on_progress), strict=True))
            # Each side in a pass of its own, as the job is made; the entries are read anew, which costs less than the
            # judging.
            for side in sides:
                with progress_bar(f"judging the {side} side") as on_progress, reporting_tasks(spark, on_progress):
                    jobs.judge(lake, options.protocol, profile, spark, on_progress, side)
        verdicts = lake.read(VERDICTS).select(["source", "session", "case", "outcome", *OWN])
        for damage in lake.damage.values():
            raise SparkFailed(f"what was taken in cannot be read again: {damage}")
        batches = {batch.id: batch for batch in lake.batches()}

        def judged_recording(path: Path, name: str) -> JudgedRecording:
            if trouble := taken[path].trouble:
                raise NotJudged(trouble)
            return JudgedRecording(lake, batches[taken[path].source], verdicts, name, options.protocol)

        yield judged_recording
