"""Values of JSON at which codecs err, and the ways in which RFC 8259 lets a value be spelled.

The first way is always the canonical one. All others give the same value, to the bit.
"""

import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from wire.json.strict import LEAST, MOST, SHORT, spell, spell_number

TEXTS = (
    *("", "a", "0", " ", "null", "name", '"', "\\", "/", '\\"', "\\\\", "\\u0000", "\\n", "(name=goldwire)", "{}[],:"),
    *("\x01", "\b\f\n\r\t", "\x1f", "\x7f", "\x80", "\u00e9", "e\u0301", "\u017f", "\u2028\u2029", "\u20ac"),
    *("\ud7ff\ue000", "\ufeff", "\ufffd\ufffe\uffff", "\U00010000", "\U0001f600", "\U0010ffff", "a\U0001f600\u00e9\n"),
    *("hex", "times", "type", "__proto__", "constructor", "tcp:127.0.0.1:44854", "%s%n", "\u202etxt", "NaN", "-1"),
    *("a" * 31, "b" * 40, "\u00e9" * 41, "9" * 20, "x\\" * 16),
)
"""Texts, and names of members; the names of ``vectors/README.md`` and of languages' own objects are among them."""

ALPHABET = tuple('ab"\\/{}[]:,0-.eu \t\n\r\b\f\x01\x1f\x7f\x80\u00e9\u20ac\u2028\ud7ff\ue000\uffff\U00010000\U0001f600')
"""Letters of texts: what has a meaning in it, what has to be escaped, and letters of one to four bytes."""

LENGTHS = (63, 64, 127, 128, 255, 256, 257, 1023, 1024, 4096)
GREAT_LENGTHS = (16384, 65535, 65536)
"""Bytes of texts that are long, and of those that have to be rare."""


@cache
def integers(least: int = LEAST, most: int = MOST) -> tuple[int, ...]:
    """Return integers of a range at which codecs err, ascending: both ends, and around powers of two and of ten."""
    # Where types of other languages end (8, 16, 32, 53, 64 bits), and where a digit is added.
    powers = [*(1 << bits for bits in (7, 8, 15, 16, 31, 32, 53, 62, 63)), *(10**digits for digits in range(1, 19))]
    near = {sign * (power + step) for power in powers for step in (-1, 0, 1) for sign in (1, -1)}
    near |= {-1, 0, 1, 2, least, least + 1, most - 1, most}
    return tuple(sorted(number for number in near if least <= number <= most))


@cache
def beyond(least: int, most: int) -> tuple[int, ...]:
    """Return integers outside a range: just beyond both ends, beyond 64 bits, and of very many digits."""
    far = {least - 1, most + 1, LEAST - 1, MOST + 1, 1 << 64, -(1 << 64), (1 << 64) - 1, 10**19, -(10**19), 10**400}
    return tuple(sorted(number for number in far if not least <= number <= most))


_SIZES = (
    *(0.0, 0.1, 0.5, 1.0, 1.5, 1 / 3, 0.1 + 0.2, 255.0, 1e-4, 1e-5, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 1e300),
    *(5e-324, 2.225073858507201e-308, 2.2250738585072014e-308, 1.7976931348623157e308, 1700000000.25, 4294967296.0),
    *(float(1 << 53), float((1 << 53) + 2), float(1 << 63), float(1 << 64), 9.5367431640625e-07, 123456789012345.67),
)


@cache
def reals(least: int | None = None) -> tuple[float, ...]:
    """Return real numbers at which codecs err: those that look like integers, the smallest, the largest, minus zero."""
    return tuple(real for size in _SIZES for real in (size, -size) if least is None or real >= least)


class Style(NamedTuple):
    """Where a container has white space: inside its brackets, around colons and commas."""

    opened: bytes = b""
    before: bytes = b""
    colon: bytes = b""
    comma: bytes = b""
    closed: bytes = b""


STYLES = (
    Style(),
    Style(colon=b" ", comma=b" "),
    Style(b"\n  ", b"", b" ", b"\n  ", b"\n"),
    Style(b" ", b" ", b" ", b" ", b" "),
    Style(b"\t", b"\r", b"\n", b"\r\n\t", b" \r"),
)
"""The first has none, as the canonical form."""

AROUND = (b"", b" ", b"\n", b"\r\n\t ", b" " * 70)
"""White space before or behind a whole text."""

Letters = Callable[[str], str]


def _units(character: str) -> str:
    data = character.encode("utf-16-be")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def _long(character: str) -> str:
    """Escape by number what has to be escaped."""
    return _units(character) if character in SHORT or character < " " else character


LETTERS: tuple[Letters, ...] = (
    spell,
    json.dumps,
    lambda text: spell(text).replace("/", "\\/"),
    lambda text: f'"{"".join(map(_units, text))}"',
    lambda text: f'"{"".join(_units(each).upper().replace("U", "u") for each in text)}"',
    lambda text: f'"{"".join(map(_long, text))}"',
    lambda text: f'"{"".join(_units(each) if index % 3 == 0 else _long(each) for index, each in enumerate(text))}"',
)
"""How a text can be spelled: with the fewest escapes; in ASCII; in escapes only, with small and large digits; …"""


def numerals(number: int | float) -> Sequence[str]:
    """Return how a number can be spelled, so that it stays an integer, or a real number."""
    usual = spell_number(number)
    if isinstance(number, int):
        return (usual, "-0") if number == 0 else (usual,)
    exact = f"{Decimal(number):f}"
    # 17 digits give every double back exactly (IEEE 754, table of decimal digits); more of them must not harm.
    spelled = [usual, usual.replace("e", "E"), f"{number:.17e}", f"{number:.25E}"]
    spelled.append(exact if "." in exact else f"{exact}.0")
    if "e" not in usual:
        # Four hundred zeros: readers that collect digits in a buffer of fixed size err here.
        spelled += [f"{usual}0", f"{usual}{'0' * 400}", f"{usual}e0", f"{usual}E+00", f"{usual}e-0"]
    if usual.endswith(".0"):
        spelled.append(f"{usual.removesuffix('.0')}e+0")
    if number == 0:
        sign = "-" if math.copysign(1, number) < 0 else ""
        # A huge exponent of zero is zero; readers that compute it by multiplying never come back.
        spelled += [f"{sign}0e{'9' * 30}", f"{sign}0.00E-99", f"{sign}1e-400"]
    return tuple(dict.fromkeys(spelled))
