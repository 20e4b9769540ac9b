"""The texts that messages are (section "Message Presentation"), rule by rule, and the value that one stands for.

The document names "a relaxed version of JSON used in javascript" and has no grammar. Readings: it is what the parser of
the protocol's author takes, and NUL and half surrogate pairs have no place in a text; ``inf`` and ``nan`` are words as
any others. It is what ``relaxed_scanner`` is held to: it has the values in common with that, and no code.
"""

from collections.abc import Callable, Iterator
from typing import Any

from wire.abnf import Alternatives, Grammar, Notation, Range, char, either, grammar, many, optional, row
from wire.derivation import Derivation, derive
from wire.json.strict import spell
from wire.rai.json_values import Members, Number, Value


def besides(codes: str, *ranges: tuple[int, int]) -> Alternatives:
    """Make one character of some ranges that is none of some others."""
    pieces: list[Range] = []
    for first, last in ranges:
        for code in sorted(map(ord, codes)):
            if first <= code <= last:
                if first < code:
                    pieces.append(Range(first, code - 1))
                first = code + 1
        if first <= last:
            pieces.append(Range(first, last))
    return either(*pieces)


FIRST = ((0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
FOLLOWING = ((0x2D, 0x2E), (0x30, 0x39), *FIRST)
"""What words begin with, and what follows: A-Z, underscores and a-z; and hyphens, points and digits."""


def beginning_as(literal: str) -> Notation:
    """Make the words that begin as a literal does, and not with all of it."""
    end = len(literal) - 1
    found: Notation = row(besides(literal[end], *FOLLOWING), "rest")
    for at in range(end - 1, 0, -1):
        other = row(besides(literal[at], *FOLLOWING), "rest")
        found = either(other, row(char(ord(literal[at])), optional(found)))
    return row(char(ord(literal[0])), optional(found))


RULES: dict[str, Notation] = {
    "text": row(optional("byte-order-mark"), "ws", either(row("container", "behind"), row("scalar", "ws"))),
    "byte-order-mark": char(0xFEFF),
    "behind": many(Range(0x00, 0x10FFFF)),
    "ws": many(either(char(0x20), Range(0x09, 0x0D))),
    "value": either("container", "scalar"),
    "container": either("object", "array"),
    "object": row("LBRACE", "ws", optional("members"), "RBRACE"),
    "members": row("member", many("COMMA", "ws", "member"), optional("COMMA", "ws")),
    "member": row("name", "ws", "COLON", "ws", "value", "ws"),
    "name": either("string", "bare-name"),
    "bare-name": row(besides("", *FIRST), "rest"),
    "array": row("LBRACKET", "ws", optional("items"), "RBRACKET"),
    "items": row("item", many("COMMA", "ws", "item"), optional("COMMA", "ws")),
    "item": row("value", "ws"),
    "scalar": either("string", "number", "true", "false", "null", "word"),
    "string": row("QUOTE", many("char"), "QUOTE"),
    "char": either("unescaped", "escaped"),
    "unescaped": besides('"\\', (0x01, 0x10FFFF)),
    "escaped": row("ESC", either("itself", "control", "unit")),
    "itself": besides("bfnrtu", (0x01, 0x10FFFF)),
    "control": either(*(char(ord(letter)) for letter in "bfnrt")),
    "unit": row("U", either("plain-unit", row("high-unit", "ESC", "U", "low-unit"))),
    "plain-unit": either(
        row(besides("DEFdef", (0x31, 0x39), (0x41, 0x46), (0x61, 0x66)), "HEX", "HEX", "HEX"),
        row(either(*map(char, b"EFef")), "HEX", "HEX", "HEX"),
        row("D", Range(0x30, 0x37), "HEX", "HEX"),
        row("ZERO", "HEX-not-0", "HEX", "HEX"),
        row("ZERO", "ZERO", "HEX-not-0", "HEX"),
        row("ZERO", "ZERO", "ZERO", "HEX-not-0"),
    ),
    "high-unit": row("D", either(*map(char, b"89ABab")), "HEX", "HEX"),
    "low-unit": row("D", either(Range(0x43, 0x46), Range(0x63, 0x66)), "HEX", "HEX"),
    "number": row(optional("sign"), many("DIGIT", least=1), optional("fraction"), optional("exponent")),
    "sign": either(char(0x2B), char(0x2D)),
    "fraction": row("POINT", many("DIGIT")),
    "exponent": row(either(char(0x45), char(0x65)), optional("sign"), many("DIGIT", least=1)),
    "true": row(*map(char, b"true")),
    "false": row(*map(char, b"false")),
    "null": row(*map(char, b"null")),
    "word": either(
        row(besides("tfn", *FIRST), "rest"),
        beginning_as("true"),
        beginning_as("false"),
        beginning_as("null"),
    ),
    "rest": many(besides("", *FOLLOWING)),
    "HEX": either("DIGIT", Range(0x41, 0x46), Range(0x61, 0x66)),
    "HEX-not-0": either(Range(0x31, 0x39), Range(0x41, 0x46), Range(0x61, 0x66)),
    "DIGIT": Range(0x30, 0x39),
    "ZERO": char(0x30),
    "D": either(char(0x44), char(0x64)),
    "U": char(0x75),
    "QUOTE": char(0x22),
    "ESC": char(0x5C),
    "COMMA": char(0x2C),
    "COLON": char(0x3A),
    "POINT": char(0x2E),
    "LBRACE": char(0x7B),
    "RBRACE": char(0x7D),
    "LBRACKET": char(0x5B),
    "RBRACKET": char(0x5D),
}

# Beside strict JSON everybody is to read words without quotes, and a comma behind the last member (docs/rai.md). What
# else the parser of the protocol's author takes is a rule of its own here, and what it takes and we do not.
WIDEST_RULES: dict[str, Notation] = RULES | {
    "behind": either("ws", "something-behind"),
    "something-behind": row("ws", besides(" \t\n\v\f\r", (0x00, 0x10FFFF)), many(Range(0x00, 0x10FFFF))),
    "ws": many(either(char(0x20), Range(0x09, 0x0A), char(0x0D), "other-white-space")),
    "other-white-space": Range(0x0B, 0x0C),
    "bare-name": either("literal-as-name", row(besides("", *FIRST), "rest")),
    "literal-as-name": either("true", "false", "null"),
    "items": row("item", many("COMMA", "ws", "item"), optional("comma-behind-item")),
    "comma-behind-item": row("COMMA", "ws"),
    "unescaped": either(Range(0x20, 0x21), besides('"\\', (0x23, 0x10FFFF)), "raw-control"),
    "raw-control": Range(0x00, 0x1F),
    "itself": either(char(0x22), char(0x2F), char(0x5C), "unknown-escape"),
    "unknown-escape": besides('"/\\bfnrtu', (0x00, 0x10FFFF)),
    "unit": row("U", either("plain-unit", row("high-unit", "ESC", "U", "low-unit"), "half-pair", "escaped-nul")),
    "half-pair": either("high-unit", "low-unit"),
    "escaped-nul": row("ZERO", "ZERO", "ZERO", "ZERO"),
    "number": row(
        optional("sign"),
        either(char(0x30), row(Range(0x31, 0x39), many("DIGIT")), "leading-zeros"),
        optional("fraction"),
        optional("exponent"),
    ),
    "leading-zeros": row("ZERO", many("DIGIT", least=1)),
    "sign": either(char(0x2D), "plus-sign"),
    "plus-sign": char(0x2B),
    "fraction": row("POINT", either(many("DIGIT", least=1), "no-digits")),
    "no-digits": row(),
    "exponent": row(either(char(0x45), char(0x65)), optional(either(char(0x2B), char(0x2D))), many("DIGIT", least=1)),
    "scalar": either("string", "number", "number-word", "true", "false", "null", "word"),
    "number-word": either(
        row(*(either(char(ord(each)), char(ord(each.upper()))) for each in "inf")),
        row(*(either(char(ord(each)), char(ord(each.upper()))) for each in "nan")),
    ),
}

text = grammar(RULES)

widest = grammar(WIDEST_RULES)
"""What any reader takes."""

DISPUTED = frozenset(WIDEST_RULES) - frozenset(RULES) | {"byte-order-mark"}
"""The rules of ``widest`` that not everybody takes, or does not take for the same."""


def read(written: str, rules: Grammar = text) -> Value:
    """Return the value that a text stands for. Raises ``NoDerivation``."""
    return value_of(written, derive(rules, written))


def value_of(written: str, derivation: Derivation) -> Value:
    """Return the value that a derivation stands for."""
    found: list[Any] = []
    for rule, start, end, count in derivation.nodes:
        parts = found[len(found) - count :]
        del found[len(found) - count :]
        action = _ACTIONS.get(rule)
        found.append(written[start:end] if action is None else action(written[start:end], parts))
    value: Value = found.pop()
    return value


Action = Callable[[str, list[Any]], Any]


class _Of:
    """A value of a text, so that it is told apart from the texts of commas and white space."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _inner(there: str, parts: list[Any]) -> Any:
    """Return the only value among some parts."""
    return next(part for part in parts if isinstance(part, _Of))


def _listed(parts: list[Any]) -> list[Any]:
    """Return the list among some parts, if there is one."""
    return next((part for part in parts if isinstance(part, list)), [])


def _unit(there: str, parts: list[Any]) -> str:
    codes = (int(part, 16) for part in parts if len(part) == 4)
    return b"".join(code.to_bytes(2) for code in codes).decode("utf-16-be")


_ACTIONS: dict[str, Action] = {
    "text": lambda there, parts: _inner(there, parts).value,
    "value": _inner,
    "container": _inner,
    "scalar": lambda there, parts: parts[0] if isinstance(parts[0], _Of) else _Of(parts[0]),
    "object": lambda there, parts: _Of(Members(_listed(parts))),
    "members": lambda there, parts: [part for part in parts if isinstance(part, tuple)],
    "member": lambda there, parts: (parts[0], _inner(there, parts).value),
    "name": lambda there, parts: parts[0],
    "array": lambda there, parts: _Of(_listed(parts)),
    "items": lambda there, parts: [part.value for part in parts if isinstance(part, _Of)],
    "item": _inner,
    "string": lambda there, parts: "".join(parts[1:-1]),
    "char": lambda there, parts: parts[0],
    "escaped": lambda there, parts: parts[1],
    "control": lambda there, parts: "\b\f\n\r\t"["bfnrt".index(there)],
    "unit": _unit,
    "number": lambda there, parts: _Of(Number(there)),
    "true": lambda there, parts: _Of(True),
    "false": lambda there, parts: _Of(False),
    "null": lambda there, parts: _Of(None),
}
"""What a rule makes of its text and its parts; any other is the text that it has."""


def write(value: Value) -> str:
    """Write the text of a value: strict JSON, but that numbers stand as they are spelled."""
    return "".join(_pieces(value))


def _pieces(value: Value) -> Iterator[str]:
    """Give the pieces of a text; what is open is kept in a list, so that it may be as deep as it likes."""
    ahead: list[tuple[str, Value] | str] = [("", value)]
    while ahead:
        there = ahead.pop()
        if isinstance(there, str):
            yield there
            continue
        before, inner = there
        yield before
        match inner:
            case Members():
                yield "{"
                ahead.append("}")
                following = [(f"{',' * (at > 0)}{spell(name)}:", each) for at, (name, each) in enumerate(inner)]
                ahead += reversed(following)
            case list():
                yield "["
                ahead.append("]")
                ahead += reversed([("," * (at > 0), each) for at, each in enumerate(inner)])
            case str():
                yield spell(inner)
            case Number(spelling=spelling):
                yield spelling
            case None:
                yield "null"
            case _:
                yield "true" if inner else "false"
