"""Frames that are one text of a language with a grammar of its own, in ABNF: how they are declared.

A text is refused at the end of its longest beginning that some text of the language has, which is one place whatever
reads it. The reason is

* ``truncated``: that beginning is the whole frame;
* ``trailing``: it is a text of the language by itself, and more follows;
* ``bad-text``: what follows is no UTF-8;
* ``bad-syntax``: any other character follows.

A last character that is cut short is as good as missing, so ``truncated``, where U+FFFD could stand.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import IO, Any

import msgspec

from wire.abnf import Grammar as Abnf
from wire.constructs import Context, Leaf, Span, counted, encoded
from wire.derivation import Derivation, NoDerivation, derive
from wire.errors import DecodeError, Reason, WireError
from wire.kinds.base import Part, Scope, Walk
from wire.kinds.contexts import Lines, LuaCode


class Unread(WireError):
    """A text that is not of a language, as a reader by hand says it: ``offset`` in characters.

    ``whole`` tells whether what stands before is a text of the language by itself.
    """

    def __init__(self, offset: int, whole: bool) -> None:
        super().__init__(f"no text of the language, at character {offset}")
        self.offset = offset
        self.whole = whole


class ByHand(msgspec.Struct, frozen=True):
    """A language's engine ``python``: ``read`` a text or raise ``Unread``, ``write`` one or raise ``EncodeError``."""

    read: Callable[[str], Any]
    write: Callable[[Any], str]


Meant = Iterable[tuple[int, int, str, Any]]
"""The parts of a value for a dump: where each begins and ends, in characters, its path, and itself."""


class InLanguage(Leaf):
    """A whole frame that is one text of a language.

    ``value_of`` makes a value of a text and its derivation, ``parts_of`` what a dump shows of both; ``write`` the text
    of a value, or raises ``EncodeError``; ``by_hand`` does the same without the grammar.
    """

    def __init__(
        self,
        language: str,
        grammar: Abnf,
        *,
        value_of: Callable[[str, Derivation], Any],
        parts_of: Callable[[str, Derivation], Meant],
        write: Callable[[Any], str],
        by_hand: ByHand,
    ) -> None:
        super().__init__()
        self.language = language
        self.grammar = grammar
        self.value_of = value_of
        self.parts_of = parts_of
        self.write = write
        self.by_hand = by_hand

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        frame = TextFrame(stream.read())
        try:
            derivation = derive(self.grammar, frame.text)
        except NoDerivation as refusal:
            where, why = frame.fault(refusal.offset, refusal.whole)
            raise DecodeError(why, where, "(frame)", self.words(frame, where, why, refusal.expected)) from None
        if frame.spoiled:
            where, why = frame.fault(len(frame.text), False)
            raise DecodeError(why, where, "(frame)", self.words(frame, where, why, ()))
        spans: list[Span] | None = context._params.get("spans")
        if spans is not None:
            at = byte_offsets(frame.text)
            for start, end, part, value in self.parts_of(frame.text, derivation):
                spans.append(Span(at[start], at[end], part, value, self))
        return self.value_of(frame.text, derivation)

    def words(self, frame: "TextFrame", where: int, why: Reason, expected: tuple[str, ...]) -> str:
        """Say what is wrong with a frame."""
        if why is Reason.TRAILING:
            return f"{counted(len(frame.data) - where)} over behind the {self.language}"
        if why is Reason.BAD_TEXT:
            return "not UTF-8"
        if frame.spoiled and why is Reason.TRUNCATED:
            return "the text ends within a character"
        there = "the text ends" if why is Reason.TRUNCATED else shown(frame.data, where)
        return f"{there}: the {self.language} goes on with {' or '.join(expected)}"

    def spell(self, value: Any, path: str) -> bytes:
        return encoded(self.write(value), path)


STAND_IN = "\ufffd"
"""What is read in place of bytes that are no UTF-8, to see whether a character of several bytes could stand there."""


class TextFrame:
    """The bytes of a frame, and the ``text`` that is read: up to bytes that are no UTF-8, and a character for them.

    ``spoiled`` tells whether there are any.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.good, self.spoiled, self.cut = len(data), False, False
        try:
            self.text = data.decode()
        except UnicodeDecodeError as error:
            self.good, self.spoiled, self.cut = error.start, True, error.reason == "unexpected end of data"
            self.text = data[: self.good].decode() + STAND_IN

    def fault(self, offset: int, whole: bool) -> tuple[int, Reason]:
        """Return the byte and the reason of a refusal, whose offset is in characters of the text."""
        before = len(self.text) - self.spoiled
        if offset < before:
            return len(self.text[:offset].encode()), Reason.TRAILING if whole else Reason.BAD_SYNTAX
        if self.spoiled and not (self.cut and offset > before):
            return self.good, Reason.BAD_TEXT
        return len(self.data), Reason.TRUNCATED


def byte_offsets(text: str) -> Sequence[int]:
    """Return where each character of a text begins as UTF-8, and its end."""
    if text.isascii():
        return range(len(text) + 1)
    return list(accumulate((len(character.encode()) for character in text), initial=0))


def shown(data: bytes, at: int) -> str:
    """Write the character that stands at a byte."""
    character = data[at : at + 4].decode(errors="ignore")[:1]
    return repr(character) if character.isprintable() else f"U+{ord(character):04X}"


class Language(Part, frozen=True):
    """A whole frame that is one text, in UTF-8, of a language: what it is called, and its ``grammar``."""

    language: str
    grammar: Abnf

    constructs = (InLanguage,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls(grammar.language, grammar.grammar)

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:language({code.declare(name, 'string')})"  # shown as it is, and not judged
