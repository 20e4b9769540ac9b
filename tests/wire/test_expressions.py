"""Expressions over fields: read from Construct, measured, evaluated, printed as Python and as C with one meaning."""

import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from construct import this

import wire
from wire import expressions
from wire.errors import CannotLayOut
from wire.expressions import Const, Op, Ref
from wire.kinds import BitFields, Flags, Integer
from wire.kinds.base import Scope
from wire.kinds.bit_places import Bit

ROOM = Path(wire.__path__[0])
COMPILER = shutil.which("cc") or shutil.which("gcc")
FIELDS = Scope(
    {
        "header": Flags((Bit("Z", 7, 7), Bit("Mod", 6, 5), Bit("N", 0, 0))),
        "named": Flags((Bit("X", 7, 6), Bit("a", 0, 0))),
        "word": BitFields(8, True, (Bit("top", 63, 63), Bit("across", 41, 30), Bit("X", 0, 0))),
        "n": Integer(2, big=True),
        "s": Integer(4, is_signed=True),
    }
)
EXPRESSIONS = [
    this.header.Z,
    this.header.N,
    this.header.X,
    this.header.Mod,
    this.named.X,
    this.named.X_ > 3,
    this.header.Mod == 2,
    this.header.N == 0,
    this.header.Z & this.header.N,
    this.header.Z & this.header.Mod,
    this.word.top,
    this.word.X,
    this.word.across * 3 - this.n,
    this.n - 5,
    (this.n + this.s) * 2 - (this.header.Mod << 3),
    this.s >> 1,
    this.s & 0xFF | this.header.X ^ 3,
    2 << this.header.Mod,
    this.n >> this.header.X,
    (this.n != 0) + (this.s < 0) + (this.s <= this.n) + (this.n >= 7) + (this.n > 300),
    7,
    True,
]


def values(rng: random.Random) -> dict[str, int]:
    """Numbers of the fields, at their ends and anywhere."""
    return {
        "header": rng.choice((0, 0xFF, rng.randrange(256))),
        "named": rng.choice((0, 0xC0, rng.randrange(256))),
        "word": rng.choice((0, (1 << 64) - 1, rng.randrange(1 << 64))),
        "n": rng.choice((0, 0xFFFF, 7, rng.randrange(1 << 16))),
        "s": rng.choice((-(1 << 31), (1 << 31) - 1, -1, 0, rng.randrange(-100, 100))),
    }


def meant(source: Any, numbers: dict[str, int]) -> int:
    """What Construct itself makes of an expression."""
    fields: dict[str, Any] = {"n": numbers["n"], "s": numbers["s"]}
    for name in ("header", "named", "word"):
        fields[name] = FIELDS[name].value(numbers[name])  # type: ignore[attr-defined]
    return int(source(fields)) if callable(source) else int(source)


@pytest.mark.parametrize("source", EXPRESSIONS, ids=str)
def test_one_meaning(source):
    expr = FIELDS.expression(source, "here")
    run = expressions.compiled(expr, FIELDS)
    rng = random.Random(1)
    bits = tuple(tuple(bool(byte >> place & 1) for byte in range(256)) for place in range(7))
    for _ in range(300):
        numbers = values(rng)
        wanted = meant(source, numbers)

        def look(ref: Ref, numbers: dict[str, int] = numbers) -> int:
            if ref.bit is None:
                return numbers[ref.field]
            return int(FIELDS[ref.field].value(numbers[ref.field])[ref.bit])  # type: ignore[attr-defined]

        variables = {f"{'b' if name in ('header', 'named', 'word') else 'v'}_{name}": n for name, n in numbers.items()}
        variables |= {f"BIT_{place}": table for place, table in enumerate(bits)}
        assert expressions.evaluate(expr, look) == run(numbers) == wanted
        assert eval(expressions.python(expr, FIELDS), {}, variables) == wanted
        assert bool(eval(expressions.python_truth(expr, FIELDS), {}, variables)) == bool(wanted)
        assert abs(wanted).bit_length() <= expressions.width(expr, FIELDS)


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_c_means_the_same(tmp_path):
    rng = random.Random(2)
    rows, wanted = [], []
    for _ in range(60):
        numbers = values(rng)
        sets = f"b_header = {numbers['header']}; b_named = {numbers['named']}; b_word = UINT64_C({numbers['word']});"
        sets += f" n_n = {numbers['n']}; n_s = (uint64_t)INT64_C({numbers['s']});"
        rows.append(sets)
        for source in EXPRESSIONS:
            expr = FIELDS.expression(source, "here")
            rows.append(f'printf("%lld %d\\n", (long long)({expressions.c(expr, FIELDS)}), ')
            rows[-1] += f"({expressions.c_truth(expr, FIELDS)}) ? 1 : 0);"
            wanted.append(f"{meant(source, numbers)} {int(bool(meant(source, numbers)))}")
    lines = ['#include "frame.h"', "#include <stdio.h>", "int main(void) {"]
    lines += ["uint8_t b_header, b_named; uint64_t b_word, n_n, n_s;", *rows, "return 0; }"]
    (tmp_path / "x.c").write_text("\n".join(lines))
    options = ["-std=c11", "-O0", f"-I{ROOM / 'emit'}", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run([str(COMPILER), *options, str(tmp_path / "x.c"), "-o", str(tmp_path / "x")], check=True)
    done = subprocess.run([tmp_path / "x"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == wanted


def test_what_is_looked_at():
    expr = FIELDS.expression((this.n + this.header.N) * 2, "here")
    assert list(expressions.terms(expr)) == [Ref("n"), Ref("header", "N"), Const(2)]
    assert expr == Op("*", Op("+", Ref("n"), Ref("header", "N")), Const(2))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (this.m, "these do: header, named, word, n, s"),
        (this.n.N, "n has no bits called 'N'"),
        (this.header.Mod.N, "header has no bits called 'Mod.N'"),
        (this.header, "is not a number"),
        (this.word.X_, "can exceed 62 bits"),
        (1 << this.s, "may be negative"),
        (this.n << -1, "may be negative"),
        (this.n // 2, "is not among"),
        (lambda context: 1, "not as functions"),
    ],
)
def test_what_is_refused(source, says):
    with pytest.raises(CannotLayOut) as caught:
        FIELDS.expression(source, "here")
    assert str(caught.value).startswith("here: ")
    assert says in str(caught.value)
