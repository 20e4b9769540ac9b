"""The console examples of our pages: what stands behind `$ `, and the command that it is."""

import re
import shlex
from pathlib import Path

import click

from harness.command import goldwire

ROOT = Path(__file__).resolve().parents[2]
ALL_PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/**/*.md", "vectors/*.md")
    for path in ROOT.glob(pattern)
)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+# .*")


def examples_of(page: str) -> list[str]:
    """Return the command lines of a page's console blocks, without their comments."""
    blocks = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    return [_COMMENT.sub("", line[2:]).rstrip() for line in lines if line.startswith("$ ")]


def complaint_about(line: str) -> str:
    """Return what is wrong with the commands and options of a line that begins with ``goldwire``; empty if nothing is.

    Nothing is played, and no file that it names need be there: whether its words are known is all that is seen.
    """
    words = shlex.split(line)[1:]
    for cut in (">", "|", "&&", ";"):
        words = words[: words.index(cut)] if cut in words else words
    command: click.Command = goldwire
    context = click.Context(command, info_name="goldwire")
    try:
        while isinstance(command, click.Group):
            name, found, words = command.resolve_command(context, words)
            assert found is not None
            command, context = found, click.Context(found, context, name)
        command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        return error.format_message()
    return ""
