"""Telling: how far something has come, from another thread, several times a second."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PERIOD = 0.3
"""Seconds between two times."""

MEGABYTE = 1_000_000


@contextmanager
def told(tell: Callable[[], None], period: float = PERIOD) -> Iterator[None]:
    """Call ``tell`` every ``period`` seconds as long as the context lasts, and once at its end."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(period):
            tell()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
        tell()
    finally:
        over.set()
        thread.join()


def megabytes(size: int) -> int:
    """Return bytes as megabytes, rounded up."""
    return -(-size // MEGABYTE)


def note(path: Path, read: int) -> None:
    """Write down how many bytes were read; what cannot be written is not told."""
    with suppress(OSError):
        path.write_text(f"{read}\n")


def noted(paths: list[Path]) -> int:
    """Return how many bytes were read, as far as it is written down."""
    total = 0
    for path in paths:
        with suppress(OSError, ValueError):  # nothing yet, or just being written
            total += int(path.read_text())
    return total
