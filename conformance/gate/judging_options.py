"""Options of every command that judges: ``goldwire test``, ``audit`` and ``pipeline judge`` take them alike."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from conformance.verdicts import Strictness
from harness.command import WrongUsage

profile = click.option(
    "--profile",
    type=click.Choice(["document", "deployed"]),
    default="document",
    show_default=True,
    help="The document to the letter, or what the field has settled on.",
)


def strictness(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --strict and --lenient to a command, which gets both as the argument ``strictness``."""

    @wraps(command)
    def judging(*args: Any, strict: str | None, lenient: bool, **options: Any) -> Any:
        if strict is not None and lenient:
            raise WrongUsage("--strict and --lenient contradict each other: leave out one of them")
        mild = Strictness.LENIENT if lenient else Strictness.AS_EXPECTED
        return command(*args, strictness=mild if strict is None else Strictness.STRICT, **options)

    for option in (
        click.option(
            "--lenient",
            is_flag=True,
            help="Warnings, and rules that cannot be judged, fail nothing, also where the expectations lack them.",
        ),
        # With a word behind it or without: what is not kept and only warns is a SHOULD, or as mild as one.
        click.option(
            "--strict",
            type=click.Choice(["should"]),
            is_flag=False,
            flag_value="should",
            metavar="[should]",
            help="Warnings fail: a SHOULD that is not kept, and what we only ask for.",
        ),
    ):
        judging = option(judging)
    return judging


def report(more: str = "") -> Callable[[Any], Any]:
    """Return the option --report; ``more`` names files that only this command writes, each with a comma behind it."""
    return click.option(
        "--report",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help=f"Write run.ndjson, index.html, junit.xml, summary.md, results.sarif, {more}and traces there.",
    )


def expectations(default: str) -> Callable[[Any], Any]:
    """Return the option --expectations; ``default`` says which file is taken without it."""
    return click.option(
        "--expectations",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help=f"What is known to be wrong. {default}",
    )
