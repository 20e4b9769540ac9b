"""A long row of random frames in chunks, each from its own seed, over one process or many.

What a chunk finds depends on its number and the seed alone: any number of processes finds the same.
"""

import hashlib
import random
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from multiprocessing.sharedctypes import RawValue
from signal import SIG_BLOCK, SIG_IGN, SIG_SETMASK, SIG_UNBLOCK, SIGINT, SIGTERM, Signals, pthread_sigmask, signal
from traceback import format_exc
from typing import Any

import msgspec

from vectors.checks.differential import AnyEngine, Difference, Panel, unsteady
from vectors.invalid_values import make_invalid
from wire import engines as installed
from wire.reference import plain

CHUNK = 2_000
"""Frames of one seed: a tenth of a second or so, after which a process reports, and a lost one costs no more than that.

Part of what a sweep is: with another number, the same seed means other frames, and commands that repeat a finding by
its number (``--at``) find something else.
"""

CLOCK_EVERY = 128
"""Frames between two looks at the clock: often enough for ``--for 1s``, and with the slow engine as well."""

THOROUGH_EVERY = 16
"""Of so many frames that the slow engine sees, it does everything with one (``Panel.agrees``).

It decides how many frames there are in a minute, and what it is spared can hardly come out otherwise."""

SPOIL_EVERY = 4
"""Of so many accepted frames the value of one is spoiled and encoded: encoders that refuse are the rarer fault."""

HANG_SECONDS = 30.0
"""Seconds that one frame may take: the longest one takes the reference engine some, on a busy machine."""

MOST_RESTARTS = 5
"""Processes that are started anew after one was lost; who loses more has been seen enough of."""

Stream = Callable[[str, int], Iterator[tuple[bytes, tuple[str, ...]]]]
"""A layout's name and a seed to frames without end, each with the names of its mutations."""


class Sweep(msgspec.Struct, frozen=True):
    """What is swept: ``frames`` (``None``: up to ``deadline``, on the monotonic clock) of ``stream`` from ``seed``.

    ``share`` of the frames are shown to the slow engine as well; ``most`` different findings of a chunk are kept.
    """

    layout: str
    stream: Stream
    seed: int
    frames: int | None
    deadline: float | None
    share: float = 1.0
    most: int = 10


class Found(msgspec.Struct, frozen=True):
    """A difference: on ``data``, or when ``value`` was encoded; ``origin`` and ``number`` say where it comes from."""

    difference: Difference
    origin: str
    number: int
    names: tuple[str, ...]
    data: bytes | None = None
    value: Any = None


class SweptChunk(msgspec.Struct, frozen=True):
    """What came of a chunk: how many frames were compared, accepted, and how many values were spoiled."""

    chunk: int
    frames: int = 0
    accepted: int = 0
    spoiled: int = 0
    differing: int = 0
    found: tuple[Found, ...] = ()


class Position(msgspec.Struct):
    """Where a process is, for whoever survives it."""

    value: int = 0


def chunk_seed(seed: int, chunk: int) -> int:
    """Return the seed of a chunk."""
    # A digest, as ``seed + chunk`` would give the chunk 1 of seed 0 the frames of chunk 0 of seed 1; of Python's own
    # hash nobody promises that it stays the same.
    return int.from_bytes(hashlib.sha256(f"{seed}/{chunk}".encode()).digest()[:8])


def chunks(sweep: Sweep, first: int = 0, step: int = 1) -> Iterator[int]:
    """Give every ``step``-th chunk from ``first`` on, as long as there is something to sweep."""
    chunk = first
    while sweep.frames is None or chunk * CHUNK < sweep.frames:
        if sweep.deadline is not None and time.monotonic() > sweep.deadline:
            return
        yield chunk
        chunk += step


def drawn(sweep: Sweep, number: int) -> tuple[bytes, tuple[str, ...]]:
    """Return one frame of a sweep by its number."""
    source = sweep.stream(sweep.layout, chunk_seed(sweep.seed, number // CHUNK))
    # Frames have no addresses of their own: to draw one, those before it in its chunk are drawn and thrown away.
    for _ in range(number % CHUNK):
        next(source)
    data, names = next(source)
    return data, tuple(names)


def invalid_value(sweep: Sweep, number: int, value: Any) -> tuple[Any, str]:
    """Return the spoiled form of the value of a frame, by the frame's number."""
    # A generator of its own for each frame: what is spoiled does not depend on what was accepted before.
    return make_invalid(plain(value), random.Random(f"{sweep.seed}/{number}"))


def sweep_chunk(sweep: Sweep, engines: Sequence[AnyEngine], chunk: int, position: Any = None) -> SweptChunk:
    """Compare the frames of one chunk."""
    every = Panel(sweep.layout, engines)
    # With two engines there is nothing to compare if the first is left out.
    quick = Panel(sweep.layout, engines[1:]) if len(engines) > 2 else every
    share = sweep.share if len(engines) > 2 else 1.0
    source = sweep.stream(sweep.layout, chunk_seed(sweep.seed, chunk))
    position = position or Position()
    start = chunk * CHUNK
    end = start + CHUNK if sweep.frames is None else min(start + CHUNK, sweep.frames)
    accepted = spoiled = differing = number = 0
    found: dict[Any, Found] = {}

    def keep(panel: Panel, data: bytes | None, value: Any, names: tuple[str, ...]) -> None:
        difference = panel.difference_on(value) if data is None else panel.difference(data)
        difference = difference or unsteady(panel.names)
        # An engine that is wrong everywhere would fill the memory with one difference; all are counted, a few are kept.
        if len(found) < sweep.most:
            found.setdefault(difference.signature, Found(difference, "sweep", number, names, data, value))

    done = 0
    for number in range(start, end):
        data, names = next(source)
        position.value = number
        # The share is spread evenly over the chunk and drawn from no generator, so that it changes no frame.
        panel = every if int((done + 1) * share) > int(done * share) else quick
        done += 1
        values = panel.agrees(data, thorough=panel is not every or not number % THOROUGH_EVERY)
        if values is None:
            differing += 1
            keep(panel, data, None, tuple(names))
        elif values:
            accepted += 1
            if accepted % SPOIL_EVERY == 0:
                spoiled += 1
                value, what = invalid_value(sweep, number, values[0])
                if not panel.agrees_on(value):
                    differing += 1
                    keep(panel, None, value, (*names, what))
        if not done % CLOCK_EVERY and sweep.deadline is not None and time.monotonic() > sweep.deadline:
            break
    return SweptChunk(chunk, done, accepted, spoiled, differing, tuple(found.values()))


def run(
    sweep: Sweep, engines: Sequence[AnyEngine], jobs: int, *, first: int = 0, restarts: int = MOST_RESTARTS
) -> Generator[SweptChunk, None, None]:
    """Sweep from a chunk on, and give what comes of each, in order: in this process if ``jobs`` is 0, else in so many.

    With processes, an engine that ends its process or does not come to an end is found as well, and up to ``restarts``
    processes are started anew. A process that ends at a frame at which no engine does alone may have been killed from
    outside: its chunk is swept once more before that is believed. Leaving the iterator ends the processes.
    """
    if jobs == 0:
        for chunk in chunks(sweep, first):
            yield sweep_chunk(sweep, engines, chunk)
        return
    # Chunks are given in their order, whichever process is done first: so the same findings are met first every time.
    early: dict[int, SweptChunk] = {}
    following = first
    for swept in _from_processes(sweep, engines, jobs, first, restarts):
        early[swept.chunk] = swept
        while following in early:
            yield early.pop(following)
            following += 1
    for chunk in sorted(early):  # a process that ended leaves gaps
        yield early[chunk]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put signals off: neither this process nor the one that it starts is caught half way; the child inherits that."""
    ensure_running()  # what multiprocessing starts besides would let signals through again
    before = pthread_sigmask(SIG_BLOCK, {SIGINT, SIGTERM})
    try:
        yield
    finally:
        pthread_sigmask(SIG_SETMASK, before)


class _Worker:
    """One process and what is known of it."""

    def __init__(self, sweep: Sweep, engines: Sequence[AnyEngine], first: int, step: int) -> None:
        # Not fork: this process may have threads (the progress bar, Spark's), and a fork keeps the locks that they
        # hold.
        context = get_context("spawn")
        self.first = self.next_chunk = first
        # Shared memory without a lock: it is written for every frame, and one process alone writes it. Whoever reads it
        # after the process was killed finds the last number, where a message would have been lost.
        self.position = RawValue("q", -1)
        self.receives, sends = context.Pipe(duplex=False)
        self.process: BaseProcess = context.Process(
            target=_work, args=(sweep, [_portable(each) for each in engines], first, step, sends, self.position)
        )
        # Ended with this process, whatever ends that.
        self.process.daemon = True
        self.process.start()
        # Our copy of the sending end: as long as one is open, the end of the process does not show at the other.
        sends.close()
        self.last_frame, self.last_change = -1, time.monotonic()

    def hangs(self) -> bool:
        """Tell whether the process has been at one frame for too long."""
        now = time.monotonic()
        if self.position.value != self.last_frame:
            self.last_frame, self.last_change = self.position.value, now
        # Before its first frame a process imports and compiles, which takes as long as the machine is busy, and hangs
        # nobody.
        return self.last_frame >= 0 and now - self.last_change > HANG_SECONDS

    def current_frame(self) -> int:
        """Return the number of the frame at which the process is, or was when it ended."""
        return max(int(self.position.value), self.first * CHUNK)

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.receives.close()


def _from_processes(
    sweep: Sweep, engines: Sequence[AnyEngine], jobs: int, first: int, restarts: int
) -> Iterator[SweptChunk]:
    workers: list[_Worker] = []
    swept_again: set[int] = set()
    try:
        with uninterrupted():
            workers.extend(_Worker(sweep, engines, first + each, jobs) for each in range(jobs))
        while workers:
            # A time-out, as a process that hangs sends nothing that could be waited for.
            ready = wait([worker.receives for worker in workers], timeout=1.0)
            for worker in [worker for worker in workers if worker.receives in ready or worker.hangs()]:
                is_sure = True
                # Only one that has sent nothing: what a slow process has sent since is taken before it is called hung.
                if worker.receives not in ready:
                    yield _lost(sweep, engines, worker, "hang", f"one frame takes more than {HANG_SECONDS:.0f} s")[0]
                else:
                    is_done = False
                    with suppress(EOFError):
                        swept = worker.receives.recv()
                        if isinstance(swept, Exception):
                            raise swept
                        if swept is not None:
                            worker.next_chunk = swept.chunk + jobs
                            yield swept
                            continue
                        is_done = True
                    # Its pipe has ended, so it is about to: without this its exit status is not known yet.
                    worker.process.join()
                    if worker.process.exitcode:
                        lost, is_reproduced = _lost(
                            sweep, engines, worker, "crash", _how_it_ended(worker.process.exitcode)
                        )
                        # An engine that ends the process does so again, alone; the system's killer for want of memory
                        # does not. Once the time is over, or after a second loss in one chunk, it is believed as it is.
                        is_sure = is_reproduced or is_done or worker.next_chunk in swept_again or _is_over(sweep)
                        if is_sure:
                            yield lost
                workers.remove(worker)
                worker.end()
                if not is_sure:
                    swept_again.add(worker.next_chunk)
                    with uninterrupted():
                        workers.append(_Worker(sweep, engines, worker.next_chunk, jobs))
                elif worker.process.exitcode and restarts:
                    restarts -= 1
                    # Behind the chunk in which it was lost, which would end the next process as well.
                    following = worker.current_frame() // CHUNK + jobs
                    with uninterrupted():
                        workers.append(_Worker(sweep, engines, following, jobs))
    finally:
        for worker in workers:
            worker.end()


def _is_over(sweep: Sweep) -> bool:
    return sweep.deadline is not None and time.monotonic() > sweep.deadline


def _lost(sweep: Sweep, engines: Sequence[AnyEngine], worker: _Worker, kind: str, how: str) -> tuple[SweptChunk, bool]:
    """Return the chunk in which a process was lost, with the frame at which it stood.

    With it comes whether an engine alone ends its process there.
    """
    number = worker.current_frame()
    data, names = drawn(sweep, number)
    endings = []
    for engine in engines if kind == "crash" else ():
        # Each engine in a process of its own: the one whose process ends is the one to blame.
        alone = get_context("spawn").Process(target=_alone, args=(_portable(engine), sweep.layout, data))
        alone.start()
        alone.join(HANG_SECONDS)
        if alone.exitcode is None:
            alone.kill()
            alone.join()
        if alone.exitcode:
            endings.append((engine.name, (_how_it_ended(alone.exitcode),)))
    difference = Difference(
        kind, False, (kind,), "(frame)", tuple(endings) or ((", ".join(each.name for each in engines), (how,)),)
    )
    found = Found(difference, "sweep", number, names, data)
    return SweptChunk(number // CHUNK, number % CHUNK + 1, differing=1, found=(found,)), bool(endings)


def _how_it_ended(exitcode: int) -> str:
    return f"ends the process with {Signals(-exitcode).name if exitcode < 0 else f'exit status {exitcode}'}"


def _portable(engine: AnyEngine) -> Any:
    """Return what another process finds an engine by: its name if it is one of ours."""
    # Engines hold compiled functions, which cannot be pickled; tests bring engines of their own, which can.
    ours = engine.name in installed.NAMES and installed.engine(engine.name) is engine
    return engine.name if ours else engine


def _resolved(engine: Any) -> AnyEngine:
    return installed.engine(engine) if isinstance(engine, str) else engine


def _work(sweep: Sweep, engines: Sequence[Any], first: int, step: int, sends: Connection, position: Any) -> None:
    """Sweep every ``step``-th chunk in a process of its own; the last message is ``None``."""
    signal(SIGINT, SIG_IGN)  # the process that started this one says when to end
    # The mask was inherited from ``uninterrupted``; SIGTERM has to end this process.
    pthread_sigmask(SIG_UNBLOCK, {SIGINT, SIGTERM})
    found = [_resolved(engine) for engine in engines]
    try:
        for chunk in chunks(sweep, first, step):
            sends.send(sweep_chunk(sweep, found, chunk, position))
        sends.send(None)
    except BrokenPipeError:
        return  # nobody is there any more
    except Exception as error:
        error.add_note(format_exc())
        sends.send(error)


def _alone(engine: Any, layout: str, data: bytes) -> None:
    """Show one frame to one engine."""
    codec = _resolved(engine).codec(layout)
    for refuse in (False, True):
        # That it raises is no news here: wanted is whether the process is there afterwards.
        with suppress(Exception):
            codec.encode(codec.decode(data, refuse))
