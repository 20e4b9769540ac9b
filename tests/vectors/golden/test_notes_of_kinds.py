"""What notes say of kinds of node that the real protocols do not have, or call otherwise."""

from typing import Any

import pytest
from construct import Struct

from vectors.binary.coverage import trace
from vectors.binary.paths import place_tree_of
from vectors.golden.build import as_sent
from vectors.notes import BadNotes, Note, ProtocolNotes, Shapes, WholeFrames, judge
from vectors.specimen import Specimen
from wire.layout import lay_out
from wire.primitives import Bits, ChainOf, Unsigned, Word

SHAPES = Shapes(
    key="id",
    mandatory="must",
    unknown_flag="Unknown",
    shape_flag="Shape",
    twice_flag="Twice",
    missing_flag="Missing",
    payload_flag="Payload",
    named={"one": {"id": 1, "must": 0, "X": 0}},
    knows={"MESSAGE": ("one",)},
)


def flags(grammar: Any, frame: str, about: ProtocolNotes) -> frozenset[str]:
    return judge(about, trace(place_tree_of(lay_out(grammar, "noted/frame"), {}), bytes.fromhex(frame)))


def test_a_chain_goes_on_by_a_bit_of_any_name_in_a_field_of_any_name():
    """Two items are the same item whether one more follows or not."""
    link = Struct("first" / Bits(again=0, id=(3, 1), must=4), "value" / Unsigned(1))
    message = "MESSAGE" / Struct("links" / ChainOf(link, more="again", most=3))
    about = ProtocolNotes(flags={}, shapes=SHAPES)
    assert flags(message, "0305" + "0205", about) == {"Twice"}
    assert flags(message, "0305" + "0405", about) == frozenset()
    assert flags(message, "1405", about) == {"Unknown"}


def test_bits_of_a_word_that_have_no_name_need_a_flag():
    word = Struct("word" / Word(2, "big", X=15, n=(3, 0)))
    assert flags(word, "8001", ProtocolNotes(flags={})) == frozenset()
    assert flags(word, "8011", ProtocolNotes(flags={}, spare_flag="Spare")) == {"Spare"}
    with pytest.raises(BadNotes, match="spare_flag is missing"):
        flags(word, "8011", ProtocolNotes(flags={}))


def test_a_function_can_say_what_no_condition_can():
    number = Struct("pair" / Struct("n" / Unsigned(1), "m" / Unsigned(1)))
    unless = f"{__name__}:is_sorted"
    assert flags(number, "0201", ProtocolNotes(flags={}, notes=(Note("Turned", "pair", unless=unless),))) == {"Turned"}
    assert flags(number, "0102", ProtocolNotes(flags={}, notes=(Note("Turned", "pair", unless=unless),))) == set()
    both = ProtocolNotes(flags={}, notes=(Note("Turned", "pair", when="n > 2", unless=unless),))
    assert flags(number, "0201", both) == set()
    assert flags(number, "0301", both) == {"Turned"}


def is_sorted(pair: dict[str, int]) -> bool:
    return pair["n"] <= pair["m"]


def test_frames_are_made_as_they_are_sent():
    def specimen(path: str, data: str) -> Specimen:
        return Specimen((), "values", path, "value", path, bytes.fromhex(data))

    layout = "zenoh/network-message"
    whole = WholeFrames(f"{__name__}:is_five", "Other", f"{__name__}:with_five", ("INTEREST*.id",), "as it is sent")
    made = [specimen("INTEREST_FINAL.id", "1901"), specimen("INTEREST_FINAL.id", "19"), specimen("OAM.id", "1902")]
    assert list(as_sent(layout, None, iter(made))) == made
    # What is looked at and taken as it is, is there both ways.
    assert [(each.comment, each.data.hex()) for each in as_sent(layout, whole, iter(made))] == [
        ("INTEREST_FINAL.id", "1901"),
        ("INTEREST_FINAL.id, as it is sent", "1905"),
        ("INTEREST_FINAL.id", "1905"),
        ("OAM.id", "1905"),
    ]
    assert whole.is_intact(b"\x19\x05")
    assert not whole.is_intact(b"\x19\x01")


def with_five(data: bytes) -> bytes:
    return data[:1] + b"\x05"


def is_five(data: bytes) -> bool:
    return with_five(data) == data
