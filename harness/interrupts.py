"""SIGTERM as Ctrl-C: who is told to end (by ``timeout`` in a CI, by a container's stop) reports what there is."""

import os
import signal
import threading
import time
from types import FrameType

TWICE = 1.0
"""Seconds within which another SIGTERM is the same one: ``timeout`` tells a process, and then its group."""


def end_on_sigterm() -> None:
    """Let the first SIGTERM raise KeyboardInterrupt, where nobody has another use for it."""
    # Only the main thread may say what a signal does: whoever calls from another one has to see to it.
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return
    owner, last = os.getpid(), -TWICE

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal last
        # Workers that were forked end as they always did: whoever has started them reports.
        if os.getpid() != owner:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        before, last = last, time.monotonic()
        if last - before >= TWICE:
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
