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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from fuzz import corpus, target

PROGRAM, CORPUS, SEEDS, MERGED, ARTIFACTS, NOTES, LOG = (
    *("./target", "corpus", "seeds", "merged", "artifacts", "notes"),
    "log.txt",
)
"""What stands in the folder of a run; all of them names without blanks, as libFuzzer's shell needs it."""

CRASHED, HUNG, OUT_OF_MEMORY = 77, 70, 71
"""Exit statuses of libFuzzer for an input that ends the process, takes too long, or takes too much memory."""

ARTIFACT = {"crash": "crash", "timeout": "hang", "oom": "memory"}
"""What libFuzzer calls the inputs that it keeps, and what they are to us."""

PULSE = re.compile(rb"^#\d+\t\S+ +cov: (\d+) ft: (\d+)", re.MULTILINE)
"""The lines that libFuzzer writes as it goes: branches and features reached so far."""

TAIL = 1 << 14
"""Bytes at the end of the log that are looked at: the last such line is among them, however long a stack trace is."""

PATIENCE = 3.0
"""Seconds for Atheris to end when it is asked to, before it is killed: it finishes the input that it is at."""


class AtherisMissing(Exception):
    """Atheris is not there; the message says what to do."""


class AtherisFailed(Exception):
    """Atheris ended as it must not; the message has the end of what it said."""


class InputLimits(msgspec.Struct, frozen=True):
    """What one input may take: bytes of it, seconds, and megabytes."""

    longest: int = 1024
    seconds: float = 5.0
    megabytes: int = 2048


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
        self.counted = 0, 0, 0
        self.loaded = False
        kept.mkdir(parents=True, exist_ok=True)
        (folder / CORPUS).symlink_to(kept.resolve())
        for name in (SEEDS, ARTIFACTS, NOTES):
            (folder / name).mkdir()
        for data in corpus.seeds(layout):
            if len(data) <= limits.longest:
                (folder / SEEDS / corpus.name(data)).write_bytes(data)
        program = folder / PROGRAM
        # The interpreter's path may be longer than what a shebang can hold, or have blanks.
        program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *python])} "$@"\n')
        program.chmod(0o755)

    def start(self, *arguments: str, noting: bool = True) -> None:
        """Start Atheris with arguments of libFuzzer; what it says goes into the log."""
        variables = {
            **os.environ,
            "GOLDWIRE_FUZZ_PROGRAM": PROGRAM,
            target.LAYOUT: self.layout,
            target.SEED: str(self.seed),
            target.NOTES: NOTES if noting else target.NOWHERE,
            target.MEMORY: str(self.limits.megabytes),
        }
        with (self.folder / LOG).open("wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, *arguments],
                cwd=self.folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def fuzz(self, seconds: float | None, *more: str) -> None:
        """Start to search, for so many whole seconds; ``None`` for no search, only what is kept already.

        ``more`` are further arguments of libFuzzer.
        """
        self.counted = self.counters
        self.loaded = False
        limits = self.limits
        self.start(
            *(CORPUS, SEEDS),
            "-runs=0" if seconds is None else f"-max_total_time={max(1, round(seconds))}",
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
        self.loaded = self.loaded or b"\tINITED " in self.said(first=True)
        return self.process is not None and self.process.poll() is None

    @property
    def counters(self) -> tuple[int, int, int]:
        """How many inputs were tried, accepted, and different, in all processes so far."""
        now = target.read_status(self.folder / NOTES)
        return tuple(a + b for a, b in zip(self.counted, now, strict=False))  # type: ignore[return-value]

    @property
    def reached(self) -> tuple[int, int]:
        """How many branches, and how many features of libFuzzer, were reached."""
        found = PULSE.findall(self.said())
        return (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)

    def said(self, most: int = TAIL, *, first: bool = False) -> bytes:
        """Return the end of what the process said, or the beginning of it."""
        with (self.folder / LOG).open("rb") as log:
            log.seek(0 if first else max(0, log.seek(0, os.SEEK_END) - most))
            return log.read(most)

    def differing(self) -> Iterator[bytes]:
        """Give the inputs on which the engines differed, and forget them."""
        folder = self.folder / NOTES / target.DIFFERENCES
        for file in sorted(folder.glob("[!.]*")):
            data = file.read_bytes()
            file.unlink()
            yield data

    def ended(self) -> Artifact | None:
        """Return the input that ended the process; ``None`` if it ended by itself.

        Raises ``AtherisFailed`` if it ended for another reason.
        """
        assert self.process is not None
        status = self.process.wait()
        for file in sorted((self.folder / ARTIFACTS).iterdir()):
            data, kind = file.read_bytes(), ARTIFACT.get(file.name.partition("-")[0])
            file.unlink()
            if kind is not None and status:
                self.without(data)
                return Artifact(kind, data)
        if status:
            raise AtherisFailed(f"Atheris ended with status {status}:\n{self.said(2000).decode(errors='replace')}")
        return None

    def without(self, data: bytes) -> None:
        """Take an input out of the folders that the next process begins with."""
        for folder in (CORPUS, SEEDS):
            (self.folder / folder / corpus.name(data)).unlink(missing_ok=True)

    def merged(self, seconds: float) -> list[bytes] | None:
        """Return the fewest inputs that reach what the corpus and the seeds reach; ``None`` if that came to nothing."""
        merged = self.folder / MERGED
        merged.mkdir()
        self.start("-merge=1", MERGED, SEEDS, CORPUS, f"-max_len={self.limits.longest}", noting=False)
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
        for signal_, patience in ((signal.SIGTERM, PATIENCE), (signal.SIGKILL, None)):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal_)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
                break
        with suppress(ProcessLookupError):  # what it started may have outlived it
            os.killpg(self.process.pid, signal.SIGKILL)


def wait(run: AtherisProcess, seconds: float) -> None:
    """Let a process run for a moment."""
    assert run.process is not None
    with suppress(subprocess.TimeoutExpired):
        run.process.wait(seconds)
