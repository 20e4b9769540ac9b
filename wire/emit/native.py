"""C from layouts: an abi3 extension that makes the same values as the Python engine, as immutable records.

One kind of record per message and per byte of flags, one reader and one writer per record, union, list and chain. The
writers take only what this module has decoded; any other value is the Python engine's to encode.
"""

import hashlib

from wire.emit.naming import PartNames, identifier
from wire.kinds.coded import indented
from wire.kinds.contexts import CCode, Lines
from wire.layout import Layout

BLANK = "0123456789abcdef"
"""Where the stamp goes, which tells one generated source from another."""

HEAD = """/* Codecs of {protocol}: generated from wire/{protocol} by `python -m wire.emit`. Do not edit. */

{most}#include "records.h"
"""

FIELDS = 16
"""Fields that a record has room for, if the file does not say otherwise (``records.h``)."""


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
        self.names = PartNames(layouts)
        self.records = {part: name for part, name in self.names.parts.items() if part.record_fields is not None}

    def lines(self) -> Lines:
        # Records have room for so many fields in place, without an allocation for the names: the widest sets the size.
        counts = [len(part.value_names) for part in self.names.tables]
        counts += [len(record.value_names) + 1 for record in self.records]
        most = max(counts, default=0)
        wide = f"#define MOST_FIELDS {most}\n" if most > FIELDS else ""
        yield HEAD.format(protocol=self.protocol, most=wide)
        for bits, name in self.names.tables.items():
            names, lines = bits.c_table(CCode(self.names), name)
            yield from (*self.kind(name, name, names), *lines, "")
        for record, name in self.records.items():
            fields = [*(["type"] if record.message_name else []), *record.value_names]
            yield from self.kind(name, record.message_name or name, fields)
            if record.message_name:
                yield f"static PyObject *type_{name};"
            yield ""
        for part in self.names.parts:
            yield from (f"static PyObject *{self.names.parts[part]}_read(reader *r)", "{")
            yield from indented(part.c_reader(CCode(self.names)))
            yield from ("}", "", f"static int {self.names.parts[part]}_write(writer *w, PyObject *value)", "{")
            yield from indented(part.c_writer(CCode(self.names)))
            yield from ("}", "")
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

    def entry(self, layout: Layout) -> Lines:
        name, root = identifier(layout), layout.frame
        most = layout.root.frame_limit or 0
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
        for bits, name in self.names.tables.items():
            yield from bits.c_prepare(name)
        for record, name in self.records.items():
            yield f"    if (!establish(&kind_{name}))"
            yield "        return 0;"
            if record.message_name:
                yield f'    if ((type_{name} = PyUnicode_InternFromString("{record.message_name}")) == NULL)'
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
