"""All engines on one input after the other, in a process of its own: an engine that ends it or hangs is survived."""

import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from signal import SIG_IGN, SIGINT, signal
from traceback import format_exc

import msgspec

from fuzz.trial import limited
from vectors.check import Check, Finding
from vectors.differential import unsteady
from vectors.minimise import SECONDS
from vectors.sweep import Found
from wire.engines import present


class Question(msgspec.Struct, frozen=True):
    """An input, or a difference that was ``found`` elsewhere and shall be made small.

    ``suspect`` says that two engines differed on the input: if all of them agree on it, that is a finding as well.
    """

    source: str
    number: int = 0
    data: bytes = b""
    suspect: bool = False
    found: Found | None = None


class Lost(Exception):
    """The process ended, or hangs: ``kind`` is ``crash`` or ``hang``."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Referee:
    """A process that is asked; it is started with the first question, and again after it was lost."""

    def __init__(self, layout: str, seed: int, hang: float, megabytes: int) -> None:
        self.layout = layout
        self.seed = seed
        self.patience = 5.0 + 2 * hang + SECONDS
        self.megabytes = megabytes
        self.process: BaseProcess | None = None
        self.pipe: Connection | None = None

    def asked(self, question: Question) -> tuple[Finding, ...]:
        """Return what is found on an input, small, that the process has not found before.

        Raises ``Lost`` if it does not come back.
        """
        if self.process is None or self.pipe is None:
            context = get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(
                target=_work, args=(self.layout, self.seed, self.megabytes, theirs), daemon=True
            )
            self.process.start()
            theirs.close()
        deadline = time.monotonic() + self.patience
        try:
            self.pipe.send(question)
            if not self.pipe.poll(deadline - time.monotonic()):
                self.end()
                raise Lost("hang")
            answer: tuple[Finding, ...] | Exception = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.end()
            raise Lost("crash") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        """End the process."""
        if self.process is not None and self.pipe is not None:
            self.process.kill()
            self.process.join()
            self.pipe.close()
        self.process = self.pipe = None


def _work(layout: str, seed: int, megabytes: int, pipe: Connection) -> None:
    signal(SIGINT, SIG_IGN)  # the process that started this one says when to end
    limited(megabytes)
    check = Check(layout, list(present(layout)), seed=seed, most=1 << 30)
    with suppress(EOFError, BrokenPipeError):
        while True:
            question: Question = pipe.recv()
            try:
                pipe.send(_answered(check, question))
            except Exception as error:
                error.add_note(format_exc())
                pipe.send(error)


def _answered(check: Check, question: Question) -> tuple[Finding, ...]:
    before, differing = len(check.report.findings), check.report.differing
    if question.found is not None:
        check.keep(question.found)
    else:
        check.frame(question.data, question.source, question.number)
        if question.suspect and check.report.differing == differing:
            difference = unsteady(check.panel.names)
            check.keep(Found(difference, question.source, question.number, (), question.data))
    return tuple(check.report.findings[before:])
