"""Bytes that say nothing, and have to be zero: so many, or as many as fill up a multiple."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from wire.constructs import Context, Grammar, Leaf, Span, dotted, take
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.expressions import Expr, Group
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, lead_of
from wire.kinds.branches import (
    CUT,
    MISSING,
    NOT_ZERO,
    PADDED,
    PADDING_CUT,
    PADDING_MISSING,
    UNPADDED,
    Inside,
    Place,
    Tracing,
)
from wire.kinds.coded import indented, written
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Names, Slots
from wire.kinds.edits import Below, Find, Found, MutableField, Mutation, UnreadableFrame, put, truncate
from wire.kinds.generators import PATIENCE, Draw, Lead, Numbers, Pair, Source, Unsatisfiable, leaf
from wire.kinds.integer import fixed_ends

WIDEST = 0xFFFF
"""Bytes of padding: more do not fit in any batch."""


class Zeros(Leaf):
    """``size`` bytes that are zero; the value is ``None``. For bytes that may be anything, use ``Bytes(size)``."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def read(self, stream: IO[bytes], context: Context, path: str) -> None:
        skip_zeros(stream, self.size, path)

    def spell(self, value: Any, path: str) -> bytes:
        if value is not None:
            raise EncodeError(f"{dotted(path)}: {value!r} is not None, as padding is")
        return bytes(self.size)

    def shown(self, value: Any) -> str | None:
        return "padding"


def skip_zeros(stream: IO[bytes], count: int, path: str) -> None:
    """Read padding; ``DecodeError`` (bad-value) at the first byte that is not zero."""
    start = stream.tell()
    there = take(stream, count, path, "padding")
    wrong = len(there) - len(there.lstrip(b"\0"))
    if wrong < count:
        raise DecodeError(Reason.BAD_VALUE, start + wrong, dotted(path), "padding that is not zero")


class PaddedTo(Grammar):
    """Something, and zeros behind it up to a multiple of ``to`` bytes, counted from where it begins."""

    def __init__(self, to: int, content: Grammar) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.to = to
        self.content = content
        self.zeros = Zeros(0)

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        value = self.content._parsereport(stream, context, path)
        end = stream.tell()
        skip_zeros(stream, (start - end) % self.to, path)
        spans = context._params.get("spans")
        if spans is not None and stream.tell() > end:
            spans.append(Span(end, stream.tell(), dotted(path), None, self.zeros))
        return value

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        value = self.content._build(obj, stream, context, path)
        stream.write(bytes((start - stream.tell()) % self.to))
        return value


class Padding(Part, frozen=True):
    """``size`` bytes that are zero; the value is ``None``."""

    size: int

    constructs = (Zeros,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        if not 1 <= grammar.size <= WIDEST:
            raise CannotLayOut(f"{path}: {grammar.size} bytes of padding; give a number from 1 to {WIDEST}")
        return cls(grammar.size)

    silent = True

    def fewest(self) -> int:
        return self.size

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"at = zeros(data, at, {self.size})"
        yield f"{into} = None"

    def python_store(self, code: Code, field: str) -> Lines:
        yield f"at = zeros(data, at, {self.size})"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        # It has no value: whoever gives one believes that it is a field.
        return [f"if v_{field} is not None:", '    raise EncodeError("padding is None")'], f"bytes({self.size})"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield f"if (!read_zeros(r, {self.size}))"
        yield "    goto bad;"
        yield f"{into} = Py_NewRef(Py_None);"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from written(f"write_zeros(w, {self.size})")

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:zeros({code.declare(name, 'bytes')}, {self.size})"

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        yield f"TAKE(take_zeros(f, p, {self.size}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from ()

    # Generators

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        zeros = None, bytes(self.size)
        return leaf(lambda source: zeros)

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        place = MutableField(path, self, [wrong_padding(path), truncate(path)])

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            end = at + self.size
            if end > len(data):
                raise UnreadableFrame
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    def most_bytes(self) -> float:
        return self.size

    def branches(self, place: Place) -> Iterator[str]:
        yield NOT_ZERO
        yield from fixed_ends(place, self.size)

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        tracing.zeros(place, self.size, MISSING, CUT)


def wrong_padding(path: str) -> Mutation:
    """Make the mutation that sets a bit of a byte of padding."""

    def wrong(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        # Where the part before it ends at a multiple by itself there is none.
        if start == end:
            return None
        at = start + below(end - start)
        return put(frame, at, at + 1, bytes((frame[at] | 1 << below(8),)))

    return f"padding that is not zero in {path}", wrong


def no_padding(path: str) -> Mutation:
    """Make the mutation that leaves padding out."""
    return f"without padding in {path}", lambda frame, start, end, cuts, below: put(frame, start, end, b"")


def more_padding(path: str, to: int) -> Mutation:
    """Make the mutation that pads to the multiple behind the right one."""
    return f"more padding in {path}", lambda frame, start, end, cuts, below: put(frame, end, end, bytes(to))


class Padded(Part, frozen=True):
    """``node``, and zeros up to a multiple of ``to`` bytes, counted from where it begins."""

    to: int
    node: Part

    constructs = (PaddedTo,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        if not 2 <= grammar.to <= WIDEST:
            raise CannotLayOut(f"{path}: padded to a multiple of {grammar.to}; give a number from 2 to {WIDEST}")
        node = walk.part(grammar.content, path, scope)
        if isinstance(node, Padded):
            raise CannotLayOut(f"{path}: padded twice; use the larger multiple, or a Struct between")
        if node.open_ended:
            raise CannotLayOut(f"{path}: an optional tail that is padded; pad what stands in the tail")
        return cls(grammar.to, node)

    def inner(self) -> tuple[Part, ...]:
        return (self.node,)

    def beside(self) -> tuple[Part, ...]:
        return (self.node,)

    def conditions(self) -> tuple[Expr, ...]:
        return self.node.conditions()

    @property
    def number_bits(self) -> int | None:
        return self.node.number_bits

    @property
    def signed(self) -> bool:
        return self.node.signed

    def group(self, name: str) -> Group | None:
        return self.node.group(name)

    @property
    def silent(self) -> bool:
        return self.node.silent

    def fewest(self) -> int:
        return -(-self.node.fewest() // self.to) * self.to

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.node, hint)

    def python_read(self, code: Code, into: str) -> Lines:
        begin = f"from_{into}"
        yield f"{begin} = at"
        yield from self.node.python_read(code, into)
        yield f"at = zeros(data, at, ({begin} - at) % {self.to})"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return [*self.node.python_set(code, field), f"w_{field} += bytes(-len(w_{field}) % {self.to})"], f"w_{field}"

    def c_variable(self, field: str, *, kept: bool) -> str | None:
        return self.node.c_variable(field, kept=kept)

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    size_t begin = r->at;"
        yield from indented(self.node.c_read(code, into, field, checked=checked))
        yield f"    if (!read_zeros(r, ({self.to} - (r->at - begin) % {self.to}) % {self.to}))"
        yield "        goto bad;"
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield "{"
        yield "    size_t begin = w->size;"
        yield from indented(self.node.c_write(code, source, field))
        yield f"    if (!write_zeros(w, ({self.to} - (w->size - begin) % {self.to}) % {self.to}))"
        yield "        return 0;"
        yield "}"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield "do"
        yield "    local begin = r.at"
        yield from indented(self.node.lua_read(code, name))
        yield f"    r:zeros({code.declare(f'{name}.padding', 'bytes')}, (begin - r.at) % {self.to})"
        yield "end"

    def slots(self, slots: Slots, path: str) -> None:
        slots.add(self.node, path)

    def column_variable(self, field: str) -> str:
        return self.node.column_variable(field)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    const uint8_t *begin = p;"
        yield from indented(self.node.column_read(code, path, field, checked=checked))
        yield f"    TAKE(take_zeros(f, p, ({self.to} - (size_t)(p - begin) % {self.to}) % {self.to}));"
        yield "}"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from self.node.cells(value, path, record)

    # Generators

    def hopeless(self) -> bool:
        return self.node.hopeless()

    def leads(self, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
        return lead_of(self.node, fields)

    def swallows(self) -> int:
        # Where no padding is needed, what follows is what stands right behind the part.
        return self.node.swallows()

    def swallows_behind(self, value: Any) -> int:
        return self.node.swallows_behind(value)

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        node = sampling.promised(self.node, fields)

        def draw(source: Source, numbers: Numbers) -> Pair:
            for _ in range(PATIENCE):
                value, data = node(source, numbers)
                padding = bytes(-len(data) % self.to)
                if not padding or not self.node.swallows() & 1:  # byte 0, which padding is
                    return value, data + padding
            raise Unsatisfiable("what is padded takes its padding for its own")

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        node = finding.part(self.node, path, fields)
        place = MutableField(path, self, [wrong_padding(path), no_padding(path), more_padding(path, self.to)])

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            end = node(data, at, numbers, found)
            padded = end + (at - end) % self.to
            if padded > len(data):
                raise UnreadableFrame
            found.append((end, padded, place, ()))
            return padded

        return find

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return self.node.most_bytes() + self.to - 1

    def inside(self) -> Iterator[Inside]:
        yield Inside("padded", self.node)

    @property
    def takes_rest(self) -> bool:
        return self.node.takes_rest

    def branches(self, place: Place) -> Iterator[str]:
        if self.node.hopeless():
            return
        fewest, most = self.node.fewest(), self.node.most_bytes()
        # Any size between the fewest and the most is taken to be possible.
        sizes = range(fewest, int(min(most, fewest + self.to)) + 1)
        widths = {-size % self.to for size in sizes}
        if 0 in widths:
            yield UNPADDED
        if widths - {0}:
            yield from (PADDED, NOT_ZERO, PADDING_MISSING)
        if max(widths) > 1:
            yield PADDING_CUT

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        start = tracing.at
        value = tracing.read(place.inner[0], where, scope)
        count = (start - tracing.at) % self.to
        if count:
            tracing.zeros(place, count, PADDING_MISSING, PADDING_CUT)
        tracing.hit(place, PADDED if count else UNPADDED)
        return value

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.part(self.node, value)
