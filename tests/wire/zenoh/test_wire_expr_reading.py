"""Reading the payload of a WireExpr extension, in both spellings."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectors.strategies import LETTERS
from wire.errors import DecodeError
from wire.reference import decode
from wire.zenoh.grammar_extensions import wire_expr_payload, wire_expr_payload_deployed
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import WireExpr
from wire.zenoh.wire_expr_reading import _read_plainly, read_wire_expr, read_wire_expr_extension

WIRE_EXPRS = st.builds(
    WireExpr,
    st.none() | st.text(LETTERS, max_size=8).filter(lambda t: t.isascii()),
    st.integers(0, 65535),
    st.booleans(),
)


@given(WIRE_EXPRS, st.booleans())
def test_wire_expr_extension_round_trip(key, deployed):
    extension = wire_expr_extension(key, deployed=deployed)
    assert (extension.id, extension.mandatory) == (0xF, True)
    assert isinstance(extension.value, bytes)
    assert read_wire_expr(extension.value, deployed=deployed) == key
    if not deployed:
        assert read_wire_expr_extension(extension.value) == (key, False)


def test_wire_expr_extension_of_deployed_nodes():
    assert read_wire_expr_extension(b"\x01\x00a/b") == (WireExpr("a/b", 0, sender=False), True)
    with pytest.raises(DecodeError):
        read_wire_expr_extension(b"\x01\x00\xff")


@given(st.binary(max_size=8), st.booleans())
def test_what_is_read_without_the_reference_is_what_the_reference_reads(payload, deployed):
    found = _read_plainly(payload, deployed)
    if found is not None:
        value = decode(wire_expr_payload_deployed if deployed else wire_expr_payload, payload)
        assert found == WireExpr(value["key_suffix"], value["key_scope"], bool(value["flags"]["M"]))


@pytest.mark.parametrize("deployed", [False, True])
def test_every_short_payload_is_read_as_the_reference_reads_it(deployed):
    some = (0x00, 0x01, 0x02, 0x03, 0x04, 0x61, 0x7F, 0x80, 0xFF)
    plain = 0
    for payload in (bytes(each) for size in range(5) for each in product(some, repeat=size)):
        found = _read_plainly(payload, deployed)
        if found is not None:
            value = decode(wire_expr_payload_deployed if deployed else wire_expr_payload, payload)
            assert found == WireExpr(value["key_suffix"], value["key_scope"], bool(value["flags"]["M"]))
            plain += 1
    assert plain > 20
