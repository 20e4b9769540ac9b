"""``goldwire pipeline master`` and ``worker``: a cluster of Spark, with nothing but what PyPI brings."""

from pathlib import Path

import click

from reports.commands import options

_page = click.option(
    "--page", metavar="PORT", type=click.IntRange(0, 65535), default=0,
    help="Loopback port of the web page. Default: any that is free.",
)  # fmt: skip


@click.command()
@click.option("--listen", metavar="HOST[:PORT]", default="127.0.0.1:7077", show_default=True)
@_page
@options.settings
def master(listen: str, page: int) -> None:
    """Run the master of a cluster until it is interrupted. Who reaches it can run programs on its workers.

    \b
    Examples:
      goldwire pipeline master --listen 127.0.0.1:7077
    """
    with options.requiring_arrow():
        from reports.jobs.cluster import run_master

    run_master(listen, page=page, settings=options.spark_settings())


@click.command()
@click.argument("master", metavar="spark://HOST:PORT")
@click.option("--listen", metavar="HOST[:PORT]", default="", help="Default: loopback, for a master on loopback.")
@click.option("--cores", metavar="N", type=click.IntRange(min=1), help="Cores that jobs may take. Default: all.")
@click.option("--memory", metavar="MB", type=click.IntRange(min=512), help="What jobs may take. Default: all but 1024.")
@click.option(
    "--folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="For what jobs leave there: logs. Default: in the user's cache.",
)  # fmt: skip
@_page
@options.settings
def worker(master: str, listen: str, cores: int | None, memory: int | None, folder: Path | None, page: int) -> None:
    """Run a worker of a cluster until it is interrupted; what it runs for jobs ends with it.

    \b
    Examples:
      goldwire pipeline worker spark://127.0.0.1:7077 --cores 2
    """
    with options.requiring_arrow():
        from reports.jobs.cluster import run_worker

    given = options.spark_settings()
    run_worker(master, listen, cores=cores, memory=memory, folder=folder, page=page, settings=given)
