"""The commands ``goldwire vectors …``: make the golden vectors, check them, hand them on."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from vectors.binary.coverage import BranchCoverage
from vectors.golden import build as golden
from vectors.golden.exporting import FORMS, MissingArrow, export
from vectors.golden.loader import UnknownVectors, frames, layouts
from vectors.kinds import cover
from vectors.notes import BadNotes
from wire import completion
from wire.errors import WireError

FAILED = 1
MOST = 50
"""Problems of one file that are written; more of them say nothing new."""


@click.group()
def vectors() -> None:
    """Golden vectors: frames of every layout, and what a decoder makes of them.

    \b
    Examples:
      goldwire vectors verify
    """


@vectors.command()
@click.argument("names", metavar="[LAYOUT]...", nargs=-1, shell_complete=completion.layouts)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write instead of the package.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; tell which files are stale.")
@click.option("--coverage", "with_coverage", is_flag=True, help="Tell which branches of the layouts are not reached.")
@click.pass_context
def build(
    context: click.Context, names: tuple[str, ...], out: Path | None, only_check: bool, with_coverage: bool
) -> None:
    """Make the vectors of LAYOUT (all, if none is given) from its tree, its notes, and those written by hand.

    Every frame is read by every engine that runs here, and they have to agree. The same sources give the same bytes
    on any machine. Files are replaced when all of them are made.

    Exit status: 0 as it should be; 1 engines disagree, a source is wrong, with --check: a file is stale, with
    --coverage: a branch is not reached; 2 wrong usage.

    \b
    Examples:
      goldwire vectors build --check
      goldwire vectors build zenoh/batch --out folder
    """
    wanted = chosen(names, golden.buildable())
    folder = out or shipped()
    made = []
    with progress("building", wanted) as tick:
        for name in wanted:
            try:
                made.append(golden.build(name))
            except (WireError, BadNotes) as error:
                raise click.ClickException(str(error)) from error
            tick()
    failed = False
    for each in made:
        path = folder / f"{each.layout}.json"
        content = each.text.encode()
        same = path.is_file() and path.read_bytes() == content
        state = "up to date" if same else "stale" if only_check else "written"
        failed |= only_check and not same
        if not same and not only_check:
            golden.write(path, content)
        counts = f"{each.vectors} vectors, {each.curated} of them by hand"
        click.echo(f"{state}: {each.layout} ({counts}, {len(content):,} bytes)")
    if with_coverage:
        failed |= not print_coverage([each.coverage for each in made])
    if failed and only_check:
        click.echo("Error: run: goldwire vectors build", err=True)
    context.exit(FAILED if failed else 0)


@vectors.command()
@click.argument("sources", metavar="[FILE]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--stale", is_flag=True, help="Also tell whether the shipped files are what build makes.")
@click.pass_context
def verify(context: click.Context, sources: tuple[Path, ...], stale: bool) -> None:
    """Check files of vectors (the shipped ones, if none is given).

    Their shape (also by the JSON Schema, where jsonschema is installed), ids, order, flags and their words; and of
    each frame the result, reason, value and canonical form, by every engine that runs here.

    Exit status: 0 all is right; 1 something is wrong, or nothing was checked; 2 wrong usage.

    \b
    Examples:
      goldwire vectors verify
      goldwire vectors verify selected.json
    """
    paths = list(sources) or [shipped() / f"{name}.json" for name in layouts()]
    failed = not paths
    with progress("checking", paths) as tick:
        for path in paths:
            try:
                problems = golden.verify(path.read_bytes(), str(path))
            except (WireError, BadNotes) as error:
                raise click.ClickException(str(error)) from error
            tick()
            for problem in problems[:MOST]:
                click.echo(str(problem))
            if len(problems) > MOST:
                click.echo(f"{path}: … and {len(problems) - MOST} problems more")
            click.echo(f"{path}: {len(problems)} problems" if problems else f"{path}: right")
            failed |= bool(problems)
    if stale:
        failed |= not fresh()
    context.exit(FAILED if failed else 0)


def fresh() -> bool:
    """Tell whether the shipped files are what build makes, and write which are not."""
    right = True
    for name in golden.buildable():
        path = shipped() / f"{name}.json"
        if not path.is_file() or path.read_bytes() != golden.build(name).text.encode():
            click.echo(f"{path}: stale; run: goldwire vectors build {name}")
            right = False
    return right


@vectors.command()
@click.argument("names", metavar="[LAYOUT]...", nargs=-1, shell_complete=completion.layouts)
@click.pass_context
def coverage(context: click.Context, names: tuple[str, ...]) -> None:
    """Tell how many branches of LAYOUT (of all, if none is given) its vectors reach, and list the others.

    Exit status: 0 all are reached; 1 some are not; 2 wrong usage.

    \b
    Examples:
      goldwire vectors coverage zenoh/batch
    """
    wanted = chosen(names, layouts())
    try:
        found = [cover(name, frames(name).values()) for name in wanted]
    except (WireError, msgspec.ValidationError) as error:
        raise click.ClickException(str(error)) from error
    context.exit(0 if print_coverage(found) and found else FAILED)


@vectors.command(name="export")
@click.argument("names", metavar="[LAYOUT]...", nargs=-1, shell_complete=completion.layouts)
@click.option("--format", "form", type=click.Choice(sorted(FORMS)), required=True, help="What to write.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Where; here by default.")
def export_command(names: tuple[str, ...], form: str, out: Path) -> None:
    """Write the vectors of LAYOUT (all, if none is given) in another format: PROTOCOL/NAME.parquet, or a file of
    requests for a program behind the pipe, PROTOCOL/NAME.requests.jsonl.

    Exit status: 0 written; 1 pyarrow is missing; 2 wrong usage.

    \b
    Examples:
      goldwire vectors export zenoh/batch --format pipe --out folder
    """
    wanted = chosen(names, layouts())
    try:
        for path in export(wanted, form, out):
            click.echo(str(path))
    except MissingArrow as error:
        raise click.ClickException(str(error)) from error


def chosen(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the layouts that are meant; a usage error for one that is not known."""
    for name in names:
        if name not in known:
            raise click.UsageError(
                str(UnknownVectors(f"there are no vectors for {name!r}, only for {', '.join(known)}"))
            )
    return list(dict.fromkeys(names)) or list(known)


def shipped() -> Path:
    """Return the folder of the package's vectors."""
    return Path(str(files("vectors").joinpath("schema.json"))).parent


def print_coverage(found: Iterable[BranchCoverage]) -> bool:
    """Write the coverage of layouts; return whether it is complete."""
    complete = True
    for each in found:
        share = 100 * each.reached / each.total
        click.echo(f"{each.layout}: {each.reached} of {each.total} branches ({int(share * 10) / 10:g} %)")
        for branch in each.unreached:
            click.echo(f"  not reached: {branch}")
            complete = False
    return complete


class Ticking:
    """A progress bar on a terminal: call it for each thing that is done."""

    def __init__(self, title: str, total: int) -> None:
        columns: tuple[Any, ...] = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(title, total=total)

    def __enter__(self) -> "Ticking":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def __call__(self) -> None:
        self.bar.advance(self.task)


def progress(title: str, things: Sequence[object]) -> AbstractContextManager[Any]:
    """Show how far something is, on a terminal only."""
    if Console(stderr=True).is_terminal:
        return Ticking(title, len(things))
    return nullcontext(lambda: None)
