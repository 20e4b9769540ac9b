"""Lua from layouts: a dissector for Wireshark, which shows every field of a frame, or where and why it is refused.

A field's filter is called after the protocol, the message (or the field that holds the record) and the field, in small
letters: ``zenoh.interest.id``; bits come behind the integer that they are of: ``zenoh.interest.header.z``. How leaves
are read and shown stands in ``dissector.lua``, which comes first in every dissector. What is generated comes behind it:
what fields there are, and a function per record, which reads like the grammar.
"""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import NamedTuple

from wire import expressions
from wire.emit import lua_json
from wire.emit.naming import identifier
from wire.errors import CannotLayOut
from wire.expressions import Expr, Operand, Ref, lua_integer
from wire.kinds import Bit, Flags, Json, Part, Record, Union
from wire.kinds.base import together
from wire.kinds.bit_groups import BitGroups
from wire.kinds.coded import indented
from wire.kinds.contexts import Lines, LuaCode, lua_text
from wire.layout import Layout

Words = Mapping[str, Mapping[int, str]]
"""What the numbers of a field mean, by ``MESSAGE.field.bits``."""

Titles = Mapping[tuple[str, ...], Mapping[str, Mapping[tuple[int, ...], str]]]
"""What a record is called: by a field of it and the bits of that, by the message that holds it, by what they are."""


class Vocabulary(NamedTuple):
    """What a protocol's numbers are called: its ``WORDS``, and its ``TITLES`` by the names of records."""

    words: Words = {}
    titles: Mapping[str, Titles] = {}


FAMILIES = {
    "none": "branch",
    "bytes": "bytes",
    "string": "text",
    "float": "float",
    "double": "double",
    "bool": "boolean",
}
"""What a filter ends with, by Wireshark's type, where a field has values of several types: Wireshark mixes none."""

NUMBER = re.compile(r"#\d+")
"""What tells fields apart that filters call the same."""


class Links(NamedTuple):
    """How frames travel, in Lua: what stands before all is registered, its ``fields``, and what registers more."""

    before: str = ""
    fields: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


NO_LINKS = Links()


def emit(protocol: str, layouts: list[Layout], vocabulary: Vocabulary, links: Links = NO_LINKS) -> str:
    """Return a dissector, in which each layout is a protocol of Wireshark: ``goldwire_zenoh_batch``.

    ``links`` add how frames travel: they find the layouts by name in ``layouts``, and all fields in the protocol
    ``main``. Raises ``CannotLayOut`` for words of a field that is not there.
    """
    # Twice: only when all fields were seen it is known which have values of several types.
    first = _Dissector(protocol, layouts, vocabulary)
    list(first.lines(links))
    return "\n".join([*_Dissector(protocol, layouts, vocabulary, first.types).lines(links), ""])


def vocabulary_of(protocol: str) -> Vocabulary:
    """Return what ``words.py`` of a protocol has, which not every one needs."""
    if find_spec(f"wire.{protocol}.words") is None:
        return Vocabulary()
    module = import_module(f"wire.{protocol}.words")
    return Vocabulary(module.WORDS, module.TITLES)


def runtime(name: str) -> str:
    """Return Lua that every dissector has, whatever the protocol."""
    return files("wire.emit").joinpath(name).read_text("utf-8").rstrip("\n")


def family(kind: str) -> str:
    """Return which of Wireshark's types may share a filter with this one."""
    return FAMILIES.get(kind, "number" if kind.startswith("uint") else "signed")


class _Dissector:
    """The parts of one file; ``types`` has the types that the values of each field have, as a first pass saw them."""

    def __init__(
        self,
        protocol: str,
        layouts: list[Layout],
        vocabulary: Vocabulary,
        types: Mapping[str, set[str]] | None = None,
    ) -> None:
        self.protocol = protocol
        self.layouts = layouts
        self.words = {name.lower(): meanings for name, meanings in vocabulary.words.items()}
        self.titles = vocabulary.titles
        self.unused = set(self.words)
        self.types: dict[str, set[str]] = {}
        self.known_types = types or {}
        self.declarations: dict[str, str] = {}
        self.functions: list[str] = []
        self.names: dict[tuple[Part, str], str] = {}
        self.places = lua_json.Places(self.declare)

    def lines(self, links: Links) -> Lines:
        title = self.protocol.capitalize()
        entries = [line for layout in self.layouts for line in self.layout(layout)]
        if self.unused:
            raise CannotLayOut(f"{self.protocol}: words for {', '.join(sorted(self.unused))}, which no layout has")
        yield f"-- {title} for Wireshark: written by `goldwire dissector {self.protocol}`, from goldwire's layouts."
        yield from ("", f'local PREFIX = "{self.protocol}." -- of every filter', "", runtime("dissector.lua"))
        if any(layout.is_json for layout in self.layouts):
            yield from ("", runtime("dissector_json.lua"))
        yield from ("", "-- Fields, by their keys: what follows is made from the layouts.", "")
        yield from self.declarations.values()
        for name, titles in self.titles.items():
            yield from titled(name, titles)
        yield from ("", "-- Records: each function reads one, as the grammar has it.")
        yield from (*self.functions, *self.places.lines())
        yield from ("", "-- Layouts: what a whole frame can be.", "", "local layouts = {}", *entries)
        yield from ("", runtime("dissector_end.lua"), "")
        if links.before:
            yield from (links.before, "")
        yield f'local main = protocol("goldwire_{self.protocol}", "{title}", {{ {", ".join(links.fields)} }})'
        for layout in self.layouts:
            name = identifier(layout)
            yield f'alone("goldwire_{self.protocol}_{name}", "{layout.name}", layouts.{name})'
        yield from links.after

    def layout(self, layout: Layout) -> Lines:
        name, frame = identifier(layout), layout.frame
        yield f"layouts.{name} = {{"
        if layout.root.frame_limit is not None:
            yield f"    most = {layout.root.frame_limit},"
        if isinstance(frame, Json):
            yield f"    read = json({self.places.frame(frame.node, name)}),"
        else:
            yield "    read = function(r)"
            if isinstance(frame, Record):
                yield from indented(_Function(self, name).body(frame), 2)
            else:
                yield from indented(frame.lua_read(_Function(self, ""), name), 2)
            yield "    end,"
        yield "}"

    def named(self, part: Part, place: str, hint: str) -> tuple[str, bool]:
        """Return what a part is called in the file where it stands at a ``place``, and whether it was not before."""
        if (part, place) in self.names:
            return self.names[part, place], False
        taken, name, number = set(self.names.values()), hint, 1
        while name in taken:
            number += 1
            name = f"{hint}_{number}"
        self.names[part, place] = name
        return name, True

    def declare(self, place: str, kind: str, line: Callable[[str, str], str]) -> str:
        """Declare a field at a ``place`` such as ``interest.id``, with values of Wireshark's type ``kind``.

        Returns its key, which ``line`` makes the declaration of, with the type.
        """
        place = place.lower()
        self.types.setdefault(NUMBER.sub("", place), set()).add(kind)
        types = self.known_types.get(NUMBER.sub("", place), {kind})
        if len({family(each) for each in types}) > 1:
            place = f"{place}.{family(kind)}"
        for widest in ("uint64", "int64"):  # to Wireshark another type than those of fewer bits
            if widest in types and family(kind) == family(widest):
                kind = widest
        key, number = place, 1
        while self.declarations.setdefault(key, line(key, kind)) != line(key, kind):
            number += 1
            key = f"{place}#{number}"
        return key

    def meaning(self, place: str, known: Mapping[int, str]) -> str:
        """Return what the numbers at a place are called, as Lua: a table, or ""."""
        place = NUMBER.sub("", place.lower())
        self.unused.discard(place)
        words = {**known, **self.words.get(place, {})}
        return f"{{ {', '.join(f'[{number}] = {lua_text(word)}' for number, word in words.items())} }}" if words else ""


class _Function(LuaCode):
    """One function of the file: that of a record whose fields' filters begin with ``base``; a message has a name."""

    def __init__(self, dissector: _Dissector, base: str, message: str = "") -> None:
        self.dissector = dissector
        self.base = base
        self.message = message
        self.fields: dict[str, Operand] = {}
        self.references: set[str] = set()
        self.meanings: dict[Expr, dict[int, str]] = {}

    def body(self, record: Record) -> Lines:
        """Read the fields of a record, and return those that others depend on."""
        self.references = record.references()
        for field in record.fields:
            for part in together(field.node):
                self.meanings.update(part.meanings())
        lines: list[str] = []
        for field in record.fields:
            self.fields[field.name] = field.node
            lines += field.node.lua_read(self, field.name)
        if any(line.lstrip().startswith("this") for line in lines):
            lines = ["local this = {}", *lines, "return this"]
        yield from lines

    def number(self, expr: Expr) -> str:
        return expressions.lua_bare(expr, self.fields)

    def truth(self, expr: Expr) -> str:
        return expressions.lua_truth(expr, self.fields)

    def kept(self, field: str) -> str:
        # Named bits always: whether a chain goes on is asked by who reads the chain.
        if field in self.references or isinstance(self.fields.get(field), BitGroups):
            return f"this{expressions.lua_member(field)} = "
        return ""

    def at(self, name: str) -> str:
        """Return the place of a field of this record."""
        return f"{self.base}.{name}" if self.base else name

    def declare(self, name: str, kind: str, beside: Mapping[str, str] | None = None) -> str:
        def line(key: str, kind: str) -> str:
            words = self.dissector.meaning(key, self.meanings.get(Ref(name), {}))
            return f'field({lua_text(key)}, {lua_text(name.rpartition(".")[2])}, "{kind}"{words and ", "}{words})'

        key = self.dissector.declare(self.at(name), kind, line)
        for more, its_kind in (beside or {}).items():
            self.dissector.declare(f"{key}.{more}", its_kind, lua_json.plain_field(f"{name} {more}"))
        return lua_text(key)

    def declare_bits(self, name: str, bits: BitGroups) -> str:
        size = bits.fewest()

        def line(key: str, kind: str) -> str:
            groups = ", ".join(self.group(name, key, bits, bit) for bit in bits.bits)
            spare = f", {lua_text(bits.spare_name)}" if bits.spare else ""
            return f'named_bits({lua_text(key)}, {lua_text(name)}, {size}, "{kind}", {{ {groups} }}{spare})'

        return lua_text(self.dissector.declare(self.at(name), f"uint{8 * size if size <= 4 else 64}", line))

    def group(self, name: str, key: str, bits: BitGroups, bit: Bit) -> str:
        constants = dict(bits.constants)
        known = self.meanings.get(Ref(name, bit.name), {})
        if self.message and bit.name == "id" and bit.name in constants:
            known = {constants[bit.name]: self.message}
        words = self.dissector.meaning(f"{key}.{bit.name}", known)
        must = lua_integer(constants[bit.name]) if bit.name in constants else ""
        more = f", {words or 'nil'}{must and ', '}{must}" if words or must else ""
        return f"{{ {lua_text(bit.name)}, {bit.high}, {bit.low}{more} }}"

    def record(self, part: Record, name: str) -> str:
        dissector, base, title = self.dissector, part.own_name or name, part.name or name
        key = dissector.declare(
            base, "none", lambda key, kind: f"branch({lua_text(key)}, {lua_text(title)}{', true' if part.name else ''})"
        )
        function, is_new = dissector.named(part, base, base)
        if is_new:
            body = indented(_Function(dissector, base, part.name).body(part))
            dissector.functions += ["", f"read[{lua_text(function)}] = function(r)", *body, "end"]
        return f"{lua_text(key)}, {lua_text(function)}"

    def union(self, part: Union, name: str) -> str:
        function, is_new = self.dissector.named(part, "", name)
        if is_new:
            messages = [f"{self.record(message, '')}, {decided(message.header)}" for message in part.messages]
            lines = ["", f"union({lua_text(function)}, {{", *(f"    {{ {each} }}," for each in messages), "})"]
            self.dissector.functions += lines
        return lua_text(function)


def titled(name: str, titles: Titles) -> Lines:
    """Say what a record is called."""
    for (first, *bits), by_message in titles.items():
        yield ""
        yield f"titled({lua_text(name)}, {lua_text(first)}, {lua_json.listed(bits)}, {{"
        for message, names in by_message.items():
            known = ", ".join(
                f'["{" ".join(map(str, numbers))}"] = {lua_text(title)}' for numbers, title in names.items()
            )
            yield f"    [{lua_text(message)}] = {{ {known} }},"
        yield "})"


def decided(header: Flags) -> str:
    """Return the bits of a header byte that decide which message it begins, and what they have to be."""
    places = [(header.bit(name), value) for name, value in header.constants]
    return f"0x{sum(bit.mask for bit, _ in places):02X}, 0x{sum(value << bit.low for bit, value in places):02X}"
