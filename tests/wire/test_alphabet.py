"""Every kind of node, nested three deep, in all engines and in columns, against the reference engine."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alphabet import GRAMMARS, SEEDS
from construct import If, Pass, Struct, Switch, this
from made import COMPILER, ROOM, assert_equal_columns, compile_c, compiles, make, outcome

from wire import columnar, reference
from wire.dump import shown
from wire.emit import columnar as columns
from wire.emit import native, python
from wire.errors import CannotLayOut, EncodeError
from wire.kinds import KINDS, Bottom
from wire.kinds.base import walk
from wire.layout import lay_out
from wire.primitives import (
    VLE,
    ArrayOf,
    Bits,
    Blob,
    Bytes,
    ChainOf,
    Empty,
    Header,
    LimitedTo,
    Messages,
    NulBytes,
    OneOf,
    PaddedTo,
    Real,
    SelectedBy,
    Signed,
    Span,
    Tail,
    Text,
    TooDeep,
    Unsigned,
    Within,
    Word,
    Zeros,
    bits_of,
    nested,
    real_of,
)

LAYOUTS = {name: lay_out(grammar, f"alphabet/{name}") for name, grammar in GRAMMARS.items()}
FRAMES = 1500


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The engines of the grammars by name; ``columns`` too, where there is a compiler."""
    return make("alphabet", list(LAYOUTS.values()), tmp_path_factory.mktemp("built"))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reference engine, which words the errors, know the grammars."""
    monkeypatch.setattr(reference, "find", lambda name: GRAMMARS[name.partition("/")[2]])


def frames(name: str) -> list[bytes]:
    """Frames near those of a grammar: as they are, and changed in a few places."""
    rng = random.Random(name)
    seeds = [bytes.fromhex(seed) for seed in SEEDS[name]]
    made = list(seeds)
    while len(made) < FRAMES:
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(data) + 1)
            match rng.randrange(5):
                case 0:
                    data[at:at] = rng.randbytes(rng.randrange(4))
                case 1 | 2:
                    data[at : at + 1] = rng.choice((b"\x00", b"\x80", b"\xff", b"\x01", b"\x02", b"\xc3\xa9"))
                case 3:
                    data[at : at + 1] = rng.randbytes(1)
                case 4:
                    del data[at : at + rng.randrange(3)]
        made.append(bytes(data))
    return made


def test_every_kind_is_among_them():
    there = {type(part) for layout in LAYOUTS.values() for part in walk(layout.root)}
    binary = {kind for kind in KINDS.values() if kind.__name__ not in ("Json", "Language")}
    assert binary <= there
    assert Bottom in there


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_seeds_are_valid(name):
    for seed in SEEDS[name]:
        data = bytes.fromhex(seed)
        assert reference.encode(GRAMMARS[name], reference.decode(GRAMMARS[name], data)) == data


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_dump_has_every_byte(name):
    """The leaves report what they read, padding and what is enclosed too, from the first byte to the last."""
    for seed in SEEDS[name]:
        data, spans, at = bytes.fromhex(seed), list[Span](), 0
        reference.decode(GRAMMARS[name], data, spans=spans)
        for span in spans:
            assert span.start == at, (name, seed, span)
            assert (span.leaf.shown(span.value) or shown(span.value)).isprintable()
            at = span.end
        assert at == len(data)


@pytest.mark.parametrize("name", GRAMMARS)
def test_engines(name, made):
    accepted = refused = 0
    for number, data in enumerate(frames(name)):
        strict = number % 3 == 0
        expected = outcome(reference.decode, GRAMMARS[name], data, overlong="refuse" if strict else "accept")
        good = not isinstance(expected, tuple)
        for engine in ("python", "native"):
            if engine not in made:
                continue
            codec = made[engine][name]
            got = outcome(codec.decode, data, strict)
            assert got == expected, (engine, data.hex())
            if good:
                canonical = reference.encode(GRAMMARS[name], expected)
                assert codec.encode(got) == canonical, (engine, data.hex())
                assert codec.encode(expected) == canonical, (engine, data.hex())
        accepted += good
        refused += not good
    assert accepted > 100
    assert refused > 100 or name in ("integers", "floats")


@pytest.mark.parametrize("name", GRAMMARS)
def test_columns(name, made):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra that reads columns")
    if "columns" not in made:
        pytest.skip("there is no C compiler, or no headers of Python")
    data = frames(name)
    got = pa.record_batch(made["columns"].decode(f"alphabet/{name}", data, False))
    expected = columnar.gather(LAYOUTS[name], lambda frame: reference.decode(GRAMMARS[name], frame), data)
    assert_equal_columns(pa, got, expected, data)


def test_floats_keep_their_bits(made):
    """A signalling NaN of four bytes goes through every engine; Python's float would quiet it."""
    data = bytes.fromhex(SEEDS["floats"][0])
    for engine in ("python", "native"):
        if engine in made:
            value = made[engine]["floats"].decode(data)
            assert value == reference.decode(GRAMMARS["floats"], data)
            assert made[engine]["floats"].encode(value) == data
    assert real_of(bits_of(1.5, 4), 4) == 1.5
    assert bits_of(-0.0, 8) == 1 << 63


def test_a_list_that_somebody_changed_is_looked_at(made):
    """Lists are what can be changed of a value: no engine writes what the layout does not have."""
    data = bytes.fromhex(SEEDS["counted"][1])
    spoilers = {
        "numbers": (70000, -1, "x", None, 1.5),
        "texts": ("\ud800", b"x", "a" * 128),
        "fixed": (32768, -32769, "x"),
        "bits": ({"A": 2}, 3, {"B": 16}),
        "floats": (1 << 64, 1.5, None),
    }
    for engine in ("python", "native"):
        for field, wrong in spoilers.items():
            for item in wrong:
                if engine not in made:
                    continue
                codec = made[engine]["counted"]
                value = codec.decode(data)
                value[field][0] = item
                with pytest.raises(EncodeError):
                    codec.encode(value)
                value = codec.decode(data)
                value[field].append(value[field][0])
                with pytest.raises(EncodeError):
                    codec.encode(value)


def test_a_chain_says_itself_whether_more_follows(made):
    """Also to the fields of an item that look at the bit: what stands in the middle now has none behind its data."""
    data = bytes.fromhex(SEEDS["listed"][1])
    longer = {**reference.decode(GRAMMARS["listed"], data)}
    longer["entries"] = [*longer["entries"], longer["entries"][-1]]
    expected = reference.encode(GRAMMARS["listed"], longer)
    assert expected.hex() == "0002000000020200aa00000200aa010202800a"
    for engine in ("python", "native"):
        if engine in made:
            value = made[engine]["listed"].decode(data)
            value["entries"].append(value["entries"][-1])
            assert made[engine]["listed"].encode(value) == expected
            assert made[engine]["listed"].encode(longer) == expected


SPOILED = [
    ("integers", {"minus": 128}),
    ("integers", {"short": -32769}),
    ("integers", {"long": 1 << 63}),
    ("integers", {"three": 1 << 24}),
    ("floats", {"single": 1 << 32}),
    ("floats", {"double": 0.5}),
    ("words", {"header": {"version": 8}}),
    ("words", {"header": {"X": 1}}),
    ("words", {"wide": {"X_": 1, "X": 1}}),
    ("words", {"wide": 3}),
    ("counted", {"data": b"x"}),
    ("counted", {"text": "x"}),
    ("counted", {"numbers": [1, 2]}),
    ("terminated", {"name": "a\0b"}),
    ("terminated", {"name": "a" * 13}),
    ("terminated", {"raw": "text"}),
    ("padded", {"pad": b"\0\0\0"}),
    ("selected", {"kind": 2}),
    ("selected", {"kind": 3}),
    ("selected", {"body": {"type": "PONG", "flags": {}, "value": None}}),
    ("tails", {"b": None, "c": {"x": 1, "y": {}}}),
    ("tree", {"length": 5}),
]


@pytest.mark.parametrize(("name", "change"), SPOILED)
def test_what_does_not_fit(name, change, made):
    value = reference.plain(reference.decode(GRAMMARS[name], bytes.fromhex(SEEDS[name][0])))
    with pytest.raises(EncodeError):
        reference.encode(GRAMMARS[name], {**value, **change})
    for engine in ("python", "native"):
        if engine in made:
            with pytest.raises(EncodeError):
                made[engine][name].encode({**value, **change})


ONE = "ONE" / Struct("n" / Unsigned(1))


def behind_a_header(make):
    """A record whose fields look into a record before it."""
    return Struct("head" / Struct("size" / Unsigned(1), "bits" / Bits(M=0)), "a" / make(this))


TAILED = "T" / Struct("header" / Header(1), "t" / Tail(Unsigned(1)))


@pytest.mark.parametrize(
    ("grammar", "says"),
    [
        (Struct("a" / Unsigned(9)), "use Bytes for longer ones"),
        (Struct("a" / Real(2)), "there are those of 4 and 8"),
        (Struct("a" / Word(9, x=0)), "use several"),
        (Struct("a" / Word(2, x=16)), "there are 15 to 0"),
        (Struct("a" / Word(2, x=(8, 3), y=(3, 0))), "y shares bits"),
        (Struct("a" / Word(2, x=(1, 0, 4))), "does not fit in its bits"),
        (Struct("a" / Bits(x=(3, 0), y=3)), "y shares bits"),
        (Struct("a" / Bits(x=8)), "there are 7 to 0"),
        (Struct("a" / NulBytes(0)), "give a bound"),
        (Struct("a" / Blob(8, least=1)), "give least=0 or 1, and most=4 to 126"),
        (Struct("a" / Blob(8, least=2, most=9)), "bounds of 2 and 9"),
        (Struct("a" / Text(16, most=3)), "bounds of 0 and 3"),
        (Struct("a" / Text(7, most=127)), "bounds of 0 and 127"),
        (Struct("a" / Zeros(0)), "give a number"),
        (Struct("a" / PaddedTo(1, VLE(8))), "give a number"),
        (Struct("a" / PaddedTo(2, PaddedTo(4, VLE(8)))), "padded twice"),
        (Struct("a" / Tail(VLE(8)), "b" / VLE(8)), "only other tails can follow"),
        (Struct("a" / Struct("x" / Tail(VLE(8))), "b" / VLE(8)), "only other tails can follow"),
        (Struct("a" / Tail(Struct("x" / Tail(VLE(8))))), "may have no bytes"),
        (Struct("a" / Tail(Unsigned(1)), "b" / Tail(Bytes(2 - 2))), "may have no bytes"),
        (Struct("a" / ArrayOf(Struct("x" / Unsigned(1), "y" / Tail(VLE(8))))), "nothing can follow"),
        (Messages(OneOf(TAILED)), "nothing can follow"),
        (ChainOf(Struct("h" / Bits(Z=0), "t" / Tail(VLE(8)))), "nothing can follow"),
        (Struct("a" / ArrayOf(Empty())), "may have no bytes"),
        (Struct("n" / Unsigned(1), "a" / ArrayOf(If(this.n, VLE(8)), 2)), "does not stand earlier"),
        (Struct("a" / ArrayOf(Pass, 2)), "put it into a Struct"),
        (Struct("a" / ArrayOf(VLE(8), 2, most=1 << 20)), "give a bound"),
        (Struct("n" / Unsigned(1), "a" / Within(this.n, VLE(8))), "put it into a Struct"),
        (Struct("a" / SelectedBy(this.n, {1: ONE})), "does not stand earlier"),
        (Struct("n" / Unsigned(1), "a" / SelectedBy(this.n, {})), "no message"),
        (Struct("n" / Unsigned(1), "a" / SelectedBy(this.n, {"x": ONE})), "not one of a number"),
        (Struct("n" / Unsigned(1), "a" / SelectedBy(this.n, {1: VLE(8)})), "not one of a number"),
        (Struct("n" / Unsigned(1), "a" / SelectedBy(this.n, {1: "H" / Struct("h" / Header(1))})), "use Bits"),
        (Struct("n" / Unsigned(1), "a" / SelectedBy(this.n, {1: ONE, 2: "ONE" / Struct("m" / VLE(8))})), "one name"),
        (Struct("n" / Unsigned(1), "o" / If(this.n, VLE(8)), "a" / Bytes(this.o)), "may be absent here"),
        (Struct("t" / Tail(Unsigned(1)), "u" / Tail(ArrayOf(VLE(8), this.t))), "may be absent here"),
        (Struct("n" / Signed(1), "a" / Bytes(1 << this.n)), "may be negative"),
        (Struct("f" / Real(4), "a" / Bytes(this.f)), "is not a number"),
        (Struct("a-b" / VLE(8)), "identifier"),
        (Struct("n" / Unsigned(1), "a" / SelectedBy(this.n, {1: '"' / Struct("x" / VLE(8))})), "message's name"),
        (Struct("a" / LimitedTo(5, Struct("x" / VLE(8)))), "use it outermost"),
        (ChainOf(Struct("h" / Bits(M=(3, 2))), more="M"), "is one bit"),
        (ChainOf(Struct("h" / Word(4, M=(30, 29))), more="M"), "is one bit"),
        (ChainOf(Struct("h" / Word(4, M=(30, 30, 1))), more="M"), "can be 0 and 1"),
        (ChainOf(Struct("h" / Word(4, M=30)), more="X"), "begin with Bits or a Word that has X"),
        (ChainOf(Struct("n" / VLE(8), "h" / Word(4, M=30)), more="M"), "begin with Bits or a Word that has M"),
        (ChainOf(Struct("h" / Header(1, M=7)), more="M"), "no Header"),
        (behind_a_header(lambda here: Bytes(here.head.size)), "without a Struct around it"),
        (behind_a_header(lambda here: SelectedBy(here.head.size, {1: ONE})), "head has no bits called 'size'"),
        (behind_a_header(lambda here: If(here.head.bits.M, VLE(8))), "head has no bits called 'bits.M'"),
        (
            behind_a_header(lambda here: Struct("a" / Bytes(here._.head.size))),
            "put what decides beside what it decides",
        ),
        (Struct("n" / Unsigned(1), "a" / Switch(this.n, {1: VLE(8)}), "b" / Bytes(this.a)), "is not a number"),
    ],
)
def test_what_cannot_be_laid_out(grammar, says):
    with pytest.raises(CannotLayOut) as caught:
        lay_out(grammar, "here")
    assert says in str(caught.value)
    assert str(caught.value).startswith("here")


def test_a_whole_frame_has_functions_of_its_own():
    layout = lay_out(VLE(16), "alphabet/bare")
    for emitter in (python, native):
        with pytest.raises(CannotLayOut, match=r"^alphabet/bare: a whole frame is .*; put it into a Struct$"):
            emitter.emit("alphabet", [layout])


def test_a_dump_says_what_floats_and_words_are():
    leaf = Real(4, "big")
    assert leaf.shown(0x7FA00001) == "nan (bits 0x7fa00001)"
    assert leaf.shown(0x3FC00000) == "1.5 (bits 0x3fc00000)"
    word = Word(2, "big", a=(3, 0))
    span = Span(0, 2, "w", word.split(0x1230), word)
    assert list(word.remarks(span, b"")) == ["reserved bits 0x1230 are set"]


def test_levels():
    with pytest.raises(ValueError, match="one from 1 to 64"):
        nested(0, lambda inner: inner)
    assert isinstance(nested(2, lambda inner: Struct("a" / inner)).subcons[0].subcon.subcons[0].subcon, TooDeep)


SANITIZED = """
import random, sys
from types import ModuleType
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from alphabet import GRAMMARS, SEEDS
from wire import reference
from wire.emit import python
from wire.errors import DecodeError, EncodeError
from wire.layout import lay_out

name = "wire.alphabet.generated.python"
engine = ModuleType(name)
layouts = [lay_out(grammar, f"alphabet/{name}") for name, grammar in GRAMMARS.items()]
exec(compile(python.emit("alphabet", layouts), name, "exec"), vars(engine))
sys.modules[name] = engine
reference.find = lambda layout: GRAMMARS[layout.partition("/")[2]]

def load(name, file):
    spec = spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

native, columns = load("native", sys.argv[1]), load("columnar", sys.argv[2])
rng = random.Random(7)
count = 0
for layout, seeds in SEEDS.items():
    frames = []
    for _ in range(2000):
        data = bytearray.fromhex(rng.choice(seeds))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(data) + 1)
            if rng.random() < 0.5:
                data[at : at + rng.randrange(2)] = rng.randbytes(rng.randrange(4))
            else:
                del data[at : at + rng.randrange(3)]
        frames.append(bytes(data))
        try:
            value = native.CODECS[layout].decode(frames[-1], False)
        except DecodeError:
            continue
        count += 1
        other = engine.CODECS[layout]
        assert native.CODECS[layout].encode(value) == other.encode(other.decode(frames[-1])), frames[-1].hex()
        lists = [value] if isinstance(value, list) else [part for part in value.values() if isinstance(part, list)]
        for each in filter(None, lists):  # a list can be changed by anybody
            each[0] = rng.choice([None, "x", 70000, -1, 1.5, b"a", each[-1]])
            try:
                native.CODECS[layout].encode(value)
            except EncodeError:
                pass
    columns.decode(f"alphabet/{layout}", frames, False)
print(count, "accepted")
"""


@pytest.mark.slow  # two extensions with sanitizers are compiled
def test_no_byte_is_read_that_is_not_there(tmp_path):
    """The C of every kind under the address and undefined-behaviour sanitizers."""
    if not compiles():
        pytest.skip("no C compiler, or no headers of Python")
    asked = subprocess.run([str(COMPILER), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    library = Path(asked.stdout.strip())
    if not library.is_absolute():
        pytest.skip("the compiler has no address sanitizer")
    layouts = list(LAYOUTS.values())
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    files = [
        str(compile_c("native", native.emit("alphabet", layouts), tmp_path, *flags)),
        str(compile_c("columnar", columns.emit("alphabet", layouts), tmp_path, *flags)),
    ]
    environment = os.environ | {
        "LD_PRELOAD": str(library.resolve()),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join([str(ROOM.parent), str(Path(__file__).parent)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", SANITIZED, *files], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 5000
