"""Expressions over the fields of a record: what says whether a field is there, how long it is, or which case it has.

A grammar writes them as Construct has them (``this.header.N & 1``). This module alone reads them from Construct,
measures and evaluates them, and prints them as Python, as C and as Lua::

    Expr = Ref    the value of a field that stands earlier in the record, or of some bits of it
           Const  a number
           Op     left symbol right, with Python's meaning; comparisons give 0 or 1

Generated code keeps what expressions look at in variables: a number in ``v_FIELD`` (C: ``n_FIELD``, of 64 bits), the
integer behind named bits in ``b_FIELD``. No value exceeds ``WIDEST`` bits, so that C computes it with 64 and a sign.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import construct
import msgspec
from construct.expr import BinExpr

from wire.errors import CannotLayOut


class Ref(msgspec.Struct, frozen=True):
    """The value of a field that stands earlier in the record: ``field``, or ``bit`` of that field of flags."""

    field: str
    bit: str | None = None


class Const(msgspec.Struct, frozen=True):
    """A number."""

    value: int


class Op(msgspec.Struct, frozen=True):
    """``left symbol right`` on numbers, with Python's meaning; comparisons give 0 or 1."""

    symbol: str
    left: "Expr"
    right: "Expr"


Expr = Ref | Const | Op

WIDEST = 62
"""Bits of the numbers that expressions may reach, so that no engine overflows."""

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")

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

OPERATORS = {symbol: function for function, symbol in SYMBOLS.items()}


class Group(NamedTuple):
    """Some bits of an integer of ``whole`` bits: ``(integer & mask) >> shift``."""

    mask: int
    shift: int
    whole: int

    @property
    def highest(self) -> int:
        """The greatest value."""
        return self.mask >> self.shift


class Operand(Protocol):
    """What an expression can look at: a kind of part tells its numbers by these."""

    @property
    def number_bits(self) -> int | None:
        """Bits of the number that the value is, its sign aside; ``None`` if it is none."""

    @property
    def signed(self) -> bool:
        """Whether the number can be negative."""

    def group(self, name: str) -> Group | None:
        """Return the bits of that name; ``None`` if there are none."""


Fields = Mapping[str, Operand]
"""The fields that stand earlier in a record."""


def read(source: Any, path: str, fields: Fields) -> Expr:
    """Turn Construct's ``this.header.N & 1`` into an expression over ``fields``; ``CannotLayOut`` names ``path``."""
    match source:
        case bool() | int():
            return Const(int(source))
        case BinExpr():
            operation, lhs, rhs = vars(source)["op"], vars(source)["lhs"], vars(source)["rhs"]
            symbol = SYMBOLS.get(operation)
            if symbol is None:
                raise CannotLayOut(f"{path}: the operator of {source!r} is not among {' '.join(SYMBOLS.values())}")
            whole = Op(symbol, read(lhs, path, fields), read(rhs, path, fields))
            # A negative shift is an error in Python and undefined in C.
            if symbol in ("<<", ">>") and _may_be_negative(whole.right, fields):
                raise CannotLayOut(f"{path}: {source!r} shifts by an expression, which may be negative")
            # Computed for the widest values that the fields can have, as nobody checks for overflow when frames are
            # read.
            if width(whole, fields) > WIDEST:
                raise CannotLayOut(f"{path}: {source!r} can exceed {WIDEST} bits, which C does not compute with")
            return whole
        case construct.Path():
            return _reference(source, path, fields)
    raise CannotLayOut(
        f"{path}: {source!r} cannot be read; write conditions as expressions (this.header.N), not as functions"
    )


def _may_be_negative(expr: Expr, fields: Fields) -> bool:
    match expr:
        case Const(value=value):
            return value < 0
        case Ref(field=field, bit=bit):
            return bit is None and fields[field].signed
        case _:
            return True


def names_of(source: Any) -> list[str]:
    """Return the names of a path of Construct: ``this.header.N`` has two."""
    names: list[str] = []
    # Construct keeps these to itself; 2.10.70 is its last release, and pinned.
    while (parent := source._Path__parent) is not None:
        names.insert(0, source._Path__field)
        source = parent
    return names


def _reference(source: Any, path: str, fields: Fields) -> Ref:
    names = names_of(source)
    whole = f"this.{'.'.join(names)}"
    if not names or names[0] not in fields:
        raise CannotLayOut(
            f"{path}: {whole} does not stand earlier in the same record; these do: {', '.join(fields) or 'none'}; "
            "put what decides beside what it decides"
        )
    target = fields[names[0]]
    if len(names) > 1:
        group = target.group(names[1]) if len(names) == 2 else None
        if group is None:
            # A record, and its numbers with it, belongs to a function of its own in every engine, and generators choose
            # the numbers of one record together; the same bytes can be declared without the Struct around them.
            raise CannotLayOut(
                f"{path}: {whole}: {names[0]} has no bits called {'.'.join(names[1:])!r}; expressions look at numbers "
                "and bits of their own record, so put what decides beside what it decides, without a Struct around it"
            )
        # The width of the group and not of its word: eight bits in a word of 64 are as good as a byte.
        bits: int | None = group.highest.bit_length()
    else:
        bits = target.number_bits
    if bits is None:
        raise CannotLayOut(f"{path}: this.{names[0]} is not a number")
    if bits > WIDEST:
        raise CannotLayOut(
            f"{path}: {whole} can exceed {WIDEST} bits, which C does not compute with; "
            "name its lower bits in a Word, and look at those"
        )
    return Ref(*names)


def width(expr: Expr, fields: Fields) -> int:
    """Return the most bits that the value of an expression can have, its sign aside."""
    match expr:
        case Const(value=value):
            return value.bit_length()
        case Ref(field=field, bit=None):
            return fields[field].number_bits or 0
        case Ref(field=field, bit=bit):
            return _group(fields, field, bit).highest.bit_length()
        case Op(symbol=symbol, left=left, right=right):
            one, two = width(left, fields), width(right, fields)
            # Bounds, not what comes out: they only have to be high enough that C never overflows.
            if symbol == "*":
                return one + two
            if symbol == "<<":
                return one + (1 << two if two < 7 else WIDEST)
            return max(one, two) + (symbol in "+-") if symbol not in COMPARISONS else 1


def terms(expr: Expr) -> Iterator[Ref | Const]:
    """Give the references and the numbers of an expression, from left to right."""
    if isinstance(expr, Op):
        yield from terms(expr.left)
        yield from terms(expr.right)
    else:
        yield expr


def evaluate(expr: Expr, look: Callable[[Ref], int]) -> int:
    """Return the value of an expression; ``look`` gives that of a reference."""
    match expr:
        case Const(value=value):
            return value
        case Ref():
            return look(expr)
        case Op(symbol=symbol, left=left, right=right):
            return int(OPERATORS[symbol](evaluate(left, look), evaluate(right, look)))


def compiled(expr: Expr, fields: Fields) -> Callable[[Mapping[str, int]], int]:
    """Compile an expression: a function of the fields' numbers, in which bits stand as the integer that they are of."""
    match expr:
        case Const(value=value):
            return lambda numbers: value
        case Ref(field=field, bit=None):
            return lambda numbers: numbers[field]
        case Ref(field=field, bit=bit):
            mask, shift, _ = _group(fields, field, bit)
            return lambda numbers: (numbers[field] & mask) >> shift
        case Op(symbol=symbol):
            apply = OPERATORS[symbol]
            left, right = compiled(expr.left, fields), compiled(expr.right, fields)
            return lambda numbers: int(apply(left(numbers), right(numbers)))


def inverted(expr: Expr, ref: Ref, wanted: int, numbers: Mapping[str, int], fields: Fields) -> int | None:
    """Return the number of ``ref``'s field with which an expression is ``wanted``; ``None`` if none is found.

    All else in it is as ``numbers`` have it, and so are the other bits of the field.
    """
    # One operation is undone at a time, from the outermost; the reference must stand on one side of each only.
    while expr != ref:
        if not isinstance(expr, Op) or (ref in terms(expr.left)) == (ref in terms(expr.right)):
            return None
        on_left = ref in terms(expr.left)
        known = compiled(expr.right if on_left else expr.left, fields)(numbers)
        before = _before(expr.symbol, wanted, known, on_left=on_left)
        if before is None:
            return None
        expr, wanted = (expr.left if on_left else expr.right), before
    bits, sign = fields[ref.field].number_bits, fields[ref.field].signed
    if ref.bit is None:
        return wanted if bits is not None and -(sign << bits) <= wanted < 1 << bits else None
    mask, shift, _ = _group(fields, ref.field, ref.bit)
    return numbers[ref.field] & ~mask | wanted << shift if 0 <= wanted <= mask >> shift else None


def _before(symbol: str, wanted: int, known: int, *, on_left: bool) -> int | None:
    """Return what stood on one side of an operation that gave ``wanted`` with ``known`` on the other."""
    match symbol:
        case "+":
            return wanted - known
        case "-":
            return wanted + known if on_left else known - wanted
        case "^":
            return wanted ^ known
        case "*":
            # Units of four bytes announce no five.
            return wanted // known if known and wanted % known == 0 else None
        case "<<" if on_left:
            # What is shifted up ends with zeros; another number was not made so.
            return wanted >> known if wanted >> known << known == wanted else None
        case ">>" if on_left:
            return wanted << known
        # A mask or a comparison has many numbers before it: none of them is the one that was meant.
        case _:
            return None


def _group(fields: Fields, field: str, bit: str | None) -> Group:
    group = fields[field].group(str(bit))
    assert group is not None  # `read` has looked
    return group


def python(expr: Expr, fields: Fields) -> str:
    """Print an expression as Python; an operation stands in parentheses."""
    match expr:
        case Const():
            return str(expr.value)
        case Ref(field=field, bit=None):
            return f"v_{field}"
        case Ref(field=field, bit=bit):
            mask, shift, whole = _group(fields, field, bit)
            # Nothing stands above the highest group, so the shift alone is enough.
            if mask.bit_length() == whole and shift:
                return f"(b_{field} >> {shift})"
            return f"(b_{field} >> {shift} & {mask >> shift:#x})" if shift else f"(b_{field} & {mask:#x})"
        case Op(symbol=symbol, left=left, right=right):
            return f"({python(left, fields)} {symbol} {python(right, fields)})"


def python_truth(expr: Expr, fields: Fields) -> str:
    """Print an expression as a condition in Python."""
    match expr:
        case Ref(field=field, bit=str(bit)):
            mask, _, whole = _group(fields, field, bit)
            if mask.bit_count() == 1 and whole == 8:
                # Python finds, and compares, small numbers quicker than it masks them
                return f"b_{field} > 0x7F" if mask == 0x80 else f"BIT_{mask.bit_length() - 1}[b_{field}]"
            return f"b_{field} & 0x{mask:02X}"
        case Op(symbol="==", left=Ref(bit=str()) as left, right=Const(value=0)):
            return f"not {python_truth(left, fields)}"
        case Op(symbol="&", left=Ref(field=one, bit=str(a)), right=Ref(field=two, bit=str(b))) if one == two:
            first, second = _group(fields, one, a), _group(fields, two, b)
            # Both flags at once: one operation less for each frame.
            if first.highest == second.highest == 1:
                both = first.mask | second.mask
                return f"b_{one} & {both:#04x} == {both:#04x}"
    return python_bare(expr, fields)


def python_bare(expr: Expr, fields: Fields) -> str:
    """Print an expression as Python, where it stands alone and needs no parentheses."""
    printed = python(expr, fields)
    return printed[1:-1] if printed.startswith("(") else printed


def c(expr: Expr, fields: Fields) -> str:
    """Print an expression as C that fits in an ``int64_t``; an operation stands in parentheses."""
    match expr:
        case Const(value=value):
            return c_number(value)
        case Ref(field=field, bit=None):
            return f"(int64_t)n_{field}"
        case Ref(field=field, bit=bit):
            mask, shift, whole = _group(fields, field, bit)
            if whole <= 8:
                if bit == "X" and not shift:
                    return f"(b_{field} & 0x{mask:02X})"
                return f"(b_{field} >> {shift} & 0x{mask >> shift:X})"
            return f"(int64_t)(b_{field} >> {shift} & UINT64_C(0x{mask >> shift:X}))"
        case Op(symbol="<<" | ">>" as symbol, left=left, right=right):
            name = "shifted_left" if symbol == "<<" else "shifted_right"
            return f"({name}({c(left, fields)}, {c(right, fields)}))"
        case Op(symbol=symbol, left=left, right=right):
            return f"((int64_t){c(left, fields)} {symbol} {c(right, fields)})"


def c_truth(expr: Expr, fields: Fields) -> str:
    """Print an expression as a condition in C."""
    match expr:
        case Ref(field=field, bit=str(bit)):
            mask, _, whole = _group(fields, field, bit)
            return f"b_{field} & 0x{mask:02X}" if whole <= 8 else f"b_{field} & UINT64_C(0x{mask:X})"
        case Op():
            return c(expr, fields)[1:-1]
    return c(expr, fields)


def c_number(value: int) -> str:
    """Print a number as C."""
    return str(value) if abs(value) < 1 << 31 else f"INT64_C({value})"


LUA_EXACT = 53
"""Bits of the integers that a double holds, which is what a number of Lua 5.2 is."""

LUA_CALLS = {"&": "band", "|": "bor", "^": "bxor", "<<": "shl", ">>": "shr", "+": "add", "-": "sub", "*": "mul"}
"""What ``wire/emit/dissector.lua`` has for operations that Lua has not, or not exactly."""

LUA_WORDS = frozenset({"end", "function", "goto", "local", "nil", "repeat", "then", "until", "do", "elseif"})
"""The keywords of Lua that can be names in Python."""


def lua(expr: Expr, fields: Fields) -> str:
    """Print an expression as Lua; an operation stands in parentheses. Values of fields are in the table ``this``."""
    match expr:
        case Const(value=value):
            return lua_integer(value)
        case Ref(field=field, bit=bit):
            return f"this{lua_member(field)}{lua_member(bit) if bit else ''}"
        case Op(symbol=symbol) if symbol in COMPARISONS:
            return f"truth({lua_truth(expr, fields)})"
        case Op(symbol="+" | "-" | "*" as symbol, left=left, right=right) if width(expr, fields) <= LUA_EXACT:
            return f"({lua(left, fields)} {symbol} {lua(right, fields)})"
        case Op(symbol=symbol, left=left, right=right):
            return f"{LUA_CALLS[symbol]}({lua_bare(left, fields)}, {lua_bare(right, fields)})"


def lua_integer(value: int) -> str:
    """Print an integer as Lua; one of 64 bits without a sign is what these bits are with a sign."""
    if abs(value) >> LUA_EXACT == 0:
        return str(value)
    return f'Int64.new("{value - (1 << 64) if value >> 63 > 0 else value}")'


def lua_member(name: str) -> str:
    """Return how Lua looks a name up in a table."""
    return f'["{name}"]' if name in LUA_WORDS or not name.isascii() else f".{name}"


def lua_bare(expr: Expr, fields: Fields) -> str:
    """Print an expression as Lua, where it stands alone and needs no parentheses."""
    printed = lua(expr, fields)
    return printed[1:-1] if printed.startswith("(") else printed


def lua_truth(expr: Expr, fields: Fields) -> str:
    """Print an expression as a condition in Lua, for which 0 is as true as any number."""
    match expr:
        case Op(symbol=symbol, left=left, right=right) if symbol in COMPARISONS:
            return f"{lua(left, fields)} {'~=' if symbol == '!=' else symbol} {lua(right, fields)}"
        case Op(symbol="&", left=left, right=right) if width(left, fields) == width(right, fields) == 1:
            return f"{lua_truth(left, fields)} and {lua_truth(right, fields)}"
    return f"{lua_bare(expr, fields)} ~= 0"
