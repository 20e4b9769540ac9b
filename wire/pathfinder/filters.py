"""The filter language of Pathfinder (section "Filter Representation"): values, a parser and a printer.

::

    text ──parse──► And | Or | Not | Equal | Greater | Less | Present | Substring ──spell──► text

Every filter has one text and every text at most one filter: white space counts, and only the specials may be escaped.

Readings, by ``deployed``; without it the ABNF's letter holds:

* The ABNF does not define ``equal``, ``greater`` and ``less``: they are ``=``, ``>`` and ``<``.
* ``integer`` is used nowhere. By the letter any string is compared with; deployed nodes require an integer.
* A ``string`` may be empty. Deployed nodes refuse an empty key.
* One operand is enough for ``and`` and ``or``. Deployed nodes require two.
* ``}`` is neither unescaped nor special. By the letter it cannot be spelled; deployed nodes take it as any other.
* ``(a=*)`` is both ``present`` and ``substring``: it is read as ``present``.
* Halves of surrogates are within the ABNF's range, but no characters: they are refused.

Nothing here recurses, so filters may be nested as deep as memory allows.
"""

import re
from collections.abc import Iterator
from operator import eq
from typing import NoReturn

import msgspec

from wire.errors import EncodeError, WireError


class FilterError(WireError):
    """A text that is no filter: ``offset`` in characters, what was ``expected`` there, and what was ``found``."""

    def __init__(self, offset: int, expected: str, found: str) -> None:
        super().__init__(f"no filter, at character {offset}: expected {expected}, found {found}")
        self.offset = offset
        self.expected = expected
        self.found = found


class Equal(msgspec.Struct, frozen=True):
    """``(key=value)``."""

    key: str
    value: str


class Greater(msgspec.Struct, frozen=True):
    """``(key>value)``; the value is text, as it was spelled."""

    key: str
    value: str


class Less(msgspec.Struct, frozen=True):
    """``(key<value)``; the value is text, as it was spelled."""

    key: str
    value: str


class Present(msgspec.Struct, frozen=True):
    """``(key=*)``."""

    key: str


class Substring(msgspec.Struct, frozen=True):
    """``(key=initial*any*any*final)``: ``any`` has what stands between two asterisks; each string may be empty."""

    key: str
    initial: str
    any: tuple[str, ...]
    final: str


class Composite(msgspec.Struct, frozen=True, eq=False):
    """A filter of filters; compared, hashed and shown without recursion, however deep it is."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, And | Or | Not):
            return NotImplemented
        # The parts are a prefix code: of two filters that differ, neither is the other's beginning.
        return self is other or all(map(eq, _parts(self), _parts(other)))

    def __ne__(self, other: object) -> bool:
        # Struct has one of its own, which would tell by identity.
        return not self == other

    def __hash__(self) -> int:
        return hash(tuple(_parts(self)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {_text(self)}>"


class And(Composite, frozen=True, eq=False):
    """``(&filters)``."""

    filters: "tuple[Filter, ...]"


class Or(Composite, frozen=True, eq=False):
    """``(|filters)``."""

    filters: "tuple[Filter, ...]"


class Not(Composite, frozen=True, eq=False):
    """``(!filter)``."""

    filter: "Filter"


Item = Equal | Greater | Less | Present | Substring
Filter = And | Or | Not | Item


def operands(tree: Composite) -> "tuple[Filter, ...]":
    """Return the filters right below a composite one."""
    if isinstance(tree, And | Or):
        return tree.filters
    assert isinstance(tree, Not)
    return (tree.filter,)


def walk(tree: Composite | Item) -> Iterator[Composite | Item]:
    """Yield a filter and everything below it, as they stand in its text."""
    ahead: list[Composite | Item] = [tree]
    while ahead:
        part = ahead.pop()
        yield part
        if isinstance(part, Composite):
            ahead.extend(reversed(operands(part)))


def _parts(tree: Composite) -> Iterator[object]:
    for part in walk(tree):
        yield (type(part), len(operands(part))) if isinstance(part, Composite) else part


SPECIALS = "!&*()<=>\\|"
"""What stands for itself only after a backslash."""

INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
"""The ABNF's ``integer``."""

# Each is a single class under a star: it cannot backtrack.
_UNESCAPED = re.compile(r"[^\x00!&*()<=>\\|}\ud800-\udfff]*")
_UNESCAPED_DEPLOYED = re.compile(r"[^\x00!&*()<=>\\|\ud800-\udfff]*")
_IMPOSSIBLE = re.compile(r"[\x00\ud800-\udfff]")
_ESCAPES = str.maketrans({special: "\\" + special for special in SPECIALS})

_COMPOSITES = frozenset("&|!")
_OPERATORS = frozenset("=<>")


def parse(text: str, *, deployed: bool = False) -> Filter:
    """Read a filter, by the ABNF's letter or as ``deployed`` nodes do.

    Time and memory go with the length of the text. Raises ``FilterError`` where it first stops being a filter.
    """
    reader = _Reader(text, deployed)
    tree = reader.filter()
    if reader.at < len(text):
        reader.refuse("the end")
    return tree


class _Reader:
    """A text and how far it has been read."""

    def __init__(self, text: str, deployed: bool) -> None:
        self.text = text
        self.deployed = deployed
        self.unescaped = _UNESCAPED_DEPLOYED if deployed else _UNESCAPED
        self.at = 0

    def filter(self) -> Filter:
        opened: list[tuple[str, list[Filter]]] = []
        while True:
            self.take("(")
            if self.next in _COMPOSITES:
                opened.append((self.next, []))
                self.at += 1
                continue
            tree: Filter = self.item()
            while opened:
                operator, filters = opened[-1]
                filters.append(tree)
                if self.next == "(" and operator != "!":
                    break
                tree = self.composite(operator, filters)
                opened.pop()
            else:
                return tree

    def composite(self, operator: str, filters: list[Filter]) -> Filter:
        if operator == "!":
            self.take(")")
            return Not(filters[0])
        if self.deployed and len(filters) < 2:
            self.refuse("'(' (a second operand)")
        self.take(")", "'(' or ')'")
        return And(tuple(filters)) if operator == "&" else Or(tuple(filters))

    def item(self) -> Item:
        start = self.at
        key = self.string()
        operator = self.next
        if not key and (self.deployed or operator not in _OPERATORS):
            self.at = start
            self.refuse("'&', '|', '!' or a key")
        if operator not in _OPERATORS:
            self.refuse("'=', '<' or '>'")
        self.at += 1
        if operator == "=":
            return self.equal_or_asterisks(key)
        value = self.integer() if self.deployed else self.string()
        self.take(")")
        return Greater(key, value) if operator == ">" else Less(key, value)

    def equal_or_asterisks(self, key: str) -> Item:
        strings = [self.string()]
        while self.next == "*":
            self.at += 1
            strings.append(self.string())
        self.take(")", "'*' or ')'")
        if len(strings) == 1:
            return Equal(key, strings[0])
        if strings == ["", ""]:
            return Present(key)
        return Substring(key, strings[0], tuple(strings[1:-1]), strings[-1])

    def string(self) -> str:
        run = self.run()
        if self.next != "\\":
            return run
        pieces = [run]
        while self.next == "\\":
            self.at += 1
            if not self.next or self.next not in SPECIALS:
                self.refuse(f"one of {' '.join(SPECIALS)}")
            pieces.append(self.next)
            self.at += 1
            pieces.append(self.run())
        return "".join(pieces)

    def run(self) -> str:
        unescaped = self.unescaped.match(self.text, self.at)
        assert unescaped is not None  # it may be empty
        self.at = unescaped.end()
        return unescaped.group()

    def integer(self) -> str:
        run = INTEGER.match(self.text, self.at)
        if run is None:
            if self.next == "-":
                self.at += 1
                self.refuse("a digit")
            self.refuse("an integer")
        self.at = run.end()
        return run.group()

    @property
    def next(self) -> str:
        """The character ahead; the empty string at the end."""
        return self.text[self.at : self.at + 1]

    def take(self, character: str, expected: str = "") -> None:
        if self.next != character:
            self.refuse(expected or f"{character!r}")
        self.at += 1

    def refuse(self, expected: str) -> NoReturn:
        character = self.next
        if not character:
            found = "the end"
        else:
            found = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
        raise FilterError(self.at, expected, found)


def spell(tree: Filter, *, deployed: bool = False) -> str:
    """Write a filter as its text, which ``parse`` reads as an equal filter in the same reading.

    Raises ``EncodeError`` for a filter that has no text in that reading.
    """
    for part in walk(tree):
        _expect_text(part, deployed)
    return _text(tree)


def _expect_text(part: Composite | Item, deployed: bool) -> None:
    if isinstance(part, Composite):
        least = 2 if deployed and not isinstance(part, Not) else 1
        if len(operands(part)) < least:
            raise EncodeError(f"filter: {type(part).__name__} needs {least} filters, and has {len(operands(part))}")
        return
    for text in _strings(part):
        impossible = _IMPOSSIBLE.search(text)
        if impossible is not None:
            raise EncodeError(f"filter: no text has U+{ord(impossible.group()):04X}, as {part!r} does")
        if "}" in text and not deployed:
            raise EncodeError(f"filter: by the letter of the ABNF no text has '}}', as {part!r} does")
    if isinstance(part, Substring) and not (part.initial or part.any or part.final):
        raise EncodeError(f"filter: the text of {part!r} is that of Present({part.key!r})")
    if deployed and not part.key:
        raise EncodeError(f"filter: {part!r} has no key")
    if deployed and isinstance(part, Greater | Less) and not INTEGER.fullmatch(part.value):
        raise EncodeError(f"filter: the value of {part!r} is no integer")


def _strings(item: Item) -> tuple[str, ...]:
    if isinstance(item, Present):
        return (item.key,)
    if isinstance(item, Substring):
        return (item.key, item.initial, *item.any, item.final)
    return (item.key, item.value)


def _text(tree: Composite | Item) -> str:
    """Write a filter whatever it is."""
    pieces: list[str] = []
    ahead: list[Composite | Item | str] = [tree]
    while ahead:
        part = ahead.pop()
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, Composite):
            pieces.append("(&" if isinstance(part, And) else "(|" if isinstance(part, Or) else "(!")
            ahead.append(")")
            ahead.extend(reversed(operands(part)))
        else:
            pieces.append(_item_text(part))
    return "".join(pieces)


def _item_text(item: Item) -> str:
    key, *values = (escape(text) for text in _strings(item))
    if isinstance(item, Present):
        return f"({key}=*)"
    operator = ">" if isinstance(item, Greater) else "<" if isinstance(item, Less) else "="
    return f"({key}{operator}{'*'.join(values)})"


def escape(string: str) -> str:
    """Write a key or a value as it stands in a filter: with a backslash before each special."""
    return string.translate(_ESCAPES)
