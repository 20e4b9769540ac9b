"""Relaxed JSON (section "Message Presentation"): the texts that messages are, as values and back.

The document names "a relaxed version of JSON used in javascript" and says no more; what is taken for granted of it
stands in ``docs/rai.md``. A text that is strict JSON means the same in every mode.
"""

import re
from collections.abc import Callable
from enum import Enum
from itertools import chain
from json import JSONDecoder
from json.encoder import encode_basestring
from operator import attrgetter
from typing import NoReturn

from wire.envelope import LARGEST
from wire.errors import DecodeError, EncodeError, Reason
from wire.json.strict import DEEPEST
from wire.kinds.language import TextFrame
from wire.rai.document_notation import rewritten
from wire.rai.json_values import Members, Number, Value, plain_of, value_of
from wire.rai.relaxed_scanner import RELAXED, STRICT, Unreadable, is_word, scan

__all__ = [
    "Dialect",
    "Members",
    "Number",
    "Spelling",
    "Value",
    "canonical",
    "parse",
    "plain_of",
    "spell",
    "value_of",
]


class Dialect(Enum):
    """Which texts are read."""

    STRICT = "strict"
    """RFC 8259, but that an object may have a name twice."""
    RELAXED = "relaxed"
    """What the parser of the protocol's author takes."""
    LENIENT = "lenient"
    """What the document prints as examples, too."""


class Spelling(Enum):
    """How texts are written; each reads back as the same value."""

    STRICT = "strict"
    """Strict JSON without white space."""
    RELAXED = "relaxed"
    """Words without quotes, numbers as they are spelled."""
    PRETTY = "pretty"
    """Strict JSON, a member on each line."""


def parse(text: bytes, mode: Dialect = Dialect.RELAXED) -> Value:
    """Return the value of a text.

    Raises ``DecodeError`` with the byte where the text ceases to be one, and why:

    ==============  ============================================================
    ``truncated``   it ends before its value does
    ``bad-syntax``  a byte that cannot stand there
    ``bad-text``    bytes that are no UTF-8
    ``trailing``    something follows the value
    ``too-long``    more than ``LARGEST`` bytes, or than ``DEEPEST`` levels
    ==============  ============================================================
    """
    if len(text) > LARGEST:
        raise DecodeError(Reason.TOO_LONG, LARGEST, "", f"{len(text)} bytes, at most {LARGEST} fit")
    frame = TextFrame(text)
    if frame.spoiled:
        pass
    elif mode is Dialect.LENIENT:
        return _lenient(frame)
    elif found := _strict(frame.text):
        return found[0]
    try:
        value = scan(frame.text, STRICT if mode is Dialect.STRICT else RELAXED, DEEPEST)
    except Unreadable as refusal:
        _refuse(frame, refusal, refusal.offset)
    if frame.spoiled:
        raise DecodeError(Reason.BAD_TEXT, frame.good, "", "not UTF-8")
    return value


def _refuse(frame: TextFrame, refusal: Unreadable, offset: int) -> NoReturn:
    where, why = frame.fault(offset, refusal.whole)
    detail = "not UTF-8" if why is Reason.BAD_TEXT else refusal.detail
    raise DecodeError(refusal.reason or why, where, refusal.path, detail) from None


def _lenient(frame: TextFrame) -> Value:
    text, origin = rewritten(frame.text)
    try:
        return scan(text, RELAXED, DEEPEST)
    except Unreadable as refusal:
        _refuse(frame, refusal, origin(refusal.offset))


class _Doubt(Exception):
    """What the library's decoder would read, and nobody else."""


def _doubtful(constant: str) -> NoReturn:
    raise _Doubt


_ScanOnce = Callable[[str, int], tuple[Value, int]]

# The scanner of the standard library is compiled, and leaves to us what becomes of objects and numbers.
_LIBRARY: _ScanOnce = JSONDecoder(
    object_pairs_hook=Members, parse_int=Number, parse_float=Number, parse_constant=_doubtful
).scan_once  # type: ignore[attr-defined]

_WHITE = re.compile(r"[ \t\n\r]*")


def _strict(text: str) -> tuple[Value] | None:
    """Return the value of strict JSON, where the library's decoder reads it as ours does."""
    # It joins halves of surrogate pairs, and leaves those that are alone.
    if "\\u" in text:
        return None
    try:
        value, end = _LIBRARY(text, _WHITE.match(text).end())  # type: ignore[union-attr]
    except (ValueError, StopIteration, RecursionError, _Doubt):
        return None
    if text.count("{") + text.count("[") > DEEPEST and not _is_shallow(value):
        return None
    # What follows, and whether it may, is for the own scanner to say.
    return (value,) if _WHITE.fullmatch(text, end) else None


def _is_shallow(value: Value) -> bool:
    """Tell whether a value has no more than ``DEEPEST`` levels."""
    level: list[list[Value] | Members] = [value] if isinstance(value, list | Members) else []
    for _ in range(DEEPEST):
        inner = chain.from_iterable(
            [each for _, each in outer] if isinstance(outer, Members) else outer for outer in level
        )
        level = [each for each in inner if isinstance(each, list | Members)]
    return not level


def canonical(value: Value) -> bytes:
    """Return the bytes that are signed: strict JSON without white space, but that numbers stand as they are spelled.

    Members stand in their order, those twice there too; escaped is only what must be. Raises ``EncodeError``.
    """
    return _encoded(_canonical(value, 0))


def spell(value: Value, mode: Spelling = Spelling.STRICT) -> bytes:
    """Return a text of a value: strict ones have ``7`` for the number ``+07``. Raises ``EncodeError``."""
    return _encoded(_WRITERS[mode](value, 0))


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise EncodeError("half of a surrogate pair has no place in a text") from None


def _in_lines(opening: str, pieces: list[str], closing: str, depth: int) -> str:
    """Put pieces on lines of their own."""
    if not pieces:
        return opening + closing
    margin = "\n" + "  " * depth
    return f"{opening}{margin}  {f',{margin}  '.join(pieces)}{margin}{closing}"


def _writer(
    text: Callable[[str], str], number: Callable[[Number], str], name: Callable[[str], str], colon: str, *, lines: bool
) -> Callable[[Value, int], str]:
    """Make what writes values, from what writes their texts, numbers and names."""

    def write(value: Value, depth: int) -> str:
        if isinstance(value, str):
            return text(value)
        if isinstance(value, Number):
            return number(value)
        if value is None or isinstance(value, bool):
            return _LITERALS[value]
        if not isinstance(value, Members | list):
            raise EncodeError(f"{value!r:.80} is no value of a text")
        if depth == DEEPEST:
            raise EncodeError(f"more than {DEEPEST} levels")
        if isinstance(value, list):
            items = [write(each, depth + 1) for each in value]
            return _in_lines("[", items, "]", depth) if lines else f"[{','.join(items)}]"
        members = [f"{name(each)}{colon}{write(inner, depth + 1)}" for each, inner in value]
        return _in_lines("{", members, "}", depth) if lines else f"{{{','.join(members)}}}"

    return write


_LITERALS = {True: "true", False: "false", None: "null"}


def _bare(text: str) -> str:
    return text if is_word(text) else encode_basestring(text)


_canonical = _writer(encode_basestring, attrgetter("spelling"), encode_basestring, ":", lines=False)

_WRITERS = {
    Spelling.STRICT: _writer(encode_basestring, attrgetter("strictly"), encode_basestring, ":", lines=False),
    Spelling.RELAXED: _writer(_bare, attrgetter("spelling"), _bare, ":", lines=False),
    Spelling.PRETTY: _writer(encode_basestring, attrgetter("strictly"), encode_basestring, ": ", lines=True),
}
