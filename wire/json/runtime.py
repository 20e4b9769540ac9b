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
from wire.json.strict import LEAST, MOST


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


def decide(layout: str, data: bytes) -> Any:
    """Decode a frame with the reference engine."""
    return reference.decode(layout, data)


def spell_undecided(layout: str, value: Any) -> bytes:
    """Encode a value with the reference engine."""
    return reference.encode(layout, value)
