"""Whole frames that are one text of JSON, and what stands in them.

How they are read and written stands in ``wire/json``, ``wire/emit/json.py`` (Python) and ``wire/emit/native_json.py``
(columns): a text is read whole, and then held against these nodes.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from construct import Renamed

from wire.errors import CannotLayOut
from wire.json import primitives as json
from wire.json.anything import JsonAnything
from wire.kinds.base import Part, Scope, Walk
from wire.kinds.contexts import Node, Slots


class JsonText(Part, frozen=True):
    """A string of JSON, without NUL: one of ``names`` if there are any."""

    names: tuple[str, ...] = ()


class JsonInteger(Part, frozen=True):
    """A number of JSON without fraction and exponent, from ``least`` to ``most``, at most 64 bits with a sign."""

    least: int
    most: int


class JsonNumber(Part, frozen=True):
    """Any number of JSON, of at least ``least`` if that is given; a float if it has a fraction or an exponent."""

    least: int | None


class JsonBool(Part, frozen=True):
    """``true`` or ``false``."""


class JsonAnyValue(Part, frozen=True):
    """Any value of JSON, whatever is in it."""


class JsonEither(Part, frozen=True):
    """One of some values, told apart by their type of JSON."""

    options: "tuple[JsonPart, ...]"

    def inner(self) -> tuple[Part, ...]:
        return self.options


class JsonArray(Part, frozen=True):
    """Any number of items."""

    item: "JsonPart"

    def inner(self) -> tuple[Part, ...]:
        return (self.item,)


class JsonMap(Part, frozen=True):
    """An object whose members have any names, and values that are all alike."""

    item: "JsonPart"

    def inner(self) -> tuple[Part, ...]:
        return (self.item,)


class JsonMember(Node, frozen=True):
    """A member of an object."""

    name: str
    node: "JsonPart"
    optional: bool


class JsonObject(Part, frozen=True):
    """An object of exactly these members; ``name`` is the message's if it stands in a union, else ""."""

    name: str
    members: tuple[JsonMember, ...]

    def member(self, name: str) -> JsonMember:
        """Return a member by its name."""
        return next(member for member in self.members if member.name == name)

    def inner(self) -> tuple[Part, ...]:
        return tuple(member.node for member in self.members)


class JsonUnion(Part, frozen=True):
    """One of several objects, told apart by the texts that the members ``by`` have."""

    by: tuple[str, ...]
    messages: "tuple[JsonObject | JsonUnion, ...]"

    def table(self) -> "tuple[tuple[tuple[str, ...], JsonObject | JsonUnion], ...]":
        """Return what the members ``by`` can have together, and the message that then stands there."""
        return tuple((key, message) for message in self.messages for key in json_keys(message, self.by))

    def inner(self) -> tuple[Part, ...]:
        return self.messages

    def names(self) -> Iterator[str]:
        """Give the names of the messages, and of those of the unions among them."""
        for message in self.messages:
            if isinstance(message, JsonObject):
                yield message.name
            else:
                yield from message.names()


JsonPart = (
    JsonText
    | JsonInteger
    | JsonNumber
    | JsonBool
    | JsonAnyValue
    | JsonEither
    | JsonArray
    | JsonMap
    | JsonObject
    | JsonUnion
)


def json_keys(message: JsonObject | JsonUnion, by: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the texts that the members ``by`` of a message can have."""
    if isinstance(message, JsonUnion):
        return list(dict.fromkeys(key for inner in message.messages for key in json_keys(inner, by)))
    parts = [message.member(name).node for name in by]
    return list(product(*(part.names for part in parts if isinstance(part, JsonText))))


class Json(Part, frozen=True):
    """A whole frame that is one text of JSON, in UTF-8."""

    node: JsonPart

    constructs = (json.JsonConstruct,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls(_Reading(walk).part(grammar, path))

    def inner(self) -> tuple[Part, ...]:
        return (self.node,)

    def slots(self, slots: Slots, path: str) -> None:
        if isinstance(self.node, JsonUnion):
            slots.choice(path, self.node.names())


class _Reading:
    """The constructs of a text of JSON, as nodes."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def part(self, grammar: json.JsonConstruct, path: str, name: str = "") -> JsonPart:
        """Return the node of what stands in a text of JSON; ``name`` is the message's."""
        node = self.make(grammar, path, name)
        self.walk.shared(node)
        return node

    def make(self, grammar: json.JsonConstruct, path: str, name: str) -> JsonPart:
        match grammar:
            case json.JsonEnum(names=names):
                return JsonText(names)
            case json.JsonString():
                return JsonText()
            case json.JsonInt(least=least, most=most):
                return JsonInteger(least, most)
            case json.JsonNumeric(least=at_least):
                return JsonNumber(at_least)
            case json.JsonBoolean():
                return JsonBool()
            case JsonAnything():
                return JsonAnyValue()
            case json.JsonAnyOf(options=options):
                return JsonEither(tuple(self.part(option, path) for option in options))
            case json.JsonArrayOf(item=item):
                return JsonArray(self.part(item, f"{path}[]"))
            case json.JsonMapOf(item=item):
                return JsonMap(self.part(item, f"{path}{{}}"))
            case json.JsonObjectOf():
                return JsonObject(name, tuple(self.members(grammar, path)))
            case json.JsonOneOf():
                return JsonUnion(grammar.by, tuple(self.messages(grammar, path)))
        raise CannotLayOut(
            f"{path}: {type(grammar).__name__} has no place in a text of JSON; use the constructs of "
            "wire/json/primitives.py, and JsonOptional for members of a JsonObjectOf only"
        )

    def members(self, grammar: json.JsonObjectOf, path: str) -> Iterator[JsonMember]:
        for name, member in grammar.members.items():
            optional = isinstance(member, json.JsonOptional)
            content = member.content if isinstance(member, json.JsonOptional) else member
            yield JsonMember(name, self.part(content, f"{path}.{name}"), optional)

    def messages(self, grammar: json.JsonOneOf, path: str) -> Iterator[JsonObject | JsonUnion]:
        for message in grammar.messages:
            named = isinstance(message, Renamed)
            name = str(message.name) if named else ""
            part = self.part(message.subcon if named else message, f"{path}.{name}" if named else path, name)
            assert isinstance(part, JsonObject | JsonUnion)  # JsonUnion takes no other
            yield part
