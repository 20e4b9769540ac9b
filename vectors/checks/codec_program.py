"""The process behind the pipe: a program that is asked line by line, with deadlines, and ends with all it has started.

The program is somebody's first attempt at a codec: it may answer before it has read all, write without being asked,
close its output and go on, or leave children behind that hold its pipes. So no pipe is ever read or written in a way
that could block: one selector waits for all three, and for the end of the process.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from typing import IO

from vectors.checks.answers import EXCERPT, Crashed, Failure, Garbage, Hung, PartialLine, excerpt, shortened

_CHUNK = 1 << 16
"""Bytes of one read or write: what a pipe of Linux holds, so that more would not move at once."""

_STDERR_SHOWN = 10
_STDERR_KEPT = 1 << 13
"""The end of standard error that is kept: a stack trace in most languages, whatever the program logs."""


class PipeError(Exception):
    """Base of what the pipe raises."""


class ProgramNotStarted(PipeError):
    """The program could not be started or did not describe itself; the message says how that showed."""


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
        self._has_ended = False
        try:
            self._popen = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Unbuffered: the selector says what can be read now, and a buffer of Python's would hold some of it
                # back.
                bufsize=0,
                # A group of its own: what the program has started ends with it, and Ctrl-C on the terminal reaches
                # goldwire alone, which ends the program itself once it has said what it found.
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ProgramNotStarted(f"cannot run {command[0] if command else 'nothing'!r}: {reason}") from None
        self._in, self._out, self._err = map(_opened, (self._popen.stdin, self._popen.stdout, self._popen.stderr))
        self._pidfd = -1
        self._selector = selectors.DefaultSelector()
        try:
            # Tells of the end without reaping it: while it is not reaped, no other group can get its number.
            self._pidfd = os.pidfd_open(self._popen.pid)
            for pipe in (self._in, self._out, self._err):
                # A pipe that is ready takes some bytes, not all that one has: a blocking write of a large request would
                # wait for a program that itself waits for somebody to read its answer.
                os.set_blocking(pipe.fileno(), False)
            for file in (self._out, self._err, self._pidfd):
                self._selector.register(file, selectors.EVENT_READ)
        except BaseException:
            self.kill()
            raise

    def exchange(self, request: bytes, seconds: float) -> bytes | Failure:
        """Send a line and return the line that answers it, without its end."""
        # One deadline for all of the exchange: a program that sends a byte every second would never miss one per read.
        give_up = time.monotonic() + seconds
        self._transfer(0)
        if self._output:
            return self._garbage("writes without being asked", bytes(self._output))
        self._send(request)
        while True:
            found = self._output.find(b"\n", self._scanned)
            self._scanned = len(self._output)
            # Bounded also where no line has ended yet: a program that never writes one would otherwise fill our memory.
            if found > self._longest or (found < 0 and self._scanned > self._longest):
                return self._garbage(f"a line of more than {self._longest} bytes", bytes(self._output[:EXCERPT]))
            if found >= 0:
                return self._answer(found)
            if not self._is_open(self._out):
                return self._outcome_of_end(give_up, seconds)
            left = give_up - time.monotonic()
            if left <= 0:
                return Hung(seconds, stderr=self._stderr_lines())
            # The end of the process is seen before the end of its output if a child of it holds the pipe open; then
            # what is there already is read first, as it may be the whole answer. Nothing is waited for any more: when
            # its pipes have ended as well, nothing would ever come, and the wait would last to the deadline.
            if not self._transfer(0 if self._has_ended else left) and self._has_ended:
                return self._outcome_of_end(give_up, seconds)

    def finish(self, seconds: float) -> Failure | None:
        """End its input and await its end, which has to be quiet and with status 0; ``None`` if it is."""
        give_up = time.monotonic() + seconds
        self._close_input()
        # It may have much to write on its way out, to the log as well, and would block if nobody read that: so the wait
        # is one that reads.
        while not self._has_ended and (left := give_up - time.monotonic()) > 0:
            self._transfer(left)
        if not self._has_ended:
            return Hung(seconds, " to the end of the input: it does not end", stderr=self._stderr_lines())
        self._drain()
        if self._output:
            return self._garbage("writes without being asked", bytes(self._output))
        status = self._status()
        return Crashed(status, stderr=self._stderr_lines()) if status else None

    def kill(self) -> None:
        """End it and all of its group; once it is gone, do nothing."""
        if self._popen.returncode is not None:
            return
        try:
            # Gone already, or run with another user's rights (setuid): then its own end is all that can be waited for.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        finally:
            # Reaped last: until then nobody else can have its number, and the signal above cannot hit a stranger.
            self._popen.wait()
            self._selector.close()
            if self._pidfd >= 0:
                os.close(self._pidfd)
            for pipe in (self._in, self._out, self._err):
                pipe.close()

    def _answer(self, end: int) -> bytes | Failure:
        line = bytes(self._output[:end])
        del self._output[: end + 1]
        self._scanned = 0
        # The answer came from something else than the request, such as one left over from the request before: what it
        # says may fit by accident.
        if self._unsent:
            return self._garbage("answers before it has read the request", line)
        self.answered += 1
        return line

    def _is_open(self, file: IO[bytes]) -> bool:
        return file in self._selector.get_map()

    def _send(self, data: bytes) -> None:
        if not self._in.closed:
            self._unsent = memoryview(data)
            self._selector.register(self._in, selectors.EVENT_WRITE)

    def _close_input(self) -> None:
        if self._is_open(self._in):
            self._selector.unregister(self._in)
        self._unsent = memoryview(b"")
        with contextlib.suppress(OSError):
            self._in.close()

    def _transfer(self, seconds: float) -> bool:
        """Move what can be moved, waiting for it at most so long; tell whether there was anything."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            # The input is compared by identity and the others by equality: the selector has the end of the process as a
            # number.
            if key.fileobj is self._in:
                self._write()
            elif key.fileobj == self._pidfd:
                self._has_ended = True
                self._selector.unregister(self._pidfd)
            else:
                self._read(self._out if key.fileobj is self._out else self._err)
        return bool(ready)

    def _write(self) -> None:
        try:
            # In portions, so that what the program writes meanwhile is read between two of them.
            self._unsent = self._unsent[os.write(self._in.fileno(), self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it has closed its input: what it wrote before, and its end, say more
            self._close_input()
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
            # Whole chunks are dropped, and only as long as enough is left without the oldest: cutting one long string
            # anew for each chunk would take quadratic time under a program that logs a lot.
            while sum(map(len, self._errors)) - len(self._errors[0]) >= _STDERR_KEPT:
                self._errors.popleft()

    def _drain(self) -> None:
        """After its end, read what is left; a process that it left behind may keep its pipes open."""
        while len(self._output) <= self._longest and self._transfer(0):
            pass

    def _outcome_of_end(self, give_up: float, seconds: float) -> Failure:
        # Its output has ended, which may be just before its exit: only then its status is known, and says most.
        while not self._has_ended and (left := give_up - time.monotonic()) > 0:
            self._transfer(left)
        if not self._has_ended:
            return Hung(seconds, ": it has closed its output and goes on", stderr=self._stderr_lines())
        self._drain()
        status = self._status()
        if self._output:
            return PartialLine(status, excerpt(bytes(self._output)), stderr=self._stderr_lines())
        return Crashed(status, stderr=self._stderr_lines())

    def _status(self) -> int:
        # Looked at, not reaped (WNOWAIT), for the reason above; ``kill`` reaps.
        seen = os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOWAIT)
        assert seen is not None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def _garbage(self, what: str, line: bytes) -> Garbage:
        return Garbage(what, excerpt(line), stderr=self._stderr_lines())

    def _stderr_lines(self) -> tuple[str, ...]:
        text = b"".join(self._errors)[-_STDERR_KEPT:].decode(errors="replace")
        return tuple(shortened(line) for line in text.splitlines()[-_STDERR_SHOWN:])

    def stderr_tail(self) -> tuple[str, ...]:
        """Return the last lines of its standard error."""
        self._transfer(0)
        return self._stderr_lines()


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
