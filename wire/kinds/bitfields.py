"""Integers that are divided into named bits, which may cross bytes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import IO, Any

from wire.constructs import Context, Leaf, NamedBits, Span, bounded, dotted, take
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.expressions import Expr, Ref
from wire.kinds.base import Part, Sampling, Scope, Walk
from wire.kinds.bit_groups import BitGroups
from wire.kinds.bit_places import Bit, check_bit_places, spare_name
from wire.kinds.boundaries import BoundaryBytes, in_order
from wire.kinds.branches import CUT, UNKNOWN, Place, TracedRefusal, Tracing, group_is
from wire.kinds.coded import made, written
from wire.kinds.composing import ComposedTarget, Looking, PlannedOption
from wire.kinds.contexts import CCode, Code, ColumnCode, Kind, Lines, Slots
from wire.kinds.edits import Below, Find, MutableField, Mutation, put, truncate
from wire.kinds.generators import Draw, Numbers, Pair, Source
from wire.kinds.integer import LONGEST, Order, fixed_ends, fixed_finder
from wire.varints import boundaries


class Word(Leaf):
    """An integer of up to 64 bits with names for its bits: ``Word(4, "little", rank=(8, 7), relayed=31)``.

    A name maps to a bit, to (high, low), or to (high, low, the number that has to stand there); bit 0 counts 1,
    whichever byte comes first. Bits that have no name are kept in their place, under ``X`` (``X_`` if a bit is called
    so).
    """

    def __init__(
        self, size: int, order: Order = "little", /, **fields: int | tuple[int, int] | tuple[int, int, int]
    ) -> None:
        super().__init__()
        self.size = size
        self.order = order
        places = {name: (where, where) if isinstance(where, int) else where for name, where in fields.items()}
        self.fields = {name: Bit(name, where[0], where[1]) for name, where in places.items()}
        self.constants = {name: where[2] for name, where in places.items() if len(where) == 3}
        self.named = sum(bit.mask for bit in self.fields.values())
        self.spare = spare_name(iter(self.fields))

    def split(self, number: int) -> NamedBits:
        """Take an integer apart."""
        value = {name: (number & bit.mask) >> bit.low for name, bit in self.fields.items()}
        left = (1 << 8 * self.size) - 1 & ~self.named
        return NamedBits(value | ({self.spare: number & left} if left else {}), number)

    def read(self, stream: IO[bytes], context: Context, path: str) -> NamedBits:
        start = stream.tell()
        value = self.split(int.from_bytes(take(stream, self.size, path, "a word"), self.order))
        for name, number in self.constants.items():
            if value[name] != number:
                detail = f"{name} is {value[name]:#x} and has to be {number:#x}"
                raise DecodeError(Reason.UNKNOWN_ID, start, dotted(path), detail)
        return value

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        word = self.spell(obj, path)
        stream.write(word)
        return self.split(int.from_bytes(word, self.order))  # complete: later conditions look at every name

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, dict):
            raise EncodeError(f"{dotted(path)}: {value!r} is not a table of bits")
        # An absent name counts as 0, as in a byte of flags: who writes a value by hand says only what is set.
        number = bounded(value.get(self.spare, 0), 8 * self.size, f"{path} -> {self.spare}")
        # Twice said is once too often: which of the two would be meant?
        if number & self.named:
            raise EncodeError(f"{dotted(path)}.{self.spare}: {number:#x} has bits that have a name")
        for name, bit in self.fields.items():
            wanted = self.constants.get(name, value.get(name, 0))
            number |= bounded(wanted, bit.high - bit.low + 1, f"{path} -> {name}") << bit.low
        return number.to_bytes(self.size, self.order)

    def cleared(self, spelled: bytes) -> Iterator[bytes]:
        number = int.from_bytes(spelled, self.order)
        for bit in range(8 * self.size):
            if number >> bit & 1:
                yield (number ^ 1 << bit).to_bytes(self.size, self.order)

    def remarks(self, span: Span, data: bytes) -> Iterator[str]:
        if span.value.get(self.spare):
            yield f"reserved bits {span.value[self.spare]:#x} are set"


def unspelled(number: int) -> bytes:
    """Spell nothing: some bits have no bytes of their own."""
    return b""


MAX_COMBINED = 4096
"""Combinations of groups that are tried."""


class BitFields(BitGroups, frozen=True):
    """An integer of ``size`` bytes of named bits; ``constants`` are the names whose value is fixed."""

    size: int
    big: bool
    bits: tuple[Bit, ...]
    constants: tuple[tuple[str, int], ...] = ()

    constructs = (Word,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        if not 1 <= grammar.size <= LONGEST:
            raise CannotLayOut(f"{path}: a Word of {grammar.size} bytes; use several of 1 to {LONGEST}")
        bits = tuple(grammar.fields.values())
        check_bit_places(bits, 8 * grammar.size, path)
        for name, number in grammar.constants.items():
            if number >> grammar.fields[name].high - grammar.fields[name].low + 1:
                raise CannotLayOut(f"{path}: {name} has to be {number:#x}, which does not fit in its bits")
        # One byte has no order: so both spellings become the same node, with one table in generated code.
        return cls(grammar.size, grammar.order == "big" and grammar.size > 1, bits, tuple(grammar.constants.items()))

    @property
    def order(self) -> Order:
        """Which byte comes first."""
        return "big" if self.big else "little"

    @property
    def fixed(self) -> tuple[int, int]:
        """The bits whose value is fixed, and that value, both in place."""
        known = dict(self.constants)
        fixed = [bit for bit in self.bits if bit.name in known]
        return sum(bit.mask for bit in fixed), sum(known[bit.name] << bit.low for bit in fixed)

    def fewest(self) -> int:
        return self.size

    def python_table(self, name: str) -> Lines:
        yield f"{name} = ("
        for bit in self.bits:
            yield f'    ("{bit.name}", 0x{bit.mask >> bit.low:X}, {bit.low}),'
        if self.spare:
            yield f'    ("{self.spare_name}", 0x{self.spare:X}, 0),'
        yield ")"

    def python_read(self, code: Code, into: str) -> Lines:
        number = f"b_{into.removeprefix('v_')}"
        yield f"if at + {self.size} > len(data):"
        yield "    raise Refusal(TRUNCATED, len(data))"
        yield f'{number} = int.from_bytes(data[at : at + {self.size}], "{self.order}")'
        mask, fixed = self.fixed
        # All fixed bits in one comparison, before the word is taken apart.
        if mask:
            yield f"if {number} & 0x{mask:X} != 0x{fixed:X}:"
            yield "    raise Refusal(UNKNOWN_ID, at)"
        yield f"{into} = named_bits({number}, {code.names.tables[self]})"
        yield f"at += {self.size}"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        fixed = "{" + ", ".join(f'"{name}": {value}' for name, value in self.constants) + "}"
        line = f"b_{field} = spell_bits(v_{field}, {code.names.tables[self]}, {fixed})"
        return [line], self.python_octets(f"b_{field}")

    def python_octets(self, number: str) -> str:
        """Return the bytes of an integer of these bits."""
        number = number if number.isidentifier() else f"({number})"
        return f'{number}.to_bytes({self.size}, "{self.order}")'

    @property
    def is_big(self) -> bool:
        """Whether the highest bits come first."""
        return self.big

    def c_table(self, code: CCode, name: str) -> tuple[list[str], list[str]]:
        places = [f"{{UINT64_C(0x{bit.mask:X}), {bit.low}}}" for bit in self.bits]
        if self.spare:
            places.append(f"{{UINT64_C(0x{self.spare:X}), 0}}")
        return list(self.names), [f"static const word_bits bits_{name}[] = {{{', '.join(places)}}};"]

    def c_prepare(self, name: str) -> Lines:
        yield f"    if (!establish(&kind_{name}))"
        yield "        return 0;"

    def c_variable(self, field: str, *, kept: bool) -> str | None:
        return f"uint64_t b_{field} = 0;"

    @property
    def _c(self) -> str:
        return "integer_big" if self.big else "integer"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        name = code.names.tables[self]
        yield f"if (!read_{self._c}(r, {self.size}, &b_{field}))"
        yield "    goto bad;"
        mask, fixed = self.fixed
        if mask:
            yield f"if ((b_{field} & UINT64_C(0x{mask:X})) != UINT64_C(0x{fixed:X})) {{"
            yield f"    refuse(r, UNKNOWN_ID, r->at - {self.size});"
            yield "    goto bad;"
            yield "}"
        yield from made(into, f"named_bits(&kind_{name}, bits_{name}, b_{field})")

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield f"b_{field} = ((record *){source})->byte;"
        yield from written(f"write_{self._c}(w, {self.size}, b_{field})")

    def slots(self, slots: Slots, path: str) -> None:
        slots.number(path, self.size)

    def column_variable(self, field: str) -> str:
        return f"uint64_t b_{field} = 0;"

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, column = code.cell(path, Kind.NUMBER)
        number = f"b_{field}" if field in code.kept else "number"
        yield f"TAKE(take_{'integer_big' if self.big else 'word'}({cell}, {column.size}, {self.size}, &{number}));"
        mask, fixed = self.fixed
        if mask:
            yield f"if (unlikely(({number} & UINT64_C(0x{mask:X})) != UINT64_C(0x{fixed:X})))"
            yield f"    return refused(f, UNKNOWN_ID, p - {self.size});"

    # Generators

    def candidates(self, near: Iterable[int], refs: frozenset[Ref]) -> list[int]:
        # Numbers that matter may be those of a group or of the whole; each group tries those that fit.
        near, tried = list(near), list[list[int]]()
        for name in sorted(str(ref.bit) for ref in refs):
            group = self.group(name)
            assert group is not None
            width = group.highest.bit_length()
            numbers = {*range(min(1 << width, 256)), *boundaries(width), *near}
            tried.append(sorted(number << group.shift for number in numbers if 0 <= number <= group.highest))
        mask, fixed = self.fixed
        # Of several wide groups there are more combinations than anybody tries; the first are those of small numbers.
        combined = islice(product(*tried), MAX_COMBINED)
        return sorted({sum(parts) & ~mask | fixed for parts in combined})

    def spelled(self, number: int) -> bytes:
        return number.to_bytes(self.size, self.order)

    def number_in(self, data: bytes) -> int:
        return int.from_bytes(data, self.order)

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        # Each group for itself, so that every value of a narrow one comes up; what has no name is mostly 0.
        groups = [group for name in self.names if (group := self.group(name)) is not None]
        draws = [(sampling.choices.number(group.highest.bit_length(), unspelled), group) for group in groups]
        spare = sampling.choices.pick((False, False, False, True))
        mask, fixed = self.fixed

        def draw(source: Source, numbers: Numbers) -> Pair:
            number = 0
            for part, group in draws:
                if group.mask != self.spare or spare(source):
                    number |= part(source)[0] << group.shift & group.mask
            return self.paired(number & ~mask | fixed)

        return draw

    def mutations(self, path: str) -> list[Mutation]:
        """Return what can be done to the bits at ``path``."""
        groups = {name: self.group(name) for name in self.names}
        flips = [
            self.flip(f"{'flip' if group.mask.bit_count() == 1 else 'change'} {path}.{name}", group.mask)
            for name, group in groups.items()
            if group is not None
        ]
        return [*flips, truncate(path)]

    def flip(self, name: str, mask: int) -> Mutation:
        """Make the mutation that changes one bit of a mask, or all of them."""
        # Single bits find what is shifted by one; the whole group finds what is masked too widely or too narrowly.
        masks = [*(1 << bit for bit in range(8 * self.size) if mask >> bit & 1), mask]

        def flip(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
            number = self.number_in(frame[start:end]) ^ masks[below(len(masks))]
            return put(frame, start, end, self.spelled(number))

        return name, flip

    def number_finder(self, path: str, more: Sequence[Mutation] = ()) -> Find:
        place = MutableField(path, self, [*self.mutations(path), *more])
        return fixed_finder(self.size, self.number_in, path, place)

    # Coverage

    def branches(self, place: Place) -> Iterator[str]:
        known = dict(self.constants)
        for name in self.names:
            group = self.group(name)
            assert group is not None
            spare = self.is_spare(name)
            width = group.highest.bit_length()
            # Each value of one or two bits is a branch; of wider groups only whether it is 0, as there would be no end.
            few = range(group.highest + 1) if width <= 2 and not spare else (0, 1)
            values = (known[name],) if name in known else few
            yield from (group_is(name, 3 if spare else width, value) for value in values)
        # One branch for all constants, as engines compare them at once.
        if known:
            yield UNKNOWN
        yield from fixed_ends(place, self.size)

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        start = tracing.at
        number = self.number_in(tracing.take(place, self.size))
        mask, fixed = self.fixed
        if number & mask != fixed:
            tracing.hit(place, UNKNOWN)
            raise TracedRefusal(Reason.UNKNOWN_ID, start)
        value = NamedBits(self.value(number), number)
        for name in self.names:
            group = self.group(name)
            assert group is not None
            spare = self.is_spare(name)
            tracing.hit(place, group_is(name, 3 if spare else group.highest.bit_length(), value[name]))
        return value

    # Vectors

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        return self.spelled(self.fixed[1])

    def extremes(self) -> dict[int, str]:
        """Return the words in which each group is at one end and all others are at the other, and what they are."""
        fixed, known = self.fixed[1], dict(self.constants)
        groups = {name: group.mask for name in self.names if name not in known and (group := self.group(name))}
        full = sum(groups.values())
        words = {fixed: "nothing set", fixed | full: "everything set"}
        for name, bits in groups.items():
            # A group that is shifted or masked wrongly takes from its neighbours, or gives to them.
            words.setdefault(fixed | bits, f"{name} alone at its highest")
            words.setdefault(fixed | full & ~bits, f"{name} alone 0")
        return words

    @property
    def numbers_tried(self) -> tuple[int, ...]:
        return tuple(self.extremes())

    def boundaries(self, full: bool) -> Iterator[BoundaryBytes]:
        mask, fixed = self.fixed
        for number, words in self.extremes().items() if full else islice(self.extremes().items(), 2):
            yield BoundaryBytes("value", words, self.spelled(number))
        for name in self.group_names:
            group = self.group(name)
            assert group is not None
            # Of one or two bits each value has a meaning of its own, as a kind or a mode has; of wider ones the ends.
            between = range(1, group.highest) if group.highest <= 3 and not group.mask & mask else ()
            for value in between:
                yield BoundaryBytes("value", f"{name}={value}", self.spelled(fixed | value << group.shift))
        if full and self.size > 1:
            # Ends are the same in any order of bytes where a group is whole bytes.
            yield BoundaryBytes("value", "of different bytes", self.spelled(in_order(self.size) & ~mask | fixed))
        for name, number in self.constants:
            group = self.group(name)
            assert group is not None
            spelled = self.spelled(fixed ^ 1 << group.shift)
            yield BoundaryBytes(UNKNOWN, f"{name} is {number ^ 1:#x} and not {number:#x}", spelled, "refused")
        if self.size > 1:
            yield BoundaryBytes(CUT, "cut after one byte", self.spelled(fixed)[:1], "cut", True)

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        for number, words in self.extremes().items():
            yield words, {where: self.spelled(number)}, frozenset({number}) if place.controls else None

    # The benchmark
