"""The pipe: a codec in any language as a program that answers JSON lines (``pipe.md``).

::

    PipeError
    └── NotStarted       the command cannot be run, or does not say what it is

Everything else that a program may do wrong is an answer, a ``Failure``, and the run goes on.
"""

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import IO, Any, Literal, Self

import msgspec

VERSION = "goldwire-pipe-1"

_CHUNK = 1 << 16
_STDERR_LINES = 10
_STDERR_KEPT = 1 << 13
_EXCERPT = 120
_HEX = re.compile(r"([0-9a-f]{2})*")

Traffic = Callable[[Literal["request", "answer"], str], None]
"""Receives each line that goes over the pipe, without its end."""


class PipeError(Exception):
    """Base of what the pipe raises."""


class ProgramNotStarted(PipeError):
    """The program could not be started or did not describe itself; the message says how that showed."""


class PipeLimits(msgspec.Struct, frozen=True):
    """How long, how much, how often.

    ``deadline`` and ``start`` are seconds: for an answer, and from the start to the first one. ``line`` is
    bytes. ``restarts`` counts for all of a run. A request has at most ``frames`` frames, and unless one of
    them is longer, ``size`` characters of them.
    """

    deadline: float = 10.0
    start: float = 30.0
    line: int = 1 << 26
    restarts: int = 50
    frames: int = 256
    size: int = 1 << 17


class CodecDescription(msgspec.Struct, frozen=True):
    """What a program says of itself."""

    name: str
    version: str
    language: str
    layouts: tuple[str, ...]


class Decoded(msgspec.Struct, frozen=True):
    """The frame is accepted and gives ``value``; bytes in it are bytes."""

    value: Any


class Encoded(msgspec.Struct, frozen=True):
    """The value is written as ``data``."""

    data: bytes


class RefusedFrame(msgspec.Struct, frozen=True):
    """The frame is refused for ``reason``, at ``offset`` if that is given."""

    reason: str
    offset: int | None = None


class Inexpressible(msgspec.Struct, frozen=True):
    """The value cannot be encoded."""

    detail: str


class Skipped(msgspec.Struct, frozen=True):
    """The program does not implement this."""

    why: str


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A frame that got no answer; ``stderr`` has the last lines of the program's standard error."""

    stderr: tuple[str, ...] = ()


class Crashed(Failure, frozen=True):
    """The program ended instead of answering; ``status`` is negative for a signal."""

    status: int

    def __str__(self) -> str:
        return f"the program {ended(self.status)} instead of answering"


class Hung(Failure, frozen=True):
    """No answer came within so many seconds."""

    seconds: float
    detail: str = ""

    def __str__(self) -> str:
        return f"no answer within {self.seconds:g} seconds{self.detail}"


class Garbage(Failure, frozen=True):
    """Something came that is no answer to the request; ``line`` is how it begins."""

    what: str
    line: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.line}" if self.line else self.what


class PartialLine(Failure, frozen=True):
    """The program ended in the middle of a line."""

    status: int
    line: str

    def __str__(self) -> str:
        return f"the program {ended(self.status)} in the middle of a line: {self.line}"


class Declined(Failure, frozen=True):
    """The program does not understand the request."""

    detail: str

    def __str__(self) -> str:
        return f"the program declines the request: {self.detail}"


class UnsupportedLayout(Failure, frozen=True):
    """The program does not speak this layout; it lists ``layouts``."""

    layout: str
    layouts: tuple[str, ...]

    def __str__(self) -> str:
        return f"the program does not speak {self.layout}; it lists {', '.join(self.layouts) or 'no layout'}"


class LostAnswer(Failure, frozen=True):
    """The frame could not be asked: the program was started anew too often, or does not start any more."""

    why: str

    def __str__(self) -> str:
        return f"not asked: {self.why}"


Answer = Decoded | Encoded | RefusedFrame | Inexpressible | Skipped | Failure


class Trouble(msgspec.Struct, frozen=True):
    """A failure that belongs to no single frame: each of them alone is answered."""

    when: str
    failure: Failure

    def __str__(self) -> str:
        return f"{self.when}: {self.failure}"


def ended(status: int) -> str:
    """Say how a process ended."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


class CodecProgram:
    """One running process; it leads a process group of its own, which ends with it."""

    def __init__(self, command: Sequence[str], line: int) -> None:
        """Start it; ``ProgramNotStarted`` when that is not possible. ``line`` is the most bytes of an answer."""
        self.answered = 0
        self._longest = line
        self._output = bytearray()
        self._scanned = 0
        self._errors: deque[bytes] = deque()
        self._unsent = memoryview(b"")
        self._dead = False
        try:
            self._popen = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ProgramNotStarted(f"cannot run {command[0] if command else 'nothing'!r}: {reason}") from None
        self._in, self._out, self._err = map(_opened, (self._popen.stdin, self._popen.stdout, self._popen.stderr))
        self._end = -1
        self._selector = selectors.DefaultSelector()
        try:
            # Tells of the end without reaping it: while it is not reaped, no other group can get its number.
            self._end = os.pidfd_open(self._popen.pid)
            for pipe in (self._in, self._out, self._err):
                os.set_blocking(pipe.fileno(), False)
            for file in (self._out, self._err, self._end):
                self._selector.register(file, selectors.EVENT_READ)
        except BaseException:
            self.kill()
            raise

    def exchange(self, request: bytes, seconds: float) -> bytes | Failure:
        """Send a line and return the line that answers it, without its end."""
        give_up = time.monotonic() + seconds
        self._attend(0)
        if self._output:
            return self._garbage("writes without being asked", bytes(self._output))
        self._send(request)
        while True:
            found = self._output.find(b"\n", self._scanned)
            self._scanned = len(self._output)
            if found > self._longest or (found < 0 and self._scanned > self._longest):
                return self._garbage(f"a line of more than {self._longest} bytes", bytes(self._output[:_EXCERPT]))
            if found >= 0:
                return self._answer(found)
            if not self._watches(self._out) or (self._dead and not self._attend(0)):
                return self._died(give_up, seconds)
            left = give_up - time.monotonic()
            if left <= 0:
                return Hung(seconds, stderr=self._last_words())
            self._attend(left)

    def finish(self, seconds: float) -> Failure | None:
        """End its input and await its end, which has to be quiet and with status 0; ``None`` if it is."""
        give_up = time.monotonic() + seconds
        self._hang_up()
        while not self._dead and (left := give_up - time.monotonic()) > 0:
            self._attend(left)
        if not self._dead:
            return Hung(seconds, " to the end of the input: it does not end", stderr=self._last_words())
        self._drain()
        if self._output:
            return self._garbage("writes without being asked", bytes(self._output))
        status = self._status()
        return Crashed(status, stderr=self._last_words()) if status else None

    def kill(self) -> None:
        """End it and all of its group; once it is gone, do nothing."""
        if self._popen.returncode is not None:
            return
        try:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        finally:
            self._popen.wait()
            self._selector.close()
            if self._end >= 0:
                os.close(self._end)
            for pipe in (self._in, self._out, self._err):
                pipe.close()

    def _answer(self, end: int) -> bytes | Failure:
        line = bytes(self._output[:end])
        del self._output[: end + 1]
        self._scanned = 0
        if self._unsent:
            return self._garbage("answers before it has read the request", line)
        self.answered += 1
        return line

    def _watches(self, file: IO[bytes]) -> bool:
        return file in self._selector.get_map()

    def _send(self, data: bytes) -> None:
        if not self._in.closed:
            self._unsent = memoryview(data)
            self._selector.register(self._in, selectors.EVENT_WRITE)

    def _hang_up(self) -> None:
        if self._watches(self._in):
            self._selector.unregister(self._in)
        self._unsent = memoryview(b"")
        with contextlib.suppress(OSError):
            self._in.close()

    def _attend(self, seconds: float) -> bool:
        """Move what can be moved, waiting for it at most so long; tell whether there was anything."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            if key.fileobj is self._in:
                self._write()
            elif key.fileobj == self._end:
                self._dead = True
                self._selector.unregister(self._end)
            else:
                self._read(self._out if key.fileobj is self._out else self._err)
        return bool(ready)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in.fileno(), self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it has closed its input: what it wrote before, and its end, say more
            self._hang_up()
            return
        if not self._unsent:
            self._selector.unregister(self._in)

    def _read(self, pipe: IO[bytes]) -> None:
        try:
            chunk = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._selector.unregister(pipe)
        elif pipe is self._out:
            self._output += chunk
        else:
            self._errors.append(chunk[-_STDERR_KEPT:])
            while sum(map(len, self._errors)) - len(self._errors[0]) >= _STDERR_KEPT:
                self._errors.popleft()

    def _drain(self) -> None:
        """After its end, read what is left; a process that it left behind may keep its pipes open."""
        while len(self._output) <= self._longest and self._attend(0):
            pass

    def _died(self, give_up: float, seconds: float) -> Failure:
        while not self._dead and (left := give_up - time.monotonic()) > 0:
            self._attend(left)
        if not self._dead:
            return Hung(seconds, ": it has closed its output and goes on", stderr=self._last_words())
        self._drain()
        status = self._status()
        if self._output:
            return PartialLine(status, excerpt(bytes(self._output)), stderr=self._last_words())
        return Crashed(status, stderr=self._last_words())

    def _status(self) -> int:
        seen = os.waitid(os.P_PIDFD, self._end, os.WEXITED | os.WNOWAIT)
        assert seen is not None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def _garbage(self, what: str, line: bytes) -> Garbage:
        return Garbage(what, excerpt(line), stderr=self._last_words())

    def _last_words(self) -> tuple[str, ...]:
        text = b"".join(self._errors)[-_STDERR_KEPT:].decode(errors="replace")
        return tuple(shortened(line) for line in text.splitlines()[-_STDERR_LINES:])

    def last_words(self) -> tuple[str, ...]:
        """Return the last lines of its standard error."""
        self._attend(0)
        return self._last_words()


class Pipe:
    """A codec behind a command; enter it to start the program, leave it to end it.

    ``troubles`` collects failures that belong to no single frame, also that of an end that is not orderly.
    """

    def __init__(
        self, command: Sequence[str], limits: PipeLimits | None = None, *, traffic: Traffic | None = None
    ) -> None:
        self.command = tuple(command)
        self.limits = limits or PipeLimits()
        self.restarts = 0
        self.troubles: list[Trouble] = []
        self._traffic = traffic
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
        self, do: str, layout: str, member: str, items: Sequence[str], read: Callable[[Any], Answer]
    ) -> list[Answer]:
        known = self.describe().layouts
        if layout not in known:
            return [UnsupportedLayout(layout, known)] * len(items)

        def request(batch: Sequence[str]) -> list[Answer] | Failure:
            head = f'"do": "{do}", "layout": {json.dumps(layout)}, "{member}": [{", ".join(batch)}]'
            return self._request(head, len(batch), read)

        return [answer for batch in batches(items, self.limits) for answer in self._judge(request, batch)]

    def _judge(
        self, request: Callable[[Sequence[str]], list[Answer] | Failure], batch: Sequence[str]
    ) -> Iterator[Answer]:
        """Give an answer per item: of a request that fails, each item alone; of one that fails alone, anew."""
        fresh = self._is_fresh()
        outcome = request(batch)
        if isinstance(outcome, list):
            yield from outcome
            return
        if len(batch) > 1:
            before = len(self.troubles)
            answers = [answer for item in batch for answer in self._judge(request, [item])]
            if len(self.troubles) == before and not any(isinstance(answer, Failure) for answer in answers):
                self.troubles.append(Trouble(f"in a request of {len(batch)}, each of which alone is answered", outcome))
            yield from answers
            return
        if fresh or isinstance(outcome, LostAnswer | Declined):
            yield outcome
            return
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
            if self.restarts >= self.limits.restarts:
                return LostAnswer(f"the program was started anew {self.restarts} times, which is the limit")
            self.restarts += 1
            try:
                self._start()
            except ProgramNotStarted as error:
                return LostAnswer(f"the program does not start any more: {error}")
        answer = self._exchange(head, self.limits.deadline)
        if isinstance(answer, dict):
            if "error" in answer and "results" not in answer:
                return self._declined(answer["error"])
            try:
                return read_results(answer, count, read)
            except Malformed as error:
                answer = self._garbage(str(error), json.dumps(answer))
        self._kill()
        return answer

    def _declined(self, error: Any) -> Failure:
        detail = error.get("detail") if isinstance(error, dict) else error
        return Declined(shortened(str(detail)), stderr=self._words())

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
        if self._traffic is not None:
            self._traffic("request", request)
        line = self._program.exchange(request.encode() + b"\n", seconds)
        if isinstance(line, Failure):
            return line
        if self._traffic is not None:
            self._traffic("answer", line.decode(errors="replace"))
        try:
            answer = parse(line)
            if type(answer.get("id")) is not int or answer["id"] != self._requests:
                raise Malformed(f"answers with id {answer.get('id')!r} where {self._requests} was asked")
        except Malformed as error:
            return self._garbage(str(error), line.decode(errors="replace"))
        return answer

    def _garbage(self, what: str, line: str) -> Garbage:
        return Garbage(shortened(what), shortened(line), stderr=self._words())

    def _words(self) -> tuple[str, ...]:
        return self._program.last_words() if self._program is not None else ()

    def _kill(self) -> None:
        program, self._program = self._program, None
        if program is not None:
            program.kill()


class Malformed(PipeError):
    """A line that is not of the schema; it becomes ``Garbage``."""


def batches(items: Sequence[str], limits: PipeLimits) -> Iterator[Sequence[str]]:
    """Cut items into as many as one request may have."""
    start, size = 0, 0
    for index, item in enumerate(items):
        if index > start and (index - start >= limits.frames or size + len(item) > limits.size):
            yield items[start:index]
            start, size = index, 0
        size += len(item)
    if start < len(items):
        yield items[start:]


def as_json(value: Any) -> str:
    """Write a value as the pipe does: bytes are ``{"hex": …}``."""
    return json.dumps(value, default=lambda data: {"hex": data.hex()})


def parse(line: bytes) -> dict[str, Any]:
    """Read an answer: one object, strict JSON; ``Malformed`` otherwise."""
    try:
        answer = json.loads(line.decode(), parse_constant=_no_constant, object_pairs_hook=_no_twins)
    except UnicodeDecodeError:
        raise Malformed("writes something that is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Malformed(f"writes something that is not JSON ({error})") from None
    if not isinstance(answer, dict):
        raise Malformed("writes JSON that is not an object")
    return answer


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("an object has a name twice")
    return table


def read_description(answer: dict[str, Any]) -> CodecDescription:
    """Read the answer to ``describe``; ``ProgramNotStarted`` when it is not one of this version."""
    if answer.get("pipe") != VERSION:
        raise ProgramNotStarted(
            f"the program speaks {answer.get('pipe')!r}, goldwire speaks {VERSION!r} (vectors/pipe.md)"
        )
    try:
        return msgspec.convert(answer, CodecDescription)
    except msgspec.ValidationError as error:
        raise ProgramNotStarted(f"the answer to 'describe' is not of the schema: {error}") from None


def read_results(answer: dict[str, Any], count: int, read: Callable[[Any], Answer]) -> list[Answer]:
    """Read the results of an answer; ``Malformed`` when they are not as many as were asked, or not results."""
    results = answer.get("results")
    if not isinstance(results, list):
        raise Malformed("the answer has no list of results")
    if len(results) != count:
        raise Malformed(f"{len(results)} results where {count} were asked")
    answers = []
    for index, result in enumerate(results):
        try:
            answers.append(read(result))
        except Malformed as error:
            raise Malformed(f"results[{index}] {error}") from None
    return answers


def read_decoded(result: Any) -> Answer:
    """Read one result of ``decode``."""
    kind = kind_of(result, "value")
    if kind == "value":
        return Decoded(revive(result["value"]))
    if kind == "skip":
        return Skipped(shortened(text(result["skip"], "skip")))
    error = result["error"]
    if not isinstance(error, dict):
        raise Malformed("has an error that is not an object")
    offset = error.get("offset")
    if offset is not None and (type(offset) is not int or offset < 0):
        raise Malformed("has an offset that is not a number of bytes")
    return RefusedFrame(text(error.get("reason"), "reason"), offset)


def read_encoded(result: Any) -> Answer:
    """Read one result of ``encode``."""
    kind = kind_of(result, "bytes")
    if kind == "bytes":
        data = text(result["bytes"], "bytes")
        if not _HEX.fullmatch(data):
            raise Malformed("has bytes that are not lower-case hex")
        return Encoded(bytes.fromhex(data))
    if kind == "skip":
        return Skipped(shortened(text(result["skip"], "skip")))
    error = result["error"]
    if not isinstance(error, dict):
        raise Malformed("has an error that is not an object")
    return Inexpressible(shortened(text(error.get("detail"), "detail")))


def kind_of(result: Any, success: str) -> str:
    """Return which of the three kinds of result it is."""
    kinds = (success, "error", "skip")
    found = [kind for kind in kinds if isinstance(result, dict) and kind in result]
    if len(found) != 1:
        raise Malformed(f"has to have one of {', '.join(kinds)}")
    return found[0]


def text(value: Any, name: str) -> str:
    """Return text; ``Malformed`` for anything else."""
    if not isinstance(value, str):
        raise Malformed(f"has a {name} that is not text")
    return value


def revive(value: Any) -> Any:
    """Turn ``{"hex": …}`` into bytes, at any depth; hex that is none stays, and shows as a difference."""
    if isinstance(value, dict):
        data = value.get("hex")
        if len(value) == 1 and isinstance(data, str) and _HEX.fullmatch(data):
            return bytes.fromhex(data)
        return {name: revive(part) for name, part in value.items()}
    return [revive(part) for part in value] if isinstance(value, list) else value


def excerpt(data: bytes) -> str:
    """Return how a line of output begins."""
    return shortened(data[: 4 * _EXCERPT].decode(errors="replace").rstrip("\n"))


def shortened(line: str) -> str:
    """Return the beginning of a line without characters that would disturb a terminal."""
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line[:_EXCERPT])
    return shown if len(line) <= _EXCERPT else f"{shown}…"


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
