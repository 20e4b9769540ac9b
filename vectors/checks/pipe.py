"""The pipe: a codec in any language as a program that answers JSON lines (``pipe.md``).

::

    Pipe            batches of frames, and what becomes of a frame whose request failed     this module
    CodecProgram    the process: one line out, one line in, deadlines                       codec_program
    pipe_lines      requests and answers as lines of JSON
    answers         what came of one frame

    PipeError
    └── ProgramNotStarted   the command cannot be run, or does not say what it is

Everything else that a program may do wrong is an answer, a ``Failure``, and the run goes on.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from vectors.checks.answers import (
    Answer,
    CodecDescription,
    Declined,
    Failure,
    Garbage,
    LostAnswer,
    Trouble,
    UnsupportedLayout,
    shortened,
)
from vectors.checks.codec_program import CodecProgram, ProgramNotStarted
from vectors.checks.pipe_lines import (
    Malformed,
    as_json,
    parse,
    read_decoded,
    read_description,
    read_encoded,
    read_results,
)

OnLine = Callable[[Literal["request", "answer"], str], None]
"""Receives each line that goes over the pipe, without its end."""


class PipeLimits(msgspec.Struct, frozen=True):
    """How long, how much, how often.

    ``deadline`` and ``start`` are seconds: for an answer, and from the start to the first one. ``line`` is
    bytes. ``restarts`` counts for all of a run. A request has at most ``frames`` frames, and unless one of
    them is longer, ``size`` characters of them.
    """

    # A frame takes microseconds, and a batch milliseconds; who needs seconds hangs, even on a busy machine.
    deadline: float = 10.0
    # A virtual machine, or a compiler behind the command (go run, cargo run), starts before it answers.
    start: float = 30.0
    # A batch of the longest frames, each bit of which may become a line of JSON, stays well below it.
    line: int = 1 << 26
    # Enough for a fault that some frames show; one that all show is plain after a few.
    restarts: int = 50
    # Large enough that the round trip does not count, small enough that progress shows, and that a frame to blame is
    # found among few.
    frames: int = 256
    size: int = 1 << 17


class Pipe:
    """A codec behind a command; enter it to start the program, leave it to end it.

    ``troubles`` collects failures that belong to no single frame, also that of an end that is not orderly.
    """

    def __init__(
        self, command: Sequence[str], limits: PipeLimits | None = None, *, on_line: OnLine | None = None
    ) -> None:
        self.command = tuple(command)
        self.limits = limits or PipeLimits()
        self.restarts = 0
        self.troubles: list[Trouble] = []
        self._on_line = on_line
        self._program: CodecProgram | None = None
        self._requests = 0
        self._description: CodecDescription | None = None

    def __enter__(self) -> Self:
        """Start the program; ``ProgramNotStarted`` when it does not start or describe itself."""
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._program is not None:
                failure = self._program.finish(self.limits.deadline)
                # A program that dies at its end has agreed on every frame, and would still fail whoever runs it in a
                # script.
                if failure is not None:
                    self.troubles.append(Trouble("at the end of the input", failure))
        finally:
            self._kill()

    def describe(self) -> CodecDescription:
        """Return what the program said of itself when it started; ``ProgramNotStarted`` when it never was."""
        if self._description is None:
            raise ProgramNotStarted("the program is not started: use 'with Pipe(…) as pipe:'")
        return self._description

    def decode(self, layout: str, frames: Sequence[bytes]) -> list[Answer]:
        """Ask for the values of frames; one answer for each, in order."""
        return self._ask("decode", layout, "frames", [f'"{frame.hex()}"' for frame in frames], read_decoded)

    def encode(self, layout: str, values: Sequence[Any]) -> list[Answer]:
        """Ask for the bytes of values; one answer for each, in order."""
        return self._ask("encode", layout, "values", [as_json(value) for value in values], read_encoded)

    def _ask(
        self, operation: str, layout: str, member: str, items: Sequence[str], read: Callable[[Any], Answer]
    ) -> list[Answer]:
        known = self.describe().layouts
        # Not asked: an answer to what it says it does not know would be judged, and could even be right by accident.
        if layout not in known:
            return [UnsupportedLayout(layout, known)] * len(items)

        def request(batch: Sequence[str]) -> list[Answer] | Failure:
            head = f'"do": "{operation}", "layout": {json.dumps(layout)}, "{member}": [{", ".join(batch)}]'
            return self._request(head, len(batch), read)

        # Many frames in one request: a round trip through two pipes costs as much as decoding dozens of frames.
        return [answer for batch in batches(items, self.limits) for answer in self._answers(request, batch)]

    def _answers(
        self, request: Callable[[Sequence[str]], list[Answer] | Failure], batch: Sequence[str]
    ) -> Iterator[Answer]:
        """Give an answer per item: of a request that fails, each item alone; of one that fails alone, anew."""
        # Asked before the request, as answering it makes the program one that has a past.
        fresh = self._is_fresh()
        outcome = request(batch)
        if isinstance(outcome, list):
            yield from outcome
            return
        if len(batch) > 1:
            # The program is lost, and with it the answers to all of the batch: each frame alone shows which one is to
            # blame, and the innocent get their answers.
            before = len(self.troubles)
            answers = [answer for item in batch for answer in self._answers(request, [item])]
            if len(self.troubles) == before and not any(isinstance(answer, Failure) for answer in answers):
                self.troubles.append(Trouble(f"in a request of {len(batch)}, each of which alone is answered", outcome))
            yield from answers
            return
        # Nothing but this frame was asked, so it is to blame; LostAnswer and Declined would come again.
        if fresh or isinstance(outcome, LostAnswer | Declined):
            yield outcome
            return
        # It may have been what came before that broke it: a fresh program, asked nothing else, decides.
        again = request(batch)
        if isinstance(again, list):
            self.troubles.append(Trouble("in a request that is answered when the program is fresh", outcome))
            yield from again
        else:
            yield again

    def _is_fresh(self) -> bool:
        return self._program is None or self._program.answered <= 1  # the first answer describes it

    def _request(self, head: str, count: int, read: Callable[[Any], Answer]) -> list[Answer] | Failure:
        if self._program is None:
            # Bounded, as a program may break at every frame, and some need seconds to start.
            if self.restarts >= self.limits.restarts:
                return LostAnswer(f"the program was started anew {self.restarts} times, which is the limit")
            self.restarts += 1
            try:
                self._start()
            except ProgramNotStarted as error:
                return LostAnswer(f"the program does not start any more: {error}")
        answer = self._exchange(head, self.limits.deadline)
        if isinstance(answer, dict):
            # An error for the whole request is an answer, and the program lives on: not every program knows every
            # request.
            if "error" in answer and "results" not in answer:
                return self._declined(answer["error"])
            try:
                return read_results(answer, count, read)
            except Malformed as error:
                answer = self._garbage(str(error), json.dumps(answer))
        # Whatever it did wrong, what it writes next may belong to this request still; only a new process is in step
        # again.
        self._kill()
        return answer

    def _declined(self, error: Any) -> Failure:
        detail = error.get("detail") if isinstance(error, dict) else error
        return Declined(shortened(str(detail)), stderr=self._stderr())

    def _start(self) -> None:
        self._program = CodecProgram(self.command, self.limits.line)
        try:
            answer = self._exchange('"do": "describe"', self.limits.start)
            if isinstance(answer, Failure):
                words = "".join(f"\n  {line}" for line in answer.stderr)
                raise ProgramNotStarted(f"{self.command[0]!r} does not describe itself: {answer}{words}")
            self._description = read_description(answer)
        except BaseException:
            self._kill()
            raise

    def _exchange(self, content: str, seconds: float) -> dict[str, Any] | Failure:
        assert self._program is not None
        self._requests += 1
        request = f'{{"id": {self._requests}, {content}}}'
        if self._on_line is not None:
            self._on_line("request", request)
        line = self._program.exchange(request.encode() + b"\n", seconds)
        if isinstance(line, Failure):
            return line
        if self._on_line is not None:
            self._on_line("answer", line.decode(errors="replace"))
        try:
            answer = parse(line)
            # The number is how an answer too many, or one late, is told from the one that was asked for.
            if type(answer.get("id")) is not int or answer["id"] != self._requests:
                raise Malformed(f"answers with id {answer.get('id')!r} where {self._requests} was asked")
        except Malformed as error:
            return self._garbage(str(error), line.decode(errors="replace"))
        return answer

    def _garbage(self, what: str, line: str) -> Garbage:
        return Garbage(shortened(what), shortened(line), stderr=self._stderr())

    def _stderr(self) -> tuple[str, ...]:
        return self._program.stderr_tail() if self._program is not None else ()

    def _kill(self) -> None:
        program, self._program = self._program, None
        if program is not None:
            program.kill()


def batches(items: Sequence[str], limits: PipeLimits) -> Iterator[Sequence[str]]:
    """Cut items into as many as one request may have."""
    start, size = 0, 0
    for index, item in enumerate(items):
        # At least one item goes into each, however long: else a single frame beyond the limit could never be asked.
        if index > start and (index - start >= limits.frames or size + len(item) > limits.size):
            yield items[start:index]
            start, size = index, 0
        size += len(item)
    if start < len(items):
        yield items[start:]
