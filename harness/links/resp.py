"""RESP, the protocol of Redis: commands as bytes, and values out of bytes, of either version (2 and 3).

https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from wire import envelope

CRLF = b"\r\n"

LARGEST_TEXT = envelope.LARGEST + envelope.LONGEST
"""Bytes of the longest text: a payload, and more than any name."""

MOST_ITEMS = 1 << 16
"""Items of the longest array."""

DEEPEST = 8
"""Arrays within arrays; what a broker says of itself has two."""

# Lines are short: a number, or what the server says in words.
LONGEST_LINE = 1 << 16

_SIZE = re.compile(rb"-?[0-9]{1,18}")


class ErrorReply(str):
    """An error that a server answers with."""

    __slots__ = ()


class StatusReply(str):
    """A word that a server answers with, as ``OK``."""

    __slots__ = ()


class Pushed(list[Any]):
    """What a server says unasked (version 3)."""


Value = Any
"""A text is bytes, a null None, an array a list, a set one too, and a map a dict; other types are Python's own."""


class _Open(msgspec.Struct):
    """An array that is not whole yet."""

    kind: bytes
    left: int
    items: list[Value]


_ARRAYS: Final = {b"*": 1, b"~": 1, b">": 1, b"%": 2, b"|": 2}
_TEXTS: Final = frozenset({b"$", b"=", b"!"})


class RespReader:
    """Takes values out of the bytes of one side; ``inline`` ones too, which are the commands that people type."""

    def __init__(self, *, inline: bool = False) -> None:
        self.fault = ""
        """What no value can begin with, or what is too long: nothing behind it is read."""
        self.is_excess = False
        """Whether that is what is too long."""
        self._inline = inline
        self._held = bytearray()
        self._seen = 0  # searched for the end of a line up to here
        self._text: tuple[bytes, int] | None = None  # of which kind and size one is to come
        self._open: list[_Open] = []
        self._size = 0  # of what has come of a value

    @property
    def rest(self) -> bytes:
        """What came behind the last line or text, of values that are not whole."""
        return bytes(self._held)

    @property
    def is_between(self) -> bool:
        """Whether no value has begun that is not whole."""
        return not self._held and not self._open and self._text is None

    def feed(self, data: bytes) -> list[Value]:
        """Take bytes and return the values that they complete, up to a ``fault``."""
        if self.fault:
            return []
        self._held += data
        found: list[Value] = []
        start = 0
        while (end := self._next(start, found)) is not None:
            start = end
        del self._held[:start]
        self._seen = max(self._seen - start, 0)
        return found

    def _next(self, start: int, found: list[Value]) -> int | None:
        """Take the next line or text, and return where it ends; None when it has not come."""
        if self._text is not None:
            return self._take_text(start, *self._text, found)
        end = self._held.find(CRLF, max(start, self._seen))
        if end < 0:
            if len(self._held) - start > LONGEST_LINE:
                self._fail(f"a line is longer than {LONGEST_LINE} bytes, which are the most", is_excess=True)
            self._seen = max(len(self._held) - 1, 0)  # its last byte may be half of the end
            return None
        line = bytes(self._held[start:end])
        self._line(line, found)
        # What is wrong is left, for who wants to show it.
        return None if self.fault else end + len(CRLF)

    def _take_text(self, start: int, kind: bytes, size: int, found: list[Value]) -> int | None:
        end = start + size
        if len(self._held) < end + len(CRLF):
            return None
        if self._held[end : end + len(CRLF)] != CRLF:
            self._fail("a text does not end where it says")
            return None
        self._text = None
        text = bytes(self._held[start:end])
        if kind == b"=":
            text = text[4:]  # behind its format, of three letters
        self._put(ErrorReply(text.decode(errors="replace")) if kind == b"!" else text, found)
        return None if self.fault else end + len(CRLF)

    def _line(self, line: bytes, found: list[Value]) -> None:
        kind, rest = line[:1], line[1:]
        if kind in _ARRAYS or kind in _TEXTS:
            self._announced(kind, rest, found)
            return
        try:
            value = _plain(kind, rest)
        except ValueError:
            if self._inline and not self._open and line and kind.isalpha():
                self._put(line.split(), found)
            else:
                self._fail(f"{line[:80]!r} is no value")
            return
        self._put(value, found)

    def _announced(self, kind: bytes, rest: bytes, found: list[Value]) -> None:
        if not _SIZE.fullmatch(rest):
            self._fail(f"{(kind + rest)[:80]!r} is no size")
            return
        size = int(rest)
        if size < 0:
            if size != -1:
                self._fail(f"{size} is no size")
            else:
                self._put(None, found)  # version 2 has no other null
        elif kind in _TEXTS:
            if size > LARGEST_TEXT:
                self._fail(f"{size} bytes are announced: {LARGEST_TEXT} are the most", is_excess=True)
            else:
                self._text = kind, size
        elif size > MOST_ITEMS or len(self._open) >= DEEPEST:
            self._fail(f"an array of {size} in {len(self._open)} others is too much", is_excess=True)
        elif not size:
            self._put(_closed(kind, []), found)
        else:
            self._open.append(_Open(kind, size * _ARRAYS[kind], []))

    def _put(self, value: Value, found: list[Value]) -> None:
        """Put a value where it belongs; arrays that it completes too."""
        while self._open:
            around = self._open[-1]
            around.items.append(value)
            self._size += len(value) if isinstance(value, bytes) else 1
            if self._size > 4 * LARGEST_TEXT:
                self._fail("a value is too long", is_excess=True)
                return
            around.left -= 1
            if around.left:
                return
            self._open.pop()
            # Attributes stand before a value, and are no part of it.
            if around.kind == b"|":
                return
            value = _closed(around.kind, around.items)
        self._size = 0
        found.append(value)

    def _fail(self, why: str, *, is_excess: bool = False) -> None:
        self.fault, self.is_excess = why, is_excess


def _plain(kind: bytes, rest: bytes) -> Value:
    """Return the value that is a line; ValueError when it is none."""
    match kind:
        case b"+":
            return StatusReply(rest.decode(errors="replace"))
        case b"-":
            return ErrorReply(rest.decode(errors="replace"))
        case b":" | b"(":
            if len(rest) > _LONGEST_NUMBER:
                raise ValueError("a long number")
            return int(rest)
        case b",":
            return float(rest)
        case b"#" if rest in (b"t", b"f"):
            return rest == b"t"
        case b"_" if not rest:
            return None
    raise ValueError("no value")


_LONGEST_NUMBER = 64


def _closed(kind: bytes, items: list[Value]) -> Value:
    match kind:
        case b">":
            return Pushed(items)
        case b"%":
            # Keys are texts as a rule; whatever else they are can be shown.
            keys = (each if isinstance(each, bytes) else str(each).encode() for each in items[::2])
            return dict(zip(keys, items[1::2], strict=True))
    return items


def spell(command: Sequence[bytes]) -> bytes:
    """Return a command as clients send it: an array of texts."""
    return _spelt(b"*", command)


def spell_pushed(texts: Sequence[bytes]) -> bytes:
    """Return what a server pushes (version 3)."""
    return _spelt(b">", texts)


def _spelt(kind: bytes, texts: Sequence[bytes]) -> bytes:
    spelt = b"".join(b"$%d\r\n%b\r\n" % (len(each), each) for each in texts)
    return b"%b%d\r\n%b" % (kind, len(texts), spelt)
