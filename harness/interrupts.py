"""SIGTERM as Ctrl-C: who is told to end (by ``timeout`` in a CI, by a container's stop) reports what there is."""

import os
import signal
import sys
import threading
import time
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
