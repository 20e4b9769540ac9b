"""The root of the command line: ``goldwire``, with the sub-commands that the rooms bring.

A room registers its commands in the entry-point group ``goldwire.commands``; they are loaded when they are called.
"""

import ast
import errno
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from io import BufferedWriter, FileIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import click

from harness.errors import BadDescription, HarnessError, StartFailed
from harness.interrupts import end_on_sigterm
from wire.errors import WireError
from wire.escaping import escaped

# 2 is what click gives for wrong usage, 130 what shells give for a process that SIGINT ended (128 + 2).
WRONG_USAGE, NOT_STARTED, INTERRUPTED = 2, 3, 130
"""Exit statuses beyond 0 (as expected) and 1 (a failure)."""


STANDARD_OUTPUT = "standard output"
STANDARD_OUTPUT_NUMBER, STANDARD_ERROR = 1, 2
LOST = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EBADF, errno.EFBIG)
"""How writing fails where nobody else is to blame: a disk that is full, a terminal that has gone."""
TEMPORARY = "a temporary file (TMPDIR names another folder for these)"


class WrongUsage(click.ClickException):
    """Wrong usage, said in one line: click's own UsageError prints the usage of the command before it."""

    exit_code = WRONG_USAGE


class Commands(click.Group):
    """The sub-commands of all rooms, by entry point."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all sub-commands."""
        return sorted(self._found())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load one sub-command."""
        found = self._found().get(name)
        # Loaded only now: it imports all of its room, and whoever decodes a frame need not wait for the pipeline.
        return None if found is None else found.load()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each sub-command does, in a line, and load none: all of them take a second."""
        found = self._found()
        width = formatter.width - 6 - max(map(len, found), default=0)
        told = {name: click.Command(name, help=_docstring(point)) for name, point in found.items()}
        rows = [(name, told[name].get_short_help_str(width)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a sub-command, or say which there are."""
        # What begins with a dash is an option of the root, which click itself answers.
        if args and args[0] not in self._found() and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]!r}; there are {', '.join(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    @staticmethod
    @cache  # for each look the entry points of all that is installed are read
    def _found() -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group="goldwire.commands")}


def _docstring(point: EntryPoint) -> str:
    """Return what the function of an entry point says of itself, from its source."""
    spec = find_spec(point.module)
    source = Path(spec.origin).read_text(encoding="utf-8") if spec is not None and spec.origin else ""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == point.attr:
            return ast.get_docstring(node) or ""
    return ""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="goldwire", prog_name="goldwire")
@click.pass_context
def goldwire(context: click.Context) -> None:
    """Prove that an implementation speaks a wire protocol as its document says, and try to break it.

    Exit status: 0 as expected; 1 a failure, an unexpected pass, an error or nothing tested; 2 wrong usage;
    3 the implementation could not be started; 130 interrupted.

    \b
    Examples:
      goldwire test zenoh --iut ./mine.toml
      goldwire explain ZI-015
    """
    # As https://no-color.org asks for; and a dumb terminal would show the escapes themselves. Sub-commands inherit it.
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        context.color = False
    if "GOLDWIRE_ENGINE" in os.environ:  # one that is not there is told before anything begins
        # Only here, as grammars take a while to import, and a list of commands needs none.
        from wire.catalogue import grammars
        from wire.engines import live

        for layout in grammars():
            live(layout)


def main() -> None:
    """Run the command line; every error that a user can cause is one clear message and the right status."""
    is_closed = _prepare_output()
    status: object = 0
    try:
        _run()
    except SystemExit as end:
        status = end.code
    except OSError as error:
        if (lost := _what_is_lost(error)) is None:
            raise
        status = _lost(*lost)
    try:
        sys.stdout.flush()
    except OSError as error:
        status = status or _lost(STANDARD_OUTPUT, error.strerror or str(error))
    if is_closed and not status:
        click.echo(f"Error: {STANDARD_OUTPUT} is closed: what was to be said is lost", err=True)
        status = 1
    sys.exit(status)  # type: ignore[arg-type]


def _prepare_output() -> bool:
    """Make sure that there is something to print to, which takes every character; tell whether there was nothing."""
    # Python has none where the number was closed. What is opened later must not get it: what is printed would go there.
    is_closed = sys.stdout is None
    while (number := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (it stays until the end)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if type(sys.stdout) is TextIOWrapper and sys.stdout.fileno() == STANDARD_OUTPUT_NUMBER:
        its, raw = sys.stdout, _StandardOutput(STANDARD_OUTPUT_NUMBER, "w", closefd=False)
        # With the characters that a terminal of another encoding lacks spelled: they cost no more than that.
        sys.stdout = TextIOWrapper(
            BufferedWriter(raw), its.encoding, "backslashreplace", None, its.line_buffering, its.write_through
        )
    return is_closed


class _StandardOutput(FileIO):
    """Standard output, which is named by whatever goes wrong with it: who else meets a full disk is told apart."""

    def write(self, data: Any, /) -> Any:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, STANDARD_OUTPUT) from None


def _what_is_lost(error: OSError) -> tuple[str, str] | None:
    """Return what could not be read or written, and why; None for an error that is no file's."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return TEMPORARY if isinstance(error.filename, int) else os.fsdecode(error.filename), reason
    if error.errno == errno.ENOENT:  # Python's tempfile has tried all that it knows
        return TEMPORARY, "there is no folder that takes one"
    return (TEMPORARY, reason) if error.errno in LOST else None


def _lost(what: str, reason: str) -> int:
    """Say that something could not be written, and return the status."""
    click.echo(f"Error: {what}: {reason}", err=True)
    # The interpreter flushes once more when it ends, and would print an error of its own.
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _run() -> None:
    try:
        end_on_sigterm()
        # Not standalone: click would then end the process with statuses of its own, and ours are part of the interface.
        status = goldwire.main(standalone_mode=False)
    except click.ClickException as error:
        with StringIO() as shown:
            error.show(file=shown)
            # It may pass on what a program said.
            click.echo(escaped(shown.getvalue()), nl=False, err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Who reads our output (`head`) has left. The interpreter flushes once more when it ends, and would print an
        # error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except WireError as error:
        click.echo(f"Error: {escaped(str(error))}", err=True)
        sys.exit(WRONG_USAGE)
    except HarnessError as error:
        click.echo(f"Error: {escaped(str(error))}", err=True)
        match error:
            case BadDescription():
                sys.exit(WRONG_USAGE)
            case StartFailed():
                sys.exit(NOT_STARTED)
            case _:
                sys.exit(1)
    # Commands return their status; `--help` and the group return nothing.
    sys.exit(status if isinstance(status, int) else 0)
