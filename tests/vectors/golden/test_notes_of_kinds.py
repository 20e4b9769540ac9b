"""What notes say of kinds of node that the real protocols do not have, or call otherwise."""

from typing import Any

import pytest
from construct import Struct

from vectors.binary.coverage import trace
from vectors.binary.paths import place_tree_of
from vectors.notes import BadNotes, ProtocolNotes, Shapes, judge
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
