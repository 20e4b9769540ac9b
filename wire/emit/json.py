"""Straight-line Python from layouts of JSON: one check and one writer per object, union, map and array.

A check counts the strings, names included, of a value that fits; the entry of a layout compares that with the strings
in the text, and so sees a name that is there twice. Where anything does not fit, the reference engine decides
(``wire/json/runtime.py``).
"""

import keyword
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import count

from wire.json.strict import LEAST, MOST, spell
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
    Limited,
)
from wire.layout import Layout

Lines = Iterator[str]

IMPORTS = """from wire.json.runtime import (
    DOUBTS,
    Doubt,
    decide,
    read_json,
    spell_number,
    spell_text,
    spell_undecided,
    spell_within,
    strings_in,
    strings_within,
)
"""

HEAD = (
    '''# mypy: disable-error-code="no-any-return"
"""Codecs of {protocol}: generated from wire/{protocol} by ``python -m wire.emit``. Do not edit."""

from typing import Any

'''
    + IMPORTS
    + "from wire.runtime import Codec"
)


def emit(layout: Layout, name: str, taken: set[str]) -> Lines:
    """Give the functions of one layout; ``name`` is its own as an identifier, ``taken`` the names that exist."""
    limit = layout.root.size if isinstance(layout.root, Limited) else None
    root = layout.root.node if isinstance(layout.root, Limited) else layout.root
    assert isinstance(root, Json)
    checks, writers = _Checks(taken), _Writers(taken)
    check, writer = checks.call(root.node, name, "value"), writers.call(root.node, name, "value")
    yield from [*checks.lines, *writers.lines][2:]
    yield from ("", "")
    yield f"def decode_{name}(data: bytes, refuse: bool = False) -> Any:"
    yield f'    """Decode one ``{layout.name}``."""'
    yield "    try:"
    within = "        "
    if limit is not None:
        yield f"        if len(data) <= {limit}:"
        within += "    "
    yield f"{within}value = read_json(data)"
    yield f"{within}if {check} == strings_in(data):"
    yield f"{within}    return value"
    yield "    except DOUBTS:"
    yield "        pass"
    yield f'    return decide("{layout.name}", data)'
    yield from ("", "")
    yield f"def encode_{name}(value: Any) -> bytes:"
    yield f'    """Encode one ``{layout.name}``."""'
    yield "    try:"
    yield f"        out = {writer}.encode()"
    if limit is None:
        yield "        return out"
    else:
        yield f"        if len(out) <= {limit}:"
        yield "            return out"
    yield "    except DOUBTS:"
    yield "        pass"
    yield f'    return spell_undecided("{layout.name}", value)'


def _indent(lines: Lines) -> Lines:
    return (f"    {line}" for line in lines)


def _identifier(text: str) -> str:
    return re.sub(r"\W", "_", text.lower(), flags=re.ASCII).strip("_") or "value"


def _literal(text: str) -> str:
    """Return a text as it stands in source code."""
    return repr(text) if '"' in text else f'"{repr(text)[1:-1]}"'


def _spelled(text: str) -> str:
    """Return a text in JSON, as part of a formatted string between single quotes in source code."""
    return repr(spell(text))[1:-1].replace("{", "{{").replace("}", "}}")


class _Functions(ABC):
    """Functions of one kind, each made once, inner ones first; ``known`` are members that a union has compared."""

    word = ""
    kind = ""

    def __init__(self, taken: set[str]) -> None:
        self.lines: list[str] = []
        self._taken = taken
        self._made: dict[object, str] = {}

    def call(self, part: JsonPart, hint: str, argument: str, known: frozenset[str] = frozenset()) -> str:
        """Return the call of a part's function."""
        if isinstance(part, JsonUnion):
            known |= set(part.by)
        wanted = part, known if isinstance(part, JsonObject | JsonUnion) else frozenset()
        if wanted not in self._made:
            hint = part.name if isinstance(part, JsonObject) and part.name else hint
            body = tuple(self.body(part, hint, known))
            same = self._made.get(body)
            self._made[wanted] = self._made[body] = self.define(hint, body, same)
        return f"{self._made[wanted]}({argument})"

    def define(self, hint: str, body: tuple[str, ...], same: str | None) -> str:
        """Write a function down, or that it is the ``same`` as another."""
        name = next(name for name in self.names(hint) if name not in self._taken)
        self._taken.add(name)
        if same is None:
            self.lines += ["", "", f"def {name}(value: Any) -> {self.kind}:", *_indent(iter(body))]
        else:
            self.lines += ["", f"{name} = {same}"]
        return name

    def names(self, hint: str) -> Iterator[str]:
        first = f"{self.word}_{_identifier(hint)}"
        yield first
        yield from (f"{first}_{number}" for number in count(2))

    @abstractmethod
    def body(self, part: JsonPart, hint: str, known: frozenset[str]) -> Lines:
        """Give the lines of the function of a part."""

    def union(self, union: JsonUnion, hint: str, known: frozenset[str]) -> Lines:
        """Choose by what the members have; text that no message has, or no text at all, is in no table."""
        table = f"{self.word}_{_identifier(hint)}_by"
        while table.upper() in self._taken:
            table += "_"
        self._taken.add(table.upper())
        entries = []
        for key, message in union.table():
            called = self.call(message, f"{hint}_{'_'.join(key)}", "", known).removesuffix("()")
            quoted = ", ".join(_literal(text) for text in key)
            entries.append(f"    {quoted if len(key) == 1 else f'({quoted})'}: {called},")
        self.lines += ["", "", f"{table.upper()}: dict[Any, Any] = {{", *entries, "}"]
        reached = ", ".join(f"value[{_literal(name)}]" for name in union.by)
        yield f"return {table.upper()}[{reached}](value)"


def _number(value: int) -> str:
    return str(value) if abs(value) < 1 << 31 else hex(value)


def _type(part: JsonPart, variable: str) -> str:
    """Return when a value has the type of a part."""
    match part:
        case JsonText():
            return f"type({variable}) is str"
        case JsonInteger():
            return f"type({variable}) is int"
        case JsonNumber():
            return f"type({variable}) in (int, float)"
        case JsonBool():
            return f"type({variable}) is bool"
        case JsonArray():
            return f"type({variable}) is list"
        case _:
            return f"type({variable}) is dict"


def _bounds(part: JsonPart, variable: str, *, written: bool) -> str:
    """Return when a scalar of the right type does not fit, "" if it always does."""
    match part:
        case JsonText(names=()):
            return f'"\\0" in {variable}' if written else ""
        case JsonText(names=names):
            return f"{variable} not in ({', '.join(_literal(name) for name in names)},)"
        case JsonInteger():
            return f"not {_number(part.least)} <= {variable} <= {_number(part.most)}"
        case JsonNumber(least=least):
            conditions = (
                []
                if written
                else [f"type({variable}) is int and not {_number(LEAST)} <= {variable} <= {_number(MOST)}"]
            )
            conditions += [] if least is None else [f"not {variable} >= {_number(least)}"]
            return " or ".join(conditions)
        case _:
            return ""


def _scalar(part: JsonPart, variable: str, *, written: bool, typed: bool) -> Lines:
    """Check a scalar; ``typed`` if its type is known already."""
    wrong = "" if typed else _type(part, variable).replace(" is ", " is not ").replace(" in ", " not in ")
    conditions = [each for each in (wrong, _bounds(part, variable, written=written)) if each]
    if conditions:
        yield from _doubt(" or ".join(conditions))


def _doubt(condition: str) -> Lines:
    yield f"if {condition}:"
    yield "    raise Doubt"


class _Checks(_Functions):
    """Checks of what msgspec has read: they return how many strings a value has."""

    word = "check"
    kind = "int"

    def body(self, part: JsonPart, hint: str, known: frozenset[str]) -> Lines:
        match part:
            case JsonObject():
                yield from self.object(part, hint, known)
            case JsonUnion():
                yield from self.union(part, hint, known)
            case JsonMap(item=item):
                yield from _doubt("type(value) is not dict")
                yield "strings = len(value)"
                yield "for each in value.values():"
                yield from self.every(item, hint)
                yield "return strings"
            case JsonArray(item=item):
                yield from _doubt("type(value) is not list")
                yield "strings = 0"
                yield "for each in value:"
                yield from self.every(item, hint)
                yield "return strings"
            case _:
                strings, statements = self.part(part, hint, "value")
                yield from ["strings = 0", *statements, f"return strings + {strings}"]

    def every(self, item: JsonPart, hint: str) -> Lines:
        strings, statements = self.part(item, f"{hint}_item", "each")
        yield from _indent(iter([*statements, *([f"strings += {strings}"] if strings else [])]))

    def object(self, part: JsonObject, hint: str, known: frozenset[str]) -> Lines:
        required = [member for member in part.members if not member.optional]
        strings = len(required)
        statements: list[str] = []
        for member in part.members:
            if member.name in known and not member.optional:
                strings += 1
                continue
            name = _literal(member.name)
            count, lines = self.part(member.node, f"{hint}_{member.name}" if part.name == "" else member.name, "v")
            if not member.optional:
                strings += count
                statements += [f"v = value[{name}]", *lines]
                continue
            present = [f"v = value[{name}]", *lines, f"strings += {count + 1}", "size += 1"]
            statements += [f"if {name} in value:", *_indent(iter(present))]
        counting = any("strings +=" in line for line in statements)
        if counting:
            yield f"strings = {strings}"
        optional = len(required) < len(part.members)
        if optional:
            yield f"size = {len(required)}"
        yield from statements
        yield from _doubt(f"type(value) is not dict or len(value) != {'size' if optional else len(required)}")
        yield "return strings" if counting else f"return {strings}"

    def part(self, part: JsonPart, hint: str, variable: str, *, typed: bool = False) -> tuple[int, list[str]]:
        """Return how many strings a part has for certain, and the statements that check it and count others."""
        match part:
            case JsonText() | JsonInteger() | JsonNumber() | JsonBool():
                return int(isinstance(part, JsonText)), list(_scalar(part, variable, written=False, typed=typed))
            case JsonAnyValue():
                return 0, [f"strings += strings_within({variable})"]
            case JsonEither(options=options):
                lines: list[str] = []
                for option in options:
                    strings, statements = self.part(option, hint, variable, typed=True)
                    counted = [f"strings += {strings}"] if strings else []
                    lines += [f"{'elif' if lines else 'if'} {_type(option, variable)}:"]
                    lines += _indent(iter([*statements, *counted] or ["pass"]))
                return 0, [*lines, "else:", "    raise Doubt"]
            case _:
                return 0, [f"strings += {self.call(part, hint, variable)}"]


class _Writers(_Functions):
    """Writers: from a value to its text."""

    word = "write"
    kind = "str"

    def body(self, part: JsonPart, hint: str, known: frozenset[str]) -> Lines:
        match part:
            case JsonObject():
                yield from self.object(part, hint, known)
            case JsonUnion():
                yield from self.union(part, hint, known)
            case JsonMap(item=item):
                yield from _doubt("type(value) is not dict")
                yield "pieces = []"
                yield "for name, each in value.items():"
                yield from _indent(_doubt('type(name) is not str or "\\0" in name'))
                statements, piece = self.part(item, f"{hint}_item", "each")
                yield from _indent(iter([*statements, f"pieces.append(f'{{spell_text(name)}}:{piece}')"]))
                yield "return '{' + ','.join(pieces) + '}'"
            case JsonArray(item=item):
                yield from _doubt("type(value) is not list")
                yield "pieces = []"
                yield "for each in value:"
                statements, piece = self.part(item, f"{hint}_item", "each")
                yield from _indent(iter([*statements, f"pieces.append(f'{piece}')"]))
                yield "return '[' + ','.join(pieces) + ']'"
            case _:
                statements, piece = self.part(part, hint, "value")
                yield from [*statements, f"return f'{piece}'"]

    def object(self, part: JsonObject, hint: str, known: frozenset[str]) -> Lines:
        optional = any(member.optional for member in part.members)
        statements: list[str] = []
        pieces: list[str] = []
        variables = self.variables(part)
        for member in part.members:
            name, variable = _literal(member.name), variables[member.name]
            hinted = f"{hint}_{member.name}" if part.name == "" else member.name
            if member.name in known and isinstance(member.node, JsonText) and len(member.node.names) == 1:
                pieces.append(f",{_spelled(member.name)}:{_spelled(member.node.names[0])}")
                continue
            lines, piece = self.part(member.node, hinted, variable)
            if not member.optional:
                statements += [f"{variable} = value[{name}]", *lines]
                pieces.append(f",{_spelled(member.name)}:{piece}")
                continue
            there = [f"{variable} = value[{name}]", *lines]
            there += [f"{variable} = f',{_spelled(member.name)}:{piece}'", "size += 1"]
            statements += [f"{variable} = ''", f"if {name} in value:", *_indent(iter(there))]
            pieces.append(f"{{{variable}}}")
        required = sum(not member.optional for member in part.members)
        if optional:
            yield f"size = {required}"
        yield from statements
        yield from _doubt(f"type(value) is not dict or len(value) != {'size' if optional else required}")
        yield from self.joined(pieces, part.members)

    def joined(self, pieces: list[str], members: tuple[JsonMember, ...]) -> Lines:
        """Every piece begins with a comma, which the first one that is there has to lose."""
        if not members:
            yield "return '{}'"
            return
        first = not members[0].optional
        if first:
            pieces = ["{{" + pieces[0].removeprefix(","), *pieces[1:], "}}"]
        yield "return (" if first else "out = ("
        for piece in pieces:
            plain = piece.replace("{{", "").replace("}}", "")
            fixed = piece.replace("{{", "{").replace("}}", "}")
            yield f"    '{fixed}'" if "{" not in plain else f"    f'{piece}'"
        yield ")"
        if not first:
            yield "return f'{{{out[1:]}}}'"

    def variables(self, part: JsonObject) -> dict[str, str]:
        """Return a variable for every member."""
        found: dict[str, str] = {}
        for member in part.members:
            name = _identifier(member.name)
            if keyword.iskeyword(name) or name[0].isdigit() or name in RESERVED:
                name = f"v_{name}"
            while name in found.values():
                name += "_"
            found[member.name] = name
        return found

    def part(self, part: JsonPart, hint: str, variable: str, *, typed: bool = False) -> tuple[list[str], str]:
        """Return the statements that check a part, and the piece of a formatted string that spells it."""
        match part:
            case JsonText() | JsonInteger() | JsonNumber() | JsonBool():
                return list(_scalar(part, variable, written=True, typed=typed)), _piece(part, variable)
            case JsonAnyValue():
                return [], f"{{spell_within({variable})}}"
            case JsonEither(options=options):
                lines: list[str] = []
                for option in options:
                    statements, piece = self.part(option, hint, variable, typed=True)
                    lines += [f"{'elif' if lines else 'if'} {_type(option, variable)}:"]
                    lines += _indent(iter([*statements, f"spelled = f'{piece}'"]))
                return [*lines, "else:", "    raise Doubt"], "{spelled}"
            case _:
                return [], f"{{{self.call(part, hint, variable)}}}"


def _piece(part: JsonPart, variable: str) -> str:
    """Return the piece of a formatted string that spells a scalar."""
    match part:
        case JsonText():
            return f"{{spell_text({variable})}}"
        case JsonNumber():
            return f"{{spell_number({variable})}}"
        case JsonBool():
            return f'{{"true" if {variable} else "false"}}'
        case _:
            return f"{{{variable}}}"


RESERVED = {
    *("value", "size", "out", "pieces", "each", "name", "spelled", "type", "len"),
    *("spell_text", "spell_number", "spell_within"),
}
"""Names that a writer has for something else."""
