"""Integers of a fixed number of bytes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Literal

from wire.constructs import Context, Leaf, dotted, take
from wire.errors import CannotLayOut, EncodeError
from wire.expressions import Expr, Ref
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.boundaries import PLAIN, BoundaryBytes, in_order, say
from wire.kinds.branches import CUT, MAXIMUM, MINIMUM, MINUS_ONE, MISSING, ZERO, Place, Tracing
from wire.kinds.coded import made, written
from wire.kinds.composing import ComposedTarget, Looking, PlannedOption
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Slots
from wire.kinds.edits import Find, Found, MutableField, Mutation, UnreadableFrame, replaced, truncate
from wire.kinds.generators import Draw, Numbers, Pair, Source, leaf
from wire.varints import boundaries

Order = Literal["little", "big"]
"""Which byte comes first: that of the lowest bits, or that of the highest."""

LONGEST = 8
"""Bytes: what a register holds, and a column of Arrow."""


class Unsigned(Leaf):
    """An unsigned integer of a fixed number of bytes."""

    signed = False

    def __init__(self, size: int = 1, order: Order = "little") -> None:
        super().__init__()
        self.size = size
        self.order = order

    def read(self, stream: IO[bytes], context: Context, path: str) -> int:
        return int.from_bytes(take(stream, self.size, path, "an integer"), self.order, signed=self.signed)

    def spell(self, value: Any, path: str) -> bytes:
        sign, bits = int(self.signed), 8 * self.size
        if not isinstance(value, int) or not -(sign << bits - 1) <= value < 1 << bits - sign:
            kind = "a signed" if sign else "an unsigned"
            raise EncodeError(f"{dotted(path)}: {value!r} is not {kind} integer of {bits} bits")
        return value.to_bytes(self.size, self.order, signed=self.signed)


class Signed(Unsigned):
    """An integer of a fixed number of bytes in two's complement."""

    signed = True


class Integer(Part, frozen=True):
    """An integer of ``size`` bytes: unsigned and little-endian, if nothing else is said."""

    size: int
    big: bool = False
    is_signed: bool = False

    constructs = (Unsigned,)
    plain = True

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        if not 1 <= grammar.size <= LONGEST:
            raise CannotLayOut(
                f"{path}: an integer of {grammar.size} bytes; there are those of 1 to at most {LONGEST}, "
                "use Bytes for longer ones"
            )
        # One byte has no order: so both spellings become the same node.
        return cls(grammar.size, grammar.order == "big" and grammar.size > 1, grammar.signed)

    @property
    def order(self) -> Order:
        """Which byte comes first."""
        return "big" if self.big else "little"

    @property
    def number_bits(self) -> int | None:
        return 8 * self.size - self.is_signed

    @property
    def signed(self) -> bool:
        return self.is_signed

    @property
    def is_octet(self) -> bool:
        """Whether it is what a byte is."""
        return self.size == 1 and not self.is_signed

    def fewest(self) -> int:
        return self.size

    def python_ahead(self, code: Code, into: str, ahead: int) -> tuple[Lines, int] | None:
        # Only a byte: a missing one is an IndexError by itself, while several need a look at the end first.
        if not self.is_octet:
            return None
        return iter([f"{into} = data[{f'at + {ahead}' if ahead else 'at'}]"]), ahead + 1

    def python_read(self, code: Code, into: str) -> Lines:
        if self.is_octet:
            yield f"{into} = data[at]"
        else:
            # A slice beyond the end is no error in Python, but a shorter number.
            yield f"if at + {self.size} > len(data):"
            yield "    raise Refusal(TRUNCATED, len(data))"
            yield f'{into} = int.from_bytes(data[at : at + {self.size}], "{self.order}"{self._sign})'
        yield f"at += {self.size}"

    @property
    def _sign(self) -> str:
        return ", signed=True" if self.is_signed else ""

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        if self.is_octet:
            return [], f"bytes((v_{field},))"
        return [], f'v_{field}.to_bytes({self.size}, "{self.order}"{self._sign})'

    @property
    def _c(self) -> str:
        return "integer_big" if self.big else "integer"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    uint64_t n;"
        yield f"    if (!read_{self._c}(r, {self.size}, &n))"
        yield "        goto bad;"
        # Eight bytes are read as they are: there is nothing left to extend the sign into.
        if self.is_signed and self.size < LONGEST:
            yield f"    n = sign_extended(n, {self.size});"
        if field in code.kept:
            yield f"    n_{field} = n;"
        value = "PyLong_FromLongLong((int64_t)n)" if self.is_signed else "number(n)"
        yield from (f"    {line}" for line in made(into, value))
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        number = f"{'signed_' if self.is_signed else ''}number_of({source})"
        if field in code.kept:
            yield f"n_{field} = {number};"
            number = f"n_{field}"
        yield from written(f"write_{self._c}(w, {self.size}, {number})")

    def c_fits(self, code: CCode, source: str) -> str | None:
        kind = "signed" if self.is_signed else "unsigned"
        return f"fits_{kind}({source}, {8 * self.size})"

    @property
    def column(self) -> Kind:
        """The kind of column."""
        return Kind.SIGNED if self.is_signed else Kind.NUMBER

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        sign = "" if self.is_signed else "u"
        # The fields that Wireshark's Lua knows have 8, 16, 24, 32 or 64 bits.
        key = code.declare(name, f"{sign}int{8 * self.size if self.size <= 4 else 64}")
        yield f"{code.kept(name)}r:{sign and 'un'}signed({key}, {self.size}{', true' if self.big else ''})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.number(path, self.size, self.column)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, column = code.cell(path, self.column)
        take = f"take_{'signed_' if self.is_signed else ''}{self._c}"
        yield f"TAKE({take}({cell}, {column.size}, {self.size}, {code.variable(field)}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, self.column), value

    # Generators

    decides = True

    def candidates(self, near: Iterable[int], refs: frozenset[Ref]) -> list[int]:
        bits = 8 * self.size
        # All of a byte, since cases of a Switch are mostly small; of wider ones what codecs err at.
        tried = set(range(256)) | set(boundaries(bits)) | set(near)
        if not self.is_signed:
            return sorted(number for number in tried if 0 <= number < 1 << bits)
        # The boundaries of the pattern are those of the number: all bits set is -1, the highest alone the least.
        return sorted({self._signed(number) for number in tried if -(1 << bits - 1) <= number < 1 << bits})

    def _signed(self, pattern: int) -> int:
        """Return the number of a pattern of bits in two's complement."""
        return pattern - (1 << 8 * self.size) if self.is_signed and pattern >> 8 * self.size - 1 == 1 else pattern

    def spelled(self, number: int) -> bytes:
        return number.to_bytes(self.size, self.order, signed=self.is_signed)

    def number_in(self, data: bytes) -> int:
        return int.from_bytes(data, self.order, signed=self.is_signed)

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        pattern = sampling.choices.number(8 * self.size, lambda number: number.to_bytes(self.size, self.order))
        if not self.is_signed:
            return leaf(pattern)

        def draw(source: Source, numbers: Numbers) -> Pair:
            number, data = pattern(source)
            return self._signed(number), data

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        return self.number_finder(path)

    def number_finder(self, path: str, more: Sequence[Mutation] = ()) -> Find:
        near = [number.to_bytes(self.size, self.order) for number in boundaries(8 * self.size)]
        place = MutableField(path, self, [replaced(f"boundary in {path}", near), truncate(path), *more])
        return fixed_finder(self.size, self.number_in, path, place)

    # Coverage

    def most_bytes(self) -> float:
        return self.size

    def branches(self, place: Place) -> Iterator[str]:
        yield from (ZERO, MAXIMUM)
        if self.is_signed:
            yield from (MINUS_ONE, MINIMUM)
        yield from fixed_ends(place, self.size)

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        number = self.number_in(tracing.take(place, self.size))
        edges = {0: ZERO, (1 << 8 * self.size - self.is_signed) - 1: MAXIMUM}
        if self.is_signed:
            edges |= {-1: MINUS_ONE, -(1 << 8 * self.size - 1): MINIMUM}
        if number in edges:
            tracing.hit(place, edges[number])
        return number

    # Vectors

    is_composed = True
    can_be_missing = True

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        return self.spelled(PLAIN)

    def edges(self) -> tuple[int, ...]:
        """Return the numbers between which a mistake shows: both ends, and both sides of where the sign changes."""
        top = (1 << 8 * self.size - self.is_signed) - 1
        return (-top - 1, -1, 0, top) if self.is_signed else (0, top)

    @property
    def numbers_tried(self) -> tuple[int, ...]:
        return self.edges()

    def boundaries(self, full: bool) -> Iterator[BoundaryBytes]:
        # 1 shows which byte comes first. That all come in their order only larger numbers show; those that are unsigned
        # and little-endian do without, as their golden vectors have been published.
        ordered = self.size > 1 and (self.big or self.is_signed)
        more = (1, *([in_order(self.size)] if ordered else [])) if full else ()
        for number in sorted({*self.edges(), *more}):
            yield BoundaryBytes("value", say(number), self.spelled(number))
        if self.size > 1:
            yield BoundaryBytes(CUT, "cut after one byte", b"\1", "cut", True)

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        for number in self.edges():
            yield say(number), {where: self.spelled(number)}, frozenset({number}) if place.controls else None


def fixed_ends(place: Place, size: int) -> Iterator[str]:
    """Give how a frame can end before and within ``size`` bytes."""
    # What the reader has seen to be there can be neither missing nor, if it is enough, cut.
    if not place.given:
        yield MISSING
    if place.given < size and size > 1:
        yield CUT


def fixed_finder(size: int, number_in: Callable[[bytes], int], path: str, place: MutableField) -> Find:
    """Compile how a number of a fixed number of bytes is found."""
    name = path.rpartition(".")[2]

    def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
        end = at + size
        if end > len(data):
            raise UnreadableFrame
        numbers[name] = number_in(data[at:end])
        found.append((at, end, place, ()))
        return end

    return find
