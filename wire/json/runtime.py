"""What generated codecs of JSON call.

They read with msgspec, which is fast and lets pass what the reference does not: a name twice, NUL, integers of any
size. So they check, and where they are not certain that the reference engine accepts a text, and with which value, they
ask it. Its answer is then theirs, value or refusal.
"""

from json.encoder import encode_basestring
from math import isfinite
from typing import Any

import msgspec

from wire import reference
from wire.json.strict import DEEPEST, LEAST, MOST

ENOUGH = DEEPEST // 2
"""Levels of arrays and objects within any value that are judged here: with those around it there are fewer than
``DEEPEST``, as no layout declares half as many."""


class Doubt(ValueError):
    """A text or a value that the reference engine is to decide."""


DOUBTS = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What reading, writing and checking raise where the reference is to decide: refusals of msgspec are among them."""

read_json = msgspec.json.Decoder().decode
"""Read any text of JSON, less strictly than the reference."""

spell_text = encode_basestring
"""Spell a text as JSON, in the fewest characters."""


def strings_in(data: bytes) -> int:
    """Return how many strings, names included, a text has that msgspec accepts; ``Doubt`` where NUL is escaped in one.

    If a value has fewer, the text has a name twice.
    """
    if b"\\" not in data:
        return data.count(b'"') >> 1
    # A run of backslashes begins with one that escapes: without the pairs, every other one escapes what follows it.
    data = data.replace(b"\\\\", b"")
    if b"\\u0000" in data:
        raise Doubt
    return (data.count(b'"') - data.count(b'\\"')) >> 1


def spell_number(value: Any) -> str:
    """Spell an integer of 64 bits or a finite float."""
    if type(value) is int and LEAST <= value <= MOST:
        return str(value)
    if type(value) is float and isfinite(value):
        return repr(value)
    raise Doubt


def strings_within(value: Any, levels: int = ENOUGH) -> int:
    """Return how many strings, names included, any value has; ``Doubt`` where the reference is to decide on it."""
    kind = type(value)
    if kind is str:
        return 1
    if kind is dict or kind is list:
        if not levels:
            raise Doubt
        inner = value.values() if kind is dict else value
        strings = len(value) if kind is dict else 0
        for each in inner:
            # Written out for what there is most of.
            strings += 1 if type(each) is str else strings_within(each, levels - 1)
        return strings
    if kind is int and not LEAST <= value <= MOST:
        raise Doubt
    return 0


def spell_within(value: Any, levels: int = ENOUGH) -> str:
    """Spell any value; ``Doubt`` where the reference is to decide on it."""
    kind = type(value)
    if kind is str:
        if "\0" in value:
            raise Doubt
        return spell_text(value)
    if kind is int or kind is float:
        return spell_number(value)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if not levels:
        raise Doubt
    if kind is list:
        return f"[{','.join([spell_within(each, levels - 1) for each in value])}]"
    if kind is not dict:
        raise Doubt
    pieces = []
    for name, each in value.items():
        if type(name) is not str or "\0" in name:
            raise Doubt
        pieces.append(f"{spell_text(name)}:{spell_within(each, levels - 1)}")
    return f"{{{','.join(pieces)}}}"


def decide(layout: str, data: bytes) -> Any:
    """Decode a frame with the reference engine."""
    return reference.decode(layout, data)


def spell_undecided(layout: str, value: Any) -> bytes:
    """Encode a value with the reference engine."""
    return reference.encode(layout, value)
