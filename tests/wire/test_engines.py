"""The engines: the same values, bytes and refusals, whatever the frame."""

import copy
import json
import pickle
import random
import time
import tracemalloc
from collections.abc import Mapping
from importlib import import_module

import pytest

from vectors.golden.loader import load
from wire import engines, reference
from wire.catalogue import grammars
from wire.catalogue import layout as find
from wire.columnar import decode_batch
from wire.emit.__main__ import main, sources
from wire.engines import MissingEngine, engine, live, present
from wire.errors import DecodeError, EncodeError, Reason, UnknownLayout
from wire.reference import plain

LAYOUTS = list(grammars())
NETWORK, BATCH = "zenoh/network-message", "zenoh/batch"
HERE = [each.name for each in present(NETWORK)]
OPTIMIZED = HERE[1:]
OF_LAYOUT = {name: [each.name for each in present(name)] for name in LAYOUTS}
"""Which engines a layout has: no C reads JSON."""


def answer(codec, data, refuse=False):
    try:
        return codec.decode(data, refuse)
    except DecodeError as error:
        return error.reason, error.offset


def spelled(codec, value):
    try:
        return codec.encode(value)
    except EncodeError:
        return EncodeError


def damaged(seeds, rng):
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0:
                data[at : at + 1] = bytes((rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256))),))
            case 1:
                data[at:at] = rng.randbytes(rng.randrange(1, 12))
            case 2:
                del data[at : at + rng.randrange(1, 4)]
            case 3:
                other = rng.choice(seeds)
                data[at:] = other[rng.randrange(len(other) + 1) :]
            case 4 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


def test_every_layout_has_an_engine_beside_the_reference():
    assert all(names[:2] == ["reference", "python"] for names in OF_LAYOUT.values())
    assert {"native" in names for name, names in OF_LAYOUT.items() if name.startswith("zenoh/")} == {"native" in HERE}


@pytest.mark.parametrize("every", [pytest.param(10, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("layout", "name"), [(layout, name) for layout in LAYOUTS for name in OF_LAYOUT[layout][1:]])
def test_same_as_the_reference(layout, name, every):
    rng = random.Random(5)
    reference, other = engine("reference").codec(layout), engine(name).codec(layout)
    seeds = [vector.data for vector in load(layout) if len(vector.data) < 4096]
    frames = seeds[:1500] + [damaged(seeds, rng) for _ in range(3000)]
    for data in frames[::every]:
        for refuse in (False, True):
            expected = answer(reference, data, refuse)
            got = answer(other, data, refuse)
            assert got == expected, data.hex()
        if not isinstance(expected, tuple):
            forms = [other.decode(data), plain(other.decode(data)), expected]
            assert {spelled(other, form) for form in forms} == {reference.encode(expected)}, data.hex()
            assert reference.encode(forms[0]) == reference.encode(expected)


@pytest.mark.parametrize("name", OPTIMIZED)
def test_a_refusal_says_where_in_words(name):
    data = bytes.fromhex("9e2105a203ff")
    with pytest.raises(DecodeError) as expected:
        engine("reference").decode(NETWORK, data)
    with pytest.raises(DecodeError) as caught:
        engine(name).decode(NETWORK, data)
    assert str(caught.value) == str(expected.value)
    assert (caught.value.path, caught.value.detail) == (expected.value.path, expected.value.detail)


def too_large():
    value = plain(engine("reference").decode(NETWORK, bytes.fromhex("1e060000")))
    value["declaration"]["token_id"] = 1 << 40
    return value


@pytest.mark.parametrize("name", OPTIMIZED)
def test_what_cannot_be_written_says_why_in_words(name):
    with pytest.raises(EncodeError) as expected:
        engine("reference").encode(NETWORK, too_large())
    with pytest.raises(EncodeError) as caught:
        engine(name).encode(NETWORK, too_large())
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value) == str(expected.value)
    assert repr(caught.value) == repr(expected.value)


@pytest.mark.parametrize("name", OPTIMIZED)
def test_words_that_nobody_reads_are_not_asked_for(name, monkeypatch):
    monkeypatch.setattr(reference, "encode", None)
    with pytest.raises(EncodeError):
        engine(name).encode(NETWORK, too_large())


@pytest.mark.parametrize("name", OPTIMIZED)
def test_a_value_that_was_mended_meanwhile_is_refused_in_the_engines_own_words(name):
    value = too_large()
    with pytest.raises(EncodeError) as caught:
        engine(name).encode(NETWORK, value)
    value["declaration"]["token_id"] = 1
    assert str(caught.value).startswith("the value does not fit the layout: ")


@pytest.mark.parametrize("name", HERE)
def test_overlong_integers(name):
    data = bytes.fromhex("198500")
    assert engine(name).decode(NETWORK, data)["id"] == 5
    with pytest.raises(DecodeError, match="overlong at byte 1"):
        engine(name).decode(NETWORK, data, overlong="refuse")


FINAL = {"type": "INTEREST_FINAL", "header": {"Z": 1}, "id": 5}
UNIT = {"header": {"id": 1, "encoding": 0}, "value": None}
SPOILED = [
    None,
    5,
    [],
    {},
    {"type": "NOTHING"},
    {"type": []},
    {"type": "INTEREST_FINAL"},
    {"type": "INTEREST_FINAL", "header": {}, "id": None},
    {"type": "INTEREST_FINAL", "header": {}, "id": 1 << 32},
    {"type": "INTEREST_FINAL", "header": {}, "id": -1},
    {"type": "INTEREST_FINAL", "header": {}, "id": -20_000},
    {"type": "INTEREST_FINAL", "header": {}, "id": 5.0},
    {"type": "INTEREST_FINAL", "header": {}, "id": "5"},
    {"type": "INTEREST_FINAL", "header": None, "id": 5},
    {"type": "INTEREST_FINAL", "header": {"Z": 2}, "id": 5},
    {"type": "INTEREST_FINAL", "header": {"X": 1}, "id": 5},
    {"type": "INTEREST", "header": {"Mod": 0}, "id": 5, "options": {}},
    {"type": "INTEREST", "header": {"Mod": 1}, "id": 5, "options": {"R": 1, "N": 1}, "key_scope": 0, "key_suffix": 5},
    {"type": "INTEREST", "header": {"Mod": 1}, "id": 5, "options": {"R": 1}, "key_scope": 1 << 16},
    FINAL,
    FINAL | {"extensions": None},
    FINAL | {"extensions": []},
    FINAL | {"extensions": "x"},
    FINAL | {"extensions": [UNIT] * 65_536},
    FINAL | {"extensions": [{"header": {"id": 1, "encoding": 3}, "value": None}]},
    FINAL | {"extensions": [{"header": {"id": 1, "encoding": 2}, "value": "text"}]},
    FINAL | {"extensions": [{"header": {"id": 1, "encoding": 2}, "value": [1, 2]}]},
    FINAL | {"extensions": [{"header": {"id": 1, "Z": 2}, "value": None}]},
    {"type": "REQUEST", "header": {}, "id": 1, "key_scope": 0, "body": {"type": "PUT"}},
    {"type": "OAM", "header": {"encoding": 0}, "id": 1, "body": 5},
    {"type": "OAM", "header": {"encoding": 0}, "id": 1, "body": b""},
    {"type": "OAM", "header": {"encoding": 0}, "id": 1, "body": []},
    {
        "type": "REQUEST",
        "header": {},
        "id": 1,
        "key_scope": 0,
        "body": {"type": "QUERY", "header": {"P": 1}, "parameters": "\ud800"},
    },
]
FITTING = [
    ({"type": "INTEREST_FINAL", "header": {}, "id": True}, "1901"),
    ({"type": "INTEREST_FINAL", "header": {"id": 3, "Mod": 9}, "id": 5, "more": 1}, "1905"),
    (FINAL | {"extensions": (UNIT, UNIT)}, "99058101"),
    (FINAL | {"extensions": [{"header": {"id": 1}}]}, "990501"),
    ({"type": "OAM", "header": {}, "id": 1}, "1f01"),
    (FINAL | {"extensions": [UNIT | {"header": {"id": 1, "Z": 1}}]}, "990501"),
    ({"type": "INTEREST", "header": {"Mod": 1}, "id": 5, "options": {}, "key_scope": "ignored"}, "390500"),
]


@pytest.mark.parametrize("name", HERE)
def test_values_that_fit(name):
    for value, data in FITTING:
        assert engine(name).encode(NETWORK, value).hex() == data


@pytest.mark.parametrize("name", HERE)
def test_values_that_do_not_fit(name):
    for value in SPOILED:
        with pytest.raises(EncodeError):
            engine(name).encode(NETWORK, value)
    with pytest.raises(EncodeError):
        engine(name).encode(BATCH, [{"type": "FRAGMENT", "header": {}, "sn": 1, "data": bytes(65_535)}])


def test_an_encode_error_names_the_field():
    for name in HERE:
        with pytest.raises(EncodeError, match=r"INTEREST_FINAL\.id: None is not an unsigned integer of 32 bits"):
            engine(name).encode(NETWORK, {"type": "INTEREST_FINAL", "header": {}, "id": None})


HOSTILE = {
    "continuation bytes": ("", "80", 100_000_000),
    "units without end": ("9905", "80", 100_000_000),
    "numbers without end": ("9905", "a100", 50_000_000),
    "blobs without end": ("9905", "c100", 50_000_000),
    "ones": ("", "ff", 100_000_000),
    "zeros": ("", "00", 100_000_000),
    "messages without end": ("", "04", 100_000_000),
    "frames": ("", "0500", 50_000_000),
    "finals in a frame": ("0500", "1901", 50_000_000),
    "a huge length": ("5d00ffffffff0f61", "", 0),
    "a length of 2^64-1": ("5d00ffffffffffffffffff61", "", 0),
    "an endless number": ("19", "ff", 100),
    "surrogates": ("7e22010003eda080", "", 0),
}
"""How a frame begins, and what is repeated how often."""


@pytest.mark.slow  # 100,000 repetitions, under tracemalloc
@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_frames_cost_little(what, name):
    """Refused where they stop to make sense; the memory stays far below what a value of all of it would take."""
    begins, repeated, count = HOSTILE[what]
    data = bytes.fromhex(begins) + bytes.fromhex(repeated) * count
    for layout in (each for each in LAYOUTS if name in OF_LAYOUT[each]):
        codec = engine(name).codec(layout)
        started = time.process_time()
        tracemalloc.start()
        try:
            with pytest.raises(DecodeError):
                codec.decode(data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 300_000_000
        assert time.process_time() - started < 60


@pytest.mark.slow  # 100,000 repetitions
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_frames_in_columns(what):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra that reads columns")
    begins, repeated, count = HOSTILE[what]
    data = bytes.fromhex(begins) + bytes.fromhex(repeated) * count
    for layout in (each for each in LAYOUTS if not (find(each).is_json or find(each).is_text)):
        columns = pyarrow.record_batch(decode_batch(layout, [data, b"\x04"]))
        said = columns.column("refused").to_pylist()[0], columns.column("refused_at").to_pylist()[0]
        reason, offset = answer(engine("python").codec(layout), data)
        assert said == (reason.value, offset)


@pytest.mark.slow  # 65,535 items, by the reference engine too
@pytest.mark.parametrize("name", HERE)
def test_the_longest_lists(name):
    codec = engine(name).codec(NETWORK)
    most = b"\x99\x05" + b"\x81" * 65_534 + b"\x01"
    assert len(codec.decode(most)["extensions"]) == 65_535
    assert codec.encode(codec.decode(most)) == most
    assert answer(codec, b"\x99\x05" + b"\x81" * 65_535 + b"\x01") == (Reason.TOO_LONG, 2 + 65_535)
    assert len(engine(name).decode(BATCH, b"\x04" * 65_535)) == 65_535
    assert answer(engine(name).codec(BATCH), b"\x04" * 65_536) == (Reason.TOO_LONG, 65_535)


def test_flags_are_shared_by_the_grammar_and_generated_code():
    """Each would have 256 values of its own for every byte of flags: megabytes."""
    name, frame = "zenoh/network-message", bytes.fromhex("1905")
    by_grammar, by_code = (engine(each).decode(name, frame)["header"] for each in ("reference", "python"))
    assert by_grammar is by_code


def test_unknown_layouts():
    for name in engines.NAMES:
        with pytest.raises(UnknownLayout, match="zenoh/batch"):
            engine(name).codec("zenoh/nothing")


def test_the_fastest_engine_is_live():
    assert live(NETWORK).name == HERE[-1]
    assert HERE[:2] == ["reference", "python"]


def test_an_engine_of_another_grammar_is_not_used(monkeypatch):
    if "native" not in HERE:
        pytest.skip("the native engine is not built here")
    monkeypatch.setattr(import_module("wire.zenoh.generated"), "NATIVE", "0")
    other = engines.Engine("native", engines._ENGINES["native"]._find.__wrapped__)
    with pytest.raises(MissingEngine, match="another grammar"):
        other.codec(NETWORK)


def test_generated_code_is_fresh(capsys):
    assert main(["--check"]) == 0, capsys.readouterr().out
    assert {name for name, _ in sources("zenoh")} == {"python.py", "native.c", "columnar.c", "__init__.py"}


@pytest.fixture
def message():
    if "native" not in HERE:
        pytest.skip("the native engine is not built here")
    return engine("native").decode(NETWORK, bytes.fromhex("9e21052201000161"))


class TestRecords:
    """What the native engine gives."""

    def test_is_a_mapping(self, message):
        assert isinstance(message, Mapping)
        assert list(message) == ["type", "header", "interest_id", "extensions", "declaration"]
        assert len(message) == 5
        assert message["type"] == message.type == "DECLARE"
        assert message["".join(["dec", "laration"])].type == "D_SUBSCRIBER"
        assert dict(message)["declaration"]["key_suffix"] == "a"
        assert message.get("nothing") is None
        assert message.get("nothing", 5) == 5
        assert "header" in message
        assert "nothing" not in message
        assert list(message.keys()) == list(message)
        assert dict(message.items()) == dict(message)
        assert next(iter(message.values())) == "DECLARE"

    def test_equals_what_is_equal(self, message):
        same = engine("reference").decode(NETWORK, bytes.fromhex("9e21052201000161"))
        assert message == same
        assert same == message
        assert message == engine("native").decode(NETWORK, bytes.fromhex("9e21052201000161"))
        assert message != engine("native").decode(NETWORK, bytes.fromhex("9e21052201000162"))
        assert message != same | {"interest_id": 0}
        assert message != {"type": "DECLARE"}
        assert message != dict(same, more=1)
        assert message != 5
        assert repr(message) == repr(same)

    def test_cannot_be_changed_or_made(self, message):
        with pytest.raises(AttributeError):
            message.type = "other"
        with pytest.raises(AttributeError):
            del message.header
        with pytest.raises(TypeError):
            message["type"] = "other"
        with pytest.raises(TypeError):
            type(message)()
        with pytest.raises(TypeError):
            hash(message)
        with pytest.raises(KeyError):
            message["nothing"]
        with pytest.raises(KeyError):
            message[5]

    def test_copies_are_dicts(self, message):
        for twin in (copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
            assert type(twin) is dict
            assert twin == message
        assert json.loads(json.dumps(plain(message))) == message

    def test_a_changed_list_is_still_encoded_right(self, message):
        reference = engine("reference")
        message["extensions"].append({"header": {"id": 7, "encoding": 1}, "value": 300})
        assert engine("native").encode(NETWORK, message) == reference.encode(NETWORK, plain(message))
        message["extensions"].clear()
        with pytest.raises(EncodeError):
            engine("native").encode(NETWORK, message)

    def test_wants_bytes(self, message):
        codec = engine("native").codec(NETWORK)
        for wrong in ("1905", 5, None, bytearray(b"\x19\x05")):
            with pytest.raises(TypeError):
                codec.decode(wrong)
        with pytest.raises(TypeError):
            codec.decode()
        with pytest.raises(TypeError):
            codec.decode(b"", False, 1)
