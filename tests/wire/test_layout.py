"""Grammars as trees: what is expressed, and what is refused with a reason."""

import pytest
from construct import Byte, Computed, If, IfThenElse, Pass, Renamed, Select, Struct, Switch, this

from wire.catalogue import grammars, layout
from wire.errors import CannotLayOut
from wire.expressions import Const, Op, Ref
from wire.kinds import Counted, Field, Flags, Integer, Limited, Optional, Record, Sized, Union, Varint
from wire.kinds.base import walk
from wire.kinds.compound import Compound
from wire.layout import lay_out
from wire.primitives import VLE, Bits, Blob, Bytes, ChainOf, Header, Messages, OneOf, Text, Unsigned


def test_a_record():
    grammar = Struct(
        "flags" / Bits(N=1, L=0),
        "count" / Unsigned(1),
        "name" / If(this.flags.N & this.flags.L, Text(16)),
        "data" / Bytes(this.count * 2 + 1),
    )
    tree = lay_out(grammar).root
    assert isinstance(tree, Record)
    flags = tree.fields[0].node
    assert isinstance(flags, Flags)
    assert flags.names == ("N", "L", "X")
    assert flags.value(0b1110) == {"N": 1, "L": 0, "X": 0b1100}
    both = Op("&", Ref("flags", "N"), Ref("flags", "L"))
    assert tree.fields[1:] == (
        Field("count", Integer(1)),
        Field("name", Optional(both, Counted(16, text=True))),
        Field("data", Sized(Op("+", Op("*", Ref("count"), Const(2)), Const(1)))),
    )


def test_bytes_that_begin_an_earlier_message_are_not_the_later_ones():
    union = lay_out(
        OneOf("FINAL" / Struct("header" / Header(1, M=(6, 5, 0))), "OTHER" / Struct("header" / Header(1)))
    ).root
    assert isinstance(union, Union)
    final, other = union.messages
    assert set(final.header.begins) == {0x01, 0x81}
    assert not set(final.header.begins) & set(other.header.begins)
    assert union.begun()[0x01] == 0
    assert union.begun()[0x21] == 1
    assert union.begun()[0x02] is None


def test_equal_parts_are_one_node():
    key = Struct("scope" / VLE(16), "suffix" / Text(16))
    tree = lay_out(Struct("one" / key, "two" / Struct("scope" / VLE(16), "suffix" / Text(16)))).root
    assert isinstance(tree, Record)
    assert tree.fields[0].node is tree.fields[1].node
    assert [type(part).__name__ for part in walk(tree)] == ["Varint", "Counted", "Record", "Record"]


@pytest.mark.parametrize("name", grammars())
def test_every_grammar_has_a_tree(name):
    assert layout(name).name == name
    assert all(len(part.begins) for part in walk(layout(name).root) if isinstance(part, Flags))


def test_a_batch_is_limited():
    root = layout("zenoh/batch").root
    assert isinstance(root, Limited)
    assert root.size == 65535


HEADED = "M" / Struct("header" / Header(1), "x" / VLE(16))


@pytest.mark.parametrize(
    ("grammar", "says"),
    [
        (Struct("a" / Byte), "FormatField has no place in a layout"),
        (Struct("a" / Select(VLE(8), VLE(16))), "Select has no place"),
        (Struct("a" / Computed(this.b)), "Computed has no place"),
        (Struct(VLE(16)), "a field without a name"),
        (Struct("a" / VLE(16), "a" / VLE(16)), "the name is taken"),
        (Struct("type" / VLE(16)), "the name is taken"),
        (Struct("a" / If(lambda context: True, VLE(16))), "not as functions"),
        (Struct("a" / If(this.later, VLE(16)), "later" / VLE(16)), "this.later does not stand earlier"),
        (Struct("a" / Text(16), "b" / If(this.a, VLE(16))), "this.a is not a number"),
        (Struct("a" / Bits(N=1), "b" / If(this.a.M, VLE(16))), "a has no bits called 'M'"),
        (Struct("a" / VLE(16), "b" / If(this.a / 2, VLE(16))), "is not among"),
        (Struct("a" / VLE(32), "b" / Bytes(this.a * this.a)), "can exceed 62 bits"),
        (Struct("a" / VLE(64), "b" / Bytes(this.a)), "can exceed 62 bits"),
        (Struct("a" / VLE(16), "b" / Bytes(1 << this.a)), "can exceed 62 bits"),
        (Struct("a" / VLE(16), "b" / IfThenElse(this.a, VLE(16), VLE(32))), "use Switch"),
        (Struct("a" / VLE(16), "b" / Switch(this.a, {"x": Pass})), "the case 'x' of a Switch is not a number"),
        (ChainOf(Struct("flags" / Bits(A=7))), "begin with Bits or a Word that has Z"),
        (Struct("a" / VLE(5)), "has not 7 to 64 bits"),
        (Struct("a" / Struct()), "use Empty"),
    ],
)
def test_what_cannot_be_laid_out(grammar, says):
    with pytest.raises(CannotLayOut) as caught:
        lay_out(Renamed(grammar, "x") if not grammar.name else grammar, "here")
    assert says in str(caught.value)
    assert str(caught.value).startswith("here")


def test_the_place_is_named():
    with pytest.raises(CannotLayOut, match=r"^here\.outer\.inner: "):
        lay_out(Struct("outer" / Struct("inner" / Byte)), "here")
    with pytest.raises(CannotLayOut) as caught:
        lay_out(Messages(OneOf("M" / Struct("header" / Header(1), "x" / Struct("y" / Byte)))), "here")
    assert str(caught.value).startswith("here.M.x.y: ")


def test_optional_numbers_can_be_referred_to():
    grammar = Struct(
        "flags" / Bits(E=0), "n" / If(this.flags.E, VLE(32)), "s" / If(this.flags.E, Switch(this.n & 1, {1: Blob(8)}))
    )
    assert isinstance(lay_out(grammar).root, Record)
    assert Varint(32) in set(walk(lay_out(grammar).root))
    assert lay_out(HEADED).root is not None


def test_a_kind_that_cannot_be_read_in_c_cannot_be_made():
    class HalfDone(Compound, frozen=True):
        def c_writer(self, code):
            yield ""

        def column_reader(self, code, path):
            yield ""

    with pytest.raises(TypeError, match=r"abstract.*c_reader"):
        HalfDone()
