"""How fast the pipeline takes in, decodes, judges and sums up generated traffic, and whether it finds what is planted.

::

    python benchmarks/lake.py zenoh --frames 2000000 --frames 20000000 --master local[1] --master local[2] --markdown

The traffic is generated once (``goldwire pipeline generate``), or taken from ``--captures``; a smaller size is its
first files. Each size on each master fills a lake of its own. Then, in the same session of Spark, rows are decoded and
thrown away, and passed through Python as they are and thrown away (the identity), in turns. Ends with status 1 when the
rules that are found broken are not exactly those that were planted, anything of the traffic is missing, or monitors
see fewer faults than they did.

::

    python benchmarks/lake.py zenoh --frames 200000 --against ../earlier

With ``--against`` judging alone is measured, against another checkout of goldwire (``judge_against.py``): status 1 when
the rows of the two are not the same.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
import pyarrow.compute as pc
from judge_against import compare

from conformance.verdicts import Outcome
from harness.errors import HarnessError
from reports.jobs import decode as decoding
from reports.jobs import runner as jobs
from reports.jobs import spark as sparks
from reports.jobs.ingest import IngestOptions
from reports.jobs.overview import Overview, overview
from reports.lake.lake import Lake
from reports.lake.rows import layout_of
from reports.lake.schemas import DECODED, FRAMES, LOSSES, RUNS, SESSIONS, VERDICTS, LakeTable
from reports.traffic.generation import ABOUT, PLANTED, Planted, Traffic

NO_SPARK = "none"
ACCUSING = [outcome.value for outcome in Outcome if outcome.accuses]
SHOWN = 20

SEEN = {"zenoh": 39, "pathfinder": 60, "urbit": 21, "rai": 50}
"""How many faults monitors see at least, in the sessions of all cases: a rule that nobody judges any more is not found
missing by what is planted."""

WARM, MOST_WARM = 8 << 20, 8
"""Bytes of a file, and how many files, that every session of Spark is given before anything is measured."""

Broken = set[tuple[str, int, str]]
"""Rules that are broken: file, number of the packet with which the session begins, rule."""


class Stage(msgspec.Struct, frozen=True):
    """One job over one size on one master: its seconds, and how many of the machine's cores were busy meanwhile."""

    name: str
    master: str
    frames: int
    seconds: float
    busy: float

    @property
    def rate(self) -> float:
        """Frames per second."""
        return self.frames / self.seconds


class Share(msgspec.Struct, frozen=True):
    """One round of decoding against passing on: seconds of each."""

    identity: float
    decode: float

    @property
    def ratio(self) -> float:
        """How fast decoding is, if passing on is 1."""
        return self.identity / self.decode


class Run(msgspec.Struct):
    """What was measured and found with one size on one master."""

    master: str
    frames: int
    sessions: int
    stages: list[Stage] = []
    shares: list[Share] = []
    planted: int = 0
    missing: list[tuple[str, int, str]] = []
    extra: list[tuple[str, int, str]] = []
    lacking: list[str] = []
    marks: dict[str, tuple[int, int]] = {}

    @property
    def is_right(self) -> bool:
        """Whether everything was there, and what was planted was found and nothing else."""
        return not (self.missing or self.extra or self.lacking)


class Corpus(msgspec.Struct, frozen=True):
    """The files of one size, how much is in them, and what is planted there; how many faults of how many are seen."""

    paths: list[Path]
    frames: int
    sessions: int
    planted: dict[tuple[str, int, str], str]
    faults: int = 0
    at_least: int = 0


def corpus(folder: Path, frames: int) -> Corpus:
    """Return the first files of generated traffic that have so many frames."""
    about = msgspec.json.decode((folder / ABOUT).read_bytes(), type=Traffic)
    # Whole files: what is planted is told by file, and a session that is cut in two is another session.
    chosen = []
    there = 0
    for made in about.files:
        if there < frames:
            chosen.append(made)
            there += made.frames
    if there < frames:
        raise click.ClickException(f"{folder} has {there} frames, and {frames} are asked for")
    names = {made.file for made in chosen}
    lines = msgspec.json.Decoder(Planted).decode_lines((folder / PLANTED).read_bytes())
    planted = {(each.file, each.number, each.rule): each.fault for each in lines if each.file in names}
    # Traffic of chosen faults only has as many as were chosen; nothing is known of how many are seen.
    at_least = 0 if about.pattern else SEEN.get(about.protocol, 0)
    sessions = sum(made.sessions for made in chosen)
    return Corpus([folder / made.file for made in chosen], there, sessions, planted, len(about.faults), at_least)


# --- one run ----------------------------------------------------------------------------------------------


def measure(work: Path, protocol: str, size: Corpus, master: str, spark: Any, rounds: int, fingerprint: bool) -> Run:
    """Fill a lake with a corpus, and judge what came of it."""
    run = Run(master, size.frames, size.sessions, planted=len(size.planted))
    lake = Lake(work, create=True)

    def stage(name: str, job: Callable[[], Any]) -> Any:
        before, began = used(), time.monotonic()
        done = job()
        seconds = time.monotonic() - began
        run.stages.append(Stage(name, master, size.frames, seconds, (used() - before) / seconds))
        tell(f"{master} {size.frames:,} {name}: {seconds:.1f} s, {size.frames / seconds:,.0f} frames/s")
        return done

    done = {name: stage(name, job) for name, job in stages(lake, protocol, size.paths, spark).items()}
    run.lacking = [each.trouble for each in done["ingest"] if each.trouble]
    run.lacking += lacking(lake, size, done["ingest"], done["summary"])
    found = broken(lake, spark)
    run.missing = sorted(set(size.planted) - found)
    run.extra = sorted(found - set(size.planted))
    if spark is not None:
        run.shares = [each for number in range(rounds) for each in [share(lake, protocol, spark, number)]]
        if fingerprint:
            for table in (RUNS, SESSIONS, FRAMES, LOSSES, DECODED, VERDICTS):
                run.marks[table.name] = mark(lake, spark, table)
    return run


def stages(lake: Lake, protocol: str, paths: Sequence[Path], spark: Any) -> dict[str, Callable[[], Any]]:
    """Return the jobs that are timed, in their order."""
    return {
        "ingest": lambda: list(jobs.ingest(lake, paths, IngestOptions(protocol=protocol), spark, quiet)),
        "decode": lambda: jobs.decode(lake, protocol, spark, quiet),
        "judge": lambda: jobs.judge(lake, protocol, "document", spark, quiet),
        "summary": lambda: overview(lake, spark),
    }


def warm(folder: Path, protocol: str, size: Corpus, spark: Any) -> None:
    """Put the beginnings of files through all jobs, so that no size and no master is the first to be measured."""
    folder.mkdir()
    begins = []
    for path in size.paths[:MOST_WARM]:
        begins.append(folder / path.name)
        with path.open("rb") as file:
            begins[-1].write_bytes(file.read(WARM))
    for job in stages(Lake(folder / "lake", create=True), protocol, begins, spark).values():
        job()
    shutil.rmtree(folder)


def lacking(lake: Lake, size: Corpus, taken: Sequence[Any], found: Overview) -> list[str]:
    """Say what of a corpus is not in a lake, and what is wrong with how it was judged."""
    rows: dict[str, int] = {}
    for batch in lake.batches():
        for table, count in batch.rows.items():
            rows[table] = rows.get(table, 0) + count
    frames = sum(each.frames for each in taken)
    wanted = (
        ("frames taken in", frames, size.frames),
        ("rows of sessions", rows.get(SESSIONS.name, 0), size.sessions),
        ("rows of decoded", rows.get(DECODED.name, 0), size.frames),
        ("rows of losses", rows.get(LOSSES.name, 0), 0),
        ("errors of the tester", sum(each.outcomes.get(Outcome.ERROR.value, 0) for each in found.rules), 0),
    )
    said = [f"damaged: {each}" for each in lake.damage.values()]
    if size.faults < size.at_least:
        said.append(f"monitors see {size.faults} faults, and they saw {size.at_least}: see goldwire selfcheck")
    return said + [f"{count} {what}, and {right} are right" for what, count, right in wanted if count != right]


def broken(lake: Lake, spark: Any) -> Broken:
    """Return the rules that verdicts say are broken."""
    found: Broken = set()
    if spark is None:
        for part in lake.parts(VERDICTS):
            rows = part.filter(pc.is_in(part["outcome"], pc.cast(ACCUSING, part["outcome"].type)))
            found |= {named(row["session"], row["rule"]) for row in rows.select(["session", "rule"]).to_pylist()}
        return found
    rows = sparks.rows_of(spark, lake, VERDICTS, lake.pieces(VERDICTS))
    rows = rows.where(rows.outcome.isin(ACCUSING)).select("session", "rule").distinct()
    return {named(row.session, row.rule) for row in rows.collect()}


def named(session: str, rule: str) -> tuple[str, int, str]:
    """Return a rule with the file and the packet with which its session begins (``BATCH/FILE#NUMBER``)."""
    file, _, number = session.partition("/")[2].rpartition("#")
    return file, int(number), rule


def share(lake: Lake, protocol: str, spark: Any, number: int) -> Share:
    """Decode the rows that the job decodes, and pass the same on as they are; both are thrown away."""
    layout = layout_of(protocol)
    frames = sparks.rows_of(spark, lake, FRAMES, lake.pieces(FRAMES, protocol=protocol, layout=layout))
    rows = frames.where(frames.what == decoding.FRAME).select(*decoding.READ)
    work = {
        "identity": rows.mapInArrow(passed_on, rows.schema),
        "decode": rows.mapInArrow(partial(decoding.decoded, layout), sparks.schema_of(decoding.OUT)),
    }
    took = {}
    for name in sorted(work, reverse=bool(number % 2)):
        began = time.monotonic()
        work[name].write.format("noop").mode("overwrite").save()
        took[name] = time.monotonic() - began
    tell(f"   round {number + 1}: identity {took['identity']:.2f} s, decode {took['decode']:.2f} s")
    return Share(took["identity"], took["decode"])


def passed_on(batches: Iterator[Any]) -> Iterator[Any]:
    """Give batches as they came."""
    yield from batches


def mark(lake: Lake, spark: Any, table: LakeTable) -> tuple[int, int]:
    """Return how many rows a table has, and a sum of their hashes, which no order of rows changes."""
    functions = sparks.functions()
    rows = sparks.rows_of(spark, lake, table, lake.pieces(table))
    # A null is passed over by the hash: what is null has to be said.
    nulls = [functions.col(name).isNull() for name in rows.columns]
    hashed = functions.xxhash64(*rows.columns, *nulls).cast("decimal(38, 0)")
    found = rows.agg(functions.count("*").alias("rows"), functions.sum(hashed).alias("sum")).collect()[0]
    return int(found["rows"]), int(found["sum"] or 0) % (1 << 64)


def used() -> float:
    """Return the seconds of processor time that this machine has used, all programs together; 0 where nobody knows."""
    try:
        user, nice, system, *_ = map(int, Path("/proc/stat").read_text().split()[1:8])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system) / 100


def quiet(done: int, total: int) -> None:
    """Tell nobody."""


def tell(text: str) -> None:
    """Say on standard error what was done."""
    click.echo(text, err=True)


@contextmanager
def session(master: str, memory: int | None) -> Iterator[Any]:
    """Run Spark on a master, and what starts with it; nothing where there is none."""
    if master == NO_SPARK:
        with nullcontext() as nothing:
            yield nothing
        return
    with sparks.started(master, memory=memory) as spark:
        # Python's workers start, all of them.
        rows = spark.range(0, 1_000_000, numPartitions=8).selectExpr("id", "cast(id as string) as text")
        rows.mapInArrow(passed_on, rows.schema).write.format("noop").mode("overwrite").save()
        yield spark


# --- what is printed --------------------------------------------------------------------------------------


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> None:
    """Print a table; columns are numbers unless they are the first."""
    click.echo(f"\n**{title}**\n" if markdown else f"\n{title}")
    if markdown:
        click.echo(f"| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
        for row in rows:
            click.echo(f"| {' | '.join(row)} |")
        return
    widths = [max(len(each[column]) for each in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        first, *others = (text.rjust(width) for text, width in zip(row, widths, strict=True))
        click.echo("  ".join([first.strip().ljust(widths[0]), *others]))


def show(protocol: str, runs: Sequence[Run], markdown: bool) -> None:
    """Print what was measured."""
    stages = [each for run in runs for each in run.stages]
    head = ("stage", "master", "frames", "seconds", "frames per second", "cores busy")
    rows = [
        (each.name, each.master, f"{each.frames:,}", f"{each.seconds:.1f}", f"{each.rate:,.0f}", f"{each.busy:.2f}")
        for each in stages
    ]
    table(f"{protocol}: jobs", head, rows, markdown)
    show_shares(protocol, runs, markdown)
    known = {(each.name, each.master, each.frames): each for each in stages}
    sizes = sorted({run.frames for run in runs})
    masters = list(dict.fromkeys(run.master for run in runs))
    names = list(dict.fromkeys(each.name for each in stages))
    rows = []
    for name, master, one, two in (
        (name, master, sizes[0], two) for name in names for master in masters for two in sizes[1:]
    ):
        if not {(name, master, one), (name, master, two)} <= known.keys():
            continue  # it did not get so far
        small, large = known[name, master, one], known[name, master, two]
        times, more = large.seconds / small.seconds, two / one
        rows.append((name, master, f"{one:,} to {two:,}", f"{more:.2f}", f"{times:.2f}", f"{times / more:.2f}"))
    if rows:
        head = ("stage", "master", "frames", "times the frames", "times the seconds", "to linear")
        table(f"{protocol}: growth", head, rows, markdown)
    rows = []
    for name, size, other in ((name, size, other) for name in names for size in sizes for other in masters[1:]):
        if not {(name, masters[0], size), (name, other, size)} <= known.keys():
            continue
        one, many = known[name, masters[0], size], known[name, other, size]
        rows.append((name, f"{masters[0]} to {other}", f"{size:,}", f"{one.seconds / many.seconds:.2f}"))
    if rows:
        table(f"{protocol}: more cores", ("stage", "masters", "frames", "times as fast"), rows, markdown)


def show_shares(protocol: str, runs: Sequence[Run], markdown: bool) -> None:
    """Print how decoding compares with passing rows on."""
    rows = []
    for run in runs:
        if not run.shares:
            continue
        ratios = sorted(each.ratio for each in run.shares)
        identity = run.frames / statistics.median(each.identity for each in run.shares)
        decode = run.frames / statistics.median(each.decode for each in run.shares)
        median, span = f"{statistics.median(ratios):.2f}", f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        rows.append((run.master, f"{run.frames:,}", f"{identity:,.0f}", f"{decode:,.0f}", median, span))
    if rows:
        head = ("master", "frames", "identity, frames per second", "decode, frames per second", "ratio", "of rounds")
        table(f"{protocol}: decode against the identity, both thrown away", head, rows, markdown)


def show_found(run: Run) -> None:
    """Say whether what was planted was found."""
    planted = f"{run.planted} violations planted in {run.sessions:,} sessions"
    said = "exactly these found" if run.is_right else f"{len(run.missing)} missing, {len(run.extra)} beyond"
    click.echo(f"\n{run.master}, {run.frames:,} frames: {planted}: {said}")
    for what, each in [("missing", each) for each in run.missing] + [("beyond", each) for each in run.extra]:
        if each in run.missing[:SHOWN] or each in run.extra[:SHOWN]:
            click.echo(f"   {what}: {each[2]} in {each[0]}#{each[1]}")
    for each in run.lacking:
        click.echo(f"   {each}")
    for name, (rows, total) in run.marks.items():
        click.echo(f"   {name}: {rows:,} rows, {total:016x}")


@click.command()
@click.argument("protocol")
@click.option("--frames", "sizes", type=click.IntRange(min=1), multiple=True, default=(2_000_000,), show_default=True)
@click.option("--master", "masters", multiple=True, default=("local[2]",), show_default=True, help="none: no Spark.")
@click.option("--captures", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--files", type=click.IntRange(min=1), help="Of the traffic. Default: one for each million frames.")
@click.option("--rounds", type=click.IntRange(min=0), default=5, show_default=True, help="Of decode and identity.")
@click.option("--memory", metavar="MB", type=click.IntRange(min=512), help="For Spark.")
@click.option(
    "--work",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where traffic and lakes are, for as long as it takes.",
)
@click.option("--keep", is_flag=True, help="Leave them there.")
@click.option("--fingerprint", is_flag=True, help="Print for each table a sum that tells whether it is the same.")
@click.option("--markdown", is_flag=True)
@click.option(
    "--against",
    metavar="PATH",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Only judge, in turns with the checkout there: how many times as fast, and are the rows the same?",
)
@click.pass_context
def main(
    context: click.Context,
    protocol: str,
    sizes: tuple[int, ...],
    masters: tuple[str, ...],
    captures: Path | None,
    seed: int,
    files: int | None,
    rounds: int,
    memory: int | None,
    work: Path | None,
    keep: bool,
    fingerprint: bool,
    markdown: bool,
    against: Path | None,
) -> None:
    """Measure the jobs of the pipeline on traffic of PROTOCOL, and check what they find."""
    if work is not None:
        work.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="goldwire-lake-", dir=work))
    runs: list[Run] = []
    failed = False
    try:
        if captures is None:
            captures = folder / "traffic"
            made(protocol, max(sizes), seed, files, captures)
        corpora = [corpus(captures, size) for size in sorted(set(sizes))]
        if against is not None:
            here = Path(__file__).parents[1]
            size = corpora[-1]
            compared = compare(against, here, protocol, size.paths, size.frames, rounds, folder)
            click.echo("\n".join(f"{protocol} {line}" for line in compared.lines()))
            context.exit(int(not compared.is_same))
        for master in masters:
            with session(master, memory) as spark:
                warm(folder / "warm", protocol, corpora[0], spark)
                for number, size in enumerate(corpora):
                    lake = folder / f"lake-{len(runs)}-{number}"
                    runs.append(measure(lake, protocol, size, master, spark, rounds, fingerprint))
                    if not keep:
                        shutil.rmtree(lake)
    except HarnessError as error:
        tell(f"Error: {error}")
        failed = True
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            tell(f"kept: {folder}")
    show(protocol, runs, markdown)
    for run in runs:
        show_found(run)
    context.exit(int(failed or not all(run.is_right for run in runs)))


def made(protocol: str, frames: int, seed: int, files: int | None, folder: Path) -> None:
    """Generate traffic, with the command that users have, in processes of their own."""
    words = ["pipeline", "generate", protocol, "--frames", str(frames), "--seed", str(seed), "--out", str(folder)]
    words += [] if files is None else ["--files", str(files)]
    began = time.monotonic()
    program = [sys.executable, "-c", "from harness.command import main; main()", *words]
    subprocess.run(program, check=True, stdout=sys.stderr)
    tell(f"generated in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
