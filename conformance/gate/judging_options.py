"""Options of every command that judges: ``goldwire test``, ``audit`` and ``pipeline judge`` take them alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

profile = click.option(
    "--profile",
    type=click.Choice(["document", "deployed"]),
    default="document",
    show_default=True,
    help="The document to the letter, or what the field has settled on.",
)

strict = click.option("--strict", type=click.Choice(["should"]), help="A SHOULD that is not kept fails.")


def report(more: str = "") -> Callable[[Any], Any]:
    """Return the option --report; ``more`` names files that only this command writes, each with a comma behind it."""
    return click.option(
        "--report",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help=f"Write run.ndjson, summary.json, {more}junit.xml, index.html and the traces of non-passes there.",
    )


def expectations(default: str) -> Callable[[Any], Any]:
    """Return the option --expectations; ``default`` says which file is taken without it."""
    return click.option(
        "--expectations",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help=f"What is known to be wrong. {default}",
    )
