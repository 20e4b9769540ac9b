"""Texts that languages of protocols trip over: made by the language's own rules, and then broken.

A language here is what is common to key expressions, subjects and paths: segments between separators, wildcards that
may stand in some places, characters that are reserved. What has a grammar of its own (filters, relaxed JSON) is made
and broken by its layout (``vectors.mutation``).
"""

from collections.abc import Callable, Sequence
from random import Random

import msgspec

LOOKALIKES = (
    "\u0430",
    "\u2217",
    "\uff0a",
    "\u2044",
    "\uff0f",
    "\u3002",
    "\u00a0",
    "\u200b",
    "\u202e",
    "e\u0301",
    "\u00e9",
)
"""A Cyrillic a, other asterisks, slashes and stops, spaces that are none, one letter in two spellings."""

ODD = (
    "\0",
    "\x01",
    "\x7f",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\ufeff",
    "\ufffd",
    "\uffff",
    "\U0001f980",
    "%s",
    "%n",
    "\\",
    '"',
    "'",
)

NO_TEXT = (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80")
"""What is no UTF-8: overlong, surrogates, beyond Unicode, cut off."""

SIZES = (
    15,
    16,
    31,
    32,
    63,
    64,
    127,
    128,
    129,
    254,
    255,
    256,
    257,
    511,
    512,
    1023,
    1024,
    4095,
    4096,
    16384,
    40000,
    65000,
)
"""Bytes around which buffers end."""

MODEST_SIZES = tuple(each for each in SIZES if each <= 1024)
"""Those that may stand in each of many messages."""

MANY = (2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 100, 127, 129, 200, 255, 257, 500, 1000)
"""How often something is repeated that is meant to come once or twice."""

NUMEROUS = tuple(each for each in MANY if each <= 129)
"""How many of a kind are said in a row."""

UNUSUAL = 0.05
"""What share of the texts of a language are such as few think of."""


class TextLanguage(msgspec.Struct, frozen=True):
    """A language of segments: what separates them, what stands for others, what may not stand in them."""

    separator: str
    wildcards: tuple[str, ...]
    reserved: tuple[str, ...]
    names: tuple[str, ...] = ("a", "b", "c", "ab", "1", "x")
    foreign: tuple[str, ...] = ()
    """Names that the language allows as well, and that few who write a program for it think of."""
    longest: int = 5000
    """Bytes of the longest text of it that is made on purpose."""

    def text(self, random: Random) -> str:
        """Return a text of the language: short, of few names, so that many of them have to do with each other.

        Once in a while it is one that few think of.
        """
        if random.random() < UNUSUAL:
            return self.unusual(random)
        count = random.choice((1, 1, 2, 2, 2, 3, 3, 4))
        segments = [self.names[min(int(random.expovariate(0.7)), len(self.names) - 1)] for _ in range(count)]
        if random.random() < 0.4 and self.wildcards:
            segments[random.randrange(count)] = random.choice(self.wildcards)
        return self.separator.join(segments)

    def unusual(self, random: Random) -> str:
        """Return a text of the language of very many segments, of a very long one, or of names from elsewhere."""
        name = random.choice(self.names)
        kind = random.randrange(4 if self.foreign else 3)
        if kind == 0:
            # In turn: two wildcards side by side are one in some languages, and so no text of them.
            turn = (name, random.choice(self.wildcards or self.names))
            segments = [turn[each % 2] for each in range(2 * random.choice(MANY))]
            # What all but matches is looked through to the end.
            segments += random.sample(self.names, random.randrange(2))
        elif kind == 1:
            segments = [name] * random.choice(MANY)
        elif kind == 2:
            segments = [name, name[:1] * random.choice(SIZES)]
        else:
            segments = [name, random.choice(self.foreign)][random.randrange(2) :]
        text = self.separator.join(segments)
        return text if len(text.encode()) <= self.longest else self.text(random)

    def broken(self, random: Random) -> bytes:
        """Return a text that is broken in one to three ways, as UTF-8 or nearly so."""
        data = self.text(random).encode()
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            data = random.choice(WAYS)(self, data, random)
        return data


def _place(data: bytes, random: Random) -> int:
    return random.choice((0, len(data), random.randrange(len(data) + 1)))


def _insert(data: bytes, what: bytes, random: Random) -> bytes:
    at = _place(data, random)
    return data[:at] + what + data[at:]


def _marks(language: TextLanguage) -> Sequence[str]:
    return (*language.reserved, *language.wildcards, language.separator)


def _reserved(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return _insert(data, "".join(random.choices(_marks(language), k=random.choice((1, 2, 2, 3)))).encode(), random)


def _reserved_alone(language: TextLanguage, data: bytes, random: Random) -> bytes:
    separator = language.separator.encode()
    segments = data.split(separator)
    segments.insert(random.randrange(len(segments) + 1), random.choice(_marks(language)).encode())
    return separator.join(segments)


def _wildcard(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return _insert(data, random.choice(language.wildcards or (language.separator,)).encode(), random)


def _empty_segment(language: TextLanguage, data: bytes, random: Random) -> bytes:
    separator = language.separator.encode()
    return _insert(data, separator * random.choice((1, 2, 3)), random)


def _nothing(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return b""


def _enormous_segment(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return _insert(data, random.choice(language.names).encode()[:1] * random.choice(SIZES), random)


def _many_segments(language: TextLanguage, data: bytes, random: Random) -> bytes:
    some = language.wildcards if random.random() < 0.5 else language.names
    segment = (
        language.separator.join(random.choices(some or language.names, k=random.choice((1, 1, 2)))) + language.separator
    )
    return _insert(data, segment.encode() * random.choice(MANY), random)


def _doubled(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return language.separator.encode().join([data] * random.choice((2, 2, 3, 4)))


def _lookalike(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return _insert(data, random.choice(LOOKALIKES).encode(), random)


def _odd(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return _insert(data, random.choice(ODD).encode(), random)


def _no_text(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return _insert(data, random.choice(NO_TEXT), random)


def _number(language: TextLanguage, data: bytes, random: Random) -> bytes:
    width = random.choice((8, 16, 31, 32, 53, 63, 64))
    return _insert(data, str((1 << width) + random.choice((-1, 0, 1))).encode(), random)


def _cut(language: TextLanguage, data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


WAYS: Sequence[Callable[[TextLanguage, bytes, Random], bytes]] = (
    *(_reserved, _reserved, _reserved_alone, _wildcard, _wildcard, _empty_segment, _empty_segment),
    *(_many_segments, _many_segments, _enormous_segment, _nothing, _doubled, _lookalike, _odd, _no_text, _number, _cut),
)
"""How a text is broken; what languages trip over most stands twice."""
