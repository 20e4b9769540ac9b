"""A pool of processes that nobody has to wait for: Ctrl-C ends what is being computed, and what waits to be."""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children
from multiprocessing.context import BaseContext


@contextmanager
def worker_pool(
    workers: int, initializer: Callable[[], object] | None = None, context: BaseContext | None = None
) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of so many processes, each of which calls ``initializer`` first; they end with the block.

    Where the block ends by an exception, they are killed: nobody takes what they would come to.
    """
    before = set(active_children())
    pool = ProcessPoolExecutor(workers, context, partial(_begin, initializer))
    try:
        yield pool
    except BaseException:
        mine = [each for each in active_children() if each not in before]
        pool.shutdown(wait=False, cancel_futures=True)
        for each in mine:
            each.kill()
        raise
    pool.shutdown()


def _begin(initializer: Callable[[], object] | None) -> None:
    # Of a terminal it reaches all of them; the process that collects says what there is, once.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if initializer is not None:
        initializer()
