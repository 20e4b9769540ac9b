"""The commands ``goldwire codec …``: whether a codec says what the golden vectors and the reference engine say."""

import math
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NoReturn

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from vectors.check_command import bench, check_engines, read_frame, read_value
from vectors.checks.codec_program import ProgramNotStarted
from vectors.checks.foreign import ForeignProgress as Report
from vectors.checks.foreign import check as check_foreign
from vectors.checks.foreign_report import render
from vectors.checks.pipe import PipeLimits
from vectors.durations import read_time
from vectors.golden.loader import UnknownVectors, Vector, load
from vectors.sampling import stream
from wire import completion
from wire.catalogue import grammars
from wire.catalogue import layout as find_layout
from wire.columnar import is_built
from wire.engines import BUILD, NAMES, MissingEngine, engine, live, present

FAILED, NOT_STARTED, INTERRUPTED, TERMINATED = 1, 3, 130, 143
COLOURS = {"PASS": "green", "FAIL": "red"}


@click.group()
def codec() -> None:
    """Codecs: check ours or yours, measure ours, and see which run here.

    \b
    Examples:
      goldwire codec check zenoh/network-message -- ./my-codec
    """


codec.add_command(bench)


@codec.command()
def engines() -> None:
    """Show which engines run here for every layout, and why others do not; * marks the live one.

    The live engine is the fastest one, or what the environment variable GOLDWIRE_ENGINE names. Below them stands what
    is slower here, if no C was built when goldwire was installed.

    \b
    Examples:
      goldwire codec engines
    """
    for layout in grammars():
        words = []
        for name in NAMES:
            try:
                engine(name).codec(layout)
            except MissingEngine as error:
                words.append(f"{name} ({error})")
            else:
                words.append(f"{name}{'*' if live(layout).name == name else ''}")
        click.echo(f"{layout}: {', '.join(words)}")
    for line in slower():
        click.echo(line)


def slower() -> Iterator[str]:
    """Give what is slower here than it could be, for want of a C compiler; the figures are rough on purpose."""
    trees = [find_layout(name) for name in grammars()]
    binary = [tree.name for tree in trees if not tree.is_json and not tree.is_text]
    if missing := [name for name in binary if all(each.name != "native" for each in present(name))]:
        yield f"slower without C: decoding {', '.join(missing)}, about 10 times; {BUILD}"
    if missing := [tree.name for tree in trees if not tree.is_text and not is_built(tree.name)]:
        yield f"slower without C: columns (goldwire pipeline) of {', '.join(missing)}, about 100 times; {BUILD}"


FOREIGN = ("ids", "deadline")
OWN = ("name", "seconds", "jobs", "share", "values", "numbers")


@codec.command()
@click.argument("layout", shell_complete=completion.layouts)
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--frame", "only", metavar="HEX", multiple=True, callback=read_frame, help="Only this frame; more than once too."
)
@click.option("--frames", metavar="N", type=click.IntRange(min=0), help="Random frames beside the vectors.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of the random frames.")
@click.option("--most", metavar="N", type=click.IntRange(min=1), default=10, show_default=True, help="Pages to show.")
@click.option("--vector", "ids", metavar="ID", multiple=True, help="COMMAND: only this golden vector; also more.")
@click.option(
    "--deadline",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True, max=86400),
    default=PipeLimits().deadline,
    show_default=True,
    help="COMMAND: how long an answer may take.",
)
@click.option("--engine", "name", type=click.Choice(NAMES), help="Only this engine, against the reference.")
@click.option("--for", "seconds", metavar="TIME", callback=read_time, help="Random frames for so long: 60s, 5m, 1h.")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1, max=256), help="Processes; one per core by default.")
@click.option(
    "--reference-share",
    "share",
    metavar="SHARE",
    type=click.FloatRange(min=0, max=1),
    default=1.0,
    show_default=True,
    help="Of the random frames, how many the slow reference engine sees if two others are compared.",
)
@click.option("--value", "values", metavar="JSON", multiple=True, callback=read_value, help="Only encode this value.")
@click.option("--at", "numbers", metavar="N", type=click.IntRange(min=0), multiple=True, help="Only frame N of --seed.")
@click.pass_context
def check(
    context: click.Context,
    layout: str,
    command: tuple[str, ...],
    only: list[bytes],
    frames: int | None,
    seed: int,
    most: int,
    ids: tuple[str, ...],
    deadline: float,
    name: str | None,
    seconds: float | None,
    jobs: int | None,
    share: float,
    values: list[Any],
    numbers: tuple[int, ...],
) -> None:
    """Check that codecs of LAYOUT give the same values, bytes and refusals.

    Without COMMAND: goldwire's own engines against each other, over the golden vectors, what Hypothesis makes of the
    layout, and a million random frames, valid and mutated.

    COMMAND is a program that answers JSON lines (vectors/pipe.md among goldwire's packages): it decodes every golden
    vector and encodes its value; with --frames also random frames, which the reference engine judges.

    Exit status: 0 all agree; 1 something differs or nothing was checked; 2 wrong usage; 3 the program could not
    be started.

    \b
    Examples:
      goldwire codec check zenoh/network-message --frames 10000
      goldwire codec check zenoh/network-message -- ./my-codec
    """
    refuse_others(context, OWN if command else FOREIGN, "a COMMAND behind --" if command else "no COMMAND behind --")
    if not command:
        context.exit(
            check_engines(
                layout,
                name,
                frames=frames,
                seed=seed,
                seconds=seconds,
                jobs=jobs,
                most=most,
                share=share,
                only_frames=only,
                only_values=values,
                only_numbers=numbers,
            )
        )
    if math.isnan(deadline):
        raise click.BadParameter("it is not a number of seconds", param_hint="--deadline")
    vectors = select(layout, ids, everything=not only)
    more = [data for data, _ in islice(stream(find_layout(layout), seed), frames)] if frames else []
    context.exit(foreign(command, layout, vectors, [*only, *more], most, deadline))


def refuse_others(context: click.Context, names: Sequence[str], why: str) -> None:
    """Raise ``click.UsageError`` for options that were given and mean nothing here."""
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
        if parameter.name in names and given:
            raise click.UsageError(f"{parameter.opts[0]} means nothing with {why}")


def foreign(
    command: Sequence[str],
    layout: str,
    vectors: Sequence[Vector],
    frames: Sequence[bytes],
    most: int,
    deadline: float,
) -> int:
    """Check a program behind the pipe and write what came of it; return the exit status."""
    limits = PipeLimits(deadline=deadline, start=max(deadline, PipeLimits().start))
    try:
        with ended_by_signal(), on_terminal(f"checking {command[0]}") as progress:
            report = check_foreign(command, layout, vectors, frames, limits=limits, progress=progress)
    except ProgramNotStarted as error:
        click.echo(f"Error: {error}", err=True)
        return NOT_STARTED
    except KeyboardInterrupt:
        click.echo("Error: interrupted", err=True)
        return INTERRUPTED
    for line in render(report, most):
        click.echo(styled(line))
    return 0 if report.agrees else FAILED


def select(layout: str, ids: Sequence[str], *, everything: bool) -> list[Vector]:
    """Return the vectors of a layout: those with the ids, or without ids every one if that is wanted."""
    try:
        vectors = load(layout)
    except UnknownVectors as error:
        raise click.UsageError(str(error)) from None
    if not ids:
        return vectors if everything else []
    unknown = set(ids) - {vector.id for vector in vectors}
    if unknown:
        raise click.UsageError(f"no vector of {layout} has the id {', '.join(sorted(unknown))}")
    return [vector for vector in vectors if vector.id in ids]


@contextmanager
def on_terminal(title: str) -> Iterator[Report | None]:
    """Show how far a check is, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Let SIGTERM unwind, so that the program does not stay behind; only the main thread hears signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: Any) -> NoReturn:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def styled(line: str) -> str:
    """Colour the verdict; ``click.echo`` drops that in a pipe."""
    word = line[:4]
    return click.style(word, fg=COLOURS[word]) + line[4:] if word in COLOURS else line
