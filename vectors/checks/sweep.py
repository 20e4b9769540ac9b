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
"""Frames of one seed."""

OFTEN = 128
"""Frames between two looks at the clock."""

THOROUGH = 16
"""Of so many frames that the slow engine sees, it does everything with one (``Panel.agrees``)."""

SPOILED = 4
"""Of so many accepted frames the value of one is spoiled and encoded."""

HANG = 30.0
"""Seconds that one frame may take."""

REPLACED = 5
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
    for _ in range(number % CHUNK):
        next(source)
    data, names = next(source)
    return data, tuple(names)


def invalid_value(sweep: Sweep, number: int, value: Any) -> tuple[Any, str]:
    """Return the spoiled form of the value of a frame, by the frame's number."""
    return make_invalid(plain(value), random.Random(f"{sweep.seed}/{number}"))


def sweep_chunk(sweep: Sweep, engines: Sequence[AnyEngine], chunk: int, position: Any = None) -> SweptChunk:
    """Compare the frames of one chunk."""
    every = Panel(sweep.layout, engines)
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
        if len(found) < sweep.most:
            found.setdefault(difference.signature, Found(difference, "sweep", number, names, data, value))

    done = 0
    for number in range(start, end):
        data, names = next(source)
        position.value = number
        panel = every if int((done + 1) * share) > int(done * share) else quick
        done += 1
        values = panel.agrees(data, thorough=panel is not every or not number % THOROUGH)
        if values is None:
            differing += 1
            keep(panel, data, None, tuple(names))
        elif values:
            accepted += 1
            if accepted % SPOILED == 0:
                spoiled += 1
                value, what = invalid_value(sweep, number, values[0])
                if not panel.agrees_on(value):
                    differing += 1
                    keep(panel, None, value, (*names, what))
        if not done % OFTEN and sweep.deadline is not None and time.monotonic() > sweep.deadline:
            break
    return SweptChunk(chunk, done, accepted, spoiled, differing, tuple(found.values()))


def run(
    sweep: Sweep, engines: Sequence[AnyEngine], jobs: int, *, first: int = 0, replaced: int = REPLACED
) -> Generator[SweptChunk, None, None]:
    """Sweep from a chunk on, and give what comes of each, in order: in this process if ``jobs`` is 0, else in so many.

    With processes, an engine that ends its process or does not come to an end is found as well, and up to ``replaced``
    processes are started anew. A process that ends at a frame at which no engine does alone may have been killed from
    outside: its chunk is swept once more before that is believed. Leaving the iterator ends the processes.
    """
    if jobs == 0:
        for chunk in chunks(sweep, first):
            yield sweep_chunk(sweep, engines, chunk)
        return
    early: dict[int, SweptChunk] = {}
    following = first
    for swept in _gathered(sweep, engines, jobs, first, replaced):
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
        context = get_context("spawn")
        self.first = self.due = first  # due is the chunk that comes next
        self.position = RawValue("q", -1)
        self.receives, sends = context.Pipe(duplex=False)
        self.process: BaseProcess = context.Process(
            target=_work, args=(sweep, [_portable(each) for each in engines], first, step, sends, self.position)
        )
        self.process.daemon = True
        self.process.start()
        sends.close()
        self.seen, self.since = -1, time.monotonic()

    def hangs(self) -> bool:
        """Tell whether the process has been at one frame for too long."""
        now = time.monotonic()
        if self.position.value != self.seen:
            self.seen, self.since = self.position.value, now
        return self.seen >= 0 and now - self.since > HANG

    def stands_at(self) -> int:
        """Return the number of the frame at which the process is, or was when it ended."""
        return max(int(self.position.value), self.first * CHUNK)

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.receives.close()


def _gathered(sweep: Sweep, engines: Sequence[AnyEngine], jobs: int, first: int, replaced: int) -> Iterator[SweptChunk]:
    workers: list[_Worker] = []
    doubted: set[int] = set()
    try:
        with uninterrupted():
            workers.extend(_Worker(sweep, engines, first + each, jobs) for each in range(jobs))
        while workers:
            ready = wait([worker.receives for worker in workers], timeout=1.0)
            for worker in [worker for worker in workers if worker.receives in ready or worker.hangs()]:
                is_sure = True
                if worker.receives not in ready:
                    yield _lost(sweep, engines, worker, "hang", f"one frame takes more than {HANG:.0f} s")[0]
                else:
                    is_done = False
                    with suppress(EOFError):
                        swept = worker.receives.recv()
                        if isinstance(swept, Exception):
                            raise swept
                        if swept is not None:
                            worker.due = swept.chunk + jobs
                            yield swept
                            continue
                        is_done = True
                    worker.process.join()
                    if worker.process.exitcode:
                        lost, does_alone = _lost(sweep, engines, worker, "crash", _death(worker.process.exitcode))
                        is_sure = does_alone or is_done or worker.due in doubted or _is_over(sweep)
                        if is_sure:
                            yield lost
                workers.remove(worker)
                worker.end()
                if not is_sure:
                    doubted.add(worker.due)
                    with uninterrupted():
                        workers.append(_Worker(sweep, engines, worker.due, jobs))
                elif worker.process.exitcode and replaced:
                    replaced -= 1
                    following = worker.stands_at() // CHUNK + jobs
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
    number = worker.stands_at()
    data, names = drawn(sweep, number)
    said = []
    for engine in engines if kind == "crash" else ():
        alone = get_context("spawn").Process(target=_alone, args=(_portable(engine), sweep.layout, data))
        alone.start()
        alone.join(HANG)
        if alone.exitcode is None:
            alone.kill()
            alone.join()
        if alone.exitcode:
            said.append((engine.name, (_death(alone.exitcode),)))
    difference = Difference(
        kind, False, (kind,), "(frame)", tuple(said) or ((", ".join(each.name for each in engines), (how,)),)
    )
    found = Found(difference, "sweep", number, names, data)
    return SweptChunk(number // CHUNK, number % CHUNK + 1, differing=1, found=(found,)), bool(said)


def _death(exitcode: int) -> str:
    return f"ends the process with {Signals(-exitcode).name if exitcode < 0 else f'exit status {exitcode}'}"


def _portable(engine: AnyEngine) -> Any:
    """Return what another process finds an engine by: its name if it is one of ours."""
    ours = engine.name in installed.NAMES and installed.engine(engine.name) is engine
    return engine.name if ours else engine


def _found_again(engine: Any) -> AnyEngine:
    return installed.engine(engine) if isinstance(engine, str) else engine


def _work(sweep: Sweep, engines: Sequence[Any], first: int, step: int, sends: Connection, position: Any) -> None:
    """Sweep every ``step``-th chunk in a process of its own; the last message is ``None``."""
    signal(SIGINT, SIG_IGN)  # the process that started this one says when to end
    pthread_sigmask(SIG_UNBLOCK, {SIGINT, SIGTERM})
    found = [_found_again(engine) for engine in engines]
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
    codec = _found_again(engine).codec(layout)
    for refuse in (False, True):
        with suppress(Exception):
            codec.encode(codec.decode(data, refuse))
