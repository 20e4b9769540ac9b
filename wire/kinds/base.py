"""What a kind of node is: everything that goldwire knows about one way to lay out bytes stands in one file.

A kind is a subclass of ``Part``. Its fields are what the tree of a layout says about such a node; its methods are what
the emitters, the columns and the generators ask. The drivers (``wire/layout.py``, ``wire/emit``, ``wire/columns.py``,
and the grid in ``vectors/``) only walk the tree and ask; they know no kind by name. A new kind is a new file here,
with the construct that declares it, and its line in ``wire/kinds/__init__.py``.

What a kind answers::

    constructs, declared      which constructs of a grammar are this kind, and the node of one
    inner, beside             the parts that it is made of; those of them that look at the fields of the same record
    expressions               what it computes from fields that stand earlier
    number_bits, signed,      what expressions can see of its value
    group
    fewest                    the fewest bytes that it has
    take_names                which functions and tables of generated code are its own
    python_read, python_write how it is read and written in Python (``wire/emit/python.py``)
    c_read, c_write           the same in C (``wire/emit/native.py``)
    slots, column_read, cells its columns, how C fills them, how Python does (``wire/columns.py``, ``wire/columnar.py``)

How a value is shown in a dump is asked of the construct (``Leaf.shown``, ``Leaf.remarks``), which knows the bytes too.

A ``compound`` kind has a function of its own in generated code, which others call; it answers ``python_reader``,
``python_writer``, ``c_reader``, ``c_writer`` and ``column_reader`` with the body of it. Any other is written into the
function of the record in which it stands, and may use the variables that are described at each method.

What generators of frames ask (how a kind is sampled, mutated, spelt, covered, and read by a benchmark) are further
methods of the same class; what they are given are objects of the room above, so the signatures here name protocols,
never modules of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from wire import expressions
from wire.errors import CannotLayOut
from wire.expressions import Expr, Group, Ref
from wire.kinds.branches import Inside, Place, Tracing
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, Names, Node, Slots
from wire.kinds.edits import Find, Mutation
from wire.kinds.generators import REFUSED, Choices, Draw, Lead, NoGenerator, Numbers, Pair

__all__ = [
    "CCode",
    "Cell",
    "Code",
    "ColumnCode",
    "FieldFinding",
    "FieldLoop",
    "Kind",
    "Lines",
    "Names",
    "Node",
    "Part",
    "Sampling",
    "Scope",
    "Slots",
    "Walk",
    "indented",
    "lead_of",
    "looked_at",
    "together",
    "walk",
    "within",
]


class Walk(Protocol):
    """The walk through a grammar that makes the tree: what ``declared`` asks for the parts within."""

    def part(self, grammar: Any, path: str, scope: "Scope") -> "Part":
        """Return the node of a construct that stands at ``path``, after the fields of ``scope``."""

    def shared(self, node: Any) -> Any:
        """Return the node that is equal to this one and was made first: equal nodes are the same object."""


class Scope(dict[str, "Part"]):
    """The fields that stand earlier in a record; ``holds`` are the conditions under which something is laid out."""

    def __init__(self, fields: "Mapping[str, Part] | None" = None, holds: tuple[Expr, ...] = ()) -> None:
        super().__init__(fields or {})
        self.holds = holds

    def expression(self, source: Any, path: str) -> Expr:
        """Read an expression; ``CannotLayOut`` if it looks at a field that may not be there."""
        expr = expressions.read(source, path, self)
        for term in expressions.terms(expr):
            if isinstance(term, Ref) and not set(self[term.field].conditions()) <= set(self.holds):
                raise CannotLayOut(
                    f"{path}: this.{term.field} may be absent here; look at it under the same condition, "
                    "or at the field that announces it"
                )
        return expr


class Sampling(Protocol):
    """The walk that compiles how frames are drawn (``vectors/binary/sampling.py``)."""

    @property
    def choices(self) -> Choices:
        """How to choose."""

    def part(self, part: "Part", fields: "Mapping[str, Part]") -> Draw:
        """Compile a part that stands in a record of these ``fields``."""

    def promised(self, part: "Part", fields: "Mapping[str, Part]") -> Draw:
        """Compile a part that may be refused always: whoever chose the numbers before it has seen to that."""

    def record(self, name: str, fields: "Mapping[str, Part]", first: Callable[[int], bool] | None = None) -> Draw:
        """Compile a record: the ``name`` of a message or "", and its fields; ``first`` tells what the first may be."""


class FieldFinding(Protocol):
    """The walk that compiles how the fields of frames are found (``vectors/binary/mutation.py``)."""

    def part(self, part: "Part", path: str, fields: "Mapping[str, Part]") -> Find:
        """Compile a part at ``path``, in a record of ``fields``."""

    def record(self, fields: "Mapping[str, Part]", path: str, first: "Sequence[Mutation]" = ()) -> Find:
        """Compile a record; ``first`` are the mutations that its first byte has as a member of a union."""


class FieldLoop(Protocol):
    """Lines of Python that read every field of a value (``vectors/bench/field_loops.py``)."""

    def part(self, part: "Part", value: str) -> Lines:
        """Read the fields of what a variable holds."""

    def read(self, value: str, name: str) -> str:
        """Return the expression that reads a field."""

    def field(self, part: "Part", source: str) -> Lines:
        """Read one field, and what is in it."""

    def each(self, item: "Part", items: str) -> Lines:
        """Read every item of a list."""

    def messages(self, messages: "Iterable[tuple[str, Part]]", value: str) -> Lines:
        """Ask which message it is."""


class Part(Node, frozen=True):
    """Base of all kinds of node."""

    constructs: ClassVar[tuple[Any, ...]] = ()
    """The constructs that declare this kind: classes of Construct, or one object of it (``Pass``)."""

    compound: ClassVar[bool] = False
    """Whether it has functions of its own in generated code."""

    plain: ClassVar[bool] = False
    """Whether it is a plain value that can stand alone, as an item of a list does."""

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> "Part":
        """Return the node of a construct at ``path``; ``CannotLayOut`` if it cannot be expressed."""
        raise NotImplementedError

    def inner(self) -> "tuple[Part, ...]":
        """Return the parts that this one is made of."""
        return ()

    def beside(self) -> "tuple[Part, ...]":
        """Return those of the inner parts that look at the fields of the record in which this part stands."""
        return ()

    def expressions(self) -> tuple[Expr, ...]:
        """Return what is computed from fields that stand earlier, inner parts aside."""
        return ()

    def conditions(self) -> tuple[Expr, ...]:
        """Return the conditions under which there is a value."""
        return ()

    @property
    def number_bits(self) -> int | None:
        """Bits of the number that the value is, its sign aside; ``None`` if it is none."""
        return None

    @property
    def signed(self) -> bool:
        """Whether the number can be negative."""
        return False

    def group(self, name: str) -> Group | None:
        """Return the bits of that name; ``None`` if there are none."""
        return None

    def fewest(self) -> int:
        """Return the fewest bytes that this part has."""
        return 0

    @property
    def open_ended(self) -> bool:
        """Whether it may go on where it could end, so that nothing can follow: only an optional tail does."""
        return False

    @property
    def silent(self) -> bool:
        """Whether the value may be left out of a record, as it has no bytes of its own to say."""
        return False

    @property
    def own_name(self) -> str:
        """What its functions are called wherever it stands, or ""."""
        return ""

    def take_names(self, names: Names, hint: str) -> None:
        """Name what generated code has of this part; ``hint`` is what it is called where it stands."""

    # Python: from `data` at `at` to the variable `into`, `at` behind it; a byte that is not there is an IndexError.

    def python_read(self, code: Code, into: str) -> Lines:
        """Read a value into the variable ``into``."""
        yield f"{into}, at = read_{code.names.parts[self]}(data, at, refuse)"

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
        return [], self.python_written(code, f"v_{field}")

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

    def python_function(self, code: Code) -> Lines:
        """Write down the function that reads a compound part."""
        yield f"def read_{code.names.parts[self]}(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:"
        yield from indented(self.python_reader(code))

    def python_reader(self, code: Code) -> Lines:
        """Read a compound part; the last line returns the value and ``at``."""
        raise NotImplementedError

    def python_call(self, code: Code) -> str:
        """Return what reads a compound part, to be called with ``(data, at, refuse)``."""
        return f"read_{code.names.parts[self]}"

    def python_entry(self, code: Code) -> str:
        """Read a compound part that is the whole frame into ``value``."""
        return f"value, at = read_{code.names.parts[self]}(data, 0, refuse)"

    def python_written(self, code: Code, source: str) -> str:
        """Return the bytes of a compound part, whose value is in ``source``."""
        return f"write_{code.names.parts[self]}({source})"

    def python_writer_function(self, code: Code) -> Lines:
        """Write down the function that writes a compound part."""
        yield f"def write_{code.names.parts[self]}(value: Any) -> bytes:"
        yield from indented(self.python_writer(code))

    def python_writer(self, code: Code) -> Lines:
        """Write a compound part; the last line returns the bytes."""
        raise NotImplementedError

    # C over objects: `r` is the reader, `w` the writer; `goto bad` refuses, `return 0` says that Python has to write.

    def c_table(self, code: CCode, name: str) -> "tuple[list[str], list[str]]":
        """Return the names and the lines of the record that named bits are, and of what is beside it."""
        raise NotImplementedError

    def c_prepare(self, name: str) -> Lines:
        """Make the table of this part ready when the module is loaded."""
        yield from ()

    def c_variable(self, field: str, *, kept: bool) -> str | None:
        """Declare the variable that expressions over this field need."""
        return f"uint64_t n_{field} = 0;" if kept else None

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        """Read a value into ``into``; ``checked`` if its first byte is known to begin it."""
        yield from made(into, f"{code.names.parts[self]}_read(r)")

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        """Write the value ``source``."""
        yield from written(f"{code.names.parts[self]}_write(w, {source})")

    def c_fits(self, code: CCode, source: str) -> str | None:
        """Return a condition: the plain value ``source`` of a list, which somebody may have changed, can be written."""
        return None

    def c_reader(self, code: CCode) -> Lines:
        """Read a compound part."""
        raise NotImplementedError

    def c_writer(self, code: CCode) -> Lines:
        """Write a compound part."""
        raise NotImplementedError

    # Columns: `p` is where the frame goes on, `f` the frames, a cell is `f, p, TABLE, COLUMN, ROW`.

    def slots(self, slots: Slots, path: str) -> None:
        """Make room for the values of this part at ``path``."""

    def column_variable(self, field: str) -> str:
        """Declare the variable for the number of a field that expressions look at."""
        return f"uint64_t n_{field} = 0;"

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        """Read a value into the columns at ``path``."""
        yield f"TAKE({code.reader(self, path)}(f, p, {', '.join(code.rows)}));"

    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        """Read a compound part."""
        raise NotImplementedError

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        """Give the cells that a value fills; ``record`` is the value in which it stands."""
        raise NotImplementedError

    # Generators: a value is drawn together with its bytes (``vectors/binary/sampling.py``).

    def hopeless(self) -> bool:
        """Tell whether every frame that has this part is refused."""
        return False

    def may_be_empty(self) -> bool:
        """Tell whether it can have no bytes."""
        return not self.fewest()

    def swallows(self) -> int:
        """Return the bytes, as bits of a number, that it would take for its own if they stood right behind it."""
        return 0

    @property
    def decides(self) -> bool:
        """Whether it is an integer that generators can choose by where it leads the later fields."""
        return False

    @property
    def has_few(self) -> bool:
        """Whether ``candidates`` are all integers that can stand here."""
        return False

    def candidates(self, near: Iterable[int], refs: frozenset[Ref]) -> list[int]:
        """Return the integers worth trying where ``refs`` are looked at, ascending; those ``near`` may matter."""
        raise NotImplementedError

    def spelled(self, number: int) -> bytes:
        """Return the bytes of the integer that it is."""
        raise NotImplementedError

    def number_in(self, data: bytes) -> int:
        """Return the integer that its bytes are: the opposite of ``spelled``."""
        raise NotImplementedError

    def paired(self, number: int) -> Pair:
        """Return the value of the integer that it is, and its bytes."""
        return number, self.spelled(number)

    def leads(self, fields: "Mapping[str, Part]") -> Callable[[Numbers], Lead]:
        """Compile where its expressions over ``fields`` lead."""
        return lambda numbers: ()

    def sampled(self, sampling: Sampling, fields: "Mapping[str, Part]") -> Draw:
        """Compile how a value and its bytes are drawn, in a record of ``fields``."""
        raise NoGenerator(f"{type(self).__name__} is not among the parts of which frames can be made")

    def decisions(self) -> tuple[int, ...]:
        """Return the numbers that what it computes is compared with."""
        return ()

    @property
    def settles(self) -> bool:
        """Whether a number that stands earlier follows from what is drawn here, and not the other way round."""
        return False

    # Mutation: a light reading finds the fields of a frame (``vectors/binary/mutation.py``), and they know what to do.

    @property
    def announced(self) -> Expr | None:
        """What says how many bytes or items there are, if earlier fields do."""
        return None

    @property
    def refusal(self) -> str:
        """What a number is called that leads to a refusal here, or ""."""
        return ""

    def finder(self, finding: FieldFinding, path: str, fields: "Mapping[str, Part]") -> Find:
        """Compile how it is found at ``path``, in a record of ``fields``."""
        raise NoGenerator(f"{type(self).__name__} is not among the parts that can be found in frames")

    def number_finder(self, path: str, more: "Sequence[Mutation]" = ()) -> Find:
        """Compile how the integer that it is is found; ``more`` can be done to it, as other fields depend on it."""
        raise NotImplementedError

    # Coverage: what can happen at a place of a layout, and what does (``vectors/binary/coverage.py``).

    def most_bytes(self) -> float:
        """Return a number of bytes that this part has at most."""
        return float("inf")

    @property
    def is_composed(self) -> bool:
        """Whether frames of it are composed by a plan (``vectors/binary/composing.py``), inner parts aside."""
        return False

    def fewest_filled(self) -> int:
        """Return the fewest bytes that this part takes of more than it needs."""
        return self.fewest()

    @property
    def takes_rest(self) -> bool:
        """Whether nothing can be over behind it: it goes to the end, or is refused always."""
        return False

    @property
    def holds_value(self) -> bool:
        """Whether it stands for bytes itself: not if another part decides which, or there are none."""
        return True

    @property
    def frame_limit(self) -> int | None:
        """The bytes that a whole frame has at most, if this part limits it."""
        return None

    @property
    def decided_by(self) -> Expr | None:
        """The expression whose values decide what can happen here, if it is not one of ``alternatives``."""
        return None

    def inside(self) -> Iterator[Inside]:
        """Give the places within a place of this part, the fields of a record aside."""
        yield from ()

    def by_first_byte(self) -> list[Any]:
        """Return what is looked up by the first byte, if anything is."""
        return []

    def alternatives(self) -> tuple[str, ...]:
        """Return the labels between which the fields that stand earlier choose."""
        return ()

    def chosen(self, computed: Callable[[Expr], int]) -> str:
        """Return the label that is chosen; ``computed`` gives the values of expressions."""
        raise NotImplementedError

    def branches(self, place: Place) -> Iterator[str]:
        """Give the names of what can happen at a place."""
        raise NoGenerator(f"no vectors are made for {type(self).__name__}")

    def limit_branches(self, place: Place) -> Iterator[str]:
        """Give the names of what can happen to a list that is as long as can be."""
        yield from ()

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        """Read a value along a layout, and say what happens."""
        raise NoGenerator(f"no vectors are made for {type(self).__name__}")

    # The benchmark: a program that needs every field of a value (``vectors/bench/field_loops.py``).

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        """Read the fields of the value in a variable; no lines if it has no fields."""
        yield from ()

    @property
    def value_names(self) -> tuple[str, ...]:
        """The names of a value's fields, by which it is told from other values."""
        return ()

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of its bits, if they have names."""
        return ()


ITEM = "0"
"""What stands for a field's name where an item of a list is read or written: no field can have it."""


def indented(lines: Iterable[str], by: int = 1) -> Lines:
    """Give lines further in."""
    for line in lines:
        yield "    " * by + line if line else line


def within(path: str, name: str) -> str:
    """Return the path of a field of the value at ``path``."""
    return f"{path}.{name}" if path else name


def together(part: Part) -> Iterator[Part]:
    """Give a part, and the parts in it that look at the same record."""
    yield part
    for each in part.beside():
        yield from together(each)


def walk(part: Part) -> Iterator[Part]:
    """Give every different part once, inner ones first."""
    seen: set[Part] = set()

    def visit(each: Part) -> Iterator[Part]:
        if each not in seen:
            seen.add(each)
            for inner in each.inner():
                yield from visit(inner)
            yield each

    return visit(part)


def lead_of(part: Part, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
    """Compile where the expressions of a part lead: ``REFUSED`` wherever it stands, if it is refused always."""
    return (lambda numbers: REFUSED) if part.hopeless() else part.leads(fields)


def looked_at(part: Part) -> Iterator[Ref]:
    """Give what the expressions of a part, and of those in it, look at in the record in which it stands."""
    for each in together(part):
        for expr in each.expressions():
            for term in expressions.terms(expr):
                if isinstance(term, Ref):
                    yield term


def made(into: str, value: str) -> Lines:
    """C: set ``into``, or give up."""
    yield f"if (({into} = {value}) == NULL)"
    yield "    goto bad;"


def written(write: str) -> Lines:
    """C: write, or give up."""
    yield f"if (!{write})"
    yield "    return 0;"


def seen_in(record: Any) -> Callable[[Ref], int]:
    """Return what looks references up in a decoded record."""
    return lambda ref: int(record[ref.field] if ref.bit is None else record[ref.field][ref.bit])
