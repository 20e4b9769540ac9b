"""pathfinder/message by hand: what somebody writes with the standard library who checks all that the document says.

Malformed messages, and values that are none, are ``ValueError``.
"""

import json
from collections.abc import Callable
from math import isfinite
from typing import Any

from vectors.bench.throughput import Baseline

Message = dict[str, Any]
Check = Callable[[Any], None]
Fields = dict[str, Check]

LARGEST = 262144
MOST = 2**63 - 1


def identifier(value: Any) -> None:
    """Check an integer that is not negative."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{value!r} is not an integer from 0 to {MOST}")


def text(value: Any) -> None:
    """Check a string: no NUL, and no half of a surrogate pair."""
    if type(value) is not str or "\0" in value:
        raise ValueError(f"{value!r} is not text")
    value.encode()


def number(value: Any) -> None:
    """Check a number that is not negative."""
    if type(value) is int:
        identifier(value)
    elif type(value) is not float or not isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is not a number")


def props(value: Any) -> None:
    """Check properties: names with lists of strings and integers."""
    if type(value) is not dict:
        raise ValueError("properties are a table")
    for name, items in value.items():
        text(name)
        if type(items) is not list:
            raise ValueError(f"{name!r} has no list")
        for item in items:
            if type(item) is int:
                if not -MOST - 1 <= item <= MOST:
                    raise ValueError(f"{item} does not fit in 64 bits")
            else:
                text(item)


SERVICE: Fields = {"generation": identifier, "service-props": props, "ttl": identifier, "client-id": identifier}
ORPHAN: Fields = {"orphan-since": number}
FILTER: Fields = {"filter": text}
NONE: Fields = {}
SUBSCRIPTION: Fields = {"subscription-id": identifier}
OWNED: Fields = {"service-id": identifier}
HELLO: Fields = {
    "client-id": identifier,
    "protocol-minimum-version": identifier,
    "protocol-maximum-version": identifier,
}

MESSAGES: dict[tuple[str, str], tuple[Fields, Fields]] = {
    ("hello", "request"): (HELLO, NONE),
    ("hello", "complete"): ({"protocol-version": identifier}, NONE),
    ("subscribe", "request"): (SUBSCRIPTION, FILTER),
    ("unsubscribe", "request"): (SUBSCRIPTION, NONE),
    ("subscriptions", "notify"): ({**SUBSCRIPTION, "client-id": identifier}, FILTER),
    ("services", "request"): (NONE, FILTER),
    ("services", "notify"): ({**OWNED, **SERVICE}, ORPHAN),
    ("publish", "request"): (
        {"service-id": identifier, "generation": identifier, "service-props": props, "ttl": identifier},
        NONE,
    ),
    ("unpublish", "request"): (OWNED, NONE),
    ("clients", "notify"): ({"client-id": identifier, "client-addr": text, "time": identifier}, NONE),
    **{(command, "request"): (NONE, NONE) for command in ("subscriptions", "clients", "ping")},
    **{(command, "accept"): (NONE, NONE) for command in ("subscribe", "subscriptions", "services", "clients")},
}
"""The fields that messages have beside the three mandatory ones: those that have to be there, those that may."""

for _command in (
    "hello",
    "subscribe",
    "unsubscribe",
    "subscriptions",
    "services",
    "publish",
    "unpublish",
    "clients",
    "ping",
):
    MESSAGES[_command, "fail"] = NONE, {"fail-reason": text}
    MESSAGES.setdefault((_command, "complete"), (NONE, NONE))

CHANGED = {
    "appeared": ({**OWNED, **SERVICE}, ORPHAN),
    "modified": ({**OWNED, **SERVICE}, ORPHAN),
    "disappeared": (OWNED, NONE),
}


def fields(value: Any) -> tuple[tuple[str, ...], Fields, Fields]:
    """Return the names of the fields that decide, and what others have to, or may, be there."""
    if type(value) is not dict:
        raise ValueError("a message is a table")
    command, kind, match = value.get("ta-cmd"), value.get("msg-type"), value.get("match-type")
    if (command, kind) == ("subscribe", "notify") and type(match) is str and match in CHANGED:
        return ("ta-cmd", "msg-type", "match-type"), *CHANGED[match]
    if type(command) is not str or type(kind) is not str or (command, kind) not in MESSAGES:
        raise ValueError(f"no message is called {command!r}, {kind!r}")
    return ("ta-cmd", "msg-type"), *MESSAGES[command, kind]


def check(value: Any) -> Message:
    """Check a message, and return it."""
    deciding, required, optional = fields(value)
    identifier(value.get("ta-id"))
    count = len(deciding) + 1
    for name, fits in required.items():
        fits(value.get(name))
        count += 1
    for name, fits in optional.items():
        if name in value:
            fits(value[name])
            count += 1
    if len(value) != count:
        raise ValueError("fields that the message does not have")
    checked: Message = value
    return checked


def table(pairs: list[tuple[str, Any]]) -> Message:
    """Make a table of members, if no name is there twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name twice")
    return made


def no_number(name: str) -> Any:
    """Refuse ``NaN`` and ``Infinity``."""
    raise ValueError(f"{name} is no JSON")


READ = json.JSONDecoder(object_pairs_hook=table, parse_constant=no_number).decode
WRITE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

ORDER = [
    *(
        "ta-cmd",
        "ta-id",
        "msg-type",
        "match-type",
        "service-id",
        "subscription-id",
        "generation",
        "service-props",
        "ttl",
    ),
    *("client-id", "orphan-since", "filter", "client-addr", "time", "fail-reason"),
    *("protocol-minimum-version", "protocol-maximum-version", "protocol-version"),
]
"""All fields, so that those of every message stand in the order of the document."""


def decode(data: bytes) -> Message:
    """Decode one message."""
    if len(data) > LARGEST:
        raise ValueError("more than the largest message has")
    try:
        return check(READ(data.decode()))
    except RecursionError:
        raise ValueError("too many levels") from None


def encode(value: Any) -> bytes:
    """Encode one message, its fields in the order of the document."""
    message = check(value)
    data = WRITE({name: message[name] for name in ORDER if name in message}).encode()
    if len(data) > LARGEST:
        raise ValueError("more than the largest message has")
    return data


BASELINES = {"message": Baseline("hand", decode, encode)}
