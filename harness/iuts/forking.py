"""Processes of our own peers, forked off one that has loaded all of the protocol: an interpreter would take ten times
as long to start, most of a campaign's time where peers die of what they are told.

A forked process is what a started one is: it leads a session of its own, its parent is the tester, its pipes are those
that it was given, and the kernel ends it with the tester.
"""

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Protocol

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37

_LONGEST = 1 << 16
"""Bytes of a request, or of its answer."""


class StartedProcess(Protocol):
    """A process that was started: its number, its pipes, and its end; ``subprocess.Popen`` is one."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    @property
    def stdin(self) -> IO[bytes] | None:
        """What it reads, if anything."""
        ...

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it prints."""
        ...

    @property
    def stderr(self) -> IO[bytes] | None:
        """What it complains."""
        ...

    def wait(self) -> int:
        """Wait for its end, and take note of it: from then on another process may have its number."""
        ...


class ForkedProcess:
    """A process that was forked off a template."""

    def __init__(self, pid: int, stdin: IO[bytes] | None, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self.pid, self.stdin, self.stdout, self.stderr = pid, stdin, stdout, stderr

    def wait(self) -> int:
        """Wait for its end, and take note of it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class PeerTemplate:
    """A process that has loaded a protocol's peers, and forks one with each request."""

    def __init__(self, protocol: str, guard: Sequence[str]) -> None:
        self._environment = dict(os.environ)
        self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = subprocess.Popen(
                [*guard, sys.executable, "-m", "harness.iuts.peer_template", str(its.fileno()), protocol],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                start_new_session=True,
            )

    def fork(self, command: Sequence[str], env: Mapping[str, str], *, control: bool) -> ForkedProcess:
        """Start a module with its arguments, as ``python -m``; ``OSError`` when the template is not there any more."""
        more = {name: text for name, text in env.items() if self._environment.get(name) != text}
        request = {"tester": os.getpid(), "command": list(command), "environment": more}
        out, its_out = os.pipe()
        complaints, its_complaints = os.pipe()
        its_in, write = os.pipe() if control else (os.open(os.devnull, os.O_RDONLY), None)
        theirs, ours = [its_in, its_out, its_complaints], [out, complaints, *([] if write is None else [write])]
        try:
            with _adopting():
                socket.send_fds(self._socket, [json.dumps(request).encode()], theirs)
                if not (answer := self._socket.recv(_LONGEST)):
                    raise ConnectionResetError("the template of peers has ended")
        except BaseException:
            for each in ours:
                os.close(each)
            raise
        finally:
            for each in theirs:
                os.close(each)
        return ForkedProcess(
            int(answer),
            None if write is None else os.fdopen(write, "wb"),
            os.fdopen(out, "rb"),
            os.fdopen(complaints, "rb"),
        )

    def end(self) -> None:
        """End it; what was forked off it stays."""
        self._socket.close()
        self._process.kill()
        self._process.wait()


@contextmanager
def _adopting() -> Iterator[None]:
    """Let whoever loses his parent within the context become the tester's own child, so that it can be waited for.

    Only then: nobody waits for what else is left behind, which would stay there as a zombie.
    """
    libc, before = ctypes.CDLL(None), ctypes.c_int()
    libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, before.value)


_templates: dict[tuple[int, str], PeerTemplate] = {}
"""By the tester's process, as what that has forked off itself is another one, and by the protocol."""
_one_at_a_time = threading.Lock()


def forked(
    protocol: str, command: Sequence[str], env: Mapping[str, str], guard: Sequence[str], *, control: bool
) -> ForkedProcess:
    """Return a process that runs a module with its arguments, forked off the template of a protocol."""
    ours = (os.getpid(), protocol)
    with _one_at_a_time:
        if (template := _templates.get(ours)) is not None:
            try:
                return template.fork(command, env, control=control)
            except OSError:
                # The kernel has ended it with the thread that had started it.
                template.end()
        template = _templates[ours] = PeerTemplate(protocol, guard)
        return template.fork(command, env, control=control)


@atexit.register
def _end_all() -> None:
    for (tester, _), template in _templates.items():
        if tester == os.getpid():
            template.end()
