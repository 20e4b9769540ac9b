"""The job ``sweep``: engines, or a program, compared over generated frames by seed and range of chunks.

::

    chunks A:B ──► those not swept yet ──► slabs ──► tasks ──► tallies ──► sweeps, findings     a batch for each slab

A slab is committed as a whole: who is interrupted goes on behind the last. Its rows do not depend on how its chunks
were shared out: tallies of chunks add up in any order, of findings that are one the first is kept, and what makes them
small counts its tries instead of the time.
"""

import pickle
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import msgspec

from reports.jobs import code_digests as digests
from reports.jobs import spark as sparks
from reports.jobs.sweep_chunks import smallest, tallied
from reports.jobs.sweep_plan import SweepPlan, Tally, total
from reports.lake.findings import row
from reports.lake.lake import Batch, Lake, Staging, batch_name
from reports.lake.schemas import FINDINGS, SWEEPS
from reports.progress import OnProgress
from vectors.checks.sweep import CHUNK

JOB = "sweep"
SLAB = 1_000
"""Chunks between two commits: two million frames."""

TASK, SMALL_TASK = 50, 10
"""Chunks of a task at most (a hundred thousand frames), and of one for the sake of having a task for every core."""

TASKS_PER_CORE = 4
COUNTS = ("frames", "judged", "accepted", "spoiled", "differing", "skipped")
Span = tuple[int, int]
"""Chunks: the first, and the first that does not belong to it any more."""


class SweepResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a range came to, this time and before: counts of frames, how many were ``new``, and findings as rows.

    The counts are those of ``chunks``: of whole batches, which may go beyond the range. What ``differs``, and the
    findings, are of the range itself; of those that are one there is the first. ``batches`` are those that were added.
    """

    chunks: tuple[Span, ...] = ()
    differs: bool = False
    frames: int = 0
    judged: int = 0
    new: int = 0
    accepted: int = 0
    spoiled: int = 0
    differing: int = 0
    skipped: int = 0
    findings: list[dict[str, Any]] = []
    batches: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Tell whether something was compared and nothing differs."""
        return self.judged > 0 and not self.differs


def sweep(
    lake: Lake, plan: SweepPlan, asked: Span, spark: Any, on_progress: OnProgress, tasks: int | None = None
) -> SweepResult:
    """Sweep the chunks of a range that were not swept yet, in ``tasks`` of equal size; return what is known of it."""
    settings = settings_of(plan)
    wanted = _wanted(lake, settings, asked)
    whole, done, added = sum(end - first for first, end in wanted), 0, []
    # A commit after every slab: whoever is interrupted loses at most that.
    for span in wanted:
        name = batch_name(JOB, settings, [f"{span[0]}:{span[1]}"])
        about = settings | {"first": str(span[0]), "end": str(span[1])}
        with lake.stage(name, JOB, settings=about) as staging:
            tally = _run(lake, plan, span, spark, lambda chunks, done=done: on_progress(done + chunks, whole), tasks)  # type: ignore[misc]
            _write(staging, plan, span, tally)
            if staging.commit() is not None:
                added.append(name)
        done += span[1] - span[0]
    return known(lake, settings, asked, tuple(added))


def frames_to_sweep(lake: Lake, plan: SweepPlan, asked: Span) -> int:
    """Return how many frames of a range were not swept yet."""
    return CHUNK * sum(end - first for first, end in _wanted(lake, settings_of(plan), asked))


def _wanted(lake: Lake, settings: dict[str, str], asked: Span) -> list[Span]:
    return list(split_at_slabs(missing(asked, [span_of(batch) for batch in overlapping(lake, settings, asked)])))


def settings_of(plan: SweepPlan) -> dict[str, str]:
    """Return what a range is swept with: where any of it differs, it is another sweep."""
    return {
        "layout": plan.layout,
        "engines": ", ".join(plan.engines),
        "command": shlex.join(plan.command),
        # By the programs' content: a repaired program under the same name is another one, and is swept anew.
        "files": digests.of_command(plan.command),
        # The same of our own engines, whose version stays the same while somebody works on them.
        "code": digests.of_engines(plan.layout, plan.engines[:1] if plan.command else plan.engines),
        "deadline": str(plan.deadline) if plan.command else "",
        "seed": str(plan.seed),
        "share": str(plan.share),
        "most": str(plan.most),
        "goldwire": version("goldwire"),
    }


def overlapping(lake: Lake, settings: dict[str, str], asked: Span) -> list[Batch]:
    """Return the batches with such settings that say whether something differs in a range, in order.

    A batch keeps the first of findings that are one. If it begins before the range, what was found before may come
    again in the range: then it does not tell, unless something else was found there.
    """
    found: list[Batch] = []
    batches = [batch for batch in lake.batches() if batch.job == JOB and settings.items() <= batch.settings.items()]
    # From the left, and the longest first: a range that lies within another tells nothing that the other does not.
    for batch in sorted(batches, key=lambda batch: (span_of(batch)[0], -span_of(batch)[1])):
        first, end = span_of(batch)
        if first >= asked[1] or asked[0] >= end or (found and end <= span_of(found[-1])[1]):
            continue
        # A batch keeps the first of findings that are one. If it begins before the range, what was found there may come
        # again within it: then it does not tell, unless something else was found in the range.
        if first < asked[0]:
            chunks = [number // CHUNK for number in lake.read(FINDINGS, [batch])["number"].to_pylist()]
            if min(chunks, default=asked[1]) < asked[0] and not any(asked[0] <= each < asked[1] for each in chunks):
                continue
        found.append(batch)
    return found


def span_of(batch: Batch) -> Span:
    """Return the range of a batch of this job."""
    return int(batch.settings["first"]), int(batch.settings["end"])


def missing(asked: Span, there: Sequence[Span]) -> Iterator[Span]:
    """Give the parts of a range that lie in none of some others, which are in order."""
    at, end = asked
    for first, last in there:
        if at < min(first, end):
            yield at, min(first, end)
        at = max(at, last)
    if at < end:
        yield at, end


def split_at_slabs(spans: Iterator[Span]) -> Iterator[Span]:
    """Cut ranges where slabs end."""
    for first, end in spans:
        while first < end:
            # At fixed places, not from where somebody began: ranges that overlap then share whole slabs.
            following = min(end, (first // SLAB + 1) * SLAB)
            yield first, following
            first = following


def split_range(span: Span, count: int) -> list[Span]:
    """Cut a range into so many of about equal size, none of them empty."""
    first, end = span
    count = max(1, min(count, end - first))
    edges = [first + (end - first) * each // count for each in range(count + 1)]
    return list(pairwise(edges))


def suitable_task_count(chunks: int, cores: int) -> int:
    """Return the number of tasks that suits so many chunks on so many cores."""
    # Small tasks for many cores, so that all are busy to the end; larger ones where there are enough, as each costs a
    # start.
    return max(-(-chunks // TASK), min(cores * TASKS_PER_CORE, -(-chunks // SMALL_TASK)))


def known(lake: Lake, settings: dict[str, str], asked: Span, added: tuple[str, ...] = ()) -> SweepResult:
    """Return what the lake knows of a range that was swept with such settings."""
    batches = overlapping(lake, settings, asked)
    sweeps = lake.read(SWEEPS, batches).select(["source", *COUNTS]).to_pylist()
    found = sorted(lake.read(FINDINGS, batches).to_pylist(), key=lambda each: (each["number"], each["signature"]))
    first: dict[str, dict[str, Any]] = {}
    for each in found:
        if asked[0] <= each["number"] // CHUNK < asked[1]:
            first.setdefault(each["signature"], each)
    # Counts are those of whole batches: one that reaches beyond the range may have met its differences there.
    within = {batch.id for batch in batches if asked[0] <= span_of(batch)[0] and span_of(batch)[1] <= asked[1]}
    return SweepResult(
        chunks=tuple(_joined(map(span_of, batches))),
        differs=bool(first) or any(each["differing"] for each in sweeps if each["source"] in within),
        **{name: sum(each[name] for each in sweeps) for name in COUNTS},
        new=sum(each["frames"] for each in sweeps if each["source"] in added),
        findings=list(first.values()),
        batches=added,
    )


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Join ranges that touch each other; they are in order."""
    joined: list[Span] = []
    for first, end in spans:
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((first, end))
    return joined


def _run(
    lake: Lake, plan: SweepPlan, span: Span, spark: Any, on_progress: Callable[[int], None], tasks: int | None
) -> Tally:
    size = span[1] - span[0]
    if spark is None:
        done = 0

        def count(chunks: int) -> None:
            nonlocal done
            done += chunks
            on_progress(done)

        return total(tallied(plan, *share, count) for share in split_range(span, tasks or 1))
    context = spark.sparkContext
    parts = split_range(span, tasks or suitable_task_count(size, context.defaultParallelism))
    with (
        sparks.reporting_work(spark, lake, size, lambda chunks, _: on_progress(chunks)) as notes,
        sparks.raising_spark_failed(),
    ):
        lines = context.parallelize(parts, len(parts)).map(partial(_task, msgspec.json.encode(plan), notes)).collect()
    return total(map(pickle.loads, lines))


def _task(plan: bytes, notes: str, span: Span) -> bytes:
    # One chunk after the other is noted as done: a task may take a minute.
    noting = sparks.noted_in(notes, range(*span), lambda _: 1)
    next(noting)

    def note(_: int) -> None:
        next(noting, None)

    return pickle.dumps(tallied(msgspec.json.decode(plan, type=SweepPlan), *span, note))


def _write(staging: Staging, plan: SweepPlan, span: Span, tally: Tally) -> None:
    about = {"source": staging.batch.id, "protocol": plan.protocol, "layout": plan.layout}
    counts = {name: getattr(tally, name) for name in COUNTS}
    sweeps = about | counts | {"engines": ", ".join(plan.engines), "seed": plan.seed}
    sweeps |= {"first": span[0], "end": span[1], "goldwire": staging.batch.goldwire}
    staging.write(SWEEPS, SWEEPS.rows([sweeps]))
    rows = [
        row(staging.batch.id, each.kept) | {"time": None, "repeat": each.repeat, "page": each.page}
        for each in smallest(plan, tally)
    ]
    if rows:
        staging.write(FINDINGS, FINDINGS.rows(rows))
