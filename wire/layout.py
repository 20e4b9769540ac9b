"""A grammar as a small tree: what the emitters, the samplers and the vectors read. Nobody else looks into Construct.

::

    Layout = a name and a root:
        Limited   a whole frame of at most so many bytes
        Union     one of several records, told apart by the header byte    {"type": NAME, **fields}
        Record    fields in a row                                          {"name": value, ...}
        Items     records of a union, to the end or as long as they begin  [value, ...]
        Chain     records, as long as the header of each has Z set         [value, ...]
        Optional  present if a condition holds                             value or None
        Switch    chosen by a number that stands earlier                   value
        Integer, Varint, Flags                                             number, number, {"Z": 0, ...}
        Counted, Sized, Remainder                                          bytes or text
        Nothing, Reserved                                                  None, always refused
        Json      the whole frame is one text of JSON                      what JSON has
        Language  the whole frame is one text of a grammar in ABNF         what the language's own codec gives

    In a text of JSON:
        JsonText, JsonInteger, JsonNumber, JsonBool                        "text", 1, 1.5, true
        JsonArray, JsonMap                                                 [value, ...], {"any name": value, ...}
        JsonEither    one of some values of different types                value
        JsonObject    exactly these members, optional ones or not          {"name": value, ...}
        JsonUnion     one of several objects, told apart by some members   {"name": value, ...}

Conditions, keys and counts are small expressions over fields that stand earlier in the same record. Equal parts of a
grammar become the same node, so that an emitter can make one function of it. A grammar that uses anything else is
refused (``CannotLayOut``) with the construct and the reason.
"""

import operator
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import construct
import msgspec
from construct.expr import BinExpr

from wire import abnf, languages, primitives
from wire.errors import WireError
from wire.json import primitives as json


class CannotLayOut(WireError):
    """A construct that no engine can be made from; the message names it, its place, and what to use instead."""


class Node(msgspec.Struct, frozen=True):
    """Base of all nodes; they are values, so that equal parts are the same."""


class Ref(Node, frozen=True):
    """The value of a field that stands earlier in the record: ``field``, or ``bit`` of that field of flags."""

    field: str
    bit: str | None = None


class Const(Node, frozen=True):
    """A number."""

    value: int


class Op(Node, frozen=True):
    """``left symbol right`` on numbers, with Python's meaning; comparisons give 0 or 1."""

    symbol: str
    left: "Expr"
    right: "Expr"


Expr = Ref | Const | Op


class Integer(Node, frozen=True):
    """An unsigned integer of ``size`` bytes, little-endian."""

    size: int


class Varint(Node, frozen=True):
    """A variable-length integer below ``2**bits``, in at most nine bytes."""

    bits: int


class Bit(Node, frozen=True):
    """Bits ``high`` to ``low`` of a byte, under a name."""

    name: str
    high: int
    low: int

    @property
    def mask(self) -> int:
        """The bits in place."""
        return (2 << self.high) - (1 << self.low)


class Flags(Node, frozen=True):
    """One byte of named bits; those without a name are kept in place under ``X``, if there are any.

    ``constants`` are the names whose value a message's header fixes, ``begins`` the bytes that can stand here: in a
    union those that begin this message and no earlier one.
    """

    bits: tuple[Bit, ...]
    constants: tuple[tuple[str, int], ...] = ()
    begins: tuple[int, ...] = tuple(range(256))

    @property
    def spare(self) -> int:
        """The bits that have no name."""
        return 0xFF & ~sum(bit.mask for bit in self.bits)

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the value, in order."""
        return (*(bit.name for bit in self.bits), *(("X",) if self.spare else ()))

    def bit(self, name: str) -> Bit:
        """Return one group of bits by its name."""
        return next(bit for bit in self.bits if bit.name == name)

    def value(self, byte: int) -> dict[str, int]:
        """Take a byte apart."""
        value = {bit.name: (byte & bit.mask) >> bit.low for bit in self.bits}
        return value | {"X": byte & self.spare} if self.spare else value


class Counted(Node, frozen=True):
    """Bytes, or UTF-8 ``text``, after their count, a variable-length integer below ``2**bits``."""

    bits: int
    text: bool


class Sized(Node, frozen=True):
    """As many bytes as ``count`` says."""

    count: Expr


class Remainder(Node, frozen=True):
    """All bytes, or UTF-8 ``text``, up to the end of the frame."""

    text: bool


class Nothing(Node, frozen=True):
    """No bytes; the value is ``None``."""


class Reserved(Node, frozen=True):
    """No bytes, and always refused, one byte before; ``detail`` says why."""

    detail: str


class Field(Node, frozen=True):
    """A named part of a record."""

    name: str
    node: "Part"


class Record(Node, frozen=True):
    """Fields in a row; ``name`` is the message's if the record stands in a union, else ""."""

    name: str
    fields: tuple[Field, ...]

    @property
    def header(self) -> Flags:
        """The header byte of a message."""
        flags = self.fields[0].node
        assert isinstance(flags, Flags)
        return flags


class Optional(Node, frozen=True):
    """``node`` if ``when`` is not 0, else ``None`` and no bytes."""

    when: Expr
    node: "Part"


class Switch(Node, frozen=True):
    """The case that has the value of ``key``, or ``default``."""

    key: Expr
    cases: tuple[tuple[int, "Part"], ...]
    default: "Part"


class Union(Node, frozen=True):
    """One of several messages, told apart by the first byte: no two have a header that ``begins`` alike."""

    messages: tuple[Record, ...]

    def begun(self) -> tuple[int | None, ...]:
        """Return for each of the 256 bytes the index of the message that it begins."""
        index = {byte: index for index, message in enumerate(self.messages) for byte in message.header.begins}
        return tuple(index.get(byte) for byte in range(256))


class Items(Node, frozen=True):
    """At most ``most`` messages of ``union``: to the end, or as long as a byte begins one."""

    union: Union
    to_end: bool
    most: int


class Chain(Node, frozen=True):
    """One to ``most`` records, as long as each one's field ``header`` has Z set."""

    item: Record
    most: int


class Limited(Node, frozen=True):
    """A whole frame of at most ``size`` bytes."""

    size: int
    node: "Part"


class JsonText(Node, frozen=True):
    """A string of JSON, without NUL: one of ``names`` if there are any."""

    names: tuple[str, ...] = ()


class JsonInteger(Node, frozen=True):
    """A number of JSON without fraction and exponent, from ``least`` to ``most``, at most 64 bits with a sign."""

    least: int
    most: int


class JsonNumber(Node, frozen=True):
    """Any number of JSON, of at least ``least`` if that is given; a float if it has a fraction or an exponent."""

    least: int | None


class JsonBool(Node, frozen=True):
    """``true`` or ``false``."""


class JsonEither(Node, frozen=True):
    """One of some values, told apart by their type of JSON."""

    options: "tuple[JsonPart, ...]"


class JsonArray(Node, frozen=True):
    """Any number of items."""

    item: "JsonPart"


class JsonMap(Node, frozen=True):
    """An object whose members have any names, and values that are all alike."""

    item: "JsonPart"


class JsonMember(Node, frozen=True):
    """A member of an object."""

    name: str
    node: "JsonPart"
    optional: bool


class JsonObject(Node, frozen=True):
    """An object of exactly these members; ``name`` is the message's if it stands in a union, else ""."""

    name: str
    members: tuple[JsonMember, ...]

    def member(self, name: str) -> JsonMember:
        """Return a member by its name."""
        return next(member for member in self.members if member.name == name)


class JsonUnion(Node, frozen=True):
    """One of several objects, told apart by the texts that the members ``by`` have."""

    by: tuple[str, ...]
    messages: "tuple[JsonObject | JsonUnion, ...]"

    def table(self) -> "tuple[tuple[tuple[str, ...], JsonObject | JsonUnion], ...]":
        """Return what the members ``by`` can have together, and the message that then stands there."""
        return tuple((key, message) for message in self.messages for key in json_keys(message, self.by))


JsonPart = JsonText | JsonInteger | JsonNumber | JsonBool | JsonEither | JsonArray | JsonMap | JsonObject | JsonUnion


def json_keys(message: JsonObject | JsonUnion, by: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the texts that the members ``by`` of a message can have."""
    if isinstance(message, JsonUnion):
        return list(dict.fromkeys(key for inner in message.messages for key in json_keys(inner, by)))
    parts = [message.member(name).node for name in by]
    return list(product(*(part.names for part in parts if isinstance(part, JsonText))))


class Json(Node, frozen=True):
    """A whole frame that is one text of JSON, in UTF-8."""

    node: JsonPart


class Language(Node, frozen=True):
    """A whole frame that is one text, in UTF-8, of a language: what it is called, and its ``grammar``."""

    language: str
    grammar: abnf.Grammar


Part = (
    Integer
    | Varint
    | Flags
    | Counted
    | Sized
    | Remainder
    | Nothing
    | Reserved
    | Record
    | Optional
    | Switch
    | Union
    | Items
    | Chain
    | Limited
    | Json
    | JsonPart
    | Language
)


class Layout(Node, frozen=True):
    """One layout: its name (``zenoh/batch``) and its tree."""

    name: str
    root: Part

    @property
    def is_json(self) -> bool:
        """Whether a frame is a text of JSON."""
        return isinstance(self.frame, Json)

    @property
    def is_text(self) -> bool:
        """Whether a frame is a text of a language with a grammar of its own."""
        return isinstance(self.frame, Language)

    @property
    def frame(self) -> Part:
        """What a frame is, its limit aside."""
        return self.root.node if isinstance(self.root, Limited) else self.root


def children(part: Part) -> tuple[Part, ...]:
    """Return the parts that a part is made of."""
    match part:
        case Record():
            return tuple(field.node for field in part.fields)
        case Optional() | Limited() | Json():
            return (part.node,)
        case Switch():
            return (*(case for _, case in part.cases), part.default)
        case Union():
            return part.messages
        case Items():
            return (part.union,)
        case Chain() | JsonArray() | JsonMap():
            return (part.item,)
        case JsonEither():
            return part.options
        case JsonObject():
            return tuple(member.node for member in part.members)
        case JsonUnion():
            return part.messages
        case _:
            return ()


def walk(part: Part) -> Iterator[Part]:
    """Give every different part once, inner ones first."""
    seen: set[Part] = set()

    def visit(each: Part) -> Iterator[Part]:
        if each not in seen:
            seen.add(each)
            for child in children(each):
                yield from visit(child)
            yield each

    return visit(part)


def lay_out(grammar: primitives.Grammar, name: str = "(grammar)") -> Layout:
    """Turn a grammar into its tree; ``CannotLayOut`` names what cannot be expressed."""
    layout = Layout(name, _Walk().part(grammar, name, {}))
    if not layout.is_json and any(isinstance(part, Json) for part in walk(layout.root)):
        raise CannotLayOut(f"{name}: JSON within something else; a text of JSON is a whole frame")
    if not layout.is_text and any(isinstance(part, Language) for part in walk(layout.root)):
        raise CannotLayOut(f"{name}: a language within something else; its text is a whole frame")
    return layout


WIDEST = 62
"""Bits of the numbers that expressions may reach, so that no engine overflows."""


def width(expr: Expr, scope: "Scope") -> int:
    """Return the most bits that the value of an expression can have, its sign aside."""
    match expr:
        case Const(value=value):
            return value.bit_length()
        case Ref(field=field, bit=bit):
            part = scope[field]
            if isinstance(part, Optional):
                part = part.node
            if isinstance(part, Flags):
                return 8 if bit == "X" else part.bit(str(bit)).mask.bit_length()
            return part.bits if isinstance(part, Varint) else 8 * part.size if isinstance(part, Integer) else 0
        case Op(symbol=symbol, left=left, right=right):
            one, two = width(left, scope), width(right, scope)
            if symbol == "*":
                return one + two
            if symbol == "<<":
                return one + (1 << two if two < 7 else WIDEST)
            return max(one, two) + (symbol in "+-") if symbol not in COMPARISONS else 1


COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")

Scope = dict[str, Part]
"""The fields that stand earlier in a record."""

SYMBOLS: dict[Callable[..., Any], str] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}


class _Walk:
    """One walk through a grammar; equal nodes are the same object."""

    def __init__(self) -> None:
        self.known: dict[Part, Part] = {}

    def part(self, grammar: Any, path: str, scope: Scope) -> Part:
        """Return the node of a construct that stands at ``path``, after the fields of ``scope``."""
        node = self.make(grammar, path, scope)
        return self.known.setdefault(node, node)

    def make(self, grammar: Any, path: str, scope: Scope) -> Part:
        match grammar:
            case primitives.Unsigned(size=size):
                return Integer(size)
            case primitives.VLE(bits=bits):
                if not 7 <= bits <= 64:
                    raise CannotLayOut(f"{path}: VLE({bits}) has not 7 to 64 bits")
                return Varint(bits)
            case primitives.Bits():
                bits_ = tuple(Bit(name, *where) for name, where in grammar.fields.items())
                if not isinstance(grammar, primitives.Header):
                    return Flags(bits_)
                begins = tuple(byte for byte in range(256) if grammar.matches(byte))
                return Flags(bits_, tuple(grammar.constants.items()), begins)
            case primitives.Blob(count=count):
                return Counted(count.bits, isinstance(grammar, primitives.Text))
            case primitives.Bytes(count=count):
                return Sized(self.expression(count, path, scope))
            case primitives.Rest() | primitives.RestText():
                return Remainder(isinstance(grammar, primitives.RestText))
            case primitives.Refused(detail=detail):
                return Reserved(detail)
            case primitives.OneOf():
                return self.union(grammar, path)
            case primitives.Messages():
                inner = self.part(grammar.message, path, {})
                assert isinstance(inner, Union)
                return Items(inner, grammar.to_end, grammar.most)
            case primitives.Chain():
                return Chain(self.chained(grammar.item, path), grammar.most)
            case primitives.Limited():
                return Limited(grammar.size, self.part(grammar.content, path, scope))
            case json.Json():
                return Json(self.json_part(grammar, path))
            case languages.Language():
                return Language(grammar.language, grammar.grammar)
            case construct.Renamed():
                return self.part(grammar.subcon, path, scope)
            case construct.Struct():
                return self.record("", grammar, path)
            case construct.IfThenElse():
                return self.optional(grammar, path, scope)
            case construct.Switch():
                return self.switch(grammar, path, scope)
            case _ if grammar is construct.Pass:
                return Nothing()
        raise CannotLayOut(
            f"{path}: {type(grammar).__name__} has no place in a layout; "
            "use the leaves of wire/primitives.py with Struct, If and Switch"
        )

    def json_part(self, grammar: json.Json, path: str, name: str = "") -> JsonPart:
        """Return the node of what stands in a text of JSON; ``name`` is the message's."""
        node = self.make_json(grammar, path, name)
        self.known.setdefault(node, node)
        return node

    def make_json(self, grammar: json.Json, path: str, name: str) -> JsonPart:
        match grammar:
            case json.JsonEnum(names=names):
                return JsonText(names)
            case json.JsonText():
                return JsonText()
            case json.JsonInteger(least=least, most=most):
                return JsonInteger(least, most)
            case json.JsonNumber(least=at_least):
                return JsonNumber(at_least)
            case json.JsonBool():
                return JsonBool()
            case json.JsonEither(options=options):
                return JsonEither(tuple(self.json_part(option, path) for option in options))
            case json.JsonArray(item=item):
                return JsonArray(self.json_part(item, f"{path}[]"))
            case json.JsonMap(item=item):
                return JsonMap(self.json_part(item, f"{path}{{}}"))
            case json.JsonObject():
                return JsonObject(name, tuple(self.members(grammar, path)))
            case json.JsonUnion():
                return JsonUnion(grammar.by, tuple(self.json_messages(grammar, path)))
        raise CannotLayOut(
            f"{path}: {type(grammar).__name__} has no place in a text of JSON; use the constructs of "
            "wire/json/primitives.py, and JsonOptional for members of a JsonObject only"
        )

    def members(self, grammar: json.JsonObject, path: str) -> Iterator[JsonMember]:
        for name, member in grammar.members.items():
            optional = isinstance(member, json.JsonOptional)
            content = member.content if isinstance(member, json.JsonOptional) else member
            yield JsonMember(name, self.json_part(content, f"{path}.{name}"), optional)

    def json_messages(self, grammar: json.JsonUnion, path: str) -> Iterator[JsonObject | JsonUnion]:
        for message in grammar.messages:
            named = isinstance(message, construct.Renamed)
            name = str(message.name) if named else ""
            part = self.json_part(message.subcon if named else message, f"{path}.{name}" if named else path, name)
            assert isinstance(part, JsonObject | JsonUnion)  # JsonUnion takes no other
            yield part

    def record(self, name: str, grammar: Any, path: str) -> Record:
        if not grammar.subcons and not isinstance(grammar, primitives.Empty):
            raise CannotLayOut(f"{path}: a Struct without fields takes anything for a record; use Empty")
        scope: Scope = {}
        fields = []
        for each in grammar.subcons:
            if not isinstance(each, construct.Renamed) or not each.name:
                raise CannotLayOut(f'{path}: a field without a name; write "name" / {type(each).__name__}(...)')
            if each.name in scope or each.name == "type":
                raise CannotLayOut(f"{path}.{each.name}: the name is taken; every field of a record has its own")
            part = self.part(each.subcon, f"{path}.{each.name}", scope)
            scope[each.name] = part
            fields.append(Field(each.name, part))
        return Record(name, tuple(fields))

    def union(self, grammar: primitives.OneOf, path: str) -> Union:
        messages = []
        for name, message in grammar.messages.items():
            header, *fields = self.record(name, message.subcon, f"{path}.{name}").fields
            begins = tuple(byte for byte in range(256) if grammar.by_byte[byte] is message)
            first = msgspec.structs.replace(header, node=msgspec.structs.replace(header.node, begins=begins))
            record = Record(name, (first, *fields))
            messages.append(self.known.setdefault(record, record))
        return Union(tuple(messages))  # type: ignore[arg-type]

    def chained(self, grammar: Any, path: str) -> Record:
        item = self.part(grammar, f"{path}[]", {})
        first = item.fields[0] if isinstance(item, Record) and item.fields else None
        if first is None or first.name != "header" or not isinstance(first.node, Flags) or "Z" not in first.node.names:
            raise CannotLayOut(f"{path}: the items of a Chain are Structs that begin with a header that has Z")
        assert isinstance(item, Record)
        return item

    def optional(self, grammar: Any, path: str, scope: Scope) -> Part:
        if grammar.elsesubcon is not construct.Pass:
            raise CannotLayOut(f"{path}: IfThenElse with two branches; use Switch on the field that decides")
        when = self.expression(grammar.condfunc, path, scope)
        return Optional(when, self.part(grammar.thensubcon, path, scope))

    def switch(self, grammar: Any, path: str, scope: Scope) -> Part:
        key = self.expression(grammar.keyfunc, path, scope)
        cases = []
        for value, case in grammar.cases.items():
            if not isinstance(value, int):
                raise CannotLayOut(f"{path}: the case {value!r} of a Switch is not a number")
            cases.append((int(value), self.part(case, path, scope)))
        return Switch(key, tuple(cases), self.part(grammar.default, path, scope))

    def expression(self, source: Any, path: str, scope: Scope) -> Expr:
        """Turn Construct's ``this.header.N & 1`` into an expression over the fields of ``scope``."""
        match source:
            case bool() | int():
                return Const(int(source))
            case BinExpr():
                operation, lhs, rhs = vars(source)["op"], vars(source)["lhs"], vars(source)["rhs"]
                symbol = SYMBOLS.get(operation)
                if symbol is None:
                    raise CannotLayOut(f"{path}: the operator of {source!r} is not among {' '.join(SYMBOLS.values())}")
                left = self.expression(lhs, path, scope)
                whole = Op(symbol, left, self.expression(rhs, path, scope))
                if symbol in ("<<", ">>") and isinstance(whole.right, Op):
                    raise CannotLayOut(f"{path}: {source!r} shifts by an expression, which may be negative")
                if width(whole, scope) > WIDEST:
                    raise CannotLayOut(f"{path}: {source!r} can exceed {WIDEST} bits, which C does not compute with")
                return whole
            case construct.Path():
                return self.reference(source, path, scope)
        raise CannotLayOut(
            f"{path}: {source!r} cannot be read; write conditions as expressions (this.header.N), not as functions"
        )

    def reference(self, source: Any, path: str, scope: Scope) -> Ref:
        names: list[str] = []
        # Construct keeps these to itself; 2.10.70 is its last release, and pinned.
        while (parent := source._Path__parent) is not None:
            names.insert(0, source._Path__field)
            source = parent
        if not names or len(names) > 2 or names[0] not in scope:
            raise CannotLayOut(
                f"{path}: this.{'.'.join(names)} does not stand earlier in the same record; "
                f"these do: {', '.join(scope) or 'none'}"
            )
        target = scope[names[0]]
        if isinstance(target, Optional):
            target = target.node
        if len(names) == 2:
            if not isinstance(target, Flags) or names[1] not in target.names:
                raise CannotLayOut(f"{path}: {names[0]} has no bits called {names[1]!r}")
            return Ref(names[0], names[1])
        if not isinstance(target, Integer | Varint):
            raise CannotLayOut(f"{path}: this.{names[0]} is not a number")
        if width(Ref(names[0]), scope) > WIDEST:
            raise CannotLayOut(f"{path}: this.{names[0]} can exceed {WIDEST} bits, which C does not compute with")
        return Ref(names[0])
