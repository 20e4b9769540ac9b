"""SIGTERM as Ctrl-C: who is told to end (by ``timeout`` in a CI, by a container's stop) reports what there is."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import cast

TWICE = 1.0
"""Seconds within which another SIGTERM is the same one: ``timeout`` tells a process, and then its group."""

AGAIN = 0.05
"""Seconds after which who was not heard says it again: what had the ear then is over, mostly."""


def end_on_sigterm() -> None:
    """Let the first SIGTERM raise KeyboardInterrupt, where nobody has another use for it.

    Who gives ``sys.unraisablehook`` another use afterwards calls this again.
    """
    # Only the main thread may say what a signal does: whoever calls from another one has to see to it.
    if threading.current_thread() is not threading.main_thread():
        return
    handler = signal.getsignal(signal.SIGTERM)
    if handler == signal.SIG_DFL:
        handler = _Ending()
        signal.signal(signal.SIGTERM, handler)
    if isinstance(handler, _Ending):
        handler.insist()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let SIGINT and SIGTERM wait until the context ends: what is started and not noted yet, nobody would end."""
    # Elsewhere nothing is interrupted.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # What is ignored stays so: a process that is started inherits that.
    heard = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    for number in heard:
        signal.signal(number, lambda told, frame: held.append(told))
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
        if held:
            signal.raise_signal(held[0])


class _Ending:
    """What SIGTERM does. Python drops what is raised while it takes an object away; then it is raised once more."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._last = -TWICE

    def __call__(self, number: int, frame: FrameType | None) -> None:
        # Workers that were forked end as they always did: whoever has started them reports.
        if os.getpid() != self._owner:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        before, self._last = self._last, time.monotonic()
        if self._last - before >= TWICE:
            raise KeyboardInterrupt

    def insist(self) -> None:
        """See to what is dropped from now on, a Ctrl-C as well."""
        others = sys.unraisablehook

        def dropped(unraisable: "sys.UnraisableHookArgs") -> None:
            if unraisable.exc_type is not KeyboardInterrupt:
                others(unraisable)
                return
            # Not at once: this is called from where it was dropped, and would be dropped again.
            again = threading.Timer(AGAIN, self._say_again)
            again.daemon = True
            again.start()

        sys.unraisablehook = dropped

    def _say_again(self) -> None:
        self._last = -TWICE
        # To the main thread itself: whatever it waits for ends with that.
        signal.pthread_kill(cast(int, threading.main_thread().ident), signal.SIGTERM)
