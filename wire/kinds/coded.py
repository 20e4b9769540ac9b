"""How a node is read and written in generated code, inside the function of the record in which it stands."""

from collections.abc import Iterable, Iterator
from typing import Any

from wire.expressions import Expr, c_number, lua_integer
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Slots
from wire.kinds.described import Described

WHOLE = "only a whole frame is one, so no code reads or writes it inside another"


class Coded(Described, frozen=True):
    """What the emitters and the columns ask of a node; ``Compound`` is one that has functions of its own."""

    # Python: from `data` at `at` to the variable `into`, `at` behind it; a byte that is not there is an IndexError.

    def python_read(self, code: Code, into: str) -> Lines:
        """Read a value into the variable ``into``."""
        raise TypeError(f"{type(self).__name__}: {WHOLE}")

    def python_ahead(self, code: Code, into: str, ahead: int) -> tuple[Lines, int] | None:
        """Read a value ``ahead`` bytes behind ``at``: the lines, and how far ``at`` then lags; ``None`` if it cannot.

        So neighbours of a byte each move ``at`` once.
        """
        return None

    def python_store(self, code: Code, field: str) -> Lines:
        """Read a value into ``value["FIELD"]``, where it is ``None`` so far."""
        yield from self.python_read(code, f"v_{field}")
        yield f'value["{field}"] = v_{field}'

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        """Return the statements that come first, and the expression of the bytes of ``v_FIELD``."""
        raise TypeError(f"{type(self).__name__}: {WHOLE}")

    def python_set(self, code: Code, field: str) -> Lines:
        """Put the bytes of ``v_FIELD`` into ``w_FIELD``."""
        statements, piece = self.python_write(code, field)
        yield from statements
        if piece != f"w_{field}":
            yield f"w_{field} = {piece}"

    def python_item(self, code: Code, field: str) -> str:
        """Take a field from the value; one that may have no bytes may be left out."""
        return f'{code.source}.get("{field}")' if self.silent else f'{code.source}["{field}"]'

    def python_table(self, name: str) -> Lines:
        """Write down the table that this part has."""
        yield from ()

    # C over objects: `r` is the reader, `w` the writer; `goto bad` refuses, `return 0` says that Python has to write.

    def c_table(self, code: CCode, name: str) -> "tuple[list[str], list[str]]":
        """Return the names and the lines of the record that named bits are, and of what is beside it."""
        raise TypeError(f"{type(self).__name__}: not an integer of named bits, so it has no table of them")

    def c_prepare(self, name: str) -> Lines:
        """Make the table of this part ready when the module is loaded."""
        yield from ()

    def c_variable(self, field: str, *, kept: bool) -> str | None:
        """Declare the variable that expressions over this field need."""
        return f"uint64_t n_{field} = 0;" if kept else None

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        """Read a value into ``into``; ``checked`` if its first byte is known to begin it."""
        raise TypeError(f"{type(self).__name__}: {WHOLE}")

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        """Write the value ``source``."""
        raise TypeError(f"{type(self).__name__}: {WHOLE}")

    def c_fits(self, code: CCode, source: str) -> str | None:
        """Return a condition: the plain value ``source`` of a list, which somebody may have changed, can be written."""
        return None

    # Lua: `r` reads the frame and shows it in Wireshark's tree; whatever is refused leaves by an error.

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        """Read a value that is called ``name`` where it stands."""
        raise TypeError(f"{type(self).__name__}: its dissector reads whole frames only")

    def meanings(self) -> Iterator[tuple[Expr, dict[int, str]]]:
        """Give what it calls the numbers that a field before it can have."""
        yield from ()

    # Columns: `p` is where the frame goes on, `f` the frames, a cell is `f, p, TABLE, COLUMN, ROW`.

    def slots(self, slots: Slots, path: str) -> None:
        """Make room for the values of this part at ``path``."""

    def column_variable(self, field: str) -> str:
        """Declare the variable for the number of a field that expressions look at."""
        return f"uint64_t n_{field} = 0;"

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        """Read a value into the columns at ``path``."""
        raise TypeError(f"{type(self).__name__}: {WHOLE}")

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        """Give the cells that a value fills; ``record`` is the value in which it stands."""
        raise TypeError(f"{type(self).__name__}: no columns are made of its values")


def indented(lines: Iterable[str], by: int = 1) -> Lines:
    """Give lines further in."""
    for line in lines:
        yield "    " * by + line if line else line


def one_of(cases: Iterable[tuple[str, Iterable[str]]], otherwise: Iterable[str] = ()) -> Lines:
    """Python: give the lines of the first case whose condition holds, or else others; nothing if there is no case."""
    keyword = "if"
    for condition, lines in cases:
        yield f"{keyword} {condition}:"
        yield from indented(lines)
        keyword = "elif"
    if lines := [*otherwise]:
        yield "else:"
        yield from indented(lines)


def c_one_of(key: str, cases: Iterable[tuple[int, Iterable[str]]], otherwise: Iterable[str]) -> Lines:
    """C: give the lines of the case whose number a key is, or else others, which end as they have to."""
    yield f"switch ({key}) {{"
    for number, lines in cases:
        yield f"case {c_number(number)}:"
        yield from indented(lines)
        yield "    break;"
    yield "default:"
    yield from indented(otherwise)
    yield "}"


def lua_one_of(key: str, cases: Iterable[tuple[int, Iterable[str]]], otherwise: Iterable[str]) -> Lines:
    """Lua: give the lines of the case whose number a key is, or else others."""
    yield f"local case = {key}"
    keyword = "if"
    for number, lines in cases:
        yield f"{keyword} case == {lua_integer(number)} then"
        yield from indented(lines)
        keyword = "elseif"
    yield "else"
    yield from indented(otherwise)
    yield "end"


def made(into: str, value: str) -> Lines:
    """C: set ``into``, or give up."""
    yield f"if (({into} = {value}) == NULL)"
    yield "    goto bad;"


def written(write: str) -> Lines:
    """C: write, or give up."""
    yield f"if (!{write})"
    yield "    return 0;"
