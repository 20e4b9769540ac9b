"""What the commands of ``goldwire pipeline`` have in common: options, the lake, Spark, and what they print.

Nothing of Arrow or Spark is loaded before a command runs.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from conformance.catalogue.loading import protocols
from harness.command import WrongUsage
from harness.errors import BadDescription, NotInstalled
from reports.masters import check_master
from reports.progress import OnProgress

if TYPE_CHECKING:
    from reports.jobs.runner import JobResult
    from reports.lake.lake import Lake

NO_SPARK = "none"
"""The master that is none: the job runs in this process."""

ALL_CORES = "local[*]"
BY_SIZE = "auto"
"""The master that is chosen by how much there is to do."""

SPARK_FROM = 32 << 20
"""Bytes of new rows from which on a job is worth the ten seconds and more in which Spark starts: a million frames."""

SPARK_FROM_FRAMES = 100_000
"""Frames from which on Spark generates them, where it is there: one process takes about half a minute for so many."""

SETTINGS = "goldwire.spark"
"""The key under which a command's context has the settings of Spark."""


def master(default: str) -> Callable[[Any], Any]:
    """Return the options --master (by default ``default``) and --memory, as parameters of these names, and --conf."""
    where = click.option(
        "--master",
        metavar="M",
        default=default,
        show_default=True,
        callback=_read_master,
        help=f"Where Spark runs: local[2], spark://host:7077, …; {NO_SPARK}: without Spark, in this process"
        + (f"; {BY_SIZE}: where there is much to do, on all cores." if default == BY_SIZE else "."),
    )
    memory = click.option(
        "--memory", metavar="MB", type=click.IntRange(min=512), help="For Spark. Default: a quarter of what is free."
    )
    # The last decorator stands first in the help, so --master does.
    return lambda command: where(memory(settings(command)))


def _read_master(context: click.Context, option: click.Parameter, master: str) -> str:
    if master in (NO_SPARK, BY_SIZE):
        return master
    try:
        check_master(master)
    except BadDescription as error:
        # Whether or not Spark is needed, or there: a typing error is one on every machine.
        raise WrongUsage(f"--master: {error}") from None
    return master


def chosen(master: str, size: int, frames: int = 0) -> str:
    """Return where a job runs that reads so many bytes of tables, and generates so many frames.

    That is where the user says, else by how much it is.
    """
    if master != BY_SIZE:
        return master
    if size < SPARK_FROM and frames < SPARK_FROM_FRAMES:
        return NO_SPARK
    if any(find_spec(name) is None for name in ("pyspark", "pandas")):
        click.echo("Spark is not installed, so this process does all: pip install 'goldwire[spark]'", err=True)
        return NO_SPARK
    return ALL_CORES


def _read_settings(context: click.Context, option: click.Parameter, pairs: tuple[str, ...]) -> None:
    for pair in pairs:
        name, is_there, value = pair.partition("=")
        # Anything else is silently ignored by Spark.
        if not is_there or not name.startswith("spark."):
            raise click.BadParameter(f"{pair!r} is no setting of Spark: expected spark.NAME=VALUE")
        # In the context, as every command of the group takes --conf, and few of their functions care.
        context.meta.setdefault(SETTINGS, {})[name] = value


settings = click.option(
    "--conf",
    multiple=True,
    metavar="KEY=VALUE",
    expose_value=False,
    callback=_read_settings,
    help="A setting of Spark, passed as it is; repeatable.",
)


def spark_settings() -> dict[str, str]:
    """Return the settings of Spark that the running command was given (--conf)."""
    return dict(click.get_current_context().meta.get(SETTINGS, {}))


class LakePath(click.Path):
    """A path, or the URI of an object store as a string."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """Read it; a URI is taken as it is."""
        # click would look for a folder of that name, and make an absolute path of it.
        return value if "://" in str(value) else super().convert(value, param, context)


class RecordingPath(click.Path):
    """A path that is there; what an object store has cannot be taken from it."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """Read it."""
        if "://" in str(value):
            self.fail(f"{value}: only a lake can be in an object store; copy this to a folder first", param, context)
        return super().convert(value, param, context)


lake = click.option(
    "--lake",
    "folder",
    required=True,
    metavar="DIR",
    type=LakePath(file_okay=False, path_type=Path),
    help="The folder of the lake, or its URI in an object store.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")


def require_protocol(protocol: str) -> None:
    """Raise WrongUsage for a protocol that is not known."""
    if protocol not in protocols():
        raise WrongUsage(f"unknown protocol {protocol!r}: known are {', '.join(protocols())}")


@contextmanager
def requiring_arrow() -> Iterator[None]:
    """Say what to install where Arrow is missing."""
    try:
        yield
    except ImportError as error:
        # An import that fails for another reason is a defect of ours, and must not be told as advice to install
        # something.
        if error.name is None or error.name.partition(".")[0] != "pyarrow":
            raise
        raise NotInstalled("a lake needs the package pyarrow: pip install 'goldwire[arrow]'") from None


def open_lake(folder: Path | str, *, create: bool = False) -> "Lake":
    """Open a lake, or make it; WrongUsage when there is none."""
    from reports.lake.lake import Lake, NoLake

    try:
        return Lake(folder, create=create)
    except NoLake as error:
        raise WrongUsage(str(error)) from None


@contextmanager
def spark(master: str, memory: int | None, on_progress: OnProgress | None = None) -> Iterator[Any]:
    """Run Spark on a master, with so many megabytes; gives its session, or None where the job runs here.

    ``on_progress`` is told of tasks, unless the job itself tells how far it is.
    """
    if master == NO_SPARK:
        with nullcontext() as nothing:
            yield nothing
        return
    from reports.jobs.spark import started

    with started(master, memory=memory, settings=spark_settings(), progress=on_progress) as session:
        yield session


def print_result(lake: "Lake", done: "JobResult", what: str, as_json: bool, *, protocol: str) -> int:
    """Say what a job has added, or that there was no new ``what``, or none at all (1); return the exit status."""
    if not done.batch and not lake.has(protocol):
        message = f"{lake.name} has no {what} of {protocol}: goldwire pipeline ingest {protocol} takes some in"
        click.echo(f"Error: {message}", err=True)
        if as_json:
            print_json(done)
        print_damage(lake)
        return 1
    if as_json:
        print_json(done)
    elif done.batch:
        rows = ", ".join(f"{count} rows of {table}" for table, count in done.rows.items()) or "no rows"
        click.echo(f"{rows}, from {done.of} batches ({done.batch})")
    damaged = print_damage(lake)
    if not done.batch and not damaged and not as_json:
        click.echo(f"no new {what}")
    return int(damaged)


def print_damage(lake: "Lake") -> bool:
    """Print the files that were left out; return whether there were any."""
    # On standard error, behind the answer: the rows that are whole are answered for, and the exit status says that some
    # were not.
    for each in lake.damage.values():
        click.echo(f"Error: left out: {each}", err=True)
    return bool(lake.damage)


def print_json(value: Any) -> None:
    """Print a value as a line of JSON."""
    sys.stdout.write(msgspec.json.encode(value).decode() + os.linesep)
