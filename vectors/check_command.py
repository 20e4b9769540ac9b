"""The commands that check and measure goldwire's own engines: parts of ``goldwire codec``."""

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from vectors.bench import throughput as benchmark
from vectors.bench.plot import NotDrawn, draw
from vectors.checks.check import FRAMES, MOST, CheckProgress, check, check_only, parsed, render
from wire import completion
from wire.catalogue import grammar, grammars
from wire.catalogue import layout as find
from wire.engines import Engine, MissingEngine, engine, present
from wire.errors import UnknownLayout

PASSED, FAILED, INTERRUPTED = 0, 1, 130


def compared(layout: str, name: str | None) -> list[Engine]:
    """Return the engines to compare, the reference first: all that run here, or it and the named one.

    Raises ``click.UsageError`` for an unknown layout, an engine that does not run here, or if there is only one.
    """
    try:
        grammar(layout)
        there = list(present(layout))
        if name is not None and name != "reference":
            engine(name).codec(layout)
            there = [engine("reference"), engine(name)]
    except (UnknownLayout, MissingEngine) as error:
        raise click.UsageError(str(error)) from None
    if len(there) < 2:
        raise click.UsageError(f"there is no engine for {layout} but {there[0].name}: nothing to compare it with")
    return there


def check_engines(
    layout: str,
    name: str | None = None,
    *,
    frames: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    jobs: int | None = None,
    most: int = MOST,
    share: float = 1.0,
    only_frames: Sequence[bytes] = (),
    only_values: Sequence[Any] = (),
    only_numbers: Sequence[int] = (),
) -> int:
    """Compare the engines of a layout, write what came of it, and return the exit status.

    Without ``frames`` and ``seconds`` there are ``vectors.checks.check.FRAMES`` frames; with ``seconds`` alone, as many
    as fit. The exit status is 0 for no difference, 1 for a difference or if nothing was compared, 130 when interrupted.
    """
    engines = compared(layout, name)
    if only_frames or only_values or only_numbers:
        report = check_only(
            layout, engines, frames=only_frames, values=only_values, numbers=only_numbers, seed=seed, most=most
        )
    else:
        if frames is None and seconds is None:
            frames = FRAMES
        with interrupted_by_signal(), shown(f"checking {layout}", seconds) as progress:
            report = check(
                layout,
                engines,
                frames=frames,
                seed=seed,
                seconds=seconds,
                jobs=jobs or os.cpu_count() or 1,
                most=most,
                share=share,
                progress=progress,
            )
    for line in render(report):
        click.echo(line)
    if report.interrupted and not report.findings:
        return INTERRUPTED
    return PASSED if report.agrees else FAILED


@contextmanager
def interrupted_by_signal() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, so that no process stays behind."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def shown(title: str, seconds: float | None) -> Iterator[CheckProgress | None]:
    """Show how far a check is, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[done]:,} frames, {task.fields[findings]} differences"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None, done=0, findings=0)

        def on_progress(done: int, total: int | None, findings: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            if total is None and seconds is not None:
                bar.update(task, completed=elapsed, total=seconds, done=done, findings=findings)
            else:
                bar.update(task, completed=done, total=total, done=done, findings=findings)

        yield on_progress


def read_frame(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> list[bytes]:
    """Read frames in hex."""
    try:
        return [bytes.fromhex(text) for text in texts]
    except ValueError:
        raise click.BadParameter(f"{' '.join(texts)!r} is not bytes in hex") from None


def read_value(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> list[Any]:
    """Read values in JSON, bytes as ``{"hex": …}``."""
    try:
        return [parsed(text) for text in texts]
    except ValueError as error:
        raise click.BadParameter(f"not JSON, with bytes as {{'hex': …}}: {error}") from None


def first_binary() -> str:
    """Return the layout that is measured when none is named: the first that every engine reads, as no C reads texts."""
    return next(name for name in grammars() if not (tree := find(name)).is_json and not tree.is_text)


@click.command("bench")
@click.argument("layout", default=first_binary, shell_complete=completion.layouts)
@click.option("--json", "form", flag_value="json", help="Write the figures as JSON.")
@click.option("--markdown", "form", flag_value="markdown", help="Write the figures as a table in Markdown.")
@click.option(
    "--plot", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Draw the figures: .svg or .png."
)
@click.option(
    "--rounds", metavar="N", type=click.IntRange(min=1), default=benchmark.ROUNDS, show_default=True, help="Of each."
)
@click.option(
    "--only", metavar="E", multiple=True, help="Only this engine, beside the baseline; more than once for more."
)
@click.option(
    "--corpus",
    metavar="NAME",
    help="The frames: layout has every kind. Default: what the field sends, where goldwire runs from its source.",
)
@click.pass_context
def bench(
    context: click.Context,
    layout: str,
    form: str | None,
    plot: Path | None,
    rounds: int,
    only: tuple[str, ...],
    corpus: str | None,
) -> None:
    """Measure the engines of LAYOUT, and others, against Construct interpreted, in one run.

    Exit status: 0 measured; 1 nothing was measured; 2 wrong usage.

    \b
    Examples:
      goldwire codec bench zenoh/network-message
      goldwire codec bench pathfinder/message --rounds 5 --markdown
    """
    try:
        results = benchmark.measure(layout, rounds=rounds, only=only, corpus=corpus, on_note=_note)
    except (UnknownLayout, benchmark.WrongChoice) as error:
        raise click.UsageError(str(error)) from None
    if form == "json":
        click.echo(json.dumps(results.as_json(), indent=2))
    elif form == "markdown":
        click.echo(benchmark.markdown(results))
    else:
        Console().print(benchmark.table(results))
    if plot is not None:
        try:
            draw(results, plot)
        except NotDrawn as error:
            raise click.UsageError(str(error)) from None
        _note(f"drawn: {plot}")
    context.exit(PASSED if results.results else FAILED)


def _note(line: str) -> None:
    click.echo(line, file=sys.stderr)
