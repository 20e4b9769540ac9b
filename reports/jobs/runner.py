"""The jobs of the pipeline, each in this process or on Spark, with the same rows either way.

::

    ingest   paths                ──► runs, sessions, frames, losses, verdicts     a batch for each path
    decode   frames               ──► decoded                                      a batch for what is new
    judge    frames by session    ──► verdicts                                     a batch for what is new
    summary  verdicts             ──► counts by rule, implementation, version, profile

What a job has done it does not do again: its batches name those that they were made of.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from conformance.catalogue.rules import Profile
from harness.protocol import load
from reports.jobs import decode as decoding
from reports.jobs import spark as sparks
from reports.jobs.ingest import Ingested, IngestOptions
from reports.jobs.ingest import ingest as ingest_one
from reports.jobs.judge import SessionOrigin, judged
from reports.jobs.partitioned_ingest import ingest_on_spark
from reports.jobs.summary import BY, READ, RuleRow, counted, summarised
from reports.lake.lake import Batch, BatchFile, Lake, LakeFailed, Staging, batch_name
from reports.lake.rows import SESSION_COLUMNS, layout_of
from reports.lake.schemas import DECODED, FRAMES, RUNS, VERDICTS, LakeTable
from reports.progress import OnProgress, megabytes

ROWS_PER_BATCH = 10_000
"""Rows of a batch in this process."""


_Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a job has added: ``rows`` by table, out of so many batches; nothing when there was nothing new."""

    batch: str = ""
    of: int = 0
    rows: dict[str, int] = {}


def ingest(
    lake: Lake, paths: Sequence[Path], options: IngestOptions, spark: Any, on_progress: OnProgress
) -> Iterator[Ingested]:
    """Take in paths, one after the other, or on Spark as many at a time as there are cores, large captures by several.

    ``on_progress`` is told megabytes of recordings.
    """
    if spark is not None:
        yield from ingest_on_spark(lake, paths, options, spark, on_progress)
        return
    # Folders count as nothing: what a run has in it is small beside a capture.
    sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
    for number, path in enumerate(paths):
        yield ingest_one(lake, path, options, partial(_report_megabytes, on_progress, sum(sizes[:number]), sum(sizes)))


def _report_megabytes(on_progress: OnProgress, before: int, total: int, read: int) -> None:
    on_progress(megabytes(before + read), megabytes(total))


def decode(lake: Lake, protocol: str, spark: Any, on_progress: OnProgress) -> JobResult:
    """Decode the frames of a protocol that were not decoded yet."""
    layout, work = layout_of(protocol), _to_decode(lake, protocol)
    # No batch at all: an empty one would be a manifest for each time that somebody asks.
    if not work.pieces:
        return JobResult()
    with work.stage() as staging:
        if spark is None:
            for number, rows in enumerate(work.parts(), 1):
                frames = rows.filter(pc.equal(rows["what"], decoding.FRAME)).select(decoding.READ).combine_chunks()
                for batch in decoding.decoded(layout, frames.to_batches(ROWS_PER_BATCH)):
                    whole = pa.Table.from_batches([batch])
                    # The same in all rows, so not computed but repeated; in the files they are the names of folders.
                    for name, value in (("protocol", protocol), ("layout", layout)):
                        whole = whole.append_column(name, pa.repeat(value, len(whole)))
                    staging.write(DECODED, whole)
                on_progress(number, len(work.pieces))
        else:
            literal = sparks.functions().lit
            frames = sparks.rows_of(spark, lake, FRAMES, work.pieces)
            rows = frames.where(frames.what == decoding.FRAME).select(*decoding.READ)
            with sparks.reporting_work(spark, lake, work.frames(), on_progress) as notes:
                rows = rows.mapInArrow(
                    _noting(notes, partial(decoding.decoded, layout)), sparks.schema_of(decoding.OUT)
                )
                rows = rows.withColumn("protocol", literal(protocol)).withColumn("layout", literal(layout))
                sparks.write(rows, staging, DECODED)
        return work.commit(staging)


def judge(
    lake: Lake, protocol: str, profile: Profile, spark: Any, on_progress: OnProgress, side: str = ""
) -> JobResult:
    """Judge a side of the recorded sessions of a protocol that was not judged yet under this profile: the usual one."""
    side = side or load(protocol).usual_side
    work = _to_judge(lake, protocol, profile, side)
    if not work.pieces:
        return JobResult()
    say = partial(judged, protocol=protocol, profile=profile, origins=_origins(lake, protocol), side=side)
    with work.stage() as staging:
        if spark is None:
            for number, rows in enumerate(work.parts(), 1):
                # Sorted first: the rows of a file are in order by session, but those of two files may be mixed.
                for batch in say(ordered(rows).to_batches(ROWS_PER_BATCH)):
                    staging.write(VERDICTS, pa.Table.from_batches([batch]))
                on_progress(number, len(work.pieces))
        else:
            rows = sparks.rows_of(spark, lake, FRAMES, work.pieces).select(*SESSION_COLUMNS)
            schema = sparks.schema_of(VERDICTS.schema)
            # Each session as a group of its own would cost several times what judging it does.
            # Each session goes to one task as a whole, in its order.
            rows = rows.repartition("session").sortWithinPartitions("session", "seq")
            with sparks.reporting_work(spark, lake, work.entries(), on_progress) as notes:
                sparks.write(rows.mapInArrow(_noting(notes, say), schema), staging, VERDICTS)
        return work.commit(staging)


def _noting(notes: str, work: _Work) -> _Work:
    """Return what a task of Spark does, noting how many of its rows are done."""
    return lambda batches: work(sparks.noted_in(notes, batches))


def size_to_decode(lake: Lake, protocol: str) -> int:
    """Return how many bytes of files ``decode`` would read."""
    return sum(piece.bytes for piece in _to_decode(lake, protocol).pieces)


def size_to_judge(lake: Lake, protocol: str, profile: Profile, side: str = "") -> int:
    """Return how many bytes of files ``judge`` would read."""
    side = side or load(protocol).usual_side
    return sum(piece.bytes for piece in _to_judge(lake, protocol, profile, side).pieces)


def _to_decode(lake: Lake, protocol: str) -> "_NewBatches":
    layout = layout_of(protocol)
    return _NewBatches(lake, "decode", FRAMES, {"layout": layout}, protocol=protocol, layout=layout)


def _to_judge(lake: Lake, protocol: str, profile: Profile, side: str) -> "_NewBatches":
    is_usual = side == load(protocol).usual_side
    settings = {"protocol": protocol, "profile": profile} | ({} if is_usual else {"side": side})
    return _NewBatches(lake, "judge", FRAMES, settings, beside=RUNS, protocol=protocol)


def summary(lake: Lake, spark: Any) -> list[RuleRow]:
    """Return what each rule came to, by implementation, version and profile."""
    if spark is None:
        parts = [counted(part.select(READ)) for part in lake.parts(VERDICTS)]
        return summarised([row for part in parts for row in part.to_pylist()])
    functions = sparks.functions()
    rows = sparks.rows_of(spark, lake, VERDICTS, lake.pieces(VERDICTS)).select(*READ)
    # As in ``summary.counted``: both have to give the same rows.
    again = (rows.kind == "run") & (rows.origin == "judged")
    rows = rows.where(~functions.coalesce(again, functions.lit(False)))
    flaky = functions.coalesce(rows.flaky != "", functions.lit(False))
    counts = rows.groupBy(*BY, "outcome").agg(
        functions.count("*").alias("outcome_count"),
        functions.sum(flaky.cast("long")).alias("flaky_sum"),
    )
    return summarised([row.asDict() for row in counts.collect()])


def _origins(lake: Lake, protocol: str) -> Mapping[str, SessionOrigin]:
    rows = lake.read(RUNS, protocol=protocol).select(["source", *SessionOrigin.__struct_fields__]).to_pylist()
    return {row.pop("source"): SessionOrigin(**{name: value or "" for name, value in row.items()}) for row in rows}


def ordered(rows: pa.Table) -> pa.Table:
    """Return rows of frames in the order of session and place, the columns that judging takes."""
    return rows.select(SESSION_COLUMNS).sort_by([("session", "ascending"), ("seq", "ascending")])


class _NewBatches:
    """What is new for a job: the files of a table that belong to batches which it has not seen.

    With a table ``beside`` it, whose rows of the same batches the job reads as well.
    """

    def __init__(
        self,
        lake: Lake,
        job: str,
        table: LakeTable,
        settings: dict[str, str],
        *,
        beside: LakeTable | None = None,
        **partition: str,
    ) -> None:
        self.lake = lake
        self.job = job
        self.table = table
        self.settings = settings
        batches = lake.batches()
        # By the batches that earlier ones of this job name as their sources, and not by time: so it does not matter
        # when, or in which order, sources come in.
        seen = self._seen(batches)
        fresh = [each for each in batches if each.id not in seen and _has_rows_of(each, table, partition)]
        self.pieces: list[BatchFile] = []
        self.of: list[str] = []
        self.fresh: list[Batch] = []
        for batch in fresh:
            # A batch of which a file is damaged stays new: what is left of it is taken when it is whole again.
            found = lake.pieces(table, [batch], **partition)
            more = [] if beside is None else lake.pieces(beside, [batch], **partition)
            expected = sum(
                _is_in(piece, each, partition) for piece in batch.pieces for each in (table, beside) if each is not None
            )
            if found and len(found) + len(more) == expected:
                self.of.append(batch.id)
                self.fresh.append(batch)
                self.pieces += found
        self._partition = partition

    def stage(self) -> Any:
        """Begin the batch, which is named after what it is made of."""
        name = batch_name(self.job, self.settings, self.of)
        return self.lake.stage(name, self.job, of=self.of, settings=self.settings)

    def parts(self) -> Iterator[pa.Table]:
        """Yield the rows, file by file; LakeFailed when one that seemed whole cannot be read after all."""
        yield from self.lake.parts(self.table, self.fresh, **self._partition)
        for piece in self.pieces:
            if piece.file in self.lake.damage:  # to commit the others would be to count this one as seen
                raise LakeFailed(f"{self.lake.name} cannot be read: {self.lake.damage[piece.file]}; nothing was added")

    def entries(self) -> int:
        """Return how many rows there are."""
        return sum(batch.rows.get(self.table.name, 0) for batch in self.fresh)

    def frames(self) -> int:
        """Return how many of them are frames."""
        return sum(number or 0 for number in self.lake.read(RUNS, self.fresh)["frames"].to_pylist())

    def commit(self, staging: Staging) -> JobResult:
        """Make the batch visible, and say what was added; LakeFailed when another process has done part of it."""
        # Looked at last, just before the commit: two processes that judge at once would each add what the other has
        # added.
        again = self._seen(self.lake.batches()) & set(self.of)
        if again and staging.batch.id not in self.lake:
            raise LakeFailed(
                f"{self.lake.name}: another process has meanwhile done {len(again)} of {len(self.of)} batches, and "
                f"nothing was added: {self.job} again for the rest"
            )
        batch = staging.commit()
        return JobResult() if batch is None else JobResult(batch=batch.id, of=len(self.of), rows=batch.rows)

    def _seen(self, batches: Sequence[Batch]) -> set[str]:
        """Return the batches that the job has done."""
        done = (each for each in batches if (each.job, each.settings) == (self.job, self.settings))
        return {name for each in done for name in each.of}


def _is_in(piece: BatchFile, table: LakeTable, partition: Mapping[str, str]) -> bool:
    return piece.table == table.name and all(piece.partition.get(name) == value for name, value in partition.items())


def _has_rows_of(batch: Batch, table: LakeTable, partition: Mapping[str, str]) -> bool:
    return any(_is_in(piece, table, partition) for piece in batch.pieces)
