"""``goldwire pipeline generate``: captures of as much traffic as one wants, with violations planted in it."""

import os
from pathlib import Path

import click

from harness.command import WrongUsage
from reports.commands import options
from reports.progress import progress_bar
from wire import completion

PARTS = (".pcap", ".part")
"""The endings of captures, and of what an interrupted run leaves."""


@click.command()
@click.argument("protocol", shell_complete=completion.protocols)
@click.option("--frames", type=click.IntRange(min=1), required=True, help="At least so many in all.")
@click.option(
    "--out",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder in which there are no captures.",
)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--files", type=click.IntRange(min=1), help="Default: one for each million frames.")
@click.option(
    "--violations", type=click.FloatRange(0, 1), default=0.02, show_default=True, help="The share of sessions with any."
)
@click.option("-k", "pattern", metavar="PATTERN", default="", help="Only sessions of cases whose name holds this.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes. Default: as many as there are cores.")
@options.as_json
def generate(
    protocol: str,
    frames: int,
    folder: Path,
    seed: int,
    files: int | None,
    violations: float,
    pattern: str,
    workers: int | None,
    as_json: bool,
) -> int:
    """Write captures of PROTOCOL: sessions with sound peers and with lying ones, all told differently.

    planted.ndjson says which rules are broken in which session, traffic.json what was made. The same seed gives the
    same files, and the first files of a larger run are those of a smaller one with as many frames in a file.

    \b
    Examples:
      goldwire pipeline generate zenoh --frames 2000000 --out traffic
    """
    # Loaded when it is run: it brings the whole conformance room with it, which other commands of the group can do
    # without.
    from reports.traffic.generation import FRAMES_OF_A_FILE, PLANTED
    from reports.traffic.generation import generate as make
    from reports.traffic.templates import templates

    options.require_protocol(protocol)
    # A second run would mix two sets of plantings, of which only one has its list.
    if there := sorted(path.name for path in folder.glob("*") if path.name == PLANTED or path.suffix in PARTS):
        raise WrongUsage(f"{folder} has traffic in it ({there[0]}): name another folder with --out, or remove it")
    processes = workers or os.cpu_count() or 1
    # Templates are made anew each time: they depend on the code of peers, faults and monitors, all of which change.
    with progress_bar("templates") as on_progress:
        known = templates(protocol, on_progress, processes, pattern)
    # Faulty sessions alone are no traffic: most of it is to be sound.
    if not any(not template.fault for template in known):
        raise click.ClickException(f"no session of {protocol} can be told from cases like {pattern!r}: try without -k")
    try:
        with progress_bar("generate") as on_progress:
            made = make(
                protocol,
                folder,
                known,
                frames=frames,
                seed=seed,
                files=files or -(-frames // FRAMES_OF_A_FILE),
                violations=violations,
                workers=processes,
                on_progress=on_progress,
                pattern=pattern,
            )
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder}: {error.strerror or error}") from None
    if as_json:
        options.print_json(made)
        return 0
    click.echo(f"{folder}: {made.frames} frames in {made.sessions} sessions, {len(made.files)} files")
    click.echo(
        f"  {made.broken} sessions with {made.planted} violations: {len(made.rules)} rules, {len(made.faults)} faults; "
        f"{len(made.unseen)} more were not seen by any monitor"
    )
    return 0
