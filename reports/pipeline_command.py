"""``goldwire pipeline``: jobs over a lake, in this process or on Spark."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.rules import Profile, protocols
from harness.addresses import SPELLINGS, TRANSPORTS, known_transport
from harness.errors import BadDescription, NotInstalled
from harness.iut import resolve

if TYPE_CHECKING:
    from reports.lake.ingest import Manner
    from reports.lake.jobs import Done, Notice
    from reports.lake.lake import Lake
    from reports.lake.summary import RuleRow

WRONG_USAGE = 2
HERE = "none"
"""The master that is none: the job runs in this process."""

EVERYWHERE = "local[*]"


class Wrong(click.ClickException):
    """Wrong usage, said in one line."""

    exit_code = WRONG_USAGE


def _master(default: str) -> Callable[[Any], Any]:
    master = click.option(
        "--master",
        metavar="M",
        default=default,
        show_default=True,
        help=f"Where Spark runs: local[2], spark://host:7077, …; {HERE}: without Spark, in this process.",
    )
    memory = click.option(
        "--memory", metavar="MB", type=click.IntRange(min=512), help="For Spark. Default: a quarter of what is free."
    )
    return lambda command: master(memory(command))


_lake = click.option(
    "--lake",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the lake.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")


@click.group()
def pipeline() -> None:
    """Turn runs and captures into tables, and tables into answers.

    Exit status: 0 done; 1 something could not be read, or nothing was there to do it with; 2 wrong usage;
    130 interrupted: what was committed before is in the lake.
    """


@pipeline.command()
@click.argument("protocol")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(exists=True, path_type=Path))
@_lake
@click.option("--server", "servers", multiple=True, metavar="[HOST:]PORT", help="Only sessions with it; repeatable.")
@click.option("--link", type=click.Choice([*TRANSPORTS, *SPELLINGS]), help="Default: as the frames show.")
@click.option("--iut", metavar="NAME|FILE", help="Who was recorded, such as eclipse-zenoh==1.10.2:router.")
@_master(HERE)
@_json
def ingest(
    protocol: str,
    paths: tuple[Path, ...],
    folder: Path,
    servers: tuple[str, ...],
    link: str | None,
    iut: str | None,
    master: str,
    memory: int | None,
    as_json: bool,
) -> int:
    """Take runs of PROTOCOL (folders that --report made), captures and traces into a lake, which is made if need be.

    What is in the lake already stays as it is. On Spark every path is a task.
    """
    _known(protocol)
    with _arrow():
        from reports.lake import jobs
    lake = _open(folder, create=True)
    manner = _manner(protocol, servers, link, iut)
    with _progress("ingest") as notice, _spark(master, memory, notice) as spark:
        done = list(jobs.ingest(lake, list(paths), manner, spark, notice))
    if as_json:
        _print_json(done)
    for each in () if as_json else done:
        if each.trouble:
            continue
        counts = f"{each.sessions} sessions, {each.frames} frames, {each.verdicts} verdicts"
        click.echo(f"{each.path}: {counts if each.is_new else 'is in the lake already'} ({each.source})")
        for loss in each.losses:
            click.echo(f"  {loss}")
    for each in done:
        if each.trouble:
            click.echo(f"Error: {each.trouble}", err=True)
    return int(any(each.trouble for each in done))


@pipeline.command()
@click.argument("protocol")
@_lake
@_master(EVERYWHERE)
@_json
def decode(protocol: str, folder: Path, master: str, memory: int | None, as_json: bool) -> int:
    """Decode the frames of PROTOCOL: which messages each holds, or why it is refused (the table decoded)."""
    _known(protocol)
    with _arrow():
        from reports.lake import jobs
    lake = _open(folder)
    with _progress("decode") as notice, _spark(master, memory, notice) as spark:
        done = jobs.decode(lake, protocol, spark, notice)
    return _told(lake, done, "frames", as_json)


@pipeline.command()
@click.argument("protocol")
@_lake
@click.option(
    "--profile", type=click.Choice(["document", "deployed"]), default="document", show_default=True,
    help="The document to the letter, or what the field has settled on.",
)  # fmt: skip
@_master(EVERYWHERE)
@_json
def judge(protocol: str, folder: Path, profile: Profile, master: str, memory: int | None, as_json: bool) -> int:
    """Judge the recorded sessions of PROTOCOL by its monitors (the table verdicts)."""
    _known(protocol)
    with _arrow():
        from reports.lake import jobs
    lake = _open(folder)
    with _progress("judge") as notice, _spark(master, memory, notice) as spark:
        done = jobs.judge(lake, protocol, profile, spark, notice)
    return _told(lake, done, "sessions", as_json)


@pipeline.command()
@_lake
@click.option("--all", "everything", is_flag=True, help="Show rules that are kept as well.")
@_master(HERE)
@_json
def summary(folder: Path, everything: bool, master: str, memory: int | None, as_json: bool) -> int:
    """Sum up the verdicts: rule by implementation, version and profile, with counts, and how flaky they are.

    Exit status 1 when there is no verdict.
    """
    with _arrow():
        from reports.lake import jobs
    lake = _open(folder)
    with _progress("summary") as notice, _spark(master, memory, notice) as spark:
        rows = jobs.summary(lake, spark)
    if as_json:
        _print_json(rows)
    else:
        _print_summary(rows, everything)
    damaged = _damage(lake)
    if not rows:
        click.echo(f"Error: there are no verdicts in {folder}: goldwire pipeline ingest, then judge", err=True)
    return int(damaged or not rows)


def _known(protocol: str) -> None:
    if protocol not in protocols():
        raise Wrong(f"unknown protocol {protocol!r}: known are {', '.join(protocols())}")


@contextmanager
def _arrow() -> Iterator[None]:
    """Say what to install where Arrow is missing."""
    try:
        yield
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "pyarrow":
            raise
        raise NotInstalled("a lake needs the package pyarrow: pip install 'goldwire[arrow]'") from None


def _open(folder: Path, *, create: bool = False) -> "Lake":
    from reports.lake.lake import Lake, NoLake

    try:
        return Lake(folder, create=create)
    except NoLake as error:
        raise Wrong(str(error)) from None


def _manner(protocol: str, servers: tuple[str, ...], link: str | None, iut: str | None) -> "Manner":
    from reports.lake.ingest import Manner
    from reports.servers import parse_server

    try:
        wanted = tuple(parse_server(text) for text in servers)
        description = resolve(iut, protocol) if iut else None
    except BadDescription as error:
        raise Wrong(str(error)) from None
    known = {} if description is None else {
        "iut": iut or "", "name": description.name, "version": description.version, "role": description.role
    }  # fmt: skip
    return Manner(protocol=protocol, servers=wanted, transport=known_transport(link) if link else None, **known)


@contextmanager
def _spark(master: str, memory: int | None, notice: "Notice") -> Iterator[Any]:
    if master == HERE:
        with nullcontext() as nothing:
            yield nothing
        return
    from reports.lake.spark import started

    with started(master, memory=memory, progress=notice) as spark:
        yield spark


@contextmanager
def _progress(job: str) -> Iterator["Notice"]:
    """Show on a terminal how much is done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(job, total=None)

        def notice(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield notice


def _told(lake: "Lake", done: "Done", what: str, as_json: bool) -> int:
    if as_json:
        _print_json(done)
    elif done.rows:
        rows = ", ".join(f"{count} rows of {table}" for table, count in done.rows.items())
        click.echo(f"{rows}, from {done.of} batches ({done.batch})")
    damaged = _damage(lake)
    if not done.batch and not damaged and not as_json:
        click.echo(f"no new {what}")
    return int(damaged)


def _damage(lake: "Lake") -> bool:
    for damage in lake.damage.values():
        click.echo(f"Error: left out: {damage}", err=True)
    return bool(lake.damage)


def _print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + os.linesep)


def _print_summary(rows: "list[RuleRow]", everything: bool) -> None:
    kept = 0
    for row in rows:
        if row.worst.rank <= 1 and not row.flaky and not everything:
            kept += 1
            continue
        who = " ".join(part for part in (row.name, row.version, row.role) if part) or "unnamed"
        counts = ", ".join(f"{count} {outcome}" for outcome, count in row.outcomes.items())
        low, high = row.flaky_between
        flaky = f"; flaky {row.flaky}/{row.judgements} ({low:.1%} to {high:.1%})" if row.flaky else ""
        click.echo(f"{row.rule or '-':8} {who}, {row.profile}: {counts}{flaky}")
    if kept:
        click.echo(f"{kept} more are kept; --all shows them")
