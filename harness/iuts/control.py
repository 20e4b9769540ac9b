"""Control lines: how a node is commanded, whatever language it is written in (docs/control.md).

The tester writes ``SEQ VERB ARGS…`` on the node's standard input; the node writes ``SEQ ok [TEXT]`` or
``SEQ error TEXT`` on its standard output. Everything else that it writes there is log.
"""

import queue
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TextIO

import msgspec

from harness.errors import ControlFailed, ControlUnanswered, NotYet, Unsupported
from harness.timing import CONTROL
from harness.trace import Direction, EntryKind, Trace

UNSUPPORTED = "unsupported"

_ANSWER = re.compile(r"(\d+) (ok|error)(?: (.*))?")
_REQUEST = re.compile(r"(\d+)(?: (.*))?")


class ControlRequest(msgspec.Struct, frozen=True):
    """One line for the node: its number, what to do, and with what."""

    seq: int
    verb: str
    args: tuple[str, ...] = ()

    def rest(self, start: int) -> str:
        """Return the arguments from ``start`` on as the one text that they were on the line."""
        return " ".join(self.args[start:])


class ControlAnswer(msgspec.Struct, frozen=True):
    """One line from the node: the request that it answers, whether that was done, and a text."""

    seq: int
    ok: bool
    text: str = ""


Handler = Callable[[ControlRequest], str | None]


def parse(line: str) -> ControlRequest | None:
    """Read a request (the node's side); None when the line does not start with a number."""
    match = _REQUEST.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return None
    verb, *args = (match[2] or "").split(" ")
    return ControlRequest(int(match[1]), verb, tuple(args))


def parse_answer(line: str) -> ControlAnswer | None:
    """Read an answer (the tester's side); None when the line is log."""
    match = _ANSWER.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return None
    return ControlAnswer(int(match[1]), match[2] == "ok", match[3] or "")


def write(answer: ControlAnswer) -> str:
    """Return the answer as its line, without the line's end; line ends inside the text become spaces."""
    # An answer is one line: whatever breaks it would be read as log.
    text = " ".join(answer.text.split("\n")).replace("\r", " ").strip()
    return f"{answer.seq} {'ok' if answer.ok else 'error'} {text}".rstrip()


def answer(request: ControlRequest, handlers: Mapping[str, Handler]) -> ControlAnswer:
    """Do what a request asks and return the answer; ``verbs`` is answered from the handlers' names.

    A handler returns the text of ``ok``, or raises: Unsupported and every other exception become ``error``, but for
    ``NotYet``, which is raised here too: the request is to be answered later.
    """
    if request.verb == "verbs":
        return ControlAnswer(request.seq, ok=True, text=" ".join(handlers))
    handler = handlers.get(request.verb)
    if handler is None:
        return ControlAnswer(request.seq, ok=False, text=f"{UNSUPPORTED} verb {request.verb!r}")
    try:
        return ControlAnswer(request.seq, ok=True, text=handler(request) or "")
    except Unsupported as error:
        return ControlAnswer(request.seq, ok=False, text=f"{UNSUPPORTED} {error}")
    except NotYet:
        raise
    except Exception as error:  # the node lives on, and the tester is told
        return ControlAnswer(request.seq, ok=False, text=f"{type(error).__name__}: {error}")


def serve(handlers: Mapping[str, Handler], stdin: Iterable[str], stdout: TextIO) -> None:
    """Answer the requests of ``stdin`` until it ends (the node's side)."""
    for line in stdin:
        request = parse(line)
        if request is not None:
            stdout.write(write(answer(request, handlers)) + "\n")
            # The tester waits for it at a pipe.
            stdout.flush()


class Control:
    """The tester's side: asks one thing at a time and waits for its answer.

    ``send`` writes a line to the node and may raise OSError; whoever reads the node's output calls ``feed``
    with each line and ``end`` after the last. With a ``trace`` set, requests and answers are noted there as
    link ``control``.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        self.trace: Trace | None = None
        self._send = send
        # The thread that reads the node's output puts, the one that asks gets.
        self._answers: queue.SimpleQueue[ControlAnswer | None] = queue.SimpleQueue()
        self._seq = 0
        self._verbs: frozenset[str] | None = None
        # One question at a time: whoever waits throws away answers to other numbers.
        self._lock = threading.Lock()

    def feed(self, line: str) -> bool:
        """Take a line of the node's output; False when it is log."""
        read = parse_answer(line)
        if read is not None:
            self._answers.put(read)
        return read is not None

    def end(self) -> None:
        """Say that no answer will come any more."""
        self._answers.put(None)

    def request(self, verb: str, *args: str, timeout: float = CONTROL) -> str:
        """Ask the node and return the text of its ``ok``.

        Unsupported when the node does not know how; ControlFailed when it answers ``error`` otherwise, or ends;
        ControlUnanswered when it does not answer within ``timeout`` seconds. ValueError when an argument holds a
        line end, or is empty.
        """
        for text in (verb, *args):
            # What is empty would vanish between two spaces.
            if not text or "\n" in text or "\r" in text:
                raise ValueError(f"{text!r} cannot stand on a control line")
        with self._lock:
            self._seq += 1
            what = " ".join((verb, *args))
            self._note(Direction.SENT, what)
            try:
                self._send(f"{self._seq} {what}\n")
            # ValueError: the pipe was closed on our side, because the node was stopped.
            except (OSError, ValueError) as error:
                raise ControlFailed(f"{what!r} could not be asked: the node's input is closed") from error
            read = self._await(self._seq, what, timeout)
        self._note(Direction.RECEIVED, f"{'ok' if read.ok else 'error'} {read.text}".rstrip())
        if read.ok:
            return read.text
        if read.text.startswith(UNSUPPORTED):
            raise Unsupported(f"{what!r}: {read.text}")
        raise ControlFailed(f"{what!r} failed: {read.text}")

    def verbs(self) -> frozenset[str]:
        """Return the verbs that the node says it knows; asked once."""
        if self._verbs is None:
            self._verbs = frozenset(self.request("verbs").split())
        return self._verbs

    def _await(self, seq: int, what: str, timeout: float) -> ControlAnswer:
        while True:
            try:
                read = self._answers.get(timeout=timeout)
            except queue.Empty:
                raise ControlUnanswered(f"{what!r} was not answered within {timeout:g} s") from None
            if read is None:
                # Put back for whoever asks next.
                self.end()
                raise ControlFailed(f"{what!r} was not answered: the node has ended")
            # Answers to requests that were given up may still come.
            if read.seq == seq:
                return read

    def _note(self, direction: Direction, note: str) -> None:
        if self.trace is not None:
            self.trace.record("control", EntryKind.NOTE, direction, note=note)
