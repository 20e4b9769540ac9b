"""What the drivers give a kind when they ask it: one function of generated code, or the columns of a table.

The parts of a tree are ``Node`` here, or what expressions can look at: these classes know no kind.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Protocol

import msgspec

from wire import expressions
from wire.abstract import AbstractStructMeta
from wire.expressions import Expr, Operand

Lines = Iterator[str]
"""Lines of generated code."""


class Kind(Enum):
    """What a column holds."""

    NUMBER = "number"
    CHOICE = "choice"
    TEXT = "text"
    BYTES = "bytes"
    ITEMS = "items"
    SIGNED = "signed"
    FLOAT = "float"
    DOUBLE = "double"


class Node(msgspec.Struct, metaclass=AbstractStructMeta, frozen=True, cache_hash=True):
    """Base of all nodes; they are values, so that equal parts are the same."""


class Names(Protocol):
    """The names of generated functions and tables (``wire/emit/naming.py``)."""

    parts: dict[Any, str]
    tables: dict[Any, str]

    def visit(self, part: Any, hint: str) -> None:
        """Name what a part needs named."""

    def table(self, part: Any, hint: str) -> None:
        """Give a part a table of its own."""


class Code:
    """One function of generated code that is being written down.

    ``fields`` are those of the record that came so far; ``source`` is the variable that has the record's value.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.fields: dict[str, Operand] = {}
        self.source = "value"

    def number(self, expr: Expr) -> str:
        """Print an expression as Python."""
        return expressions.python(expr, self.fields)

    def bare(self, expr: Expr) -> str:
        """Print an expression as Python, without parentheses around it."""
        return expressions.python_bare(expr, self.fields)

    def truth(self, expr: Expr) -> str:
        """Print an expression as a condition in Python."""
        return expressions.python_truth(expr, self.fields)


class CCode:
    """One function of generated C over objects: ``kept`` are the fields whose numbers expressions look at."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.fields: dict[str, Operand] = {}
        self.kept: set[str] = set()

    def number(self, expr: Expr) -> str:
        """Print an expression as C."""
        return expressions.c(expr, self.fields)

    def truth(self, expr: Expr) -> str:
        """Print an expression as a condition in C."""
        return expressions.c_truth(expr, self.fields)


class Slots(Protocol):
    """The columns of a table while it grows (``wire/columns.py``): each is a path and a kind."""

    def add(self, part: Any, path: str) -> None:
        """Make room for the values of a part."""

    def number(self, path: str, size: int, kind: Kind = Kind.NUMBER) -> None:
        """Make room for integers or floats of ``size`` bytes."""

    def octets(self, path: str, *, text: bool) -> None:
        """Make room for bytes or text."""

    def choice(self, path: str, names: Iterable[str]) -> None:
        """Make room for which message stands at ``path``."""

    def items_at(self, path: str, item: Any) -> None:
        """Make room for a list."""


class ColumnCode(Protocol):
    """One function of generated C that fills columns (``wire/emit/columnar.py``): from ``p`` into a row of a table.

    ``fields`` are those of the record that is being read; ``kept`` are those whose numbers stay in variables, as
    expressions look at them; ``rows`` are the variables of the table and of the row.
    """

    fields: dict[str, Operand]
    kept: set[str]
    rows: tuple[str, str]
    names: Names

    def cell(self, path: str, kind: Kind) -> tuple[str, Any]:
        """Return the arguments that name a cell, and its column."""

    def variable(self, field: str) -> str:
        """Return the address of the variable for the number of a field: its own, or one that is not used again."""

    def number(self, expr: Expr) -> str:
        """Print an expression as C."""

    def truth(self, expr: Expr) -> str:
        """Print an expression as a condition in C."""

    def beginning(self, begins: tuple[int, ...], hint: str) -> str:
        """Return the symbol of a table that tells which bytes can stand somewhere."""

    def reader(self, part: Any, path: str) -> str:
        """Return the function that reads a compound part at ``path`` into the same table."""

    def listed(self, path: str, item: Any, table: str = "items") -> "tuple[str, ColumnCode]":
        """Return the constant of a list's column, and what writes down the reading of its items into ``table``."""


class LuaCode(Protocol):
    """One function of a generated dissector (``wire/emit/lua.py``): ``r`` reads the frame and shows what it reads.

    Values that expressions look at are in the table ``this``, by their field. What a leaf is shown by has a *key*,
    which its reader takes; declaring it returns the key as Lua.
    """

    fields: dict[str, Operand]

    def number(self, expr: Expr) -> str:
        """Print an expression as Lua."""

    def truth(self, expr: Expr) -> str:
        """Print an expression as a condition in Lua."""

    def kept(self, field: str) -> str:
        """Return what stands before the reading of a field: an assignment, if expressions look at it."""

    def declare(self, name: str, kind: str, beside: Mapping[str, str] | None = None) -> str:
        """Declare a field of Wireshark's type ``kind``, and those that belong to it; return its key."""

    def declare_bits(self, name: str, bits: Any) -> str:
        """Declare an integer of named bits; return its key."""

    def record(self, part: Any, name: str) -> str:
        """Return the key and the name of a record's function: what reads one takes both."""

    def union(self, part: Any, name: str) -> str:
        """Return the name of the messages that a union tells apart."""


def lua_text(text: str) -> str:
    """Return a text as it stands in Lua."""
    return '"' + "".join(f"\\{ord(c):03d}" if c < " " else f"\\{c}" if c in '"\\' else c for c in text) + '"'


Cell = tuple[tuple[str, Kind], Any]
"""What a value puts into a row: the path and the kind of a column, and the cell."""
