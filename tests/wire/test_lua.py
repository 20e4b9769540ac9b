"""Every kind of node in Wireshark, which is held against the reference engine field by field."""

import random
import shutil
import subprocess
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest
import random_grammars
import test_random_grammars
from alphabet import GRAMMARS
from construct import If, Pass, Struct, Switch, this
from dissected import differences
from laid_out import announce
from small_grammars import SMALL
from test_alphabet import frames
from tshark import missing, need_tshark, shown

from vectors.sampling import stream
from wire.emit import lua
from wire.emit.lua import Vocabulary
from wire.errors import CannotLayOut
from wire.json.anything import JsonAnything
from wire.json.primitives import (
    JsonAnyOf,
    JsonArrayOf,
    JsonBoolean,
    JsonEnum,
    JsonInt,
    JsonMapOf,
    JsonNumeric,
    JsonObjectOf,
    JsonOptional,
    JsonString,
)
from wire.layout import lay_out
from wire.primitives import Bits, ChainOf, Grammar, Signed, Unsigned, Word

MOST = 300
"""Frames of each grammar: near its seeds, so that about half of them are refused."""

wide = Struct(
    "a" / Unsigned(7, "big"),
    "b" / Signed(7, "big"),
    "same" / If(this.a == (1 << 54) + 1, Unsigned(1)),
    "sum" / If(this.a + this.b == 1 << 55, Unsigned(1)),
    "less" / If(this.b < -(1 << 53), Unsigned(1)),
    "odd" / If(this.a & 1, Unsigned(1)),
    "high" / If(this.b >> 50 == -16, Unsigned(1)),
    "times" / If((this.a >> 40) * 3 - 1 > 1 << 16, Unsigned(1)),
)
magic = Struct(
    "all" / Word(8, "big", mark=(63, 0, 0xFEDCBA9876543210)),
    "some" / Word(8, mark=(62, 3, (1 << 59) + 1), kind=(2, 1)),
    "key" / Unsigned(7, "big"),
    "case" / Switch(this.key, {1 << 54: Unsigned(1), (1 << 54) + 1: Unsigned(2)}, default=Pass),
)
SOME = ((1 << 59) + 1 << 3).to_bytes(8, "little")
MAGIC = [
    mark.to_bytes(8) + some + key.to_bytes(7) + bytes(count)
    for mark in (0xFEDCBA9876543210, 0xFEDCBA9876543211, 0x7EDCBA9876543210)
    for some in (SOME, b"\x07" + SOME[1:], b"\x17" + SOME[1:])
    for key in (0, 1 << 54, (1 << 54) + 1, (1 << 54) + 2)
    for count in range(3)
]
WIDE = [
    (a.to_bytes(7) + b.to_bytes(7, signed=True) + bytes(count))
    for a in (0, 1, 1 << 54, (1 << 54) + 1, (1 << 54) + 2, (1 << 56) - 1)
    for b in (0, 1, -1, 1 << 54, (1 << 54) - 1, -(1 << 53), -(1 << 53) - 1, -(1 << 54), -(1 << 54) - 1)
    for count in range(6)
]


def check(
    protocol: str,
    grammars: Mapping[str, Grammar],
    made: list[tuple[str, bytes]],
    into: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Let tshark show frames of grammars, and hold what it shows against the reference engine."""
    need_tshark()
    announce(monkeypatch, protocol, grammars)
    made = [each for each in made if each[1]]  # nobody is asked about a datagram without bytes
    layouts = [lay_out(grammar, f"{protocol}/{name}") for name, grammar in grammars.items()]
    found = shown(lua.emit(protocol, layouts, Vocabulary()), made, into)
    for (layout, data), frame in zip(made, found, strict=True):
        assert not differences(layout, data, frame), (layout, data.hex())
    assert {frame.refusal is None for frame in found} == {True, False}


@pytest.mark.slow  # hundreds of frames, each by tshark and by the reference
def test_every_kind_is_shown_as_the_reference_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, places, values; and refusals with their reason and place."""
    made = [(f"alphabet/{name}", data) for name in GRAMMARS for data in frames(name)[:MOST]]
    check("alphabet", GRAMMARS, made, tmp_path, monkeypatch)


def test_small_grammars_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among them a chain of words of which only the chain looks at the bit that says whether it goes on."""
    word = Struct("w" / Word(2, "big", more=15, n=(3, 0)), "v" / Unsigned(1))
    small = {name.replace(" ", "-").lower(): grammar for name, grammar in SMALL.items()}
    grammars = {**small, "word-chain": Struct("chain" / ChainOf(word, more="more", most=3), "end" / Unsigned(1))}
    made = [
        (f"small/{name}", data)
        for name, grammar in grammars.items()
        for data, _ in islice(stream(lay_out(grammar, f"small/{name}"), 6), 40)
    ]
    check("small", grammars, made, tmp_path, monkeypatch)


everything = JsonObjectOf(
    "flag" / JsonBoolean(),
    "rows" / JsonArrayOf(JsonArrayOf(JsonInt(-5, 5))),
    "any" / JsonOptional(JsonAnyOf(JsonString(), JsonBoolean(), JsonNumeric(least=0))),
    "inner" / JsonObjectOf("a-b" / JsonEnum("x", "y"), "maps" / JsonMapOf(JsonMapOf(JsonNumeric()))),
    "data" / JsonOptional(JsonMapOf(JsonAnything())),
)
TEXTS = (
    '{"flag":true,"rows":[[1,-5],[],[0]],"any":"\\u00e9\\ud83d\\ude00 \u00e9",'
    '"inner":{"a-b":"x","maps":{"":{"p":-1.5e3}}}}',
    ' { "inner" : { "maps" : { } , "a-b" : "y" } , "any" : 0.0 , "rows" : [ ] , "flag" : false } ',
    '{"flag":false,"rows":[],"any":9223372036854775807,"inner":{"a-b":"y","maps":{"q":{"r":-9223372036854775808}}}}',
    '{"flag":false,"rows":[],"inner":{"a-b":"y","maps":{}},'
    '"data":{"t":"x","n":null,"i":-5,"r":17.50,"b":true,"l":[[],{"a":[1]}],"o":{"":{},"q":"\\u00e9"}}}',
)


def spoiled(rng: random.Random) -> bytes:
    """A text with a few bytes changed, left out, doubled or put in."""
    data = bytearray(rng.choice(TEXTS).encode())
    for _ in range(rng.choice((0, 1, 1, 2))):
        at = rng.randrange(len(data))
        new = rng.choice(
            (b"", data[at : at + 1] * 2, rng.choice((b'"', b"\\", b"{", b"1", b"0", b"-", b"e", b"\xc3", b"\x01")))
        )
        data[at : at + 1] = new
    return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)


def test_json_is_read_as_strictly_as_the_reference_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of value, and texts that are spoiled in a few bytes."""
    rng = random.Random(8)
    made = [("texts/everything", data) for _ in range(900) if (data := spoiled(rng))]
    check("texts", {"everything": everything}, made, tmp_path, monkeypatch)


def test_numbers_that_no_double_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua's numbers are doubles, and expressions are exact all the same."""
    made = [*(("wide/numbers", data) for data in WIDE), *(("wide/magic", data) for data in MAGIC)]
    check("wide", {"numbers": wide, "magic": magic}, made, tmp_path, monkeypatch)


@pytest.mark.slow  # thousands of frames of dozens of grammars
@pytest.mark.parametrize("seed", range(3))
def test_random_grammars_are_shown(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds in whatever is made of them."""
    drawn, name = random_grammars.grammars(seed, 15), f"shown{seed}"
    led = {each: test_random_grammars.frames(grammar, random.Random(each)) for each, grammar in drawn.items()}
    made = [(f"{name}/{each}", data) for each, all_of_it in led.items() for data in all_of_it]
    check(name, drawn, made, tmp_path, monkeypatch)


def test_words_stand_for_numbers() -> None:
    """What a protocol calls them; a word that nothing has is a mistake."""
    layout = lay_out(Struct("kind" / Unsigned(1), "flags" / Bits(A=0)), "worded/message")
    text = lua.emit("worded", [layout], Vocabulary({"message.kind": {3: "three"}, "message.flags.A": {1: "yes"}}))
    assert 'field("message.kind", "kind", "uint8", { [3] = "three" })' in text
    assert '{ "A", 0, 0, { [1] = "yes" } }' in text
    with pytest.raises(CannotLayOut, match=r"words for message\.other, which no layout has"):
        lua.emit("worded", [layout], Vocabulary({"message.Other": {}}))


@pytest.mark.parametrize("version", ["5.2", "5.4"])
def test_the_lua_is_that_of_older_and_newer_wiresharks(version: str, tmp_path: Path) -> None:
    """Its syntax, at least."""
    compiler = shutil.which(f"luac{version}")
    if compiler is None:
        missing(f"luac{version}")
    script = tmp_path / "dissector.lua"
    script.write_text(
        lua.emit("alphabet", [lay_out(each, f"alphabet/{name}") for name, each in GRAMMARS.items()], Vocabulary())
    )
    subprocess.run([compiler, "-p", str(script)], check=True, timeout=60)
