"""Grammars that no protocol has: every kind of node, alone, together, and nested three deep.

Whoever makes engines, generators or checks from layouts tests them with these (``GRAMMARS``): each name is the layout
``alphabet/NAME``. ``SEEDS`` has some frames of each, in hex, from which random ones are made.
"""

from construct import If, Pass, Struct, Switch, this

from wire.primitives import (
    VLE,
    ArrayOf,
    Bits,
    Blob,
    Bytes,
    ChainOf,
    Empty,
    Grammar,
    Header,
    LimitedTo,
    Messages,
    NulBytes,
    NulText,
    OneOf,
    PaddedTo,
    Real,
    Refused,
    Rest,
    RestText,
    SelectedBy,
    Signed,
    SizedText,
    Tail,
    Text,
    Unsigned,
    Within,
    Word,
    Zeros,
    nested,
)

integers = Struct(
    "one" / Unsigned(1),
    "three" / Unsigned(3, "big"),
    "five" / Unsigned(5),
    "eight" / Unsigned(8, "big"),
    "minus" / Signed(1),
    "short" / Signed(2, "big"),
    "seven" / Signed(7),
    "long" / Signed(8, "big"),
    "wide" / Signed(8),
)

floats = Struct("single" / Real(4, "big"), "double" / Real(8), "little" / Real(4), "big" / Real(8, "big"))

words = Struct(
    "header" / Word(4, request=2, other=3, version=(6, 4), sender=(8, 7), receiver=(10, 9), sum=(30, 11), relayed=31),
    "wide" / Word(8, "big", X=63, low=(1, 0), across=(41, 30)),
    "magic" / Word(2, "big", mark=(15, 4, 0xACE), kind=(3, 0)),
    "bits" / Bits(X=7, Y=(1, 0)),
    "origin" / If(this.header.relayed == 0, Bytes(6)),
    "address" / Bytes(2 << this.header.sender),
    "many" / If(this.wide.X & this.wide.low, Unsigned(2, "big")),
    "odd" / If(this.bits.X_, Unsigned(1)),
)

counted = Struct(
    "length" / Unsigned(2, "big"),
    "flag" / Unsigned(1),
    "data" / Bytes(this.length - 3),
    "size" / Signed(1),
    "text" / SizedText(this.size),
    "count" / Unsigned(1),
    "numbers" / ArrayOf(Unsigned(2, "big"), this.count),
    "texts" / ArrayOf(Text(7), this.count & 3, most=2),
    "fixed" / ArrayOf(Signed(2, "big"), 2),
    "bits" / ArrayOf(Bits(A=7, B=(3, 0)), this.flag >> 6),
    "floats" / ArrayOf(Real(8), this.flag & 1),
)

bounded = Struct(
    "id" / Blob(8, least=1, most=16),
    "name" / Text(64, most=4),
    "flags" / Bits(A=0),
    "more" / If(this.flags.A, Text(7, least=1, most=126)),
    "ids" / ArrayOf(Blob(14, most=5), most=3),
)

terminated = Struct("name" / NulText(12), "raw" / NulBytes(3), "list" / ArrayOf(NulText(4), 2), "rest" / RestText())

padded = Struct(
    "kind" / Unsigned(1),
    "pad" / Zeros(3),
    "text" / PaddedTo(4, Text(7)),
    "maybe" / If(this.kind & 1, PaddedTo(2, NulBytes(9))),
    "number" / PaddedTo(8, VLE(32)),
    "more" / If(this.number, Unsigned(2)),
)

PING = "PING" / Struct("number" / Unsigned(2, "big"), "extra" / Tail(Unsigned(1)), "last" / Tail(Text(7)))
PONG = "PONG" / Struct("flags" / Bits(L=0), "value" / If(this.flags.L, Signed(4, "big")))
selected = Struct(
    "length" / VLE(14), "kind" / Unsigned(1), "body" / SelectedBy(this.kind & 7, {1: PING, 2: PONG, 5: PONG})
)

tails = Struct("a" / Unsigned(1), "b" / Tail(Unsigned(2, "big")), "c" / Tail(Struct("x" / VLE(16), "y" / Bits(Q=0))))

link = Struct("first" / Bits(more=0, kind=(3, 1)), "value" / If(this.first.kind != 2, VLE(32)))
chained = Struct("links" / ChainOf(link, more="more", most=4), "end" / Unsigned(1))

entry = Struct(
    "head" / Word(4, "big", kind=(31, 28), more=17, size=(16, 9), sum=(8, 0)),
    "data" / Bytes(this.head.size & 7),
    "last" / If(this.head.more == 0, Unsigned(2)),
)
mark = Struct("word" / Word(2, magic=(15, 14, 2), next=9, n=(3, 0)), "text" / If(this.word.n == 1, NulText(3)))
listed = Struct(
    "entries" / ChainOf(entry, more="more", most=5), "marks" / ChainOf(mark, more="next", most=3), "end" / Unsigned(1)
)


def message(inner: Grammar) -> Grammar:
    """Declare a message in the manner of RV: its length counts itself and the magic, a field may hold a message."""
    field = Struct(
        "name" / NulText(5),
        "kind" / Unsigned(1),
        "size" / Unsigned(1),
        "value"
        / SelectedBy(
            this.kind,
            {
                1: "MESSAGE" / Struct("inner" / inner),
                2: "NUMBERS" / Struct("count" / Unsigned(1), "items" / ArrayOf(Signed(2, "big"), this.count)),
                3: "REAL" / Struct("real" / Real(8, "big")),
                4: "NONE" / Empty(),
            },
        ),
    )
    return Struct(
        "length" / Unsigned(2, "big"),
        "magic" / Word(2, "big", magic=(15, 0, 0x9955)),
        "fields" / Within(this.length - 4, ArrayOf(field, most=9)),
    )


def level(inner: Grammar) -> Grammar:
    """Declare a level that may have the next one in a list, within so many bytes, and by itself."""
    return Struct(
        "n" / Unsigned(1),
        "list" / ArrayOf(inner, this.n & 3),
        "within" / If(this.n & 4, Within(this.n >> 4, inner)),
        "alone" / If(this.n & 8, inner),
    )


small = OneOf(
    "ONE" / Struct("header" / Header(1, A=7), "n" / VLE(16)),
    "TWO" / Struct("header" / Header(2), "n" / Within(1, Struct("x" / Unsigned(1)))),
)

cases = Struct(
    "kind" / Unsigned(1),
    "size" / Switch(this.kind & 3, {0: Unsigned(2, "big"), 1: VLE(14), 2: Unsigned(1)}, default=Refused('a "3"')),
    "flags"
    / Switch(this.kind >> 4, {0: Bits(P=0), 1: Word(3, "big", p=(20, 3)), 2: Real(4), 3: Signed(3)}, default=Pass),
    "data" / Bytes(this.size),
)

deep = OneOf(
    "LIST"
    / Struct(
        "header" / Header(1, Z=7, K=(6, 5)),
        "count" / Unsigned(1),
        "rows"
        / ArrayOf(
            Struct(
                "word" / Word(2, "big", n=(3, 0), wide=(12, 4)),
                "cells"
                / ArrayOf(
                    Struct("kind" / Unsigned(1), "body" / SelectedBy(this.kind, {0: PONG, 1: "CHAIN" / chained})),
                    this.word.n & 3,
                ),
                "padded"
                / PaddedTo(2, Struct("text" / NulText(6), "more" / Bits(M=0), "opt" / If(this.more.M, Real(4)))),
            ),
            this.count & 3,
        ),
        "extra" / If(this.header.Z, Within(3, Struct("a" / Signed(2, "big"), "b" / Tail(Unsigned(1))))),
        "messages" / Messages(small, most=3),
    ),
    "TREE" / Struct("header" / Header(2), "tree" / nested(3, message), "tail" / Tail(Unsigned(4, "big"))),
    "REST" / Struct("header" / Header(3), "rest" / Rest()),
)

GRAMMARS: dict[str, Grammar] = {
    "integers": integers,
    "floats": floats,
    "words": words,
    "counted": counted,
    "bounded": bounded,
    "terminated": terminated,
    "padded": padded,
    "selected": selected,
    "tails": tails,
    "chained": chained,
    "listed": listed,
    "cases": cases,
    "tree": nested(3, message),
    "levels": nested(3, level),
    "numbers": ArrayOf(VLE(32), most=20),
    "deep": LimitedTo(120, deep),
}

SEEDS: dict[str, tuple[str, ...]] = {
    "integers": ("01" * 43, "ff" * 43, "80" + "00" * 41 + "80", "7f" * 43),
    "floats": ("7fa00001000000000000f0ff0000a07ffff8000000000001", "00" * 24, "80" * 24),
    "words": (
        "000000808000000000000003ace18001021234",
        "800100000000000040000001ace001010203040506" + "ab" * 16,
        "040000808000000000000001aceffe0102000107",
    ),
    "counted": (
        "00030000000001ffff",
        "000541aabb02c3a9020001fffe016101620001ffff8f000000000000f87f",
        "000400aa01610000010002",
    ),
    "bounded": (
        "01aa0000",
        "10" + "aa" * 16 + "04f09d849e" + "010161" + "0005aaaaaaaaaa00",
        "02000002c3a900",
        "03010203" + "00" + "010161" + "00",
    ),
    "terminated": ("6100ffff00006200c3a9", "61" * 12 + "00" + "00" + "0000", "000000616161610078"),
    "padded": ("0100000002616200610005" + "00" * 7 + "0102", "000000000000000000" + "00" * 7),
    "selected": ("00010102", "0001010203", "00010102030161", "000a01fffffffe", "000500"),
    "tails": ("01", "010203", "0102030401"),
    "chained": ("000509", "01050300000509", "0405", "0105010101010407"),
    "listed": (
        "00000000010200800a",
        "0002000000000200aa010202800a",
        "f0020600aabbcc00020000000001ff0102018261620001826100048000",
        "100004ffaabb010204820182008f808a",
    ),
    "cases": ("00000201aabb", "1103000001aabbcc", "22010000a07f99", "300000ffffff", "400000"),
    "tree": (
        "00049955",
        "000d995561000200020001ffff",
        "00109955610003087ff8000000000001",
        "000f99550001000008995562000400",
        "00159955000400000100000b995500010000049955",
    ),
    "levels": ("00", "010100", "1400", "080800", "03000000", "2d00140000", "0b00000000"),
    "numbers": ("", "018001ffffffff0f", "00" * 20),
    "deep": (
        "0100",
        "e10100120001000000050100050961000000ffff0101050207",
        "810100006100010000c07f00000102",
        "020004995500000001",
        "0200109955610003087ff8000000000001",
        "0300",
    ),
}
