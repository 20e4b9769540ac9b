"""Floating-point numbers of IEEE 754, as the bits that they are."""

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from wire.constructs import Context, Leaf, bounded, take
from wire.errors import CannotLayOut
from wire.expressions import Expr
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.boundaries import PLAIN, BoundaryBytes, in_order
from wire.kinds.branches import CUT, INFINITE, MINUS_ZERO, NAN, ZERO, Place, Tracing
from wire.kinds.coded import made, written
from wire.kinds.composing import ComposedTarget, Looking, PlannedOption
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

    def named(self) -> dict[str, int]:
        """Return the bits at which codecs err, sign aside, by what they are called."""
        infinite, one = bits_of(float("inf"), self.size), bits_of(1.0, self.size)
        normal = infinite & -infinite  # the lowest bit of the exponent: everything below is the fraction
        quiet = normal >> 1
        return {
            "0": 0,
            "1": one,
            "the least denormal": 1,
            "the greatest denormal": normal - 1,
            "the least normal": normal,
            # Neither shows the order of bytes, in which most are equal.
            "a number of different bytes": one | in_order(self.size) & normal - 1,
            "the greatest": infinite - 1,
            "infinity": infinite,
            # A codec that goes through a float of another size makes these two quiet, and loses what they carry.
            "a signalling NaN": infinite + 1,
            "a signalling NaN that carries different bytes": infinite | in_order(self.size) & quiet - 1,
            "a quiet NaN": infinite | quiet,
            "a quiet NaN that carries different bytes": infinite | quiet | in_order(self.size) & quiet - 1,
            "a NaN of all bits": infinite | normal - 1,
        }

    def special(self) -> dict[str, int]:
        """Return the bits at which codecs err, with and without a sign, by what they are called."""
        top = 1 << 8 * self.size - 1
        # The sign is a bit of its own, also of a zero and of a NaN, where codecs lose it.
        return self.named() | {f"minus {words}": bits | top for words, bits in self.named().items()}

    def spelled(self, number: int) -> bytes:
        return number.to_bytes(self.size, self.order)

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        special = sampling.choices.pick(tuple(self.special().values()))
        usual = sampling.choices.number(8 * self.size, self.spelled)
        # Every second one is special: of random bits hardly any are 0, infinite or a NaN.
        which = sampling.choices.pick((False, True))

        def draw(source: Source, numbers: Numbers) -> Pair:
            if which(source):
                return usual(source)
            bits = special(source)
            return bits, self.spelled(bits)

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        special = [self.spelled(bits) for bits in self.special().values()]
        place = MutableField(path, self, [replaced(f"boundary in {path}", special), truncate(path)])
        return fixed_finder(self.size, lambda data: int.from_bytes(data, self.order), path, place)

    # Coverage

    def most_bytes(self) -> float:
        return self.size

    def branches(self, place: Place) -> Iterator[str]:
        # What is finer (sorts of NaN, denormals) are boundaries: no engine decides by them, so they are no branches.
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

    # Vectors

    is_composed = True
    can_be_missing = True

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        return self.spelled(bits_of(float(PLAIN), self.size))

    def boundaries(self, full: bool) -> Iterator[BoundaryBytes]:
        for words, bits in self.special().items() if full else self.classes():
            yield BoundaryBytes("value", words, self.spelled(bits))
        yield BoundaryBytes(CUT, "cut after one byte", b"\1", "cut", True)

    def classes(self) -> Iterator[tuple[str, int]]:
        """Give one of each class: what is compared and rounded in ways of its own."""
        special = self.special()
        for words in ("0", "minus 0", "the least denormal", "the greatest", "minus infinity", "a signalling NaN"):
            yield words, special[words]

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        for words, bits in self.classes():
            yield words, {where: self.spelled(bits)}, None  # no condition looks at a float
