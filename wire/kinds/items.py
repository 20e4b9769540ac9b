"""As many messages as follow."""

from collections.abc import Iterator, Mapping
from io import SEEK_CUR
from itertools import product
from typing import IO, Any

from wire.constructs import MOST, Context, Grammar, Values, fitting, room
from wire.errors import CannotLayOut, DecodeError
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, within
from wire.kinds.branches import FULL, MORE, NONE, ONE, STOPS, TOO_MANY, Inside, Place, Tracing
from wire.kinds.composing import Change, ComposedTarget, Composing, Looking, Plan, PlannedOption, Way
from wire.kinds.compound import Compound
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Names, Slots
from wire.kinds.edits import MAX_FOUND, Find, Found, MutableField, UnreadableFrame, list_mutations
from wire.kinds.generators import ANY_BYTE, Draw, Numbers, Pair, Source, any_of
from wire.kinds.union import OneOf, Union


class Messages(Grammar):
    """As many messages as follow: up to the end of the data, or to a header byte that begins none of them."""

    def __init__(self, message: OneOf, *, to_end: bool = False, most: int = MOST) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.message = message
        self.to_end = to_end
        self.most = most

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> list[Values]:
        values: list[Values] = []
        while (first := stream.read(1)) and (self.to_end or self.message.begins(first[0])):
            stream.seek(-1, SEEK_CUR)
            try:
                room(self.most, values, stream, path)
                values.append(self.message._parsereport(stream, context, f"{path}[{len(values)}]"))
            except DecodeError as error:
                error.before.append(values)
                raise
        stream.seek(-len(first), SEEK_CUR)
        return values

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        for index, value in enumerate(fitting(obj, self.most, path)):
            self.message._build(value, stream, context, f"{path}[{index}]")
        return obj


def python_listed(most: int) -> Lines:
    """Refuse a value that is no list, or too long."""
    yield f"if not (isinstance(value, list) or isinstance(value, tuple)) or len(value) > {most}:"
    yield f'    raise EncodeError("not a list of at most {most} items")'


def c_listed(most: int) -> Lines:
    """Leave a value that is no list, or too long, to Python, which refuses it."""
    yield "if (!PyList_CheckExact(value))"
    yield "    return 0;"
    yield "Py_ssize_t count = PyList_Size(value);"
    yield f"if (count > {most})"
    yield "    return 0;"


def list_cell(item: Part, value: Any, path: str) -> Iterator[Cell]:
    """Give the cell of a list: a row of cells for each item."""
    yield (path, Kind.ITEMS), [dict(item.cells(each, "", None)) for each in value]


def list_limits(place: Place, most: int, item: int, *, one_more: int = 0) -> Iterator[str]:
    """Give what can happen to a list of at most ``most`` items of at least ``item`` bytes, if it has room for them.

    ``one_more``: bytes that one item too many needs to be refused.
    """
    if place.room is None or place.room >= most * item:
        yield FULL
    if place.room is None or place.room >= most * item + one_more:
        yield TOO_MANY


class Items(Compound, frozen=True):
    """At most ``most`` messages of ``union``: to the end, or as long as a byte begins one."""

    union: Union
    to_end: bool
    most: int

    constructs = (Messages,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        union = walk.part(grammar.message, path, Scope())
        assert isinstance(union, Union)
        if union.open_ended:
            raise CannotLayOut(f"{path}: a message that ends with an optional tail, behind which nothing can follow")
        return cls(union, grammar.to_end, grammar.most)

    def inner(self) -> tuple[Part, ...]:
        return (self.union,)

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.union, f"{hint}_item")

    def python_reader(self, code: Code) -> Lines:
        union = code.names.parts[self.union]
        yield "values: list[Any] = []"
        yield "size = len(data)"
        stop = "" if self.to_end else f" and read_{union}[data[at]] is not refuse_unknown"
        yield f"while at < size{stop}:"
        yield f"    if len(values) == {self.most}:"
        yield "        raise Refusal(TOO_LONG, at)"
        yield f"    value, at = read_{union}[data[at]](data, at, refuse)"
        yield "    values.append(value)"
        yield "return values, at"

    def python_writer(self, code: Code) -> Lines:
        yield from python_listed(self.most)
        yield f'return b"".join([write_{code.names.parts[self.union]}[each["type"]](each) for each in value])'

    def c_reader(self, code: CCode) -> Lines:
        yield "gathering g = {.count = 0};"
        yield "while (r->at < r->size) {"
        if not self.to_end:
            yield "    switch (r->data[r->at]) {"
            for message in self.union.messages:
                for byte in message.header.begins:
                    yield f"    case 0x{byte:02X}:"
            yield "        break;"
            yield "    default:"
            yield "        return gathered(&g);"
            yield "    }"
        yield f"    if (g.count == {self.most}) {{"
        yield "        refuse(r, TOO_LONG, r->at);"
        yield "        return scattered(&g);"
        yield "    }"
        yield f"    PyObject *item = {code.names.parts[self.union]}_read(r);"
        yield "    if (item == NULL || !gather(&g, item))"
        yield "        return scattered(&g);"
        yield "}"
        yield "return gathered(&g);"

    def c_writer(self, code: CCode) -> Lines:
        yield from c_listed(self.most)
        yield "for (Py_ssize_t i = 0; i < count; i++)"
        yield f"    if (!{code.names.parts[self.union]}_write(w, PyList_GetItem(value, i)))"
        yield "        return 0;"
        yield "return 1;"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:items({code.union(self.union, name)}, {self.most}{', true' if self.to_end else ''})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.items_at(path, self.union)

    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        constant, items = code.listed(path, self.union)
        stop = ""
        if not self.to_end:
            begins = tuple(byte for byte, begun in enumerate(self.union.begun()) if begun is not None)
            stop = f" && {code.beginning(begins, code.names.parts[self.union])}[*p]"
        yield f"table *items = items_begin(f, t, {constant}, row);"
        yield "if (!items)"
        yield "    return NULL;"
        yield f"for (size_t count = 0; p != f->end{stop}; count++) {{"
        yield f"    if (count == {self.most})"
        yield "        return refused(f, TOO_LONG, p);"
        yield "    if (!item_begin(f, items))"
        yield "        return NULL;"
        yield f"    TAKE({items.reader(self.union, '')}(f, p, items, items->rows));"
        yield "    items->rows++;"
        yield "}"
        yield f"return items_end(p, t, {constant}, row);"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from list_cell(self.union, value, path)

    # Generators

    def swallows(self) -> int:
        return ANY_BYTE if self.to_end else self.union.first() | self.union.swallows()

    def swallows_behind(self, value: Any) -> int:
        return (
            self.swallows() if self.to_end else self.union.first() | any_of(map(self.union.swallows_behind, value[-1:]))
        )

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        drawn = sampling.attempted(self.union)
        if drawn is None:
            return lambda source, numbers: ([], b"")
        more = sampling.choices.more(0, self.most)
        item = sampling.choices.item(drawn)
        begins = self.union.first()
        # Behind these nothing can follow: they would take it for their own.
        final = frozenset(message.name for message in self.union.messages if message.swallows() & begins)

        def draw(source: Source, numbers: Numbers) -> Pair:
            values: list[Any] = []
            out = b""
            while more(source, len(values)):
                value, piece = item(source, numbers)
                values.append(value)
                out += piece
                if value["type"] in final:
                    break
            return values, out

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        item = finding.part(self.union, path, {})
        place = MutableField(path, self, list_mutations(self.most, path))
        begins = ANY_BYTE if self.to_end else self.union.first()

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            start, cuts = at, list[int]()
            while at < len(data) and begins >> data[at] & 1:
                if len(cuts) == MAX_FOUND:
                    raise UnreadableFrame
                cuts.append(at)
                at = item(data, at, numbers, found)
            found.append((start, at, place, tuple(cuts)))
            return at

        return find

    # Coverage

    def most_bytes(self) -> float:
        return self.most * self.union.most_bytes()

    @property
    def takes_rest(self) -> bool:
        return self.to_end

    def inside(self) -> Iterator[Inside]:
        yield Inside("[]", self.union, "[]", given=1, sure=not self.to_end)

    def branches(self, place: Place) -> Iterator[str]:
        yield from (NONE, ONE, MORE, *([] if self.to_end or None not in self.union.begun() else [STOPS]))

    def limit_branches(self, place: Place) -> Iterator[str]:
        yield from list_limits(place, self.most, self.union.fewest(), one_more=1)

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        return tracing.items(place, where, self.most)

    # Vectors

    is_composed = True

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        for index in range(composing.count(where, 0)):
            composing.write(place.inner[0], f"{where}[{index}]", {})

    def ways(self, place: Any, where: str, plan: Plan) -> Iterator[Way]:
        yield Way(place.inner[0], f"{where}[0]", {**plan, where: 1})

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        """Give lists: empty, of one, of two, each message behind each, and with something else behind."""
        where, inner = target.where, target.place.inner[0]

        def message(index: int, label: str) -> dict[str, Change]:
            base = f"{where}[{index}]"
            # Messages with a layout of their own look as the notes show them there.
            shown = looking.shown(target, within(base, label), inner, base) if inner.region else {}
            return {**shown, base: label}

        for count, aspect in enumerate((NONE, ONE, MORE)):
            yield looking.made(target, "chains", aspect, f"with {count} items", {where: count})
        for one, two in product(inner.labels, inner.labels) if target.full else ():
            plan = {**message(0, one), **message(1, two), where: 2}
            yield looking.made(target, "chains", MORE, f"{one}, then {two}", plan)
        if inner.sure:
            frame = looking.compose({**target.plan, where: 1})
            end = frame.spans[where][1]
            for byte in self.union.strangers()[: None if target.full else 1]:
                data = frame.data[:end] + bytes([byte]) + frame.data[end:]
                comment = f"and a byte 0x{byte:02x}, which begins none of them"
                yield looking.specimen(target, "refused", STOPS, comment, data)

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        for count in range(3):
            yield f"{count} items", {where: count}, None

    @property
    def most_items(self) -> int | None:
        return self.most

    def filled(self, looking: Looking, target: ComposedTarget, count: int) -> dict[str, Change]:
        where = target.where
        sizes = {
            label: len(looking.compose({**target.plan, where: 1, f"{where}[0]": label}).data)
            for label in target.place.inner[0].labels
        }
        shortest = min(sizes, key=lambda label: sizes[label])
        return {**{f"{where}[{index}]": shortest for index in range(count)}, where: count}

    def stretched(self, looking: Looking, target: ComposedTarget, size: int) -> dict[str, Change]:
        return self.filled(looking, target, size) if self.to_end and size <= self.most else {}

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.each(self.union, value)
