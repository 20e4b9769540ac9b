"""The ABNF of section "Filter Representation", rule by rule, and the filter that a text of it stands for.

::

    text ──derive──► derivation ──filter_of──► And | Or | Not | Equal | Greater | Less | Present | Substring
                                                     └──write──► text

It is what ``filters.parse`` and ``filters.spell`` are held to: it has the values in common with them, and no code.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from wire.abnf import Grammar, Notation, Range, char, either, grammar, many, optional, row
from wire.derivation import Derivation, NoDerivation, derive, derives
from wire.errors import EncodeError
from wire.pathfinder.filters import (
    And,
    Composite,
    Equal,
    Filter,
    Greater,
    Item,
    Less,
    Not,
    Or,
    Present,
    Substring,
    operands,
)

DOCUMENT_RULES: dict[str, Notation] = {
    "filter": row("LPAREN", "filtercomp", "RPAREN"),
    "filtercomp": either("and", "or", "not", "item"),
    "and": row("AMPERSAND", "filterlist"),
    "or": row("VERTBAR", "filterlist"),
    "not": row("EXCLAMATION", "filter"),
    "filterlist": many("filter", least=1),
    "item": either("simple", "present", "substring"),
    "simple": row("key", "op", "value"),
    "key": row("string"),
    "value": row("string"),
    "op": either("equal", "greater", "less"),
    # The document does not define these three. Reading: they are the characters that section "Examples" has for them.
    "equal": row("EQUALS"),
    "greater": row("RANGLE"),
    "less": row("LANGLE"),
    "present": row("key", "EQUALS", "ASTERISK"),
    "substring": row("key", "EQUALS", optional("initial"), "any", optional("final")),
    "initial": row("string"),
    "any": row("ASTERISK", many("string", "ASTERISK")),
    "final": row("string"),
    "string": many(either("unescaped", "escaped")),
    "unescaped": either(
        Range(0x01, 0x20),
        Range(0x22, 0x25),
        char(0x27),
        Range(0x2B, 0x3B),
        Range(0x3F, 0x5B),
        Range(0x5D, 0x7B),
        Range(0x7E, 0x10FFFF),
    ),
    "escaped": row("ESC", "special"),
    "special": either(
        "EXCLAMATION", "AMPERSAND", "ASTERISK", "LPAREN", "RPAREN", "LANGLE", "EQUALS", "RANGLE", "ESC", "VERTBAR"
    ),
    "integer": row(optional("MINUS"), "digits"),
    "digits": either("ZERO", row("DIGIT1-9", many("DIGIT"))),
    "ZERO": char(0x30),
    "DIGIT1-9": Range(0x31, 0x39),
    "DIGIT": Range(0x30, 0x39),  # among the core rules of RFC 5234
    "MINUS": char(0x2D),
    "EXCLAMATION": char(0x21),
    "AMPERSAND": char(0x26),
    "LPAREN": char(0x28),
    "RPAREN": char(0x29),
    "ASTERISK": char(0x2A),
    "LANGLE": char(0x3C),
    "EQUALS": char(0x3D),
    "RANGLE": char(0x3E),
    "ESC": char(0x5C),
    "VERTBAR": char(0x7C),
}

# Readings: what deployed nodes take. Two operands; an integer behind < and >; a key that is not empty; } as any other.
DEPLOYED_RULES: dict[str, Notation] = DOCUMENT_RULES | {
    "filterlist": many("filter", least=2),
    "simple": either(row("key", "equal", "value"), row("key", either("greater", "less"), "integer")),
    "key": many(either("unescaped", "escaped"), least=1),
    "unescaped": either(
        Range(0x01, 0x20),
        Range(0x22, 0x25),
        char(0x27),
        Range(0x2B, 0x3B),
        Range(0x3F, 0x5B),
        Range(0x5D, 0x7B),
        Range(0x7D, 0x10FFFF),
    ),
}

# Where readings part, the texts that one of them has and another has not are a rule of their own. These are in order:
# a text that has a derivation without them is not disputed.
WIDEST_RULES: dict[str, Notation] = DOCUMENT_RULES | {
    "filterlist": either(many("filter", least=2), "one-operand"),
    "one-operand": row("filter"),
    "simple": either(
        row("key", "equal", "value"), row("key", either("greater", "less"), either("integer", "no-integer"))
    ),
    "no-integer": row("string"),
    "key": either(many(either("unescaped", "escaped"), least=1), "no-key"),
    "no-key": row(),
    "value": either(many(either("unescaped", "escaped"), least=1), "no-value"),
    "no-value": row(),
    "substring": either(
        row("key", "EQUALS", "only-asterisks"), row("key", "EQUALS", optional("initial"), "any", optional("final"))
    ),
    "only-asterisks": many("ASTERISK", least=2),
    "unescaped": either(
        Range(0x01, 0x20),
        Range(0x22, 0x25),
        char(0x27),
        Range(0x2B, 0x3B),
        Range(0x3F, 0x5B),
        Range(0x5D, 0x7B),
        "closing-brace",
        Range(0x7E, 0x10FFFF),
    ),
    "closing-brace": char(0x7D),
}

document = grammar(DOCUMENT_RULES)

_special = grammar({"special": DOCUMENT_RULES["special"]} | DOCUMENT_RULES)


@cache  # made when a filter is first written: whoever starts a server need not wait for it
def specials() -> frozenset[str]:
    """Return the characters that only stand behind ``ESC``."""
    return frozenset(character for character in map(chr, range(0x80)) if derives(_special, character))


deployed = grammar(DEPLOYED_RULES)

widest = grammar(WIDEST_RULES)
"""What any reading takes."""

DISPUTED = frozenset({"closing-brace", "no-integer", "only-asterisks"})
"""The rules of ``widest`` on which the document does not decide."""

DISPUTED_DEPLOYED = DISPUTED | {"no-key", "no-value", "one-operand"}
"""Those on which deployed nodes differ among themselves, or from the document."""


def read(text: str, rules: Grammar = document) -> Filter:
    """Return the filter that a text stands for. Raises ``NoDerivation``."""
    return filter_of(text, derive(rules, text))


def filter_of(text: str, derivation: Derivation) -> Filter:
    """Return the filter that a derivation stands for."""
    found: list[Any] = []
    for rule, start, end, count in derivation.nodes:
        parts = found[len(found) - count :]
        del found[len(found) - count :]
        action = _ACTIONS.get(rule)
        found.append(text[start:end] if action is None else action(parts))
    tree: Filter = found.pop()
    return tree


def _simple(parts: list[Any]) -> Item:
    key, operator, value = parts
    if operator == "=":
        return Equal(key, value)
    return Greater(key, value) if operator == ">" else Less(key, value)


def _substring(parts: list[Any]) -> Substring:
    between = next(place for place, part in enumerate(parts) if isinstance(part, tuple))
    return Substring(parts[0], "".join(parts[2:between]), parts[between], "".join(parts[between + 1 :]))


_ACTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "filter": lambda parts: parts[1],
    "filtercomp": lambda parts: parts[0],
    "and": lambda parts: And(parts[1]),
    "or": lambda parts: Or(parts[1]),
    "not": lambda parts: Not(parts[1]),
    "filterlist": tuple,
    "item": lambda parts: parts[0],
    "simple": _simple,
    "key": "".join,
    "value": "".join,
    "present": lambda parts: Present(parts[0]),
    "substring": _substring,
    "initial": "".join,
    "any": lambda parts: tuple(parts[1::2]),
    "final": "".join,
    "string": "".join,
    "escaped": lambda parts: parts[1],
}
"""What a rule makes of its parts; any other is the text that it has."""


def write(tree: Filter, rules: Grammar = document) -> str:
    """Write the text that stands for a filter; ``EncodeError`` if none does."""
    text = "".join(_pieces(tree))
    try:
        if read(text, rules) == tree:
            return text
    except NoDerivation as refusal:
        raise EncodeError(f"filter: nothing in the grammar stands for {tree!r:.80}: {refusal}") from None
    raise EncodeError(f"filter: {text:.80} stands for another filter than {tree!r:.80}")


def _pieces(tree: Filter) -> Iterator[str]:
    ahead: list[Composite | Item | str] = [tree]
    while ahead:
        match ahead.pop():
            case str(piece):
                yield piece
            case And() | Or() | Not() as composite:
                yield "(" + {And: "&", Or: "|", Not: "!"}[type(composite)]
                ahead += [")", *reversed(operands(composite))]
            case Equal(key, value):
                yield f"({_escaped(key)}={_escaped(value)})"
            case Greater(key, value):
                yield f"({_escaped(key)}>{_escaped(value)})"
            case Less(key, value):
                yield f"({_escaped(key)}<{_escaped(value)})"
            case Present(key):
                yield f"({_escaped(key)}=*)"
            case Substring(key, initial, middles, final):
                yield f"({_escaped(key)}={'*'.join(map(_escaped, (initial, *middles, final)))})"


def _escaped(string: str) -> str:
    return "".join(f"\\{character}" if character in specials() else character for character in string)
