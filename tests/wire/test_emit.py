"""Emitters: codecs made from grammars that no protocol has, and the C under the sanitizers."""

import os
import random
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from construct import If, Pass, Struct, Switch, this

import wire
from wire import reference
from wire.emit import native, python
from wire.errors import DecodeError, EncodeError
from wire.layout import lay_out
from wire.primitives import (
    VLE,
    Bits,
    Blob,
    Bytes,
    ChainOf,
    Empty,
    Header,
    LimitedTo,
    Messages,
    OneOf,
    Refused,
    Rest,
    RestText,
    Text,
    Unsigned,
)

ROOM = Path(wire.__path__[0])
COMPILER = shutil.which("cc") or shutil.which("gcc")
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]

numbers = Struct("one" / Unsigned(1), "two" / Unsigned(2), "five" / Unsigned(5), "eight" / Unsigned(8), "z7" / VLE(7))
sized = Struct(
    "flags" / Bits(n=(7, 4)), "count" / VLE(8), "data" / Bytes(this.count * 2 - this.flags.n), "rest" / Rest()
)
texts = Struct("a" / Text(8), "b" / RestText())
switched = Struct(
    "kind" / Unsigned(1),
    "value" / Switch(this.kind, {1: VLE(16), 2: numbers, 3: Pass, 4: Empty()}, default=Refused("no such kind")),
    "more" / If(this.kind > 2, Blob(16)),
    "bits" / If(this.kind == 1, Bits(low=(2, 0))),
)
item = Struct("header" / Bits(Z=0, L=(3, 2)), "x" / If(this.header.L != 2, VLE(32)))
small = OneOf(
    "ONE" / Struct("header" / Header(1, A=7), "n" / VLE(16)), "TWO" / Struct("header" / Header(2), "n" / item)
)
listed = Struct("items" / Messages(small, most=3), "chain" / ChainOf(item, most=3), "alone" / Header(5, M=(6, 5)))
GRAMMARS = {
    "numbers": numbers,
    "sized": sized,
    "texts": texts,
    "switched": switched,
    "listed": listed,
    "to-end": Messages(small, to_end=True, most=5),
    "limited": LimitedTo(6, OneOf("BODY" / Struct("header" / Header(3), "rest" / Rest()))),
    "chained": ChainOf(item),
}
BEGINNINGS = [
    "",
    "0805",
    "01030805",
    "0107020905000565",
    "810502080945",
    "0101010101010945",
    "01",
    "0102",
    "0503ff",
    "814a",
    "0103aabb" * 2,
    "8101810202",
    "0a" * 9,
    "2f01" + "66" * 8,
    "03" * 7,
]


def build(source: str, into: Path, *flags: str) -> None:
    """Compile a generated extension, warnings as errors."""
    file = into.with_suffix(".c")
    file.write_text(source)
    include = [f"-I{ROOM / 'emit'}", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([COMPILER, "-shared", "-fPIC", *WARNINGS, *flags, *include, str(file), "-o", str(into)], check=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The codecs of all grammars above, by engine: made, compiled and loaded as a protocol ``artificial``."""
    layouts = [lay_out(grammar, f"artificial/{name}") for name, grammar in GRAMMARS.items()]
    name = "wire.artificial.generated.python"
    module = ModuleType(name)
    exec(compile(python.emit("artificial", layouts), name, "exec"), vars(module))
    engines = {"python": module.CODECS}
    sys.modules[name] = module
    try:
        if COMPILER and (Path(sysconfig.get_path("include")) / "Python.h").exists():
            into = tmp_path_factory.mktemp("built") / "native.so"
            build(native.emit("artificial", layouts), into, "-O1")
            spec = spec_from_file_location("native", into, loader=ExtensionFileLoader("native", str(into)))
            assert spec is not None
            assert spec.loader is not None
            extension = module_from_spec(spec)
            spec.loader.exec_module(extension)
            engines["native"] = extension.CODECS
    finally:
        del sys.modules[name]
    return engines


@pytest.fixture
def grammars(monkeypatch):
    """Let the reference engine, which words the errors, know the grammars above."""
    monkeypatch.setattr(reference, "find", lambda name: GRAMMARS[name.partition("/")[2]])


def outcome(decode, *arguments, **options):
    try:
        return decode(*arguments, **options)
    except DecodeError as error:
        return error.reason, error.offset


def spelled(codec, value):
    try:
        return codec.encode(value)
    except EncodeError:
        return None


@pytest.mark.parametrize("name", GRAMMARS)
def test_every_construct(name, made, grammars):
    rng = random.Random(name)
    accepted = refused = 0
    for _ in range(4000):
        data = bytes.fromhex(rng.choice(BEGINNINGS))
        if rng.random() < 0.7:
            data = data[: rng.randrange(len(data) + 1)] + rng.randbytes(rng.choice((0, 1, 2, 5, 12, 17)))
            mask = rng.choice((0xFF, 0x0F, 0x03))
            data = bytes(byte & mask for byte in data)
        strict = rng.random() < 0.3
        expected = outcome(reference.decode, GRAMMARS[name], data, overlong="refuse" if strict else "accept")
        for engine, codecs in made.items():
            got = outcome(codecs[name].decode, data, strict)
            assert got == expected, (engine, data.hex())
            if not isinstance(expected, tuple):
                canonical = reference.encode(GRAMMARS[name], expected)
                assert codecs[name].encode(got) == canonical, (engine, data.hex())
                assert codecs[name].encode(expected) == canonical, (engine, data.hex())
        accepted += not isinstance(expected, tuple)
        refused += isinstance(expected, tuple)
    assert accepted > 100
    assert refused > 100


def test_what_does_not_fit(made, grammars):
    spoiled = {
        "numbers": [
            {"one": 256},
            {"one": -1},
            {"one": -300},
            {"two": 1 << 16},
            {"two": 1.0},
            {"z7": 128},
            {"eight": 1 << 64},
        ],
        "sized": [{"data": b""}, {"data": "aaaa"}, {"rest": "text"}, {"flags": None}, {"count": 1}],
        "texts": [{"a": "a" * 256}, {"a": b"bytes"}, {"b": "\udc80"}, {"b": None}],
        "limited": [{"rest": bytes(6)}],
        "listed": [{"items": [{"type": "ONE", "header": {}, "n": 1}] * 4}, {"chain": []}, {"alone": {"M": 4}}],
    }
    good = {
        "numbers": {"one": 255, "two": 65535, "five": 5, "eight": (1 << 64) - 1, "z7": 127},
        "sized": {"flags": {"n": 0}, "count": 2, "data": b"aaaa", "rest": b""},
        "texts": {"a": "é" * 127, "b": "ü"},
        "limited": {"type": "BODY", "header": {}, "rest": bytes(5)},
        "listed": {"items": [], "chain": [{"header": {"L": 2}, "x": None}], "alone": {"M": 3}},
    }
    for engine, codecs in made.items():
        for name, changes in spoiled.items():
            data = codecs[name].encode(good[name])
            assert data == reference.encode(GRAMMARS[name], good[name])
            assert codecs[name].encode(codecs[name].decode(data)) == data
            for change in changes:
                assert spelled(codecs[name], good[name] | change) is None, (engine, name, change)


SANITIZED = """
import random, sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from vectors.golden.loader import load
from wire.engines import engine
from wire.errors import DecodeError

spec = spec_from_file_location("native", sys.argv[1], loader=ExtensionFileLoader("native", sys.argv[1]))
native = module_from_spec(spec)
spec.loader.exec_module(native)
rng = random.Random(1)
count = 0
for layout in ("zenoh/network-message", "zenoh/transport-message", "zenoh/batch"):
    codec, other = native.CODECS[layout.partition("/")[2]], engine("python").codec(layout)
    seeds = [vector.data for vector in load(layout) if len(vector.data) < 2000]
    for _ in range(int(sys.argv[2])):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(data) + 1)
            if rng.random() < 0.5:
                data[at:at] = rng.randbytes(rng.randrange(6))
            else:
                data[at : at + rng.randrange(4)] = bytes((rng.choice((0, 0x80, 0xFF, 1)),))
        # No byte beyond the frame belongs to it: the sanitizer sees a read of the first one.
        frame = bytes(data)
        try:
            value = codec.decode(frame, rng.random() < 0.5)
        except DecodeError:
            continue
        assert codec.encode(value) == other.encode(other.decode(frame)), frame.hex()
        assert value == other.decode(frame) and repr(value) and dict(value) if layout != "zenoh/batch" else True
        count += 1
print(count, "accepted")
"""


@pytest.mark.slow  # compiles with sanitizers, which make C slow
def test_no_byte_is_read_that_is_not_there(tmp_path):
    """The generated C under the address and undefined-behaviour sanitizers."""
    if not COMPILER or not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        pytest.skip("no C compiler, or no headers of Python")
    runtime = subprocess.run([COMPILER, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    library = Path(runtime.stdout.strip())
    if not library.is_absolute():
        pytest.skip("the compiler has no address sanitizer")
    into = tmp_path / "native.so"
    source = (ROOM / "zenoh" / "generated" / "native.c").read_text()
    build(source, into, "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    environment = os.environ | {
        "LD_PRELOAD": str(library.resolve()),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(ROOM.parent),
    }
    done = subprocess.run(
        [sys.executable, "-c", SANITIZED, str(into), "4000"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 2000
