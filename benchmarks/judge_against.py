"""How fast two checkouts judge the same traffic, in turns, and whether they say the same.

Each checkout takes the captures into a lake of its own and judges that, by its own commands in its own environment, so
that nothing but the commands needs to be the same in both. What is counted is the processor's time of ``goldwire
pipeline judge`` without Spark, reading and writing Parquet included, less that of judging next to nothing, which is the
start of Python and what is loaded once. The two take turns, and each is first every other round.
"""

import os
import shutil
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from reports.lake.lake import Lake
from reports.lake.schemas import VERDICTS

TINY = 64 << 10
"""Bytes of a capture that are judged to see what judging costs before the first session."""

ENTRY = "from harness.command import main; main()"


class Turn(msgspec.Struct, frozen=True):
    """One round: seconds of the processor that each of both took."""

    before: float
    now: float

    @property
    def ratio(self) -> float:
        """How many times as fast this checkout is."""
        return self.before / self.now


class Compared(msgspec.Struct, frozen=True):
    """All rounds, the frames that were judged in each, the rows that came of it, and whether they are the same."""

    frames: int
    turns: list[Turn]
    rows: int
    is_same: bool

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        return statistics.median(turn.ratio for turn in self.turns)

    def lines(self) -> list[str]:
        """Say it in lines of text."""
        micro = 1e6 / self.frames
        said = [
            f"round {number}: {turn.before * micro:.1f} and {turn.now * micro:.1f} µs a frame, {turn.ratio:.2f} times"
            for number, turn in enumerate(self.turns, 1)
        ]
        rows = f"the same {self.rows:,} rows" if self.is_same else "rows that DIFFER"
        return [*said, f"judge: {self.ratio:.2f} times as fast over {self.frames:,} frames, with {rows}"]


class Checkout:
    """One checkout, with lakes of its own in a folder."""

    def __init__(self, root: Path, protocol: str, folder: Path) -> None:
        self.protocol = protocol
        self._root = root.resolve()
        self._python = self._root / ".venv" / "bin" / "python"
        self._folder = folder
        if not self._python.exists():
            venv = f"python3 -m venv {root}/.venv; {root}/.venv/bin/pip install -e '{root}[arrow]'"
            raise click.ClickException(f"{root} has no environment: {venv}")

    def take_in(self, lake: str, captures: Sequence[Path]) -> None:
        """Fill a lake."""
        self._run("ingest", self.protocol, *map(str, captures), "--lake", str(self._folder / lake))

    def judged(self, lake: str) -> tuple[float, Path]:
        """Judge a copy of a lake; return the seconds of the processor, and the copy."""
        copy = self._folder / f"{lake}-judged"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self._folder / lake, copy, copy_function=os.link)  # what is in a lake is never written again
        return self._run("judge", self.protocol, "--lake", str(copy), "--master", "none"), copy

    def _run(self, *words: str) -> float:
        # Its own rooms, whatever is installed: they come before everything else.
        environment = {**os.environ, "PYTHONPATH": str(self._root)}
        program = [self._python, "-c", ENTRY, "pipeline", *words]
        child = subprocess.Popen(program, cwd=self._root, env=environment, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise click.ClickException(f"{self._root}: goldwire pipeline {words[0]} ended with {child.returncode}")
        return used.ru_utime + used.ru_stime


def compare(
    other: Path, here: Path, protocol: str, captures: Sequence[Path], frames: int, rounds: int, work: Path
) -> Compared:
    """Judge captures with two checkouts in turns."""
    tiny = work / captures[0].name
    with captures[0].open("rb") as file:
        tiny.write_bytes(file.read(TINY))
    both = [Checkout(other, protocol, work / "before"), Checkout(here, protocol, work / "now")]
    base = []
    for each in both:
        each.take_in("all", captures)
        each.take_in("tiny", [tiny])
        base.append(min(each.judged("tiny")[0] for _ in range(3)))
    turns = []
    for number in range(rounds):
        took = [0.0, 0.0]
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            took[which] = both[which].judged("all")[0] - base[which]
        turns.append(Turn(*took))
        click.echo(f"round {number + 1}: {turns[-1].ratio:.2f} times as fast", err=True)
    before, now = (verdicts(each.judged("all")[1]) for each in both)
    return Compared(frames, turns, len(now), before.equals(now))


def verdicts(folder: Path) -> pa.Table:
    """Return the verdicts in a lake, sorted; sessions without the names of the batches in which they came."""
    rows = pa.concat_tables(list(Lake(folder).parts(VERDICTS)))
    session = pc.replace_substring_regex(rows["session"], "^[^/]*/", "")
    rows = rows.drop_columns(["source", "session"]).append_column("session", session)
    return rows.combine_chunks().sort_by([(name, "ascending") for name in rows.schema.names])
