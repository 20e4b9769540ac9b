"""One input in a process of its own: whether engines differ on it, or whether it ends, hangs or bloats the process.

``python -m fuzz.isolation`` reads an ``IsolatedRun`` as JSON on standard input and writes an
``IsolatedOutcome``. Engines are tried in forks of that process, each alone: so the one that ends is known, and trying
many inputs is cheap.
"""

import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import msgspec

from fuzz.limits import limit_memory
from vectors.checks.check import parsed
from vectors.checks.differential import Difference, Panel
from vectors.minimising import minimise
from wire import engines
from wire.errors import DecodeError, EncodeError

MEMORY = "memory"
MINIMISING_SECONDS = 5.0
"""Seconds to look for a smaller input that ends a process."""


class IsolatedRun(msgspec.Struct, frozen=True):
    """What to try: bytes, or the JSON of a value to encode.

    ``fatal`` says that it may end the process, so that engines are tried alone, with ``seconds`` and ``megabytes``
    for each; ``smaller`` that a smaller input that does the same is wanted.
    """

    layout: str
    engines: tuple[str, ...]
    data: bytes = b""
    value: str | None = None
    fatal: bool = False
    smaller: bool = False
    seconds: float = 5.0
    megabytes: int = 2048


class IsolatedOutcome(msgspec.Struct, frozen=True):
    """What came of it: the difference, ``None`` if there is none, and the input on which it shows."""

    difference: Difference | None
    data: bytes = b""


class IsolationFailed(Exception):
    """The process gave no outcome; the message has what it wrote instead."""


def run_isolated(task: IsolatedRun) -> IsolatedOutcome:
    """Try an input in a process of its own.

    A process that does not end in time is a hang of all engines. Raises ``IsolationFailed`` if it fails by itself.
    """
    # Each engine alone in two modes and once more when it is made small; ten seconds for Python and the imports.
    timeout = 10 + 3 * len(task.engines) * task.seconds + (2 * MINIMISING_SECONDS if task.smaller else 0)
    try:
        # A fresh interpreter, by its module: what this process has loaded and changed cannot play a part.
        done = subprocess.run(
            [sys.executable, "-P", "-m", "fuzz.isolation"],
            input=msgspec.json.encode(task),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return IsolatedOutcome(
            fatal_difference("hang", dict.fromkeys(task.engines, "does not come to an end")), task.data
        )
    # Not an engine alone, which dies in a fork, but the process that forks: all engines together, or the import of one.
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return IsolatedOutcome(
            fatal_difference("crash", dict.fromkeys(task.engines, f"ends the process with {name}")), task.data
        )
    if done.returncode:
        raise IsolationFailed(done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}")
    return msgspec.json.decode(done.stdout, type=IsolatedOutcome)


def fatal_difference(kind: str, said: dict[str, str]) -> Difference:
    """Return the difference of engines that end, hang or bloat the process."""
    trait = tuple(f"{name} {how}" for name, how in said.items())
    return Difference(kind, False, trait, "(frame)", tuple((name, (how,)) for name, how in said.items()))


def run_here(task: IsolatedRun) -> IsolatedOutcome:
    """Try an input here; engines alone in forks if it is ``fatal``."""
    if not task.fatal:
        panel = Panel(task.layout, [engines.engine(name) for name in task.engines])
        if task.value is not None:
            return IsolatedOutcome(panel.difference_on(parsed(task.value)))
        return IsolatedOutcome(panel.difference(task.data), task.data)
    difference = _fatal_end(task, task.data)
    # A hang takes seconds for each try, and memory nearly as long: only crashes are made small.
    if difference is None or not task.smaller or difference.kind != "crash":
        return IsolatedOutcome(difference, task.data)

    def keeps(data: bytes) -> bool:
        found = _fatal_end(task, data)
        return found is not None and found.signature == difference.signature

    return IsolatedOutcome(difference, minimise(task.layout, task.data, keeps, MINIMISING_SECONDS))


def _fatal_end(task: IsolatedRun, data: bytes) -> Difference | None:
    """Return how engines end when each is tried alone; the worst kind, of those that end so."""
    said: dict[str, dict[str, str]] = {}
    for name in task.engines:
        how = _end_of_engine(task, name, data)
        if how is not None:
            said.setdefault(how[0], {})[name] = how[1]
    # The worst first; one finding is about one kind of end.
    return next((fatal_difference(kind, said[kind]) for kind in ("crash", MEMORY, "hang") if kind in said), None)


def _end_of_engine(task: IsolatedRun, name: str, data: bytes) -> tuple[str, str] | None:
    """Show an input to one engine, in a fork; return the kind of its end and how it ended, ``None`` if well."""
    codec = engines.engine(name).codec(task.layout)  # loaded once, before the forks
    # A fork, where a new interpreter would take a second for each of the hundreds of inputs that minimising tries. This
    # process has no threads.
    child = os.fork()
    if child == 0:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash here is expected: no core file for each
            # Both modes: a crash may be in either.
            for refuse in (False, True):
                _run_codec(codec.decode, codec.encode, data, refuse)
            status = 0
        except MemoryError:
            status = 2
        finally:
            os._exit(status)  # not the exit handlers of the process that was forked
    # A descriptor of the process can be waited for with a limit; waitpid cannot.
    watched = os.pidfd_open(child)
    try:
        if not select.select([watched], [], [], task.seconds)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hang", f"takes more than {task.seconds:g} s"
    finally:
        os.close(watched)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return "crash", f"ends the process with {signal.Signals(-status).name}"
    return (MEMORY, f"takes more than {task.megabytes} MB") if status == 2 else None


def _run_codec(decode: Callable[..., object], encode: Callable[[object], bytes], data: bytes, refuse: bool) -> None:
    with suppress(DecodeError, EncodeError, RecursionError):
        encode(decode(data, refuse))


def main() -> None:
    """Try what standard input says."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=IsolatedRun)
    limit_memory(task.megabytes)
    sys.stdout.buffer.write(msgspec.json.encode(run_here(task)))


if __name__ == "__main__":
    main()
