"""The command ``goldwire decode``: frames in hex to annotated dumps, or to JSON for other programs."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import IO, Any

import click

from wire import completion
from wire.catalogue import grammar as find_layout
from wire.catalogue import layout as find_tree
from wire.dump import NoKeys, TooManyFields, dump, keys_of, lines
from wire.engines import NAMES, MissingEngine
from wire.engines import engine as find_engine
from wire.errors import DecodeError, UnknownLayout
from wire.reference import plain

LONGEST_INPUT = 1 << 29
"""Characters of one frame in hex; a stream that never ends must not fill the memory."""

SEPARATORS = b" \t\r\n\f\v:"
PREFIX = re.compile(rb"(?<![^\s:])0[xX]")
STRAY = re.compile(rb"[^0-9a-fA-F\s:]")


class BadHex(click.UsageError):
    """Text that is not bytes in hex; the message gives the position."""


@click.command()
@click.argument("layout", shell_complete=completion.layouts)
@click.argument("frame", metavar="[HEX]", nargs=-1)
@click.option("--lines", "source", type=click.File("rb"), metavar="FILE|-", help="One frame in hex per line.")
@click.option("--text", "as_text", is_flag=True, help="Frames of JSON are given as they are, not in hex.")
@click.option(
    "--engine", type=click.Choice(NAMES), default="reference", show_default=True, help="Which codec, for --json."
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per frame instead of a dump.")
@click.option(
    "--overlong",
    type=click.Choice(["accept", "refuse"]),
    default="accept",
    show_default=True,
    help="Integers that are spelled longer than necessary.",
)
@click.option("--key", "keys", multiple=True, metavar="KEY", help="A key to check signatures with; more than once.")
@click.pass_context
def decode(
    context: click.Context,
    layout: str,
    frame: tuple[str, ...],
    source: IO[bytes] | None,
    as_text: bool,
    engine: str,
    as_json: bool,
    overlong: str,
    keys: tuple[str, ...],
) -> None:
    """Decode frames of LAYOUT (zenoh/network-message, zenoh/batch …) and say what each byte is.

    HEX is one frame; blanks, colons and 0x are passed over. Without HEX, or with -, it is read from standard
    input. With --lines, each line is a frame and an empty line is the empty frame. With --text, what is given is
    the frame itself (only for layouts of texts, such as pathfinder/message). With --key, which is given as the
    protocol has it (NAME=HEX, or NAME for the key of tests), a dump says whether signatures are valid.

    With --json: {"value": …, "bytes": "re-encoded from the value"} for an accepted frame, and
    {"error": {"reason", "offset", "path"}} for a refused one; bytes are written in hex.

    Exit status: 0 the frame is accepted, 1 it is refused, 2 wrong usage, such as text that is not hex. With
    --lines: 0 when all lines were read as hex and processed, refused frames included.

    \b
    Examples:
      goldwire decode zenoh/network-message 3eac0222020003612f62
      goldwire decode zenoh/network-message --lines frames.txt --json
    """
    try:
        find_layout(layout)
        find_engine(engine).codec(layout)
        known = keys_of(layout, keys)
    except (UnknownLayout, MissingEngine, NoKeys) as error:
        raise click.UsageError(str(error)) from None
    if keys and as_json:
        raise click.UsageError("--key is for dumps, and not for --json")
    if source is not None and frame:
        raise click.UsageError("give either HEX or --lines, not both")
    tree = find_tree(layout)
    text = tree.is_json or tree.is_text
    if as_text and not text:
        raise click.UsageError(f"--text is for layouts of texts; {layout} is binary: give its frames in hex")
    read = read_hex if not as_text else read_text
    try:
        if source is not None:
            for number, line in enumerate(read_lines(source), 1):
                data = read(line, f"line {number}: ")
                if not as_json:
                    write(f"# line {number}, {len(data)} bytes\n")
                show(layout, data, engine, as_json, overlong, known)
            accepted = True
        else:
            accepted = show(layout, read(read_frame(frame), ""), engine, as_json, overlong, known)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BadHex as error:
        hint = "; with --text the frame is given as it is" if text else ""
        raise BadHex(f"{error.message}{hint}") from None
    except TooManyFields as error:
        raise click.UsageError(str(error)) from None
    except MemoryError:
        raise click.UsageError("the frame is too large for this machine's memory") from None
    except OSError as error:
        # What is still buffered goes nowhere, or the interpreter would complain about it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            context.exit(0)
        raise click.UsageError(f"cannot read or write: {error.strerror}") from None
    context.exit(0 if accepted else 1)


def read_frame(frame: tuple[str, ...]) -> bytes:
    """Return the hex text of the one frame: the arguments, or standard input."""
    text = " ".join(frame)
    if frame and text != "-":
        return text.encode("utf-8", "surrogateescape")
    if sys.stdin is None or (not frame and sys.stdin.isatty()):
        raise click.UsageError("give a frame in HEX, - to read it from standard input, or --lines")
    return bounded(sys.stdin.buffer.read(LONGEST_INPUT + 1))


def read_lines(source: IO[bytes]) -> Iterator[bytes]:
    """Give the lines of a file without their ends."""
    while line := bounded(source.readline(LONGEST_INPUT + 1)):
        yield line.removesuffix(b"\n")


def bounded(text: bytes) -> bytes:
    """Return the text if it is not too long for one frame."""
    if len(text) > LONGEST_INPUT:
        raise click.UsageError(f"a frame of more than {LONGEST_INPUT} characters of hex; split it")
    return text


def read_text(text: bytes, where: str) -> bytes:
    """Return the frame that a text is."""
    return text


def read_hex(text: bytes, where: str) -> bytes:
    """Turn hex into bytes; ``BadHex`` names the first character that is none, or the digit that is alone."""
    digits = (PREFIX.sub(b"", text) if b"x" in text or b"X" in text else text).translate(None, SEPARATORS)
    try:
        return bytes.fromhex(digits.decode("ascii"))
    except ValueError:
        # Blanks for prefixes: what stands behind them stays where it is.
        stray = STRAY.search(PREFIX.sub(b"  ", text))
        if stray:
            place = stray.start()
            position = len(text[:place].decode("utf-8", "replace")) + 1
            character = text[place : place + 4].decode("utf-8", "replace")[0]
            raise BadHex(f"{where}{character!r} at position {position} is not a hex digit") from None
        last = max(text.rfind(digits[-1:]), 0) + 1
        raise BadHex(
            f"{where}an odd number of hex digits ({len(digits)}): the one at position {last} is alone"
        ) from None


def show(layout: str, data: bytes, engine: str, as_json: bool, overlong: str, keys: Any) -> bool:
    """Write what a frame is; tell whether it is accepted."""
    if as_json:
        answer = as_record(layout, data, engine, overlong)
        write(json.dumps(answer, default=bytes.hex) + "\n")
        return "error" not in answer
    dumped = dump(layout, data, overlong=overlong, keys=keys)
    for line in lines(dumped):
        write(line + "\n")
    return dumped.error is None


def as_record(layout: str, data: bytes, engine: str, overlong: str) -> dict[str, Any]:
    """Return what ``--json`` prints for a frame."""
    codec = find_engine(engine)
    try:
        value = codec.decode(layout, data, overlong=overlong)
    except DecodeError as error:
        return {"error": {"reason": error.reason.value, "offset": error.offset, "path": error.path}}
    return {"value": plain(value), "bytes": codec.encode(layout, value).hex()}


def write(text: str) -> None:
    """Write text to standard output in UTF-8, whatever the locale says."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
