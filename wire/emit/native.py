"""C from layouts: an abi3 extension that makes the same values as the Python engine, as immutable records.

One kind of record per message and per byte of flags, one reader and one writer per record, union, list and chain. The
writers take only what this module has decoded; any other value is the Python engine's to encode.
"""

import hashlib
from collections.abc import Iterator

from wire.emit.naming import Names, flags_in, identifier
from wire.layout import (
    Chain,
    Const,
    Counted,
    Expr,
    Flags,
    Integer,
    Items,
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

BLANK = "0123456789abcdef"
"""Where the stamp goes, which tells one generated source from another."""

HEAD = """/* Codecs of {protocol}: generated from wire/{protocol} by `python -m wire.emit`. Do not edit. */

#include "records.h"
"""


def emit(protocol: str, layouts: list[Layout]) -> str:
    """Return the source of the extension ``wire.PROTOCOL.generated.native``, with its own stamp in it."""
    text = "\n".join(_Source(protocol, layouts).lines())
    return text.replace(BLANK, hashlib.sha256(text.encode()).hexdigest()[: len(BLANK)])


def stamp_of(source: str) -> str:
    """Return the stamp of a generated source."""
    return source.partition('"STAMP", "')[2].partition('"')[0]


class _Source:
    """The parts of one file, in order."""

    def __init__(self, protocol: str, layouts: list[Layout]) -> None:
        self.protocol = protocol
        self.layouts = layouts
        self.names = Names(layouts)
        self.records = {part: name for part, name in self.names.parts.items() if isinstance(part, Record)}

    def lines(self) -> Lines:
        yield HEAD.format(protocol=self.protocol)
        for flags, name in self.names.tables.items():
            yield from self.flags(flags, name)
        for record, name in self.records.items():
            fields = [*(["type"] if record.name else []), *(field.name for field in record.fields)]
            yield from self.kind(name, record.name or name, fields)
            if record.name:
                yield f"static PyObject *type_{name};"
            yield ""
        for part in self.names.parts:
            yield from _Reader(self.names).function(part)
            yield ""
            yield from _Writer(self.names).function(part)
            yield ""
        for layout in self.layouts:
            yield from self.entry(layout)
        yield from self.module()

    def kind(self, name: str, title: str, fields: list[str]) -> Lines:
        yield f"static kind kind_{name} = {{"
        yield f'    .qualified = "wire.{self.protocol}.generated.native.{title}",'
        yield f"    .count = {len(fields)},"
        if fields:
            quoted = ", ".join(f'"{field}"' for field in fields)
            yield f"    .names = {{{quoted}}},"
        yield "};"

    def flags(self, flags: Flags, name: str) -> Lines:
        yield from self.kind(name, name, list(flags.names))
        places = [f"{{0x{bit.mask:02X}, {bit.low}}}" for bit in flags.bits]
        if flags.spare:
            places.append(f"{{0x{flags.spare:02X}, 0}}")
        yield f"static const bits bits_{name}[] = {{{', '.join(places)}}};"
        if len(flags.begins) < 256:
            begins = ", ".join(f"0x{byte:02X}" for byte in flags.begins)
            yield f"static const uint8_t begins_{name}[] = {{{begins}}};"
        yield f"static PyObject *table_{name}[256];"
        yield ""

    def entry(self, layout: Layout) -> Lines:
        name, root = identifier(layout), layout.root
        most = root.size if isinstance(root, Limited) else 0
        if isinstance(root, Limited):
            root = root.node
        if root not in self.names.parts:
            raise TypeError(f"{layout.name}: a layout is a record, a union or a list")
        part = self.names.parts[root]
        yield f"static PyObject *encode_{name}_otherwise;"
        yield ""
        yield f"static PyObject *decode_{name}(PyObject *self, PyObject *const *arguments, Py_ssize_t count)"
        yield "{"
        yield "    (void)self;"
        yield f'    return decoded(arguments, count, "{layout.name}", {most}, {part}_read);'
        yield "}"
        yield ""
        yield f"static PyObject *encode_{name}(PyObject *self, PyObject *value)"
        yield "{"
        yield "    (void)self;"
        yield f"    return encoded(value, {most}, {part}_write, encode_{name}_otherwise);"
        yield "}"
        yield ""

    def module(self) -> Lines:
        yield "static PyMethodDef functions[] = {"
        for layout in self.layouts:
            name = identifier(layout)
            yield (
                f'    {{"decode_{name}", (PyCFunction)(void (*)(void))decode_{name}, METH_FASTCALL, '
                f'"Decode one {layout.name}."}},'
            )
            yield f'    {{"encode_{name}", encode_{name}, METH_O, "Encode one {layout.name}."}},'
        yield "    {NULL, NULL, 0, NULL},"
        yield "};"
        yield ""
        yield "static struct PyModuleDef definition = {"
        yield "    PyModuleDef_HEAD_INIT,"
        yield '    .m_name = "native",'
        yield f'    .m_doc = "Codecs of {self.protocol} in C.",'
        yield "    .m_size = -1,"
        yield "    .m_methods = functions,"
        yield "};"
        yield ""
        yield "static int prepare(void)"
        yield "{"
        yield "    if (!connect())"
        yield "        return 0;"
        for flags, name in self.names.tables.items():
            some = f"begins_{name}, {len(flags.begins)}" if len(flags.begins) < 256 else "NULL, 256"
            yield f"    if (!establish(&kind_{name}) || !tabulate(&kind_{name}, bits_{name}, table_{name}, {some}))"
            yield "        return 0;"
        for record, name in self.records.items():
            yield f"    if (!establish(&kind_{name}))"
            yield "        return 0;"
            if record.name:
                yield f'    if ((type_{name} = PyUnicode_InternFromString("{record.name}")) == NULL)'
                yield "        return 0;"
        yield "    return 1;"
        yield "}"
        yield ""
        yield "PyMODINIT_FUNC PyInit_native(void)"
        yield "{"
        yield "    if (!prepare())"
        yield "        return NULL;"
        yield "    PyObject *module = PyModule_Create(&definition);"
        yield f'    if (module == NULL || PyModule_AddStringConstant(module, "STAMP", "{BLANK}") < 0)'
        yield "        return NULL;"
        entries = ", ".join(f'{{"{_short(layout)}", "{identifier(layout)}"}}' for layout in self.layouts)
        yield f"    static const char *const names[][2] = {{{entries}}};"
        others = ", ".join(f"&encode_{identifier(layout)}_otherwise" for layout in self.layouts)
        yield f"    static PyObject **const otherwise[] = {{{others}}};"
        yield f'    static const char python[] = "wire.{self.protocol}.generated.python";'
        yield f"    if (!publish(module, python, names, otherwise, {len(self.layouts)}))"
        yield "        return NULL;"
        yield "    return module;"
        yield "}"
        yield ""


def _short(layout: Layout) -> str:
    return layout.name.partition("/")[2]


def _indent(lines: Lines, by: int = 1) -> Lines:
    for line in lines:
        yield "    " * by + line if line else line


class _Scope:
    """The fields of the record that is being written down: expressions over them become C.

    The byte of a field of flags is in ``b_FIELD``, a number in ``n_FIELD``.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.fields: dict[str, Part] = {}
        self.places: dict[str, int] = {}

    def enter(self, record: Record) -> Lines:
        """Declare the variables that expressions over a record need."""
        self.fields = {field.name: field.node for field in record.fields}
        first = 1 if record.name else 0
        self.places = {field.name: index + first for index, field in enumerate(record.fields)}
        for name, node in self.fields.items():
            if flags_in(node):
                yield f"uint8_t b_{name} = 0;"
            elif name in _numbers(record):
                yield f"uint64_t n_{name} = 0;"

    def expression(self, expr: Expr) -> str:
        """Write an expression on numbers of 64 bits; the layout has seen to it that none overflows."""
        match expr:
            case Const():
                return f"INT64_C({expr.value})"
            case Ref(field=field, bit=None):
                return f"(int64_t)n_{field}"
            case Ref(field=field, bit=bit):
                flags = flags_in(self.fields[field])
                assert flags is not None
                if bit == "X":
                    return f"(int64_t)(b_{field} & 0x{flags.spare:02X})"
                where = flags.bit(str(bit))
                return f"(int64_t)(b_{field} >> {where.low} & 0x{where.mask >> where.low:X})"
            case Op(symbol=">>", left=left, right=right):
                return f"shifted({self.expression(left)}, {self.expression(right)})"
            case Op(symbol=symbol, left=left, right=right):
                return f"({self.expression(left)} {symbol} {self.expression(right)})"


def _numbers(record: Record) -> set[str]:
    """Return the fields of a record that expressions read as numbers."""
    found: set[str] = set()

    def read(expr: Expr) -> None:
        match expr:
            case Ref(field=field, bit=None):
                found.add(field)
            case Op(left=left, right=right):
                read(left)
                read(right)

    def visit(part: Part) -> None:
        match part:
            case Optional():
                read(part.when)
                visit(part.node)
            case Switch():
                read(part.key)
                for _, case in part.cases:
                    visit(case)
                visit(part.default)
            case Sized():
                read(part.count)

    for field in record.fields:
        visit(field.node)
    return found


class _Reader(_Scope):
    """Readers: from a frame to a new value, or ``NULL`` when it is refused or Python has no memory."""

    def function(self, part: Part) -> Lines:
        yield f"static PyObject *{self.names.parts[part]}_read(reader *r)"
        yield "{"
        match part:
            case Record():
                yield from _indent(self.record(part))
            case Union():
                yield from _indent(self.union(part))
            case Items():
                yield from _indent(self.items(part))
            case Chain():
                yield from _indent(self.chain(part))
        yield "}"

    def record(self, record: Record) -> Lines:
        name = self.names.parts[record]
        declared = list(self.enter(record))
        yield f"record *v = make(&kind_{name}, {len(record.fields) + bool(record.name)});"
        if not record.fields and not record.name:
            yield "(void)r;"
            yield "return (PyObject *)v;"
            return
        yield "if (v == NULL)"
        yield "    return NULL;"
        yield from declared
        if record.name:
            yield f"v->fields[0] = Py_NewRef(type_{name});"
        numbers = _numbers(record)
        for field in record.fields:
            into = f"v->fields[{self.places[field.name]}]"
            keep = f"n_{field.name}" if field.name in numbers else None
            yield from self.part(field.node, into, field.name, keep, checked=bool(record.name))
        yield "return (PyObject *)v;"
        yield "bad:"
        yield "Py_DECREF(v);"
        yield "return NULL;"

    def union(self, union: Union) -> Lines:
        yield "if (r->at == r->size) {"
        yield "    refuse(r, TRUNCATED, r->size);"
        yield "    return NULL;"
        yield "}"
        yield "switch (r->data[r->at]) {"
        for message in union.messages:
            for byte in message.header.begins:
                yield f"case 0x{byte:02X}:"
            yield f"    return {self.names.parts[message]}_read(r);"
        yield "default:"
        yield "    refuse(r, UNKNOWN_ID, r->at);"
        yield "    return NULL;"
        yield "}"

    def items(self, items: Items) -> Lines:
        yield "gathering g = {.count = 0};"
        yield "while (r->at < r->size) {"
        if not items.to_end:
            yield "    switch (r->data[r->at]) {"
            for message in items.union.messages:
                for byte in message.header.begins:
                    yield f"    case 0x{byte:02X}:"
            yield "        break;"
            yield "    default:"
            yield "        return gathered(&g);"
            yield "    }"
        yield f"    if (g.count == {items.most}) {{"
        yield "        refuse(r, TOO_LONG, r->at);"
        yield "        return scattered(&g);"
        yield "    }"
        yield f"    PyObject *item = {self.names.parts[items.union]}_read(r);"
        yield "    if (item == NULL || !gather(&g, item))"
        yield "        return scattered(&g);"
        yield "}"
        yield "return gathered(&g);"

    def chain(self, chain: Chain) -> Lines:
        yield "gathering g = {.count = 0};"
        yield "for (;;) {"
        yield f"    if (g.count == {chain.most}) {{"
        yield "        refuse(r, TOO_LONG, r->at);"
        yield "        return scattered(&g);"
        yield "    }"
        yield "    size_t start = r->at;"
        yield f"    PyObject *item = {self.names.parts[chain.item]}_read(r);"
        yield "    if (item == NULL || !gather(&g, item))"
        yield "        return scattered(&g);"
        yield f"    if (!(r->data[start] & 0x{chain.item.header.bit('Z').mask:02X}))"
        yield "        return gathered(&g);"
        yield "}"

    def part(self, part: Part, into: str, field: str, keep: str | None, *, checked: bool = False) -> Lines:
        match part:
            case Integer(size=size):
                yield from self.number(f"read_integer(r, {size}, &n)", into, keep)
            case Varint(bits=bits):
                yield from self.number(f"read_varint(r, {bits}, &n)", into, keep)
            case Flags():
                table = f"table_{self.names.tables[part]}[b_{field}]"
                yield f"if (!read_octet(r, &b_{field}))"
                yield "    goto bad;"
                if len(part.begins) < 256 and not checked:
                    yield f"if ({table} == NULL) {{"
                    yield "    refuse(r, UNKNOWN_ID, r->at - 1);"
                    yield "    goto bad;"
                    yield "}"
                yield f"{into} = Py_NewRef({table});"
            case Counted(bits=bits, text=text):
                yield "{"
                yield "    size_t announced = r->at, start, count;" if text else "    size_t start, count;"
                yield f"    if (!read_counted(r, {bits}, &start, &count))"
                yield "        goto bad;"
                made = "text(r, start, count, announced)" if text else "octets(r, start, count)"
                yield from _indent(self.made(into, made))
                yield "}"
            case Sized(count=count):
                yield "{"
                yield "    size_t start;"
                yield f"    int64_t count = {self.expression(count)};"
                yield "    if (count < 0) {"
                yield "        refuse(r, BAD_VALUE, r->at);"
                yield "        goto bad;"
                yield "    }"
                yield "    if (!read_sized(r, (uint64_t)count, &start))"
                yield "        goto bad;"
                yield from _indent(self.made(into, "octets(r, start, (size_t)count)"))
                yield "}"
            case Remainder(text=text):
                yield "{"
                yield "    size_t start = r->at;"
                yield "    r->at = r->size;"
                made = "text(r, start, r->size - start, start)" if text else "octets(r, start, r->size - start)"
                yield from _indent(self.made(into, made))
                yield "}"
            case Nothing():
                yield f"{into} = Py_NewRef(Py_None);"
            case Reserved():
                yield "refuse(r, RESERVED, r->at - 1);"
                yield "goto bad;"
            case Optional():
                yield f"if ({self.expression(part.when)}) {{"
                yield from _indent(self.part(part.node, into, field, keep))
                yield "} else {"
                yield f"    {into} = Py_NewRef(Py_None);"
                yield "}"
            case Switch():
                yield f"switch ({self.expression(part.key)}) {{"
                for value, case in part.cases:
                    yield f"case {value}:"
                    yield from _indent(self.part(case, into, field, keep))
                    yield "    break;"
                yield "default:"
                yield from _indent(self.part(part.default, into, field, keep))
                if not isinstance(part.default, Reserved):
                    yield "    break;"
                yield "}"
            case Union() | Record() | Items() | Chain():
                yield from self.made(into, f"{self.names.parts[part]}_read(r)")
            case _:
                raise TypeError(part)

    def number(self, read: str, into: str, keep: str | None) -> Lines:
        yield "{"
        yield "    uint64_t n;"
        yield f"    if (!{read})"
        yield "        goto bad;"
        if keep:
            yield f"    {keep} = n;"
        yield from _indent(self.made(into, "number(n)"))
        yield "}"

    def made(self, into: str, value: str) -> Lines:
        yield f"if (({into} = {value}) == NULL)"
        yield "    goto bad;"


class _Writer(_Scope):
    """Writers: from a value of this module to bytes; 0 without an exception if it is not one."""

    def function(self, part: Part) -> Lines:
        yield f"static int {self.names.parts[part]}_write(writer *w, PyObject *value)"
        yield "{"
        match part:
            case Record():
                yield from _indent(self.record(part))
            case Union():
                yield from _indent(self.union(part))
            case Items():
                yield from _indent(self.items(part))
            case Chain():
                yield from _indent(self.chain(part))
        yield "}"

    def record(self, record: Record) -> Lines:
        declared = list(self.enter(record))
        yield f"if (Py_TYPE(value) != kind_{self.names.parts[record]}.type)"
        yield "    return 0;"
        if not record.fields:
            yield "(void)w;"
            yield "return 1;"
            return
        yield "record *v = (record *)value;"
        yield from declared
        numbers = _numbers(record)
        for field in record.fields:
            source = f"v->fields[{self.places[field.name]}]"
            keep = f"n_{field.name}" if field.name in numbers else None
            yield from self.part(field.node, source, field.name, keep)
        yield "return 1;"

    def union(self, union: Union) -> Lines:
        for message in union.messages:
            name = self.names.parts[message]
            yield f"if (Py_TYPE(value) == kind_{name}.type)"
            yield f"    return {name}_write(w, value);"
        yield "(void)w;"
        yield "return 0;"

    def items(self, items: Items) -> Lines:
        yield from self.listed(items.most)
        yield "for (Py_ssize_t i = 0; i < count; i++)"
        yield f"    if (!{self.names.parts[items.union]}_write(w, PyList_GetItem(value, i)))"
        yield "        return 0;"
        yield "return 1;"

    def chain(self, chain: Chain) -> Lines:
        mask = chain.item.header.bit("Z").mask
        yield from self.listed(chain.most)
        yield "for (Py_ssize_t i = 0; i < count; i++) {"
        yield "    size_t start = w->size;"
        yield f"    if (!{self.names.parts[chain.item]}_write(w, PyList_GetItem(value, i)))"
        yield "        return 0;"
        yield f"    w->data[start] &= 0x{0xFF & ~mask:02X};"
        yield "    if (i + 1 < count)"
        yield f"        w->data[start] |= 0x{mask:02X};"
        yield "}"
        yield "return count > 0;"

    def listed(self, most: int) -> Lines:
        yield "if (!PyList_CheckExact(value))"
        yield "    return 0;"
        yield "Py_ssize_t count = PyList_Size(value);"
        yield f"if (count > {most})"
        yield "    return 0;"

    def part(self, part: Part, source: str, field: str, keep: str | None) -> Lines:
        match part:
            case Integer() | Varint():
                number = f"number_of({source})"
                if keep:
                    yield f"{keep} = {number};"
                    number = keep
                write = (
                    f"write_integer(w, {part.size}, {number})"
                    if isinstance(part, Integer)
                    else (f"write_varint(w, {number})")
                )
                yield from self.written(write)
            case Flags():
                yield f"b_{field} = (uint8_t)((record *){source})->byte;"
                yield from self.written(f"write_octet(w, b_{field})")
            case Counted(text=text):
                yield from self.written(f"write_{'text' if text else 'bytes'}(w, {source}, 1)")
            case Sized():
                yield from self.written(f"write_bytes(w, {source}, 0)")
            case Remainder(text=text):
                yield from self.written(f"write_{'text' if text else 'bytes'}(w, {source}, 0)")
            case Nothing():
                yield ";"
            case Reserved():
                yield "return 0;"
            case Optional():
                yield f"if ({self.expression(part.when)}) {{"
                yield from _indent(self.part(part.node, source, field, keep))
                yield "}"
            case Switch():
                yield f"switch ({self.expression(part.key)}) {{"
                for value, case in part.cases:
                    yield f"case {value}:"
                    yield from _indent(self.part(case, source, field, keep))
                    yield "    break;"
                yield "default:"
                yield from _indent(self.part(part.default, source, field, keep))
                if not isinstance(part.default, Reserved):
                    yield "    break;"
                yield "}"
            case Union() | Record() | Items() | Chain():
                yield from self.written(f"{self.names.parts[part]}_write(w, {source})")
            case _:
                raise TypeError(part)

    def written(self, write: str) -> Lines:
        yield f"if (!{write})"
        yield "    return 0;"
