"""Tables in C from layouts of JSON: what may stand where, which ``json.h`` holds the texts against.

A part becomes a ``place``, which says for every kind of JSON what it has to be; an object, a map or a union becomes a
``shape``. A union is a decision per member that it decides by; where a union stands in a union, its decisions follow.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from wire.json.strict import DEEPEST, LEAST, MOST
from wire.kinds import (
    Json,
    JsonAnyValue,
    JsonArray,
    JsonBool,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonMember,
    JsonNumber,
    JsonObject,
    JsonPart,
    JsonText,
    JsonUnion,
)
from wire.kinds.base import walk
from wire.layout import Layout

Lines = Iterator[str]


def preamble(layouts: list[Layout]) -> Lines:
    """Give the lines that ``json.h`` needs before it, and that include it; none if no layout is JSON."""
    roots = [layout.root for layout in layouts if layout.is_json]
    if roots:
        members = (len(part.members) for root in roots for part in walk(root) if isinstance(part, JsonObject))
        yield ""
        yield f"enum {{ DEEPEST = {DEEPEST}, MOST_MEMBERS = {max([1, *members])} }};"
        yield ""
        yield '#include "json.h"'


class JsonTables:
    """The tables of layouts whose messages have the same names, with the indices ``choices``.

    ``lines`` has each before the first that uses it. Symbols begin with ``prefix``.
    """

    def __init__(self, prefix: str, choices: Mapping[str, int]) -> None:
        self.lines: list[str] = []
        self._prefix = prefix.upper()
        self._choices = choices
        self._made: dict[tuple[str, tuple[str, ...]], str] = {}
        self._has_anything = False

    def root(self, json: Json) -> str:
        """Return the symbol of the place that a frame is."""
        return self._place(json.node, messages=True)

    def _new(self, kind: str, *lines: str) -> str:
        """Write a table down that has the content ``lines``, and return its symbol; equal ones are one."""
        if (kind, lines) not in self._made:
            number = sum(made == kind for made, _ in self._made) + 1
            symbol = self._made[kind, lines] = f"{self._prefix}_{kind.upper()}_{number}"
            if kind in LISTS:
                self.lines += ["", f"static const {kind} {symbol}[] = {{", *(f"    {line}," for line in lines), "};"]
            else:
                self.lines += ["", f"static const {kind} {symbol} = {{{', '.join(lines)}}};"]
        return self._made[kind, lines]

    def _anything(self) -> str:
        """Write down a place where any value may stand: what is in one is in such a place again."""
        place, shape = f"{self._prefix}_ANYTHING", f"{self._prefix}_ANY_MEMBERS"
        if not self._has_anything:
            self._has_anything = True
            within = f".least = INT64_MIN, .most = INT64_MAX, .least_real = -INFINITY, .items = &{place}"
            self.lines += ["", f"static const place {place};"]
            self.lines += [f"static const shape {shape} = {{.form = MAP, .choice = -1, .items = &{place}}};"]
            self.lines += [f"static const place {place} = {{.kinds = ~0U, {within}, .object = &{shape}}};"]
        return place

    def _place(self, part: JsonPart, *, messages: bool = False) -> str:
        if isinstance(part, JsonAnyValue):
            return self._anything()
        kinds: list[str] = []
        fields: list[str] = []
        for option in _options(part):
            match option:
                case JsonText(names=names):
                    kinds.append("JSON_TEXT")
                    if names:
                        words = self._new("word", *map(word, names))
                        fields += [f".count = {len(names)}", f".texts = {words}"]
                case JsonInteger(least=least, most=most):
                    kinds.append("JSON_INTEGER")
                    fields += [f".least = {_number(least)}", f".most = {_number(most)}"]
                case JsonNumber(least=least):
                    kinds += ["JSON_INTEGER", "JSON_REAL"]
                    fields += [f".least = {_number(LEAST if least is None else least)}", f".most = {_number(MOST)}"]
                    fields += [f".least_real = {'-INFINITY' if least is None else _least_real(least)}"]
                case JsonBool():
                    kinds.append("JSON_BOOL")
                case JsonArray(item=item):
                    kinds.append("JSON_ARRAY")
                    fields += [f".items = &{self._place(item)}"]
                case JsonObject() | JsonMap() | JsonUnion():
                    kinds.append("JSON_OBJECT")
                    fields += [f".object = &{self._shape(option, messages=messages)}"]
        return self._new("place", f".kinds = {' | '.join(f'1 << {kind}' for kind in kinds)}", *fields)

    def _shape(self, part: JsonObject | JsonMap | JsonUnion, *, messages: bool) -> str:
        match part:
            case JsonMap(item=item):
                fields = [".form = MAP", ".choice = -1", f".items = &{self._place(item)}"]
            case JsonObject(name=name, members=members):
                choice = self._choices[name] if messages and name else -1
                fields = [".form = OBJECT", f".choice = {choice}", f".count = {len(members)}"]
                fields += [f".required = {sum(not member.optional for member in members)}"]
                if members:
                    fields += [f".members = {self._members(members)}"]
            case JsonUnion(by=by):
                return self._decision(by, dict(part.table()), messages=messages)
        return self._new("shape", *fields)

    def _members(self, members: tuple[JsonMember, ...]) -> str:
        rows = [f"{{{word(m.name)}, {int(not m.optional)}, &{self._place(m.node)}}}" for m in members]
        return self._new("member", *rows)

    def _decision(
        self, by: tuple[str, ...], table: dict[tuple[str, ...], JsonObject | JsonUnion], *, messages: bool
    ) -> str:
        """Decide by the first member, then in every branch by the others."""
        branches = []
        for text in dict.fromkeys(key[0] for key in table):
            left = {key[1:]: message for key, message in table.items() if key[0] == text}
            shape = (
                self._decision(by[1:], left, messages=messages) if by[1:] else self._shape(left[()], messages=messages)
            )
            branches.append(f"{{{word(text)}, &{shape}}}")
        listed = self._new("branch", *branches)
        fields = [".form = DECISION", ".choice = -1", f".count = {len(branches)}", f".by = {word(by[0])}"]
        return self._new("shape", *fields, f".branches = {listed}")


LISTS = ("word", "member", "branch")
"""The kinds of tables that are lists."""


def word(text: str) -> str:
    """Return a text as a constant of the type ``word``."""
    plain = text.isascii() and text.isprintable() and not set(text) & set('"\\?')
    octets = text.encode()
    written = text if plain else "".join(f"\\{byte:03o}" for byte in octets)
    return f'{{"{written}", {len(octets)}}}'


def _options(part: JsonPart) -> Iterator[JsonPart]:
    if isinstance(part, JsonEither):
        for option in part.options:
            yield from _options(option)
    else:
        yield part


def _number(value: int) -> str:
    if abs(value) < 1 << 31:
        return str(value)
    return "INT64_MIN" if value == LEAST else f"INT64_C({value})"


def _least_real(least: int) -> str:
    """Return the smallest double that is not less than an integer, which not every double can equal."""
    real = float(least)
    if Fraction(real) < least:
        real = math.nextafter(real, math.inf)
    return real.hex()
