"""Lists of anything: as many items as a field before them says, or as many as there are up to the end."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from wire.constructs import MOST, Context, Grammar, dotted, fitting, remaining, room
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.expressions import Const, Expr, compiled
from wire.kinds.base import ITEM, FieldFinding, FieldLoop, Part, Sampling, Scope, Walk
from wire.kinds.branches import FULL, MORE, NEGATIVE, NONE, ONE, TOO_MANY, Inside, Place, TracedRefusal, Tracing, some
from wire.kinds.coded import indented
from wire.kinds.compound import Compound
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Names, Slots
from wire.kinds.edits import MAX_FOUND, Find, Found, MutableField, UnreadableFrame, list_mutations
from wire.kinds.generators import (
    ANY_BYTE,
    AVOIDED,
    PATIENCE,
    REFUSED,
    Draw,
    Lead,
    Numbers,
    Pair,
    Source,
    Unsatisfiable,
    any_of,
)
from wire.kinds.items import list_cell, list_limits, python_listed
from wire.kinds.sized import announced, computed


class ArrayOf(Grammar):
    """``count`` items, an expression over earlier fields, or items up to the end of the frame (of a ``Within``).

    An array that counts bytes is one up to the end within those bytes: ``Within(this.size, ArrayOf(item))``.
    """

    def __init__(self, item: Grammar, count: Any = None, *, most: int = MOST) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.item = item
        self.count = count
        self.most = most

    def size(self, context: Context) -> int | None:
        """Return how many items are announced; ``None`` if they go on to the end."""
        return None if self.count is None else computed(self.count, context)

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> list[Any]:
        values: list[Any] = []
        count = self.size(context)
        if count is not None and announced(count, stream, path) > self.most:
            raise DecodeError(Reason.TOO_LONG, stream.tell(), dotted(path), f"{count} items, at most {self.most} fit")
        while len(values) < count if count is not None else remaining(stream):
            if count is None:
                room(self.most, values, stream, path)
            values.append(self.item._parsereport(stream, context, f"{path}[{len(values)}]"))
        return values

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        count = self.size(context)
        values = fitting(obj, self.most, path)
        if count is not None and len(values) != count:
            raise EncodeError(f"{dotted(path)}: {len(values)} items where {count} are announced")
        for index, value in enumerate(values):
            self.item._build(value, stream, context, f"{path}[{index}]")
        return obj


MOST_COUNTED = 64
"""Items of the longest list that generators announce: frames stay small, and shrink."""


class Array(Part, frozen=True):
    """``count`` items, at most ``most``."""

    item: Part
    count: Expr
    most: int

    constructs = (ArrayOf,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        item = walk.part(grammar.item, f"{path}[]", Scope())
        if not (item.compound or (not item.inner() and item.plain)):
            raise CannotLayOut(f"{path}[]: an item is a record, a union, a list or a plain value; put it into a Struct")
        if item.open_ended:
            raise CannotLayOut(f"{path}[]: an item that ends with an optional tail, behind which nothing can follow")
        # Every list has a bound, so that no frame, however hostile, costs more memory than its layout allows.
        if not 1 <= grammar.most <= MOST:
            raise CannotLayOut(f"{path}: at most {grammar.most} items; give a bound from 1 to {MOST}")
        # A list that is counted comes to an end by its number, even of items without bytes; one that goes to the end of
        # the bytes comes there only if each item takes some.
        if grammar.count is not None:
            return cls(item, scope.expression(grammar.count, path), grammar.most)
        if not item.fewest():
            raise CannotLayOut(f"{path}[]: an item that may have no bytes, so that the end may never come; count them")
        return ArrayToEnd(item, grammar.most)

    def inner(self) -> tuple[Part, ...]:
        return (self.item,)

    def expressions(self) -> tuple[Expr, ...]:
        return (self.count,)

    def fewest(self) -> int:
        # Of a number that is known; a field that says how many there are may say none.
        return max(self.count.value, 0) * self.item.fewest() if isinstance(self.count, Const) else 0

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.item, f"{hint}_item")

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"count = {code.bare(self.count)}"
        # Before any item is read: a hostile count is refused for itself, not after as many items as there are bytes.
        yield "if count < 0:"
        yield "    raise Refusal(BAD_VALUE, at)"
        yield f"if count > {self.most}:"
        yield "    raise Refusal(TOO_LONG, at)"
        yield f"{into} = []"
        yield "for _ in range(count):"
        yield from indented(self.item.python_read(code, f"v_{ITEM}"))
        yield f"    {into}.append(v_{ITEM})"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        lines = [f"if not isinstance(v_{field}, list | tuple) or len(v_{field}) != {code.number(self.count)}:"]
        lines.append('    raise EncodeError("not a list of as many items as announced")')
        lines += [f"if len(v_{field}) > {self.most}:", f'    raise EncodeError("more than {self.most} items")']
        return [*lines, *python_items(self.item, code, f"v_{field}", f"w_{field}")], f"w_{field}"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield f"    int64_t count = {code.number(self.count)};"
        yield f"    if (count < 0 || count > {self.most}) {{"
        yield "        refuse(r, count < 0 ? BAD_VALUE : TOO_LONG, r->at);"
        yield "        goto bad;"
        yield "    }"
        yield f"    if (({into} = PyList_New(0)) == NULL)"
        yield "        goto bad;"
        yield "    for (int64_t i = 0; i < count; i++) {"
        yield from indented(c_read_item(self.item, code, into), 2)
        yield "    }"
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield "{"
        yield f"    int64_t count = {code.number(self.count)};"
        yield f"    if (!PyList_CheckExact({source}) || PyList_Size({source}) != count || count > {self.most})"
        yield "        return 0;"
        yield "    for (Py_ssize_t i = 0; i < count; i++) {"
        yield from indented(c_write_item(self.item, code, source), 2)
        yield "    }"
        yield "}"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:array({code.number(self.count)}, {self.most}, function()"
        yield from indented(self.item.lua_read(code, name))
        yield "end)"

    def slots(self, slots: Slots, path: str) -> None:
        slots.items_at(path, self.item)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        constant, items = code.listed(path, self.item, "inner")
        t, row = code.rows
        yield "{"
        yield f"    int64_t count = {code.number(self.count)};"
        yield f"    if (unlikely(count < 0 || count > {self.most}))"
        yield "        return refused(f, count < 0 ? BAD_VALUE : TOO_LONG, p);"
        yield f"    table *inner = items_begin(f, {t}, {constant}, {row});"
        yield "    if (!inner)"
        yield "        return NULL;"
        yield "    for (int64_t i = 0; i < count; i++) {"
        yield "        if (!item_begin(f, inner))"
        yield "            return NULL;"
        yield from indented(self.item.column_read(items, "", ""), 2)
        yield "        inner->rows++;"
        yield "    }"
        yield f"    p = items_end(p, {t}, {constant}, {row});"
        yield "}"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from list_cell(self.item, value, path)

    # Generators

    def leads(self, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
        count = compiled(self.count, fields)
        # An item that takes what follows for its own can only be the last.
        most = 0 if self.item.hopeless() else 1 if self.item.swallows() else min(self.most, MOST_COUNTED)

        def counted(numbers: Numbers) -> Lead:
            size = count(numbers)
            # AVOIDED is what engines accept, or may: a frame of it is only too large to be drawn on purpose.
            if not 0 <= size <= most:
                return REFUSED if size < 0 or size > self.most or self.item.hopeless() else AVOIDED
            # By the power of two, as with bytes: else nearly all lists that are drawn would be long.
            return size.bit_length()

        return counted

    def swallows(self) -> int:
        return self.item.swallows()

    def swallows_behind(self, value: Any) -> int:
        # Those that have no bytes cannot be told here, so all items count.
        return any_of(self.item.swallows_behind(each) for each in value)

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        count, item = compiled(self.count, fields), sampling.choices.item(sampling.promised(self.item, {}))

        if not self.item.swallows():

            def draw(source: Source, numbers: Numbers) -> Pair:
                pairs = [item(source, numbers) for _ in range(count(numbers))]
                return [value for value, _ in pairs], b"".join(data for _, data in pairs)

            return draw

        def draw_apart(source: Source, numbers: Numbers) -> Pair:
            """Draw items none of which is taken by one before it for its own."""
            for _ in range(PATIENCE):
                pairs, barred = list[Pair](), 0
                for _ in range(count(numbers)):
                    value, data = item(source, numbers)
                    if data and barred >> data[0] & 1:
                        break
                    pairs.append((value, data))
                    barred = (0 if data else barred) | self.item.swallows_behind(value)
                else:
                    return [value for value, _ in pairs], b"".join(data for _, data in pairs)
            raise Unsatisfiable("an item of a list takes the next one for its own")

        return draw_apart

    @property
    def announced(self) -> Expr | None:
        return self.count

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        item, count = finding.part(self.item, path, {}), compiled(self.count, fields)
        place = MutableField(path, self, list_mutations(self.most, path))

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            start, cuts = at, list[int]()
            # The frame may be a mutated one, whose count nobody has checked.
            if not 0 <= count(numbers) <= MAX_FOUND:
                raise UnreadableFrame
            for _ in range(count(numbers)):
                cuts.append(at)
                at = item(data, at, {}, found)
            found.append((start, at, place, tuple(cuts)))
            return at

        return find

    # Coverage

    @property
    def takes_rest(self) -> bool:
        # Of a number that is known and not 0; of one that a field says there may be none.
        return isinstance(self.count, Const) and self.count.value > 0 and self.item.takes_rest

    def most_bytes(self) -> float:
        return self.most * self.item.most_bytes()

    @property
    def decided_by(self) -> Expr | None:
        return self.count

    def inside(self) -> Iterator[Inside]:
        # The count says nothing of bytes: the first item may already be missing.
        yield Inside("[]", self.item, "[]", given=0)

    def branches(self, place: Place) -> Iterator[str]:
        whole = 0 if self.item.hopeless() else self.most
        ranges = {NEGATIVE: (-MOST, -1), NONE: (0, 0), ONE: (1, min(1, whole)), MORE: (2, whole), FULL: (whole, whole)}
        if not whole or self.most == MOST:
            del ranges[FULL]
        if place.numbers is None:
            del ranges[NEGATIVE]
        yield from (name for name, (least, most) in ranges.items() if some(place.numbers, least, most))
        if some(place.numbers, self.most + 1):
            yield TOO_MANY

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        count = tracing.computed(self.count, scope)
        if not 0 <= count <= self.most:
            tracing.hit(place, NEGATIVE if count < 0 else TOO_MANY)
            raise TracedRefusal(Reason.BAD_VALUE if count < 0 else Reason.TOO_LONG, tracing.at)
        return tracing.items(place, where, self.most, count)

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.each(self.item, value)


def python_items(item: Part, code: Code, source: str, into: str) -> Lines:
    """Write the items of the list ``source`` into ``into``."""
    yield f'{into} = b""'
    yield f"for v_{ITEM} in {source}:"
    yield from indented(item.python_set(code, ITEM))
    yield f"    {into} += w_{ITEM}"


def c_read_item(item: Part, code: CCode, into: str) -> Lines:
    """Read one more item into the list ``into``."""
    variable = item.c_variable(ITEM, kept=False)
    if variable is not None:
        yield variable
    yield "PyObject *item = NULL;"
    yield from item.c_read(code, "item", ITEM)
    yield f"int added = PyList_Append({into}, item);"
    yield "Py_DECREF(item);"
    yield "if (added < 0)"
    yield "    goto bad;"


def c_write_item(item: Part, code: CCode, source: str) -> Lines:
    """Write the item ``i`` of a list, which somebody may have changed: it is looked at before it is written."""
    variable = item.c_variable(ITEM, kept=False)
    if variable is not None:
        yield variable
    yield f"PyObject *item = PyList_GetItem({source}, i);"
    fits = item.c_fits(code, "item")
    if fits is not None:
        yield f"if (!({fits}))"
        yield "    return 0;"
    yield from item.c_write(code, "item", ITEM)


class ArrayToEnd(Compound, frozen=True):
    """At most ``most`` items, up to the end."""

    item: Part
    most: int

    def inner(self) -> tuple[Part, ...]:
        return (self.item,)

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.item, f"{hint}_item")

    def python_reader(self, code: Code) -> Lines:
        yield "values: list[Any] = []"
        yield "while at < len(data):"
        yield f"    if len(values) == {self.most}:"
        yield "        raise Refusal(TOO_LONG, at)"
        yield from indented(self.item.python_read(code, f"v_{ITEM}"))
        yield f"    values.append(v_{ITEM})"
        yield "return values, at"

    def python_writer(self, code: Code) -> Lines:
        yield from python_listed(self.most)
        yield from python_items(self.item, code, "value", "out")
        yield "return out"

    def c_reader(self, code: CCode) -> Lines:
        yield "PyObject *list = PyList_New(0);"
        yield "if (list == NULL)"
        yield "    return NULL;"
        yield "while (r->at < r->size) {"
        yield f"    if (PyList_Size(list) == {self.most}) {{"
        yield "        refuse(r, TOO_LONG, r->at);"
        yield "        goto bad;"
        yield "    }"
        yield from indented(c_read_item(self.item, code, "list"))
        yield "}"
        yield "return list;"
        yield "bad:"
        yield "Py_DECREF(list);"
        yield "return NULL;"

    def c_writer(self, code: CCode) -> Lines:
        yield f"if (!PyList_CheckExact(value) || PyList_Size(value) > {self.most})"
        yield "    return 0;"
        yield "for (Py_ssize_t i = 0; i < PyList_Size(value); i++) {"
        yield from indented(c_write_item(self.item, code, "value"))
        yield "}"
        yield "return 1;"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:array_to_end({self.most}, function()"
        yield from indented(self.item.lua_read(code, name))
        yield "end)"

    def slots(self, slots: Slots, path: str) -> None:
        slots.items_at(path, self.item)

    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        constant, items = code.listed(path, self.item)
        yield f"table *items = items_begin(f, t, {constant}, row);"
        yield "if (!items)"
        yield "    return NULL;"
        yield "for (size_t count = 0; p != f->end; count++) {"
        yield f"    if (count == {self.most})"
        yield "        return refused(f, TOO_LONG, p);"
        yield "    if (!item_begin(f, items))"
        yield "        return NULL;"
        yield from indented(self.item.column_read(items, "", ""))
        yield "    items->rows++;"
        yield "}"
        yield f"return items_end(p, t, {constant}, row);"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from list_cell(self.item, value, path)

    # Generators

    def swallows(self) -> int:
        return ANY_BYTE

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        drawn = sampling.attempted(self.item)
        if drawn is None:
            return lambda source, numbers: ([], b"")
        more = sampling.choices.more(0, 1 if self.item.swallows() else self.most)
        item = sampling.choices.item(drawn)

        def draw(source: Source, numbers: Numbers) -> Pair:
            values: list[Any] = []
            out = b""
            while more(source, len(values)):
                value, piece = item(source, numbers)
                values.append(value)
                out += piece
            return values, out

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        item, place = finding.part(self.item, path, {}), MutableField(path, self, list_mutations(self.most, path))

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            start, cuts = at, list[int]()
            while at < len(data):
                if len(cuts) == MAX_FOUND:
                    raise UnreadableFrame
                cuts.append(at)
                at = item(data, at, {}, found)
            found.append((start, at, place, tuple(cuts)))
            return at

        return find

    # Coverage

    def most_bytes(self) -> float:
        return self.most * self.item.most_bytes()

    takes_rest = True

    def inside(self) -> Iterator[Inside]:
        # An item is read only where a byte is left, so its first byte is never missing.
        yield Inside("[]", self.item, "[]", given=1)

    def branches(self, place: Place) -> Iterator[str]:
        yield from ([NONE] if self.item.hopeless() else [NONE, ONE, MORE])

    def limit_branches(self, place: Place) -> Iterator[str]:
        if not self.item.hopeless():
            yield from list_limits(place, self.most, self.item.fewest(), one_more=1)

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        return tracing.items(place, where, self.most)

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.each(self.item, value)
