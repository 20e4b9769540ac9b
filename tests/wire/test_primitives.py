"""The building blocks: one layout, bytes, value per case."""

import pytest
from construct import If, Struct, this
from hypothesis import given
from hypothesis import strategies as st

from wire.errors import DecodeError, EncodeError, Reason
from wire.primitives import (
    VLE,
    Bits,
    Blob,
    Bytes,
    ChainOf,
    Header,
    Messages,
    OneOf,
    Refused,
    Rest,
    RestText,
    Span,
    Text,
    Unsigned,
)
from wire.reference import decode, encode


def refused(layout, data, **options):
    with pytest.raises(DecodeError) as caught:
        decode(layout, bytes.fromhex(data), **options)
    return caught.value.reason, caught.value.offset


NUMBERS = [
    (7, "00", 0),
    (8, "7f", 127),
    (8, "8001", 128),
    (16, "ffff03", 65535),
    (32, "ffffffff0f", 2**32 - 1),
    (64, "ffffffffffffff7f", 2**56 - 1),
    (64, "808080808080808001", 2**56),
    (64, "808080808080808080", 2**63),
    (64, "ffffffffffffffffff", 2**64 - 1),
]


@pytest.mark.parametrize(("bits", "data", "value"), NUMBERS)
def test_vle(bits, data, value):
    assert decode(VLE(bits), bytes.fromhex(data)) == value
    assert decode(VLE(bits), bytes.fromhex(data), overlong="refuse") == value
    assert encode(VLE(bits), value).hex() == data


@pytest.mark.parametrize(
    ("bits", "data", "reason", "offset"),
    [
        (64, "", Reason.TRUNCATED, 0),
        (64, "80", Reason.TRUNCATED, 1),
        (64, "ffffffffffffffff", Reason.TRUNCATED, 8),
        (64, "ffffffffffffffffff01", Reason.TRAILING, 9),
        (16, "808004", Reason.OUT_OF_RANGE, 0),
        (16, "ffffffff0f", Reason.OUT_OF_RANGE, 0),
        (32, "8080808010", Reason.OUT_OF_RANGE, 0),
        (32, "ffffffffffffffffff", Reason.OUT_OF_RANGE, 0),
        (8, "8002", Reason.OUT_OF_RANGE, 0),
    ],
)
def test_vle_refused(bits, data, reason, offset):
    assert refused(VLE(bits), data) == (reason, offset)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("8000", 0),
        ("818000", 1),
        ("ff8000", 127),
        ("818080808080808000", 1),
        ("ffffffffffffffff00", 2**56 - 1),
    ],
)
def test_overlong_vle(data, value):
    assert decode(VLE(64), bytes.fromhex(data)) == value
    assert len(encode(VLE(64), value)) < len(data) // 2
    assert refused(VLE(64), data, overlong="refuse") == (Reason.OVERLONG, 0)


@given(st.integers(0, 2**64 - 1))
def test_vle_round_trip(value):
    spelled = encode(VLE(64), value)
    assert len(spelled) == min(9, max(1, -(-value.bit_length() // 7)))
    assert decode(VLE(64), spelled, overlong="refuse") == value


@pytest.mark.parametrize("value", [-1, 2**16, 1.0, "1", None, b"\x01"])
def test_vle_cannot_express(value):
    with pytest.raises(EncodeError):
        encode(VLE(16), value)


@pytest.mark.parametrize(
    ("layout", "data", "value"),
    [
        (Unsigned(1), "ff", 255),
        (Unsigned(2), "0102", 0x0201),
        (Blob(16), "00", b""),
        (Blob(16), "020102", b"\x01\x02"),
        (Text(16), "03612f62", "a/b"),
        (Text(16), "02c3bc", "ü"),
        (Rest(), "", b""),
        (Rest(), "0102", b"\x01\x02"),
        (RestText(), "612f62", "a/b"),
        (Struct("n" / Unsigned(1), "data" / Bytes(this.n)), "020102", {"n": 2, "data": b"\x01\x02"}),
    ],
)
def test_leaves(layout, data, value):
    assert decode(layout, bytes.fromhex(data)) == value
    assert encode(layout, value).hex() == data


@pytest.mark.parametrize(
    ("layout", "data", "reason", "offset"),
    [
        (Unsigned(2), "01", Reason.TRUNCATED, 1),
        (Blob(16), "", Reason.TRUNCATED, 0),
        (Blob(16), "0301", Reason.TRUNCATED, 0),
        (Blob(16), "80800461", Reason.OUT_OF_RANGE, 0),
        (Blob(32), "ffffffff0f61", Reason.TRUNCATED, 0),
        (Text(16), "01ff", Reason.BAD_TEXT, 0),
        (Text(16), "03eda080", Reason.BAD_TEXT, 0),
        (RestText(), "61ff", Reason.BAD_TEXT, 0),
        (Struct("n" / Unsigned(1), "data" / Bytes(this.n)), "0301", Reason.TRUNCATED, 2),
    ],
)
def test_leaves_refused(layout, data, reason, offset):
    assert refused(layout, data) == (reason, offset)


@pytest.mark.parametrize(
    ("layout", "value"),
    [
        (Unsigned(1), 256),
        (Blob(16), "text"),
        (Blob(8), b"x" * 256),
        (Text(16), b"bytes"),
        (Text(16), "\ud800"),
        (Rest(), None),
        (RestText(), 1),
        (Struct("n" / Unsigned(1), "data" / Bytes(this.n)), {"n": 2, "data": b"x"}),
    ],
)
def test_leaves_cannot_express(layout, value):
    with pytest.raises(EncodeError):
        encode(layout, value)


FLAGS = Bits(Z=7, mode=(6, 5), id=(3, 0))


def test_bits():
    assert decode(FLAGS, b"\xe5") == {"Z": 1, "mode": 3, "id": 5, "X": 0}
    assert decode(FLAGS, b"\x35") == {"Z": 0, "mode": 1, "id": 5, "X": 0x10}
    assert encode(FLAGS, {"Z": 1, "mode": 2}) == b"\xc0"
    assert "X" not in decode(Bits(high=(7, 4), low=(3, 0)), b"\x12")


@given(st.integers(0, 255))
def test_every_byte_of_bits_comes_back(byte):
    assert encode(FLAGS, decode(FLAGS, bytes([byte]))) == bytes([byte])


@pytest.mark.parametrize(
    "value",
    [{"mode": 4}, {"Z": -1}, {"Z": True, "id": 16}, {"X": 0x80}, {"X": 256}, {"X": "1"}, None, 5, "Z"],
)
def test_bits_cannot_express(value):
    with pytest.raises(EncodeError):
        encode(FLAGS, value)


A = "A" / Struct("header" / Header(0x01, Z=7, N=5), "n" / If(this.header.N, VLE(8)))
B0 = "B0" / Struct("header" / Header(0x02, Z=7, mode=(6, 5, 0)))
B = "B" / Struct("header" / Header(0x02, Z=7, mode=(6, 5)), "n" / VLE(8))
EITHER = OneOf(A, B0, B)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("01", {"type": "A", "header": {"Z": 0, "N": 0, "id": 1, "X": 0}, "n": None}),
        ("2105", {"type": "A", "header": {"Z": 0, "N": 1, "id": 1, "X": 0}, "n": 5}),
        ("41", {"type": "A", "header": {"Z": 0, "N": 0, "id": 1, "X": 0x40}, "n": None}),
        ("02", {"type": "B0", "header": {"Z": 0, "mode": 0, "id": 2}}),
        ("4205", {"type": "B", "header": {"Z": 0, "mode": 2, "id": 2}, "n": 5}),
    ],
)
def test_one_of(data, value):
    assert decode(EITHER, bytes.fromhex(data)) == value
    assert encode(EITHER, value).hex() == data


def test_one_of_refused():
    assert refused(EITHER, "") == (Reason.TRUNCATED, 0)
    assert refused(EITHER, "03") == (Reason.UNKNOWN_ID, 0)
    assert refused(EITHER, "21") == (Reason.TRUNCATED, 1)
    assert refused(A, "02") == (Reason.UNKNOWN_ID, 0)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "C", "header": {}},
        {"header": {}},
        {"type": "B", "n": 5},
        {"type": "A", "header": {"N": 1}},
        {"type": "B", "header": {"mode": 0}, "n": 5},
        "A",
        None,
    ],
)
def test_one_of_cannot_express(value):
    """A ``B`` with the mode of ``B0`` would be read back as ``B0``: it is not written."""
    with pytest.raises(EncodeError):
        encode(EITHER, value)


def test_messages_end_where_no_message_begins():
    layout = Struct("messages" / Messages(EITHER), "rest" / Rest())
    value = decode(layout, bytes.fromhex("01022105ff01"))
    assert [message["type"] for message in value["messages"]] == ["A", "B0", "A"]
    assert value["rest"] == b"\xff\x01"
    assert encode(layout, value).hex() == "01022105ff01"
    assert decode(layout, b"") == {"messages": [], "rest": b""}


def test_messages_to_the_end():
    assert decode(Messages(EITHER, to_end=True), b"") == []
    assert len(decode(Messages(EITHER, to_end=True), bytes.fromhex("010201"))) == 3
    assert refused(Messages(EITHER, to_end=True), "0102ff") == (Reason.UNKNOWN_ID, 2)


ITEMS = ChainOf(Struct("header" / Bits(Z=7, id=(3, 0)), "n" / VLE(8)))


def test_chain():
    value = decode(ITEMS, bytes.fromhex("81050206"))
    assert [item["n"] for item in value] == [5, 6]
    assert encode(ITEMS, value).hex() == "81050206"
    assert refused(ITEMS, "8105") == (Reason.TRUNCATED, 2)
    assert refused(ITEMS, "01050206") == (Reason.TRAILING, 2)


def test_chain_sets_its_own_marks():
    items = [{"header": {"id": 1}, "n": 5}, {"header": {"id": 2, "Z": 1}, "n": 6}]
    assert encode(ITEMS, items).hex() == "81050206"


@pytest.mark.parametrize("value", [[], None, [{}], [{"header": {}}], 5])
def test_chain_cannot_express(value):
    with pytest.raises(EncodeError):
        encode(ITEMS, value)


def test_reserved_places_are_refused():
    layout = Struct("n" / Unsigned(1), "place" / Refused("it is reserved"))
    assert refused(layout, "01") == (Reason.RESERVED, 0)
    with pytest.raises(EncodeError):
        encode(layout, {"n": 1, "place": None})


def test_spans_cover_the_frame():
    spans: list[Span] = []
    decode(Messages(EITHER, to_end=True), bytes.fromhex("2105024207"), spans=spans)
    assert [(span.start, span.end, span.path) for span in spans] == [
        (0, 1, "[0].A.header"),
        (1, 2, "[0].A.n"),
        (2, 3, "[1].B0.header"),
        (3, 4, "[2].B.header"),
        (4, 5, "[2].B.n"),
    ]


def test_a_refusal_names_the_place():
    with pytest.raises(DecodeError) as caught:
        decode(Messages(EITHER, to_end=True), bytes.fromhex("022180"))
    error = caught.value
    assert (error.reason, error.offset, error.path) == (Reason.TRUNCATED, 3, "[1].A.n")
    assert str(error) == "truncated at byte 3 ([1].A.n): a variable-length integer needs 1 byte, none is left"
