"""rai/publish by hand: what somebody writes with the standard library who checks all that the document says.

Malformed messages, and values that are none, are ``ValueError``.
"""

import json
from math import isfinite
from typing import Any

from vectors.bench.throughput import Baseline

Message = dict[str, Any]

LARGEST = 1 << 20
LEAST, MOST = -(2**63), 2**63 - 1
DEEPEST = 64
ORDER = (
    *("session", "seqno", "digest", "type", "subject", "status", "format", "dictionary", "dict_csum", "text", "data"),
)
REQUIRED = {"session", "seqno", "digest"}
TEXTS = {"session", "digest", "type", "subject", "status", "format", "dictionary", "text"}


def text(value: Any) -> None:
    """Check a string: no NUL, and no half of a surrogate pair."""
    if type(value) is not str or "\0" in value:
        raise ValueError(f"{value!r} is not text")
    if not value.isascii():
        value.encode()


def count(value: Any) -> None:
    """Check an integer that is not negative."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{value!r} is not an integer from 0 to {MOST}")


def anything(value: Any, levels: int) -> None:
    """Check a field: whatever JSON has."""
    kind = type(value)
    if kind is str:
        text(value)
    elif kind is int:
        if not LEAST <= value <= MOST:
            raise ValueError(f"{value} does not fit in 64 bits")
    elif kind is float:
        if not isfinite(value):
            raise ValueError("a number beyond any double")
    elif kind is dict or kind is list:
        if not levels:
            raise ValueError("too many levels")
        for each in value if kind is list else value.values():
            anything(each, levels - 1)
        if kind is dict:
            for name in value:
                text(name)
    elif value is not None and kind is not bool:
        raise ValueError(f"{value!r} is no value of JSON")


def check(value: Any) -> Message:
    """Check a message, and return it."""
    if type(value) is not dict or not value.keys() >= REQUIRED or not value.keys() <= set(ORDER):
        raise ValueError("members that an update does not have, or not all that it needs")
    for name, member in value.items():
        if name in TEXTS:
            text(member)
        elif name == "seqno":
            count(member)
        elif name == "data":
            if type(member) is not dict:
                raise ValueError("data is an object")
            anything(member, DEEPEST - 1)
        elif type(member) is str:
            text(member)
        else:
            count(member)
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


def decode(data: bytes) -> Message:
    """Decode one message."""
    if len(data) > LARGEST:
        raise ValueError("more than the largest message has")
    try:
        return check(READ(data.decode()))
    except RecursionError:
        raise ValueError("too many levels") from None


def encode(value: Any) -> bytes:
    """Encode one message, its members in the order of the document."""
    message = check(value)
    data = WRITE({name: message[name] for name in ORDER if name in message}).encode()
    if len(data) > LARGEST:
        raise ValueError("more than the largest message has")
    return data


BASELINES = {"publish": Baseline("hand", decode, encode)}
