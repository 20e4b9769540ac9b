"""Nouns: what is jammed is cued again, by the bits that Urbit's runtimes write."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wire.urbit.nouns import MOST_BITS, BadNoun, Noun, cell, cord, cue, jam

nouns = st.recursive(
    st.integers(0, 3) | st.integers(0, 2**80) | st.sampled_from([2**64 - 1, cord(b"bond"), 2**300]),
    lambda parts: st.tuples(parts, parts) | parts.map(lambda part: (part, part)),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("noun", "jammed"),
    [
        # Worked out by hand from the rules.
        (0, "02"),
        (1, "0c"),
        ((0, 0), "29"),
        (cord(b"bond"), "c0177b732303"),
        # From vere's own jam.
        (cell(cord(b"bond"), cord(b"/~pub/chat/34"), 1), "015feccd8d1c40f3c50fae4eec650c2d8cee658666"),
        (
            cell(cord(b"bond"), 0x0123456789ABCDEF, cord(b"/~pub/chat/34"), 1),
            "015feccd8d1c607e6f5e4d3c2b1a1940f3c50fae4eec650c2d8cee658666",
        ),
        (cell(cord(b"/~pub/chat/34"), 1), "01345ffce0eac45ec6d0c2e85e666806"),
    ],
)
def test_known_nouns(noun: Noun, jammed: str) -> None:
    assert jam(noun).hex() == jammed
    assert cue(bytes.fromhex(jammed)) == noun


@given(nouns)
@settings(max_examples=200)
def test_what_is_jammed_is_cued(noun: Noun) -> None:
    jammed = jam(noun)
    assert cue(jammed) == noun
    # The last bit is always set, so nothing is lost where zeros at the end are.
    assert jammed[-1]
    assert cue(jammed + bytes(3)) == noun


@given(st.binary(max_size=40))
@settings(max_examples=300)
def test_any_bytes_are_a_noun_or_refused(data: bytes) -> None:
    try:
        noun = cue(data)
    except BadNoun:
        return
    assert cue(jam(noun)) == noun


def test_a_cell_that_stands_there_twice_is_written_once() -> None:
    large = (2**200, 2**201)
    assert len(jam((large, large))) < len(jam(large)) + 3
    # An atom no longer than the place to which would be referred is written out.
    assert len(jam((1, (1, 1)))) < 4


def test_what_is_large_when_written_out_takes_no_longer() -> None:
    noun: Noun = 7
    for _ in range(200):
        noun = (noun, noun)
    jammed = jam(noun)
    assert len(jammed) < 500
    assert jam(cue(jammed)) == jammed


def test_depth_is_no_limit() -> None:
    noun: Noun = 0
    for _ in range(4000):
        noun = (0, noun)
    assert jam(cue(jam(noun))) == jam(noun)


@pytest.mark.parametrize(
    ("data", "bit", "what"),
    [
        (b"", 0, "1 bits, and 0 are left"),
        (b"\x00", 1, "a length without end"),
        (b"\x01", 3, "a length without end"),
        (b"\x0f", 0, "nothing begins at bit"),
        (b"\x02\x01", 2, "something follows the noun"),
        (b"\x10", 7, "4 bits, and 1 are left"),
        (bytes(MOST_BITS // 8 + 1), MOST_BITS, "more than"),
    ],
)
def test_bits_that_are_no_noun(data: bytes, bit: int, what: str) -> None:
    with pytest.raises(BadNoun, match=what) as refused:
        cue(data)
    assert refused.value.bit == bit


def test_numbers_below_zero_are_none() -> None:
    with pytest.raises(ValueError, match="-1 is below zero"):
        jam((1, -1))
