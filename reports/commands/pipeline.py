"""``goldwire pipeline``: jobs over a lake, in this process or on Spark."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.catalogue.rules import Profile
from conformance.gate import judging_options
from harness.captures.losses import Missing
from harness.captures.recorded_session import SIDES
from harness.command import WrongUsage
from harness.errors import BadDescription
from harness.iuts.description import resolve
from harness.links.transports import SPELLINGS, TRANSPORTS, known_transport
from harness.protocol import load
from reports.commands import clean as clean_command
from reports.commands import cluster as cluster_command
from reports.commands import generate as generate_command
from reports.commands import options
from reports.commands import sql as sql_command
from reports.commands import sweep as sweep_command
from reports.commands import triage as triage_command
from reports.progress import progress_bar
from wire import completion

if TYPE_CHECKING:
    from reports.jobs.ingest import Ingested, IngestOptions


@click.group()
def pipeline() -> None:
    """Turn runs and captures into tables, and tables into answers.

    Exit status: 0 done; 1 something could not be read, or nothing was there to do it with; 2 wrong usage;
    130 interrupted: what was committed before is in the lake.

    \b
    Examples:
      goldwire pipeline ingest zenoh out captures/*.pcapng --lake lake
      goldwire pipeline judge zenoh --lake lake
      goldwire pipeline summary --lake lake
    """


# Sub-commands stand in files of their own, and take each other's options from ``options``.
pipeline.add_command(clean_command.clean)
pipeline.add_command(cluster_command.master)
pipeline.add_command(cluster_command.worker)
pipeline.add_command(sweep_command.sweep)
pipeline.add_command(sweep_command.select)
pipeline.add_command(triage_command.summary)
pipeline.add_command(triage_command.triage)
pipeline.add_command(generate_command.generate)
pipeline.add_command(sql_command.sql)


@pipeline.command()
@click.argument("protocol", shell_complete=completion.protocols)
@click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=options.RecordingPath(exists=True, path_type=Path)
)
@options.lake
@click.option("--server", "servers", multiple=True, metavar="[HOST:]PORT", help="Only sessions with it; repeatable.")
@click.option("--link", type=click.Choice([*TRANSPORTS, *SPELLINGS]), help="Default: as the frames show.")
@click.option("--iut", metavar="NAME|FILE", help="Who was recorded, such as eclipse-zenoh==1.10.2:router.")
@options.master(options.NO_SPARK)
@options.as_json
def ingest(
    protocol: str,
    paths: tuple[Path, ...],
    folder: Path | str,
    servers: tuple[str, ...],
    link: str | None,
    iut: str | None,
    master: str,
    memory: int | None,
    as_json: bool,
) -> int:
    """Take runs of PROTOCOL (folders that --report made), captures and traces into a lake, which is made if need be.

    Folders of findings (goldwire fuzz) and files of golden vectors as well. What is in the lake already stays as it
    is. On Spark every path is a task, and a large capture is several.

    \b
    Examples:
      goldwire pipeline ingest zenoh out captures/*.pcapng --lake lake
    """
    options.require_protocol(protocol)
    with options.requiring_arrow():
        from reports.jobs import runner as jobs
    lake = options.open_lake(folder, create=True)
    ingest_options = _ingest_options(protocol, servers, link, iut)
    # Without Spark's own progress: it counts tasks, and a task may be a gigabyte or a kilobyte; the job counts
    # megabytes.
    with progress_bar("ingest") as on_progress, options.spark(master, memory) as spark:
        done = list(jobs.ingest(lake, list(paths), ingest_options, spark, on_progress))
    if as_json:
        options.print_json(done)
    for each in () if as_json else done:
        if each.trouble:
            continue
        counts = f"{each.sessions} sessions, {each.frames} frames, {each.verdicts} verdicts"
        if each.findings or each.vectors:
            counts = f"{each.findings} findings" if each.findings else f"{each.vectors} vectors"
        click.echo(f"{each.path}: {counts if each.is_new else 'is in the lake already'} ({each.source})")
        for loss in each.losses:
            click.echo(f"  {loss}")
    wrong = [trouble for trouble in (each.trouble or _unread(each) for each in done) if trouble]
    if not wrong and not any(_has_something(each) for each in done):
        wrong = [f"there is nothing of {protocol} in what was taken in; --server names its server"]
    for complaint in wrong:
        click.echo(f"Error: {complaint}", err=True)
    return int(bool(wrong))


def _has_something(done: "Ingested") -> bool:
    return not done.is_new or bool(done.sessions or done.verdicts or done.findings or done.vectors)


def _unread(done: "Ingested") -> str:
    """Say that nothing of a recording could be read, where that is so."""
    if _has_something(done) or not any(loss.startswith(Missing.UNREADABLE.value) for loss in done.losses):
        return ""
    return f"{done.path}: nothing of it can be read: is it a capture, or a trace of a run?"


@pipeline.command()
@click.argument("protocol", shell_complete=completion.protocols)
@options.lake
@options.master(options.BY_SIZE)
@options.as_json
def decode(protocol: str, folder: Path | str, master: str, memory: int | None, as_json: bool) -> int:
    """Decode the frames of PROTOCOL: which messages each holds, or why it is refused (the table decoded).

    \b
    Examples:
      goldwire pipeline decode zenoh --lake lake
    """
    options.require_protocol(protocol)
    with options.requiring_arrow():
        from reports.jobs import runner as jobs
    lake = options.open_lake(folder)
    master = options.chosen(master, jobs.size_to_decode(lake, protocol))
    with progress_bar("decode") as on_progress, options.spark(master, memory) as spark:
        done = jobs.decode(lake, protocol, spark, on_progress)
    return options.print_result(lake, done, "frames", as_json, protocol=protocol)


@pipeline.command()
@click.argument("protocol", shell_complete=completion.protocols)
@options.lake
@judging_options.profile
@click.option(
    "--judge", "sides", type=click.Choice([*SIDES, "both"]),
    help="Which side of each session. Default: who listens; who dials, where nodes meet at a broker.",
)  # fmt: skip
@options.master(options.BY_SIZE)
@options.as_json
def judge(
    protocol: str,
    folder: Path | str,
    profile: Profile,
    sides: str | None,
    master: str,
    memory: int | None,
    as_json: bool,
) -> int:
    """Judge the recorded sessions of PROTOCOL by its monitors (the table verdicts), each side for itself.

    \b
    Examples:
      goldwire pipeline judge zenoh --lake lake
      goldwire pipeline judge zenoh --lake lake --master 'local[2]'
    """
    options.require_protocol(protocol)
    with options.requiring_arrow():
        from reports.jobs import runner as jobs
    lake = options.open_lake(folder)
    wanted = SIDES if sides == "both" else (sides or load(protocol).usual_side,)
    master = options.chosen(master, max(jobs.size_to_judge(lake, protocol, profile, side) for side in wanted))
    with progress_bar("judge") as on_progress, options.spark(master, memory) as spark:
        done = [jobs.judge(lake, protocol, profile, spark, on_progress, side) for side in wanted]
    if as_json and len(done) > 1:
        options.print_json(done)
        return int(options.print_damage(lake))
    # Both sides are printed, also if the first one has something to complain of.
    return max([options.print_result(lake, each, "sessions", as_json, protocol=protocol) for each in done])


def _ingest_options(protocol: str, servers: tuple[str, ...], link: str | None, iut: str | None) -> "IngestOptions":
    from harness.captures.servers import parse_server
    from reports.jobs.ingest import IngestOptions

    try:
        wanted = tuple(parse_server(text) for text in servers)
        description = resolve(iut, protocol) if iut else None
    except BadDescription as error:
        raise WrongUsage(str(error)) from None
    known = {} if description is None else {
        "iut": iut or "", "name": description.name, "version": description.version, "role": description.role
    }  # fmt: skip
    return IngestOptions(protocol=protocol, servers=wanted, transport=known_transport(link) if link else None, **known)
