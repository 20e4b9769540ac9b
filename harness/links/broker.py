"""Brokers of our own: the processes of one, at an address; they have no place to keep anything."""

import contextlib
import os
import shutil
import signal
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.errors import NotInstalled, StartFailed
from harness.iuts.process import Process

Command = Sequence[str]
"""A program and its arguments."""

START_TIMEOUT = 20.0
"""Seconds for a broker to answer: it needs a fraction of one, but machines are busy."""

# Seconds until it is dialled again; the kernel refuses at once while nobody listens.
_RETRY = 0.005


def installed(program: str, package: str) -> str:
    """Return where a program is; NotInstalled names it, and Debian's package."""
    found = shutil.which(program)
    if found is None:
        raise NotInstalled(f"{program} is not installed: apt-get install {package} (Debian), or have it in PATH")
    return found


class Broker:
    """The processes of a broker; ``commands`` says which, for a folder that is gone once they have started."""

    def __init__(self, name: str, commands: Callable[[Path], Sequence[Command]]) -> None:
        self.name = name
        self._commands = commands
        self._processes: list[Process] = []

    @property
    def is_running(self) -> bool:
        """Whether it was started, and not killed."""
        return bool(self._processes)

    def complaint(self) -> str:
        """Return what the first process printed last that has ended by itself; empty when all live."""
        for each in self._processes:
            if not each.alive():
                each.settle()
                return f"{self.name} has ended:\n" + textwrap.indent(each.output_tail(), "  ")
        return ""

    def start(self, dial: Callable[[], None]) -> None:
        """Start it, and return when ``dial`` raises no OSError; StartFailed when that does not come to pass."""
        # Should somebody tell the broker to save what it has, it finds no place for that; nor is a folder left when
        # the tester is killed.
        with tempfile.TemporaryDirectory(prefix="goldwire-broker-") as folder:
            try:
                for command in self._commands(Path(folder)):
                    self._processes.append(Process(command, os.environ, control=False))
                self._await(dial)
            except BaseException:
                self.kill()
                raise

    def _await(self, dial: Callable[[], None]) -> None:
        give_up = time.monotonic() + START_TIMEOUT
        while True:
            try:
                dial()
            except OSError as error:
                if complaint := self.complaint():
                    raise StartFailed(complaint) from error
                if time.monotonic() > give_up:
                    raise StartFailed(f"{self.name} does not answer after {START_TIMEOUT:g} s: {error}") from error
            else:
                # Somebody else may have answered who has the port, and then ours has ended.
                if complaint := self.complaint():
                    raise StartFailed(complaint)
                return
            self._processes[-1].wait(_RETRY)

    def kill(self) -> None:
        """Kill its processes (SIGKILL); once is enough."""
        while self._processes:
            process = self._processes.pop()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.stop()
