"""JSON Schemas of types, as files that are shipped: the same bytes from every Python."""

from inspect import cleandoc
from typing import Any

import msgspec


def schema_file(of: Any) -> bytes:
    """Return the JSON Schema of a type of msgspec, as the content of a file; names in order, docstrings as words."""
    described = _dedented(msgspec.json.schema(of))
    return msgspec.json.format(msgspec.json.encode(described, order="sorted"), indent=2) + b"\n"


def _dedented(part: Any) -> Any:
    # Python 3.13 takes the indentation out of docstrings, earlier ones keep it: without this, the file would be stale
    # under one of them.
    if isinstance(part, dict):
        return {
            key: cleandoc(value) if key == "description" and isinstance(value, str) else _dedented(value)
            for key, value in part.items()
        }
    return [_dedented(each) for each in part] if isinstance(part, list) else part
