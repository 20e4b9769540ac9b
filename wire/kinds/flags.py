"""One byte of named bits, and the header byte of a message."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import IO, Any

from wire.constructs import (
    OCTET,
    Context,
    Leaf,
    Message,
    NamedBits,
    Span,
    bounded,
    dotted,
    octet_values,
    take,
)
from wire.errors import DecodeError, EncodeError, Reason
from wire.expressions import Expr, Ref
from wire.kinds.base import Part, Sampling, Scope, Walk
from wire.kinds.bit_groups import BitGroups
from wire.kinds.bit_places import Bit, check_bit_places, spare_name
from wire.kinds.branches import MISSING, UNKNOWN, Place, TracedRefusal, Tracing, group_is
from wire.kinds.coded import written
from wire.kinds.composing import ComposedTarget, Looking
from wire.kinds.contexts import CCode, Code, ColumnCode, Kind, Lines, Slots
from wire.kinds.edits import Below, Find, Found, MutableField, Mutation, UnreadableFrame, put, truncate
from wire.kinds.generators import Draw, Numbers, Pair, leaf

ID = 0x1F
"""The bits of a header byte that carry a message's id."""


FEW = 4
"""Values of a group that are all tried: those of two bits."""


class Bits(Leaf):
    """One byte of named bits: ``Bits(Z=7, Mod=(6, 5), id=(4, 0))``; a name maps to a bit or to (high, low).

    Bits that have no name are kept in their place, under ``X`` (``X_`` if a bit is called so); an absent name counts
    as 0 when encoding.
    """

    def __init__(self, **fields: int | tuple[int, int]) -> None:
        super().__init__()
        self.fields = {name: (where, where) if isinstance(where, int) else where for name, where in fields.items()}
        self.named = sum(self.mask(name) for name in self.fields)
        self.spare = spare_name(iter(self.fields))
        named = tuple((name, self.mask(name) >> low, low) for name, (_, low) in self.fields.items())
        left = ~self.named & 0xFF
        self.values = octet_values((*named, (self.spare, left, 0)) if left else named)

    def mask(self, name: str) -> int:
        """Return the bits of one field, in place."""
        high, low = self.fields[name]
        return (2 << high) - (1 << low)

    def read(self, stream: IO[bytes], context: Context, path: str) -> NamedBits:
        return self.values[take(stream, 1, path, "a byte of flags")[0]]

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        byte = self.spell(obj, path)
        stream.write(byte)
        return self.values[byte[0]]  # complete: later conditions look at every name

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, dict):
            raise EncodeError(f"{dotted(path)}: {value!r} is not a table of flags")
        byte = bounded(value.get(self.spare, 0), 8, f"{path} -> {self.spare}")
        if byte & self.named:
            raise EncodeError(f"{dotted(path)}.{self.spare}: {byte:#04x} has bits that have a name")
        for name, (high, low) in self.fields.items():
            byte |= bounded(value.get(name, 0), high - low + 1, f"{path} -> {name}") << low
        return bytes([byte])

    def cleared(self, spelled: bytes) -> Iterator[bytes]:
        byte = spelled[0]
        yield from (bytes((byte ^ 1 << bit,)) for bit in range(8) if byte >> bit & 1)

    def remarks(self, span: Span, data: bytes) -> Iterator[str]:
        if span.value.get(self.spare):
            yield f"reserved bits {span.value[self.spare]:#04x} are set"


class Header(Bits):
    """A message's header byte: its id in bits 4:0, flags above, or constants of flags (``Mod=(6, 5, 0)``)."""

    def __init__(self, id: int, **fields: int | tuple[int, int] | tuple[int, int, int]) -> None:
        flags = {name: where[:2] if isinstance(where, tuple) else where for name, where in fields.items()}
        super().__init__(**flags, id=(4, 0))
        self.constants: dict[str, int] = {"id": id}
        self.constants |= {n: w[2] for n, w in fields.items() if isinstance(w, tuple) and len(w) == 3}

    def matches(self, byte: int) -> bool:
        """Tell whether a header byte begins this message."""
        return all(self.values[byte][name] == value for name, value in self.constants.items())

    def read(self, stream: IO[bytes], context: Context, path: str) -> NamedBits:
        start = stream.tell()
        byte = take(stream, 1, path, "a header")[0]
        if not self.matches(byte):
            raise DecodeError(Reason.UNKNOWN_ID, start, dotted(path), f"header {byte:#04x} does not begin this message")
        return self.values[byte]

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, dict):
            raise EncodeError(f"{dotted(path)}: {value!r} is not a table of flags")
        return super().spell(value | self.constants, path)


def header_of(message: Message) -> Header:
    """Return the header byte's declaration of a named message."""
    first = message.subcon.subcons[0]  # type: ignore[attr-defined]
    assert isinstance(first.subcon, Header)
    return first.subcon


class Flags(BitGroups, frozen=True):
    """One byte of named bits; those without a name are kept in place under ``spare_name``, if there are any.

    ``constants`` are the names whose value a message's header fixes, ``begins`` the bytes that can stand here: in a
    union those that begin this message and no earlier one.
    """

    bits: tuple[Bit, ...]
    constants: tuple[tuple[str, int], ...] = ()
    begins: tuple[int, ...] = tuple(range(256))

    constructs = (Bits,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        bits = tuple(Bit(name, *where) for name, where in grammar.fields.items())
        check_bit_places(bits, 8, path)
        if not isinstance(grammar, Header):
            return cls(bits)
        begins = tuple(byte for byte in range(256) if grammar.matches(byte))
        return cls(bits, tuple(grammar.constants.items()), begins)

    def bit(self, name: str) -> Bit:
        """Return one group of bits by its name."""
        return next(bit for bit in self.bits if bit.name == name)

    def value(self, number: int) -> NamedBits:
        return octet_values(self.places)[number]

    def fewest(self) -> int:
        return 1

    @property
    def is_any(self) -> bool:
        """Whether every byte can stand here."""
        return len(self.begins) == 256

    def python_table(self, name: str) -> Lines:
        yield f"{name} = ("
        for bit in self.bits:
            yield f'    ("{bit.name}", 0x{bit.mask >> bit.low:X}, {bit.low}),'
        if self.spare:
            yield f'    ("{self.spare_name}", 0x{self.spare:02X}, 0),'
        yield ")"
        if self.is_any:
            yield f"{name}_table = flags_table({name})"
        else:
            yield f"{name}_begins = ({', '.join(f'0x{byte:02X}' for byte in self.begins)},)"
            yield f"{name}_table = flags_table({name}, {name}_begins)"

    def python_ahead(self, code: Code, into: str, ahead: int) -> tuple[Lines, int] | None:
        return self._octet(code, into, ahead), ahead + 1

    def _octet(self, code: Code, into: str, ahead: int) -> Lines:
        where = f"at + {ahead}" if ahead else "at"
        byte = f"b_{into.removeprefix('v_')}"
        yield f"{byte} = data[{where}]"
        yield f"{into} = {code.names.tables[self]}_table[{byte}]"
        if not self.is_any:
            yield f"if {into} is None:"
            yield f"    raise Refusal(UNKNOWN_ID, {where})"

    def python_read(self, code: Code, into: str) -> Lines:
        yield from self._octet(code, into, 0)
        yield "at += 1"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return list(self._byte(code, field)), self.python_octets(f"b_{field}")

    def python_octets(self, number: str) -> str:
        """Return the bytes of an integer of these bits."""
        return f"OCTET[{number}]"

    @property
    def is_big(self) -> bool:
        """Whether the highest bits come first: one byte has no order."""
        return False

    def _byte(self, code: Code, field: str) -> Lines:
        name = code.names.tables[self]
        fixed = "{" + ", ".join(f'"{constant}": {value}' for constant, value in self.constants) + "}"
        yield "try:"
        yield f"    b_{field} = v_{field}.byte"
        yield "except AttributeError:"
        yield f"    b_{field} = spell_flags(v_{field}, {name}, {fixed}, {name}_table)"
        yield "else:"
        yield f"    if {name}_table[b_{field}] is not v_{field}:"
        yield f"        b_{field} = spell_flags(v_{field}, {name}, {fixed}, {name}_table)"

    def c_table(self, code: CCode, name: str) -> tuple[list[str], list[str]]:
        places = [f"{{0x{bit.mask:02X}, {bit.low}}}" for bit in self.bits]
        if self.spare:
            places.append(f"{{0x{self.spare:02X}, 0}}")
        lines = [f"static const bits bits_{name}[] = {{{', '.join(places)}}};"]
        if not self.is_any:
            begins = ", ".join(f"0x{byte:02X}" for byte in self.begins)
            lines.append(f"static const uint8_t begins_{name}[] = {{{begins}}};")
        lines.append(f"static PyObject *table_{name}[256];")
        return list(self.names), lines

    def c_prepare(self, name: str) -> Lines:
        some = "NULL, 256" if self.is_any else f"begins_{name}, {len(self.begins)}"
        yield f"    if (!establish(&kind_{name}) || !tabulate(&kind_{name}, bits_{name}, table_{name}, {some}))"
        yield "        return 0;"

    def c_variable(self, field: str, *, kept: bool) -> str | None:
        return f"uint8_t b_{field} = 0;"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        table = f"table_{code.names.tables[self]}[b_{field}]"
        yield f"if (!read_octet(r, &b_{field}))"
        yield "    goto bad;"
        if not self.is_any and not checked:
            yield f"if ({table} == NULL) {{"
            yield "    refuse(r, UNKNOWN_ID, r->at - 1);"
            yield "    goto bad;"
            yield "}"
        yield f"{into} = Py_NewRef({table});"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield f"b_{field} = (uint8_t)((record *){source})->byte;"
        yield from written(f"write_octet(w, b_{field})")

    def slots(self, slots: Slots, path: str) -> None:
        slots.number(path, 1)

    def column_variable(self, field: str) -> str:
        return f"uint8_t b_{field} = 0;"

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, column = code.cell(path, Kind.NUMBER)
        if not self.is_any and not checked:
            begins = code.beginning(self.begins, code.names.tables[self])
            yield f"if (p != f->end && !{begins}[*p])"
            yield "    return refused(f, UNKNOWN_ID, p);"
        byte = f"&b_{field}" if field in code.kept else "&byte"
        yield f"TAKE(take_flags({cell}, {column.size}, {byte}));"

    # Generators

    has_few = True

    def candidates(self, near: Iterable[int], refs: frozenset[Ref]) -> list[int]:
        return list(self.begins)

    def spelled(self, number: int) -> bytes:
        return bytes((number,))

    def number_in(self, data: bytes) -> int:
        return data[0]

    def paired(self, number: int) -> Pair:
        return flag_pairs(self)[number]

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        return leaf(sampling.choices.pick([self.paired(byte) for byte in self.begins]))

    def mutations(self, path: str) -> list[Mutation]:
        """Return what can be done to the bits at ``path``."""
        mutations = [
            flip(f"flip {path}.{bit.name}", (bit.mask,))
            if bit.high == bit.low
            else flip(f"change {path}.{bit.name}", tuple(n << bit.low for n in range(1, (bit.mask >> bit.low) + 1)))
            for bit in self.bits
        ]
        if self.spare:
            spare = tuple(1 << n for n in range(8) if self.spare >> n & 1)
            mutations.append(flip(f"flip {path}.{self.spare_name}", spare))
        return [*mutations, truncate(path)]

    def number_finder(self, path: str, more: Sequence[Mutation] = ()) -> Find:
        begins, name = None if self.is_any else frozenset(self.begins), path.rpartition(".")[2]
        place = MutableField(path, self, [*self.mutations(path), *more])

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            numbers[name] = byte = data[at]
            if begins is not None and byte not in begins:
                raise UnreadableFrame
            found.append((at, at + 1, place, ()))
            return at + 1

        return find

    # Coverage

    def by_first_byte(self) -> Sequence[Any]:
        return octet_values(self.places)

    def branches(self, place: Place) -> Iterator[str]:
        for name in self.names:
            yield from dict.fromkeys(self.group_branch(name, byte) for byte in self.begins)
        if not place.given:
            yield from ([MISSING] if self.is_any else [MISSING, UNKNOWN])

    def group_branch(self, name: str, byte: int) -> str:
        """Say what a group of bits is in a byte; bits without a name are one group, however many."""
        group = self.group(name)
        assert group is not None
        width = 8 if self.is_spare(name) else group.highest.bit_length()
        return group_is(name, width, self.value(byte)[name])

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        byte = tracing.take(place, 1)[0]
        if not self.is_any and byte not in self.begins:
            tracing.hit(place, UNKNOWN)
            raise TracedRefusal(Reason.UNKNOWN_ID, tracing.at - 1)
        tracing.hit(place, *flag_branches(self, byte))
        return place.table[byte]

    # Vectors

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        return bytes((self.begins[0],))

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        frame = looking.compose(target.plan)
        plain = frame.data[frame.spans[target.where][0]]
        for byte in self.combinations() if target.full else self.single(plain):
            comment = f"0x{byte:02x}: {self.said(byte)}"
            yield looking.made(target, "flags", "flags", comment, {target.where: bytes((byte,))})

    def combinations(self) -> list[int]:
        """Return the bytes of all combinations of flags; of bits without a name none, each one, and all."""
        # Spare bits are tried one by one: all their combinations would be thousands of frames that say the same.
        wanted = {0, self.spare, *(1 << bit for bit in range(8) if self.spare >> bit & 1)}
        return [byte for byte in self.begins if byte & self.spare in wanted]

    def single(self, plain: int) -> list[int]:
        """Return bytes in which each group of bits has each value (0, 1 and the highest of wider ones) once."""
        found = []
        for name in self.names:
            values = sorted({self.value(byte)[name] for byte in self.begins})
            for value in values if len(values) <= FEW else [values[0], values[1], values[-1]]:
                able = [byte for byte in self.begins if self.value(byte)[name] == value]
                # As near to the plain byte as can be: what differs is then this group, and not what it happens to bring
                # along.
                found.append(min(able, key=lambda byte: ((byte ^ plain).bit_count(), byte)))
        return list(dict.fromkeys(found))

    def said(self, byte: int) -> str:
        """Name the groups of bits that are set, without those that are the same in every byte that can stand here."""
        value, constant = self.value(byte), {name for name, _ in self.constants}
        words = []
        for name in self.names:
            if name in constant or not value[name]:
                continue
            if self.is_spare(name):
                words.append(f"{name}=0x{value[name]:02x}")
            else:
                words.append(f"{name}={value[name]}" if self.bit(name).high > self.bit(name).low else name)
        return " ".join(words) or "nothing set"

    def group_options(self) -> Iterator[tuple[str, list[tuple[str, frozenset[int]]]]]:
        for name in self.names:
            values = sorted({self.value(byte)[name] for byte in self.begins})
            few = values if len(values) <= FEW and not self.is_spare(name) else [values[0], *values[1:2], values[-1]]
            narrow = not self.is_spare(name) and self.bit(name).high == self.bit(name).low
            yield (
                name,
                [
                    (
                        "" if not value else name if narrow else f"{name}={value}",
                        frozenset(byte for byte in self.begins if self.value(byte)[name] == value),
                    )
                    for value in dict.fromkeys(few)
                ],
            )


def flip(name: str, masks: tuple[int, ...]) -> Mutation:
    """Make the mutation that changes the bits of one of some masks in a byte."""

    def flip(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, end, bytes((frame[start] ^ masks[below(len(masks))],)))

    return name, flip


@lru_cache(maxsize=256)  # more than all protocols have
def flag_pairs(flags: Flags) -> tuple[Pair, ...]:
    """Return the values of all bytes with the bytes; they are shared, and cannot be changed."""
    return tuple(zip(octet_values(flags.places), OCTET, strict=True))


@lru_cache(maxsize=4096)  # most bytes of most flags never come
def flag_branches(flags: Flags, byte: int) -> tuple[str, ...]:
    """Say what each group of bits is in a byte."""
    return tuple(flags.group_branch(name, byte) for name in flags.names)
