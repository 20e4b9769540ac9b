"""Records that say of themselves whether one more follows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from construct import Renamed

from wire.constructs import MOST, Context, Grammar, Values, bounded, dotted, fitting, room
from wire.errors import CannotLayOut, EncodeError, Reason
from wire.expressions import Ref
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, looked_at
from wire.kinds.bit_groups import BitGroups
from wire.kinds.bitfields import BitFields
from wire.kinds.branches import END_MISSING, FULL, MORE, ONE, TOO_MANY, Inside, Place, TracedRefusal, Tracing
from wire.kinds.coded import indented
from wire.kinds.composing import Change, ComposedTarget, Composing, Looking, Plan, PlannedOption, Way, before
from wire.kinds.compound import Compound
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Names, Slots, lua_text
from wire.kinds.edits import MAX_FOUND, Find, Found, MutableField, UnreadableFrame, list_mutations
from wire.kinds.flags import Flags
from wire.kinds.generators import Draw, Numbers, Pair, Source
from wire.kinds.items import c_listed, list_cell, list_limits, python_listed
from wire.kinds.optional import Optional
from wire.kinds.record import Record

LONG_CHAIN = 20
"""Items of a chain that is longer than any that a protocol knows."""


class ChainOf(Grammar):
    """Items that follow each other as long as the first field of each, flags or a word, has the bit ``more`` set.

    The chain sets that bit when it is written, whatever the values say.
    """

    def __init__(self, item: Grammar, *, more: str = "Z", most: int = MOST) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.item = item
        self.more = more
        self.most = most
        # Asked now: Construct's compiler (a baseline of the benchmark) puts what has no fields in the item's place.
        fields = getattr(item.subcon if isinstance(item, Renamed) else item, "subcons", ())
        self.first = str(fields[0].name) if fields else ""

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> list[Values]:
        values: list[Values] = []
        more = True
        while more:
            room(self.most, values, stream, path)
            values.append(self.item._parsereport(stream, context, f"{path}[{len(values)}]"))
            more = bool(values[-1][self.first][self.more])
        return values

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        if not obj:
            raise EncodeError(f"{dotted(path)}: {self.more} is set, so there has to be at least one")
        for index, value in enumerate(fitting(obj, self.most, path)):
            header = dict(value[self.first])
            bounded(header.get(self.more, 0), 1, f"{path}[{index}] -> {self.first} -> {self.more}")
            header[self.more] = int(index + 1 < len(obj))
            self.item._build({**value, self.first: header}, stream, context, f"{path}[{index}]")
        return obj


class Chain(Compound, frozen=True):
    """One to ``most`` records, as long as the first field of each has the bit ``more`` set."""

    item: Record
    most: int
    more: str = "Z"

    constructs = (ChainOf,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        # The item looks at nothing outside it: it is one record wherever the chain stands.
        item, more = walk.part(grammar.item, f"{path}[]", Scope()), grammar.more
        first = item.fields[0].node if isinstance(item, Record) and item.fields else None
        named = isinstance(first, BitFields) or (isinstance(first, Flags) and first.is_any)
        if not isinstance(item, Record) or first is None or not named or more not in first.group_names:
            raise CannotLayOut(
                f"{path}: the items of a Chain are Structs that begin with Bits or a Word that has {more}, no Header"
            )
        group = first.group(more)
        if group is None or group.highest != 1:
            raise CannotLayOut(f"{path}: {more} has several bits; what says that more follows is one bit")
        if isinstance(first, BitFields) and more in dict(first.constants):
            wanted = dict(first.constants)[more]
            raise CannotLayOut(f"{path}: {more} has to be {wanted}; a bit says that more follows if it can be 0 and 1")
        if item.open_ended:
            raise CannotLayOut(f"{path}: an item that ends with an optional tail, behind which nothing can follow")
        return cls(item, grammar.most, more)

    @property
    def first(self) -> str:
        """The name of the field that has the bit."""
        return self.item.fields[0].name

    @property
    def head(self) -> BitGroups:
        """The field that has the bit."""
        node = self.item.fields[0].node
        assert isinstance(node, BitGroups)
        return node

    @property
    def mask(self) -> int:
        """The bit that says that more follows, in place."""
        group = self.head.group(self.more)
        assert group is not None
        return group.mask

    @property
    def octet(self) -> tuple[int, int]:
        """The byte of an item that has the bit, and the bit within it."""
        # Of a word only one byte has the bit, so writers and mutations change that one, whichever comes first.
        index, bit = divmod(self.mask.bit_length() - 1, 8)
        return (self.head.fewest() - 1 - index if self.head.is_big else index), 1 << bit

    def inner(self) -> tuple[Part, ...]:
        return (self.item,)

    def fewest(self) -> int:
        return self.item.fewest()

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.item, f"{hint}_item")

    def python_inlined(self) -> tuple[Part, ...]:
        # The first field of an item decides whether the loop over the items goes on, so it is read in that loop.
        return (self.item,)

    def python_reader(self, code: Code) -> Lines:
        yield "values: list[Any] = []"
        yield "while True:"
        yield from indented(self.item.python_fields(code))
        yield "    values.append(value)"
        yield f"    if not {code.truth(Ref(self.first, self.more))}:"
        yield "        return values, at"
        yield f"    if len(values) == {self.most}:"
        yield "        raise Refusal(TOO_LONG, at)"

    def python_writer(self, code: Code) -> Lines:
        yield from python_listed(self.most)
        yield "more = len(value)"
        yield "if not more:"
        yield f'    raise EncodeError("{self.more} is set, so there has to be at least one")'
        yield 'out = b""'
        yield "for each in value:"
        code.source = "each"
        for index, field in enumerate(self.item.fields):
            code.fields[field.name] = field.node
            if not isinstance(field.node, Optional):
                yield f"    v_{field.name} = {field.node.python_item(code, field.name)}"
            statements, piece = field.node.python_write(code, field.name)
            yield from indented(iter(statements))
            if index == 0:
                yield "    more -= 1"
                yield from indented(self.python_linked(f"b_{field.name}"))
            else:
                yield f"    out += {piece}"
        yield "return out"

    def python_linked(self, number: str) -> Lines:
        """Write the first field of an item, with the bit as the chain has it, whatever the value says."""
        linked, last = f"0x{self.mask:02X}", f"0x{(1 << 8 * self.head.fewest()) - 1 & ~self.mask:02X}"
        if self.is_looked_at:
            yield f"{number} = {number} | {linked} if more else {number} & {last}"
            yield f"out += {self.head.python_octets(number)}"
            return
        yield "if more:"
        yield f"    out += {self.head.python_octets(f'{number} | {linked}')}"
        yield "else:"
        yield f"    out += {self.head.python_octets(f'{number} & {last}')}"

    @property
    def is_looked_at(self) -> bool:
        """Whether other fields of an item look at the bit: then it has to be set before they are written."""
        refs = (ref for field in self.item.fields for ref in looked_at(field.node))
        return any((ref.field, ref.bit) == (self.first, self.more) for ref in refs)

    def c_reader(self, code: CCode) -> Lines:
        yield "gathering g = {.count = 0};"
        yield "for (;;) {"
        yield f"    if (g.count == {self.most}) {{"
        yield "        refuse(r, TOO_LONG, r->at);"
        yield "        return scattered(&g);"
        yield "    }"
        yield "    size_t start = r->at;"
        yield f"    PyObject *item = {code.names.parts[self.item]}_read(r);"
        yield "    if (item == NULL || !gather(&g, item))"
        yield "        return scattered(&g);"
        at, bit = self.octet
        yield f"    if (!(r->data[start{f' + {at}' if at else ''}] & 0x{bit:02X}))"
        yield "        return gathered(&g);"
        yield "}"

    def c_writer(self, code: CCode) -> Lines:
        at, bit = self.octet
        where = f"start + {at}" if at else "start"
        yield from c_listed(self.most)
        yield "for (Py_ssize_t i = 0; i < count; i++) {"
        yield "    size_t start = w->size;"
        yield f"    if (!{code.names.parts[self.item]}_write(w, PyList_GetItem(value, i)))"
        yield "        return 0;"
        if self.is_looked_at:  # somebody changed the list: other fields are there, which Python writes
            yield f"    if (((w->data[{where}] & 0x{bit:02X}) != 0) != (i + 1 < count))"
            yield "        return 0;"
        yield f"    w->data[{where}] &= 0x{0xFF & ~bit:02X};"
        yield "    if (i + 1 < count)"
        yield f"        w->data[{where}] |= 0x{bit:02X};"
        yield "}"
        yield "return count > 0;"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:chain({code.record(self.item, name)}, {self.most}, {lua_text(self.first)}, {lua_text(self.more)})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.items_at(path, self.item)

    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        constant, items = code.listed(path, self.item)
        body = list(self.item.column_fields(items, also=frozenset({self.first})))
        yield f"table *items = items_begin(f, t, {constant}, row);"
        yield "if (!items)"
        yield "    return NULL;"
        yield "for (size_t count = 0;; count++) {"
        yield f"    if (count == {self.most})"
        yield "        return refused(f, TOO_LONG, p);"
        yield "    if (!item_begin(f, items))"
        yield "        return NULL;"
        yield from indented(iter(body))
        yield "    items->rows++;"
        yield f"    if (!({items.truth(Ref(self.first, self.more))}))"
        yield f"        return items_end(p, t, {constant}, row);"
        yield "}"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from list_cell(self.item, value, path)

    # Generators

    def hopeless(self) -> bool:
        return self.item.hopeless()

    def swallows(self) -> int:
        return self.item.swallows()

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        # An item that takes what follows for its own can only be the last.
        more = sampling.choices.more(1, 1 if self.item.swallows() else self.most)
        inner = sampling.choices.item(sampling.record(self.item.name, self.item.by_name, (self.more, 1)))
        last = sampling.choices.item(sampling.record(self.item.name, self.item.by_name, (self.more, 0)))

        def draw(source: Source, numbers: Numbers) -> Pair:
            values: list[Any] = []
            out = b""
            while more(source, len(values) + 1):
                value, piece = inner(source, numbers)
                values.append(value)
                out += piece
            value, piece = last(source, numbers)
            values.append(value)
            return values, out + piece

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        offset, bit = self.octet
        item = finding.record(self.item.by_name, path)
        place = MutableField(path, self, list_mutations(self.most, path, *self.octet))

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            start, cuts, octet = at, list[int](), bit
            while octet & bit:
                if len(cuts) == MAX_FOUND:
                    raise UnreadableFrame
                cuts.append(at)
                octet = data[at + offset]
                at = item(data, at, numbers, found)
            found.append((start, at, place, tuple(cuts)))
            return at

        return find

    # Coverage

    def most_bytes(self) -> float:
        return self.most * self.item.most_bytes()

    def inside(self) -> Iterator[Inside]:
        yield Inside("[]", self.item, "[]", given=0)

    def branches(self, place: Place) -> Iterator[str]:
        yield from (ONE, MORE, END_MISSING)

    def limit_branches(self, place: Place) -> Iterator[str]:
        yield from list_limits(place, self.most, self.item.fewest())

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        values: list[Any] = []
        more = True
        while more:
            # Asked before one more is read, as engines do: the refusal stands where that item would begin.
            if len(values) == self.most:
                tracing.hit(place, TOO_MANY)
                raise TracedRefusal(Reason.TOO_LONG, tracing.at)
            if values and tracing.at == tracing.end:
                tracing.hit(place, END_MISSING)
            values.append(tracing.read(place.inner[0], f"{where}[{len(values)}]", {}))
            more = bool(values[-1][self.first][self.more])
        tracing.counted(where, len(values))
        tracing.hit(place, ONE if len(values) < 2 else MORE, *([FULL] if len(values) == self.most else []))
        return values

    # Vectors

    is_composed = True

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        item, more, first = place.inner[0], self.mask, self.head
        index, wanted = 0, composing.count(where, 1)
        plain = composing.plain_fields(item).get(self.first, first.plain_bytes(item, lambda expr: 0))
        # What a plan says of a header need not say whether more follows; it goes on while either says so.
        composing.plan = changed = dict(composing.plan)
        goes_on = wanted > 0
        while goes_on:
            at = f"{where}[{index}].{self.first}"
            planned = changed.get(at, plain)
            assert isinstance(planned, bytes)
            if len(planned) < first.fewest():  # a frame that is cut within a header says nothing of what follows
                composing.write(item, f"{where}[{index}]", {})
                return
            number = first.number_in(planned) | (more if index + 1 < wanted else 0)
            changed[at] = first.spelled(number)
            composing.write(item, f"{where}[{index}]", {})
            goes_on, index = bool(number & more), index + 1

    def ways(self, place: Any, where: str, plan: Plan) -> Iterator[Way]:
        yield Way(place.inner[0], f"{where}[0]", before(plan, where))

    def longer(self, plan: Plan, where: str, headers: Sequence[int]) -> dict[str, Change]:
        """Return a plan with more items in front of those that are there; each begins with another number."""
        found = dict(plan)
        for header in reversed(headers):
            found = {**before(found, where), f"{where}[0].{self.first}": self.head.spelled(header)}
        return found

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        """Give chains of one item, of more, and without an end."""
        where = target.where
        there = target.plan.get(where, 0)
        assert isinstance(there, int)
        unknown = looking.free_headers(target.place)
        # A loop goes wrong at its first turn, its second, and where something grows.
        for count in (1, 2, 3, LONG_CHAIN) if target.full else (1, 2):
            plan = self.longer(target.plan, where, unknown[:count])
            several = there + count > 1
            words = f"with {there + count} items" if several else "with one item"
            yield looking.made(target, "chains", MORE if several else ONE, words, plan)
        frame = looking.compose({**self.longer(target.plan, where, unknown[:1]), where: there + 2})
        data = frame.data[: frame.spans[f"{where}[{there + 1}]"][0]]
        yield looking.specimen(target, "cut", END_MISSING, "announce one more, and the frame ends", data)
        yield from looking.known_items(target)

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        there = {at: to for at, to in target.plan.items() if at == where or at.startswith(f"{where}[")}
        if there:
            yield "as usual", there, None
        for header in looking.header_forms(place):
            yield self.head.said(header), self.longer(there, where, [header]), None
        yield "two unknown ones", self.longer(there, where, looking.free_headers(place)[:2]), None

    @property
    def more_name(self) -> str:
        return self.more

    def goes_on(self, number: int) -> bool:
        return bool(number & self.mask)

    @property
    def most_items(self) -> int | None:
        return self.most

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.each(self.item, value)
