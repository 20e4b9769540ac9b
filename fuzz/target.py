#!/usr/bin/env python3
"""The program that Atheris drives: the instrumented Python engine of one layout, compared with the native one.

A layout of texts has no native engine; there it is compared with the reference.

What libFuzzer wants is given as arguments, what this program wants in the environment, because libFuzzer starts it
anew for ``-merge``, ``-fork`` and ``-jobs`` with arguments of its own. It has to be started by the path of an
executable file for that (this one, or the one that ``fuzz.atheris_process`` writes).

========================  ==================================================================================
``GOLDWIRE_FUZZ``         the layout
``GOLDWIRE_FUZZ_SEED``    of the mutations that know the layout; libFuzzer's own take ``-seed``
``GOLDWIRE_FUZZ_NOTES``   a folder for what is found, and for how far the program is; ``-`` for no notes at all;
                          without it, the first difference ends the program as a crash would
``GOLDWIRE_FUZZ_MEMORY``  megabytes that the process may have; what needs more is a ``MemoryError``
========================  ==================================================================================

What costs the most is done less often: of the two modes (overlong integers accepted, refused) each input is decoded in
one, as its checksum says; of four mutated inputs one is shown to the instrumented engine, and of sixteen that are
accepted, one to its encoder. Inputs that reach something new are compared again by the campaign: in both modes, and
with the reference engine.
"""

import mmap
import os
import struct
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from operator import is_
from pathlib import Path
from random import Random
from types import CellType, FunctionType
from typing import Any
from zlib import crc32

from fuzz.corpus import name, seeds
from fuzz.limits import limit_memory
from vectors.checks.differential import AnyEngine, Difference, Panel
from vectors.mutation import Mutator
from vectors.sampling import Sampler
from wire import engines
from wire.catalogue import layout as find
from wire.errors import DecodeError
from wire.runtime import Codec

LAYOUT, SEED, NOTES, MEMORY = (f"GOLDWIRE_FUZZ{each}" for each in ("", "_SEED", "_NOTES", "_MEMORY"))

NOWHERE = "-"

STATUS, DIFFERENCES = "status", "differences"
"""What stands in the folder for notes: a file of counters, and a folder of inputs, one for each kind of difference."""

CHOICES = 8
MUTATED, DRAWN = 2, 1
"""Of so many outputs of the mutator so many are mutated along the layout, and so many drawn anew, valid; the others
are libFuzzer's, which is faster, and knows what to do with what has reached something new."""

INSTRUMENTED_EVERY = 4
"""Of so many mutated inputs one is shown to the instrumented engine.

The others take less than half the time, and what is new among them is not missed for long, because the like of it is
made again. What is read from a corpus is always shown to it: libFuzzer decides by that what to keep."""

LONGEST_SPLICED = 200
"""Bytes of the longest golden frame that others are spliced with."""

REPORT_EVERY = 256
"""Inputs between two reports to the campaign, and looks at whether it is still there."""

MOST_DESCRIBED = 2000
"""Differing inputs of which each is described; of the later ones only some, for where everything differs."""


COUNTERS = struct.Struct("<QQQ")
"""The counters of a target: inputs, accepted ones, differing ones."""


def read_status(notes: Path) -> tuple[int, int, int]:
    """Return the counters that a target has written, zeros if there are none yet."""
    try:
        inputs, accepted, differing = COUNTERS.unpack((notes / STATUS).read_bytes())
    except (FileNotFoundError, struct.error):
        return 0, 0, 0
    return inputs, accepted, differing


class InstrumentedEngine:
    """The Python engine of a layout, with every branch of the generated code reported to libFuzzer.

    It is a copy, so that the engine itself, which the native one and others use, stays as fast as it is. What the
    generated code calls elsewhere is instrumented as well. Comparisons are not traced: they cost as much as the
    branches, and the mutations already know the numbers that decide something.
    """

    name = "python"

    def __init__(self, layout: str) -> None:
        codec = engines.engine(self.name).codec(layout)
        self._codec = Codec(*_InstrumentedCopy(codec, classes=find(layout).is_text).of(tuple(codec)))

    def codec(self, layout: str) -> Codec:
        """Return the instrumented functions."""
        return self._codec


WORDING_ONLY = ("refusing", "encode_refusal")
"""Functions of ``wire.runtime`` that put refusals into words; where they were raised has been seen."""


def modules_of(part: Any) -> Iterator[str]:
    """Give the modules of a function, and of those that it holds as its own."""
    if isinstance(part, partial):
        yield from modules_of(part.func)
    elif isinstance(part, FunctionType):
        yield part.__module__
        for cell in part.__closure__ or ():
            yield from modules_of(cell.cell_contents)


class _InstrumentedCopy:
    """A copy of a codec's modules: their functions and those that they call elsewhere, with their branches reported.

    Data is not copied: engines know their own flags by identity, and are slow with those of others. Nor are
    ``classes``, unless what was written by hand has its branches there: only plain ones, never values or exceptions.
    """

    def __init__(self, codec: Codec, *, classes: bool) -> None:
        self.patch_code = import_module("atheris").patch_code  # only who starts Atheris needs it
        self.classes: dict[type, type] | None = {} if classes else None
        # The modules that the codec is made of; what those call elsewhere in ``wire`` is found through them.
        names = dict.fromkeys(name for part in codec for name in modules_of(part))
        parts = [part for name in names for part in vars(import_module(name)).values()]
        functions = [part for part in parts if isinstance(part, FunctionType) and part.__module__.startswith("wire.")]
        self.namespaces: dict[str, dict[str, Any]] = {function.__module__: {} for function in functions}
        # Each function is copied once: functions call each other, and some themselves.
        self.known: dict[FunctionType, FunctionType] = {}
        for module, namespace in self.namespaces.items():
            namespace.update((own, self.of(part)) for own, part in vars(import_module(module)).items())

    def of(self, part: Any) -> Any:
        """Return the copy of a function, or of what holds functions; anything else as it is."""
        if isinstance(part, FunctionType):
            return self._function(part)
        if type(part) in (tuple, list):
            copied = [self.of(each) for each in part]
            # What holds no function stays the same object: engines compare flags and tables by identity.
            return part if all(map(is_, copied, part)) else type(part)(copied)
        if type(part) is dict:
            table = {name: self.of(each) for name, each in part.items()}
            return part if all(table[name] is each for name, each in part.items()) else table
        if isinstance(part, Codec):
            return Codec(*map(self.of, part))
        if isinstance(part, partial):
            return partial(self.of(part.func), *part.args, **part.keywords)
        if type(part) is type and self.classes is not None and part.__bases__ == (object,):
            return self._class(part, self.classes)
        return part

    def _class(self, plain: type, known: dict[type, type]) -> type:
        if plain.__module__ not in self.namespaces:
            return plain
        if plain not in known:
            names = {name: part for name, part in vars(plain).items() if name not in ("__dict__", "__weakref__")}
            known[plain] = type(plain.__name__, (), {name: self._member(part) for name, part in names.items()})
        return known[plain]

    def _member(self, part: Any) -> Any:
        if isinstance(part, property):
            return property(self.of(part.fget))
        return self._function(part) if isinstance(part, FunctionType) else part

    def _function(self, function: FunctionType) -> FunctionType:
        namespace = self.namespaces.get(function.__module__)
        if namespace is None or function.__name__ in WORDING_ONLY:
            return function
        if function not in self.known:
            code = self.patch_code(function.__code__, trace_dataflow=False)
            cells = tuple(CellType(self.of(cell.cell_contents)) for cell in function.__closure__ or ())
            copy = FunctionType(code, namespace, function.__name__, function.__defaults__, cells)
            copy.__kwdefaults__ = function.__kwdefaults__
            self.known[function] = copy
        return self.known[function]


class EnginePair:
    """Two engines that are compared fast, and thoroughly as soon as something looks different.

    ``instrumented`` reports what it reaches, ``plain`` is the same engine and does not; ``other`` is what they are
    compared with, if there is one. Without it they have to read back what they write.
    """

    def __init__(self, layout: str, instrumented: AnyEngine, plain: AnyEngine, other: AnyEngine | None) -> None:
        self.panel = Panel(layout, [instrumented, other or engines.engine("reference")])
        self.instrumented, self.plain = instrumented.codec(layout), plain.codec(layout)
        self.other = (other or plain).codec(layout)

    def comparison(self, *, instrumented: bool = True) -> Callable[[bytes], bool | None]:
        """Return a function of an input: whether it is accepted, ``None`` if something looks different."""
        decode, instrumented_encode = self.instrumented if instrumented else self.plain
        plain_decode, plain_encode = self.plain
        other_decode, other_encode = self.other

        def compare(data: bytes) -> bool | None:
            # By content, not by number: when libFuzzer tries an input again, the same is done with it, and the same is
            # reached.
            chosen = crc32(data)
            # One of four in the strict mode, which differs from the other only for what is spelled too long.
            refuse = not chosen & 3
            try:
                value = decode(data, refuse)
            except DecodeError as refusal:
                try:
                    other_decode(data, refuse)
                except DecodeError as other:
                    # Reason and offset only: the words of a refusal are made by the reference, and cost more than
                    # decoding.
                    alike = refusal.reason is other.reason and refusal.offset == other.offset
                    return False if alike else None
                return None
            same = other_decode(data, refuse)
            equal = value == same
            if not equal:
                return None
            written = (plain_encode if chosen & 60 else instrumented_encode)(value)
            # Of sixteen accepted inputs the instrumented encoder writes one: encoders have few branches of their own.
            if other_encode(same) != written:
                return None
            # The frame is spelled in another way than the engines do: what they write has to be read back as the same
            # value.
            if written != data and not (other_decode(written, True) == value and plain_decode(written, True) == value):
                return None
            return True

        return compare


class Differs(Exception):
    """Engines that differ; raised only where nobody keeps notes."""


class TargetReport:
    """What the campaign reads while the target runs: the counters, and the inputs on which engines differ."""

    def __init__(self, folder: Path, panel: Panel) -> None:
        self.folder = folder / DIFFERENCES
        self.folder.mkdir(parents=True, exist_ok=True)
        self.panel = panel
        file = folder / STATUS
        file.write_bytes(bytes(COUNTERS.size))
        with file.open("r+b") as opened:
            # Shared memory: counters are written hundreds of times a second, and libFuzzer may end this process at any
            # moment.
            self.map = mmap.mmap(opened.fileno(), COUNTERS.size)
        self.seen: set[Any] = set()
        self.parent = os.getppid()

    def write_counters(self, inputs: int, accepted: int, differing: int) -> None:
        """Write the counters; end the process if nobody reads them any more."""
        COUNTERS.pack_into(self.map, 0, inputs, accepted, differing)
        # Whoever started this was killed and could not end it: nobody else would ever stop it.
        if os.getppid() != self.parent:
            os._exit(1)

    def keep_difference(self, data: bytes, differing: int) -> None:
        """Keep an input on which the engines differ as on no other one before."""
        # Saying in what engines differ takes many times as long as seeing that they do.
        if differing > MOST_DESCRIBED and differing % 64:
            return
        difference = self.panel.difference(data)
        signature = None if difference is None else difference.signature
        if signature not in self.seen:
            self.seen.add(signature)
            # Renamed when it is whole, as the campaign reads the folder meanwhile.
            part = self.folder / f".{name(data)}"
            part.write_bytes(data)
            part.rename(self.folder / name(data))


class NextInput:
    """Whether the next input is shown to the instrumented engine: the mutator says so; one from a corpus always is."""

    __slots__ = ("instrumented",)

    def __init__(self) -> None:
        self.instrumented = True


def input_test(layout: str, notes_in: str | None, next_input: NextInput) -> Callable[[bytes], None]:
    """Return what is done with one input of a layout."""
    there = {engine.name: engine for engine in engines.present(layout)}
    # No C reads texts. With JSON the Python engine asks the reference about all that it doubts: it is no slower.
    tree = find(layout)
    other = there["reference"] if tree.is_json or tree.is_text else there.get("native")
    pair = EnginePair(layout, InstrumentedEngine(layout), there["python"], other)
    instrumented, plain = pair.comparison(), pair.comparison(instrumented=False)
    notes = None if notes_in in (None, NOWHERE) else TargetReport(Path(notes_in), pair.panel)
    inputs = accepted = differing = 0

    def test(data: bytes) -> None:
        nonlocal inputs, accepted, differing
        inputs += 1
        try:
            accepts = instrumented(data) if next_input.instrumented else plain(data)
        except Exception:  # an engine raised what it must not raise: the panel will say which
            accepts = None
        next_input.instrumented = True
        if accepts:
            accepted += 1
        elif accepts is None:
            differing += 1
            if notes is not None:
                notes.keep_difference(data, differing)
            elif notes_in is None:
                raise Differs(_described(pair.panel.difference(data)))
        # At the beginning each one, so that a short campaign shows something.
        if notes is not None and (not inputs % REPORT_EVERY or inputs < REPORT_EVERY or accepts is None):
            notes.write_counters(inputs, accepted, differing)

    return test


def _described(difference: Difference | None) -> str:
    if difference is None:
        return "the engines differ at first, and not again"
    said = (f"{who}: {line}" for who, lines in difference.says for line in lines)
    return f"{difference.kind} at {difference.place}: {'; '.join(said)}"


def mutator(layout: str, seed: int, next_input: NextInput) -> Callable[[bytes, int, int], bytes]:
    """Return what libFuzzer calls to mutate an input: on some outputs the layout decides, on the others libFuzzer."""
    atheris = import_module("atheris")
    rng = Random(seed)
    mutate, draw = Mutator(find(layout), rng).mutate, Sampler(find(layout), rng).frame
    pool = [data for data in seeds(layout) if 1 < len(data) <= LONGEST_SPLICED]

    def mutated(data: bytes, most: int, number: int) -> bytes:
        next_input.instrumented = not number % INSTRUMENTED_EVERY
        choice = number // INSTRUMENTED_EVERY % CHOICES
        if choice < MUTATED + DRAWN:
            out = mutate(data, pool)[0] if choice < MUTATED else draw()
            # libFuzzer would cut a longer one in the middle of a field, and that it does itself all the time.
            if len(out) <= most:
                return out
        changed: bytes = atheris.Mutate(data, most)  # another function once Fuzz() has begun
        return changed

    return mutated


def main() -> None:
    """Fuzz the layout that the environment names; libFuzzer ends the process."""
    layout = os.environ.get(LAYOUT)
    if not layout:
        sys.exit(f"the environment says no layout: {LAYOUT}=zenoh/network-message {sys.argv[0]} CORPUS…")
    atheris = import_module("atheris")
    if os.environ.get(MEMORY):
        limit_memory(int(os.environ[MEMORY]))
    next_input = NextInput()
    test = input_test(layout, os.environ.get(NOTES), next_input)
    atheris.Setup(
        [os.environ.get("GOLDWIRE_FUZZ_PROGRAM", sys.argv[0]), *sys.argv[1:]],
        test,
        custom_mutator=mutator(layout, int(os.environ.get(SEED, "0")), next_input),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
