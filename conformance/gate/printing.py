"""Printing on a terminal: lines are wrapped to its width, and styled if it can show that and nobody minds.

What is written into a pipe is never wrapped: it is searched, and copied.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from typing import TextIO

import click

NARROWEST = 60
"""Columns below which nothing is wrapped: the labels take twelve of them."""

LABELLED = re.compile(r"  [a-z][a-z ]{0,9} +")
"""The label at the beginning of a line, as ``conformance.gate.failure_page`` writes it."""

WHOLE = re.compile(r"  (?:repeat|trace|file|messages) +|\s{12,}")
"""What begins a line that is never wrapped: a command or a path is copied, and bytes stand in columns."""


def width_of(file: TextIO) -> int:
    """Return the columns of the terminal that a file is; 0 for anything else."""
    return shutil.get_terminal_size().columns if file.isatty() else 0


def print_lines(lines: Iterable[str], file: TextIO) -> None:
    """Print lines as the file can show them."""
    for line in fitted(lines, width_of(file)):
        click.echo(line, file=file)


def fitted(lines: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines that are no wider than so many columns, as far as they may be wrapped."""
    for line in lines:
        text = click.unstyle(line)
        if width < NARROWEST or len(text) <= width or WHOLE.match(text):
            yield line
            continue
        label = LABELLED.match(text)
        behind = label.end() if label else len(text) - len(text.lstrip()) + 2
        first = text[: label.end()] if label else ""
        # click counts what is seen, and no escape of a style.
        rest = line[len(first) :] if label else line
        yield click.wrap_text(rest, width, initial_indent=first, subsequent_indent=" " * behind)
