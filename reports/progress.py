"""Progress: how much of long work is done, measured from another thread and shown on a terminal."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")

OnProgress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""

PERIOD = 0.3
"""Seconds between two reports: often enough for the eye, and rarely enough to cost nothing."""

MEGABYTE = 1_000_000


@contextmanager
def reporting(report: Callable[[], None], period: float = PERIOD) -> Iterator[None]:
    """Call ``report`` every ``period`` seconds as long as the context lasts, and once at its end."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(period):
            report()

    # A thread, as what is measured is deep in Arrow, Spark or a loop that must not slow down to report.
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
        report()
    finally:
        # Also when the work fails: a thread that goes on would draw over the message that says why.
        over.set()
        thread.join()


def megabytes(size: int) -> int:
    """Return bytes as megabytes, rounded up."""
    return -(-size // MEGABYTE)


def write_position(path: Path, read: int) -> None:
    """Write down how many bytes were read; a report that cannot be written is left out, as the next one comes soon."""
    with suppress(OSError):
        # A file and not a message: the task runs in a Python that Spark has started, to which there is no way but the
        # disk.
        path.write_text(f"{read}\n")


def noted(folder: str, items: Iterable[Item], size: Callable[[Item], int], name: str) -> Iterator[Item]:
    """Hand on the items of a task, and note in a folder how much of them was taken; empty: nowhere.

    A task that is run again under its name notes the same once more.
    """
    done, said = 0, time.monotonic()
    for item in items:
        yield item
        done += size(item)
        if folder and time.monotonic() - said > PERIOD:
            said = time.monotonic()
            write_position(Path(folder, name), done)
    if folder:
        write_position(Path(folder, name), done)


def read_positions(paths: list[Path]) -> int:
    """Return how many bytes were read, as far as it is written down."""
    total = 0
    for path in paths:
        with suppress(OSError, ValueError):  # nothing yet, or just being written
            total += int(path.read_text())
    return total


@contextmanager
def progress_bar(job: str) -> Iterator[OnProgress]:
    """Show on a terminal how much is done, and nothing where standard error is none."""
    # Loaded here, as workers of Spark load this module and show nothing.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Gone when the work is done, so that what is printed on standard output stands alone; nothing at all in a pipe.
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(job, total=None)

        def on_progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield on_progress
