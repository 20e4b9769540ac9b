"""``goldwire pipeline clean``: remove what killed jobs have left in a lake."""

from pathlib import Path

import click

from reports.commands import options


@click.command()
@options.lake
@click.option(
    "--older", "hours", metavar="HOURS", type=click.FloatRange(min=0), default=24.0, show_default=True,
    help="Only of jobs that have written nothing for so long; 0 when none is running.",
)  # fmt: skip
@options.as_json
def clean(folder: Path | str, hours: float, as_json: bool) -> int:
    """Remove what killed jobs have left, and no batch names.

    Exit status 1 when a manifest cannot be read: nobody knows which files it names, and nothing is removed.

    \b
    Examples:
      goldwire pipeline clean --lake lake
    """
    with options.requiring_arrow():
        from reports.lake import cleaning
    lake = options.open_lake(folder)
    try:
        with lake.raising_lake_failed("cannot be cleaned"):
            # A running job's files look like a dead one's: only time tells them apart, and a day is longer than any job
            # here runs.
            done = cleaning.clean(lake, hours * 3600)
    except cleaning.UnreadableManifest as error:
        click.echo(f"Error: nothing is removed, as it is not known what is in use: {error}", err=True)
        return 1
    if as_json:
        options.print_json(done)
        return 0
    click.echo(f"{done.files} files of {done.attempts} jobs are removed, {done.bytes / 1e6:.1f} MB")
    if done.left:
        click.echo(f"{done.left} files are younger than {hours:g} hours")
    return 0
