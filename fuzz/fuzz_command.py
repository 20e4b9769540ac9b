"""The commands ``goldwire fuzz …``: campaigns."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TextColumn, TimeElapsedColumn

from fuzz.atheris_process import AtherisFailed, AtherisMissing
from fuzz.campaign import Campaign, CampaignProgress, CampaignReport, OnProgress
from fuzz.limits import InputLimits
from fuzz.net.net_command import merge, net
from fuzz.search import SEARCHES, run
from vectors.check_command import interrupted_by_signal
from vectors.checks.check import MOST
from vectors.durations import read_time
from wire import completion
from wire.catalogue import grammar, grammars
from wire.errors import UnknownLayout

NOTHING, FOUND, INTERRUPTED = 0, 1, 130
OUT = Path("findings")


@click.group()
def fuzz() -> None:
    """Search for what nobody thought of: campaigns of fuzzing.

    \b
    Examples:
      goldwire fuzz codec zenoh/batch --for 10m
      goldwire fuzz net zenoh --iut eclipse-zenoh --for 10m
    """


fuzz.add_command(net)
fuzz.add_command(merge)


@fuzz.command()
@click.argument("layout", required=False, shell_complete=completion.layouts)
@click.option("--all", "everything", is_flag=True, help="Every layout, one after the other, each for so long.")
@click.option(
    "--engine", type=click.Choice(tuple(SEARCHES)), default=next(iter(SEARCHES)), show_default=True,
    help="What searches; see below.",
)  # fmt: skip
@click.option("--for", "seconds", metavar="TIME", default="60s", show_default=True, callback=read_time, help="60s, 2h.")
@click.option("--kept-only", is_flag=True, help="Compare what is kept and the golden vectors, and search no further.")
@click.option("--seed", metavar="N", type=click.IntRange(min=0), default=0, show_default=True, help="Of all choices.")
@click.option(
    "--out", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), default=OUT, show_default=True,
    help="Where findings go, a folder each.",
)  # fmt: skip
@click.option(
    "--corpus", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="Where inputs are kept; with --all a folder in it for each layout. Default: the user's data folder.",
)  # fmt: skip
@click.option("--most", metavar="N", type=click.IntRange(min=1), default=MOST, show_default=True, help="Findings.")
@click.option("--jobs", metavar="N", type=click.IntRange(1, 256), help="Processes of --engine random: one per core.")
@click.option(
    "--longest", metavar="BYTES", type=click.IntRange(1, 1 << 20), default=InputLimits().longest, show_default=True,
    help="Of an input that Atheris makes.",
)  # fmt: skip
@click.option(
    "--timeout", metavar="TIME", default=f"{InputLimits().seconds:g}s", show_default=True, callback=read_time,
    help="What takes longer is a hang.",
)  # fmt: skip
@click.option(
    "--memory", metavar="MB", type=click.IntRange(min=256), default=InputLimits().megabytes, show_default=True,
    help="What takes more is a finding.",
)  # fmt: skip
@click.pass_context
def codec(
    context: click.Context,
    layout: str | None,
    everything: bool,
    engine: str,
    seconds: float,
    kept_only: bool,
    seed: int,
    out: Path,
    corpus: Path | None,
    most: int,
    jobs: int | None,
    longest: int,
    timeout: float,
    memory: int,
) -> None:
    """Search for frames of LAYOUT on which goldwire's engines differ, or which crash, hang or bloat one.

    atheris follows the branches of the generated Python engine and needs goldwire[fuzz]; hypothesis and random need
    nothing more, and see less.

    Exit status: 0 nothing found; 1 findings; 2 wrong usage; 130 interrupted, and nothing found so far.

    \b
    Examples:
      goldwire fuzz codec zenoh/batch --for 10m
      goldwire fuzz codec --all --engine random --for 60s
    """
    if everything == (layout is not None):
        raise click.UsageError("name one layout, or give --all")
    if kept_only and engine != "atheris":
        raise click.UsageError("--kept-only is about the corpus, which only --engine atheris keeps")
    status = NOTHING
    for name in grammars() if layout is None else [layout]:
        campaign = Campaign(
            layout=name,
            engine=engine,
            seconds=None if kept_only else seconds,
            seed=seed,
            out=out,
            corpus=corpus / name if corpus is not None and everything else corpus,
            most=most,
            jobs=jobs or os.cpu_count() or 1,
            limits=InputLimits(longest, timeout, memory),
        )
        report = run_shown(campaign)
        for line in summary_lines(report):
            click.echo(line)
        if report.interrupted and not report.findings:
            context.exit(INTERRUPTED)
        if report.findings:
            status = FOUND
        if report.interrupted:
            break
    context.exit(status)


def run_shown(campaign: Campaign) -> CampaignReport:
    """Run a campaign with its progress on the terminal; ``click.UsageError`` for what the user can mend."""
    try:
        grammar(campaign.layout)
        with interrupted_by_signal(), progress_shown(campaign) as on_progress:
            return run(campaign, on_progress)
    except (UnknownLayout, AtherisMissing) as error:
        raise click.UsageError(str(error)) from None
    except AtherisFailed as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def progress_shown(campaign: Campaign) -> Iterator[OnProgress | None]:
    """Show how far a campaign is, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[inputs]:,} inputs{task.fields[rate]}, {task.fields[kept]:,} kept"),
        TextColumn("{task.fields[found]} findings"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"fuzzing {campaign.layout}", total=None, inputs=0, rate="", kept=0, found=0)

        def show(progress: CampaignProgress) -> None:
            doing = progress.doing or "fuzzing"
            bar.update(
                task,
                description=f"{doing} {campaign.layout}",
                inputs=progress.inputs,
                rate=_per_second(progress.rate),
                kept=progress.kept,
                found=progress.found,
            )

        yield show


def _per_second(rate: float | None) -> str:
    return "" if rate is None else f", {rate:,.0f}/s"


def summary_lines(report: CampaignReport) -> Iterator[str]:
    """Write what came of a campaign: a few lines for each finding, then what was searched."""
    for each in report.findings:
        folder, difference = each.folder, each.finding.difference
        place = "" if difference.place in ("(frame)", "(value)") else f" at {difference.place}"
        yield f"{difference.kind}{place}{'' if each.new else ' (known)'}, after {each.finding.origin.seconds:.1f} s"
        for who, lines in difference.says:
            for line in lines:
                yield f"   {who}: {line}"
        yield f"   read: {folder / 'report.txt'}"
        yield f"   try again: goldwire replay {folder}"
    count = len(report.findings)
    verdict = f"FOUND {count}" if count else "NOTHING FOUND"
    ending = "; interrupted" if report.interrupted else "; stopped at --most" if report.full else ""
    yield (
        f"{verdict} {report.layout}: {', '.join(report.engines)}: {report.inputs:,} inputs{_per_second(report.rate)}, "
        f"{report.accepted:,} accepted, {report.engine}, seed {report.seed}, {report.seconds:.1f} s{ending}"
    )
    if report.corpus is not None:
        before, reached, after = report.kept
        yield (
            f"   {report.branches} branches, {report.features} features; corpus: {before} before, {reached} with what "
            f"is new, {after} kept; {report.referred} compared with the reference as well; in {report.corpus}"
        )
    for note in report.notes:
        yield f"   note: {note}"
