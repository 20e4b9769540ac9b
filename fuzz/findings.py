"""Findings: a folder each, with what a person needs to see it and what a program needs to try it again.

::

    findings/zenoh-batch-value-3f2a…/
      finding.json     what differs, who says what, where it came from   (finding.schema.json)
      input.bin        the input as it was found
      minimised.bin    the smallest one that was found to do the same
      report.txt       the input field by field, and what each engine says
      README.md        what it is, and the command that tries it again

Two findings with the same signature are one. After a change of the types: ``python -m fuzz.findings``.
"""

import hashlib
import json
import platform
import shlex
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from importlib.resources import as_file, files
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from fuzz.limits import InputLimits
from vectors.checks import check
from vectors.checks.check import parsed
from vectors.checks.differential import Difference
from vectors.json_schemas import schema_file
from vectors.minimising import spelled
from wire.dump import TooManyFields, dump, lines
from wire.files import write_file

FINDING, INPUT, MINIMISED, REPORT, README = (
    *("finding.json", "input.bin", "minimised.bin"),
    *("report.txt", "README.md"),
)
SCHEMA = "finding.schema.json"

FATAL = {
    "crash": "an engine ends the process",
    "hang": "an engine does not come to an end",
    "memory": "an engine takes too much memory",
}
"""The kinds of findings that take the process with them."""


class BadFinding(Exception):
    """A folder that holds no finding; the message names it and says what is missing or wrong."""


class FindingOrigin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a finding comes from: the ``engine`` that searched, its ``seed``, and how far it was.

    ``seconds`` since the campaign began, ``number`` of the input where inputs are numbered, ``mutations`` by name,
    ``time`` is ISO 8601 in UTC.
    """

    engine: str
    seed: int
    time: str
    seconds: float = 0.0
    number: int = 0
    source: str = ""
    mutations: tuple[str, ...] = ()


class CodecFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="finding", tag="codec"):
    """An input of a layout on which engines differ, or that ends, hangs or bloats a process.

    ``difference`` has the kind and who says what; ``value`` is JSON of a value that is encoded, where the input is
    one instead of bytes. ``goldwire`` and ``python`` are versions; what takes longer than ``seconds`` is a hang, and
    what needs more than ``megabytes`` breaks.
    """

    signature: str
    layout: str
    engines: tuple[str, ...]
    difference: Difference
    origin: FindingOrigin
    goldwire: str
    python: str
    seconds: float = 5.0
    megabytes: int = 2048
    value: str | None = None


class KeptFinding(msgspec.Struct, frozen=True):
    """A finding with its inputs."""

    finding: CodecFinding
    data: bytes | None
    minimised: bytes | None
    report: str = ""

    @property
    def value(self) -> Any:
        """The value that is encoded; only where there is one."""
        return None if self.finding.value is None else parsed(self.finding.value)

    @property
    def name(self) -> str:
        """The name of the folder."""
        layout = self.finding.layout.replace("/", "-")
        return f"{layout}-{self.finding.difference.kind}-{self.finding.signature}"


def signature(layout: str, difference: Difference) -> str:
    """Return what two findings that are one have in common."""
    said = json.dumps([layout, *msgspec.to_builtins(difference.signature)])
    # 48 bits: even in a million findings two different ones hardly ever share them, and the folder's name stays short.
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def make(
    found: check.EngineFinding, report: check.CheckReport, origin: FindingOrigin, limits: InputLimits, number: int
) -> KeptFinding:
    """Turn the ``number``-th thing that a check has found into a finding."""
    text = None if found.data is not None else spelled(found.value)
    finding = CodecFinding(
        signature(report.layout, found.difference),
        report.layout,
        report.engines,
        found.difference,
        origin,
        version("goldwire"),
        platform.python_version(),
        limits.seconds,
        limits.megabytes,
        text,
    )
    page = _fatal_page(finding, found.data) if fatal(found.difference) else check.page(report, number, found)
    return KeptFinding(finding, found.found.data, found.data, "".join(f"{line}\n" for line in page))


def fatal(difference: Difference) -> bool:
    """Tell whether a difference ends, hangs or bloats the process."""
    return difference.kind in FATAL


def _fatal_page(finding: CodecFinding, data: bytes | None) -> Iterator[str]:
    yield f"{finding.difference.kind}: {FATAL[finding.difference.kind]}"
    yield f"   {finding.layout}, {len(data or b'')} bytes, as the reference reads it:"
    try:
        for line in lines(dump(finding.layout, data or b"")):
            yield f"   | {line}"
    except TooManyFields as error:
        yield f"   | {error}"
    for who, said in finding.difference.says:
        for line in said:
            yield f"   {who}  {line}"


def write(out: Path, kept: KeptFinding) -> tuple[Path, bool]:
    """Write a finding into a folder of findings; return its own folder, and whether it is new there."""
    folder = out / kept.name
    # Known from an earlier campaign: its input stays as it is, as somebody may be looking at it.
    if (folder / FINDING).exists():
        return folder, False
    files: dict[str, str | bytes] = {}
    if kept.data is not None and kept.minimised is not None:
        files |= {INPUT: kept.data, MINIMISED: kept.minimised}
    files |= {REPORT: kept.report, README: _readme(folder, kept)}
    # Last, so that a folder with this file is a whole finding.
    files[FINDING] = msgspec.json.format(msgspec.json.encode(kept.finding), indent=2) + b"\n"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, content in files.items():
            write_file(folder / name, content)
    except OSError:
        # What is not ours stays, should somebody have put something there.
        with suppress(OSError):
            for name in files:
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()
        raise
    return folder, True


def _readme(folder: Path, kept: KeptFinding) -> str:
    finding = kept.finding
    what = f"{finding.difference.kind} at {finding.difference.place}"
    inputs = (
        f"* `{MINIMISED}`: the smallest input that was found to do it; `{INPUT}`: as it was found"
        if kept.minimised is not None
        else f"* the value is in `{FINDING}`, under `value`"
    )
    return (
        cleandoc(
            f"""
        # {finding.layout}: {what}

        Engines: {", ".join(finding.engines)}. Found by `goldwire fuzz codec` with `--engine {finding.origin.engine}
        --seed {finding.origin.seed}` after {finding.origin.seconds:.0f} s, {finding.origin.time}, goldwire
        {finding.goldwire}, Python {finding.python}.

            {shlex.join(["goldwire", "replay", str(folder)])}

        tries it again: exit status 1 if it still happens, 0 if not.

        * `{REPORT}`: the input field by field, and what each engine says
        {inputs}
        """
        )
        + "\n"
    )


def read(folder: Path) -> KeptFinding:
    """Read a finding; ``BadFinding`` if the folder holds none, or not a whole one."""
    try:
        finding = msgspec.json.decode((folder / FINDING).read_bytes(), type=CodecFinding)
        if finding.value is not None:
            parsed(finding.value)
            return KeptFinding(finding, None, None)
        return KeptFinding(finding, (folder / INPUT).read_bytes(), (folder / MINIMISED).read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadFinding(f"{folder} is not the folder of a finding: there is no {Path(error.filename).name}") from None
    except (OSError, ValueError) as error:  # ValidationError and UnicodeDecodeError are ValueErrors
        raise BadFinding(f"{folder}: {FINDING} cannot be read: {error}") from None


NETWORK = "net"
"""The tag of findings of network campaigns (``fuzz.net.finding``)."""


class _Tagged(msgspec.Struct):
    finding: str = "codec"


def kind(folder: Path) -> str:
    """Return what kind of finding a folder holds, by its tag; ``codec`` where it says nothing."""
    try:
        return msgspec.json.decode((folder / FINDING).read_bytes(), type=_Tagged).finding
    except (OSError, ValueError):
        return _Tagged().finding


def schema() -> bytes:
    """Return the JSON Schema of ``finding.json``."""
    return schema_file(CodecFinding)


if __name__ == "__main__":
    with as_file(files("fuzz").joinpath(SCHEMA)) as place:
        place.write_bytes(schema())
