"""Pools of processes: nobody waits for what was interrupted."""

import os
import signal
import time
from multiprocessing import active_children
from multiprocessing.connection import wait

import pytest

from harness.worker_pool import worker_pool


def test_what_is_computed_ends_with_the_block() -> None:
    with worker_pool(1) as pool:
        other = pool.submit(os.getpid).result()
        assert other != os.getpid()
        # Ctrl-C reaches the whole group: in a worker it does nothing.
        assert pool.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN


def test_nobody_waits_for_what_is_computed_when_it_is_interrupted() -> None:
    """A regression: ``selfcheck`` went on for minutes, row by row, as the pool waited for all that was asked for."""
    running = []
    with pytest.raises(KeyboardInterrupt), worker_pool(1) as pool:  # noqa: PT012 (what runs is what is asked about)
        pool.submit(os.getpid).result()
        running += active_children()
        for _ in range(3):
            pool.submit(time.sleep, 3600)
        raise KeyboardInterrupt
    assert len(wait([each.sentinel for each in running], timeout=60)) == len(running) == 1


def test_a_process_is_prepared() -> None:
    with worker_pool(1, _prepare) as pool:
        assert pool.submit(os.getenv, "GOLDWIRE_TEST_POOL").result() == "prepared"


def _prepare() -> None:
    os.environ["GOLDWIRE_TEST_POOL"] = "prepared"
