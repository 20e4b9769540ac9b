"""A process with its output, its control lines and its certain end.

The process leads a session of its own. It is ended with everything in its process group: by ``stop``, when
the tester exits, and by the kernel when the tester is killed (``guard.py``). The kernel counts the thread
that started a process as its parent, so start one from a thread that lives as long as it should.
"""

import atexit
import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from harness.iuts.control import Control
from harness.iuts.forking import StartedProcess, forked

READY = "ready"
EVENT = "event "

_GUARD = Path(__file__).with_name("guard.py")
# Seconds from SIGTERM to SIGKILL: time to say goodbye, not to hang.
_TERM_TIMEOUT = 3.0
# Seconds for the last lines after the end; a process that left the group may hold the pipe open for ever. Not scaled:
# what was printed is in the pipe, and reading it is our own work.
_READER_TIMEOUT = 2.0
_DEATH_POLL = 0.2
# Seconds between the end of a dying process's pipes and its death: milliseconds, but for a core dump.
_DYING_TIMEOUT = 1.0
# Seconds without a word after which a node has told all about its crash: the lines of a traceback come at once.
_PAUSE = 0.2
# Sanitizers look up places, some with a program that they start, and their report is whole when the process has ended.
_REPORTS = ("Sanitizer", "runtime error:")
_REPORT_PAUSE = 3.0
# Seconds in all, for one that goes on talking.
_HEARING = 10.0
# What a node prints is kept for the message that says how it died, and must not fill the tester's memory.
_LINES_KEPT = 200
# And from the first sign of a crash on, as many: some tell all that they know of themselves behind it.
_CRASH_LINES_KEPT = 80
_LINE_LENGTH = 2000
# Events are what cases look for, so many more are kept; a case that wants more than these has gone wrong.
_EVENTS_KEPT = 100_000
_running: set["Process"] = set()


def guarded(command: Sequence[str]) -> list[str]:
    """Return a command that the kernel kills when this process dies, started by a thread that lives as long."""
    # Isolated and without site packages: the guard needs the standard library only, and starts sooner.
    return [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), *command]


def started(command: Sequence[str], env: Mapping[str, str], *, control: bool) -> StartedProcess:
    """Start a command."""
    return subprocess.Popen(
        guarded(command),
        # Without control lines it has no input: it must not read the tester's terminal.
        stdin=subprocess.PIPE if control else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        # On its own: readiness, events and answers count on standard output only.
        stderr=subprocess.PIPE,
        env=dict(env),
        # A session of its own, so that Ctrl-C does not reach it and its whole group can be signalled.
        start_new_session=True,
    )


def forked_peer(protocol: str, command: Sequence[str], env: Mapping[str, str], *, control: bool) -> StartedProcess:
    """Start ``python -m MODULE …``, as ``started`` would, without loading it anew."""
    return forked(protocol, command[command.index("-m") + 1 :], env, guarded(()), control=control)


class Process:
    """A started command; ``pid`` is its own, ``control`` answers None unless it speaks control lines.

    ``start`` is how it is started.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        control: bool,
        crash_signs: Sequence[str] = (),
        time_scale: float = 1.0,
        start: Callable[..., StartedProcess] = started,
    ) -> None:
        self._lines: deque[str] = deque(maxlen=_LINES_KEPT)
        self._events: deque[str] = deque(maxlen=_EVENTS_KEPT)
        self._changed = threading.Condition()
        self._ready = False
        self._crash_signs = tuple(crash_signs)
        self._crash_line = ""
        self._crash_lines: list[str] = []
        self._since_crash = 0
        self._pipes_open = 2
        self._is_settled = False
        self._is_heard_out = False
        self._time_scale = time_scale
        self._awaited = False
        self._stopping = threading.Lock()
        self._popen = start(command, env, control=control)
        _running.add(self)
        self.pid = self._popen.pid
        # Tells of the end without reaping it: while it is not reaped, no other process can get its number.
        self._end = os.pidfd_open(self.pid)
        self._exit_status: int | None = None
        self.control = Control(self._write) if control else None
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._readers = [
            threading.Thread(target=self._read, args=[self._popen.stdout, True], daemon=True),
            threading.Thread(target=self._read, args=[self._popen.stderr, False], daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def exit_status(self) -> int | None:
        """The exit status, minus the signal's number after a signal; None while it runs."""
        if self._exit_status is None:
            seen = os.waitid(os.P_PIDFD, self._end, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if seen is not None:
                self._exit_status = seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status
        return self._exit_status

    def alive(self) -> bool:
        """Return whether it runs; of a process that closed all its output, its end is awaited first."""
        if not self._pipes_open and not self._awaited:
            # The kernel closes a dying process's pipes a moment before it is dead.
            self._awaited = True
            self.wait(_DYING_TIMEOUT * self._time_scale)
        return self.exit_status is None

    def output_tail(self) -> str:
        """Return the last lines of its standard output and error, in the order in which they came.

        Of one that has printed a sign of a crash, also the first from there on.
        """
        with self._changed:
            last = list(self._lines)
            gone = self._crash_lines[: max(0, self._since_crash - len(last))]
            return "\n".join([*gone, *last])

    def events(self) -> list[str]:
        """Return the texts of the lines ``event TEXT`` on its standard output, of the last 100,000."""
        with self._changed:
            return list(self._events)

    def crash_line(self) -> str:
        """Return the first line of its output that holds a sign of a crash; empty when there was none."""
        with self._changed:
            return self._crash_line

    def wait(self, seconds: float) -> bool:
        """Wait for its end; False when it still runs after ``seconds``."""
        if self.exit_status is None:
            poll = select.poll()
            # poll, since the descriptor may be above what select(2) takes.
            poll.register(self._end, select.POLLIN)
            poll.poll(None if math.isinf(seconds) else math.ceil(max(seconds, 0.0) * 1000))
        return self.exit_status is not None

    def wait_ready(self, seconds: float) -> bool:
        """Wait for a line that starts with ``ready``; False when none came within ``seconds``."""
        give_up = time.monotonic() + seconds
        with self._changed:
            while not self._ready:
                left = give_up - time.monotonic()
                if left <= 0 or not self.alive() or not self._pipes_open:
                    return False
                # Its end is seen as that of its pipes; but a process that it left behind may hold those.
                self._changed.wait(min(left, _DEATH_POLL))
        return True

    def hear_out(self) -> None:
        """After a sign of a crash, wait until it has ended, or says nothing more for a moment; once is enough."""
        if self._is_heard_out or not self.crash_line():
            return
        self._is_heard_out = True
        pause = _REPORT_PAUSE if any(each in self.crash_line() for each in _REPORTS) else _PAUSE
        give_up, heard = time.monotonic() + _HEARING * self._time_scale, 0
        while heard != (heard := self._since_crash) and time.monotonic() < give_up:
            if self.wait(pause * self._time_scale):
                return

    def stop(self) -> None:
        """End it and all of its group: input ended, SIGTERM, after 3 scaled seconds SIGKILL; once is enough."""
        # A play may stop it while the tester's exit does.
        with self._stopping:
            if self not in _running:
                return
            try:
                if self.alive():
                    self._close_input()
                    self._signal(signal.SIGTERM)
                    self.wait(_TERM_TIMEOUT * self._time_scale)
            finally:
                # The whole group, also when the command itself has ended: what it started may still run.
                self._signal(signal.SIGKILL)
                self.wait(math.inf)
                # Reaped only now: until here no other process could have its number, and be killed in its place.
                self._popen.wait()
                os.close(self._end)
                self._hang_up()
                _running.discard(self)

    def settle(self) -> None:
        """After its end, wait until its last lines are read; once is enough."""
        for reader in self._readers:
            reader.join(0.0 if self._is_settled else _READER_TIMEOUT)
        self._is_settled = True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _hang_up(self) -> None:
        self.settle()
        self._close_input()
        for reader, pipe in zip(self._readers, (self._popen.stdout, self._popen.stderr), strict=True):
            # A process that left the group may hold the pipe open; its reader then ends with the pipe.
            if pipe is not None and not reader.is_alive():
                pipe.close()

    def _close_input(self) -> None:
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    def _write(self, line: str) -> None:
        assert self._popen.stdin is not None
        self._popen.stdin.write(line.encode())
        self._popen.stdin.flush()

    def _read(self, pipe: IO[bytes], answers: bool) -> None:
        # A line without end is cut, rather than kept.
        while chunk := pipe.readline(_LINE_LENGTH):
            line = chunk.decode(errors="replace").rstrip("\r\n")
            with self._changed:
                if answers and line.startswith(READY):
                    self._ready = True
                    self._changed.notify_all()
                if answers and line.startswith(EVENT):
                    self._events.append(line.removeprefix(EVENT))
                if answers and self.control is not None and self.control.feed(line):
                    continue
                self._lines.append(line)
                if not self._crash_line and any(sign in line for sign in self._crash_signs):
                    self._crash_line = line
                if self._crash_line:
                    self._since_crash += 1
                    if len(self._crash_lines) < _CRASH_LINES_KEPT:
                        self._crash_lines.append(line)
        with self._changed:
            self._pipes_open -= 1
            # Not before both are closed: who hears of the end may ask at once whether it is alive.
            if not self._pipes_open and self.control is not None:
                self.control.end()
            self._changed.notify_all()


@atexit.register
def _stop_all() -> None:
    for process in list(_running):
        process.stop()
