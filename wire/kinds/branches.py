"""What can happen at a place of a layout, and how kinds of node and the reader of coverage talk about it.

A branch is a name at a place. A kind gives the names that can happen (``Part.branches``), and says which does when a
frame is read (``Part.traced``): a reader of its own, the fourth opinion beside the three engines.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from wire.errors import Reason

MISSING, CUT, COUNT_MISSING, COUNT_CUT = "missing", "cut", "count missing", "count cut"
ZERO, MAXIMUM, OVERLONG, OUT_OF_RANGE = "zero", "maximum", "overlong", "out of range"
MINIMUM, MINUS_ONE, MINUS_ZERO, INFINITE, NAN = "minimum", "minus one", "minus zero", "infinite", "not a number"
EMPTY, ONE_BYTE, MORE_BYTES, LONG_COUNT = "empty", "one byte", "more bytes", "count of several bytes"
BEYOND, NOT_ASCII, BAD_TEXT, NEGATIVE = "beyond the end", "not ASCII", "bad text", "negative count"
NONE, ONE, MORE, FULL, TOO_MANY = "none", "one", "more", "full", "too many"
STOPS, END_MISSING = "another byte follows", "end missing"
TOO_LONG, TOO_SHORT, TRAILING, REFUSED, UNKNOWN = "too long", "too short", "trailing", "refused", "unknown id"
PADDED, UNPADDED, NOT_ZERO = "padded", "without padding", "padding is not zero"
PADDING_MISSING, PADDING_CUT = "padding missing", "padding cut"


class Inside(NamedTuple):
    """A part within a part: by which ``label`` it is chosen, and what its ``name`` adds to the path.

    ``is_message``: what stands in it belongs to it. ``given``: so many bytes are there, or the reader would not have
    come; ``None`` if as many as at the part around it. ``sure``: its first byte begins a message.
    """

    label: str
    part: Any
    name: str = ""
    is_message: bool = False
    given: int | None = None
    sure: bool = False


class Place(Protocol):
    """A place of a layout (``vectors/binary/paths.py``); its attributes are explained there."""

    @property
    def path(self) -> str: ...
    @property
    def given(self) -> int: ...
    @property
    def sure(self) -> bool: ...
    @property
    def room(self) -> int | None: ...
    @property
    def numbers(self) -> frozenset[int] | None: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def inner(self) -> "tuple[Place, ...]": ...
    @property
    def table(self) -> Sequence[Any]: ...


class TracedRefusal(Exception):
    """A frame that is refused; ``where`` is the path with indices of the innermost part that was being read."""

    def __init__(self, reason: Reason, offset: int) -> None:
        self.reason, self.offset = reason, offset
        self.where: str | None = None


class Tracing(Protocol):
    """One frame that is read along a layout (``vectors/binary/coverage.py``): up to ``end``, at ``at`` so far."""

    data: bytes
    at: int
    end: int

    def hit(self, place: Any, *names: str) -> None:
        """Note what happens at a place."""

    def read(self, place: Any, where: str, scope: dict[str, Any]) -> Any:
        """Read what stands at a place, behind the fields of ``scope``."""

    def computed(self, expr: Any, scope: dict[str, Any]) -> int:
        """Return the value of an expression over the fields of ``scope``."""

    def chosen(self, where: str, label: str) -> None:
        """Note which message a union is."""

    def counted(self, where: str, count: int) -> None:
        """Note how many items a list has."""

    def take(self, place: Any, count: int) -> bytes:
        """Read so many bytes."""

    def text(self, place: Any, content: bytes, start: int) -> str:
        """Read text, which is refused at ``start``."""

    def varint(self, place: Any, width: int, missing: str = MISSING, cut: str = CUT) -> int:
        """Read an integer of variable length."""

    def zeros(self, place: Any, count: int, missing: str, cut: str) -> None:
        """Read padding."""

    def items(self, place: Any, where: str, most: int, count: int | None = None) -> list[Any]:
        """Read so many items, or items up to the end."""


def lengths(bits: int) -> range:
    """Return the numbers of bytes in which a number below ``2**bits`` is spelled."""
    return range(1, min((bits + 6) // 7, 9) + 1)


def length(count: int) -> str:
    """Say how many bytes."""
    return "1 byte" if count == 1 else f"{count} bytes"


def size_of(count: int) -> str:
    """Say how many bytes a content has, roughly."""
    return (EMPTY, ONE_BYTE)[count] if count < 2 else MORE_BYTES


def some(numbers: Iterable[int] | None, least: int, most: float = float("inf")) -> bool:
    """Tell whether one of some numbers can be in a range; if nothing is known of them, it can."""
    return numbers is None or any(least <= number <= most for number in numbers)


def group_is(name: str, width: int, value: int) -> str:
    """Say what a group of bits is: each value of one or two bits, else whether it is 0."""
    return f"{name} is not 0" if width > 2 and value else f"{name}={value}"
