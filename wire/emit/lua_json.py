"""Lua from layouts of JSON: what messages declare, for the strict reader in ``dissector_json.lua``.

A filter is called after the members down to the value, without the message: ``pathfinder.ta-id``. What stands in a
list or in an object of any names, and what may have several types, ends with its type: ``service-props.text``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from wire.json.strict import LEAST, MOST
from wire.kinds import (
    JsonAnyValue,
    JsonArray,
    JsonBool,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonNumber,
    JsonObject,
    JsonPart,
    JsonText,
    JsonUnion,
)
from wire.kinds.contexts import lua_text

Declare = Callable[[str, str, Callable[[str, str], str]], str]
"""What declares a field: its place, its type, and what makes the line of both; returns the key."""


class Places:
    """The places of a protocol's layouts; ``lines`` declare the messages, which they choose from."""

    def __init__(self, declare: Declare) -> None:
        self._declare = declare
        self._messages: dict[str, list[str]] = {}

    def lines(self) -> Iterator[str]:
        """Give the lines that declare the messages."""
        if self._messages:
            yield from ("", "local messages = {}")
        for name, (first, *more) in self._messages.items():
            yield from ("", f"messages[{lua_text(name)}] = {first}", *more)

    def frame(self, part: JsonPart, name: str) -> str:
        """Return what declares a whole frame: a message, or what is called by the ``name`` of the layout."""
        return self._object(part, "", name) if isinstance(part, JsonObject) else self.place(part, name)

    def place(self, part: JsonPart, path: str, *, inside: bool = False) -> str:
        """Return what declares a part whose filter is ``path``; ``inside``: several types may share it."""

        def key(kind: str, ending: str) -> str:
            return self._field(f"{path}.{ending}" if inside else path, kind, path.rpartition(".")[2])

        match part:
            case JsonText(names=known):
                return f"text({key('string', 'text')}{f', {listed(known)}' if known else ''})"
            case JsonInteger(least=least, most=most):
                return f'integer({key("int64", "integer")}, "{least}", "{most}")'
            case JsonNumber(least=bound):
                whole = self.place(JsonInteger(LEAST if bound is None else bound, MOST), path, inside=True)
                real = self._field(f"{path}.real", "double", path.rpartition(".")[2])
                return f"either({whole}, real({real}{'' if bound is None else f', {bound}'}))"
            case JsonBool():
                return f"boolean({key('bool', 'boolean')})"
            case JsonAnyValue():
                kinds = ("string", "int64", "double", "bool", *["none"] * 3)
                endings = ("text", "integer", "real", "boolean", "null", "values", "members")
                title = path.rpartition(".")[2]
                keys = [self._field(f"{path}.{end}", kind, title) for end, kind in zip(endings, kinds, strict=True)]
                return f"anything({', '.join(keys)}, {self._field(f'{path}.name', 'string', 'name')})"
            case JsonEither(options=options):
                return f"either({', '.join(self.place(option, path, inside=True) for option in options)})"
            case JsonArray(item=item):
                return f"array({key('none', 'values')}, {self.place(item, path, inside=True)})"
            case JsonMap(item=item):
                name = self._field(f"{path}.name", "string", "name")
                return f"map({key('none', 'members')}, {name}, {self.place(item, path, inside=True)})"
            case JsonObject():
                return self._object(part, path, path)
            case JsonUnion(by=by):  # the filters of its messages' members are not called after it
                return f"one_of({listed(by)}, {self._choices(dict(part.table()))})"

    def _field(self, place: str, kind: str, title: str) -> str:
        return lua_text(self._declare(place, kind, plain_field(title)))

    def _object(self, part: JsonObject, path: str, name: str) -> str:
        title, shown = lua_text(part.name or name.rpartition(".")[2]), ", true" if part.name else ""
        key = self._declare(
            word(part.name or name), "none", lambda key, kind: f"branch({lua_text(key)}, {title}{shown})"
        )
        lines = [f"object({lua_text(key)}, {{"]
        for member in part.members:
            inner = self.place(member.node, f"{path}.{word(member.name)}" if path else word(member.name))
            place = f"optional({inner})" if member.optional else inner
            lines.append(f"    {{ {lua_text(member.name)}, {place} }},")
        lines.append("})")
        if not part.name:
            return "\n".join(lines)
        called, number = part.name, 1
        while self._messages.setdefault(called, lines) != lines:
            number += 1
            called = f"{part.name}#{number}"
        return f"messages[{lua_text(called)}]"

    def _choices(self, table: Mapping[tuple[str, ...], JsonObject | JsonUnion]) -> str:
        """Return what is chosen by the first text, then within it by the others."""
        branches = []
        for text in dict.fromkeys(key[0] for key in table):
            left = {key[1:]: message for key, message in table.items() if key[0] == text}
            chosen = self.place(left[()], "") if () in left else self._choices(left)
            branches.append(f"[{lua_text(text)}] = {chosen}")
        return f"{{ {', '.join(branches)} }}"


def plain_field(title: str) -> Callable[[str, str], str]:
    """Return what makes the declaration of a field of its key and its type."""
    return lambda key, kind: f'field({lua_text(key)}, {lua_text(title)}, "{kind}")'


def listed(texts: Iterable[str]) -> str:
    """Return a list of texts as Lua."""
    return f"{{ {', '.join(map(lua_text, texts))} }}"


def word(name: str) -> str:
    """Return the name of a member as it can stand in a filter."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
