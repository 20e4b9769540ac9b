"""Columns of JSON: every refusal, offset and message's name as the reference has them, for every construct."""

import random
import struct
import subprocess
import sys
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path

import pytest
from test_columnar import HEADERS, ROOM, batch, compile_c, compiled, golden
from test_json import GRAMMARS, HOSTILE, INVALID, LET_PASS, REFUSED, VALID, mutated, spelled, valid

from vectors.sampling import stream
from wire import columnar
from wire.catalogue import grammars, layout
from wire.columns import columns_of
from wire.emit import columnar as emitter
from wire.emit.__main__ import sources
from wire.engines import MissingEngine, engine
from wire.errors import DecodeError
from wire.json.primitives import (
    JsonAnyOf,
    JsonArrayOf,
    JsonBoolean,
    JsonEnum,
    JsonInt,
    JsonMapOf,
    JsonNumeric,
    JsonObjectOf,
    JsonOneOf,
    JsonOptional,
    JsonString,
)
from wire.layout import lay_out
from wire.primitives import LimitedTo
from wire.reference import decode

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra that reads columns")

LAYOUTS = [name for name in grammars() if layout(name).is_json]
MESSAGE = "pathfinder/message"
PUBLISH = (
    b'{"ta-cmd":"publish","ta-id":1,"msg-type":"request","service-id":1,"generation":1,"service-props":%s,"ttl":1}'
)


def built():
    try:
        return columnar.decode_batch(MESSAGE, [], engine="native") is not None
    except MissingEngine:
        return False


native = pytest.mark.skipif(not built(), reason="the extension of columns is not built")


def outcome(decode, frame, tree):
    """Return the row of a frame: why it is refused and where, or which message it is."""
    try:
        return None, None, columnar.naming(tree)(decode(frame))
    except DecodeError as error:
        return error.reason.value, error.offset, None


def rows(made):
    names = [made[name].to_pylist() for name in made.schema.names]
    return list(zip(*names, *[[None] * len(made)] * (3 - len(names)), strict=True))


def assert_right(made, tree, decode, frames):
    for row, frame in zip(rows(made), frames, strict=True):
        assert row == outcome(decode, frame, tree), frame


def spoiled(frames, seed, count):
    """Frames that are changed once or more, most of them."""
    rng = random.Random(seed)
    for _ in range(count):
        data = rng.choice(frames)
        for _ in range(rng.randrange(4)):
            data = mutated(data, rng)
        yield data


@native
@pytest.mark.parametrize("name", LAYOUTS)
class TestEqualToThePythonEngine:
    def equal(self, name, frames):
        made = batch(name, frames, engine="native")
        assert_right(made, layout(name), engine("python").codec(name).decode, frames)
        assert made.equals(batch(name, frames, engine="python"))
        return made

    def test_golden_vectors(self, name):
        self.equal(name, golden(name))

    @pytest.mark.slow  # 3,000 frames, by the Python engine too
    def test_sampled_frames(self, name):
        made = self.equal(name, [frame for frame, _ in islice(stream(layout(name), 12), 3000)])
        assert 500 < made["refused"].null_count < 2500

    def test_spoiled_vectors(self, name):
        short = [frame for frame in golden(name) if len(frame) < 400]
        made = self.equal(name, list(spoiled(short, name, 1500)))
        assert made["refused"].null_count > 40

    def test_every_beginning(self, name):
        whole = [frame for frame, _ in islice(stream(layout(name), 13), 20) if len(frame) < 300]
        self.equal(name, [frame[:end] for frame in whole for end in range(len(frame))])


@native
def test_what_is_no_json():
    """Whatever a layout has, what is no JSON is refused as such."""
    told = [*((each[0], each[1], each[2]) for each in INVALID), *LET_PASS]
    made = batch(MESSAGE, [data for data, _, _ in told], engine="native")
    expected = [(getattr(reason, "value", reason), at) for _, reason, at in told]
    assert [row[:2] for row in rows(made)] == expected


@native
def test_hostile_texts():
    texts = [make() for make in HOSTILE.values()]
    frames = [data[:50_000] for data in texts] + texts
    assert_right(batch(MESSAGE, frames), layout(MESSAGE), engine("reference").codec(MESSAGE).decode, frames)


@native
@pytest.mark.parametrize("count", [0, 1, 2, 11, 12, 13, 14, 200, pytest.param(9000, marks=pytest.mark.slow)])
def test_many_names(count):
    """Few names are compared each with each, many are sorted: who is there twice is the same."""
    names = [f'"{number:x}":[]' for number in range(count)]
    whole = PUBLISH % f"{{{','.join(names)}}}".encode()
    frames = [whole, whole[:-1], whole + b"1", whole.replace(b'"ttl":1', b'"ttl":[{"a":1,"a":2}]')]
    for first, again in ((0, count), (count // 2, count), (0, 1), (count // 3, count - 1)):
        if first < count:
            twice = [*names[:again], names[first], *names[again:], names[0]]
            more = PUBLISH % f"{{{','.join(twice)}}}".encode()
            frames += [more, more[:-1], more[:-30], more.replace(b'"ttl"', b'"x"')]
    assert_right(batch(MESSAGE, frames), layout(MESSAGE), engine("python").codec(MESSAGE).decode, frames)


@native
def test_numbers_at_the_edges():
    since = b'{"ta-cmd":"services","ta-id":1,"msg-type":"notify","service-id":%s,"generation":5,"service-props":'
    since += b'{"n":[%s]},"ttl":60,"client-id":2,"orphan-since":%s}'
    infinite = (2**1024 - 2**970,)  # from here on, the nearest double is infinity
    reals = [f"{number + step}.{rest}" for number in infinite for step in (-1, 0) for rest in ("0", "999")]
    reals += ["-0.0", "-1e-400", "-2.4703282292062327208e-324", "-2.47032822920623273e-324", "-4.9e-324", "0e9999999"]
    reals += ["1e309", "-1e309", "1" * 400, "1" * 400 + "e-390", "1." + "1" * 5000, "0." + "0" * 400 + "1e401", "1.5"]
    whole = [str(number + step) for number in (2**63, -(2**63), 0, 10**18, 10**19, -(10**19)) for step in (-1, 0, 1)]
    frames = [since % (one.encode(), b"1", b"1") for one in [*whole, *reals]]
    frames += [since % (b"1", one.encode(), b"1") for one in [*whole, *reals]]
    frames += [since % (b"1", b"1", one.encode()) for one in [*whole, *reals]]
    made = batch(MESSAGE, frames)
    assert_right(made, layout(MESSAGE), engine("reference").codec(MESSAGE).decode, frames)
    assert 20 < made["refused"].null_count < len(frames) - 20


def test_the_names_of_messages():
    made = batch(MESSAGE, [b'{"ta-cmd":"ping","ta-id":7,"msg-type":"request"}', None, b""])
    assert made.schema.names == ["refused", "refused_at", "type"]
    assert rows(made) == [(None, None, "ping-request"), (None, None, None), ("truncated", 0, None)]
    (column,) = columns_of(layout(MESSAGE)).columns
    assert "subscribe-notify-disappeared" in column.choices
    assert columnar.schema_text(MESSAGE).splitlines()[2].startswith("type: dictionary of hello-request, ")


def test_without_the_extension(monkeypatch):
    monkeypatch.setitem(sys.modules, "wire.pathfinder.generated.columnar", None)
    with pytest.raises(MissingEngine, match="not built"):
        columnar.decode_batch(MESSAGE, [b""], engine="native")
    assert columnar.decode_batch(MESSAGE, [b"{}"]).engine == "python"
    assert rows(batch(MESSAGE, [b"{}"])) == [("missing-field", 1, None)]


ODD = {
    "odd": JsonOneOf(
        "a"
        / JsonObjectOf(
            "what?" / JsonEnum('"??/', "\\", "\u00fcber", ""),
            "rest" / JsonOptional(JsonArrayOf(JsonInt(-3, 2**63 - 1))),
        ),
        JsonOneOf("b" / JsonObjectOf("what?" / JsonEnum("b"), "type" / JsonEnum("1", "2")), by=("type", "what?")),
        JsonOneOf("c" / JsonObjectOf("what?" / JsonEnum("c", "d"), "type" / JsonEnum("1")), by=("type",)),
        by=("what?",),
    ),
    "bounded": JsonArrayOf(JsonNumeric(least=3)),
    "wide": JsonMapOf(JsonNumeric(least=2**53 + 1)),
    "nested": JsonMapOf(
        JsonAnyOf(
            JsonOneOf("x" / JsonObjectOf("t" / JsonEnum("x")), "y" / JsonObjectOf("t" / JsonEnum("y")), by=("t",)),
            JsonAnyOf(JsonArrayOf(JsonMapOf(JsonString())), JsonAnyOf(JsonBoolean(), JsonNumeric())),
            JsonString(),
        )
    ),
    "bare": LimitedTo(9, JsonString()),
    "empty": JsonObjectOf(),
    "large": JsonObjectOf(*(f"member-{number}" / JsonOptional(JsonBoolean()) for number in range(70))),
}
EDGES = [
    b"[3.0,2.9999999999999999,2.99]",
    b'{"a":9007199254740993.0,"b":9007199254740992.0}',
    b'{"a":9007199254740994.0}',
]


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    """The extension of grammars that no protocol has."""
    folder = tmp_path_factory.mktemp("built")
    trees = [lay_out(grammar, name) for name, grammar in ARTIFICIAL.items()]
    (folder / "columnar.c").write_text(emitter.emit("artificial", trees))
    compile_c(folder / "columnar.c", folder / "columnar.so", "-O1", "-shared", "-fPIC")
    loader = ExtensionFileLoader("columnar", str(folder / "columnar.so"))
    module = module_from_spec(spec_from_file_location("columnar", folder / "columnar.so", loader=loader))
    loader.exec_module(module)
    return module


ARTIFICIAL = GRAMMARS | {f"test/{name}": grammar for name, grammar in ODD.items()}


@pytest.mark.slow  # compiles, and reads 3,000 texts of each grammar by the reference engine
@compiled
@pytest.mark.skipif(not (HEADERS / "Python.h").exists(), reason="there are no headers of Python")
@pytest.mark.parametrize("name", ARTIFICIAL)
def test_every_construct(extension, name):
    grammar = ARTIFICIAL[name]
    tree = lay_out(grammar, name)
    rng = random.Random(name)
    frames = [*EDGES, b"{}", b"[]", *(data for each, data, *_ in REFUSED if each is grammar)]
    frames += [data for data, *_ in (*VALID, *INVALID)]
    for number in range(3000):
        data = spelled(valid(tree.root, rng), rng).encode()
        frames.append(mutated(data, rng) if number % 4 else data)
    made = pa.record_batch(extension.decode(name, frames, False))
    made.validate(full=True)
    assert_right(made, tree, lambda frame: decode(grammar, frame), frames)
    assert made.equals(columnar.gather(tree, lambda frame: decode(grammar, frame), frames))
    assert 300 < made["refused"].null_count < 2900


SANITIZED = {"pathfinder/message", "rai/publish"}
"""The others' C is made of the same parts, and test_columnar.py has all of it read some frames under sanitizers."""


@pytest.mark.slow  # compiles with sanitizers, which make C slow
@compiled
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SANITIZED else [pytest.mark.sweep]) for name in LAYOUTS]
)
def test_sanitizers(tmp_path, name):
    """The generated C on its own, frames in memory of exactly their size, with the sanitizers looking on."""
    program = tmp_path / "alone"
    source = ROOM / name.partition("/")[0] / "generated" / "columnar.c"
    options = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    options += ["-D_GNU_SOURCE", "-DGOLDWIRE_WITHOUT_PYTHON", f'-DSOURCE="{source}"']
    compile_c(Path(__file__).with_name("columnar_alone.c"), program, *options)
    short = [frame for frame in golden(name) if len(frame) < 300]
    frames = [*short, *spoiled(short, name, 2000), *(data for data, *_ in (*INVALID, *LET_PASS) if len(data) < 9999)]
    frames += [frame[:end] for frame in short[:20] for end in range(len(frame))]
    frames += [PUBLISH % b'{"%s":["%s\xc3\xbc"]}' % (b"a" * count, b"b" * count) for count in range(40)]
    frames.append(PUBLISH % b"{%s}" % b",".join(b'"%d":[]' % number for number in (*range(40), 5)))
    codec = engine("python").codec(name)
    accepted = sum(outcome(codec.decode, frame, layout(name))[0] is None for frame in frames)
    told = b"\0" + name.encode() + b"\0" + b"".join(struct.pack("<i", len(frame)) + frame for frame in frames)
    done = subprocess.run([program], input=told, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    assert done.stdout.split()[:2] == [b"%d" % len(frames), b"%d" % accepted]


def test_the_extension_is_that_of_today():
    made = dict(sources("pathfinder"))
    assert emitter.stamp_of(made["columnar.c"]) == import_module("wire.pathfinder.generated").COLUMNAR
    assert (ROOM / "pathfinder" / "generated" / "columnar.c").read_text() == made["columnar.c"]
