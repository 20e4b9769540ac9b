"""How fast the engines are, against Construct interpreted and others, in one run.

The rounds of all that is measured are interleaved, so that a machine that slows down slows all of them down; each
round repeats its loop until it takes long enough; what counts is the median, and the spread is said.
"""

import gc
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import repeat
from pathlib import Path
from random import Random
from statistics import median, quantiles
from types import ModuleType
from typing import Any

import msgspec
from rich.table import Table

import vectors
from vectors.bench.compiled import compiled
from vectors.bench.field_loops import Loop, reading, types_in
from wire.catalogue import grammar
from wire.catalogue import layout as find
from wire.engines import MissingEngine, engine
from wire.errors import WireError

BASELINE = "construct"
"""Construct interpreted, as the reference engine runs it: plain values, and reasons for what is refused."""

ROUNDS = 20
SECONDS = 0.05
"""What one round of one loop takes at least."""

FRAMES = 1000
BATCH = 100_000
"""Frames of a corpus; of a batch for what decodes many at once."""

LONGEST = 256
"""Bytes of a frame: of a longer one, copying its content would be measured."""

SEED = 20240
LAYOUT = "layout"
OPERATIONS = ("decode", "decode-and-read", "encode", "columnar")
FOLDER = Path(vectors.__path__[0]).parent / "benchmarks" / "baselines"

Clock = Callable[[], float]
OnNote = Callable[[str], None]


class WrongChoice(WireError):
    """An engine or a corpus that is not there; the message says which are."""


class Baseline(msgspec.Struct, frozen=True):
    """What an engine is compared with: a codec that somebody writes otherwise.

    ``read`` decodes frames and reads every field of what comes of them (``None``: as of dicts, or by ``attributes``),
    ``covers`` tells which values it can express, ``prepared`` makes of a decoded value what is encoded.
    """

    name: str
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    read: Loop | None = None
    covers: Callable[[Any], bool] | None = None
    prepared: Callable[[Any], Any] | None = None
    attributes: bool = False


class BenchTask(msgspec.Struct, frozen=True):
    """One thing to measure: ``run(times)`` does it ``times`` times over ``frames`` frames."""

    engine: str
    operation: str
    baseline: str
    frames: int
    run: Callable[[int], None]


class BenchResult(msgspec.Struct, frozen=True):
    """One figure: frames per second (median), how many times the baseline's, and the interquartile range in percent."""

    engine: str
    operation: str
    per_second: float
    ratio: float
    spread: float | None


class BenchResults(msgspec.Struct, frozen=True):
    """The figures of one layout and one corpus."""

    layout: str
    baseline: str
    corpus: str
    results: tuple[BenchResult, ...]

    def as_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        built: dict[str, Any] = msgspec.to_builtins(self)
        return built


def measure(
    layout: str,
    *,
    rounds: int = ROUNDS,
    only: Sequence[str] = (),
    corpus: str | None = None,
    seconds: float = SECONDS,
    batch: int = BATCH,
    count: int = FRAMES,
    clock: Clock = time.process_time,
    on_note: OnNote = lambda line: None,
) -> BenchResults:
    """Measure all that can decode a layout, or ``only`` some beside the baseline, on the frames of a ``corpus``.

    Without a name it is what the field sends, where somebody has written that down, and else everything there is.
    ``count`` frames are decoded one by one, ``batch`` at once to columns.

    Tells a line for everything that is not here. Raises ``UnknownLayout``, and ``WrongChoice`` for an engine or a
    corpus that nobody knows.
    """
    corpus = corpus or next(iter(corpora(layout)), LAYOUT)
    frames = frames_of(layout, corpus, count)
    known = contenders(layout, on_note)
    unknown = set(only) - {each.name for each in known} - {"columnar"}
    if unknown:
        names = ", ".join(each.name for each in known)
        raise WrongChoice(f"nothing here is called {', '.join(sorted(unknown))}; there are {names}, columnar")
    wanted = [each for each in known if not only or each.name in only or each.name == BASELINE]
    tasks = [task for each in wanted for task in tasks_of(layout, each, frames)]
    if not only or "columnar" in only:
        tasks += columnar(layout, corpus, batch, on_note)
    rates = rates_of(tasks, rounds, seconds, clock)
    return BenchResults(layout, BASELINE, corpus, tuple(results_of(tasks, rates)))


def frames_of(layout: str, corpus: str, count: int = FRAMES) -> list[bytes]:
    """Return the frames of a corpus: ``layout`` has everything that the layout can express, at random from a seed."""
    tree = find(layout)
    if corpus == LAYOUT:
        from vectors.sampling import Sampler

        sampler = Sampler(tree, Random(SEED))
        return list(_short(sampler.frame, count))
    there = corpora(layout)
    if corpus not in there:
        raise WrongChoice(f"{layout} has no corpus {corpus!r}; there are {', '.join([LAYOUT, *there])}")
    made: list[bytes] = there[corpus](SEED, count)
    return made


def corpora(layout: str) -> dict[str, Callable[[int, int], list[bytes]]]:
    """Return what makes frames as the field sends them, by the name of the corpus: from a seed, so many."""
    protocol, _, name = layout.partition("/")
    return {key: make for module in modules(protocol) for key, make in exported(module, "CORPORA", name).items()}


def _short(make: Callable[[], bytes], count: int) -> Iterator[bytes]:
    while count:
        data = make()
        if len(data) <= LONGEST:
            count -= 1
            yield data


def modules(protocol: str) -> tuple[ModuleType, ...]:
    """Return the modules with what people write otherwise, which stand beside the source and are not installed."""
    return _loaded(protocol)[0]


@cache
def _loaded(protocol: str) -> tuple[tuple[ModuleType, ...], tuple[str, ...]]:
    """Return the modules, once for all who ask, and what is to be noted of those that lack a package."""
    found, notes = [], []
    for file in sorted((FOLDER / protocol).glob("*.py")):
        # Under a name of its own in ``sys.modules``: dataclasses and pickling look their module up there.
        name = f"_goldwire_baselines_{protocol}_{file.stem}"
        spec = spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except ModuleNotFoundError as error:  # a rival is its users' choice: nobody has to install it
            del sys.modules[name]
            notes.append(f"{file.stem}: {error.name} is not installed: pip install 'goldwire[bench]'")
        else:
            found.append(module)
    return tuple(found), tuple(notes)


def exported(module: ModuleType, table: str, name: str) -> dict[str, Any]:
    """Return what a module has for a layout in one of its tables."""
    found: dict[str, Any] = getattr(module, table, {}).get(name, {})
    return found


def contenders(layout: str, on_note: OnNote) -> list[Baseline]:
    """Return all that decode and encode a layout, the baseline first."""
    built = grammar(layout)
    found = [
        Baseline(BASELINE, *engine("reference").codec(layout)),
        Baseline("construct-bare", built.parse, built.build),
    ]
    if find(layout).is_json or find(layout).is_text:
        on_note("construct-compiled: of a text there is nothing that Construct compiles")
    else:
        quick, how = compiled(built)
        on_note(f"construct-compiled: {how}")
        found.append(Baseline("construct-compiled", quick.parse, quick.build))
    protocol, _, name = layout.partition("/")
    if not (FOLDER / protocol).is_dir():
        on_note(f"baselines of {protocol}: not here; they come with goldwire's source alone")
    for note in _loaded(protocol)[1]:
        on_note(note)
    for module in modules(protocol):
        baseline = getattr(module, "BASELINES", {}).get(name)
        if baseline is not None:
            found.append(baseline)
    for each in ("python", "native"):
        try:
            codec = engine(each).codec(layout)
        except MissingEngine as error:
            on_note(f"{each}: {error}")
            continue
        found.append(Baseline(each, codec.decode, codec.encode, attributes=each == "native"))
    return found


def tasks_of(layout: str, contender: Baseline, frames: Sequence[bytes]) -> Iterator[BenchTask]:
    """Give the tasks of one contender; one that covers a part only brings its own baseline on that part."""
    baseline = BASELINE
    # What covers a part of the messages has easier work: it is compared with the baseline on that part only.
    if contender.covers is not None:
        reference = engine("reference").codec(layout)
        covers = contender.covers
        frames = [data for data in frames if covers(reference.decode(data))]
        if not frames:
            return
        baseline = f"{BASELINE} (where {contender.name} can)"
        yield from tasks_of(layout, Baseline(baseline, *reference), frames)
    decode, encode = contender.decode, contender.encode
    # What is frequent in the corpus is asked for first, in every contender's loop: no engine gets the better order.
    common = Counter(name for data in frames for name in types_in(engine("reference").codec(layout).decode(data)))
    read = contender.read or reading(find(layout), attributes=contender.attributes, common=common)
    prepared = contender.prepared or (lambda value: value)
    values = [prepared(decode(data)) for data in frames]
    if contender.name == baseline or contender.name.startswith(BASELINE + " ("):
        baseline = contender.name

    def read_all(times: int) -> None:
        for _ in repeat(None, times):
            read(decode, frames)

    yield BenchTask(contender.name, "decode", baseline, len(frames), _each(decode, frames))
    yield BenchTask(contender.name, "decode-and-read", baseline, len(frames), read_all)
    yield BenchTask(contender.name, "encode", baseline, len(frames), _each(encode, values))


def _each(function: Callable[[Any], Any], items: Sequence[Any]) -> Callable[[int], None]:
    """Return a loop that calls a function on every item, as its users would."""

    def run(times: int) -> None:
        for _ in repeat(None, times):
            for item in items:
                function(item)

    return run


def columnar(layout: str, corpus: str, count: int, on_note: OnNote) -> Iterator[BenchTask]:
    """Give the task of decoding a batch to columns, if that is here; it is compared with decoding each frame.

    The batch, of ``count`` frames, is an Arrow array, as a pipeline has it, or a list where pyarrow is not installed.
    Beside it the bytes of the batch are copied: no decoder can be faster.
    """
    try:
        decode_batch = import_module("wire.columnar").decode_batch
    except ImportError as error:
        on_note(f"columnar: not here: {error}")
        return
    frames = frames_of(layout, corpus, count)
    try:
        decode_batch(layout, frames[:1], engine="native")
    except MissingEngine as error:
        on_note(f"columnar: {error}")
        return
    try:
        batch: Any = import_module("pyarrow").array(frames, "binary")
    except ImportError:
        batch = frames
        on_note("columnar: of a list of frames; of an Arrow array where pyarrow is installed")

    def run(times: int) -> None:
        for _ in repeat(None, times):
            decode_batch(layout, batch, engine="native")

    octets = b"".join(frames)

    def copy(times: int) -> None:
        for _ in repeat(None, times):
            # bytes(octets) would copy nothing, as bytes are immutable.
            bytearray(octets)

    yield BenchTask("columnar", "columnar", BASELINE, len(frames), run)
    yield BenchTask("copy", "columnar", BASELINE, len(frames), copy)


def rates_of(tasks: Sequence[BenchTask], rounds: int, seconds: float, clock: Clock) -> list[list[float]]:
    """Measure tasks in interleaved rounds; return the frames per second of each, round by round."""
    loops = [calibrated(task, seconds, clock) for task in tasks]
    rates: list[list[float]] = [[] for _ in tasks]
    for turn in range(rounds):
        order = list(range(len(tasks)))
        # Every round begins elsewhere: who comes after whom is not always the same.
        for index in order[turn % len(order) :] + order[: turn % len(order)]:
            elapsed = timed(tasks[index].run, loops[index], clock)
            rates[index].append(tasks[index].frames * loops[index] / elapsed)
    return rates


def calibrated(task: BenchTask, seconds: float, clock: Clock) -> int:
    """Warm a task up, and return how often it is repeated to take long enough."""
    times = 1
    while True:
        elapsed = timed(task.run, times, clock)
        if elapsed >= seconds:
            return times
        # At most ten times as many at once: the first measurement is of a cold loop, and may mislead by far.
        times = max(times + 1, min(times * 10, int(times * seconds / max(elapsed, 1e-9)) + 1))


def timed(run: Callable[[int], None], times: int, clock: Clock) -> float:
    """Return the seconds that a task takes; no garbage is collected meanwhile."""
    collecting = gc.isenabled()
    # A collection takes as long as a short round, and would hit whichever contender is at it.
    gc.disable()
    try:
        begun = clock()
        run(times)
        return clock() - begun
    finally:
        if collecting:
            gc.enable()


def results_of(tasks: Sequence[BenchTask], rates: Sequence[Sequence[float]]) -> Iterator[BenchResult]:
    """Give the figure of each task: medians, and ratios of medians; a batch is compared with decoding."""
    middle = {(task.engine, task.operation): median(each) for task, each in zip(tasks, rates, strict=True)}
    for task, each in zip(tasks, rates, strict=True):
        operation = "decode" if task.operation == "columnar" else task.operation
        # Medians: a round in which the machine did something else does not count.
        rate = middle[task.engine, task.operation]
        ratio = rate / middle[task.baseline, operation]
        yield BenchResult(task.engine, task.operation, round(rate, 1), round(ratio, 2), spread(each))


def spread(rates: Sequence[float]) -> float | None:
    """Return the interquartile range of some rates, in percent of their median; None for one, which has none."""
    if len(rates) < 2:
        return None
    low, _, high = quantiles(rates, n=4, method="inclusive")
    return round(100 * (high - low) / median(rates), 1)


def _percent(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.1f} %"


def markdown(results: BenchResults) -> str:
    """Return the figures as a table in Markdown, as they stand in benchmarks/README.md."""
    lines = ["| operation | engine | per second | times the baseline | spread |", "|---|---|---:|---:|---:|"]
    for operation in OPERATIONS:
        lines += [
            f"| {operation} | {each.engine} | {each.per_second:,.0f} | {each.ratio:.1f} | {_percent(each.spread)} |"
            for each in results.results
            if each.operation == operation
        ]
    return "\n".join(lines)


def table(results: BenchResults) -> Table:
    """Return the figures as a table."""
    shown = Table(title=f"{results.layout}, corpus {results.corpus}; baseline {results.baseline}", title_justify="left")
    shown.add_column("operation")
    shown.add_column("engine")
    for name in ("per second", "ratio", "spread"):
        shown.add_column(name, justify="right")
    for operation in OPERATIONS:
        for each in results.results:
            if each.operation == operation:
                shown.add_row(
                    operation, each.engine, f"{each.per_second:,.0f}", f"{each.ratio:.1f}", _percent(each.spread)
                )
        shown.add_section()
    return shown
