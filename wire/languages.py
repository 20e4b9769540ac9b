"""Frames that are one text of a language with a grammar of its own, in ABNF: how they are declared, and their engines.

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
from random import Random
from typing import IO, Any, NoReturn

import msgspec

from wire.abnf import Grammar as Abnf
from wire.derivation import Derivation, NoDerivation, derive
from wire.errors import DecodeError, EncodeError, Reason, WireError
from wire.primitives import Context, Grammar, Leaf, Limited, Span, counted, encoded
from wire.runtime import Codec, Refusal


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


class Language(Leaf):
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
        frame = Frame(stream.read())
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

    def words(self, frame: "Frame", where: int, why: Reason, expected: tuple[str, ...]) -> str:
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


class Specimen(msgspec.Struct, frozen=True):
    """A frame worth keeping, by name, and what it is ``about``: a text of the language or not, the reading decides."""

    name: str
    frame: bytes
    about: str = ""


Below = Callable[[int], int]
"""A choice: ``below(n)`` is from 0 to n - 1."""

Mutation = Callable[[bytes, Below], bytes | None]
"""Changes a frame; ``None`` where it has not what would be changed."""


class Samples(msgspec.Struct, frozen=True):
    """What makes frames of a language. A protocol exports these as ``LANGUAGES``, by the names of its layouts.

    ``sample`` makes a value that has a frame, ``mutations`` change a frame, by name; ``parts`` finds where the parts of
    a frame begin and end that could stand alone, as far as it is a text of the language. Who reads a document otherwise
    reads by the grammar ``widest``, in which all that is ``disputed`` about this layout is a rule of its own: what has
    such a rule may be taken or refused.
    """

    sample: Callable[[Random], Any]
    mutations: tuple[tuple[str, Mutation], ...]
    parts: Callable[[bytes], list[tuple[int, int]]]
    specimens: Callable[[], Iterable[Specimen]]
    widest: Abnf
    disputed: frozenset[str]


STAND_IN = "\ufffd"
"""What is read in place of bytes that are no UTF-8, to see whether a character of several bytes could stand there."""


class Frame:
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


def by_hand(grammar: Grammar, layout: str) -> Codec:
    """Return the engine ``python`` of a language, or of one whose frames are limited."""
    language = grammar.content if isinstance(grammar, Limited) else grammar
    assert isinstance(language, Language)
    most = grammar.size if isinstance(grammar, Limited) else None
    read, write = language.by_hand.read, language.by_hand.write

    def refuse(reason: Reason, offset: int, data: bytes, refuse_overlong: bool) -> NoReturn:
        refusal = Refusal(reason, offset)
        refusal.frame = layout, data, refuse_overlong
        raise refusal

    def decode(data: bytes, refuse_overlong: bool = False) -> Any:
        if most is not None and len(data) > most:
            refuse(Reason.TOO_LONG, most, data, refuse_overlong)
        frame = Frame(data)
        offset, whole = len(frame.text), False
        try:
            value = read(frame.text)
        except Unread as unread:
            offset, whole = unread.offset, unread.whole
        else:
            if not frame.spoiled:
                return value
        where, why = frame.fault(offset, whole)
        refuse(why, where, data, refuse_overlong)

    def encode(value: Any) -> bytes:
        data = encoded(write(value), "")
        if most is not None and len(data) > most:
            raise EncodeError(f"(frame): {len(data)} bytes, at most {most} fit")
        return data

    return Codec(decode, encode)
