"""Filters at random, about few names and values; and what becomes of them when they are broken."""

from collections.abc import Callable, Sequence
from random import Random

from fuzz.net.texts import LOOKALIKES, MANY, MODEST_SIZES, NUMEROUS, ODD, SIZES, UNUSUAL
from wire.pathfinder.filters import SPECIALS, escape

NAMES = ("a", "b", "name", "a", "b", "c")
TEXTS = ("x", "y", "ab", "1", "10", "x", "abc", "")
NUMBERS = (0, 1, 2, 10, -1, 1)

BORDERS = tuple(sign * (1 << width) + more for width in (31, 32, 53, 63, 64) for sign in (1, -1) for more in (-1, 0, 1))
"""Numbers at which a type ends, or just does not."""

LEVELS = 3
"""Of filters in filters, where nothing is broken."""


def filter_text(random: Random, levels: int = LEVELS) -> str:
    """Return a filter as somebody might write it; once in a while one that few think of."""
    if levels == LEVELS and random.random() < UNUSUAL:
        return unusual_filter(random)
    kind = random.random()
    if not levels or kind < 0.65:
        return f"({item(random)})"
    if kind < 0.75:
        return f"(!{filter_text(random, levels - 1)})"
    operands = "".join(filter_text(random, levels - 1) for _ in range(random.choice((1, 2, 2, 2, 3))))
    return f"({random.choice('&|')}{operands})"


def item(random: Random) -> str:
    """Return what stands in the innermost parentheses."""
    name, text = random.choice(NAMES), escape(random.choice(TEXTS))
    match random.randrange(6):
        case 0 | 1:
            return f"{name}={text}"
        case 2:
            return f"{name}=*"
        case 3:
            # A value that a service may have, with a part of it left out.
            return f"{name}={random.choice(('', text[:1]))}*{random.choice(('', text[-1:]))}"
        case 4:
            return f"{name}={random.choice(NUMBERS)}"
        case _:
            return f"{name}{random.choice('<>')}{random.choice(NUMBERS)}"


def unusual_filter(random: Random) -> str:
    """Return a filter that is one: very deep, very wide, or about a text that has very much of something."""
    # Not so many that a healthy server is busy with each.
    name, many = random.choice(NAMES), random.choice(NUMEROUS)
    match random.randrange(4):
        case 0:
            return f"({random.choice('!&|')}" * many + f"({item(random)})" + ")" * many
        case 1:
            return f"({random.choice('&|')}{f'({item(random)})' * many})"
        case 2:
            # What all but matches a value of one letter many times is looked through to the end.
            parts = random.choice(("*", "*", "*x", "*a", "*a", "*a", "*a*b"))
            return f"({name}={parts * many}{random.choice(('', '', 'x'))})"
        case _:
            marks = escape(random.choice(SPECIALS)), random.choice(("a", "\u00e9", "\U0001f980"))
            return f"({name}={random.choice((marks[0] * many, marks[1] * random.choice(MODEST_SIZES)))})"


def broken_filter(random: Random) -> str:
    """Return a filter that is broken in one to three ways, or unlike any that somebody would write."""
    text = filter_text(random)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        text = random.choice(WAYS)(text, random)
    return text


def _insert(text: str, what: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + what + text[at:]


def _into_value(text: str, what: str, random: Random) -> str:
    """Put something behind a name, an operator or a value: where a parser is in the midst of something."""
    places = [at + 1 for at, each in enumerate(text) if each in "=<>" or each.isalnum()]
    at = random.choice(places or [len(text)])
    return text[:at] + what + text[at:]


def _specials(text: str, random: Random) -> str:
    return _insert(text, "".join(random.choices(SPECIALS, k=random.choice((1, 2, 2, 3)))), random)


def _escapes(text: str, random: Random) -> str:
    escaped = "".join(f"\\{random.choice(SPECIALS)}" for _ in range(random.choice((1, 2, 5, *MANY[:12]))))
    return _into_value(text, random.choice((escaped, escaped, "\\", "\\a", "\\\\\\", "\\0", "\\u0041")), random)


def _asterisks(text: str, random: Random) -> str:
    part = random.choice(("*", "**", "*x", "*a", "x*", "*a*b"))
    return _into_value(text, part * random.choice((1, 1, 2, *MANY)), random)


def _nested(text: str, random: Random) -> str:
    operator, levels = random.choice(("!", "&", "|", "!&")), random.choice((*MANY, 5000))
    return "".join(f"({each}" for each in operator) * levels + text + ")" * (levels * len(operator))


def _wide(text: str, random: Random) -> str:
    return f"({random.choice('&|')}{text * min(random.choice(MANY), 60_000 // (len(text) or 1))})"


def _unbalanced(text: str, random: Random) -> str:
    many = random.choice((1, 1, 2, *MANY))
    return random.choice(("(" * many + text, text + ")" * many, "(!" * many, text[:-1], text[1:], f"({text})"))


def _operands(text: str, random: Random) -> str:
    return random.choice(("(&)", "(|)", "(!)", f"(!{text}{text})", f"({text}{text})", f"(&{text} {text})", "(=)"))


def _operators(text: str, random: Random) -> str:
    operator = random.choice(("==", "=<", ">=", "<=", "!=", "~=", "<>", "=*=", ":=", "><"))
    return f"({random.choice(NAMES)}{operator}{random.choice(TEXTS)})"


def _number(text: str, random: Random) -> str:
    numbers = (*map(str, BORDERS), "-0", "00", "007", "+1", "1.5", "1e3", "0x10", "9" * 25, "9" * 400, "-", "--1", "")
    return f"({random.choice(NAMES)}{random.choice('=<>')}{random.choice(numbers)})"


def _large(text: str, random: Random) -> str:
    return _into_value(text, random.choice(("a", "\u00e9", "\U0001f980", "\\*")) * random.choice(SIZES), random)


def _odd(text: str, random: Random) -> str:
    return _into_value(text, random.choice((*ODD, *LOOKALIKES, "}", "{", "%d", "%99999999s", "{0}", "${a}")), random)


def _cut(text: str, random: Random) -> str:
    return text[: random.randrange(len(text) + 1)]


def _nothing(text: str, random: Random) -> str:
    return random.choice(("", " ", "()", "*", "\0", "(", ")"))


WAYS: Sequence[Callable[[str, Random], str]] = (
    *(_specials, _specials, _escapes, _escapes, _asterisks, _asterisks, _nested, _nested, _wide, _unbalanced),
    *(_operands, _operators, _number, _number, _large, _odd, _odd, _cut, _nothing),
)
"""How a filter is broken; what parsers trip over most stands twice."""
