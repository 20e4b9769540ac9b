"""A reader of JSON for the proof of coverage: written beside ``wire/json/strict.py``, so that neither copies the other.

It reads what RFC 8259 has, with the same limits (no name twice, 64 bits, no NUL, no half surrogate pair, no byte order
mark, so many levels), and says of a refusal what was wrong in one of the words below: the ``aspect``.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from wire.errors import Reason
from wire.json.strict import DEEPEST, LEAST, MOST

NOTHING, BYTE_ORDER_MARK, TRAILING, TOO_DEEP = "nothing", "byte order mark", "trailing", "too deep"
NO_VALUE, NO_NAME, NO_COLON, NO_COMMA = "no value begins so", "no name begins so", "no colon", "no comma"
NO_WORD, NO_DIGIT, LEADING_ZERO = "no word", "no digit", "leading zero"
CONTROL, NO_ESCAPE, NO_HEX = "raw control character", "no escape", "no hex digit"
NUL, HALF, BAD_TEXT, DUPLICATE = "NUL", "half surrogate pair", "not UTF-8", "duplicate"
BEYOND_BITS, BEYOND_DOUBLE = "beyond 64 bits", "beyond any double"
ENDS = tuple(
    f"ends {place}"
    for place in (
        *("before a value", "in an object", "in an array", "in a word", "in a number"),
        *("in a string", "in an escape", "in a surrogate pair", "in a character"),
    )
)
ENDS_BEFORE, ENDS_OBJECT, ENDS_ARRAY, ENDS_WORD, ENDS_NUMBER, ENDS_STRING, ENDS_ESCAPE, ENDS_PAIR, ENDS_CHARACTER = ENDS

SYNTAX = (
    *(NOTHING, BYTE_ORDER_MARK, NO_VALUE, NO_NAME, NO_COLON, NO_COMMA, NO_WORD, NO_DIGIT, LEADING_ZERO),
    *(CONTROL, NO_ESCAPE, NO_HEX, NUL, HALF, BAD_TEXT, DUPLICATE, BEYOND_BITS, BEYOND_DOUBLE),
    *(TOO_DEEP, TRAILING, *ENDS),
)
"""Everything for which a text is refused before it is held against a layout."""

BEFORE, WITHIN, BEHIND = "white space before", "white space within", "white space behind"

# Ranges as RFC 3629 has them: no overlong forms, no surrogates, nothing above U+10FFFF. So many at once, that a text of
# megabytes takes linear time and no stack. Not all, possessively: Python 3.11.2 counts half a character in then.
WELL_FORMED = re.compile(
    rb"(?:[\x00-\x7f]++|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2}){1,1000}"
)
BEGUN = re.compile(
    rb"(?:[\xc2-\xdf]|\xe0(?:[\xa0-\xbf])?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?"
    rb"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3][\x80-\xbf]{0,2}|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)\Z"
)
"""Characters of UTF-8 (RFC 3629, section 4), and the beginning of one at the end of a frame."""

BLANK = re.compile(rb"[ \t\n\r]*+")
NUMBER = re.compile(rb"-?(?P<whole>0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][+-]?[0-9]+)?")
RUN = re.compile(rb'[^"\\\x00-\x1f]++')
SHORT = re.compile(rb'\\["\\/bfnrt]')
WORDS: Mapping[bytes, tuple[bytes, bool | None]] = {
    b"t": (b"true", True),
    b"f": (b"false", False),
    b"n": (b"null", None),
}
LONGEST = 19
"""Digits of the longest integer of 64 bits."""


class Read(NamedTuple):
    """A value that was read: the bytes ``[start, end)``, and what is inside, as ``Read`` again, by name or in a row.

    ``names`` are where the names of an object begin, and how they are spelled.
    """

    start: int
    end: int
    value: Any
    raw: bytes = b""
    names: Mapping[str, tuple[int, bytes]] = {}

    @property
    def plain(self) -> Any:
        """The value, without what is known of its bytes."""
        if isinstance(self.value, dict):
            return {name: inner.plain for name, inner in self.value.items()}
        return [inner.plain for inner in self.value] if isinstance(self.value, list) else self.value


class NotJson(Exception):
    """A text that is no JSON; ``within`` are the containers around, outermost first, each with the step inwards.

    A step is the name or the index of what was being read, ``None`` for the name of a member.
    """

    def __init__(self, reason: Reason, offset: int, aspect: str, within: list[tuple[Any, Any]], value: Any) -> None:
        super().__init__(reason, offset, aspect)
        self.reason, self.offset, self.aspect = reason, offset, aspect
        self.within, self.value = within, value


def otherwise_encoded(data: bytes) -> bool:
    """Tell whether a frame that is no JSON in UTF-8 is JSON in UTF-16 or UTF-32."""
    if b"\0" not in data[:4]:
        return False
    for encoding in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        try:
            json.loads(data.decode(encoding).removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            continue
        return True
    return False


def described(read: Read) -> dict[str, Any]:
    """Return what conditions of notes can ask of a scalar: the value, and for numbers how it is spelled.

    ``negative`` is a minus sign, ``real`` a fraction or an exponent, ``whole`` whether it has no fraction all the same,
    ``digits`` how many are significant.
    """
    if isinstance(read.value, int | float) and not isinstance(read.value, bool):
        return {"value": read.value, **numeric(read.raw)}
    return {"value": read.value} if isinstance(read.value, str) else {}


def numeric(raw: bytes) -> dict[str, Any]:
    """Return what is to be known of the spelling of a number."""
    match = NUMBER.match(raw)
    assert match is not None
    real = match["fraction"] is not None or match["exponent"] is not None
    digits = (match["whole"] + (match["fraction"] or b"")[1:]).strip(b"0")
    whole = not real or (math.isfinite(float(raw)) and float(raw).is_integer())
    return {"negative": raw.startswith(b"-"), "real": real, "whole": whole, "digits": len(digits)}


def canonical(text: str) -> str:
    """Spell a text in the fewest characters."""
    return json.dumps(text, ensure_ascii=False)


class JsonReader:
    """One text of JSON that is being read; ``blanks`` are the kinds of white space that were met."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.within: list[tuple[Any, Any]] = []
        self.blanks: set[str] = set()

    def whole(self) -> Read:
        """Read a whole text; raises ``NotJson`` at the first byte that cannot stand."""
        if not self.data:
            self.refuse(Reason.TRUNCATED, 0, NOTHING)
        # RFC 8259, section 8.1: nobody may send one. It may be ignored by a reader; here it is refused, and named.
        if self.data.startswith(b"\xef\xbb\xbf"):
            self.refuse(Reason.BAD_SYNTAX, 0, BYTE_ORDER_MARK)
        self.blank(BEFORE)
        read = self.value()
        self.blank(BEHIND)
        if self.at < len(self.data):
            self.refuse(Reason.TRAILING, self.at, TRAILING)
        return read

    def refuse(self, reason: Reason, offset: int, aspect: str, value: Any = None) -> NoReturn:
        raise NotJson(reason, offset, aspect, self.within, value)

    def blank(self, kind: str = WITHIN) -> None:
        start = self.at
        self.at = self.end_of(BLANK)
        if self.at > start:
            self.blanks.add(kind)

    def end_of(self, pattern: re.Pattern[bytes]) -> int:
        match = pattern.match(self.data, self.at)
        return self.at if match is None else match.end()

    def first(self, ends: str) -> bytes:
        """Return the next byte; the text is truncated where there is none."""
        if self.at == len(self.data):
            self.refuse(Reason.TRUNCATED, self.at, ends)
        return self.data[self.at : self.at + 1]

    def value(self) -> Read:
        start, first = self.at, self.first(ENDS_BEFORE)
        if first in (b"{", b"["):
            # Levels are counted before recursing: a frame of brackets must not end in a RecursionError.
            if len(self.within) == DEEPEST:
                self.refuse(Reason.TOO_LONG, start, TOO_DEEP)
            return self.object() if first == b"{" else self.array()
        if first == b'"':
            text = self.string()
            return Read(start, self.at, text, self.data[start : self.at])
        if first in b"-0123456789":
            return self.number()
        if first not in WORDS:
            self.refuse(Reason.BAD_SYNTAX, start, NO_VALUE)
        word, value = WORDS[first]
        for expected in word:
            # Byte by byte, so that a word that is cut is truncated, and one that is wrong is refused where it goes
            # wrong.
            if self.first(ENDS_WORD)[0] != expected:
                self.refuse(Reason.BAD_SYNTAX, self.at, NO_WORD)
            self.at += 1
        return Read(start, self.at, value, word)

    def object(self) -> Read:
        start, members, names = self.at, dict[str, Read](), dict[str, tuple[int, bytes]]()
        self.at += 1
        self.blank()
        if self.first(ENDS_OBJECT) == b"}":
            self.at += 1
            return Read(start, self.at, members, b"{}")
        while True:
            began = self.at
            self.within.append((members, None))
            if self.first(ENDS_OBJECT) != b'"':
                self.refuse(Reason.BAD_SYNTAX, self.at, NO_NAME)
            name = self.string()
            self.within[-1] = members, name
            if name in members:
                self.refuse(Reason.DUPLICATE_NAME, began, DUPLICATE)
            names[name] = began, self.data[began : self.at]
            self.blank()
            if self.first(ENDS_OBJECT) != b":":
                self.refuse(Reason.BAD_SYNTAX, self.at, NO_COLON)
            self.at += 1
            self.blank()
            members[name] = self.value()
            self.within.pop()
            if self.closed(b"}", ENDS_OBJECT):
                return Read(start, self.at, members, names=names)

    def array(self) -> Read:
        start, items = self.at, list[Read]()
        self.at += 1
        self.blank()
        if self.first(ENDS_ARRAY) == b"]":
            self.at += 1
            return Read(start, self.at, items, b"[]")
        while True:
            self.within.append((items, len(items)))
            items.append(self.value())
            self.within.pop()
            if self.closed(b"]", ENDS_ARRAY):
                return Read(start, self.at, items)

    def closed(self, bracket: bytes, ends: str) -> bool:
        """Read a comma or the bracket; tell which."""
        self.blank()
        byte = self.first(ends)
        if byte not in (b",", bracket):
            self.refuse(Reason.BAD_SYNTAX, self.at, NO_COMMA)
        self.at += 1
        if byte == b",":
            self.blank()
        return byte == bracket

    def number(self) -> Read:
        start = self.at
        match = NUMBER.match(self.data, start)
        if match is None:
            self.at += 1  # the minus sign
            self.digit()
        assert match is not None
        self.at = match.end()
        following = self.data[self.at : self.at + 1]
        exact = match["fraction"] is None and match["exponent"] is None
        # The pattern stops behind the zero: 05 would be 0 with something behind it.
        if exact and match["whole"] == b"0" and following.isdigit():
            self.refuse(Reason.BAD_SYNTAX, self.at, LEADING_ZERO)
        if exact and following == b".":
            self.at += 1
            self.digit()
        if match["exponent"] is None and following in (b"e", b"E"):
            self.at += 1
            self.at += self.first(ENDS_NUMBER) in (b"+", b"-")
            self.digit()
        raw = match[0]
        if exact:
            # By its length first: int() of a million digits takes seconds, and Python refuses it beyond some thousands.
            if len(match["whole"]) > LONGEST or not LEAST <= int(raw) <= MOST:
                self.refuse(Reason.OUT_OF_RANGE, start, BEYOND_BITS, raw)
            return Read(start, self.at, int(raw), raw)
        if math.isinf(float(raw)):
            self.refuse(Reason.OUT_OF_RANGE, start, BEYOND_DOUBLE, raw)
        return Read(start, self.at, float(raw), raw)

    def digit(self) -> NoReturn:
        """Refuse what stands where a digit has to."""
        self.first(ENDS_NUMBER)
        self.refuse(Reason.BAD_SYNTAX, self.at, NO_DIGIT)

    def string(self) -> str:
        pieces: list[str] = []
        self.at += 1
        while True:
            first = self.first(ENDS_STRING)
            if first == b'"':
                self.at += 1
                return "".join(pieces)
            if first == b"\\":
                pieces.append(self.escaped())
            elif first < b" ":
                self.refuse(Reason.BAD_SYNTAX, self.at, CONTROL)
            else:
                pieces.append(self.characters())

    def characters(self) -> str:
        start = self.at
        self.at = self.end_of(RUN)
        run = self.data[start : self.at]
        good = 0
        while match := WELL_FORMED.match(run, good):
            good = match.end()
        if good < len(run):
            # The frame ends within a character: more bytes could make it right, so it is truncated and not wrong.
            if self.at == len(self.data) and BEGUN.match(run, good):
                self.refuse(Reason.TRUNCATED, self.at, ENDS_CHARACTER)
            self.refuse(Reason.BAD_TEXT, start + good, BAD_TEXT)
        return run.decode()

    def escaped(self) -> str:
        start = self.at
        if SHORT.match(self.data, start):
            self.at += 2
            return str(json.loads(b'"' + self.data[start : self.at] + b'"'))
        high = self.code(ENDS_ESCAPE)
        if high == 0:
            self.refuse(Reason.BAD_TEXT, start, NUL)
        if 0xDC00 <= high < 0xE000:
            self.refuse(Reason.BAD_TEXT, start, HALF)
        if not 0xD800 <= high < 0xDC00:
            return chr(high)
        for expected in (b"\\", b"u"):
            # What is missing may still come, what is something else never becomes a pair.
            if self.data[self.at : self.at + 1] not in (expected, b""):
                self.refuse(Reason.BAD_TEXT, start, HALF)
            self.first(ENDS_PAIR)
            self.at += 1
        self.at -= 2
        low = self.code(ENDS_PAIR)
        if not 0xDC00 <= low < 0xE000:
            self.refuse(Reason.BAD_TEXT, start, HALF)
        return (high.to_bytes(2, "big") + low.to_bytes(2, "big")).decode("utf-16-be")

    def code(self, ends: str) -> int:
        """Read ``\\u`` and four hex digits."""
        self.at += 1
        if self.first(ends) != b"u":
            self.refuse(Reason.BAD_SYNTAX, self.at, NO_ESCAPE)
        self.at += 1
        for _ in range(4):
            if self.first(ends) not in b"0123456789abcdefABCDEF":
                self.refuse(Reason.BAD_SYNTAX, self.at, NO_HEX)
            self.at += 1
        return int(self.data[self.at - 4 : self.at], 16)
