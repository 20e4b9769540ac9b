"""Runs of ``goldwire test`` as processes of their own, watched from outside: how far they are, what they leave."""

import time
from pathlib import Path

MARK = "GOLDWIRE_TEST_MARK"
"""A variable of the environment by which all processes of a run are known."""


def wait_for_cases(journal: Path, number: int, *, within: float = 60) -> None:
    """Wait until so many cases are in the journal of a run, behind its first line."""
    deadline = time.monotonic() + within
    while not journal.exists() or journal.read_bytes().count(b"\n") <= number:
        assert time.monotonic() < deadline, f"not {number} cases within {within:g} s"
        time.sleep(0.02)


def processes(mark: str) -> list[str]:
    """Return the processes whose environment carries a mark of ours."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found
