"""What generators of frames and kinds of node say to each other: draws, leads, and how to choose.

A kind tells how a value of it is drawn together with its bytes, so that neither needs an engine. It asks ``Choices``
what to take: those at random (``vectors/random_choices.py``) and those that Hypothesis makes
(``vectors/strategies.py``) differ only in what is likely, and whether it shrinks.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from wire.errors import WireError

T = TypeVar("T")

Source = Any
"""What a choice is made with: the same object all through one frame."""

Numbers = dict[str, int]
"""The numbers of the fields that stand earlier in a record; named bits are the integer that they are in."""

Pair = tuple[Any, bytes]
"""A value and its bytes."""

Leaf = Callable[[Source], Pair]
Draw = Callable[[Source, Numbers], Pair]

ABSENT: Pair = (None, b"")

PATIENCE = 64
"""Attempts at parts of which most combinations do not fit, before somebody is told."""

Lead = Any
"""Where the expressions of some fields lead, hashable: which cases are taken, what is absent, how long it gets;
``REFUSED`` if to a reserved place, ``AVOIDED`` if to what no generator makes on purpose.
"""

REFUSED = "refused"
AVOIDED = "avoided"

MAX_SIZED = 4096
"""Bytes of the longest field whose size another field gives; longer ones are avoided, to keep frames small."""

ANY_BYTE = (1 << 256) - 1
"""All bytes, as bits of a number."""


class Unsatisfiable(WireError):
    """A layout of which no frame can be made, or none was found; the message names the part."""


class NoGenerator(WireError):
    """A layout with a part that the generators do not know; the message names its kind."""


class Choices(Protocol):
    """How to choose; each of these is called once, when a tree is compiled. What comes first is simplest.

    ``overlong`` frames may be spelled with more bytes than they need: longer numbers, white space and escapes in JSON.
    """

    overlong: bool

    def pick(self, options: Sequence[T]) -> Callable[[Source], T]:
        """Choose one of some options."""

    def lead(self, groups: Sequence[Sequence[T]]) -> Callable[[Source], T]:
        """Choose one of some options that come in groups, each group about as often as the others."""

    def more(self, least: int, most: int) -> Callable[[Source, int], bool]:
        """Choose whether a list of so many items goes on."""

    def number(self, bits: int, spelling: Callable[[int], bytes]) -> Leaf:
        """Choose a number below ``2**bits``."""

    def count(self) -> Callable[[Source, int], bytes]:
        """Choose how the count of a text or of bytes is spelled."""

    def content(self, most: int, text: bool) -> Leaf:
        """Choose at most ``most`` bytes, or text of as many bytes."""

    def octets(self) -> Callable[[Source, int], bytes]:
        """Choose so many bytes."""

    def item(self, draw: Draw) -> Draw:
        """Hear that this is one item of a list, which may be there or not."""

    def integer(self, least: int, most: int) -> Callable[[Source], int]:
        """Choose an integer of JSON."""

    def real(self, least: int | None) -> Callable[[Source], float]:
        """Choose a real number of JSON, finite, of at least ``least``."""

    def letters(self) -> Callable[[Source], str]:
        """Choose a text of JSON, or a name: without NUL and halves of surrogate pairs."""


def leaf(make: Leaf) -> Draw:
    """Make a draw of something that looks at no other field."""
    return lambda source, numbers: make(source)


def any_of(masks: Iterable[int]) -> int:
    """Return the bits that are set in any of some numbers."""
    total = 0
    for mask in masks:
        total |= mask
    return total
