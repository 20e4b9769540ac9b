"""Random grammars of every kind of node, three deep: for what nobody thinks of when a grammar is written by hand."""

import random
from collections.abc import Callable
from typing import Any

from construct import If, Pass, Struct, Switch, this

from wire.errors import CannotLayOut
from wire.layout import lay_out
from wire.primitives import (
    VLE,
    ArrayOf,
    Bits,
    Blob,
    Bytes,
    ChainOf,
    Grammar,
    Header,
    Messages,
    NulBytes,
    NulText,
    OneOf,
    PaddedTo,
    Real,
    Refused,
    SelectedBy,
    Signed,
    SizedText,
    Tail,
    Text,
    TooDeep,
    Unsigned,
    Within,
    Word,
    Zeros,
)

DEPTH = 3


def grammars(seed: int, count: int) -> dict[str, Grammar]:
    """Return grammars that can be laid out, by name; the same for the same seed."""
    found: dict[str, Grammar] = {}
    number = 0
    while len(found) < count:
        number += 1
        grammar = _Drawing(f"{seed} {number}").compound(DEPTH)
        try:
            lay_out(grammar)
        except CannotLayOut:  # what a tail stands before, most often
            continue
        found[f"random-{len(found)}"] = grammar
    return found


class _Drawing:
    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.names = 0

    def name(self) -> str:
        self.names += 1
        return f"f{self.names}"

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    def leaf(self) -> Grammar:
        rng = self.rng
        order: Any = rng.choice(("little", "big"))
        made: list[Callable[[], Grammar]] = [
            lambda: Unsigned(rng.randint(1, 8), order),
            lambda: Signed(rng.randint(1, 8), order),
            lambda: VLE(rng.choice((7, 8, 14, 16, 32, 62, 64))),
            lambda: Real(rng.choice((4, 8)), order),
            lambda: Blob(rng.choice((7, 16))),
            lambda: Text(rng.choice((7, 16))),
            lambda: NulText(rng.randint(1, 9)),
            lambda: NulBytes(rng.randint(1, 9)),
            lambda: self.word(order),
            lambda: Bits(a=rng.randrange(4), X=(7, 6)),
            lambda: Bits(b=(7, 0)),
        ]
        return rng.choice(made)()

    def word(self, order: Any) -> Word:
        size, bits, at = self.rng.randint(1, 8), {}, 0
        while at < 8 * size:
            wide = self.rng.randint(1, min(8 * size - at, 20))
            if self.chance(0.7):
                bits["X" if self.chance(0.2) else f"b{at}"] = (at + wide - 1, at)
            at += wide
        return Word(size, order, **bits)

    def fields(self, depth: int) -> list[Any]:
        """Fields of a record: later ones look at earlier ones."""
        made: list[Any] = []
        numbers: list[Any] = []
        for _ in range(self.rng.randint(1, 5)):
            name, field = self.name(), self.field(depth, numbers)
            made.append(name / field)
            here = getattr(this, name)
            match field:
                case Unsigned(size=1 | 2, signed=False) | VLE(bits=7 | 8 | 14 | 16):
                    numbers.append(here)
                case Bits() | Word():
                    numbers += [getattr(here, bit) for bit in field.fields]
        if self.chance(0.1):
            made.append(self.name() / Tail(self.leaf()))
        return made

    def number(self, numbers: list[Any]) -> Any:
        one = self.rng.choice(numbers)
        return self.rng.choice([one, one & 3, (one & 7) - 1, (one >> 1) & 3, (one == 2) + (one > 5)])

    def inner(self, depth: int) -> Grammar:
        return self.compound(depth - 1) if depth and self.chance(0.6) else self.leaf()

    def field(self, depth: int, numbers: list[Any]) -> Any:
        if numbers and self.chance(0.6):
            return self.depending(depth, self.number(numbers))
        choices: list[Callable[[], Any]] = [self.leaf] * 4 + [lambda: Zeros(self.rng.randint(1, 3))]
        if depth:
            choices += [
                lambda: self.compound(depth - 1),
                lambda: PaddedTo(self.rng.choice((2, 3, 4)), self.inner(depth)),
                lambda: ArrayOf(self.inner(depth), self.rng.randint(0, 2)),
            ]
        return self.rng.choice(choices)()

    def depending(self, depth: int, number: Any) -> Any:
        """A field that looks at an earlier one."""
        rng = self.rng
        default: Any = rng.choice((Pass, Refused('kept "free"'), TooDeep(3), self.leaf()))
        choices: list[Callable[[], Any]] = [
            lambda: If(number, self.inner(depth)),
            lambda: Bytes(number & 15),
            lambda: SizedText(number),
            lambda: ArrayOf(self.inner(depth), number & 3),
            lambda: Switch(number & 3, {0: self.inner(depth), 1: self.leaf(), 2: Pass}, default=default),
            lambda: PaddedTo(rng.choice((2, 4, 8)), If(number, self.inner(depth))),
        ]
        if depth:
            choices += [
                lambda: Within(number & 31, self.compound(depth - 1)),
                lambda: SelectedBy(number & 3, {key: self.message(depth - 1) for key in range(rng.randint(1, 4))}),
            ]
        return rng.choice(choices)()

    def message(self, depth: int, *header: Any) -> Any:
        return self.name().upper() / Struct(*header, *self.fields(depth))

    def union(self, depth: int) -> OneOf:
        return OneOf(*(self.message(depth, "header" / Header(i + 1, Z=7)) for i in range(self.rng.randint(1, 3))))

    def compound(self, depth: int) -> Grammar:
        """A record, a union or a list."""
        choices: list[Callable[[], Grammar]] = [
            lambda: Struct(*self.fields(depth)),
            lambda: Struct(*self.fields(depth)),
            lambda: self.union(depth),
            lambda: Messages(self.union(depth), most=3),
            lambda: ArrayOf(self.inner(depth), most=5),
            lambda: ChainOf(Struct("h" / Bits(m=self.rng.randrange(8)), *self.fields(depth)), more="m", most=4),
        ]
        return self.rng.choice(choices)()
