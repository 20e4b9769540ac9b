"""What a kind of node is: everything that goldwire knows about one way to lay out bytes stands in one file.

A kind is a subclass of ``Part``, or of ``Compound`` if it has functions of its own in generated code. Its fields are
what the tree of a layout says about such a node; its methods are what the emitters, the columns and the generators ask.
The drivers (``wire/layout.py``, ``wire/emit``, ``wire/columns.py``, and the grid in ``vectors/``) only walk the tree
and ask; they know no kind by name. A new kind is a new file here, with the construct that declares it, and its line in
``wire/kinds/__init__.py``.

What a kind answers, and the file in which each question is explained::

    base.py       declared                  the node of a construct of a grammar
                  inner, beside, guard      the parts that it is made of, those beside the same record, a condition
                  sampled, leads            how it is drawn, and where earlier numbers lead
                  finder, number_finder     how it is found in a frame, with the mutations of its bytes
                  fields_read               how a benchmark reads it
    described.py  constructs, expressions   which constructs are this kind; what it computes from earlier fields
                  number_bits, group, ...   what expressions can see of its value; the number that it is
                  fewest, most_bytes, ...   its bytes
    coded.py      python_*, c_*             how it is read and written in Python and in C
                  lua_read, meanings        how Wireshark shows it, and what it calls earlier numbers
                  slots, column_read, cells its columns, how C fills them, how Python does
    covered.py    branches, traced          what can happen at a place of it, and what does
                  composed, ways            how a frame is written by a plan, and how to get to the places within
                  boundaries, specimens     which bytes and frames look at it; ``pair_options``: in pairs
    compound.py   *_reader, *_writer        the bodies of the functions of a ``Compound``

How a value is shown in a dump and made smaller is asked of the construct (``Leaf``), which knows the bytes too.

What the questions hand over are objects of the room above, so the signatures name protocols, never modules of it:
``contexts.py`` (code), ``generators.py`` (draws), ``edits.py`` (mutations), ``branches.py`` (coverage),
``composing.py`` and ``boundaries.py`` (vectors).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from wire import expressions
from wire.errors import CannotLayOut
from wire.expressions import Expr, Ref
from wire.kinds.contexts import Lines
from wire.kinds.covered import Covered
from wire.kinds.edits import Find, Mutation
from wire.kinds.generators import REFUSED, Choices, Draw, Lead, NoGenerator, Numbers


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
            # By the conditions as they are written, not by what they mean: `If(a, …)` inside `If(a & b, …)` is refused
            # although it would be right, and nothing that is wrong is let through.
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

    def attempted(self, part: "Part") -> Draw | None:
        """Compile a part that looks at no field around it; ``None`` if no frame has it."""

    def promised(self, part: "Part", fields: "Mapping[str, Part]") -> Draw:
        """Compile a part that may be refused always: whoever chose the numbers before it has seen to that."""

    def record(self, name: str, fields: "Mapping[str, Part]", first: tuple[str, int] | None = None) -> Draw:
        """Compile a record: the ``name`` of a message or "", and its fields.

        ``first`` is a bit of the first field, and what it has to be.
        """


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


class Part(Covered, frozen=True):
    """Base of all kinds of node."""

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> "Part":
        """Return the node of a construct at ``path``; ``CannotLayOut`` if it cannot be expressed."""
        raise TypeError(f"{cls.__name__}: no construct of its own declares it")

    def inner(self) -> "tuple[Part, ...]":
        """Return the parts that this one is made of."""
        return ()

    def beside(self) -> "tuple[Part, ...]":
        """Return those of the inner parts that look at the fields of the record in which this part stands."""
        return ()

    @property
    def record_fields(self) -> "Mapping[str, Part] | None":
        """The fields in a row that it is, by name; ``None`` if it is no record."""
        return None

    @property
    def guard(self) -> Expr | None:
        """The condition under which it is there at all, if there is one."""
        return None

    @property
    def guarded(self) -> "Part":
        """What is there if it is there."""
        return self

    # Generators: a value is drawn together with its bytes (``vectors/binary/sampling.py``).

    def leads(self, fields: "Mapping[str, Part]") -> Callable[[Numbers], Lead]:
        """Compile where its expressions over ``fields`` lead."""
        return lambda numbers: ()

    def sampled(self, sampling: Sampling, fields: "Mapping[str, Part]") -> Draw:
        """Compile how a value and its bytes are drawn, in a record of ``fields``."""
        raise NoGenerator(f"{type(self).__name__} is not among the parts of which frames can be made")

    # Mutation: a light reading finds the fields of a frame (``vectors/binary/mutation.py``), and they know what to do.

    def finder(self, finding: FieldFinding, path: str, fields: "Mapping[str, Part]") -> Find:
        """Compile how it is found at ``path``, in a record of ``fields``."""
        raise NoGenerator(f"{type(self).__name__} is not among the parts that can be found in frames")

    def number_finder(self, path: str, more: "Sequence[Mutation]" = ()) -> Find:
        """Compile how the integer that it is is found; ``more`` can be done to it, as other fields depend on it."""
        raise TypeError(f"{self}: not an integer that generators choose; ask `decides` first")

    # The benchmark: a program that needs every field of a value (``vectors/bench/field_loops.py``).

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        """Read the fields of the value in a variable; no lines if it has no fields."""
        yield from ()


ITEM = "0"
"""What stands for a field's name where an item of a list is read or written: no field can have it."""


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


def seen_in(record: Any) -> Callable[[Ref], int]:
    """Return what looks references up in a decoded record."""
    return lambda ref: int(record[ref.field] if ref.bit is None else record[ref.field][ref.bit])
