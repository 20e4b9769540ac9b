"""Loops that decode frames and read every field of each value, as a program does that needs all of them.

The code is made from the tree, and is what a person writes who needs everything: a look at the type, then field after
field by name, flags and the items of lists included.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from wire.kinds import Json, JsonArray, JsonEither, JsonMap, JsonObject, JsonUnion, Part, json_keys
from wire.kinds.coded import one_of
from wire.layout import Layout

Loop = Callable[[Callable[[bytes], Any], Sequence[bytes]], None]
"""Decodes frames and reads what comes of them."""


def reading(layout: Layout, *, attributes: bool = False, common: Mapping[str, int] | None = None) -> Loop:
    """Return a loop that reads every field of the layout's values, by item or by attribute.

    The type of a message is asked for in the order of how ``common`` it is, as its author would who knows the traffic.
    """
    reader = _Reader("{}.{}" if attributes else '{}["{}"]', common or {})
    lines = ["for data in frames:", "    value = decode(data)", *_indented(reader.part(layout.root, "value"))]
    scope: dict[str, Any] = {"Mapping": Mapping}
    # Compiled source, as a loop through closures would measure the closures.
    exec("\n".join(["def loop(decode, frames):", *_indented(lines)]), scope)
    loop: Loop = scope["loop"]
    return loop


def types_in(value: Any) -> Iterator[str]:
    """Give the types of all messages in a value, of dicts and lists."""
    if isinstance(value, Mapping):
        if "type" in value:
            yield value["type"]
        for part in value.values():
            yield from types_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from types_in(part)


class _Reader:
    """The lines that are made for one tree, and the names that they use."""

    def __init__(self, access: str, common: Mapping[str, int]) -> None:
        self.access = access
        self.common = common
        self.names = 0

    def name(self, what: str) -> str:
        """Return a name that nothing has yet."""
        self.names += 1
        return f"{what}_{self.names}"

    def part(self, part: Part, value: str) -> Iterator[str]:
        """Give the lines that read the fields of what a variable holds; none if it has no fields."""
        match part:
            case Json():
                yield from self.part(part.node, value)
            case JsonObject():
                yield from self.object(part, value)
            case JsonUnion():
                yield from self.union(part, value)
            case JsonArray():
                yield from self.each(part.item, value)
            case JsonMap():
                yield from self.each(part.item, f"{value}.values()")
            case JsonEither(options=options):
                yield from self.either(options, value)
            case _:
                yield from part.fields_read(self, value)

    def read(self, value: str, name: str) -> str:
        """Return the expression that reads a field."""
        return self.access.format(value, name)

    def each(self, item: Part, items: str) -> Iterator[str]:
        """Give the lines that read every item of a list."""
        each = self.name("each")
        yield f"for {each} in {items}:"
        yield from _indented([*self.part(item, each)] or ["pass"])

    def messages(self, messages: Iterable[tuple[str, Part]], value: str) -> Iterator[str]:
        """Give the lines that ask which message it is, the most common first."""
        kind = self.name("kind")
        yield f"{kind} = {self.read(value, 'type')}"
        ordered = sorted(messages, key=lambda each: -self.common.get(each[0], 0))
        yield from one_of((f'{kind} == "{name}"', [*self.part(part, value)] or ["pass"]) for name, part in ordered)

    def object(self, part: JsonObject, value: str) -> Iterator[str]:
        """Give the lines that read the members of an object; names of JSON are no attributes."""
        for member in part.members:
            lines = [*self.field(member.node, f"{value}[{member.name!r}]")]
            if member.optional:
                yield f"if {member.name!r} in {value}:"
                yield from _indented(lines)
            else:
                yield from lines

    def union(self, part: JsonUnion, value: str) -> Iterator[str]:
        """Tell the message by the members that decide."""
        kind = self.name("kind")
        yield f"{kind} = {', '.join(f'{value}[{name!r}]' for name in part.by)}"
        cases = []
        for message in part.messages:
            keys = json_keys(message, part.by)
            names = [key[0] if len(key) == 1 else key for key in keys]
            cases.append((f"{kind} in {(*names,)!r}", [*self.part(message, value)] or ["pass"]))
        yield from one_of(cases)

    def either(self, options: Sequence[Part], value: str) -> Iterator[str]:
        """Tell containers by their type; of other values there is nothing more to read."""
        cases = []
        for option in options:
            inside = [*self.part(option, value)]
            if inside:
                container = "list" if isinstance(option, JsonArray) else "Mapping"
                cases.append((f"isinstance({value}, {container})", inside))
        yield from one_of(cases)

    def field(self, part: Part, source: str) -> Iterator[str]:
        """Give the lines that read one field, and what is in it."""
        variable = self.name("v")
        inside = [*self.part(part, variable)]
        if not inside:
            yield source
            return
        yield f"{variable} = {source}"
        yield from inside


def _indented(lines: Sequence[str] | Iterator[str]) -> list[str]:
    return [f"    {line}" for line in lines]
