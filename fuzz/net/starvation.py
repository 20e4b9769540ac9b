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

LATE = ("hang", "service")
"""The kinds of symptoms that are told by what has not come in time, and last."""


def unless_starved(look: Callable[[], Symptom | None], pids: Callable[[], Iterable[int | str]]) -> Symptom | None:
    """Look whether anybody is answered; again, as long as that was mostly waiting for a core.

    ``pids`` are the processes of the implementation; the tester's own counts as well.
    """
    symptom, had = None, 0.0
    for _ in range(TRIES):
        began, before = time.monotonic(), {pid: delays(pid) for pid in (os.getpid(), *pids())}
        symptom = look()
        if symptom is None or symptom.kind not in LATE:
            break
        took = time.monotonic() - began
        # One after the other: who is asked begins to wait when who asks has had its core.
        waited = min(took, sum(_waited(each, delays(pid)) for pid, each in before.items()))
        had += took - waited
        if had >= ENOUGH or waited < took / 2:
            break
    return symptom


def _waited(before: dict[str, float], after: dict[str, float]) -> float:
    """Return how long the thread of a process has waited that has waited longest."""
    return max((each - before.get(thread, 0.0) for thread, each in after.items()), default=0.0)


def delays(pid: int | str) -> dict[str, float]:
    """Return for how many seconds each thread of a process was ready to run and had no core, since it began."""
    found = {}
    tasks = Path(f"/proc/{pid}/task")
    with suppress(OSError):
        for thread in os.listdir(tasks):
            # A kernel that keeps no account of it has no such file, and nobody is known to have waited.
            with suppress(OSError, ValueError, IndexError):
                found[thread] = int((tasks / thread / "schedstat").read_text().split()[1]) / 1e9
    return found
