"""Grammars of one idea each, in the words of documents: what a document may draw and a larger grammar does not try."""

from construct import If, Pass, Struct, Switch, this

from wire.primitives import (
    VLE,
    ArrayOf,
    Bits,
    Bytes,
    ChainOf,
    Grammar,
    NulBytes,
    NulText,
    PaddedTo,
    Real,
    SelectedBy,
    Signed,
    SizedText,
    Tail,
    Unsigned,
    Within,
    Word,
    Zeros,
    nested,
)

BYTE, SHORT = Unsigned(1), Unsigned(2, "big")
FORMS = [(size, order) for size in range(1, 9) for order in ("big", "little")]
ONE, TWO = "ONE" / Struct("one" / BYTE), "TWO" / Struct("two" / SHORT)


def entry(inner: Grammar) -> Grammar:
    """Declare a message whose length counts itself, and whose entries are texts or messages."""
    either = {0: "INNER" / Struct("inner" / inner), 1: "TEXT" / Struct("text" / NulText(5))}
    return Struct(
        "length" / SHORT,
        "entries" / Within(this.length - 2, ArrayOf(Struct("kind" / BYTE, "value" / SelectedBy(this.kind, either)))),
    )


SMALL: dict[str, Grammar] = {
    # Integers of every size, in either order, with and without a sign.
    "unsigned": Struct(*(f"{order}{size}" / Unsigned(size, order) for size, order in FORMS)),
    "signed": Struct(*(f"{order}{size}" / Signed(size, order) for size, order in FORMS)),
    # Words of any size: groups that fill them, that cross bytes, and a bit called X.
    "word of 64": Struct("w" / Word(8, "big", a=63, b=(62, 1), c=0)),
    "halves": Struct("w" / Word(8, a=(63, 32), b=(31, 0)), "more" / If(this.w.a == 0xFFFFFFFF, BYTE)),
    "word of 24": Struct("w" / Word(3, "big", X=(20, 3)), "more" / If(this.w.X_ & 7, BYTE)),
    # Counts: any integer before, of bytes or items, of itself or the header, and of several fields.
    "counted by a signed": Struct("n" / Signed(2, "big"), "data" / Bytes(this.n - 2)),
    "counted by a varint": Struct("n" / VLE(14), "text" / SizedText(this.n)),
    "counted by a word": Struct("w" / Word(2, "big", n=(11, 4)), "data" / Bytes(this.w.n - 2)),
    "counted by 61 bits": Struct("w" / Word(8, "big", n=(60, 0)), "data" / Bytes(this.w.n - 8)),
    "counted by flags": Struct("f" / Bits(n=(3, 0)), "list" / ArrayOf(SHORT, this.f.n)),
    "bytes of a list": Struct("n" / SHORT, "list" / Within(this.n - 2, ArrayOf(SHORT))),
    "counted from afar": Struct("n" / BYTE, "k" / BYTE, "text" / NulText(3), "data" / Bytes(this.n - this.k)),
    "a sum": Struct("n" / BYTE, "m" / BYTE, "data" / Bytes(this.n + this.m)),
    "units of four": Struct("n" / BYTE, "data" / Bytes(this.n * 4 - 4)),
    # What has as many bytes everywhere: in a list to the end, as a tail.
    "bytes of six": ArrayOf(Struct("data" / Bytes(6))),
    "text of three": ArrayOf(Struct("text" / SizedText(3))),
    "list of two": ArrayOf(Struct("pair" / ArrayOf(SHORT, 2))),
    "within four": ArrayOf(Struct("x" / Within(4, Struct("text" / NulText(3))))),
    "tail of four": Struct("a" / BYTE, "tail" / Tail(Bytes(4))),
    # Texts, tails, padding.
    "up to a NUL": Struct("text" / NulText(255), "raw" / NulBytes(1)),
    "list up to the end": ArrayOf(NulText(5)),
    "tails only": Struct("a" / Tail(BYTE), "b" / Tail(SHORT)),
    "tails in a record": Struct("a" / BYTE, "record" / Struct("zeros" / Zeros(2), "b" / Tail(SHORT))),
    "tails within": Struct(
        "n" / BYTE, "record" / Within(this.n, Struct("b" / Tail(SHORT), "c" / Tail(BYTE))), "e" / BYTE
    ),
    "a float as a tail": Struct("a" / BYTE, "b" / Tail(Real(8, "big"))),
    "aligned": Struct("a" / NulText(3), "b" / PaddedTo(4, NulText(5)), "c" / BYTE),
    # Unions by any field before them.
    "union from afar": Struct("kind" / SHORT, "x" / BYTE, "body" / SelectedBy(this.kind, {1: ONE, 300: TWO})),
    "union by a word": Struct("w" / Word(4, "big", k=(20, 5)), "body" / SelectedBy(this.w.k, {0: ONE, 0xFFFF: TWO})),
    "union by a signed": Struct("kind" / Signed(2, "big"), "body" / SelectedBy(this.kind, {-1: ONE, -300: TWO})),
    "case of a signed": Struct(
        "kind" / Signed(2, "big"), "body" / Switch(this.kind, {-1: BYTE, -300: SHORT}, default=Pass)
    ),
    # A chain by a bit of any name; messages within messages.
    "chain by X": ChainOf(Struct("X" / Word(2, "big", X=15, n=(3, 0)), "v" / If(this.X.X, BYTE)), more="X", most=3),
    "levels": nested(3, lambda inner: Struct("n" / BYTE, "next" / If(this.n, inner))),
    "entries": nested(3, entry),
}
