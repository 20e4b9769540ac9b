"""Atheris as a process: started, watched while it runs, ended, and its corpus merged.

Atheris ends its own process, and libFuzzer starts its program anew through a shell for ``-merge``: so it runs apart,
by the path of an executable file without blanks, in a folder of its own where every argument is a short name.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from fuzz import corpus, target
from fuzz.limits import InputLimits
from harness.interrupts import interrupts_held

PROGRAM, CORPUS, SEEDS, MERGED, ARTIFACTS, NOTES, LOG = (
    *("./target", "corpus", "seeds", "merged", "artifacts", "notes"),
    "log.txt",
)
"""What stands in the folder of a run; all of them names without blanks, as libFuzzer's shell needs it."""

CRASHED, HUNG, OUT_OF_MEMORY = 77, 70, 71
"""Exit statuses of libFuzzer for an input that ends the process, takes too long, or takes too much memory."""

ARTIFACT = {"crash": "crash", "timeout": "hang", "oom": "memory"}
"""What libFuzzer calls the inputs that it keeps, and what they are to us."""

STATUS_LINE = re.compile(rb"^#\d+\t\S+ +cov: (\d+) ft: (\d+)", re.MULTILINE)
"""The lines that libFuzzer writes as it goes: branches and features reached so far."""

TAIL = 1 << 14
"""Bytes at the end of the log that are looked at: the last such line is among them, however long a stack trace is."""

END_SECONDS = 3.0
"""Seconds for Atheris to end when it is asked to, before it is killed: it finishes the input that it is at."""

GONE_SECONDS = 2.0
"""Seconds in which killed processes are gone; where nobody takes note of their end, they never are."""


class AtherisMissing(Exception):
    """Atheris is not there; the message says what to do."""


class AtherisFailed(Exception):
    """Atheris ended as it must not; the message has the end of what it said."""


class Artifact(msgspec.Struct, frozen=True):
    """An input that ended a process: ``kind`` is one of the values of ``ARTIFACT``."""

    kind: str
    data: bytes


def require_atheris() -> None:
    """Raise ``AtherisMissing`` if Atheris cannot be imported."""
    if find_spec("atheris") is None:
        raise AtherisMissing(
            "the engine atheris needs the package atheris: pip install 'goldwire[fuzz]'; "
            "or choose --engine random, which needs nothing more"
        )


TARGET = ("-P", "-m", "fuzz.target")
"""How Python starts the target."""


class AtherisProcess:
    """One folder in which Atheris runs, for one layout; ``kept`` is the folder that new inputs are written to."""

    def __init__(
        self, folder: Path, layout: str, kept: Path, limits: InputLimits, seed: int, python: Sequence[str] = TARGET
    ) -> None:
        self.folder = folder
        self.layout = layout
        self.limits = limits
        self.seed = seed
        self.process: subprocess.Popen[bytes] | None = None
        self.counters_before = 0, 0, 0
        self.loaded = False
        kept.mkdir(parents=True, exist_ok=True)
        # A link: the folder may have blanks in its name, which libFuzzer's shell cannot take; and what is kept is where
        # it belongs at once, also if this process is killed.
        (folder / CORPUS).symlink_to(kept.resolve())
        for name in (SEEDS, ARTIFACTS, NOTES):
            (folder / name).mkdir()
        for data in corpus.seeds(layout):
            # libFuzzer would cut a longer one short, and call what is left a seed.
            if len(data) <= limits.longest:
                (folder / SEEDS / corpus.name(data)).write_bytes(data)
        program = folder / PROGRAM
        # The interpreter's path may be longer than what a shebang can hold, or have blanks.
        program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *python])} "$@"\n')
        program.chmod(0o755)

    def start(self, *arguments: str, with_notes: bool = True) -> None:
        """Start Atheris with arguments of libFuzzer; what it says goes into the log."""
        variables = {
            **os.environ,
            "GOLDWIRE_FUZZ_PROGRAM": PROGRAM,
            target.LAYOUT: self.layout,
            target.SEED: str(self.seed),
            target.NOTES: NOTES if with_notes else target.NOWHERE,
            target.MEMORY: str(self.limits.megabytes),
        }
        # A file, not a pipe: libFuzzer writes whenever it likes, and would stop when nobody reads.
        with (self.folder / LOG).open("wb") as log, interrupts_held():
            self.process = subprocess.Popen(
                [PROGRAM, *arguments],
                cwd=self.folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own, for ``end``: for -merge, libFuzzer starts processes that it does not always end
                # itself.
                start_new_session=True,
            )

    def fuzz(self, seconds: float | None, *more: str) -> None:
        """Start to search, for so many whole seconds; ``None`` for no search, only what is kept already.

        ``more`` are further arguments of libFuzzer.
        """
        # The next process counts from zero.
        self.counters_before = self.counters
        self.loaded = False
        limits = self.limits
        self.start(
            # libFuzzer writes to the first folder, and only reads the others.
            *(CORPUS, SEEDS),
            "-runs=0" if seconds is None else f"-max_total_time={max(1, round(seconds))}",
            # A seed of 0 means a random one to libFuzzer, and it has 32 bits.
            f"-seed={self.seed % (1 << 32) or 1}",
            f"-max_len={limits.longest}",
            "-len_control=100",  # libFuzzer gives it up where it finds a mutator
            f"-timeout={max(1, round(limits.seconds))}",
            f"-rss_limit_mb={2 * limits.megabytes}",  # the target limits itself; this is for what gets around that
            f"-artifact_prefix={ARTIFACTS}/",
            "-print_final_stats=1",
            *more,
        )

    @property
    def running(self) -> bool:
        """Tell whether the process still runs, and find out whether it has survived what it began with (``loaded``)."""
        self.loaded = self.loaded or b"\tINITED " in self.read_log(first=True)
        return self.process is not None and self.process.poll() is None

    @property
    def counters(self) -> tuple[int, int, int]:
        """How many inputs were tried, accepted, and different, in all processes so far."""
        now = target.read_status(self.folder / NOTES)
        return tuple(a + b for a, b in zip(self.counters_before, now, strict=False))  # type: ignore[return-value]

    @property
    def reached(self) -> tuple[int, int]:
        """How many branches, and how many features of libFuzzer, were reached."""
        # The last of the lines: counts only grow.
        found = STATUS_LINE.findall(self.read_log())
        return (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)

    def read_log(self, most: int = TAIL, *, first: bool = False) -> bytes:
        """Return the end of what the process said, or the beginning of it."""
        with (self.folder / LOG).open("rb") as log:
            log.seek(0 if first else max(0, log.seek(0, os.SEEK_END) - most))
            return log.read(most)

    def take_differences(self) -> Iterator[bytes]:
        """Give the inputs on which the engines differed, and forget them."""
        folder = self.folder / NOTES / target.DIFFERENCES
        # Without a dot: the target renames a file when it is whole.
        for file in sorted(folder.glob("[!.]*")):
            data = file.read_bytes()
            file.unlink()
            yield data

    def take_artifact(self) -> Artifact | None:
        """Return the input that ended the process; ``None`` if it ended by itself.

        Raises ``AtherisFailed`` if it ended for another reason.
        """
        assert self.process is not None
        # libFuzzer writes the artifact and then exits: so its exit is waited for before files are looked for.
        status = self.process.wait()
        for file in sorted((self.folder / ARTIFACTS).iterdir()):
            data, kind = file.read_bytes(), ARTIFACT.get(file.name.partition("-")[0])
            file.unlink()
            # Status 0 with an artifact is that of a slow input, which libFuzzer reports and survives.
            if kind is not None and status:
                self.remove_input(data)
                return Artifact(kind, data)
        if status:
            raise AtherisFailed(f"Atheris ended with status {status}:\n{self.read_log(2000).decode(errors='replace')}")
        return None

    def remove_input(self, data: bytes) -> None:
        """Take an input out of the folders that the next process begins with."""
        for folder in (CORPUS, SEEDS):
            (self.folder / folder / corpus.name(data)).unlink(missing_ok=True)

    def merged(self, seconds: float) -> list[bytes] | None:
        """Return the fewest inputs that reach what the corpus and the seeds reach; ``None`` if that came to nothing."""
        merged = self.folder / MERGED
        merged.mkdir()
        # Without notes: the processes of a merge would count and report inputs that the search has counted.
        self.start("-merge=1", MERGED, SEEDS, CORPUS, f"-max_len={self.limits.longest}", with_notes=False)
        assert self.process is not None
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
            return None
        inputs = list(corpus.kept(merged).values())
        # A program that cannot be started again gives status 0, and nothing.
        return None if status or not inputs else inputs

    def end(self) -> None:
        """End the process, and every one that it has started."""
        if self.process is None:
            return
        # Asked first, as Atheris finishes its files; then killed, as an engine that hangs in C never gets to answer.
        for signal_, patience in ((signal.SIGTERM, END_SECONDS), (signal.SIGKILL, None)):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal_)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
                break
        # What it started may have outlived it. Killed, it takes a moment to be gone, and nobody is to find it then.
        deadline = time.monotonic() + GONE_SECONDS
        with suppress(ProcessLookupError):
            while time.monotonic() < deadline:
                os.killpg(self.process.pid, signal.SIGKILL)
                time.sleep(0.01)


def wait(run: AtherisProcess, seconds: float) -> None:
    """Let a process run for a moment."""
    assert run.process is not None
    with suppress(subprocess.TimeoutExpired):
        run.process.wait(seconds)
