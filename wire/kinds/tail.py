"""What newer versions add at the end: there if any bytes are left."""

from collections.abc import Iterator, Mapping
from typing import IO, Any

from wire.constructs import Context, Grammar, dotted, remaining
from wire.errors import CannotLayOut, EncodeError
from wire.expressions import Const, Expr
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk
from wire.kinds.branches import Inside, Place, Tracing
from wire.kinds.coded import indented
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Names, Slots
from wire.kinds.edits import Find, Found, MutableField, put, truncate
from wire.kinds.generators import ABSENT as NO_BYTES
from wire.kinds.generators import Draw, Numbers, Pair, Source

ABSENT = "(absent tail)"
"""Where a record keeps, while it is built, that a tail was left out: no field can have such a name."""


class Tail(Grammar):
    """Something that is there if any bytes are left up to the end, else ``None``; only tails can follow."""

    def __init__(self, content: Grammar) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.content = content

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        return self.content._parsereport(stream, context, path) if remaining(stream) else None

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        if obj is None:
            context[ABSENT] = True
            return None
        if context.get(ABSENT):
            raise EncodeError(f"{dotted(path)}: the tail before it is absent, so this one has to be")
        return self.content._build(obj, stream, context, path)


class OptionalTail(Part, frozen=True):
    """``node`` if bytes are left, else ``None``; ``before`` is the tail that stands before it, or ""."""

    node: Part
    before: str = ""

    constructs = (Tail,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        node = walk.part(grammar.content, path, scope)
        # What looks at fields beside it may come out as nothing, and then a frame that ends could be read in two ways.
        if not node.fewest() or node.beside():
            raise CannotLayOut(f"{path}: a tail that may have no bytes, so that nothing tells whether it is there")
        last, part = next(reversed(scope.items()), ("", None))
        return cls(node, last if isinstance(part, OptionalTail) else "")

    def inner(self) -> tuple[Part, ...]:
        return (self.node,)

    def beside(self) -> tuple[Part, ...]:
        return (self.node,)

    def conditions(self) -> tuple[Expr, ...]:
        return (Const(-1),)  # no grammar writes such a condition: whoever looks at a tail is refused

    @property
    def number_bits(self) -> int | None:
        return self.node.number_bits

    open_ended = True
    silent = True

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.node, hint)

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"{into}: Any = None"
        yield "if at < len(data):"
        yield from indented(self.node.python_read(code, into))

    def python_store(self, code: Code, field: str) -> Lines:
        yield "if at < len(data):"
        yield from indented(self.node.python_store(code, field))

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        lines = [f'w_{field} = b""', f"if v_{field} is not None:"]
        if self.before:
            lines += [f"    if v_{self.before} is None:", '        raise EncodeError("the tail before is absent")']
        return [*lines, *indented(self.node.python_set(code, field))], f"w_{field}"

    def c_variable(self, field: str, *, kept: bool) -> str | None:
        return self.node.c_variable(field, kept=kept)

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "if (r->at < r->size) {"
        yield from indented(self.node.c_read(code, into, field))
        yield "} else {"
        yield f"    {into} = Py_NewRef(Py_None);"
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield f"if ({source} != Py_None) {{"
        yield from indented(self.node.c_write(code, source, field))
        yield "}"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield "if r.at < r.stop then"
        yield from indented(self.node.lua_read(code, name))
        yield "end"

    def slots(self, slots: Slots, path: str) -> None:
        slots.add(self.node, path)

    def column_variable(self, field: str) -> str:
        return self.node.column_variable(field)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        yield "if (p != f->end) {"
        yield from indented(self.node.column_read(code, path, field))
        yield "}"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        if value is not None:
            yield from self.node.cells(value, path, record)

    # Generators

    def swallows(self) -> int:
        return self.node.swallows()

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        node = sampling.promised(self.node, fields)
        there = sampling.choices.pick((False,) if self.node.hopeless() else (False, True))

        def draw(source: Source, numbers: Numbers) -> Pair:
            # Behind a tail that is absent nothing can be there; what one record has is known by this name to no field.
            if numbers.get(ABSENT) or not there(source):
                numbers[ABSENT] = 1
                return NO_BYTES
            return node(source, numbers)

        return draw

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        node = finding.part(self.node, path, fields)
        without = f"without the tail {path}", lambda frame, start, end, cuts, below: put(frame, start, end, b"")
        place = MutableField(path, self, [without, truncate(path)])

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            if at == len(data):
                return at
            end = node(data, at, numbers, found)
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    def fewest_filled(self) -> int:
        return self.node.fewest_filled()

    holds_value = False

    def most_bytes(self) -> float:
        return self.node.most_bytes()

    def inside(self) -> Iterator[Inside]:
        yield Inside("present", self.node, given=1)

    def branches(self, place: Place) -> Iterator[str]:
        yield from (["present"] if place.given else ["present", "absent"])

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        there = tracing.at < tracing.end
        tracing.hit(place, "present" if there else "absent")
        return tracing.read(place.inner[0], where, scope) if there else None

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        inside = [*loop.part(self.node, value)]
        if inside:
            yield f"if {value} is not None:"
            yield from indented(inside)
