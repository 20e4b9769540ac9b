"""Partitioned ingest: a large capture is taken in by several tasks of Spark at once, a small path by one.

::

    driver   names and stages the capture's batch          ──► staging/BATCH/
    tasks    read all of the capture, and of its sessions write their share
                                                           ──► staging/BATCH/TABLE/…/share-0003.parquet
    driver   adds up what they counted, and commits the batch

A task that is tried again, or runs twice, writes the same file once more. Whatever happens before the commit leaves the
lake as it was.
"""

import secrets
import shutil
from collections.abc import Container, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec

from harness.captures.losses import Loss, Losses
from harness.captures.partition import ALL, Partition
from harness.captures.recordings import Recording
from reports.jobs import spark as sparks
from reports.jobs.ingest import (
    INGEST_ERRORS,
    Ingested,
    IngestOptions,
    already_ingested,
    batch_of,
    changed_message,
    complaint,
    ingest,
    kind_of,
    run_row,
    settings_of,
)
from reports.lake.files import Files
from reports.lake.lake import Lake, Staging
from reports.lake.rows import SessionWriter
from reports.lake.schemas import RUNS
from reports.lake.stores import BROKEN, STAGING, Folder
from reports.progress import OnProgress, megabytes, read_positions, reporting, write_position

SPLIT = 64 << 20
"""Bytes of a capture for each task; passing over what is another's costs about a twentieth of taking it in."""


class IngestTask(msgspec.Struct, frozen=True, kw_only=True):
    """What one task does: it takes in a path, or of a capture a share, for a ``batch`` that is ``staged`` in a folder.

    The capture has ``size`` bytes, and ``progress`` is the file in which the task notes how many of them it has read.
    """

    lake: str
    path: str
    options: IngestOptions
    batch: str = ""
    staged: str = ""
    partition: Partition = ALL
    size: int = 0
    progress: str = ""


class PartitionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a share came to. ``size``, ``packets`` and ``ending`` are those of the file, the same for all shares.

    ``losses`` are those of the file that this share counts, ``all`` have those of its sessions as well.
    """

    size: int = 0
    packets: int = 0
    ending: tuple[Loss, ...] = ()
    sessions: int = 0
    frames: int = 0
    losses: tuple[Loss, ...] = ()
    all: tuple[Loss, ...] = ()
    trouble: str = ""


def run_task(work: bytes) -> bytes:
    """Do what one task does, from JSON to JSON: ``Ingested`` of a path, or ``PartitionResult`` of a partition."""
    its = msgspec.json.decode(work, type=IngestTask)
    done = ingest_partition(its) if its.staged else ingest(Lake(its.lake), Path(its.path), its.options)
    return msgspec.json.encode(done)


def ingest_partition(work: IngestTask) -> PartitionResult:
    """Take in a share of a capture."""
    path, options = Path(work.path), work.options
    if not Path(work.staged).is_dir():  # to make it here would be to write where the driver never looks
        where = f"a worker does not see {work.staged}"
        return PartitionResult(trouble=f"{path}: {where}: every machine needs the lake at the same path")
    # A name by its number: a task that Spark runs twice (it was slow, or its worker was lost) writes the same file
    # again.
    files = Files(Path(work.staged), f"share-{work.partition.number:04}")
    try:
        source = Recording(
            path, options.protocol, servers=options.servers, transport=options.transport, partition=work.partition
        )
        writer = SessionWriter(files.write, work.batch, options.protocol)
        with reporting(lambda: write_position(Path(work.progress), source.position)):
            for recorded in source:
                writer.add(recorded)
        writer.finish()
        files.finish()
        size = path.stat().st_size
    except INGEST_ERRORS as error:
        with suppress(*BROKEN):
            files.close()
        return PartitionResult(trouble=complaint(error, path))
    losses = source.losses.all()
    every = Losses()
    every.take(writer.losses.all())
    every.take(losses)
    return PartitionResult(
        size=size,
        packets=source.packets,
        ending=source.ending,
        sessions=writer.sessions,
        frames=writer.frames,
        losses=losses,
        all=every.all(),
    )


class PartitionedCapture:
    """A capture that several tasks take in together. It had ``size`` bytes before it was read for its name."""

    def __init__(self, staging: Staging, path: Path, options: IngestOptions, of: int, size: int) -> None:
        self.path = path
        self.size = size
        self.source = staging.batch.id
        self._staging = staging
        self._options = options
        self._of = of

    def work(self, progress: Path) -> list[IngestTask]:
        """Return the work of each task."""
        return [
            IngestTask(
                lake=self._staging.lake.name,
                path=str(self.path.resolve()),
                options=self._options,
                batch=self.source,
                staged=str(self._staging.path.resolve()),
                partition=Partition(number, self._of),
                size=self.size,
                progress=str(progress / f"{self.source}-{number}"),
            )
            for number in range(self._of)
        ]

    def commit(self, parts: Sequence[PartitionResult]) -> Ingested:
        """Make one batch of what the tasks have written; none if one of them met trouble."""
        try:
            return self._commit(parts)
        except INGEST_ERRORS as error:
            return Ingested(path=str(self.path), trouble=complaint(error, self.path))

    def _commit(self, parts: Sequence[PartitionResult]) -> Ingested:
        trouble = next((part.trouble for part in parts if part.trouble), "")
        seen = {(part.size, part.packets, part.ending) for part in parts}
        # Every task reads all of the capture, so all have to have seen the same one; else it grew, and parts overlap or
        # lack.
        if not trouble and (len(seen) > 1 or parts[0].size != self.size):
            trouble = changed_message(self.path)
        if trouble:
            return Ingested(path=str(self.path), trouble=trouble)
        # Every session is counted by one task alone, losses of the file as well: so sums are what one task would have
        # found.
        sessions, frames = sum(part.sessions for part in parts), sum(part.frames for part in parts)
        losses, every = Losses(), Losses()
        for part in parts:
            losses.take(part.losses)
            every.take(part.all)
        writer = SessionWriter(self._staging.write, self.source, self._options.protocol)
        for loss in losses.all():
            writer.lose(loss)
        writer.finish()
        row = run_row(self.source, "capture", self.path, self._options, parts[0].packets, parts[0].size)
        self._staging.write(RUNS, RUNS.rows([row | {"sessions": sessions, "frames": frames}]))
        committed = self._staging.commit()
        return Ingested(
            path=str(self.path),
            source=self.source,
            is_new=committed is not None,
            sessions=sessions,
            frames=frames,
            losses=tuple(map(str, every.all())),
        )


def ingest_on_spark(
    lake: Lake, paths: Sequence[Path], options: IngestOptions, spark: Any, on_progress: OnProgress
) -> Iterator[Ingested]:
    """Take in paths, as many tasks at a time as there are cores; SparkFailed when Spark gives up."""
    progress = Path(lake.name) / STAGING / f"progress-{secrets.token_hex(4)}"
    with ExitStack() as stack:
        plans: list[PartitionedCapture | IngestTask | Ingested] = []
        for path in paths:
            # Two paths with the same content make one batch: the second would be written for nothing.
            begun = {plan.source for plan in plans if isinstance(plan, PartitionedCapture)}
            plans.append(_plan(lake, path, options, spark.sparkContext.defaultParallelism, begun, stack))
        shares = [work for plan in plans if isinstance(plan, PartitionedCapture) for work in plan.work(progress)]
        whole = [plan for plan in plans if isinstance(plan, IngestTask)]
        if shares:
            progress.mkdir()
            stack.callback(shutil.rmtree, progress, ignore_errors=True)
        done = iter(_done(spark, [*shares, *whole], _watched(spark, shares, on_progress)))
        parts: dict[str, list[PartitionResult]] = {work.batch: [] for work in shares}
        for work in shares:
            parts[work.batch].append(msgspec.json.decode(next(done), type=PartitionResult))
        for plan in plans:
            match plan:
                case PartitionedCapture():
                    yield plan.commit(parts[plan.source])
                case IngestTask():
                    yield msgspec.json.decode(next(done), type=Ingested)
                case Ingested():
                    yield plan


def _plan(
    lake: Lake, path: Path, options: IngestOptions, most: int, begun: Container[str], stack: ExitStack
) -> PartitionedCapture | IngestTask | Ingested:
    """Decide how a path is taken in: by up to ``most`` tasks, or by one; or return at once what became of it."""
    try:
        size = path.stat().st_size
        # No more tasks than cores: each of them reads the whole capture, and a second round would read it again.
        of = min(-(-size // SPLIT), most) if path.is_file() else 1
        # Several tasks can write one batch only where all see its folder.
        if of < 2 or kind_of(path) != "capture" or not isinstance(lake.store, Folder):
            return IngestTask(lake=lake.name, path=str(path.resolve()), options=options)
        source = batch_of(path, "capture", options.protocol)
        if source in begun:
            return Ingested(path=str(path), source=source)
        if (there := already_ingested(lake, source, path, options)) is not None:
            return there
        # Staged by the driver, which commits; if anything fails before, leaving the stack throws all of it away.
        staging = stack.enter_context(lake.stage(source, "ingest", settings=settings_of(path, options)))
        return PartitionedCapture(staging, path, options, of, size)
    except INGEST_ERRORS as error:
        return Ingested(path=str(path), trouble=complaint(error, path))


def _done(spark: Any, works: Sequence[IngestTask], watched: AbstractContextManager[None]) -> list[bytes]:
    """Let Spark do the work, a task for each; return what they say, in this order."""
    if not works:
        return []
    with sparks.raising_spark_failed(), watched:
        # JSON, not pickled objects: the workers of a cluster may have been started from another checkout.
        lines = [msgspec.json.encode(work) for work in works]
        return list(spark.sparkContext.parallelize(lines, len(lines)).map(run_task).collect())


def _watched(spark: Any, shares: Sequence[IngestTask], on_progress: OnProgress) -> AbstractContextManager[None]:
    """Tell how many megabytes of what is split were read; where nothing is, how many tasks are done."""
    if not shares:
        return sparks.reporting_tasks(spark, on_progress)
    # Every task reads the whole capture, so all of it counts as often as there are tasks.
    total = sum(work.size for work in shares)
    files = [Path(work.progress) for work in shares]
    return reporting(lambda: on_progress(megabytes(read_positions(files)), megabytes(total)))
