"""Starvation: where the machine had no core to spare, it is not the implementation that answers nobody."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from fuzz.net.symptoms import Symptom

ENOUGH = 2.5
"""Seconds without waiting for a core in which whoever answers at all has answered."""

TRIES = 12
"""How often it is looked until there were so many, at most."""

UNTOLD = 10.0
"""Seconds for which it is waited at most until a thread that is ready to run has a core."""

LATE = ("hang", "service")
"""The kinds of symptoms that are told by what has not come in time, and last."""


def unless_starved(look: Callable[[], Symptom | None], pids: Callable[[], Iterable[int | str]]) -> Symptom | None:
    """Look whether anybody is answered; again, as long as that was mostly waiting for a core.

    ``pids`` are the processes of the implementation; the tester's own counts as well.
    """
    symptom, had = None, 0.0
    for _ in range(TRIES):
        began, account = time.monotonic(), CoreAccount((os.getpid(), *pids()))
        symptom = look()
        if symptom is None or symptom.kind not in LATE:
            break
        waited = account.waited()
        took = time.monotonic() - began
        had += max(0.0, took - waited)
        if had >= ENOUGH or waited < took / 2:
            break
    return symptom


class CoreAccount:
    """How long some processes wait for a core, from when it is opened."""

    def __init__(self, pids: Iterable[int | str]) -> None:
        self._before = {pid: delays(pid) for pid in pids}

    def waited(self) -> float:
        """Return for how many seconds they have, together: who is asked begins when who asks has had its core.

        Those who are ready to run come to run first.
        """
        _let_run(pid for pid in self._before if pid != os.getpid())
        return sum(_waited(before, delays(pid)) for pid, before in self._before.items())


def _let_run(pids: Iterable[int | str]) -> None:
    """Wait until each thread that is ready to run has run: for how long it waits is only told behind that."""
    deadline = time.monotonic() + UNTOLD
    for pid in pids:
        for thread in _threads(pid):
            with suppress(OSError, IndexError):
                before = (thread / "schedstat").read_text()
                while _is_ready(thread) and before == (thread / "schedstat").read_text():
                    if time.monotonic() > deadline:
                        return
                    time.sleep(0.005)


def _is_ready(thread: Path) -> bool:
    """Tell whether a thread runs, or would if it had a core."""
    return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"


def _waited(before: dict[str, float], after: dict[str, float]) -> float:
    """Return how long the thread of a process has waited that has waited longest."""
    return max((each - before.get(thread, 0.0) for thread, each in after.items()), default=0.0)


def delays(pid: int | str) -> dict[str, float]:
    """Return for how many seconds each thread of a process was ready to run and had no core, since it began."""
    found = {}
    for thread in _threads(pid):
        # A kernel that keeps no account of it has no such file, and nobody is known to have waited.
        with suppress(OSError, ValueError, IndexError):
            found[thread.name] = int((thread / "schedstat").read_text().split()[1]) / 1e9
    return found


def _threads(pid: int | str) -> list[Path]:
    """Return where the kernel tells of the threads of a process; of none where it has ended."""
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []
