"""``goldwire pipeline``: jobs over a lake, in this process or on Spark."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.rules import Profile
from harness.addresses import SPELLINGS, TRANSPORTS, known_transport
from harness.errors import BadDescription
from harness.iut import resolve
from reports import clean_command, cluster_command, sweep_command, triage_command
from reports import pipeline_options as options
from reports.recordings import SIDES
from reports.traffic import generate_command

if TYPE_CHECKING:
    from reports.lake.ingest import Manner


@click.group()
def pipeline() -> None:
    """Turn runs and captures into tables, and tables into answers.

    Exit status: 0 done; 1 something could not be read, or nothing was there to do it with; 2 wrong usage;
    130 interrupted: what was committed before is in the lake.
    """


pipeline.add_command(clean_command.clean)
pipeline.add_command(cluster_command.master)
pipeline.add_command(cluster_command.worker)
pipeline.add_command(sweep_command.sweep)
pipeline.add_command(sweep_command.select)
pipeline.add_command(triage_command.summary)
pipeline.add_command(triage_command.triage)
pipeline.add_command(generate_command.generate)


@pipeline.command()
@click.argument("protocol")
@click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=options.Recording(exists=True, path_type=Path)
)
@options.lake
@click.option("--server", "servers", multiple=True, metavar="[HOST:]PORT", help="Only sessions with it; repeatable.")
@click.option("--link", type=click.Choice([*TRANSPORTS, *SPELLINGS]), help="Default: as the frames show.")
@click.option("--iut", metavar="NAME|FILE", help="Who was recorded, such as eclipse-zenoh==1.10.2:router.")
@options.master(options.HERE)
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
    """
    options.known(protocol)
    with options.arrow():
        from reports.lake import jobs
    lake = options.opened(folder, create=True)
    manner = _manner(protocol, servers, link, iut)
    with options.progress("ingest") as notice, options.spark(master, memory, None) as spark:
        done = list(jobs.ingest(lake, list(paths), manner, spark, notice))
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
    for each in done:
        if each.trouble:
            click.echo(f"Error: {each.trouble}", err=True)
    return int(any(each.trouble for each in done))


@pipeline.command()
@click.argument("protocol")
@options.lake
@options.master(options.EVERYWHERE)
@options.as_json
def decode(protocol: str, folder: Path | str, master: str, memory: int | None, as_json: bool) -> int:
    """Decode the frames of PROTOCOL: which messages each holds, or why it is refused (the table decoded)."""
    options.known(protocol)
    with options.arrow():
        from reports.lake import jobs
    lake = options.opened(folder)
    with options.progress("decode") as notice, options.spark(master, memory, notice) as spark:
        done = jobs.decode(lake, protocol, spark, notice)
    return options.told(lake, done, "frames", as_json)


@pipeline.command()
@click.argument("protocol")
@options.lake
@click.option(
    "--profile", type=click.Choice(["document", "deployed"]), default="document", show_default=True,
    help="The document to the letter, or what the field has settled on.",
)  # fmt: skip
@click.option(
    "--judge", "sides", type=click.Choice([*SIDES, "both"]), default="listening", show_default=True,
    help="Which side of each session.",
)  # fmt: skip
@options.master(options.EVERYWHERE)
@options.as_json
def judge(
    protocol: str, folder: Path | str, profile: Profile, sides: str, master: str, memory: int | None, as_json: bool
) -> int:
    """Judge the recorded sessions of PROTOCOL by its monitors (the table verdicts), each side for itself."""
    options.known(protocol)
    with options.arrow():
        from reports.lake import jobs
    lake = options.opened(folder)
    with options.progress("judge") as notice, options.spark(master, memory, notice) as spark:
        wanted = SIDES if sides == "both" else (sides,)
        done = [jobs.judge(lake, protocol, profile, spark, notice, side) for side in wanted]
    if as_json and len(done) > 1:
        options.print_json(done)
        return int(options.damage(lake))
    return max([options.told(lake, each, "sessions", as_json) for each in done])


def _manner(protocol: str, servers: tuple[str, ...], link: str | None, iut: str | None) -> "Manner":
    from reports.lake.ingest import Manner
    from reports.servers import parse_server

    try:
        wanted = tuple(parse_server(text) for text in servers)
        description = resolve(iut, protocol) if iut else None
    except BadDescription as error:
        raise options.Wrong(str(error)) from None
    known = {} if description is None else {
        "iut": iut or "", "name": description.name, "version": description.version, "role": description.role
    }  # fmt: skip
    return Manner(protocol=protocol, servers=wanted, transport=known_transport(link) if link else None, **known)
