"""Messages that the Pathfinder layout does not have, derived from the layout; and some at the limits of what it has."""

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.pathfinder.tester.driver import encode_message
from wire.catalogue import layout
from wire.kinds import (
    JsonArray,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonNumber,
    JsonObject,
    JsonPart,
    JsonText,
    JsonUnion,
)
from wire.kinds.base import walk

ONE_OF_EACH_TYPE = {
    "null": b"null",
    "boolean": b"true",
    "integer": b"7",
    "real": b"7.5",
    "text": b'"(a=b)"',
    "array": b"[]",
    "object": b"{}",
}
INTEGERS = {
    "0": 0,
    "-0": 0,
    "-1": -1,
    "9223372036854775807": 2**63 - 1,
    "9223372036854775808": 2**63,
    "-9223372036854775808": -(2**63),
    "-9223372036854775809": -(2**63) - 1,
    "18446744073709551616": 2**64,
    "9" * 100_000: 10**100_000,
    "-" + "9" * 100_000: -(10**100_000),
    "1.0": None,
    "1e3": None,
    "1e400": None,
    "-1e400": None,
    "01": None,
    "+1": None,
    "0x10": None,
    "NaN": None,
    "Infinity": None,
}
"""Spellings, and the integers that they are; ``None`` for those that are none."""


class Offence(msgspec.Struct, frozen=True):
    """One request: in a word, its bytes, and whether the document has it all the same."""

    what: str
    frame: bytes
    is_request: bool = False


def requests() -> dict[str, JsonObject]:
    """Return the requests that the layout has, by command."""
    unions = [part for part in walk(layout("pathfinder/message").root) if isinstance(part, JsonUnion)]
    union = max(unions, key=lambda each: len(each.messages))  # the others are alternatives within one message
    table = [(key, message) for key, message in union.table() if key[1] == "request"]
    return {key[0]: message for key, message in table if isinstance(message, JsonObject)}


def members(request: JsonObject) -> dict[str, bytes]:
    """Return the members of a request that the document has, encoded, all optional ones included."""
    return {member.name: _spelled(_value(member.node)) for member in request.members}


def wrong_types(request: JsonObject) -> Iterator[Offence]:
    """Put every type of JSON that does not belong there in the place of each member, and within each."""
    for member in request.members:
        for what, value in _wrong(member.node):
            yield Offence(f"{member.name} is {what}", _object(members(request) | {member.name: value}))


def missing(request: JsonObject) -> Iterator[Offence]:
    """Leave out each member; some are optional."""
    for member in request.members:
        rest = {name: value for name, value in members(request).items() if name != member.name}
        yield Offence(f"no {member.name}", _object(rest), is_request=member.optional)


def doubled(request: JsonObject) -> Iterator[Offence]:
    """Say each member twice: right behind itself, at the end, and spelled in another way."""
    frame = _object(members(request))
    for member in request.members:
        value = members(request)[member.name]
        once = _spelled(member.name) + b":" + value
        yield Offence(f"{member.name} twice", frame.replace(once, once + b"," + once, 1))
        yield Offence(f"{member.name} again at the end", frame[:-1] + b"," + once + b"}")
        escaped = b'"' + b"".join(b"\\u%04x" % ord(letter) for letter in member.name) + b'":' + value
        yield Offence(f"{member.name} again, escaped", frame[:-1] + b"," + escaped + b"}")


def awaiting_hello(request: JsonObject) -> Iterator[Offence]:
    """Add members that the request has not: one of another message, one of none, one without a name."""
    frame = _object(members(request))
    for name in ("fail-reason", "x" * 10_000, "", "TA-ID"):
        yield Offence(f"a stranger {name:.20}", frame[:-1] + b"," + _spelled(name) + b":1}")


def integers(request: JsonObject) -> Iterator[Offence]:
    """Put integers at the limits and beyond in the place of each, those within others included."""
    for member in request.members:
        for around, node in _integers(member.node, b"%s"):
            for text, number in INTEGERS.items():
                fits = number is not None and node.least <= number <= node.most
                value = around.replace(b"%s", text.encode())
                what = f"{member.name} is {text[:25]}, of {len(text)} characters"
                yield Offence(what, _object(members(request) | {member.name: value}), is_request=fits)


def _integers(node: JsonPart, around: bytes) -> Iterator[tuple[bytes, JsonInteger]]:
    match node:
        case JsonInteger():
            yield around, node
        case JsonArray():
            yield from _integers(node.item, around.replace(b"%s", b'["x",%s]'))
        case JsonMap():
            yield from _integers(node.item, around.replace(b"%s", b'{"a":%s}'))
        case JsonEither():
            for option in node.options:
                yield from _integers(option, around)


def _wrong(node: JsonPart) -> Iterator[tuple[str, bytes]]:
    taken = _types(node)
    for what, value in ONE_OF_EACH_TYPE.items():
        if what not in taken:
            yield what, value
    if isinstance(node, JsonText) and node.names:
        for text in ("", "(a=b)", node.names[0].upper(), node.names[0] + " ", "x" * 10_000):
            yield f"another text, {text:.20}", _spelled(text)
    if isinstance(node, JsonArray):
        for what, value in _wrong(node.item):
            yield f"an array with {what}", b"[" + value + b"]"
    if isinstance(node, JsonMap):
        for what, value in _wrong(node.item):
            yield f"an object with {what}", b'{"a":' + value + b"}"


def _types(node: JsonPart) -> set[str]:
    match node:
        case JsonText():
            return {"text"}
        case JsonInteger():
            return {"integer"}
        case JsonNumber():
            return {"integer", "real"}
        case JsonArray():
            return {"array"}
        case JsonMap():
            return {"object"}
        case JsonEither():
            return {kind for option in node.options for kind in _types(option)}
        case _:
            raise TypeError(f"the layout has a {type(node).__name__}, and no offence is known against it")


def _value(node: JsonPart) -> Any:
    match node:
        case JsonText():
            return node.names[0] if node.names else "(a=b)"
        case JsonInteger():
            return 2
        case JsonMap():
            return {"a": _value(node.item)}
        case JsonArray():
            return [_value(node.item)]
        case JsonEither():
            return _value(node.options[0])
        case _:
            raise TypeError(f"the layout has a {type(node).__name__}, and no offence is known against it")


def _object(spelled_members: dict[str, bytes]) -> bytes:
    return b"{" + b",".join(_spelled(name) + b":" + value for name, value in spelled_members.items()) + b"}"


def _spelled(value: Any) -> bytes:
    # As a message would have it, whose own braces are taken off.
    return encode_message({"": value})[4:-1]
