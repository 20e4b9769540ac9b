"""Texts of others with escapes: what would move a cursor, ring a bell or turn the direction of writing is spelled."""

import re
from typing import TypeVar

import msgspec

# Controls but for tab and line feed, DEL and the controls of Latin 1, marks of direction, separators that break lines.
_UNSEEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
_IN_TEXT = re.compile(f"[{_UNSEEN}]")
# In JSON, controls are spelled already, and what is spelled begins with a backslash; so does a backslash itself.
_IN_JSON = re.compile(rf"\\\\|\\(u00[01][0-9a-f]|[bfr])|([{_UNSEEN}])")

T = TypeVar("T", bound=msgspec.Struct)


def escaped(text: str) -> str:
    """Return a text with each character spelled (``\\u001b``) that terminals and pages act upon, and do not show."""
    return _IN_TEXT.sub(_spelled, text)


def all_escaped(value: T) -> T:
    """Return a value with all of its texts escaped: the same one where there is nothing to spell."""
    told = msgspec.json.encode(value).decode()
    if all(match[0] == "\\\\" for match in _IN_JSON.finditer(told)):
        return value
    return msgspec.json.decode(_IN_JSON.sub(_doubled, told), type=type(value))


def _spelled(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _doubled(match: re.Match[str]) -> str:
    if match[1]:
        return f"\\\\{match[1]}"
    return f"\\\\u{ord(match[2]):04x}" if match[2] else match[0]
