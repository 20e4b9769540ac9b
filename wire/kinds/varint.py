"""Integers of variable length, seven bits a byte."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from wire.constructs import Context, Leaf, Span, bounded, counted, dotted, take, vle
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.expressions import Expr, Ref
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.boundaries import PLAIN, BoundaryBytes, say
from wire.kinds.branches import CUT, MAXIMUM, MISSING, OUT_OF_RANGE, OVERLONG, ZERO, Place, Tracing, length, lengths
from wire.kinds.coded import made, written
from wire.kinds.composing import ComposedTarget, Looking, PlannedOption
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Slots
from wire.kinds.edits import Below, Find, Found, MutableField, Mutation, put, truncate
from wire.kinds.generators import Draw, Numbers, leaf
from wire.varints import LONGEST, boundaries, spell, stretch, unspell


class VLE(Leaf):
    """A variable-length integer (``zN``): seven bits a byte, low group first, at most nine bytes.

    A ninth byte carries eight bits and never continues.
    """

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits

    def read(self, stream: IO[bytes], context: Context, path: str) -> int:
        start = stream.tell()
        value, length, byte = 0, 0, 0x80
        while byte & 0x80 and length < 9:
            byte = take(stream, 1, path, "a variable-length integer")[0]
            value |= (byte if length == 8 else byte & 0x7F) << (7 * length)
            length += 1
        if value >> self.bits:
            raise DecodeError(Reason.OUT_OF_RANGE, start, dotted(path), f"{value} does not fit in {self.bits} bits")
        if length > 1 and byte == 0 and context._params.get("overlong") == "refuse":
            raise DecodeError(Reason.OVERLONG, start, dotted(path), f"{value} is spelled with {counted(length)}")
        return value

    def spell(self, value: Any, path: str) -> bytes:
        return vle(bounded(value, self.bits, path))

    def remarks(self, span: Span, data: bytes) -> Iterator[str]:
        yield from overlong(span)


def overlong(span: Span) -> Iterator[str]:
    """Remark that a leaf that begins with a variable-length integer has more bytes than it needs."""
    try:
        shortest = len(span.leaf.spell(span.value, span.path))
    except EncodeError:
        return
    spelled = span.end - span.start
    if shortest < spelled:
        yield f"overlong: {spelled} bytes where {shortest} are enough"


def python_read_varint(into: str, bits: int, ahead: int = 0) -> Lines:
    """Read an integer of up to three bytes without a call; sums and products are what Python is quickest at."""
    yield f"{into} = data[{f'at + {ahead}' if ahead else 'at'}]"
    yield f"at += {ahead + 1}"
    yield f"if {into} > 0x7F:"
    long = f"{into}, at = varint(data, at, {into}, {bits}, refuse)"
    # Short widths are rare in documents; the lines for their second byte would cost the others nothing but length.
    if bits < 14:
        yield f"    {long}"
        return
    yield "    more = data[at]"
    yield "    if 0 < more < 0x80:"
    # The first byte was taken with its continuation bit, which counts 0x80.
    yield f"        {into} += more * 0x80 - 0x80"
    yield "        at += 1"
    if bits >= 21:
        yield "    elif more and 0 < (last := data[at + 1]) < 0x80:"
        yield f"        {into} += more * 0x80 + last * 0x4000 - 0x4080"
        yield "        at += 2"
    yield "    else:"
    yield f"        {long}"


def python_write_varint(source: str, bits: int) -> str:
    """Short integers are in a table, longer ones are two of its entries; a length is never negative."""
    if source.startswith("n_"):
        return f"(VARINT[{source}] if {source} < 0x{min(1 << bits, 1 << 14):X} else spell_varint({source}, {bits}))"
    short = f"VARINT[{source}] if 0 <= {source} < 0x{min(1 << bits, 1 << 14):X}"
    longer = f" else CONTINUED[{source} & 0x3FFF] + VARINT[{source} >> 14] if 0 < {source} < 0x10000000"
    return f"({short}{longer if bits >= 28 else ''} else spell_varint({source}, {bits}))"


def check_bits(bits: int, path: str) -> None:
    """Raise ``CannotLayOut`` for a variable-length integer that the engines do not read."""
    if not 7 <= bits <= 64:
        raise CannotLayOut(f"{path}: VLE({bits}) has not 7 to 64 bits")


class Varint(Part, frozen=True):
    """A variable-length integer below ``2**bits``, in at most nine bytes."""

    bits: int

    constructs = (VLE,)
    plain = True

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        check_bits(grammar.bits, path)
        return cls(grammar.bits)

    @property
    def number_bits(self) -> int | None:
        return self.bits

    def fewest(self) -> int:
        return 1

    def python_ahead(self, code: Code, into: str, ahead: int) -> tuple[Lines, int] | None:
        return python_read_varint(into, self.bits, ahead), 0

    def python_read(self, code: Code, into: str) -> Lines:
        yield from python_read_varint(into, self.bits)

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return [], python_write_varint(f"v_{field}", self.bits)

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    uint64_t n;"
        yield f"    if (!read_varint(r, {self.bits}, &n))"
        yield "        goto bad;"
        if field in code.kept:
            yield f"    n_{field} = n;"
        yield from (f"    {line}" for line in made(into, "number(n)"))
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        number = f"number_of({source})"
        if field in code.kept:
            yield f"n_{field} = {number};"
            number = f"n_{field}"
        yield from written(f"write_varint(w, {number})")

    def c_fits(self, code: CCode, source: str) -> str | None:
        return f"fits_unsigned({source}, {self.bits})"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"{code.kept(name)}r:varint({code.declare(name, 'uint32' if self.bits <= 32 else 'uint64')}, {self.bits})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.number(path, (self.bits + 7) // 8)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, column = code.cell(path, Kind.NUMBER)
        yield f"TAKE(take_varint({cell}, {column.size}, {self.bits}, {code.variable(field)}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, Kind.NUMBER), value

    # Generators

    decides = True

    def candidates(self, near: Iterable[int], refs: frozenset[Ref]) -> list[int]:
        tried = set(range(256)) | set(boundaries(self.bits)) | set(near)
        return sorted(number for number in tried if 0 <= number < 1 << self.bits)

    def spelled(self, number: int) -> bytes:
        return spell(number)

    def number_in(self, data: bytes) -> int:
        return unspell(data, 0)[0]

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        return leaf(sampling.choices.number(self.bits, spell))

    def mutations(self, path: str) -> list[Mutation]:
        """Return what can be done to the integer at ``path``."""
        near = tuple(map(spell, boundaries(self.bits)))
        mutations = [
            respelled(f"overlong {path}", longer),
            respelled(f"hostile continuation bytes in {path}", hostile),
            respelled(f"boundary in {path}", lambda number, below: near[below(len(near))]),
            truncate(path),
        ]
        if self.bits < 64:
            mutations.append(respelled(f"overflow {path}", overflow(self.bits)))
        return mutations

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        return self.number_finder(path)

    def number_finder(self, path: str, more: Sequence[Mutation] = ()) -> Find:
        name, place = path.rpartition(".")[2], MutableField(path, self, [*self.mutations(path), *more])

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            numbers[name], end = unspell(data, at)
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    def most_bytes(self) -> float:
        return 9  # overlong, if need be

    def branches(self, place: Place) -> Iterator[str]:
        yield from (ZERO, *(length(count) for count in lengths(self.bits)), MAXIMUM, OVERLONG)
        yield from ([OUT_OF_RANGE] if self.bits < 64 else [])
        yield from ([] if place.given else [MISSING])
        yield CUT

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        number = tracing.varint(place, self.bits)
        if number in (0, (1 << self.bits) - 1):
            tracing.hit(place, MAXIMUM if number else ZERO)
        return number

    # Vectors

    def spelled_number(self, value: Any, size: int) -> tuple[int, int] | None:
        return value, size

    is_composed = True
    can_be_missing = True

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        return spell(PLAIN)

    def value_of(self, data: bytes) -> Any:
        return self.number_in(data + b"\0")  # of a number that is cut, what there is of it

    def boundaries(self, full: bool) -> Iterator[BoundaryBytes]:
        top = (1 << self.bits) - 1
        numbers = []
        for count in lengths(self.bits):
            low = 1 << 7 * (count - 1) if count > 1 else 0
            numbers += [low, *([1] if full and count == 1 else [])]
            if full:
                numbers.append(min((1 << 7 * count) - 1, top) if count < LONGEST else 1 << 63)
        for number in dict.fromkeys((*numbers, top)):
            if number <= top:
                spelled = spell(number)
                yield BoundaryBytes("value", f"{say(number)} ({length(len(spelled))})", spelled)
        padded = [(PLAIN, 2), *([(0, 2), (PLAIN, 3), (PLAIN, LONGEST), (top, 8)] if full else [])]
        for number, size in padded:
            if len(spell(number)) < size:
                yield BoundaryBytes(OVERLONG, f"{say(number)} in {size} bytes", stretch(number, size))
        if self.bits < 64:
            for number in (top + 1, *((top + 1 + PLAIN, 2 * top + 1, (1 << 64) - 1) if full else ())):
                yield BoundaryBytes(OUT_OF_RANGE, f"{say(number)}, which does not fit", spell(number), "refused")
        yield BoundaryBytes(CUT, "cut after one byte", b"\x80", "cut", True)

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        for number in (0, 127, 128, (1 << self.bits) - 1):  # around the end of one byte
            if number < 1 << self.bits:
                yield say(number), {where: spell(number)}, frozenset({number}) if place.controls else None


Respelling = Callable[[int, Below], bytes | None]
"""A number to the bytes that shall stand in its place; ``None`` if there are none."""


def respelled(name: str, respell: Respelling) -> Mutation:
    """Make a mutation of what is done to a variable-length integer, or to the count that a span begins with."""

    def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        number, after = unspell(frame, start)
        piece = respell(number, below)
        return None if piece is None else put(frame, start, after, piece)

    return name, change


def longer(number: int, below: Below) -> bytes | None:
    """Spell a number in more bytes than it needs, if that can be."""
    least = len(spell(number))
    return stretch(number, least + 1 + below(LONGEST - least)) if least < LONGEST else None


def overflow(bits: int) -> Respelling:
    """Spell numbers that do not fit in ``bits``."""
    beyond = tuple(
        sorted({1 << bits, (1 << bits) + 1, 1 << bits + 7 & (1 << 64) - 1 | 1 << bits, 1 << 63, (1 << 64) - 1})
    )

    def overflow(number: int, below: Below) -> bytes | None:
        which = below(len(beyond) + 1)
        return spell(number | 1 << bits if which == len(beyond) else beyond[which])

    return overflow


ENDLESS = tuple(byte * count for byte in (b"\x80", b"\xff") for count in (1, 2, 4, 8, 9, 10, 11, 64))
"""Bytes that all say that one more follows: up to the longest integer, one more, and far beyond."""


def hostile(number: int, below: Below) -> bytes:
    """Spell no number at all, but bytes that go on."""
    return ENDLESS[below(len(ENDLESS))]
