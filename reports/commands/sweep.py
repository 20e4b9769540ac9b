"""``goldwire pipeline sweep`` and ``select``: generated frames by the million, compared or chosen from."""

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.command import WrongUsage
from reports.commands import options
from reports.progress import progress_bar
from vectors.checks.codec_program import ProgramNotStarted
from vectors.checks.pipe import PipeLimits
from wire import completion
from wire.catalogue import grammars
from wire.engines import NAMES, MissingEngine, engine, present

if TYPE_CHECKING:
    from reports.jobs.select import Selected
    from reports.jobs.sweep import Span, SweepResult
    from reports.jobs.sweep_plan import SweepPlan

FRAMES = 1_000_000
SHOWN = 10
"""Branches that are not reached and are named."""

NOT_STARTED = 3


def read_chunks(context: click.Context, parameter: click.Parameter, text: str | None) -> "Span | None":
    """Read a range of chunks such as ``100:200``: the last is not in it."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise click.BadParameter(f"{text!r} is no range of chunks: expected A:B, such as 0:500, which ends before 500")
    return int(match[1]), int(match[2])


@click.command()
@click.argument("layout", shell_complete=completion.layouts)
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@options.lake
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of the frames.")
@click.option("--frames", metavar="N", type=click.IntRange(min=1), help=f"In whole chunks. [default: {FRAMES}]")
@click.option(
    "--chunks", metavar="A:B", callback=read_chunks, help="These chunks of 2000 frames instead; B is not in it."
)
@click.option(
    "--engine", "names", type=click.Choice(NAMES), multiple=True, help="Only it and the reference; repeatable."
)
@click.option(
    "--reference-share", "share", metavar="SHARE", type=click.FloatRange(min=0, max=1), default=1.0, show_default=True,
    help="Of the frames, how many the slow reference engine sees if two others are compared.",
)  # fmt: skip
@click.option(
    "--most", metavar="N", type=click.IntRange(min=1), default=10, show_default=True,
    help="Findings that are kept of every two million frames.",
)  # fmt: skip
@click.option(
    "--deadline", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True, max=86400),
    default=PipeLimits().deadline, show_default=True, help="COMMAND: how long an answer may take.",
)  # fmt: skip
@options.master(options.BY_SIZE)
@options.as_json
def sweep(
    layout: str,
    command: tuple[str, ...],
    folder: Path | str,
    seed: int,
    frames: int | None,
    chunks: "Span | None",
    names: tuple[str, ...],
    share: float,
    most: int,
    deadline: float,
    master: str,
    memory: int | None,
    as_json: bool,
) -> int:
    """Compare codecs of LAYOUT over generated frames (the tables sweeps and findings); the lake is made if need be.

    Without COMMAND: goldwire's own engines with each other. COMMAND is a program that answers JSON lines
    (vectors/pipe.md), and is held to the reference engine. What was swept already is not swept again.

    Exit status: 0 all agree; 1 something differs, in what was swept before too, or nothing could be judged; 2 wrong
    usage; 3 the program could not be started.

    \b
    Examples:
      goldwire pipeline sweep zenoh/batch --lake lake --frames 1000000
      goldwire pipeline sweep zenoh/network-message --lake lake -- ./my-codec
    """
    _check(layout, command, names, frames, chunks)
    with options.requiring_arrow():
        from reports.jobs import sweep as sweeping
        from vectors.checks.sweep import CHUNK
    # Whole chunks, rounded up: a chunk is the smallest thing that is swept once and never again.
    asked = chunks or (0, -(-(frames or FRAMES) // CHUNK))
    try:
        plan = _plan(layout, command, names, seed=seed, share=share, most=most, deadline=deadline)
        lake = options.open_lake(folder, create=True)
        master = options.chosen(master, 0, sweeping.frames_to_sweep(lake, plan, asked))
        # Behind the start of the program and before that of Spark: what a sweep of this size takes.
        begun = time.monotonic()
        with progress_bar("sweep") as on_progress, options.spark(master, memory) as spark:
            swept = sweeping.sweep(lake, plan, asked, spark, on_progress)
    except ProgramNotStarted as error:
        click.echo(f"Error: {error}", err=True)
        return NOT_STARTED
    if as_json:
        options.print_json(swept)
    else:
        _show(plan, asked, swept, time.monotonic() - begun)
    damaged = options.print_damage(lake)
    return int(damaged or not swept.agrees)


@click.command()
@click.argument("layout", shell_complete=completion.layouts)
@options.lake
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of the generated candidates.")
@click.option(
    "--candidates", "count", metavar="N", type=click.IntRange(min=1), default=FRAMES, show_default=True,
    help="To generate.",
)  # fmt: skip
@click.option(
    "--from", "sources", type=click.Choice(["generated", "frames"]), multiple=True, default=["generated"],
    show_default=True, help="Where candidates come from: a seed, the frames of the lake; repeatable.",
)  # fmt: skip
@click.option("--most", metavar="N", type=click.IntRange(min=1), help="Vectors to choose.")
@click.option(
    "--out", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write them as a file of vectors."
)
@options.master(options.BY_SIZE)
@options.as_json
def select(
    layout: str,
    folder: Path,
    seed: int,
    count: int,
    sources: tuple[str, ...],
    most: int | None,
    out: Path | None,
    master: str,
    memory: int | None,
    as_json: bool,
) -> int:
    """Choose golden vectors of LAYOUT that reach the most branches with the fewest (the table vectors).

    The lake is made if need be. What was chosen is held against the golden vectors that ship; goldwire vectors verify
    checks what --out writes.

    Exit status: 0 done; 1 there was no candidate, the engines do not agree on one, or a file could not be read (of
    vectors that were chosen before: then --out is not written); 2 wrong usage.

    \b
    Examples:
      goldwire pipeline select zenoh/batch --lake lake --candidates 1000000 --out selected.json
    """
    # Loaded when it is run, as every start of goldwire imports this module.
    from vectors.golden import build as golden

    if layout not in golden.buildable():
        raise WrongUsage(f"no layout with notes is called {layout!r}: known are {', '.join(golden.buildable())}")
    with options.requiring_arrow():
        from reports.jobs import select as selecting
    lake = options.open_lake(folder, create="generated" in sources)
    source = selecting.CandidateSource(
        layout=layout, seed=seed, generated=count if "generated" in sources else 0, frames="frames" in sources
    )
    master = options.chosen(master, *selecting.size_to_look_at(lake, source, most))
    with progress_bar("select") as on_progress, options.spark(master, memory) as spark:
        try:
            selected = selecting.select(lake, source, most, spark, on_progress)
        except golden.NotConfirmed as error:
            raise click.ClickException(str(error)) from None
    damaged = options.print_damage(lake)
    if selected is None:
        click.echo(f"Error: there are no frames of {layout} in {folder}: goldwire pipeline ingest", err=True)
        return 1
    # Part of what was chosen before is lost: a file of the rest would look complete.
    if damaged and selected.candidates is None:
        where = f"{out} is not written; " if out is not None else ""
        again = f"remove batches/{selected.batch}.json from the lake to choose anew"
        click.echo(f"Error: what was chosen before is damaged: {where}{again}", err=True)
        return 1
    if out is not None:
        # Only now, and whole or not at all: what is there may be yesterday's vectors.
        golden.write(out, selecting.text(selected, layout).encode())
    if as_json:
        options.print_json(selected)
    else:
        _show_selected(layout, selected, out)
    for each in selected.doubtful:
        click.echo(f"Error: left out: {each}", err=True)
    return int(damaged or bool(selected.doubtful))


def _show_selected(layout: str, selected: "Selected", out: Path | None) -> None:
    seen = "chosen before" if selected.candidates is None else f"from {selected.candidates} candidates"
    groups = ", ".join(f"{len(entries)} {name.rpartition('-')[2]}" for name, entries in selected.groups.items())
    where = f"; {out}" if out is not None else ""
    reached = f"{selected.reached} of {selected.branches} branches"
    click.echo(f"{layout}: {selected.vectors} vectors ({groups}) {seen} reach {reached} ({selected.batch}{where})")
    if selected.shipped:
        click.echo(
            f"the {selected.shipped} that ship reach {selected.shipped_reached}: "
            f"{len(selected.only_shipped)} only they, {len(selected.only_here)} only these"
        )
    for name in selected.unreached[:SHOWN]:
        click.echo(f"  not reached: {name}")
    if len(selected.unreached) > SHOWN:
        click.echo(f"  and {len(selected.unreached) - SHOWN} more; --json has all")


def _check(
    layout: str, command: tuple[str, ...], names: tuple[str, ...], frames: int | None, chunks: "Span | None"
) -> None:
    if layout not in grammars():
        raise WrongUsage(f"unknown layout {layout!r}: known are {', '.join(grammars())}")
    if command and names:
        raise WrongUsage("--engine means nothing with a COMMAND behind --")
    if frames is not None and chunks is not None:
        raise WrongUsage("--frames or --chunks, not both")


def _plan(layout: str, command: tuple[str, ...], names: tuple[str, ...], **how: Any) -> "SweepPlan":
    """Say what is compared; ProgramNotStarted when a program does not run, or does not speak the layout."""
    from reports.jobs.sweep_plan import SweepPlan

    if command:
        # Started once before Spark is: a program that does not run is wrong usage, and not a hundred lost tasks.
        from reports.jobs.sweep_programs import described

        program = described(SweepPlan(layout=layout, engines=("reference", "program"), command=command, **how))
        name = " ".join(part for part in (program.name, program.version) if part)
        return SweepPlan(layout=layout, engines=("reference", name), command=command, **how)
    try:
        for name in names:
            engine(name).codec(layout)
    except MissingEngine as error:
        raise WrongUsage(str(error)) from None
    # Always with the reference, which the others are held to, and in one order, as the order is part of the batch's
    # name.
    there = [each for each in NAMES if each == "reference" or each in names] if names else list(_present(layout))
    if len(there) < 2:
        raise WrongUsage(f"there is no engine for {layout} but {there[0]}: nothing to compare it with")
    return SweepPlan(layout=layout, engines=tuple(there), **how)


def _present(layout: str) -> list[str]:
    return [each.name for each in present(layout)]


def _show(plan: "SweepPlan", asked: "Span", swept: "SweepResult", seconds: float) -> None:
    """Print a page for every finding, and one line that says what was compared."""
    # Also those that were found by an earlier sweep of the range: they are still there until the code changes.
    for number, finding in enumerate(swept.findings, 1):
        click.echo(f"{number}. {finding['page']}\n")
    verdict = "PASS" if swept.agrees else "FAIL"
    count = len(swept.findings)
    differ = "no difference" if swept.judged else "nothing was checked"
    if swept.differs:
        differ = f"{count} difference{'s'[: count != 1]}, seen {swept.differing} times"
    counts = [f"{swept.accepted} accepted", f"{swept.spoiled} spoiled values" if not plan.command else ""]
    counts += [f"{swept.skipped} skipped"] if swept.skipped else []
    new = f"{swept.new} of them new" if swept.new else "all swept before, nothing was run now"
    counted = f"{swept.frames} random frames ({', '.join(each for each in counts if each)}; {new})"
    chunks = f"chunks {asked[0]}:{asked[1]}"
    if swept.chunks != (asked,):
        spans = ", ".join(f"{first}:{end}" for first, end in swept.chunks)
        chunks += f" (counted are whole batches, of the chunks {spans})"
    ending = f"seed {plan.seed}, {chunks}, {seconds:.1f} s"
    click.echo(f"{verdict} {plan.layout}: {', '.join(plan.engines)}: {differ} in {counted}; {ending}")
