"""Filters from a seed: valid ones, texts that are almost filters, and properties on either side of a filter.

::

    rng ──sample──► filter ──matching_props──► properties that it matches
                       └─────near_props──────► properties that it does not match, one value away from some that it does
    rng ──near_valid──► text that ``parse`` refuses, with the name of what was done to it

What they give depends on the random generator's state only. For the readings (``deployed``) see ``filters``.
"""

from collections.abc import Callable
from random import Random

import msgspec

from wire.pathfinder.filters import (
    INTEGER,
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
    escape,
    operands,
    spell,
    walk,
)
from wire.pathfinder.matching import compiled

LEAST, MOST = -(2**63), 2**63 - 1
_INTEGERS = (LEAST, -1, 0, 1, 5, 10, 42, MOST)
_NOT_INTEGERS = ("", "abc", "007", "+5", "1_0", " 5", "5 ", "1.5", "-", "--1", "1e3", "0x10", "٣")
_KEYS = ("name", "version", "a", "b", "Name", "naïve", "two words", "a*b", "!", "\\", "(x)")
_WORDS = (
    "service-a",
    "a",
    "b",
    "ab",
    "aa",
    "A",
    " ",
    "a\nb",
    "é",
    "日本",
    "😀",
    "*",
    "a=b",
    "\\*",
    "&|!<>()",
    "[x",
    ".*",
)

Properties = dict[str, list[str | int]]


class NearValid(msgspec.Struct, frozen=True):
    """A text that is almost a filter, and the name of what was done to one."""

    text: str
    mutation: str


def sample(rng: Random, *, deployed: bool = False, items: int = 8, depth: int = 4) -> Filter:
    """Make a filter that has a text, of at most so many ``items`` and of composites nested at most ``depth`` deep."""
    kind = rng.choice((None, And, Or, Not)) if depth else None
    if kind is Not:
        return Not(sample(rng, deployed=deployed, items=items, depth=depth - 1))
    least = 2 if deployed else 1
    if kind is None or items < least:
        return _item(rng, deployed)
    count = rng.randint(least, min(items, 4))
    below = tuple(sample(rng, deployed=deployed, items=items // count, depth=depth - 1) for _ in range(count))
    return And(below) if kind is And else Or(below)


def _item(rng: Random, deployed: bool) -> Item:
    key = _key(rng, deployed)
    match rng.randrange(6):
        case 0:
            return Equal(key, _string(rng, deployed))
        case 1:
            return Equal(key, str(rng.choice(_INTEGERS)))
        case 2:
            return Greater(key, _operand(rng, deployed))
        case 3:
            return Less(key, _operand(rng, deployed))
        case 4:
            return Present(key)
        case _:
            middles = tuple(_string(rng, deployed) for _ in range(rng.randrange(4)))
            final = _string(rng, deployed)
            return Substring(key, _string(rng, deployed), middles, final if final or middles else "a")


def _key(rng: Random, deployed: bool) -> str:
    return rng.choice(_KEYS if deployed else (*_KEYS, ""))


def _string(rng: Random, deployed: bool) -> str:
    string = "".join(rng.choice(_WORDS) for _ in range(rng.randrange(3)))
    return string + "}" if deployed and rng.random() < 0.05 else string


def _operand(rng: Random, deployed: bool) -> str:
    if not deployed and rng.random() < 0.2:
        return rng.choice((*_NOT_INTEGERS, "<>"))
    return rng.choice((str(rng.choice(_INTEGERS)), str(rng.randint(-100, 100)), "-0", str(2**70)))


# Properties


def matching_props(rng: Random, tree: Filter) -> Properties | None:
    """Make properties that a filter matches; ``None`` when twenty attempts find none, as for ``(&(a=b)(!(a=b)))``."""
    match = compiled(tree)
    for _ in range(20):
        props = _attempt(rng, tree)
        if match(props):
            return props
    return None


def near_props(rng: Random, tree: Filter) -> Properties | None:
    """Make properties that a filter does not match, though it would were one value another, more, or less.

    ``None`` when some hundred attempts find none, as for ``(|(a=b)(!(a=b)))``.
    """
    match = compiled(tree)
    start = matching_props(rng, tree)
    if start is None:
        return None
    for _ in range(100):
        props = {name: list(values) for name, values in start.items()}
        _change(rng, tree, props)
        if not match(props):
            return props
    return None


def _attempt(rng: Random, tree: Filter) -> Properties:
    """Make properties that do what each item needs, as far as items do not contradict each other."""
    props: Properties = {}
    if rng.random() < 0.3:
        props["unrelated"] = [rng.choice(_WORDS)]
    ahead: list[tuple[Composite | Item, bool]] = [(tree, True)]
    while ahead:
        part, wanted = ahead.pop()
        if isinstance(part, Not):
            ahead.append((part.filter, not wanted))
        elif isinstance(part, Composite):
            below = operands(part)
            if isinstance(part, And) is not wanted and below:
                below = (rng.choice(below),)  # one is enough
            ahead.extend((one, wanted) for one in below)
        elif wanted or rng.random() < 0.5:
            value = _witness(rng, part) if wanted else _near_miss(rng, part)
            if value is not None:
                props.setdefault(part.key, []).append(value)
        elif rng.random() < 0.2:
            props.setdefault(part.key, [])
    return props


def _change(rng: Random, tree: Filter, props: Properties) -> None:
    """Take a value away, put another in its place, or add one that an item of the filter matches."""
    names = [name for name, values in props.items() if values]
    if not names or rng.random() < 0.3:
        item = rng.choice([part for part in walk(tree) if not isinstance(part, Composite)])
        value = _witness(rng, item)
        if value is not None:
            props.setdefault(item.key, []).append(value)
        return
    values = props[rng.choice(names)]
    place = rng.randrange(len(values))
    if rng.random() < 0.5:
        del values[place]
    else:
        values[place] = _changed(rng, values[place])


def _witness(rng: Random, item: Item) -> str | int | None:
    """Return a value that an item matches; ``None`` when no value of a property does."""
    match item:
        case Equal(_, value):
            exact = INTEGER.fullmatch(value) and len(value) <= 20 and str(int(value)) == value
            return int(value) if exact and LEAST <= int(value) <= MOST and rng.random() < 0.5 else value
        case Greater(_, value):
            return _beyond(rng, value, 1)
        case Less(_, value):
            return _beyond(rng, value, -1)
        case Substring(_, initial, middles, final):
            return initial + "".join(_between(rng) + middle for middle in middles) + _between(rng) + final
        case _:
            return rng.choice((*_WORDS, *_INTEGERS))


def _beyond(rng: Random, text: str, step: int) -> int | None:
    if not INTEGER.fullmatch(text) or len(text) > 4000:
        return None
    nearest = max(LEAST, min(MOST, int(text) + step))
    if (nearest - int(text)) * step <= 0:
        return None
    return rng.choice((nearest, max(LEAST, min(MOST, nearest + step * rng.randrange(100)))))


def _between(rng: Random) -> str:
    return rng.choice(("", "", "x", "a", "\n"))


def _near_miss(rng: Random, item: Item) -> str | int | None:
    """Return a value that an item just does not match, most often; ``None`` for none."""
    match item:
        case Greater(_, value) | Less(_, value):
            bound = int(value) if INTEGER.fullmatch(value) and len(value) <= 20 else 0
            # The bound itself, and a text that would be well beyond it were it a number.
            return rng.choice((max(LEAST, min(MOST, bound)), str(bound + 1), str(bound - 1)))
        case Present():
            return None
        case _:
            witness = _witness(rng, item)
            return None if witness is None else _changed(rng, witness)


def _changed(rng: Random, value: str | int) -> str | int:
    """Return a value that is almost the same."""
    if isinstance(value, int):
        return rng.choice((max(LEAST, value - 1), min(MOST, value + 1), f"{value} "))
    return rng.choice((value[:-1], value[1:], value + "\n", " " + value, value.swapcase(), value + value))


# Texts that are almost filters


def mutations(*, deployed: bool = False) -> tuple[str, ...]:
    """Return the names of what ``near_valid`` does in a reading."""
    return tuple(_BOTH | (_DEPLOYED if deployed else _DOCUMENT))


def near_valid(rng: Random, *, deployed: bool = False, mutation: str | None = None) -> NearValid:
    """Make a text that is almost a filter and is refused, by this mutation or any.

    Raises ``KeyError`` for a name that is not among the reading's ``mutations``.
    """
    name = mutation or rng.choice(mutations(deployed=deployed))
    table = _BOTH | (_DEPLOYED if deployed else _DOCUMENT)
    return NearValid(table[name](_Pen(rng, deployed)), name)


class _Pen:
    """Writes the pieces that mutations put together."""

    def __init__(self, rng: Random, deployed: bool) -> None:
        self.rng = rng
        self.deployed = deployed

    def filter(self) -> str:
        return spell(sample(self.rng, deployed=self.deployed, items=4, depth=2), deployed=self.deployed)

    def item(self) -> str:
        return spell(_item(self.rng, self.deployed), deployed=self.deployed)

    def key(self) -> str:
        return escape(_key(self.rng, True))

    def one(self, choices: str) -> str:
        return self.rng.choice(choices)

    def around(self, broken: str) -> str:
        """Put a broken filter somewhere inside a valid one."""
        for _ in range(self.rng.randrange(3)):
            if self.rng.random() < 0.3:
                broken = f"(!{broken})"
            else:
                both = [self.filter(), broken]
                self.rng.shuffle(both)
                broken = f"({self.one('&|')}{''.join(both)})"
        return broken

    def item_with(self, inside: str) -> str:
        """Write an item with this in its key or in its value, inside a valid filter."""
        key, value = (f"a{inside}b", "x") if self.rng.random() < 0.5 else (self.key(), f"x{inside}y")
        return self.around(f"({key}={value})")

    def cut(self) -> str:
        text = self.filter()
        return text[: self.rng.randrange(len(text))]


_Mutation = Callable[[_Pen], str]

_BOTH: dict[str, _Mutation] = {
    "empty": lambda pen: "",
    "cut": lambda pen: pen.cut(),
    "first parenthesis dropped": lambda pen: pen.filter()[1:],
    "last parenthesis dropped": lambda pen: pen.filter()[:-1],
    "parentheses dropped": lambda pen: pen.filter()[1:-1],
    "parenthesis added": lambda pen: pen.filter() + ")",
    "parentheses doubled": lambda pen: pen.around(f"({pen.filter()})"),
    "text before": lambda pen: pen.one(" \n\ufeffx") + pen.filter(),
    "text after": lambda pen: pen.filter() + pen.one(" \nx*"),
    "filter after": lambda pen: pen.filter() + pen.filter(),
    "nothing inside": lambda pen: pen.around("()"),
    "no operator": lambda pen: pen.around(f"({pen.key()})"),
    "operator doubled": lambda pen: pen.around(f"({pen.key()}{pen.rng.choice(('>=', '<=', '==', '<>', '=>'))}5)"),
    "no operand": lambda pen: pen.around(f"({pen.one('&|!')})"),
    "two operands of not": lambda pen: pen.around(f"(!{pen.filter()}{pen.filter()})"),
    "operand without parentheses": lambda pen: pen.around(f"({pen.one('&|!')}{pen.item()[1:-1]})"),
    "space before operand": lambda pen: pen.around(f"({pen.one('&|')}{pen.filter()} {pen.filter()})"),
    "special not escaped": lambda pen: pen.item_with(pen.one("!&()|")),
    "comparison in value": lambda pen: pen.around(f"({pen.key()}=x{pen.one('<=>')}y)"),
    "asterisk in key": lambda pen: pen.around(f"(a*{pen.one('<=>')}5)"),
    "asterisk in comparison": lambda pen: pen.around(f"({pen.key()}{pen.one('<>')}5*)"),
    "ordinary escaped": lambda pen: pen.item_with("\\" + pen.one("a05 }~é\n\x00")),
    "parenthesis escaped": lambda pen: pen.around(f"({pen.key()}=x\\)"),
    "escape at the end": lambda pen: pen.filter()[:-1] + "\\",
    "NUL": lambda pen: pen.item_with("\x00"),
    "half of a surrogate": lambda pen: pen.item_with(pen.one("\ud800\udbff\udc00\udfff")),
}

_DOCUMENT: dict[str, _Mutation] = {
    "brace": lambda pen: pen.item_with("}"),
}

_DEPLOYED: dict[str, _Mutation] = {
    "no key": lambda pen: pen.around(f"({pen.one('<=>')}5)"),
    "one operand": lambda pen: pen.around(f"({pen.one('&|')}{pen.filter()})"),
    "no integer": lambda pen: pen.around(f"({pen.key()}{pen.one('<>')}{pen.rng.choice(_NOT_INTEGERS)})"),
}
