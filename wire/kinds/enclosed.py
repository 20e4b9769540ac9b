"""A message within a message: a part that has so many bytes, and fills them."""

from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import IO, Any

from wire.constructs import MOST, Context, Grammar, counted, dotted, left, remaining
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.expressions import Const, Expr, Ref, compiled, inverted, terms
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk
from wire.kinds.branches import BEYOND, NEGATIVE, TRAILING, Inside, Place, TracedRefusal, Tracing, some
from wire.kinds.coded import indented, made, written
from wire.kinds.compound import Compound
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Names, Slots
from wire.kinds.edits import Below, Find, Found, MutableField, UnreadableFrame, put, truncate
from wire.kinds.generators import AVOIDED, PATIENCE, Draw, Lead, Numbers, Pair, Source, Unsatisfiable
from wire.kinds.sized import announced, computed


class Within(Grammar):
    """Something that has as many bytes as an expression over earlier fields says, no fewer and no more.

    What goes to the end of the frame elsewhere goes to the end of these bytes.
    """

    def __init__(self, count: Any, content: Grammar) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.count = count
        self.content = content

    def size(self, context: Context) -> int:
        """Return how many bytes are announced."""
        return computed(self.count, context)

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        start, count, there = stream.tell(), announced(self.size(context), stream, path), remaining(stream)
        if count > there:
            stream.seek(start + there)
            raise DecodeError(
                Reason.TRUNCATED, stream.tell(), dotted(path), f"{counted(count)} announced, {left(there)}"
            )
        stream.seek(0)
        inner = BytesIO(stream.read(start + count))  # from the beginning on, so that offsets are those of the frame
        inner.seek(start)
        value = self.content._parsereport(inner, context, path)
        if inner.tell() < start + count:
            over = left(start + count - inner.tell())
            raise DecodeError(Reason.TRAILING, inner.tell(), dotted(path), f"{over} over")
        return value

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        inner = BytesIO()
        value = self.content._build(obj, inner, context, path)
        if inner.tell() != self.size(context):
            raise EncodeError(f"{dotted(path)}: {counted(inner.tell())} where {self.size(context)} are announced")
        stream.write(inner.getvalue())
        return value


class Enclosed(Part, frozen=True):
    """``node``, in exactly ``count`` bytes."""

    count: Expr
    node: Compound

    constructs = (Within,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        # No fields in sight: what is enclosed is a function of its own in every engine, without its caller's numbers.
        node = walk.part(grammar.content, path, Scope())
        if not isinstance(node, Compound):
            raise CannotLayOut(f"{path}: what stands Within is a record, a union or a list; put it into a Struct")
        return cls(scope.expression(grammar.count, path), node)

    def inner(self) -> tuple[Part, ...]:
        return (self.node,)

    def expressions(self) -> tuple[Expr, ...]:
        return (self.count,)

    @property
    def silent(self) -> bool:
        return self.node.silent

    def fewest(self) -> int:
        return max(self.count.value, 0) if isinstance(self.count, Const) else 0

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.node, hint)

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"end = at + {code.number(self.count)}"
        # Both before what is enclosed is read, as the reference does: where two things are wrong, engines have to name
        # the same one.
        yield "if end < at:"
        yield "    raise Refusal(BAD_VALUE, at)"
        yield "if end > len(data):"
        yield "    raise Refusal(TRUNCATED, len(data))"
        yield f"{into} = enclosed({self.node.python_call(code)}, data, at, end, refuse)"
        yield "at = end"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        lines = [*self.node.python_set(code, field), f"if len(w_{field}) != {code.number(self.count)}:"]
        return [*lines, '    raise EncodeError("another length than announced")'], f"w_{field}"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield f"    int64_t count = {code.number(self.count)};"
        yield "    size_t whole = r->size;"
        yield "    if (!begin_enclosed(r, count))"
        yield "        goto bad;"
        yield from indented(made(into, f"{code.names.parts[self.node]}_read(r)"))
        yield "    if (!end_enclosed(r, whole))"
        yield "        goto bad;"
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield "{"
        yield f"    int64_t count = {code.number(self.count)};"
        # Written first and measured then: nothing else knows how many bytes the value takes.
        yield "    size_t begin = w->size;"
        yield from indented(written(f"{code.names.parts[self.node]}_write(w, {source})"))
        yield "    if ((int64_t)(w->size - begin) != count)"
        yield "        return 0;"
        yield "}"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:within({code.number(self.count)}, function()"
        yield from indented(self.node.lua_read(code, name))
        yield "end)"

    def slots(self, slots: Slots, path: str) -> None:
        slots.add(self.node, path)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield f"    int64_t count = {code.number(self.count)};"
        yield "    const uint8_t *whole = f->end;"
        yield "    if (unlikely(count < 0))"
        yield "        return refused(f, BAD_VALUE, p);"
        yield "    if (unlikely(count > f->end - p))"
        yield "        return refused(f, TRUNCATED, f->end);"
        yield "    f->end = p + count;"
        yield from indented(self.node.column_read(code, path, field))
        yield "    if (unlikely(p != f->end))"
        yield "        return refused(f, TRAILING, p);"
        yield "    f->end = whole;"
        yield "}"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from self.node.cells(value, path, record)

    # Generators

    settles = True

    def hopeless(self) -> bool:
        return self.node.hopeless()

    def leads(self, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
        count = compiled(self.count, fields)
        least, most = self.node.fewest(), self.node.most_bytes()

        def enclosing(numbers: Numbers) -> Lead:
            # Which of the numbers that could do is found afterwards; a number that never does leads nowhere.
            return () if least <= count(numbers) <= most else AVOIDED

        return enclosing

    def decisions(self) -> tuple[int, ...]:
        # Fewer bytes never do, so this is where frames begin to be accepted.
        return (self.node.fewest(),)

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        node, count = sampling.promised(self.node, {}), compiled(self.count, fields)
        refs = tuple(dict.fromkeys(term for term in terms(self.count) if isinstance(term, Ref)))

        def announced(numbers: Numbers, size: int) -> bool:
            """Tell whether so many bytes are announced, or can be: then ``numbers`` are changed."""
            # Each field of the count is tried in turn: `this.a + this.b` can be made right by either, if that one is
            # wide enough.
            for ref in refs:
                if count(numbers) == size:
                    return True
                number = inverted(self.count, ref, size, numbers, fields)
                if number is not None:
                    numbers[ref.field] = number
            return count(numbers) == size

        def draw(source: Source, numbers: Numbers) -> Pair:
            # What is enclosed comes first, and then a number that announces it: the record spells that one anew.
            for _ in range(PATIENCE):
                pair = node(source, {})
                if announced(numbers, len(pair[1])):
                    return pair
            raise Unsatisfiable("nothing was found that has as many bytes as are announced")

        return draw

    @property
    def announced(self) -> Expr | None:
        return self.count

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        node, count = finding.part(self.node, path, {}), compiled(self.count, fields)

        def more(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
            return put(frame, end, end, bytes((below(256),)))

        place = MutableField(path, self, [(f"a byte more than announced in {path}", more), truncate(path)])

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            end = at + count(numbers)
            if not at <= end <= len(data):
                raise UnreadableFrame
            node(data[:end], at, {}, found)  # what goes to the end goes to the end of these bytes
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return self.node.most_bytes()

    @property
    def decided_by(self) -> Expr | None:
        return self.count

    def inside(self) -> Iterator[Inside]:
        # So many bytes have been seen to be there before the reader comes to what is enclosed.
        given = self.count.value if isinstance(self.count, Const) else 0
        yield Inside("whole", self.node, given=max(given, 0))

    def branches(self, place: Place) -> Iterator[str]:
        if place.numbers is not None and some(place.numbers, -MOST, -1):
            yield NEGATIVE
        if some(place.numbers, place.given + 1):
            yield BEYOND
        if not self.node.takes_rest and some(place.numbers, self.node.fewest_filled() + 1):
            yield TRAILING

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        start, count, whole = tracing.at, tracing.computed(self.count, scope), tracing.end
        if count < 0:
            tracing.hit(place, NEGATIVE)
            raise TracedRefusal(Reason.BAD_VALUE, start)
        if count > whole - start:
            tracing.hit(place, BEYOND)
            raise TracedRefusal(Reason.TRUNCATED, whole)
        # Only where all went well is the end put back: after a refusal nobody reads on.
        tracing.end = start + count
        value = tracing.read(place.inner[0], where, {})
        if tracing.at < tracing.end:
            tracing.hit(place, TRAILING)
            raise TracedRefusal(Reason.TRAILING, tracing.at)
        tracing.end = whole
        return value

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.part(self.node, value)
