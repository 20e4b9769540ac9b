"""Toy's messages as frozen values, from bytes and to them.

The grammar gives tables with every flag. A value has what the protocol's words are about, and flags follow from it: a
case that wants to lie about a flag sends bytes.
"""

from typing import Any

import msgspec

from wire.engines import live

LAYOUT = "toy/message"


class Save(msgspec.Struct, frozen=True):
    """SAVE: store a value under a key."""

    ticket: int
    key: str
    value: bytes


class Load(msgspec.Struct, frozen=True):
    """LOAD: ask for what is stored under a key."""

    ticket: int
    key: str


class Value(msgspec.Struct, frozen=True):
    """VALUE: the answer; ``value`` is ``None`` where F is clear."""

    ticket: int
    value: bytes | None = None


Message = Save | Load | Value


def read(frame: bytes) -> Message:
    """Return the message in a frame; ``DecodeError`` says what is wrong with it."""
    wire: dict[str, Any] = live(LAYOUT).decode(LAYOUT, frame)
    match wire["type"]:
        case "SAVE":
            return Save(wire["ticket"], wire["key"], wire["value"])
        case "LOAD":
            return Load(wire["ticket"], wire["key"])
        case _:
            return Value(wire["ticket"], wire["value"])


def write(message: Message) -> bytes:
    """Return the frame of a message; ``EncodeError`` when a field does not fit."""
    wire: dict[str, Any] = {"header": {}, "ticket": message.ticket}
    match message:
        case Save():
            wire |= {"type": "SAVE", "key": message.key, "value": message.value}
        case Load():
            wire |= {"type": "LOAD", "key": message.key}
        case Value():
            wire |= {"type": "VALUE", "header": {"F": int(message.value is not None)}, "value": message.value}
    return live(LAYOUT).encode(LAYOUT, wire)
