"""Straight-line Python from layouts: one reader and one writer per record, union, list and chain.

What the code counts on: a byte that is not there is an ``IndexError``, which only the entry of a layout turns into a
refusal; a value of the wrong type or size is refused by the very operation that writes it.
"""

from collections.abc import Callable, Iterator

from wire.emit import json
from wire.emit.naming import Names, direct, flags_in, identifier
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
    children,
)

Lines = Iterator[str]

HEAD = '''# mypy: disable-error-code="assignment, no-any-return, no-redef, union-attr, var-annotated"
"""Codecs of {protocol}: generated from wire/{protocol} by ``python -m wire.emit``. Do not edit."""

from collections.abc import Mapping
from typing import Any

from wire.errors import EncodeError, Reason
from wire.primitives import Flags
from wire.runtime import (
    BIT_0,
    BIT_1,
    BIT_2,
    BIT_3,
    BIT_4,
    BIT_5,
    BIT_6,
    CONTINUED,
    OCTET,
    VARINT,
    Codec,
    Refusal,
    blanks,
    dispatch,
    flags_table,
    refuse_unknown,
    refusing,
    spell_flags,
    spell_varint,
    unspeakable,
    varint,
)

TRUNCATED, BAD_TEXT, BAD_VALUE, RESERVED = Reason.TRUNCATED, Reason.BAD_TEXT, Reason.BAD_VALUE, Reason.RESERVED
UNKNOWN_ID, TOO_LONG, TRAILING = Reason.UNKNOWN_ID, Reason.TOO_LONG, Reason.TRAILING
UNSPEAKABLE = (EncodeError, TypeError, ValueError, LookupError, AttributeError, OverflowError)
'''


def emit(protocol: str, layouts: list[Layout]) -> str:
    """Return the module for all layouts of a protocol."""
    binary = [layout for layout in layouts if not layout.is_json]
    names = Names(binary)
    lines = [(HEAD if binary else json.HEAD).format(protocol=protocol)]
    if binary and binary != layouts:
        lines.append(json.IMPORTS)
    for flags, name in names.tables.items():
        lines += ["", *_table(name, flags)]
    for part, name in names.parts.items():
        if isinstance(part, Record) and begins_with_flags(part):
            lines += ["", *_blank(name, part, names)]
    inlined = {part.item for part in names.parts if isinstance(part, Chain)}
    for part in names.parts:
        if not isinstance(part, Chain):
            inlined -= set(direct(part))
    for part in names.parts:
        if part not in inlined:
            lines += ["", "", *_Reader(names).function(part), "", "", *_Writer(names).function(part)]
    taken = {f"write_{name}" for name in names.parts.values()}
    for layout in layouts:
        made = json.emit(layout, identifier(layout), taken) if layout.is_json else _entry(layout, names)
        lines += ["", "", *made]
    lines += ["", "", "CODECS = {"]
    for layout in layouts:
        entry = identifier(layout)
        lines.append(f'    "{layout.name.partition("/")[2]}": Codec(decode_{entry}, encode_{entry}),')
    return "\n".join([*lines, "}", ""])


def _indent(lines: Lines, by: int = 1) -> Lines:
    for line in lines:
        yield "    " * by + line if line else line


def _table(name: str, flags: Flags) -> Lines:
    yield f"{name} = ("
    for bit in flags.bits:
        yield f'    ("{bit.name}", 0x{bit.mask >> bit.low:X}, {bit.low}),'
    if flags.spare:
        yield f'    ("X", 0x{flags.spare:02X}, 0),'
    yield ")"
    if len(flags.begins) < 256:
        yield f"{name}_begins = ({', '.join(f'0x{byte:02X}' for byte in flags.begins)},)"
        yield f"{name}_table = flags_table({name}, {name}_begins)"
    else:
        yield f"{name}_table = flags_table({name})"


def begins_with_flags(record: Record) -> bool:
    """Tell whether a record's first byte says which of its fields are there."""
    return bool(record.fields) and isinstance(record.fields[0].node, Flags)


def _blank(name: str, record: Record, names: Names) -> Lines:
    known = [f'"type": "{record.name}"'] if record.name else []
    known += [f'"{field.name}": None' for field in record.fields]
    table = f"{names.tables[record.header]}_table"
    yield f'{name}_blank = blanks({{{", ".join(known)}}}, "{record.fields[0].name}", {table})'


def _entry(layout: Layout, names: Names) -> Lines:
    root, name = layout.root, identifier(layout)
    limit = root.size if isinstance(root, Limited) else None
    if isinstance(root, Limited):
        root = root.node
    yield f"def decode_{name}(data: bytes, refuse: bool = False) -> Any:"
    yield f'    """Decode one ``{layout.name}``."""'
    yield "    try:"
    if limit is not None:
        yield f"        if len(data) > {limit}:"
        yield f"            raise Refusal(TOO_LONG, {limit})"
    yield from _indent(_Reader(names).entry(root), 2)
    yield "        if at != len(data):"
    yield "            raise Refusal(TRAILING, at)"
    yield "    except (IndexError, Refusal) as error:"
    yield f'        raise refusing(error, "{layout.name}", data, refuse) from None'
    yield "    return value"
    yield ""
    yield ""
    yield f"def encode_{name}(value: Any) -> bytes:"
    yield f'    """Encode one ``{layout.name}``."""'
    yield "    try:"
    writer = f"write_{names.parts[root]}"
    chosen = '[value["type"]]' if isinstance(root, Union) else ""
    yield f"        out: bytes = {writer}{chosen}(value)"
    if limit is not None:
        yield f"        if len(out) > {limit}:"
        yield f'            raise EncodeError("more than {limit} bytes")'
    yield "    except UNSPEAKABLE as error:"
    yield f'        raise unspeakable(error, "{layout.name}", value) from None'
    yield "    return out"


class _Scope:
    """The fields of the record that is being written down: expressions over them become Python."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.fields: dict[str, Part] = {}

    def number(self, expr: Expr) -> str:
        match expr:
            case Const():
                return str(expr.value)
            case Ref(field=field, bit=None):
                return f"v_{field}"
            case Ref(field=field, bit=bit):
                flags = self.flags(field)
                if bit == "X":
                    return f"(b_{field} & {flags.spare:#04x})"
                where = flags.bit(str(bit))
                shifted = f"b_{field} >> {where.low}" if where.low else f"b_{field}"
                return f"({shifted})" if where.high == 7 else f"({shifted} & {where.mask >> where.low:#x})"
            case Op(symbol=symbol, left=left, right=right):
                return f"({self.number(left)} {symbol} {self.number(right)})"

    def truth(self, expr: Expr) -> str:
        match expr:
            case Ref(field=field, bit=str(bit)):
                flags = self.flags(field)
                mask = flags.spare if bit == "X" else flags.bit(bit).mask
                if mask.bit_count() == 1:  # Python finds, and compares, small numbers quicker than it masks them
                    return f"b_{field} > 0x7F" if mask == 0x80 else f"BIT_{mask.bit_length() - 1}[b_{field}]"
                return f"b_{field} & 0x{mask:02X}"
            case Op(symbol="==", left=Ref(bit=str()) as left, right=Const(value=0)):
                return f"not {self.truth(left)}"
            case Op(symbol="&", left=Ref(field=one, bit=str(a)), right=Ref(field=two, bit=str(b))) if one == two:
                flags = self.flags(one)
                if flags.bit(a).high == flags.bit(a).low and flags.bit(b).high == flags.bit(b).low:
                    both = flags.bit(a).mask | flags.bit(b).mask
                    return f"b_{one} & {both:#04x} == {both:#04x}"
        return self.number(expr).removeprefix("(").removesuffix(")") if isinstance(expr, Op) else self.number(expr)

    def flags(self, field: str) -> Flags:
        flags = flags_in(self.fields[field])
        assert flags is not None
        return flags


class _Reader(_Scope):
    """Readers: from ``data`` at ``at`` to a value in a variable, and ``at`` behind it."""

    def function(self, part: Part) -> Lines:
        name = self.names.parts[part]
        if isinstance(part, Union):
            yield from self.dispatch(part, name)
            return
        yield f"def read_{name}(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:"
        body = {Record: self.record, Items: self.items, Chain: self.chain}[type(part)]
        yield from _indent(body(part))  # type: ignore[operator]

    def entry(self, root: Part) -> Lines:
        """Read a whole frame into ``value``."""
        name = self.names.parts[root]
        yield f"value, at = read_{name}{'[data[0]]' if isinstance(root, Union) else ''}(data, 0, refuse)"

    def dispatch(self, union: Union, name: str) -> Lines:
        yield f"read_{name} = dispatch("
        for message in union.messages:
            begins = f"{self.names.tables[message.header]}_begins"
            yield f"    (read_{self.names.parts[message]}, {begins}),"
        yield ")"

    def record(self, record: Record) -> Lines:
        yield from self.fields_of(record)
        yield "return value, at"

    def fields_of(self, record: Record) -> Lines:
        """Read a record into ``value``: a copy of the blank one with the same flags, if it begins with flags."""
        ahead = 0  # bytes that were read and are not yet added to `at`
        for index, field in enumerate(record.fields):
            self.fields[field.name] = field.node
            match field.node:
                case Flags() if index == 0:
                    yield f"b_{field.name} = data[at]"
                    blank = f"{self.names.parts[record]}_blank[b_{field.name}]"
                    if len(field.node.begins) < 256 and not record.name:
                        yield f"if {blank} is None:"
                        yield "    raise Refusal(UNKNOWN_ID, at)"
                    yield f"value = {blank}.copy()"
                    ahead = 1
                    continue
                case Flags() | Integer(size=1):
                    yield from self.octet(field.node, f"v_{field.name}", ahead)
                    ahead += 1
                case Varint(bits=bits):
                    yield from self.varint(f"v_{field.name}", bits, ahead)
                    ahead = 0
                case node:
                    if ahead:
                        yield f"at += {ahead}"
                        ahead = 0
                    if begins_with_flags(record):
                        yield from self.stored(node, field.name)
                        continue
                    yield from self.part(node, f"v_{field.name}")
            if begins_with_flags(record):
                yield f'value["{field.name}"] = v_{field.name}'
        if ahead:
            yield f"at += {ahead}"
        if not begins_with_flags(record):
            entries = ", ".join(f'"{field.name}": v_{field.name}' for field in record.fields)
            yield f"value = {{{entries}}}"

    def stored(self, part: Part, field: str) -> Lines:
        """Read a field into ``value``, where it is ``None`` so far."""
        match part:
            case Optional():
                yield f"if {self.truth(part.when)}:"
                yield from _indent(self.stored(part.node, field))
            case Switch():
                yield from self.switch(part, lambda case: self.stored(case, field))
            case Nothing():
                yield "pass"
            case Reserved():
                yield from self.part(part, f"v_{field}")
            case _:
                yield from self.part(part, f"v_{field}")
                yield f'value["{field}"] = v_{field}'

    def octet(self, part: Integer | Flags, into: str, ahead: int) -> Lines:
        """Read one byte, ``ahead`` bytes further on, and leave ``at`` where it is."""
        where = f"at + {ahead}" if ahead else "at"
        if isinstance(part, Integer):
            yield f"{into} = data[{where}]"
            return
        byte = f"b_{into.removeprefix('v_')}"
        yield f"{byte} = data[{where}]"
        yield f"{into} = {self.names.tables[part]}_table[{byte}]"
        if len(part.begins) < 256:
            yield f"if {into} is None:"
            yield f"    raise Refusal(UNKNOWN_ID, {where})"

    def items(self, items: Items) -> Lines:
        union = self.names.parts[items.union]
        yield "values: list[Any] = []"
        yield "size = len(data)"
        stop = "" if items.to_end else f" and read_{union}[data[at]] is not refuse_unknown"
        yield f"while at < size{stop}:"
        yield f"    if len(values) == {items.most}:"
        yield "        raise Refusal(TOO_LONG, at)"
        yield f"    value, at = read_{union}[data[at]](data, at, refuse)"
        yield "    values.append(value)"
        yield "return values, at"

    def chain(self, chain: Chain) -> Lines:
        yield "values: list[Any] = []"
        yield "while True:"
        yield from _indent(self.fields_of(chain.item))
        yield "    values.append(value)"
        yield f"    if not {self.truth(Ref('header', 'Z'))}:"
        yield "        return values, at"
        yield f"    if len(values) == {chain.most}:"
        yield "        raise Refusal(TOO_LONG, at)"

    def part(self, part: Part, into: str) -> Lines:
        match part:
            case Integer(size=1) | Flags():
                yield from self.octet(part, into, 0)
                yield "at += 1"
            case Integer(size=size):
                yield f"if at + {size} > len(data):"
                yield "    raise Refusal(TRUNCATED, len(data))"
                yield f'{into} = int.from_bytes(data[at : at + {size}], "little")'
                yield f"at += {size}"
            case Varint(bits=bits):
                yield from self.varint(into, bits)
            case Counted():
                yield "start = at"
                yield from self.varint("count", part.bits)
                yield "end = at + count"
                yield "if end > len(data):"
                yield "    raise Refusal(TRUNCATED, start)"
                yield from self.slice(into, "data[at:end]", part.text)
                yield "at = end"
            case Sized():
                yield f"end = at + {self.number(part.count)}"
                yield "if end < at:"
                yield "    raise Refusal(BAD_VALUE, at)"
                yield "if end > len(data):"
                yield "    raise Refusal(TRUNCATED, len(data))"
                yield f"{into} = data[at:end]"
                yield "at = end"
            case Remainder():
                if part.text:
                    yield "start = at"
                yield from self.slice(into, "data[at:]", part.text)
                yield "at = len(data)"
            case Nothing():
                yield f"{into} = None"
            case Reserved():
                yield "raise Refusal(RESERVED, at - 1)"
            case Optional():
                yield f"{into}: Any = None"
                yield f"if {self.truth(part.when)}:"
                yield from _indent(self.part(part.node, into))
            case Switch():
                yield from self.switch(part, lambda case: self.part(case, into))
            case Union():
                yield f"{into}, at = read_{self.names.parts[part]}[data[at]](data, at, refuse)"
            case Record() | Items() | Chain():
                yield f"{into}, at = read_{self.names.parts[part]}(data, at, refuse)"
            case _:
                raise TypeError(part)

    def varint(self, into: str, bits: int, ahead: int = 0) -> Lines:
        """Read an integer of up to three bytes without a call; sums and products are what Python is quickest at."""
        yield f"{into} = data[{f'at + {ahead}' if ahead else 'at'}]"
        yield f"at += {ahead + 1}"
        yield f"if {into} > 0x7F:"
        long = f"{into}, at = varint(data, at, {into}, {bits}, refuse)"
        if bits < 14:
            yield f"    {long}"
            return
        yield "    more = data[at]"
        yield "    if 0 < more < 0x80:"
        yield f"        {into} += more * 0x80 - 0x80"
        yield "        at += 1"
        if bits >= 21:
            yield "    elif more and 0 < (last := data[at + 1]) < 0x80:"
            yield f"        {into} += more * 0x80 + last * 0x4000 - 0x4080"
            yield "        at += 2"
        yield "    else:"
        yield f"        {long}"

    def slice(self, into: str, source: str, text: bool) -> Lines:
        if not text:
            yield f"{into} = {source}"
            return
        yield "try:"
        yield f"    {into} = {source}.decode()"
        yield "except UnicodeDecodeError:"
        yield "    raise Refusal(BAD_TEXT, start) from None"

    def switch(self, switch: Switch, read: Callable[[Part], Lines]) -> Lines:
        yield f"key = {self.number(switch.key).removeprefix('(').removesuffix(')')}"
        word = "if"
        for value, case in switch.cases:
            yield f"{word} key == {value}:"
            yield from _indent(read(case))
            word = "elif"
        yield "else:"
        yield from _indent(read(switch.default))


class _Writer(_Scope):
    """Writers: from a value to its bytes. Each field becomes an expression; what needs statements, a variable."""

    source = "value"
    """The variable that has the record."""

    def function(self, part: Part) -> Lines:
        name = self.names.parts[part]
        if isinstance(part, Union):
            yield f"write_{name} = {{"
            for message in part.messages:
                yield f'    "{message.name}": write_{self.names.parts[message]},'
            yield "}"
            return
        yield f"def write_{name}(value: Any) -> bytes:"
        body = {Record: self.record, Items: self.items, Chain: self.chain}[type(part)]
        yield from _indent(body(part))  # type: ignore[operator]

    def record(self, record: Record) -> Lines:
        if not record.fields:
            yield "if value is not None and not isinstance(value, Mapping):"
            yield '    raise EncodeError(f"{value!r} is not a record")'
            yield 'return b""'
            return
        run: list[str] = []  # pieces that follow each other whatever the flags say: one expression
        gather = "out ="
        for field in record.fields:
            self.fields[field.name] = field.node
            if not isinstance(field.node, Optional):
                yield f"v_{field.name} = {self.item(field.node, field.name)}"
                statements, piece = self.piece(field.node, field.name)
                yield from statements
                run.append(piece)
                continue
            if run or gather == "out =":
                pieces = " + ".join(run or ['b""'])
                yield f"{gather} {pieces}"
            gather = "out +="
            run.clear()
            yield f"if {self.truth(field.node.when)}:"
            yield f"    v_{field.name} = {self.item(field.node.node, field.name)}"
            statements, piece = self.piece(field.node.node, field.name)
            yield from _indent(iter([*statements, f"out += {piece}"]))
        if run and gather == "out =":
            yield f"return {' + '.join(run)}"
        else:
            yield f"return out + {' + '.join(run)}" if run else "return out"

    def items(self, items: Items) -> Lines:
        yield from self.listed(items.most)
        yield f'return b"".join([write_{self.names.parts[items.union]}[each["type"]](each) for each in value])'

    def chain(self, chain: Chain) -> Lines:
        mask = chain.item.header.bit("Z").mask
        yield from self.listed(chain.most)
        yield "more = len(value)"
        yield "if not more:"
        yield '    raise EncodeError("Z is set, so there has to be at least one")'
        yield 'out = b""'
        yield "for each in value:"
        self.source = "each"
        for field in chain.item.fields:
            self.fields[field.name] = field.node
            if not isinstance(field.node, Optional):
                yield f"    v_{field.name} = {self.item(field.node, field.name)}"
            statements, piece = self.piece(field.node, field.name)
            yield from _indent(iter(statements))
            if field.name == "header":
                yield "    more -= 1"
                yield "    if more:"
                yield f"        out += OCTET[b_header | 0x{mask:02X}]"
                yield "    else:"
                yield f"        out += OCTET[b_header & 0x{0xFF & ~mask:02X}]"
            else:
                yield f"    out += {piece}"
        yield "return out"

    def listed(self, most: int) -> Lines:
        yield f"if not (isinstance(value, list) or isinstance(value, tuple)) or len(value) > {most}:"
        yield f'    raise EncodeError("not a list of at most {most} items")'

    def piece(self, part: Part, field: str) -> tuple[list[str], str]:
        """Return the statements that come first, and the expression of the bytes of ``v_FIELD``."""
        value = f"v_{field}"
        match part:
            case Integer(size=1):
                return [], f"bytes(({value},))"
            case Integer(size=size):
                return [], f'{value}.to_bytes({size}, "little")'
            case Varint(bits=bits):
                return [], self.varint(value, bits)
            case Flags():
                return list(self.flag_byte(part, field)), f"OCTET[b_{field}]"
            case Counted(bits=bits, text=text):
                first = [f"t_{field} = {value}.encode()"] if text else [*self.octets(value), f"t_{field} = {value}"]
                count = f"n_{field}"
                return [*first, f"{count} = len(t_{field})"], f"{self.varint(count, bits)} + t_{field}"
            case Sized():
                wrong = f"if len({value}) != {self.number(part.count)}:"
                bad = '    raise EncodeError("bytes of another length than announced")'
                return [*self.octets(value), wrong, bad], value
            case Remainder(text=True):
                return [], f"{value}.encode()"
            case Remainder():
                return list(self.octets(value)), value
            case Nothing():
                return [], 'b""'
            case Reserved(detail=detail):
                return [f'raise EncodeError("{detail}")'], 'b""'
            case Optional():
                return list(self.optional(part, field)), f"w_{field}"
            case Switch():
                return list(self.switch(part, field)), f"w_{field}"
            case Union():
                return [], f'write_{self.names.parts[part]}[{value}["type"]]({value})'
            case Record() | Items() | Chain():
                return [], f"write_{self.names.parts[part]}({value})"
        raise TypeError(part)

    def set(self, part: Part, field: str) -> Lines:
        """Put the bytes of a field into ``w_FIELD``."""
        statements, piece = self.piece(part, field)
        yield from statements
        if piece != f"w_{field}" and not isinstance(part, Reserved):
            yield f"w_{field} = {piece}"

    def optional(self, optional: Optional, field: str) -> Lines:
        yield f'w_{field} = b""'
        yield f"if {self.truth(optional.when)}:"
        yield f"    v_{field} = {self.item(optional.node, field)}"
        yield from _indent(self.set(optional.node, field))

    def switch(self, switch: Switch, field: str) -> Lines:
        yield f"key = {self.number(switch.key).removeprefix('(').removesuffix(')')}"
        word = "if"
        for value, case in switch.cases:
            yield f"{word} key == {value}:"
            yield from _indent(self.set(case, field))
            word = "elif"
        yield "else:"
        yield from _indent(self.set(switch.default, field))

    def item(self, part: Part, field: str) -> str:
        """Take a field from the value; one that may have no bytes may be left out."""
        empty = (case == Nothing() or case == Record("", ()) for case in (part, *children(part)))
        return f'{self.source}.get("{field}")' if any(empty) else f'{self.source}["{field}"]'

    def varint(self, source: str, bits: int) -> str:
        """Short integers are in a table, longer ones are two of its entries; a length is never negative."""
        if source.startswith("n_"):
            return f"(VARINT[{source}] if {source} < 0x{min(1 << bits, 1 << 14):X} else spell_varint({source}, {bits}))"
        short = f"VARINT[{source}] if 0 <= {source} < 0x{min(1 << bits, 1 << 14):X}"
        longer = f" else CONTINUED[{source} & 0x3FFF] + VARINT[{source} >> 14] if 0 < {source} < 0x10000000"
        return f"({short}{longer if bits >= 28 else ''} else spell_varint({source}, {bits}))"

    def flag_byte(self, flags: Flags, field: str) -> Lines:
        name = self.names.tables[flags]
        fixed = "{" + ", ".join(f'"{constant}": {value}' for constant, value in flags.constants) + "}"
        yield "try:"
        yield f"    b_{field} = v_{field}.byte"
        yield "except AttributeError:"
        yield f"    b_{field} = spell_flags(v_{field}, {name}, {fixed}, {name}_table)"
        yield "else:"
        yield f"    if {name}_table[b_{field}] is not v_{field}:"
        yield f"        b_{field} = spell_flags(v_{field}, {name}, {fixed}, {name}_table)"

    def octets(self, source: str) -> Lines:
        yield f"if not isinstance({source}, bytes):"
        yield f'    raise EncodeError(f"{{{source}!r}} is not bytes")'
