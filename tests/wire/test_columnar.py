"""Columns of batches: the C against the values of the Python engine, for every way in, every way out, and in memory."""

import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import sysconfig
from functools import partial
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path

import pytest
from construct import If, Pass, Struct, Switch, this

import wire
from vectors.golden.loader import frames as golden_frames
from vectors.sampling import stream
from wire import columnar, reference
from wire.catalogue import grammars, layout
from wire.columns import columns_of
from wire.emit import columnar as emitter
from wire.engines import MissingEngine, engine
from wire.errors import CannotLayOut, DecodeError, UnknownLayout
from wire.kinds.contexts import Kind
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
    NamedBits,
    OneOf,
    Refused,
    Rest,
    RestText,
    Text,
    Unsigned,
)

ROOM = Path(wire.__path__[0])
COMPILER = shutil.which("cc") or shutil.which("gcc")
HEADERS = Path(sysconfig.get_path("include"))
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
LAYOUTS = [name for name in grammars() if not (layout(name).is_json or layout(name).is_text)]
NETWORK = "zenoh/network-message"

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra that reads columns")


def built(name):
    try:
        return columnar.decode_batch(name, [], engine="native") is not None
    except MissingEngine:
        return False


native = pytest.mark.skipif(not all(map(built, LAYOUTS)), reason="the extension of columns is not built")
compiled = pytest.mark.skipif(not COMPILER, reason="there is no C compiler")


def batch(name, frames, **options):
    """Decode, and let pyarrow check the whole batch."""
    made = pa.record_batch(columnar.decode_batch(name, frames, **options))
    made.validate(full=True)
    return made


def golden(name):
    return list(golden_frames(name).values())


def spoiled(frames, seed, count):
    """Frames with some bytes changed, put in, taken out."""
    rng = random.Random(seed)
    for _ in range(count):
        data = bytearray(rng.choice(frames))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) + 1)
            match rng.randrange(4):
                case 0:
                    data[at:at] = rng.randbytes(rng.randrange(6))
                case 1:
                    data[at : at + 1] = rng.choice((b"\x00", b"\x80", b"\xff", b"\x01", b"\xc3\xa9"))
                case 2:
                    del data[at : at + rng.randrange(4)]
                case 3:
                    del data[at:]
        yield bytes(data)


def leaves(value, path=""):
    """Give the leaves of a value with their paths, as columns have them."""
    match value:
        case None:
            return
        case NamedBits():
            yield path, value.byte
        case dict():
            for name, part in value.items():
                yield from leaves(part, f"{path}.{name}" if path else name)
        case list():
            yield path, [dict(leaves(item)) for item in value]
        case _:
            yield path, value


def bare(row, paths):
    """A row without nulls, by path: a place with columns of several kinds is one place again."""
    cells = {}
    for name, value in row.items():
        if value is not None:
            path, inner = paths[name]
            cells[path] = [bare(item, inner) for item in value] if inner is not None else value
    return cells


def paths_of(table):
    return {column.name: (column.path, column.items and paths_of(column.items)) for column in table.columns}


def outcome(decode, frame):
    """Return a frame's value, and why it is refused: class and offset, both None if it is accepted."""
    try:
        return decode(frame), (None, None)
    except DecodeError as error:
        return None, (error.reason.value, error.offset)


def assert_right(made, tree, decode, frames):
    """Hold every row to what a decoder says about its frame."""
    paths = paths_of(columns_of(tree))
    # In portions: some frames have lists of 65,535 items, which as Python's values are many megabytes each.
    rows = (row for at in range(0, max(len(frames), 1), 32) for row in made.slice(at, 32).to_pylist())
    for row, frame in zip(rows, frames, strict=True):
        refused, at = row.pop("refused"), row.pop("refused_at")
        value, refusal = outcome(decode, frame)
        assert (refused, at) == refusal, frame.hex()
        assert bare(row, paths) == (dict(leaves(value)) if refused is None else {}), frame.hex()


@native
@pytest.mark.parametrize("overlong", ["accept", "refuse"])
@pytest.mark.parametrize("name", LAYOUTS)
class TestEqualToThePythonEngine:
    def equal(self, name, overlong, frames):
        codec = engine("python").codec(name)
        made = batch(name, frames, overlong=overlong)
        assert_right(made, layout(name), lambda frame: codec.decode(frame, overlong == "refuse"), frames)
        assert made.equals(batch(name, frames, overlong=overlong, engine="python"))
        return made

    def test_golden_vectors(self, name, overlong):
        # Without the longest: a list of 65,535 items takes 60 MB as Python's values, three times over.
        self.equal(name, overlong, [frame for frame in golden(name)[::10] if len(frame) < 10_000])

    @pytest.mark.slow
    def test_all_golden_vectors(self, name, overlong):
        self.equal(name, overlong, golden(name))

    def test_spoiled_vectors(self, name, overlong):
        short = [frame for frame in golden(name) if len(frame) < 200]
        made = self.equal(name, overlong, list(spoiled(short, name, 3000)))
        assert 200 < made["refused"].null_count < 2800

    def test_sampled_frames(self, name, overlong):
        frames = [frame for frame, _ in islice(stream(layout(name), 11), 1500)]
        made = self.equal(name, overlong, frames)
        assert made["refused"].null_count > 300


def short(name, count=300):
    """Golden vectors that are not long, refused ones among them."""
    return [frame for frame in golden(name) if len(frame) < 100][:count]


class TestFrames:
    """What frames can come in, and what they then give; by both engines."""

    @pytest.fixture(params=[pytest.param("native", marks=native), "python"])
    def batch(self, request):
        return lambda name, frames, **options: batch(name, frames, engine=request.param, **options)

    @pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
    def test_arrow_arrays(self, batch, kind):
        frames = short(NETWORK)
        expected = batch(NETWORK, frames)
        assert batch(NETWORK, pa.array(frames, kind)).equals(expected)
        assert batch(NETWORK, pa.array(frames, kind)[7:91]).equals(expected[7:91])
        chunks = pa.chunked_array([frames[:3], [], frames[3:5], frames[5:]], kind)
        assert batch(NETWORK, chunks).equals(expected)
        assert batch(NETWORK, chunks[2:40]).equals(expected[2:40])

    def test_null_frames_are_rows_of_nulls(self, batch):
        frames = [None, *short(NETWORK)[:30], None, b"", None]
        expected = batch(NETWORK, frames)
        assert batch(NETWORK, pa.array(frames, pa.binary())).equals(expected)
        assert batch(NETWORK, pa.array([b"x", *frames], pa.large_binary())[1:]).equals(expected)
        rows = expected.to_pylist()
        assert all(cell is None for row in (rows[0], rows[31], rows[33]) for cell in row.values())
        assert (rows[32]["refused"], rows[32]["refused_at"]) == ("truncated", 0)

    @pytest.mark.parametrize("name", LAYOUTS)
    def test_no_frames(self, batch, name):
        for frames in (
            [],
            pa.array([], pa.binary()),
            pa.array([b"a"], pa.binary())[:0],
            pa.chunked_array([], pa.binary()),
        ):
            made = batch(name, frames)
            assert made.num_rows == 0
            assert made.schema == batch(name, [b""]).schema

    def test_any_iterable(self, batch):
        frames = short(NETWORK)
        assert batch(NETWORK, iter(frames)).equals(batch(NETWORK, tuple(frames)))

    @pytest.mark.parametrize(
        "frames",
        [
            b"bytes",
            "text",
            ["text"],
            [b"", 1],
            pa.array(["text"]),
            pa.array([1]),
            pa.chunked_array([["text"]]),
            pa.record_batch({"frame": [b""]}),
        ],
    )
    def test_other_types_are_refused(self, batch, frames):
        with pytest.raises(TypeError, match="frame"):
            batch(NETWORK, frames)

    def test_unknown_layouts_are_refused(self, batch):
        with pytest.raises(UnknownLayout):
            batch("zenoh/nothing", [])


@native
class TestMemory:
    def test_a_large_frame_and_many_items(self):
        payload = b"\x1d\x00\x01" + bytes((0xFF, 0xFF, 0x7F)) + bytes((1 << 21) - 1)
        made = batch(NETWORK, [payload, payload[:-1]])
        assert made["body.payload"].to_pylist() == [bytes((1 << 21) - 1), None]
        chain = b"\x9e" + b"\x80" * 65534
        made = batch(NETWORK, [chain + b"\x00\x1a", chain + b"\x80\x00\x1a", chain[:7] + b"\x00\x1a"])
        assert made["refused"].to_pylist() == [None, "too-long", None]
        assert [items and len(items) for items in made["extensions"].to_pylist()] == [65535, None, 7]

    def test_lists_grow_and_are_taken_back(self):
        """Lists of lists of every length, refused before, within and after each item."""
        inner = [frame for frame in short(NETWORK, 900) if outcome(engine("python").codec(NETWORK).decode, frame)[0]]
        rng = random.Random(4)
        frames = []
        for count in range(60):
            parts = [
                b"\x25\x07" + b"".join(rng.choices(inner, k=rng.randrange(5))) for _ in range(rng.randrange(count + 1))
            ]
            whole = b"".join(parts)
            frames += [whole, whole[: rng.randrange(len(whole) + 1)], whole + b"\x1f", whole + b"\xff"]
        codec = engine("python").codec("zenoh/batch")
        made = batch("zenoh/batch", frames)
        assert_right(made, layout("zenoh/batch"), codec.decode, frames)
        assert 60 < made["refused"].null_count < 180

    def test_what_was_exported_outlives_its_batch(self):
        frames = short(NETWORK)
        columns = columnar.decode_batch(NETWORK, frames)
        expected = pa.record_batch(columns)
        assert len(columns) == len(frames) == expected.num_rows
        assert pa.table(columns).to_batches()[0].equals(expected)
        assert pa.schema(columns) == expected.schema
        suffixes = pa.record_batch(columns)["key_suffix"]
        copy = suffixes.to_pylist()
        unread = [columns.__arrow_c_array__() for _ in range(3)], columns.__arrow_c_stream__()
        del columns, expected, unread
        assert suffixes.to_pylist() == copy

    @pytest.mark.slow  # a soak
    def test_batches_leave_nothing_behind(self):
        frames = pa.array(short(NETWORK) * 100, pa.binary())
        usage = []
        for _ in range(8):
            for _ in range(20):
                made = pa.record_batch(columnar.decode_batch(NETWORK, frames))
                made.column("declaration.key_suffix")
                columnar.decode_batch(NETWORK, frames).__arrow_c_array__()
            usage.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        # A batch of this size has over 10 MB: one that stayed would be seen in every round.
        assert usage[-1] - usage[2] < 10_000, usage

    def test_two_gigabytes_are_refused(self):
        """Offsets of text and lists have 32 bits."""
        megabyte = pa.array([bytes(1 << 20)], pa.binary())
        huge = pa.chunked_array([megabyte] * 2048)
        with pytest.raises(ValueError, match="2 GiB"):
            columnar.decode_batch(NETWORK, huge, engine="native")

    def test_offsets_that_decrease_are_refused(self):
        for kind, form in ((pa.binary(), "<4i"), (pa.large_binary(), "<4q")):
            wrong = pa.Array.from_buffers(
                kind, 3, [None, pa.py_buffer(struct.pack(form, 0, 4, 2, 5)), pa.py_buffer(bytes(5))]
            )
            with pytest.raises(ValueError, match="decrease"):
                columnar.decode_batch(NETWORK, wrong, engine="native")


def test_without_the_extension(monkeypatch):
    monkeypatch.setitem(sys.modules, "wire.zenoh.generated.columnar", None)
    with pytest.raises(MissingEngine, match="not built"):
        columnar.decode_batch(NETWORK, [b""], engine="native")
    columns = columnar.decode_batch(NETWORK, [b"\x39\x05\x01"])
    assert columns.engine == "python"
    assert pa.record_batch(columns)["type"].to_pylist() == ["INTEREST"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingEngine, match=r"not built.*pyarrow"):
        columnar.decode_batch(NETWORK, [b""])


@pytest.mark.parametrize("ask", [lambda name: columnar.decode_batch(name, [b"{}"]), columnar.schema_text])
def test_text_has_no_columns(ask):
    with pytest.raises(MissingEngine, match="pathfinder/filter is text, which has no columns; decode its frames one"):
        ask("pathfinder/filter")


def test_schema_text():
    text = columnar.schema_text(NETWORK)
    schema = batch(NETWORK, [], engine="python").schema
    assert [line.partition(":")[0] for line in text.splitlines() if not line.startswith(" ")] == schema.names
    assert "declaration.key_scope: uint16" in text.splitlines()
    assert "    value.number: uint64" in text.splitlines()


item = Struct("header" / Bits(Z=0, L=(3, 2)), "x" / If(this.header.L != 2, VLE(32)))
small = OneOf(
    "ONE" / Struct("header" / Header(1, A=7), "n" / VLE(16)), "TWO" / Struct("header" / Header(2), "n" / item)
)
listed = Struct("items" / Messages(small, most=3), "chain" / ChainOf(item, most=3), "alone" / Header(5, M=(6, 5)))
ARTIFICIAL = {
    "numbers": Struct("one" / Unsigned(1), "two" / Unsigned(2), "five" / Unsigned(5), "eight" / Unsigned(8)),
    "sized": Struct(
        "flags" / Bits(n=(7, 4), by=(1, 0)),
        "count" / VLE(8),
        "data" / Bytes(this.count * 2 - this.flags.n),
        "huge" / VLE(32),
        "more" / Bytes((this.huge << this.flags.by) + (this.huge >> this.count) - this.flags.X),
        "rest" / Rest(),
    ),
    "texts": Struct("a" / Text(8), "b" / RestText()),
    "switched": Struct(
        "kind" / Unsigned(1),
        "value"
        / Switch(
            this.kind,
            {1: VLE(16), 2: Struct("x" / VLE(7), "text" / Unsigned(1)), 3: Pass, 4: Empty(), 5: Text(8), 6: Blob(8)},
            default=Refused("no such kind"),
        ),
        "more" / If(this.kind > 2, Blob(16)),
        "bits" / If(this.kind == 1, Bits(low=(2, 0))),
    ),
    "kinds": Struct(
        "kind" / Unsigned(1),
        "value"
        / Switch(this.kind & 3, {0: VLE(16), 1: ChainOf(item), 2: Messages(small), 3: Struct("items" / VLE(8))}),
        "refused" / Unsigned(1),
    ),
    "listed": listed,
    "nested": ChainOf(Struct("header" / Bits(Z=7), "inner" / ChainOf(item), "texts" / Messages(small))),
    "to-end": Messages(small, to_end=True, most=5),
    "limited": LimitedTo(6, OneOf("BODY" / Struct("header" / Header(3), "rest" / Rest()))),
    "bare": VLE(32),
    "bare-text": RestText(),
    "nothing": Empty(),
}
BEGINNINGS = [
    *("", "0805", "01030805", "0107020905000565", "810502080945", "0101010101010945", "01", "0102", "0503ff", "814a"),
    *("0103aabb" * 2, "8101810202", "0a" * 9, "2f01" + "66" * 8, "03" * 7, "02" * 17, "0502c3a900", "06028081", "0201"),
    *("0201020304", "8001050005010700", "1f00010005", "0002aabbccdd0001", "20010001" + "aa" * 9, "5a" * 16),
]


def compile_c(source, into, *flags):
    """Compile, warnings as errors; C that is generated from the grammars above comes as text."""
    subprocess.run(
        [COMPILER, *WARNINGS, *flags, f"-I{ROOM / 'emit'}", f"-I{HEADERS}", str(source), "-o", str(into)], check=True
    )


@pytest.mark.slow  # compiles, and reads 4,000 frames of each grammar by the reference engine
@compiled
@pytest.mark.skipif(not (HEADERS / "Python.h").exists(), reason="there are no headers of Python")
def test_every_construct(tmp_path):
    """Grammars that no protocol has, against the reference engine."""
    trees = {name: lay_out(grammar, f"artificial/{name}") for name, grammar in ARTIFICIAL.items()}
    (tmp_path / "columnar.c").write_text(emitter.emit("artificial", list(trees.values())))
    compile_c(tmp_path / "columnar.c", tmp_path / "columnar.so", "-O1", "-shared", "-fPIC")
    loader = ExtensionFileLoader("columnar", str(tmp_path / "columnar.so"))
    spec = spec_from_file_location("columnar", tmp_path / "columnar.so", loader=loader)
    extension = module_from_spec(spec)
    loader.exec_module(extension)
    rng = random.Random(3)
    for name, grammar in ARTIFICIAL.items():
        frames = []
        for _ in range(4000):
            data = bytes.fromhex(rng.choice(BEGINNINGS))
            if rng.random() < 0.7:
                data = data[: rng.randrange(len(data) + 1)] + rng.randbytes(rng.choice((0, 1, 2, 5, 12, 17)))
                mask = rng.choice((0xFF, 0x0F, 0x03))
                data = bytes(byte & mask for byte in data)
            frames.append(data)
        for overlong in ("accept", "refuse"):

            def decode(frame, grammar=grammar, overlong=overlong):
                return reference.decode(grammar, frame, overlong=overlong)

            made = pa.record_batch(extension.decode(f"artificial/{name}", frames, overlong == "refuse"))
            made.validate(full=True)
            expected = columnar.gather(trees[name], decode, frames)
            assert made.schema == expected.schema, name
            for one, other, frame in zip(made.to_pylist(), expected.to_pylist(), frames, strict=True):
                assert one == other, (name, frame.hex())
            assert 50 < made["refused"].null_count < 3950, name


def test_names_and_kinds():
    names = {column.name: column.kind for column in columns_of(lay_out(ARTIFICIAL["kinds"])).columns}
    assert names == {
        "kind": Kind.NUMBER,
        "value.number": Kind.NUMBER,
        "value.items_": Kind.ITEMS,
        "value.items": Kind.NUMBER,
        "refused.number": Kind.NUMBER,
    }
    (only,) = columns_of(lay_out(ARTIFICIAL["bare"])).columns
    assert (only.name, only.path, only.size) == ("number", "", 4)


def test_wide_integers_are_refused():
    with pytest.raises(CannotLayOut, match="at most 8"):
        emitter.emit("artificial", [lay_out(Struct("n" / Unsigned(9)), "artificial/wrong")])


def test_the_extension_that_is_built_is_this_one():
    """The generated source is up to date, and so is its stamp."""
    source = emitter.emit("zenoh", [layout(name) for name in LAYOUTS if name.startswith("zenoh/")])
    assert (ROOM / "zenoh" / "generated" / "columnar.c").read_text() == source
    assert re.fullmatch(r"[0-9a-f]{16}", emitter.stamp_of(source))


def edges(name):
    """Frames that end just where something is read or written many bytes at a time."""
    texts = [b"\x1e\x20\x01\x00" + bytes([count]) + b"a" * count for count in range(70)]
    chains = [b"\x9e" + b"\x80" * count + b"\x00\x1a" for count in (62, 63, 64, 65, 126, 127, 128, 300)]
    numbers = [b"\x1e\x03" + b"\x80" * count + b"\x01" for count in range(10)]
    wrap = b"" if name == NETWORK else b"\x25\x07"
    return [wrap + frame for frame in texts + chains + numbers]


@pytest.mark.slow  # compiles with sanitizers, which make C slow
@compiled
@pytest.mark.parametrize("protocol", sorted({name.partition("/")[0] for name in LAYOUTS}))
def test_sanitizers(protocol, tmp_path):
    """The generated C on its own, with the address, leak and undefined-behaviour sanitizers looking on."""
    program = tmp_path / "alone"
    source = ROOM / protocol / "generated" / "columnar.c"
    compile_c(
        Path(__file__).with_name("columnar_alone.c"),
        program,
        "-O1",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-DGOLDWIRE_WITHOUT_PYTHON",
        "-D_POSIX_C_SOURCE=200809L",  # as Python's headers have it: numbers of JSON are read in a plain locale
        f'-DSOURCE="{source}"',
    )
    for name in (each for each in LAYOUTS if each.startswith(f"{protocol}/")):
        some = [frame for frame in golden(name) if len(frame) < 300]
        frames = some + edges(name) + list(spoiled(some, name, 1500))
        strict = name == NETWORK
        decode = partial(engine("python").codec(name).decode, refuse=strict)
        accepted = sum(outcome(decode, frame)[1] == (None, None) for frame in frames)
        told = bytes([strict]) + name.encode() + b"\0" + b"".join(struct.pack("<i", len(f)) + f for f in frames)
        done = subprocess.run([program], input=told, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        assert done.stdout.split()[:2] == [b"%d" % len(frames), b"%d" % accepted]
