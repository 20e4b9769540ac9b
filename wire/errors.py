"""Why a frame is refused, as a type: a reason class, an offset and a field path.

::

    WireError
    ├── DecodeError      bytes that a layout refuses; Refusal of an optimized engine, whose words come when asked for
    ├── EncodeError      a value that a layout cannot express; EncodeRefusal likewise
    ├── UnknownLayout    a layout name that nobody declares
    ├── CannotLayOut     a construct that no engine can be made from
    ├── MissingEngine    an engine that does not run here
    ├── TooManyFields    a frame with more fields than a dump shows
    ├── NoKeys           keys that no signature of a protocol is checked with
    ├── CannotDerive     a grammar in ABNF that texts cannot be read by
    ├── Unread           a text that a reader by hand finds to be of no language
    ├── NoDerivation     a text that a grammar in ABNF has not
    ├── NoCryptography   signatures without the library for them
    ├── NoDigests        digests without it
    ├── UnsupportedPattern  a pattern of PCRE that is not matched here
    ├── NoUcastUrl       a text that names no place to send to
    └── FilterError      a text that is no filter of Pathfinder
"""

from enum import Enum
from typing import Any, Self


class Reason(Enum):
    """The classes of refusal; every engine gives the same class for the same frame."""

    TRUNCATED = "truncated"
    OUT_OF_RANGE = "out-of-range"
    OVERLONG = "overlong"
    UNKNOWN_ID = "unknown-id"
    BAD_TEXT = "bad-text"
    RESERVED = "reserved"
    BAD_VALUE = "bad-value"
    TRAILING = "trailing"
    TOO_LONG = "too-long"
    # Of texts of JSON, and of languages with a grammar of their own:
    BAD_SYNTAX = "bad-syntax"
    # Of texts of JSON only:
    DUPLICATE_NAME = "duplicate-name"
    WRONG_TYPE = "wrong-type"
    MISSING_FIELD = "missing-field"
    UNKNOWN_FIELD = "unknown-field"


class WireError(Exception):
    """Base of everything that the wire room raises."""


class DecodeError(WireError):
    """Bytes that a layout refuses: ``reason`` class, ``offset`` in bytes, field ``path``, ``detail``.

    ``before`` has the messages that were understood up to there: a list per level, innermost first.
    """

    def __init__(self, reason: Reason, offset: int, path: str, detail: str) -> None:
        super().__init__(f"{reason.value} at byte {offset} ({path}): {detail}")
        self.reason = reason
        self.offset = offset
        self.path = path
        self.detail = detail
        self.before: list[list[Any]] = []

    def without_traceback(self) -> Self:
        """Return itself, to be kept as a value: a traceback holds every frame below it, with all that these hold."""
        self.__traceback__ = self.__cause__ = self.__context__ = None
        return self


class EncodeError(WireError):
    """A value that a layout cannot express; the message names the field and the value."""


class UnknownLayout(WireError):
    """A layout name that nobody declares; the message lists the known ones."""


class CannotLayOut(WireError):
    """A construct that no engine can be made from; the message names it, its place, and what to use instead."""
