"""C from layouts: an abi3 extension that decodes a batch of frames into the columns of ``wire.columns``.

One table of columns per layout and per list, one reader per record, union, list and chain at its place in a table.
What a column is, how it is filled, taken back and exported is hand-written: ``columns.h``, ``arrow.h``, ``capsules.h``.
Texts of JSON are read by ``json.h``; what may stand in them are tables (``native_json.py``).
"""

import hashlib
import re
from collections.abc import Iterable

from wire import expressions
from wire.columns import REFUSED, REFUSED_AT, Column, Table, columns_of
from wire.emit.naming import PartNames, identifier
from wire.emit.native_json import JsonTables, preamble
from wire.errors import Reason
from wire.expressions import Expr, Operand
from wire.kinds import Json, Part
from wire.kinds.coded import indented
from wire.kinds.compound import Compound
from wire.kinds.contexts import ColumnCode, Kind, Lines, Names
from wire.layout import Layout

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
    # Of the text with the stamp left blank: so the stamp depends on all of it, and on nothing else.
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


class _Source:
    """The tables and readers of one file, each before the first that uses it."""

    def __init__(self, layouts: list[Layout]) -> None:
        self.names = PartNames(layouts, callable_only=False)
        self.lines: list[str] = []
        self.tables: dict[Table, str] = {}
        self.columns: dict[Table, list[str]] = {}
        self.readers: dict[tuple[Part, Table, str], str] = {}
        self.begins: dict[tuple[int, ...], str] = {}
        self.places: dict[Table, JsonTables] = {}
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
        name, root, most = identifier(layout), layout.frame, layout.root.frame_limit
        table = columns_of(layout)
        self.table(table, name)
        body = []
        if most is not None:
            body += [f"if (f->end - p > {most})", f"    return refused(f, TOO_LONG, p + {most});"]
        if isinstance(root, Json):
            body += self.json(layout, root, table)
        else:
            body += root.column_read(_Reader(self, table), "", "")
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
            self.places[table] = JsonTables(identifier(layout), names)
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

    def reader(self, part: Compound, table: Table, path: str) -> str:
        """Return the function that reads a part into the columns at ``path``, which is written down before."""
        # The same record at two places fills other columns, so it is a function for each place, and one for each table.
        key = part, table, path
        if key not in self.readers:
            body = list(part.column_reader(_Reader(self, table), path))
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
    yield from indented(body)
    if not body or not body[-1].startswith("return "):
        yield "    return p;"
    yield "}"


def _word(path: str) -> str:
    return re.sub(r"\W", "_", path)


class _Reader(ColumnCode):
    """The reader of one part: from ``p`` into a row of ``table``; what the parts ask is ``base.ColumnCode``."""

    def __init__(self, source: _Source, table: Table, rows: tuple[str, str] = ("t", "row")) -> None:
        self.source = source
        self.names: Names = source.names
        self.table = table
        self.rows = rows
        self.fields: dict[str, Operand] = {}
        self.kept: set[str] = set()

    def cell(self, path: str, kind: Kind) -> tuple[str, Column]:
        """Return the arguments that name a cell, and its column."""
        index = self.table.index(path, kind)
        t, row = self.rows
        return f"f, p, {t}, {self.source.columns[self.table][index]}, {row}", self.table.columns[index]

    def variable(self, field: str) -> str:
        """Return the address of the variable for the number of a field."""
        return f"&n_{field}" if field in self.kept else "&number"

    def number(self, expr: Expr) -> str:
        """Print an expression as C."""
        return expressions.c(expr, self.fields)

    def truth(self, expr: Expr) -> str:
        """Print an expression as a condition in C."""
        return expressions.c_truth(expr, self.fields)

    def beginning(self, begins: tuple[int, ...], hint: str) -> str:
        """Return the symbol of a table that tells which bytes can stand somewhere."""
        return self.source.beginning(begins, hint)

    def reader(self, part: Compound, path: str) -> str:
        """Return the function that reads a compound part at ``path`` into the same table."""
        return self.source.reader(part, self.table, path)

    def listed(self, path: str, item: Part, table: str = "items") -> tuple[str, ColumnCode]:
        """Return the constant of a list's column, and what writes down the reading of its items into ``table``."""
        index = self.table.index(path, Kind.ITEMS)
        inner = self.table.columns[index].items
        assert inner is not None
        return self.source.columns[self.table][index], _Reader(self.source, inner, (table, f"{table}->rows"))
