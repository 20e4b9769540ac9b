"""Grammars in Augmented Backus-Naur Form (RFC 5234) as values; ``wire/derivation.py`` reads texts by them.

::

    Grammar = named rules, the first of which is where texts begin; a rule is one of
        Literal        these characters in a row          %x66.6F
        Range          one character of a range           %x01-20
        RuleRef        another rule                       filter
        Sequence       one after the other                key op value
        Alternatives   one of them                        simple / present
        Repeat         so often, or without an end        1*filter   [final]   *2(a b)

Rules may call each other in any way, the left recursive one too, as long as every text has finitely many derivations.
Characters are Unicode's: halves of surrogates are none, even where a range has them.
"""

from collections.abc import Iterator

import msgspec


class Literal(msgspec.Struct, frozen=True):
    """Some characters in a row, exactly these."""

    text: str


class Range(msgspec.Struct, frozen=True):
    """One character, by its code: from ``first`` to ``last``."""

    first: int
    last: int


class RuleRef(msgspec.Struct, frozen=True):
    """What the rule of this name stands for."""

    name: str


class Sequence(msgspec.Struct, frozen=True):
    """One part after the other."""

    parts: "tuple[Expression, ...]"


class Alternatives(msgspec.Struct, frozen=True):
    """One of some parts."""

    options: "tuple[Expression, ...]"


class Repeat(msgspec.Struct, frozen=True):
    """A part ``least`` to ``most`` times, or any number of times from ``least`` if ``most`` is ``None``."""

    part: "Expression"
    least: int
    most: int | None


Expression = Literal | Range | RuleRef | Sequence | Alternatives | Repeat

Notation = Expression | str
"""What stands for an expression where a grammar is written down: text is the name of a rule."""


class Production(msgspec.Struct, frozen=True):
    """A name and what it stands for."""

    name: str
    expression: Expression

    def __str__(self) -> str:
        return f"{self.name} = {spelled(self.expression)}"


class Grammar(msgspec.Struct, frozen=True):
    """Rules, each name once; a whole text is what the first one stands for."""

    rules: tuple[Production, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))


def grammar(rules: dict[str, Notation]) -> Grammar:
    """Make a grammar of rules by name; the first is where texts begin."""
    return Grammar(tuple(Production(name, expression(rule)) for name, rule in rules.items()))


def expression(notation: Notation) -> Expression:
    """Return the expression that is meant."""
    return RuleRef(notation) if isinstance(notation, str) else notation


def row(*parts: Notation) -> Sequence:
    """``part part``."""
    return Sequence(tuple(map(expression, parts)))


def either(*options: Notation) -> Alternatives:
    """``option / option``."""
    return Alternatives(tuple(map(expression, options)))


def many(*parts: Notation, least: int = 0, most: int | None = None) -> Repeat:
    """``least*most(part part)``."""
    return Repeat(expression(parts[0]) if len(parts) == 1 else row(*parts), least, most)


def optional(*parts: Notation) -> Repeat:
    """``[part part]``."""
    return many(*parts, most=1)


def char(code: int) -> Range:
    """One character, ``%x28``."""
    return Range(code, code)


def children(part: Expression) -> tuple[Expression, ...]:
    """Return the expressions that one is made of."""
    match part:
        case Sequence():
            return part.parts
        case Alternatives():
            return part.options
        case Repeat():
            return (part.part,)
    return ()


def walk(part: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of, as they are written; rules that it refers to are not entered."""
    yield part
    for child in children(part):
        yield from walk(child)


def spelled(part: Expression) -> str:
    """Write an expression in ABNF."""
    match part:
        case Literal():
            return f"%x{'.'.join(f'{ord(character):02X}' for character in part.text)}" if part.text else '""'
        case Range():
            return f"%x{part.first:02X}" + (f"-{part.last:02X}" if part.last != part.first else "")
        case RuleRef():
            return part.name
        case Sequence():
            return " ".join(grouped(each) if isinstance(each, Alternatives) else spelled(each) for each in part.parts)
        case Alternatives():
            return " / ".join(grouped(each) if isinstance(each, Sequence) else spelled(each) for each in part.options)
        case Repeat():
            inner = spelled(part.part)
            if (part.least, part.most) == (0, 1):
                return f"[{inner}]"
            bounds = f"{part.least or ''}*{'' if part.most is None else part.most}"
            return bounds + (grouped(part.part) if children(part.part) else inner)


def grouped(part: Expression) -> str:
    """Write an expression in parentheses."""
    return f"({spelled(part)})"
