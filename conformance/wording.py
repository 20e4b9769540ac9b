"""Values in words: what a case compared, as a person reads it. No value of Python's is shown as Python spells it."""

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from types import FunctionType
from typing import Any

MOST = 8
"""Members of a collection that are named; the others are counted. A name itself is never cut."""

UNTOLD = ""
"""What is said of a value that has no words: a driver, a function."""


def worded(value: Any) -> str:
    """Return a value in words; ``UNTOLD`` for one that says nothing to a person."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case Enum():
            return worded(value.value) if isinstance(value.value, str) else value.name.lower().replace("_", " ")
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int() | float():
            return str(value)
        case bytes() | bytearray():
            return value.hex(" ") or "no bytes"
        case Mapping():
            return _listed([f"{_name(key)}: {worded(each)}" for key, each in value.items()])
        case set() | frozenset():
            return _listed(sorted(map(worded, value)))
        case list() | tuple():
            return _listed([worded(each) for each in value])
        case _:
            return str(value) if _has_words(value) else UNTOLD


def _has_words(value: Any) -> bool:
    """Tell whether somebody has written down how a value is told; what Python makes up is not for people."""
    kind = type(value)
    written = isinstance(kind.__str__, FunctionType) or isinstance(kind.__repr__, FunctionType)
    return written and not hasattr(kind, "__dataclass_fields__")


def _name(key: Any) -> str:
    return key if isinstance(key, str) else worded(key)


def _listed(texts: Iterable[str]) -> str:
    found = [text for text in texts if text != UNTOLD]
    if not found:
        return "none"
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    return ", ".join(found[:MOST]) + more
