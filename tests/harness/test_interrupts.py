"""SIGTERM as Ctrl-C, where that may be said."""

import signal
from concurrent.futures import ThreadPoolExecutor

from harness.interrupts import end_on_sigterm


def test_in_another_thread_a_signal_means_what_it_did() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(end_on_sigterm).result()
    assert signal.getsignal(signal.SIGTERM) == before


def test_who_has_another_use_for_it_keeps_that() -> None:
    def mine(*_: object) -> None:
        """Do nothing."""

    before = signal.signal(signal.SIGTERM, mine)
    try:
        end_on_sigterm()
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
