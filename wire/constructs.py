"""What the constructs of grammars are made of: ``Leaf``, spans, and the checks that several of them share.

Parsing takes two parameters through Construct's context: ``overlong`` (``"accept"`` or ``"refuse"``: integers
that are longer than necessary) and ``spans`` (a list that receives a ``Span`` per leaf).
"""

from collections.abc import Iterator
from functools import lru_cache
from io import SEEK_END
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from construct import Construct, Container, Renamed

from wire.errors import DecodeError, EncodeError, Reason

# Construct's classes are generic in their stubs only.
if TYPE_CHECKING:
    Grammar = Construct[Any, Any]
    Message = Renamed[Any, Any]
    Values = Container[Any]
else:
    Grammar, Message, Values = Construct, Renamed, Container

Context = Any
"""What Construct hands down while it parses or builds: earlier fields, and ``_params``."""


class Span(NamedTuple):
    """The bytes ``[start, end)`` of a frame that one ``leaf`` read, with its path and value."""

    start: int
    end: int
    path: str
    value: Any
    leaf: "Leaf"


def dotted(path: str) -> str:
    """Turn Construct's ``(parsing) -> a -> b`` into ``a.b``, and ``(parsing)[2] -> a`` into ``[2].a``."""
    return path.partition(")")[2].removeprefix(" -> ").replace(" -> ", ".") or "(frame)"


class NamedBits(dict[str, int]):
    """The named bits of an integer, ``byte``, as a table that nobody can change: with the same byte it is shared."""

    __slots__ = ("byte",)

    def __init__(self, fields: dict[str, int], byte: int) -> None:
        super().__init__(fields)
        self.byte = byte

    def _refuse(self, *args: Any, **options: Any) -> Any:
        raise TypeError("flags are shared and cannot be changed; make a dict of them")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


OCTET = tuple(bytes((byte,)) for byte in range(256))
"""Every byte, for tables: Python makes a new one each time that it is asked."""

BitNames = tuple[tuple[str, int, int], ...]
"""Named bits of an integer: name, highest value, shift; those without a name have the shift 0."""


@lru_cache(maxsize=256)  # more than all protocols have; who makes grammars without end does not keep all their tables
def octet_values(bits: BitNames) -> tuple[NamedBits, ...]:
    """Return the named bits of every byte: 50 KB, which grammars, trees and engines share where the names are equal."""
    return tuple(
        NamedBits({name: byte >> shift & highest for name, highest, shift in bits}, byte) for byte in range(256)
    )


class Leaf(Grammar):
    """A construct without children: reads some bytes, gives one value."""

    def __init__(self) -> None:
        super().__init__()
        self.flagbuildnone = True  # an absent field counts as None, which its leaf refuses if it is needed

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        value = self.read(stream, context, path)
        spans = context._params.get("spans")
        if spans is not None:
            spans.append(Span(start, stream.tell(), dotted(path), value, self))
        return value

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        stream.write(self.spell(obj, path))
        return obj

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        """Read one value at the stream's position."""
        raise DecodeError(Reason.BAD_VALUE, stream.tell(), dotted(path), "nothing can be read here")

    def spell(self, value: Any, path: str) -> bytes:
        """Return the canonical bytes of a value."""
        raise EncodeError(f"{dotted(path)}: nothing can be written here")

    def shown(self, value: Any) -> str | None:
        """Write a value for a person who reads a dump; ``None`` if its type says enough."""
        return None

    def shorter(self, content: bytes) -> Iterator[bytes]:
        """Give spellings of a shorter content, the boldest first, if the leaf itself says where its content ends."""
        yield from ()

    def cleared(self, spelled: bytes) -> Iterator[bytes]:
        """Give the spellings with one bit less set, from the lowest, if its bits are flags."""
        yield from ()

    def remarks(self, span: Span, data: bytes) -> Iterator[str]:
        """Give what a dump remarks about a ``span`` of the frame ``data``, whatever the protocol."""
        yield from ()


def shortened(content: bytes) -> tuple[bytes, ...]:
    """Return what a content can be cut down to: nothing, either half, all but the first byte."""
    half = len(content) // 2
    return tuple(dict.fromkeys((b"", content[:half], content[half:], content[1:])))


def take(stream: IO[bytes], count: int, path: str, what: str) -> bytes:
    """Read exactly ``count`` bytes; ``DecodeError`` (truncated, at the data's end) when there are fewer."""
    data = stream.read(count)
    if len(data) < count:
        raise DecodeError(
            Reason.TRUNCATED, stream.tell(), dotted(path), f"{what} needs {counted(count)}, {left(len(data))}"
        )
    return data


def counted(count: int) -> str:
    """Say how many bytes."""
    return f"{count} byte{'s'[: count != 1]}"


def left(count: int) -> str:
    """Say how many bytes are left."""
    return "none is left" if count == 0 else f"{counted(count)} {'is' if count == 1 else 'are'} left"


def remaining(stream: IO[bytes]) -> int:
    """Return how many bytes of a stream are not read yet."""
    # By seeking: reading the rest to measure it would copy a batch once for every message in it.
    here = stream.tell()
    end = stream.seek(0, SEEK_END)
    stream.seek(here)
    return end - here


def vle(value: int) -> bytes:
    """Spell an integer below 2**64 as VLE, in the fewest bytes."""
    spelled = bytearray()
    # Behind eight bytes of seven bits the ninth has eight and never says that more follows (zN of the Zenoh document).
    while value > 0x7F and len(spelled) < 8:
        spelled.append(value & 0x7F | 0x80)
        value >>= 7
    spelled.append(value)
    return bytes(spelled)


def bounded(value: Any, bits: int, path: str) -> int:
    """Return ``value`` if it is an unsigned integer of ``bits`` bits; ``EncodeError`` otherwise."""
    # The shift instead of a comparison: it is right for any number of bits without a constant of that size.
    if not isinstance(value, int) or value < 0 or value >> bits:
        raise EncodeError(f"{dotted(path)}: {value!r} is not an unsigned integer of {bits} bits")
    return value


def decoded(data: bytes, start: int, path: str) -> str:
    """Decode UTF-8 strictly; ``DecodeError`` (bad-text) at ``start``."""
    try:
        return data.decode()
    # At the start of the text and not at the byte that is wrong: engines that check a text as a whole know no other.
    except UnicodeDecodeError as error:
        raise DecodeError(Reason.BAD_TEXT, start, dotted(path), f"not UTF-8: {error.reason}") from None


def encoded(value: Any, path: str) -> bytes:
    """Encode text as UTF-8; ``EncodeError`` for anything that is no text."""
    if not isinstance(value, str):
        raise EncodeError(f"{dotted(path)}: {value!r} is not text")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(f"{dotted(path)}: {error.reason}") from None


MOST = 0xFFFF
"""Items of one list: more do not fit in any batch, and a hostile frame must not fill the memory."""


def room(most: int, values: list[Values], stream: IO[bytes], path: str) -> None:
    """Raise ``DecodeError`` (too-long) where one item more than ``most`` begins."""
    if len(values) == most:
        raise DecodeError(Reason.TOO_LONG, stream.tell(), dotted(f"{path}[{most}]"), f"more than {most} items")


def fitting(values: Any, most: int, path: str) -> Any:
    """Return a list of at most ``most`` items; ``EncodeError`` for anything else."""
    if not isinstance(values, list | tuple):
        raise EncodeError(f"{dotted(path)}: {values!r} is not a list")
    if len(values) > most:
        raise EncodeError(f"{dotted(path)}: {len(values)} items, at most {most} fit")
    return values
