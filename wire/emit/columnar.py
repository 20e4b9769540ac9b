"""C from layouts: an abi3 extension that decodes a batch of frames into the columns of ``wire.columns``.

One table of columns per layout and per list, one reader per record, union, list and chain at its place in a table.
What a column is, how it is filled, taken back and exported is hand-written: ``columns.h``, ``arrow.h``, ``capsules.h``.
Texts of JSON are read by ``json.h``; what may stand in them are tables (``native_json.py``).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Set

from wire.columns import REFUSED, REFUSED_AT, Column, Kind, Table, columns_of, within
from wire.emit.naming import Names, flags_in, identifier
from wire.emit.native_json import Places, preamble
from wire.errors import Reason
from wire.layout import (
    Chain,
    Const,
    Counted,
    Expr,
    Flags,
    Integer,
    Items,
    Json,
    Layout,
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

Lines = Iterator[str]

HEAD = """/* Columns of {protocol}: generated from wire/{protocol} by `python -m wire.emit`. Do not edit. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for madvise */
#endif
#ifndef GOLDWIRE_WITHOUT_PYTHON
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#endif

#include "columns.h"
"""

BLANK = "0123456789abcdef"
"""Where the stamp goes, which tells one generated source from another."""

TAIL = f"""
#ifndef GOLDWIRE_WITHOUT_PYTHON
#define STAMP "{BLANK}"
#include "capsules.h"
#endif
"""

SIGNATURE = "(frames *f, const uint8_t *p, table *t, size_t row)"


def emit(protocol: str, layouts: list[Layout]) -> str:
    """Return the source of the extension ``wire.PROTOCOL.generated.columnar``."""
    source = _Source(layouts)
    runs = [line for layout in layouts for line in source.run(layout)]
    text = "\n".join(
        [
            HEAD.format(protocol=protocol).rstrip(),
            *preamble(layouts),
            *source.lines,
            *runs,
            "",
            *_refusals(),
            "",
            "static const layout LAYOUTS[] = {",
            *(
                f'    {{"{layout.name}", &REFUSALS, &{source.tables[columns_of(layout)]}, run_{identifier(layout)}}},'
                for layout in layouts
            ),
            "    {NULL, NULL, NULL, NULL},",
            "};",
            TAIL,
        ]
    )
    return text.replace(BLANK, hashlib.sha256(text.encode()).hexdigest()[: len(BLANK)])


def stamp_of(source: str) -> str:
    """Return the stamp of a generated source."""
    return source.partition('STAMP "')[2].partition('"')[0]


def _refusals() -> Lines:
    """The columns that every layout has: the classes of refusal are a dictionary."""
    yield from _choices("REFUSED_NAMES", (reason.value for reason in Reason))
    yield ""
    yield "static const column_type REFUSAL_COLUMNS[] = {"
    yield f'    [REFUSED] = {{.name = "{REFUSED}", .kind = CHOICE, .size = 1, .choices = &REFUSED_NAMES}},'
    yield f'    [REFUSED_AT] = {{.name = "{REFUSED_AT}", .kind = OFFSET, .size = 8}},'
    yield "};"
    yield ""
    yield "static const table_type REFUSALS = {2, REFUSAL_COLUMNS};"


def _choices(symbol: str, names: Iterable[str]) -> Lines:
    """The values of a dictionary, as Arrow lays out text."""
    known = list(names)
    ends = [sum(len(name.encode()) for name in known[:count]) for count in range(len(known) + 1)]
    yield f"static const int32_t {symbol}_ENDS[] = {{{', '.join(map(str, ends))}}};"
    yield ""
    yield f"static const choices {symbol} = {{"
    yield f"    {len(known)},"
    yield f"    {symbol}_ENDS,"
    yield from (f'    "{name}"' for name in known)
    yield "};"


def _indent(lines: Iterable[str], by: int = 1) -> Lines:
    for line in lines:
        yield "    " * by + line if line else line


class _Source:
    """The tables and readers of one file, each before the first that uses it."""

    def __init__(self, layouts: list[Layout]) -> None:
        self.names = Names(layouts)
        self.lines: list[str] = []
        self.tables: dict[Table, str] = {}
        self.columns: dict[Table, list[str]] = {}
        self.readers: dict[tuple[Part, Table, str], str] = {}
        self.begins: dict[tuple[int, ...], str] = {}
        self.places: dict[Table, Places] = {}
        self._taken: set[str] = set()

    def unique(self, hint: str) -> str:
        """Return a name that nothing else in the file has."""
        name, number = hint, 1
        while name in self._taken:
            number += 1
            name = f"{hint}_{number}"
        self._taken.add(name)
        return name

    def run(self, layout: Layout) -> Lines:
        """Write what reads a run of frames of one layout."""
        name, root = identifier(layout), layout.root
        table = columns_of(layout)
        self.table(table, name)
        body = []
        if isinstance(root, Limited):
            body += [f"if (f->end - p > {root.size})", f"    return refused(f, TOO_LONG, p + {root.size});"]
            root = root.node
        body += self.json(layout, root, table) if isinstance(root, Json) else _Reader(self, table, "").part(root, "")
        yield ""
        yield f"static const uint8_t *fill_frame_of_{name}{SIGNATURE}"
        yield from _function(body)
        yield ""
        yield f"static int run_{name}(frames *f, const segment *s)"
        yield "{"
        yield f"    return run_{'json' if isinstance(root, Json) else 'segment'}(f, s, fill_frame_of_{name});"
        yield "}"

    def json(self, layout: Layout, root: Json, table: Table) -> Lines:
        """Hold a text of JSON against tables, and note which message it is."""
        if table not in self.places:
            names = {name: index for column in table.columns for index, name in enumerate(column.choices)}
            self.places[table] = Places(identifier(layout), names)
        places = self.places[table]
        frame = places.root(root)
        self.lines += places.lines
        places.lines.clear()
        yield f"TAKE(json_frame(f, p, &{frame}));"
        if table.columns:
            (constant,), (column,) = self.columns[table], table.columns
            yield f"return take_choice(f, p, t, {constant}, row, {column.size}, (uint64_t)f->json->choice);"

    def table(self, table: Table, hint: str) -> str:
        """Return the symbol of a table, which is written down before."""
        if table not in self.tables:
            inner = [self.table(c.items, f"{_word(c.name)}_item") if c.items else None for c in table.columns]
            symbol = self.tables[table] = self.unique(f"{hint.upper()}_TABLE")
            prefix = symbol.replace("_TABLE", "")
            self.columns[table] = [self.unique(f"C_{prefix}_{_word(column.name).upper()}") for column in table.columns]
            self.lines += self._table(table, symbol, inner)
        return self.tables[table]

    def _table(self, table: Table, symbol: str, inner: list[str | None]) -> Lines:
        if not table.columns:
            yield ""
            yield f"static const table_type {symbol} = {{0, NULL}};"
            return
        constants = self.columns[table]
        yield ""
        yield "enum {"
        yield from (f"    {constant}," for constant in constants)
        yield "};"
        rows = []
        for column, constant, items in zip(table.columns, constants, inner, strict=True):
            kind, size, more = column.kind.name, column.size or 4, ""
            if column.choices:
                yield ""
                yield from _choices(f"{constant}_NAMES", column.choices)
                more = f", .choices = &{constant}_NAMES"
            if items:
                more = f", .items = &{items}"
            rows.append(f'    [{constant}] = {{.name = "{column.name}", .kind = {kind}, .size = {size}{more}}},')
        yield ""
        yield f"static const column_type {symbol}_COLUMNS[] = {{"
        yield from rows
        yield "};"
        yield ""
        yield f"static const table_type {symbol} = {{{len(constants)}, {symbol}_COLUMNS}};"

    def beginning(self, bytes_: tuple[int, ...], hint: str) -> str:
        """Return the symbol of a table that tells which bytes can stand somewhere."""
        if bytes_ not in self.begins:
            symbol = self.begins[bytes_] = self.unique(f"{hint.upper()}_BEGINS")
            self.lines += ["", f"static const uint8_t {symbol}[256] = {{"]
            listed = [f"[0x{byte:02X}] = 1," for byte in bytes_]
            self.lines += ["    " + " ".join(listed[at : at + 8]) for at in range(0, len(listed), 8)]
            self.lines.append("};")
        return self.begins[bytes_]

    def reader(self, part: Part, table: Table, path: str) -> str:
        """Return the function that reads a part into the columns at ``path``, which is written down before."""
        key = part, table, path
        if key not in self.readers:
            body = list(_Reader(self, table, path).body(part))
            name = self.readers[key] = self.unique(f"fill_{self.names.parts[part]}")
            self.lines += ["", f"static const uint8_t *{name}{SIGNATURE}", *_function(body)]
        return self.readers[key]


VARIABLES = {
    "byte": "uint8_t byte;",
    "number": "uint64_t number;",
}
"""What readers put values into that no expression needs."""


def _function(body: list[str]) -> Lines:
    """A body in braces, with the variables that it uses; it returns where the frame goes on."""
    text = "\n".join(body)
    yield "{"
    for name, declaration in VARIABLES.items():
        if f"&{name})" in text:
            yield f"    {declaration}"
    for name in ("f", "t", "row"):
        if not re.search(rf"\b{name}\b", text):
            yield f"    (void){name};"
    yield from _indent(body)
    if not body or not body[-1].startswith("return "):
        yield "    return p;"
    yield "}"


def _number(value: int) -> str:
    return str(value) if abs(value) < 1 << 31 else f"INT64_C({value})"


def _word(path: str) -> str:
    return re.sub(r"\W", "_", path)


class _Reader:
    """The reader of one part: from ``p`` into row ``row`` of table ``t``."""

    def __init__(self, source: _Source, table: Table, path: str) -> None:
        self.source = source
        self.table = table
        self.path = path
        self.rows = "t", "row"
        self.fields: dict[str, Part] = {}
        self.read: set[str] = set()

    def slot(self, path: str, kind: Kind) -> tuple[str, Column]:
        """Return the arguments that name a cell, and its column."""
        index = self.table.index(path, kind)
        t, row = self.rows
        return f"f, p, {t}, {self.source.columns[self.table][index]}, {row}", self.table.columns[index]

    def body(self, part: Part) -> Lines:
        match part:
            case Record():
                yield from self.record(part)
            case Union():
                yield from self.union(part)
            case Items():
                yield from self.items(part)
            case Chain():
                yield from self.chain(part)
            case _:
                raise TypeError(part)

    def record(self, record: Record, read: Set[str] = frozenset()) -> Lines:
        """Read all fields; those in ``read`` and those that expressions read stay in variables."""
        self.fields = {field.name: field.node for field in record.fields}
        self.read = _read(record) | read
        for name in self.fields:
            if name in self.read:
                yield f"uint8_t b_{name} = 0;" if flags_in(self.fields[name]) else f"uint64_t n_{name} = 0;"
        for field in record.fields:
            yield from self.part(field.node, within(self.path, field.name), field.name, checked=bool(record.name))

    def union(self, union: Union) -> Lines:
        cell, column = self.slot(within(self.path, "type"), Kind.CHOICE)
        yield "if (unlikely(p == f->end))"
        yield "    return refused(f, TRUNCATED, p);"
        yield "switch (*p) {"
        for message in union.messages:
            begins = [f"case 0x{byte:02X}:" for byte in message.header.begins]
            yield from (" ".join(begins[at : at + 8]) for at in range(0, len(begins), 8))
            yield f"    TAKE(take_choice({cell}, {column.size}, {column.choices.index(message.name)}));"
            yield f"    return {self.source.reader(message, self.table, self.path)}(f, p, t, row);"
        yield "}"
        yield "return refused(f, UNKNOWN_ID, p);"

    def items(self, items: Items) -> Lines:
        constant, inner = self.listed(items)
        stop = ""
        if not items.to_end:
            begins = tuple(byte for byte, begun in enumerate(items.union.begun()) if begun is not None)
            stop = f" && {self.source.beginning(begins, self.source.names.parts[items.union])}[*p]"
        yield f"table *items = items_begin(f, t, {constant}, row);"
        yield "if (!items)"
        yield "    return NULL;"
        yield f"for (size_t count = 0; p != f->end{stop}; count++) {{"
        yield f"    if (count == {items.most})"
        yield "        return refused(f, TOO_LONG, p);"
        yield "    if (!item_begin(f, items))"
        yield "        return NULL;"
        yield f"    TAKE({self.source.reader(items.union, inner, '')}(f, p, items, items->rows));"
        yield "    items->rows++;"
        yield "}"
        yield f"return items_end(p, t, {constant}, row);"

    def chain(self, chain: Chain) -> Lines:
        constant, inner = self.listed(chain)
        item = _Reader(self.source, inner, "")
        item.rows = "items", "items->rows"
        body = list(item.record(chain.item, {"header"}))
        mask = chain.item.header.bit("Z").mask
        yield f"table *items = items_begin(f, t, {constant}, row);"
        yield "if (!items)"
        yield "    return NULL;"
        yield "for (size_t count = 0;; count++) {"
        yield f"    if (count == {chain.most})"
        yield "        return refused(f, TOO_LONG, p);"
        yield "    if (!item_begin(f, items))"
        yield "        return NULL;"
        yield from _indent(body)
        yield "    items->rows++;"
        yield f"    if (!(b_header & 0x{mask:02X}))"
        yield f"        return items_end(p, t, {constant}, row);"
        yield "}"

    def listed(self, part: Items | Chain) -> tuple[str, Table]:
        """Return the column of a list, and the table of its items."""
        index = self.table.index(self.path, Kind.ITEMS)
        inner = self.table.columns[index].items
        assert inner is not None
        return self.source.columns[self.table][index], inner

    def part(self, part: Part, path: str, field: str = "", *, checked: bool = False) -> Lines:
        """Read one part; ``field`` is its name if it is one of a record, ``checked`` if its first byte is known."""
        number = f"&n_{field}" if field in self.read else "&number"
        match part:
            case Integer(size=size):
                cell, column = self.slot(path, Kind.NUMBER)
                yield f"TAKE(take_integer({cell}, {column.size}, {size}, {number}));"
            case Varint(bits=bits):
                cell, column = self.slot(path, Kind.NUMBER)
                yield f"TAKE(take_varint({cell}, {column.size}, {bits}, {number}));"
            case Flags():
                cell, column = self.slot(path, Kind.NUMBER)
                if len(part.begins) < 256 and not checked:
                    begins = self.source.beginning(part.begins, self.source.names.tables[part])
                    yield f"if (p != f->end && !{begins}[*p])"
                    yield "    return refused(f, UNKNOWN_ID, p);"
                byte = f"&b_{field}" if field in self.read else "&byte"
                yield f"TAKE(take_flags({cell}, {column.size}, {byte}));"
            case Counted(bits=bits, text=text):
                cell, _ = self.slot(path, Kind.TEXT if text else Kind.BYTES)
                yield f"TAKE(take_counted({cell}, {bits}, {int(text)}));"
            case Sized(count=count):
                cell, _ = self.slot(path, Kind.BYTES)
                yield f"TAKE(take_sized({cell}, {self.expression(count)}));"
            case Remainder(text=text):
                cell, _ = self.slot(path, Kind.TEXT if text else Kind.BYTES)
                yield f"TAKE(take_rest({cell}, {int(text)}));"
            case Reserved():
                yield "return refused(f, RESERVED, p - 1);"
            case Optional(when=when, node=node):
                body = list(self.part(node, path, field))
                if body:
                    yield f"if ({self.truth(when)}) {{"
                    yield from _indent(body)
                    yield "}"
            case Switch():
                yield from self.switch(part, path, field)
            case Nothing() | Record(fields=()):
                pass
            case Record() | Union() | Items() | Chain():
                yield f"TAKE({self.source.reader(part, self.table, path)}(f, p, {', '.join(self.rows)}));"
            case _:
                raise TypeError(part)

    def switch(self, switch: Switch, path: str, field: str) -> Lines:
        key = self.expression(switch.key)
        word = "if"
        for value, case in switch.cases:
            yield f"{word} ({key} == {_number(value)}) {{"
            yield from _indent(self.part(case, path, field))
            word = "} else if"
        if not switch.cases:
            yield from self.part(switch.default, path, field)
            return
        yield "} else {"
        yield from _indent(self.part(switch.default, path, field))
        yield "}"

    def expression(self, expr: Expr) -> str:
        """Return an expression that fits in an ``int64_t``, which ``lay_out`` has seen to; comparisons give 0 or 1."""
        match expr:
            case Const(value=value):
                return _number(value)
            case Ref(field=field, bit=None):
                return f"(int64_t)n_{field}"
            case Ref(field=field, bit=bit):
                flags = flags_in(self.fields[field])
                assert flags is not None
                if bit == "X":
                    return f"(b_{field} & 0x{flags.spare:02X})"
                where = flags.bit(str(bit))
                return f"(b_{field} >> {where.low} & 0x{where.mask >> where.low:X})"
            case Op(symbol="<<" | ">>" as symbol, left=left, right=right):
                name = "shifted_left" if symbol == "<<" else "shifted_right"
                return f"({name}({self.expression(left)}, {self.expression(right)}))"
            case Op(symbol=symbol, left=left, right=right):
                return f"((int64_t){self.expression(left)} {symbol} {self.expression(right)})"

    def truth(self, expr: Expr) -> str:
        """Return an expression as a condition."""
        match expr:
            case Ref(field=field, bit=str(bit)):
                flags = flags_in(self.fields[field])
                assert flags is not None
                return f"b_{field} & 0x{flags.spare if bit == 'X' else flags.bit(bit).mask:02X}"
            case Op():
                return self.expression(expr)[1:-1]
        return self.expression(expr)


def _read(record: Record) -> set[str]:
    """Return the fields of a record that expressions read."""
    found: set[str] = set()

    def look(expr: Expr) -> None:
        match expr:
            case Ref(field=field):
                found.add(field)
            case Op(left=left, right=right):
                look(left)
                look(right)

    def visit(part: Part) -> None:
        match part:
            case Optional(when=when, node=node):
                look(when)
                visit(node)
            case Switch(key=key, cases=cases, default=default):
                look(key)
                for _, case in cases:
                    visit(case)
                visit(default)
            case Sized(count=count):
                look(count)

    for field in record.fields:
        visit(field.node)
    return found
