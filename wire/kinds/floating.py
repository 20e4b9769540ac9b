"""Floating-point numbers of IEEE 754, as the bits that they are."""

import struct
from collections.abc import Iterator, Mapping
from typing import IO, Any

from wire.constructs import Context, Leaf, bounded, take
from wire.errors import CannotLayOut
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.branches import INFINITE, MINUS_ZERO, NAN, ZERO, Place, Tracing
from wire.kinds.coded import made, written
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Slots
from wire.kinds.edits import Find, MutableField, replaced, truncate
from wire.kinds.generators import Draw, Numbers, Pair, Source
from wire.kinds.integer import Order, fixed_ends, fixed_finder

SIZES = {4: ("I", "f"), 8: ("Q", "d")}
"""The sizes that there are, in bytes, with the letters of ``struct`` for their bits and for the number."""


def real_of(bits: int, size: int) -> float:
    """Return the number that ``bits`` are, in a float of ``size`` bytes."""
    integer, letter = SIZES[size]
    number: float = struct.unpack(f"<{letter}", struct.pack(f"<{integer}", bits))[0]
    return number


def bits_of(number: float, size: int) -> int:
    """Return the bits that a number is, rounded to a float of ``size`` bytes; ``OverflowError`` if it is too large."""
    integer, letter = SIZES[size]
    bits: int = struct.unpack(f"<{integer}", struct.pack(f"<{letter}", number))[0]
    return bits


class Real(Leaf):
    """A float of IEEE 754, of 4 or 8 bytes.

    The value is the integer that its bits are (``real_of``, ``bits_of``), not Python's float: a NaN is not equal to
    itself, 0.0 is equal to -0.0, and a signalling NaN of 4 bytes does not survive the way through a double. Bits are
    equal in every engine, and nothing is lost.
    """

    def __init__(self, size: int = 8, order: Order = "little") -> None:
        super().__init__()
        self.size = size
        self.order = order

    def read(self, stream: IO[bytes], context: Context, path: str) -> int:
        return int.from_bytes(take(stream, self.size, path, "a float"), self.order)

    def spell(self, value: Any, path: str) -> bytes:
        return bounded(value, 8 * self.size, path).to_bytes(self.size, self.order)

    def shown(self, value: Any) -> str | None:
        return f"{real_of(value, self.size)} (bits {value:#0{2 + 2 * self.size}x})"


class Float(Part, frozen=True):
    """A float of ``size`` bytes; the value is the integer that its bits are."""

    size: int
    big: bool = False

    constructs = (Real,)
    plain = True

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        if grammar.size not in SIZES:
            raise CannotLayOut(f"{path}: a float of {grammar.size} bytes; there are those of 4 and 8, use Unsigned")
        return cls(grammar.size, grammar.order == "big")

    @property
    def order(self) -> Order:
        """Which byte comes first."""
        return "big" if self.big else "little"

    def fewest(self) -> int:
        return self.size

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"if at + {self.size} > len(data):"
        yield "    raise Refusal(TRUNCATED, len(data))"
        yield f'{into} = int.from_bytes(data[at : at + {self.size}], "{self.order}")'
        yield f"at += {self.size}"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return [], f'v_{field}.to_bytes({self.size}, "{self.order}")'

    @property
    def _c(self) -> str:
        return "integer_big" if self.big else "integer"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    uint64_t n;"
        yield f"    if (!read_{self._c}(r, {self.size}, &n))"
        yield "        goto bad;"
        yield from (f"    {line}" for line in made(into, "number(n)"))
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from written(f"write_{self._c}(w, {self.size}, number_of({source}))")

    def c_fits(self, code: CCode, source: str) -> str | None:
        return f"fits_unsigned({source}, {8 * self.size})"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        key = code.declare(name, "float" if self.size == 4 else "double")
        yield f"r:float({key}, {self.size}{', true' if self.big else ''})"

    @property
    def column(self) -> Kind:
        """The kind of column."""
        return Kind.DOUBLE if self.size == 8 else Kind.FLOAT

    def slots(self, slots: Slots, path: str) -> None:
        slots.number(path, self.size, self.column)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, column = code.cell(path, self.column)
        yield f"TAKE(take_{self._c}({cell}, {column.size}, {self.size}, {code.variable(field)}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, self.column), value

    # Generators

    def special(self) -> tuple[int, ...]:
        """Return the bits at which codecs err: 0, 1, the least, the greatest, infinity, NaN of both sorts."""
        top, infinite = 1 << 8 * self.size - 1, bits_of(float("inf"), self.size)
        quiet = bits_of(float("nan"), self.size) & top - 1
        positive = (0, bits_of(1.0, self.size), 1, infinite - 1, infinite, infinite + 1, quiet, top - 1)
        return (*positive, *(bits | top for bits in positive))

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        special = sampling.choices.pick(self.special())
        usual = sampling.choices.number(8 * self.size, lambda bits: bits.to_bytes(self.size, self.order))
        which = sampling.choices.pick((False, True))

        def draw(source: Source, numbers: Numbers) -> Pair:
            if which(source):
                return usual(source)
            bits = special(source)
            return bits, bits.to_bytes(self.size, self.order)

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        special = [bits.to_bytes(self.size, self.order) for bits in self.special()]
        place = MutableField(path, self, [replaced(f"boundary in {path}", special), truncate(path)])
        return fixed_finder(self.size, lambda data: int.from_bytes(data, self.order), path, place)

    # Coverage

    def most_bytes(self) -> float:
        return self.size

    def branches(self, place: Place) -> Iterator[str]:
        yield from (ZERO, MINUS_ZERO, INFINITE, NAN)
        yield from fixed_ends(place, self.size)

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        bits = int.from_bytes(tracing.take(place, self.size), self.order)
        sign, infinite = 1 << 8 * self.size - 1, bits_of(float("inf"), self.size)
        if bits & ~sign == 0:
            tracing.hit(place, MINUS_ZERO if bits else ZERO)
        elif bits & ~sign >= infinite:
            tracing.hit(place, INFINITE if bits & ~sign == infinite else NAN)
        return bits
