"""Zenoh's messages: values to bytes and back, and decoders that nothing surprises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vectors.strategies import LETTERS
from wire.errors import DecodeError, EncodeError, Reason
from wire.reference import decode, encode
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Interest,
    InterestFinal,
    Mode,
    Oam,
    Options,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
    from_wire,
    to_wire,
    unknown_mandatory,
)
from wire.zenoh.values_transport import read_beginning

NETWORK, BATCH = "zenoh/network-message", "zenoh/batch"

Z16, Z32, Z64 = (st.integers(0, 2**bits - 1) for bits in (16, 32, 64))
SUFFIX = st.none() | st.text(LETTERS, max_size=12)
KEY = st.builds(WireExpr, SUFFIX, Z16, st.booleans())
ALIAS = st.builds(WireExpr, SUFFIX, Z16)
EXTENSIONS = st.lists(
    st.builds(Extension, st.integers(0, 15), st.none() | Z64 | st.binary(max_size=12), st.booleans()),
    max_size=3,
).map(tuple)


def interest(number, mode, options, key, extensions):
    """An INTEREST whose options say about the key what is there."""
    if key is not None:
        options |= Options.R | Options(key.sender * Options.M) | Options((key.suffix is not None) * Options.N)
    return Interest(number, mode, options, key, extensions)


INTEREST = st.builds(
    interest,
    Z32,
    st.sampled_from([Mode.CURRENT, Mode.FUTURE, Mode.CURRENT_FUTURE]),
    st.sets(st.sampled_from([Options.K, Options.S, Options.Q, Options.T, Options.A])).map(
        lambda options: Options(sum(options))
    ),
    st.none() | KEY,
    EXTENSIONS,
)
KINDS = st.sampled_from(EntityKind)
U_RESERVED = st.sampled_from([0, 0x20, 0x40, 0x60])
DECLARATION = st.one_of(
    st.builds(DeclareKeyExpr, Z16, ALIAS, EXTENSIONS, st.sampled_from([0, 0x40])),
    st.builds(UndeclareKeyExpr, Z16, EXTENSIONS, U_RESERVED),
    st.builds(DeclareEntity, KINDS, Z32, KEY, EXTENSIONS),
    st.builds(UndeclareEntity, KINDS, Z32, EXTENSIONS, U_RESERVED),
    st.builds(DeclareFinal, EXTENSIONS, U_RESERVED),
)
DECLARE = st.builds(Declare, DECLARATION, st.none() | Z32, EXTENSIONS, st.sampled_from([0, 0x40]))
PAYLOAD = st.binary(max_size=20)
MESSAGE = st.one_of(
    INTEREST,
    DECLARE,
    st.builds(InterestFinal, Z32, EXTENSIONS),
    st.builds(Push, KEY, st.none() | PAYLOAD, EXTENSIONS),
    st.builds(Request, Z32, KEY, st.text(LETTERS, max_size=12), EXTENSIONS),
    st.builds(Response, Z32, KEY, st.none() | PAYLOAD, st.just(value=False), EXTENSIONS),
    st.builds(Response, Z32, KEY, PAYLOAD, st.just(value=True), EXTENSIONS),
    st.builds(ResponseFinal, Z32, EXTENSIONS),
    st.builds(Oam, Z16, st.none() | Z64 | PAYLOAD, EXTENSIONS),
)


@given(MESSAGE)
def test_every_message_comes_back(message):
    data = encode(NETWORK, to_wire(message))
    assert from_wire(decode(NETWORK, data)) == message
    assert encode(NETWORK, decode(NETWORK, data)) == data
    assert decode(NETWORK, data, overlong="refuse") == decode(NETWORK, data)


@settings(max_examples=50)
@given(MESSAGE)
def test_every_prefix_is_truncated(message):
    data = encode(NETWORK, to_wire(message))
    for end in range(len(data)):
        with pytest.raises(DecodeError) as caught:
            decode(NETWORK, data[:end])
        assert caught.value.reason is Reason.TRUNCATED
        assert 0 <= caught.value.offset <= end


@given(MESSAGE, st.binary(min_size=1, max_size=4))
def test_every_message_ends(message, more):
    data = encode(NETWORK, to_wire(message))
    with pytest.raises(DecodeError) as caught:
        decode(NETWORK, data + more)
    assert (caught.value.reason, caught.value.offset) == (Reason.TRAILING, len(data))


@given(st.lists(MESSAGE, max_size=4), Z32)
def test_messages_in_a_frame_come_back(messages, sn):
    inside = [to_wire(each) for each in messages]
    frame = {"type": "FRAME", "header": {"R": 1}, "sn": sn, "extensions": None, "messages": inside}
    data = encode(BATCH, [frame, {"type": "KEEP_ALIVE", "header": {}, "extensions": None}])
    first, last = decode(BATCH, data)
    assert [from_wire(each) for each in first["messages"]] == messages
    assert last["type"] == "KEEP_ALIVE"
    assert encode(BATCH, [first, last]) == data


def test_what_stands_before_a_broken_message_is_kept():
    """A Final in one FRAME, another in the next, then half an INTEREST."""
    broken = bytes.fromhex("25001905 04 25011906 3907".replace(" ", ""))
    assert read_beginning(broken) == (InterestFinal(5), InterestFinal(6))
    assert read_beginning(broken[:-2]) == (InterestFinal(5), InterestFinal(6))
    assert read_beginning(bytes.fromhex("25001905ff")) == (InterestFinal(5),)
    assert read_beginning(b"\xff") == read_beginning(b"") == ()


def stable(layout: str, data: bytes) -> None:
    """Any bytes are refused in a known way, or their value is written and read as itself."""
    refusal = None
    try:
        value = decode(layout, data)
    except DecodeError as error:
        refusal = error
    if refusal is not None:
        assert 0 <= refusal.offset <= len(data)
        assert refusal.path
        return
    spelled = encode(layout, value)
    assert len(spelled) <= len(data)
    assert decode(layout, spelled, overlong="refuse") == value


LAYOUTS = st.sampled_from([NETWORK, BATCH, "zenoh/transport-message"])


@settings(max_examples=300)
@given(LAYOUTS, st.binary(max_size=60))
def test_arbitrary_bytes(layout, data):
    stable(layout, data)


@settings(max_examples=300)
@given(
    LAYOUTS,
    st.sampled_from(
        [b"\x19", b"\x39", b"\xb9", b"\x1e", b"\x3e", b"\xbe", b"\x9e\x21\x05", b"\x25\x00\x1e", b"\x81\x09"]
    ),
    st.binary(max_size=30),
)
def test_arbitrary_bytes_after_a_header(layout, head, data):
    stable(layout, head + data)


@settings(max_examples=200)
@given(MESSAGE, st.data())
def test_damaged_messages(message, data):
    """One byte of a message changed, removed or doubled."""
    frame = encode(NETWORK, to_wire(message))
    at = data.draw(st.integers(0, len(frame) - 1))
    new = data.draw(st.binary(max_size=2))
    stable(NETWORK, frame[:at] + new + frame[at + 1 :])


def test_an_interest_is_never_written_as_a_final():
    with pytest.raises(EncodeError):
        encode(NETWORK, to_wire(Interest(5, Mode.FINAL, Options.S)))


def test_unknown_mandatory_extensions():
    info, node, other = Extension(1, 5), Extension(3, 1, mandatory=True), Extension(9, None, mandatory=True)
    assert unknown_mandatory("INTEREST", [info, node]) is None
    assert unknown_mandatory("INTEREST", [info, other]) is other
    assert unknown_mandatory("D_SUBSCRIBER", [node]) is node
    assert unknown_mandatory("D_SUBSCRIBER", [Extension(9)]) is None


def test_lengths_that_are_not_there():
    for data in ("39013200ffff0361", "b9010242ffffffff0f61", "5d00ffffffff0f", "26"):
        with pytest.raises(DecodeError) as caught:
            decode(NETWORK, bytes.fromhex(data))
        assert caught.value.reason in (Reason.TRUNCATED, Reason.OUT_OF_RANGE, Reason.UNKNOWN_ID)


@pytest.mark.slow  # 65,535 messages
def test_the_largest_batch_of_the_smallest_messages():
    assert len(decode(BATCH, b"\x04" * 65_535)) == 65_535


@pytest.mark.slow  # 65,535 items, by the reference engine
def test_a_long_chain_of_extensions():
    value = decode(NETWORK, bytes.fromhex("b90501") + b"\x8a" * 50_000 + b"\x0a")
    assert len(value["extensions"]) == 50_001
    assert encode(NETWORK, value) == bytes.fromhex("b90501") + b"\x8a" * 50_000 + b"\x0a"
