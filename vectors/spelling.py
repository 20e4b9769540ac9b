"""What every generator has to know of a tree: the bytes of numbers, legal and not, and which number leads where.

A sampler that wants a certain case of a ``Switch`` first chooses the case and then the number that its key is made
of; a mutator that wants a refusal chooses the number that leads to ``Reserved``. Both ask ``Outcomes``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from wire.errors import WireError
from wire.layout import (
    SYMBOLS,
    Chain,
    Const,
    Expr,
    Flags,
    Integer,
    Items,
    Limited,
    Nothing,
    Op,
    Optional,
    Part,
    Record,
    Ref,
    Remainder,
    Reserved,
    Sized,
    Switch,
    Union,
    Varint,
)
from wire.primitives import vle

Scope = dict[str, int]
"""The numbers of the fields that stand earlier in a record; a byte of flags is the number of the byte."""


class Unsatisfiable(WireError):
    """A layout of which no frame can be made, or none was found; the message names the part."""


class NoGenerator(WireError):
    """A layout with a part that the generators do not know; the message names its kind."""


LONGEST = 9
"""Bytes of the longest variable-length integer; its last byte has eight bits."""

_SHORT = tuple(vle(number) for number in range(1 << 14))
_CONTINUED = tuple(bytes((number & 0x7F | 0x80, number >> 7 | 0x80)) for number in range(1 << 14))
_LAST = tuple(bytes((number,)) for number in range(256))


def spell(number: int) -> bytes:
    """Spell an integer below 2**64 with a variable length, in the fewest bytes."""
    if number < 1 << 14:
        return _SHORT[number]
    if number < 1 << 28:
        return _CONTINUED[number & 0x3FFF] + _SHORT[number >> 14]
    out = _CONTINUED[number & 0x3FFF] + _CONTINUED[number >> 14 & 0x3FFF]
    if number < 1 << 42:
        return out + _SHORT[number >> 28]
    out += _CONTINUED[number >> 28 & 0x3FFF]
    if number < 1 << 56:
        return out + _SHORT[number >> 42]
    return out + _CONTINUED[number >> 42 & 0x3FFF] + _LAST[number >> 56]


def stretch(number: int, length: int) -> bytes:
    """Spell an integer with a variable length in exactly ``length`` bytes: overlong if fewer were enough."""
    out = bytearray()
    for _ in range(length - 1):
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def unspell(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer with a variable length, whatever its size: the number and the offset behind it."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number = byte & 0x7F
    for index in range(1, LONGEST):
        byte = data[at + index]
        if byte < 0x80 or index == LONGEST - 1:
            return number | byte << 7 * index, at + index + 1
        number |= (byte & 0x7F) << 7 * index
    raise AssertionError


def spelled(part: Flags | Integer | Varint, number: int) -> bytes:
    """Spell the number that a part counts as."""
    match part:
        case Flags():
            return _LAST[number]
        case Integer(size=size):
            return number.to_bytes(size, "little")
        case Varint():
            return spell(number)


def boundaries(bits: int) -> tuple[int, ...]:
    """Return the numbers below ``2**bits`` at which codecs err, ascending: around every power that a length ends at."""
    powers = {7 * length for length in range(1, LONGEST)} | {8, 15, 16, 31, 32, 63, 64, bits - 1, bits}
    near = {(1 << power) + step for power in powers for step in (-1, 0, 1)} | {0, 1, 2}
    return tuple(sorted(number for number in near if number < 1 << bits))


_OPERATORS: Final = {symbol: function for function, symbol in SYMBOLS.items()}


def evaluator(expr: Expr, fields: Mapping[str, Part]) -> Callable[[Scope], int]:
    """Compile an expression over the ``fields`` of a record: a function of their numbers."""
    match expr:
        case Const(value=number):
            return lambda scope: number
        case Ref(field=field, bit=None):
            return lambda scope: scope[field]
        case Ref(field=field, bit=str(bit)):
            flags = present(fields[field])
            assert isinstance(flags, Flags)
            if bit == "X":
                spare = flags.spare
                return lambda scope: scope[field] & spare
            where = flags.bit(bit)
            mask, low = where.mask, where.low
            return lambda scope: (scope[field] & mask) >> low
        case Op():
            apply = _OPERATORS[expr.symbol]
            left, right = evaluator(expr.left, fields), evaluator(expr.right, fields)
            return lambda scope: int(apply(left(scope), right(scope)))
    raise TypeError(expr)


def present(part: Part) -> Part:
    """Return what a field holds when it is there."""
    return part.node if isinstance(part, Optional) else part


def number_of(value: Any) -> int:
    """Return the number that a field's value counts as in expressions: itself, or the byte of flags."""
    return int(getattr(value, "byte", value))


def _inside(part: Part) -> Iterator[Part]:
    """Give the parts of a field whose expressions look at the same record."""
    yield part
    match part:
        case Optional(node=node):
            yield from _inside(node)
        case Switch():
            for _, case in part.cases:
                yield from _inside(case)
            yield from _inside(part.default)
        case _:
            pass


def _expressions(part: Part) -> Iterator[Expr]:
    for each in _inside(part):
        match each:
            case Optional(when=expr) | Switch(key=expr) | Sized(count=expr):
                yield expr
            case _:
                pass


def _terms(expr: Expr) -> Iterator[Ref | Const]:
    if isinstance(expr, Op):
        yield from _terms(expr.left)
        yield from _terms(expr.right)
    else:
        yield expr


def references(part: Part) -> frozenset[Ref]:
    """Return what the expressions of a field look at."""
    return frozenset(term for expr in _expressions(part) for term in _terms(expr) if isinstance(term, Ref))


def hopeless(part: Part) -> bool:
    """Tell whether every frame that has this part is refused."""
    match part:
        case Reserved():
            return True
        case Record():
            return any(hopeless(field.node) for field in part.fields)
        case Union():
            return all(hopeless(message) for message in part.messages)
        case Chain():
            return hopeless(part.item)
        case Limited():
            return hopeless(part.node)
        case Switch():
            return hopeless(part.default) and all(hopeless(case) for _, case in part.cases)
        case _:
            return False


REFUSED: Final = "refused"
AVOIDED: Final = "avoided"
Outcome = Any
"""Where the expressions of some fields lead, hashable: which cases are taken, what is absent, how long it gets;
``REFUSED`` if to a reserved place, ``AVOIDED`` if to what no generator makes on purpose.
"""

MOST_SIZED = 4096
"""Bytes of the longest field whose size another field gives; longer ones are avoided, to keep frames small."""


def outcome(part: Part, fields: Mapping[str, Part]) -> Callable[[Scope], Outcome]:
    """Compile where a field's expressions lead."""
    if hopeless(part):
        return lambda scope: REFUSED
    match part:
        case Optional():
            when, inner = evaluator(part.when, fields), outcome(part.node, fields)
            return lambda scope: inner(scope) if when(scope) else None
        case Switch():
            key, default = evaluator(part.key, fields), outcome(part.default, fields)
            cases = {number: (index, outcome(case, fields)) for index, (number, case) in enumerate(part.cases)}

            def chosen(scope: Scope) -> Outcome:
                index, lead = cases.get(key(scope), (-1, default))
                led = lead(scope)
                return led if led in (REFUSED, AVOIDED) else (index, led)

            return chosen
        case Sized():
            count = evaluator(part.count, fields)

            def sized(scope: Scope) -> Outcome:
                size = count(scope)
                return size.bit_length() if 0 <= size <= MOST_SIZED else AVOIDED

            return sized
        case _:
            return lambda scope: ()


class Outcomes:
    """Where the numbers of one ``field`` lead: what the later fields of its record make of them.

    ``others`` are the earlier fields that share an expression with it: with those, the answer depends on them.
    """

    def __init__(self, record: Record, field: str) -> None:
        names = [each.name for each in record.fields]
        self.fields = {each.name: each.node for each in record.fields}
        self.field = field
        part = present(self.fields[field])
        known = set(names[: names.index(field) + 1])
        self.dependents = {
            each.name: each.node
            for each in record.fields[names.index(field) + 1 :]
            if field in (looked := {ref.field for ref in references(each.node)}) and looked <= known
        }
        looked_at = {ref.field for node in self.dependents.values() for ref in references(node)}
        self.others = tuple(name for name in names if name in looked_at and name != field)
        if self.dependents and not isinstance(part, Flags | Integer | Varint):
            raise TypeError(f"{field} is looked at and is not a number")
        self._part = part
        self._lead = tuple(outcome(node, self.fields) for node in self.dependents.values())

    def __bool__(self) -> bool:
        return bool(self.dependents)

    @property
    def part(self) -> Flags | Integer | Varint:
        """Return the part whose number it is."""
        assert isinstance(self._part, Flags | Integer | Varint)
        return self._part

    def of(self, scope: Scope) -> Outcome:
        """Return where the numbers in ``scope`` lead."""
        try:
            led = tuple(lead(scope) for lead in self._lead)
        except (ValueError, KeyError):  # a shift by a negative number, a field that is absent
            return AVOIDED
        return REFUSED if REFUSED in led else AVOIDED if AVOIDED in led else led

    def candidates(self, scope: Scope) -> list[int]:
        """Return the numbers worth trying, ascending: all bytes, or whatever the expressions could be about."""
        if isinstance(self.part, Flags):
            return list(self.part.begins)
        bits = 8 * self.part.size if isinstance(self.part, Integer) else self.part.bits
        constants = {scope[name] for name in self.others if name in scope}
        targets = {0}
        for node in self.dependents.values():
            constants |= {term.value for expr in _expressions(node) for term in _terms(expr) if isinstance(term, Const)}
            targets |= {number for each in _inside(node) if isinstance(each, Switch) for number, _ in each.cases}
        tried = set(range(256)) | set(boundaries(bits)) | set(_solutions(targets | constants, constants))
        return sorted(number for number in tried if 0 <= number < 1 << bits)

    def groups(self, scope: Scope) -> list[list[int]]:
        """Return the candidates by outcome, those that no frame can have left out, the group of the smallest first."""
        by_outcome: dict[Outcome, list[int]] = {}
        for number in self.candidates(scope):
            by_outcome.setdefault(self.of({**scope, self.field: number}), []).append(number)
        by_outcome.pop(REFUSED, None)
        by_outcome.pop(AVOIDED, None)
        return list(by_outcome.values())

    def refusals(self) -> tuple[int, tuple[int, ...]]:
        """Return the numbers that lead to a reserved place, whatever else the record has, ascending.

        Of flags: what the bits of the mask that comes first have to be. Of a number the mask has no meaning.
        """
        alone = [
            node
            for node in self.dependents.values()
            if any(isinstance(each, Reserved) for each in _inside(node))
            and {ref.field for ref in references(node)} == {self.field}
        ]
        leads = [outcome(node, self.fields) for node in alone]
        mask = self.mask(ref for node in alone for ref in references(node))
        numbers = {
            number & mask if mask else number
            for number in self.candidates({})
            if any(lead({self.field: number}) == REFUSED for lead in leads)
        }
        return mask, tuple(sorted(numbers))

    def counts(self) -> Iterator[tuple[str, int, Callable[[Scope], int]]]:
        """Give the later fields whose size this field alone gives: name, the mask of the bits that do, the size."""
        for name, node in self.dependents.items():
            for each in _inside(node):
                if isinstance(each, Sized) and {ref.field for ref in references(each)} == {self.field}:
                    yield name, self.mask(references(each)), evaluator(each.count, self.fields)

    def mask(self, refs: Iterable[Ref]) -> int:
        """Return the bits of this field of flags that some expressions look at; 0 for a number."""
        if not isinstance(self.part, Flags):
            return 0
        flags = self.part
        return _any_of(flags.spare if ref.bit == "X" else flags.bit(str(ref.bit)).mask for ref in refs)


def _solutions(targets: Iterable[int], constants: Iterable[int]) -> Iterator[int]:
    """Give the numbers around each target, and those from which one operation with a constant leads there."""
    for target in targets:
        yield from (target - 1, target, target + 1)
        for constant in constants:
            for number in (target + constant, target - constant, constant - target, target ^ constant):
                yield from (number - 1, number, number + 1)
            if constant > 0:
                yield target // constant
            if 0 <= constant < 64:
                yield target << constant
                yield target >> constant


def nullable(part: Part) -> bool:
    """Tell whether a part can have no bytes."""
    match part:
        case Optional() | Items() | Remainder() | Nothing() | Sized():
            return True
        case Record():
            return all(nullable(field.node) for field in part.fields)
        case Switch():
            return nullable(part.default) or any(nullable(case) for _, case in part.cases)
        case Limited():
            return nullable(part.node)
        case _:
            return False


ANY = (1 << 256) - 1


def swallows(part: Part) -> int:
    """Return the bytes, as bits of a number, that a part may take for its own if they stand right behind it."""
    match part:
        case Remainder() | Items(to_end=True):
            return ANY
        case Items(union=union):
            return first(union) | swallows(union)
        case Optional(node=node) | Limited(node=node):
            return swallows(node)
        case Switch():
            return swallows(part.default) | _any_of(swallows(case) for _, case in part.cases)
        case Union():
            return _any_of(map(swallows, part.messages))
        case Chain(item=item):
            return swallows(item)
        case Record():
            taken = 0
            for field in reversed(part.fields):
                taken |= swallows(field.node)
                if not nullable(field.node):
                    break
            return taken
        case _:
            return 0


def first(union: Union) -> int:
    """Return the bytes that begin a message of a union, as bits of a number."""
    return _any_of(1 << byte for message in union.messages for byte in message.header.begins)


def _any_of(masks: Iterable[int]) -> int:
    total = 0
    for mask in masks:
        total |= mask
    return total
