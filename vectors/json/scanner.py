"""Texts of JSON as pieces with offsets, read lightly: as far as brackets, colons and commas stand right.

Numbers, words and texts are not looked at closely; that is what makes a text with something wrong in it readable.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress

# Possessive: a quotation mark that never closes must not be tried again from every byte.
TOKEN = re.compile(rb'[ \t\n\r]*(?:("(?:[^"\\]|\\.)*+")|([-+.0-9A-Za-z_]++)|([{}\[\]:,]))', re.DOTALL)
INTEGER = re.compile(rb"-?[0-9]+")
DEEPEST = 100
"""Levels that are looked at; more than any reader of JSON here accepts."""

TEXT, INTEGRAL, REAL, BOOL, NULL, OBJECT, ARRAY = "text", "integer", "real", "boolean", "null", "object", "array"


class JsonPiece:
    """A value, the bytes ``[start, end)``, and what is inside: items, or values with their ``names``.

    A piece that could not be read to its end ends with the text.
    """

    __slots__ = ("end", "items", "kind", "names", "start")

    def __init__(self, start: int, end: int, kind: str) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.items: list[JsonPiece] = []
        self.names: list[tuple[int, int]] = []

    def members(self, data: bytes) -> Iterator[tuple[str, int, int, "JsonPiece"]]:
        """Give name, where the name begins and ends, and value of the members that were read."""
        for (start, end), item in zip(self.names, self.items, strict=False):
            name = unquoted(data[start:end])
            if name is not None:
                yield name, start, end, item


class _Stopped(Exception):
    """What follows cannot be read."""


def scan(data: bytes) -> JsonPiece | None:
    """Return the first value of a text; ``None`` if none begins."""
    found: list[JsonPiece] = []
    with suppress(_Stopped):
        _Scan(data).value(found, 0)
    return found[0] if found else None


def pieces(piece: JsonPiece) -> Iterator[JsonPiece]:
    """Give a piece and all that is in it, outer ones first."""
    yield piece
    for item in piece.items:
        yield from pieces(item)


def unquoted(token: bytes) -> str | None:
    """Return what a text between quotation marks stands for; ``None`` if it is none."""
    if token[:1] != b'"':
        return None
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return None


class _Scan:
    """A text that is being read; ``at`` is the next byte."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def token(self) -> tuple[int, int, int]:
        """Read a token: its group in the pattern, start and end."""
        match = TOKEN.match(self.data, self.at)
        if match is None or match.lastindex is None:
            raise _Stopped
        self.at = match.end()
        return match.lastindex, match.start(match.lastindex), self.at

    def value(self, into: list[JsonPiece], depth: int) -> None:
        """Read a value; it is kept before what is in it is read."""
        self.begun(into, self.token(), depth)

    def begun(self, into: list[JsonPiece], token: tuple[int, int, int], depth: int) -> None:
        group, start, end = token
        byte = self.data[start : start + 1]
        if group == 3:
            # Bounded, as mutated frames nest a thousand deep, and this is a recursion.
            if byte not in b"{[" or depth == DEEPEST:
                raise _Stopped
            piece = JsonPiece(start, len(self.data), OBJECT if byte == b"{" else ARRAY)
            # Kept before what is in it is read: if that fails, the outer pieces are there, and can be mutated.
            into.append(piece)
            self.inside(piece, byte == b"{", depth + 1)
            piece.end = self.at
            return
        into.append(JsonPiece(start, end, TEXT if group == 1 else _kind(self.data[start:end])))

    def inside(self, piece: JsonPiece, named: bool, depth: int) -> None:
        """Read members or items, and the bracket that ends them."""
        closing = b"}" if named else b"]"
        token = self.token()
        if self.data[token[1] : token[2]] == closing:
            return
        while True:
            if named:
                if token[0] != 1:
                    raise _Stopped
                piece.names.append(token[1:])
                self.expect(b":")
                token = self.token()
            self.begun(piece.items, token, depth)
            if self.expect(b"," + closing) == closing:
                return
            token = self.token()

    def expect(self, some: bytes) -> bytes:
        """Read one of some punctuation marks."""
        _, start, end = self.token()
        mark = self.data[start:end]
        if mark not in (some[:1], some[1:]):
            raise _Stopped
        return mark


def _kind(token: bytes) -> str:
    if token in (b"true", b"false"):
        return BOOL
    if token == b"null":
        return NULL
    return INTEGRAL if INTEGER.fullmatch(token) else REAL
