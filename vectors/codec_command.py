"""The commands ``goldwire codec …``: whether a codec says what the golden vectors and the reference engine say."""

import math
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from vectors.foreign import Progress as Report
from vectors.foreign import check as check_foreign
from vectors.foreign import render
from vectors.loader import UnknownVectors, Vector, load
from vectors.pipe import Limits, NotStarted

FAILED, NOT_STARTED, INTERRUPTED, TERMINATED = 1, 3, 130, 143
COLOURS = {"PASS": "green", "FAIL": "red"}


@click.group()
def codec() -> None:
    """Codecs: check one, ours or yours."""


@codec.command()
@click.argument("layout")
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--vector", "ids", metavar="ID", multiple=True, help="Only this golden vector; more than once for more.")
@click.option(
    "--frame", "frames", metavar="HEX", multiple=True, help="Only this frame, as the reference engine reads it."
)
@click.option("--most", metavar="N", type=click.IntRange(min=1), default=10, show_default=True, help="Pages to show.")
@click.option(
    "--deadline",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True, max=86400),
    default=Limits().deadline,
    show_default=True,
    help="How long an answer may take.",
)
@click.pass_context
def check(
    context: click.Context,
    layout: str,
    command: tuple[str, ...],
    ids: tuple[str, ...],
    frames: tuple[str, ...],
    most: int,
    deadline: float,
) -> None:
    """Check whether a codec of LAYOUT agrees with the golden vectors.

    COMMAND is a program that answers JSON lines (vectors/pipe.md; examples in vectors/adapters). Each vector is
    decoded, and its value is encoded.

    Exit status: 0 all agree; 1 something differs or nothing was checked; 2 wrong usage; 3 the program could not
    be started.
    """
    if math.isnan(deadline):
        raise click.BadParameter("it is not a number of seconds", param_hint="--deadline")
    data = [read_frame(frame) for frame in frames]
    vectors = select(layout, ids, everything=not data)
    if not command:
        raise click.UsageError("give the command of a codec behind --, such as: -- ./my-codec --pipe")
    context.exit(foreign(command, layout, vectors, data, most, deadline))


def foreign(
    command: Sequence[str],
    layout: str,
    vectors: Sequence[Vector],
    frames: Sequence[bytes],
    most: int,
    deadline: float,
) -> int:
    """Check a program behind the pipe and write what came of it; return the exit status."""
    limits = Limits(deadline=deadline, start=max(deadline, Limits().start))
    try:
        with ended_by_signal(), on_terminal(f"checking {command[0]}") as progress:
            report = check_foreign(command, layout, vectors, frames, limits=limits, progress=progress)
    except NotStarted as error:
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


def read_frame(text: str) -> bytes:
    """Read a frame in hex."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not bytes in hex", param_hint="--frame") from None


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
