"""All engines on one input after the other, in a process of its own: an engine that ends it or hangs is survived."""

import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from signal import SIG_IGN, SIGINT, signal
from traceback import format_exc

import msgspec

from fuzz.limits import limit_memory
from vectors.checks.check import Check, EngineFinding
from vectors.checks.differential import unsteady
from vectors.checks.sweep import Found
from vectors.minimising import SECONDS
from wire.engines import present

LOADING_SECONDS = 5.0
"""Seconds that a fresh process may take to import the engines, on a busy machine."""

UNBOUNDED = 1 << 30
"""Findings that the process itself may have: the campaign counts."""


class ComparisonRequest(msgspec.Struct, frozen=True):
    """An input, or a difference that was ``found`` elsewhere and shall be made small.

    ``suspect`` says that two engines differed on the input: if all of them agree on it, that is a finding as well.
    """

    source: str
    number: int = 0
    data: bytes = b""
    suspect: bool = False
    found: Found | None = None


class ProcessLost(Exception):
    """The process ended, or hangs: ``kind`` is ``crash`` or ``hang``."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class ComparisonProcess:
    """A process that compares all engines; it is started with the first request, and again after it was lost."""

    def __init__(self, layout: str, seed: int, hang: float, megabytes: int) -> None:
        self.layout = layout
        self.seed = seed
        # Engines are loaded, an input is read in both modes, and what is found is made small, which has a limit itself.
        self.timeout = LOADING_SECONDS + 2 * hang + SECONDS
        self.megabytes = megabytes
        self.process: BaseProcess | None = None
        self.pipe: Connection | None = None

    def compare(self, request: ComparisonRequest) -> tuple[EngineFinding, ...]:
        """Return what is found on an input, small, that the process has not found before.

        Raises ``ProcessLost`` if it does not come back.
        """
        # Started when it is needed: most campaigns find nothing for minutes.
        if self.process is None or self.pipe is None:
            # Not fork: the progress bar has a thread here, and a fork would keep its locks as they happen to be.
            context = get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(
                target=_worker_main, args=(self.layout, self.seed, self.megabytes, theirs), daemon=True
            )
            self.process.start()
            # Our copy of its end: as long as that is open, the end of the process does not show as the end of the pipe.
            theirs.close()
        # Before the request is sent, so that a start that fails slowly counts as well.
        deadline = time.monotonic() + self.timeout
        try:
            self.pipe.send(request)
            if not self.pipe.poll(deadline - time.monotonic()):
                self.end()
                raise ProcessLost("hang")
            found: tuple[EngineFinding, ...] | Exception = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.end()
            raise ProcessLost("crash") from None
        # An error of our own, not of an engine: raised here, with the traceback of the process as a note.
        if isinstance(found, Exception):
            raise found
        return found

    def end(self) -> None:
        """End the process."""
        if self.process is not None and self.pipe is not None:
            self.process.kill()
            self.process.join()
            self.pipe.close()
        self.process = self.pipe = None


def _worker_main(layout: str, seed: int, megabytes: int, pipe: Connection) -> None:
    signal(SIGINT, SIG_IGN)  # the process that started this one says when to end
    limit_memory(megabytes)
    check = Check(layout, list(present(layout)), seed=seed, most=UNBOUNDED)
    with suppress(EOFError, BrokenPipeError):
        while True:
            request: ComparisonRequest = pipe.recv()
            try:
                pipe.send(_compare(check, request))
            except Exception as error:
                error.add_note(format_exc())
                pipe.send(error)


def _compare(check: Check, request: ComparisonRequest) -> tuple[EngineFinding, ...]:
    before, differing = len(check.report.findings), check.report.differing
    if request.found is not None:
        check.keep(request.found)
    else:
        check.frame(request.data, request.source, request.number)
        if request.suspect and check.report.differing == differing:
            difference = unsteady(check.panel.names)
            check.keep(Found(difference, request.source, request.number, (), request.data))
    return tuple(check.report.findings[before:])
