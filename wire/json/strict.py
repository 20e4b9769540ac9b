"""Strict JSON (RFC 8259): every value with the bytes that it stands in, or the first byte that cannot stand.

Written for certainty: one pass over the bytes, one function per production of the RFC, nothing guessed. Stricter than
the RFC where it leaves freedom: no name twice in an object (however it is spelled), integers of 64 bits with their
sign, numbers that a double can hold, text without U+0000 and without half a surrogate pair, no byte order mark, and
no more than ``DEEPEST`` levels.

Time and memory are linear in the number of bytes: no number is computed before its length is known to be sane.
"""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from wire.errors import DecodeError, Reason

DEEPEST = 64
"""Levels of arrays and objects within each other; no layout has nearly as many."""

LEAST, MOST = -(2**63), 2**63 - 1
"""The integers that there are: those of 64 bits, with a sign."""

MOST_DIGITS = len(str(MOST))

WHITE = re.compile(rb"[ \t\n\r]*")
UNESCAPED = re.compile(rb'[^"\\\x00-\x1f]*')
DIGITS = re.compile(rb"[0-9]*")
HEX = b"0123456789abcdefABCDEF"
ESCAPES = dict(zip(b'"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
WORDS: dict[int, tuple[bytes, bool | None]] = {
    word[0]: (word, value) for word, value in ((b"true", True), (b"false", False), (b"null", None))
}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
LONGEST_NAME = 40

NEEDS_ESCAPE = re.compile(r'["\\\x00-\x1f]')
SHORT = {character: "\\" + chr(byte) for byte, character in ESCAPES.items() if character != "/"}


class ParsedValue(NamedTuple):
    """A value and its bytes ``[start, end)``; an array has nodes as ``value``, an object members by their name."""

    start: int
    end: int
    value: Any


class Member(NamedTuple):
    """A member of an object: where its name begins, and its value."""

    start: int
    node: ParsedValue


See = Callable[[int, int, str, Any], None]
"""What is told of every scalar, empty array and empty object: ``start, end, path, value``."""


def parse(data: bytes, see: See | None = None) -> ParsedValue:
    """Read one whole text of JSON.

    Raises ``DecodeError`` at the first byte, in the order of the text, that breaks a rule:

    ==================  ===============================================================  ==========================
    ``truncated``       the text ends before its value does                              the end
    ``bad-syntax``      a byte that cannot stand there                                   the byte
    ``bad-text``        bytes that are not UTF-8; an escaped NUL or half surrogate pair  the byte; the backslash
    ``out-of-range``    an integer of more than 64 bits, a number beyond any double      where the number begins
    ``duplicate-name``  a name that the object has already                               where it is said again
    ``too-long``        an array or object more than ``DEEPEST`` levels down             where it begins
    ``trailing``        anything but white space behind the value                        its first byte
    ==================  ===============================================================  ==========================
    """
    return _Text(data, see or _unseen).whole()


def _unseen(start: int, end: int, path: str, value: Any) -> None:
    pass


def member_path(path: str, name: str) -> str:
    """Return the path of a member: ``a.b``, and ``a."b c"`` for a name that is no word; long names are cut."""
    step = name if PLAIN_NAME.fullmatch(name) and len(name) <= LONGEST_NAME else quoted(name)
    return f"{path}.{step}" if path else step


def item_path(path: str, index: int) -> str:
    """Return the path of an item of an array: ``a[2]``."""
    return f"{path}[{index}]"


def quoted(text: str) -> str:
    """Spell a text for a person, cut if it is long."""
    return spell(text) if len(text) <= LONGEST_NAME else f"{spell(text[:LONGEST_NAME])}…"


def spell(text: str) -> str:
    """Spell a text as JSON, in the fewest characters: escaped is only what must be."""
    return f'"{NEEDS_ESCAPE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return SHORT.get(character) or f"\\u{ord(character):04x}"


def spell_number(value: int | float) -> str:
    """Spell a finite number; a float has a point or an exponent, and the fewest digits that read back the same."""
    return str(int(value)) if isinstance(value, int) else repr(float(value))


class _Text:
    """One text that is being read; ``at`` is the next byte."""

    def __init__(self, data: bytes, see: See) -> None:
        self.data = data
        self.at = 0
        self.see = see

    def whole(self) -> ParsedValue:
        """Read ``JSON-text = ws value ws``."""
        if self.data.startswith(BYTE_ORDER_MARK):
            self.refuse(Reason.BAD_SYNTAX, 0, "", "a byte order mark; JSON begins without one")
        self.white()
        node = self.value("", 0)
        self.white()
        if self.at < len(self.data):
            over = len(self.data) - self.at
            self.refuse(Reason.TRAILING, self.at, "", f"{over} byte{'s'[: over != 1]} behind the value")
        return node

    def value(self, path: str, depth: int) -> ParsedValue:
        """Read ``value = false / null / true / object / array / number / string``."""
        start = self.at
        byte = self.peek(path, "a value")
        if byte in b"{[":
            if depth == DEEPEST:
                self.refuse(Reason.TOO_LONG, start, path, f"more than {DEEPEST} levels of arrays and objects")
            inner = self.object(path, depth + 1) if byte in b"{" else self.array(path, depth + 1)
            if not inner:
                self.see(start, self.at, path, inner)
            return ParsedValue(start, self.at, inner)
        value: Any
        if byte in b'"':
            value = self.string(path)
        elif byte in b"-0123456789":
            value = self.number(path)
        elif byte in WORDS:
            value = self.word(*WORDS[byte], path)
        else:
            self.unexpected(path, "a value begins here")
        self.see(start, self.at, path, value)
        return ParsedValue(start, self.at, value)

    def object(self, path: str, depth: int) -> dict[str, Member]:
        """Read ``object = "{" [ member *( "," member ) ] "}"``, with white space wherever the RFC has it."""
        members: dict[str, Member] = {}
        self.at += 1
        self.white()
        if self.peek(path, "an object") in b"}":
            self.at += 1
            return members
        while True:
            start = self.at
            if self.peek(path, "an object") not in b'"':
                self.unexpected(path, "the name of a member belongs here")
            name = self.string(path)
            inner = member_path(path, name)
            if name in members:
                self.refuse(Reason.DUPLICATE_NAME, start, inner, f"the name {quoted(name)} is there already")
            self.white()
            if self.peek(inner, "an object") not in b":":
                self.unexpected(inner, "a colon belongs here")
            self.at += 1
            self.white()
            members[name] = Member(start, self.value(inner, depth))
            if self.ends(b"}", path, "an object"):
                return members

    def array(self, path: str, depth: int) -> list[ParsedValue]:
        """Read ``array = "[" [ value *( "," value ) ] "]"``."""
        items: list[ParsedValue] = []
        self.at += 1
        self.white()
        if self.peek(path, "an array") in b"]":
            self.at += 1
            return items
        while True:
            items.append(self.value(item_path(path, len(items)), depth))
            if self.ends(b"]", path, "an array"):
                return items

    def ends(self, bracket: bytes, path: str, what: str) -> bool:
        """Read what follows a member or item: tell whether it is the bracket, and not a comma."""
        self.white()
        byte = self.peek(path, what)
        if byte not in b"," and byte not in bracket:
            self.unexpected(path, f"a comma or {bracket.decode()} belongs here")
        self.at += 1
        if byte in bracket:
            return True
        self.white()
        return False

    def word(self, word: bytes, value: bool | None, path: str) -> bool | None:
        """Read ``true``, ``false`` or ``null``."""
        for expected in word:
            if self.peek(path, word.decode()) != expected:
                self.unexpected(path, f"{word.decode()} is not complete")
            self.at += 1
        return value

    def number(self, path: str) -> int | float:
        """Read ``number = [ "-" ] int [ frac ] [ exp ]``; one without frac and exp is an integer."""
        start = self.at
        if self.data[self.at] in b"-":
            self.at += 1
        first = self.at
        if self.peek(path, "a number") in b"0":
            self.at += 1
            if self.next_is(b"0123456789"):
                self.unexpected(path, "a number has no leading zeros")
        else:
            self.digits(path)
        digits = self.at - first
        exact = True
        if self.next_is(b"."):
            exact = False
            self.at += 1
            self.digits(path)
        if self.next_is(b"eE"):
            exact = False
            self.at += 1
            if self.peek(path, "a number") in b"+-":
                self.at += 1
            self.digits(path)
        if not exact:
            real = float(self.data[start : self.at])
            if math.isinf(real):
                self.refuse(Reason.OUT_OF_RANGE, start, path, "a number beyond any double")
            return real
        # The length first: computing an integer of a million digits takes minutes.
        integer = int(self.data[start : self.at]) if digits <= MOST_DIGITS else MOST + 1
        if not LEAST <= integer <= MOST:
            self.refuse(Reason.OUT_OF_RANGE, start, path, f"an integer of {digits} digits does not fit in 64 bits")
        return integer

    def digits(self, path: str) -> None:
        """Read ``1*DIGIT``."""
        if self.peek(path, "a number") not in b"0123456789":
            self.unexpected(path, "a digit belongs here")
        self.skip(DIGITS)

    def string(self, path: str) -> str:
        """Read ``string = quotation-mark *char quotation-mark``."""
        self.at += 1
        pieces = []
        while True:
            pieces.append(self.unescaped(path))
            byte = self.peek(path, "a string")
            if byte in b'"':
                self.at += 1
                return "".join(pieces)
            if byte not in b"\\":
                self.unexpected(path, "control characters are escaped in a string")
            pieces.append(self.escape(path))

    def unescaped(self, path: str) -> str:
        """Read ``*unescaped``, UTF-8 as RFC 3629 has it."""
        start = self.at
        run = self.skip(UNESCAPED)
        try:
            return run.decode()
        except UnicodeDecodeError as error:
            if error.reason == "unexpected end of data" and self.at == len(self.data):
                self.refuse(Reason.TRUNCATED, self.at, path, "the text ends within a character")
            self.refuse(Reason.BAD_TEXT, start + error.start, path, f"not UTF-8: {error.reason}")

    def escape(self, path: str) -> str:
        """Read what a backslash begins; two ``\\u`` that are halves of a surrogate pair are one character."""
        start = self.at
        self.at += 1
        byte = self.peek(path, "an escape")
        if byte not in b"u":
            if byte not in ESCAPES:
                self.unexpected(path, "no escape")
            self.at += 1
            return ESCAPES[byte]
        code = self.code(path)
        if code == 0:
            self.refuse(Reason.BAD_TEXT, start, path, "NUL has no place in a text")
        if 0xD800 <= code < 0xDC00:
            low = self.low_half(path)
            if low is None:
                self.refuse(Reason.BAD_TEXT, start, path, f"\\u{code:04x} without the other half of the surrogate pair")
            return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        if 0xDC00 <= code < 0xE000:
            self.refuse(Reason.BAD_TEXT, start, path, f"\\u{code:04x} without the other half of the surrogate pair")
        return chr(code)

    def low_half(self, path: str) -> int | None:
        """Read the second half of a surrogate pair; ``None`` if something else stands there."""
        for expected in b"\\u":
            if self.peek(path, "a surrogate pair") != expected:
                return None
            self.at += 1
        self.at -= 1
        code = self.code(path)
        return code if 0xDC00 <= code < 0xE000 else None

    def code(self, path: str) -> int:
        """Read ``u 4HEXDIG``."""
        self.at += 1
        for _ in range(4):
            if self.peek(path, "an escape") not in HEX:
                self.unexpected(path, "four hex digits belong here")
            self.at += 1
        return int(self.data[self.at - 4 : self.at], 16)

    def white(self) -> None:
        """Pass over ``ws``."""
        self.skip(WHITE)

    def skip(self, pattern: re.Pattern[bytes]) -> bytes:
        """Pass over what matches; no pattern here can fail, or backtrack."""
        match = pattern.match(self.data, self.at)
        assert match is not None
        self.at = match.end()
        return match[0]

    def next_is(self, some: bytes) -> bool:
        """Tell whether one of some bytes is next."""
        return self.at < len(self.data) and self.data[self.at] in some

    def peek(self, path: str, what: str) -> int:
        """Return the next byte, which has to be there."""
        if self.at == len(self.data):
            self.refuse(Reason.TRUNCATED, self.at, path, f"the text ends before {what} does")
        return self.data[self.at]

    def unexpected(self, path: str, detail: str) -> NoReturn:
        """Refuse the next byte."""
        byte = self.data[self.at]
        said = repr(chr(byte)) if 0x20 < byte < 0x7F else f"the byte {byte:#04x}"
        self.refuse(Reason.BAD_SYNTAX, self.at, path, f"{said}: {detail}")

    def refuse(self, reason: Reason, offset: int, path: str, detail: str) -> NoReturn:
        raise DecodeError(reason, offset, path or "(frame)", detail)
