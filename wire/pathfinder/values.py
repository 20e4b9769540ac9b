"""Messages as a server, a client and a tester read and write them: mappings of the document's field names.

::

    {"ta-cmd": "ping", "ta-id": 42, "msg-type": "request"}
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from wire.engines import live
from wire.errors import DecodeError
from wire.json.runtime import read_json
from wire.json.strict import ParsedValue, parse

Message = Mapping[str, Any]
"""One message: its fields by the names that the document gives them."""

SINGLE = ("hello", "unsubscribe", "publish", "unpublish", "ping")
"""The commands that have one response."""

MULTIPLE = ("subscribe", "subscriptions", "services", "clients")
"""The commands that may have several responses."""

COMMANDS = (*SINGLE, *MULTIPLE)

VERSION = 2
"""The version of the protocol that the document describes."""


def layout_name(*, deployed: bool = False) -> str:
    """Return the name of the layout that a profile's messages have."""
    return "pathfinder/deployed-message" if deployed else "pathfinder/message"


def read(frame: bytes, *, deployed: bool = False) -> Message:
    """Read one message; ``DecodeError`` when it has not the fields that the document gives it, and no others."""
    message: Message = _codec(deployed)[0](frame)
    return message


read_accepted: Callable[[bytes], Message] = read_json
"""Read one message that the layout is known to accept (``wire.columnar``): nothing is checked again."""


def write(message: Message, *, deployed: bool = False) -> bytes:
    """Write one message; ``EncodeError`` when it has not the fields that the document gives it, and no others."""
    return _codec(deployed)[1](message)


def read_loosely(frame: bytes) -> dict[str, Any] | None:
    """Read the fields of a message whatever they are; ``None`` when the frame is no JSON object."""
    try:
        value = _value(parse(frame))
    except DecodeError:
        return None
    return value if isinstance(value, dict) else None


@cache
def _codec(deployed: bool) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    name = layout_name(deployed=deployed)
    codec = live(name).codec(name)
    return codec.decode, codec.encode


def _value(node: ParsedValue) -> Any:
    # No deeper than the strict parser goes, so that recursion does no harm.
    if isinstance(node.value, dict):
        return {name: _value(member.node) for name, member in node.value.items()}
    if isinstance(node.value, list):
        return [_value(item) for item in node.value]
    return node.value
