"""Bytes and text whose count stands in a field before them, whatever stands between."""

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle, islice
from typing import IO, Any

from wire.constructs import Context, Leaf, decoded, dotted, encoded, take
from wire.errors import DecodeError, EncodeError, Reason
from wire.expressions import Const, Expr, compiled
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.boundaries import PAIRED_SIZE, PLAIN_TEXT, text_boundaries
from wire.kinds.branches import BAD_TEXT, CUT, MISSING, NEGATIVE, NOT_ASCII, Place, TracedRefusal, Tracing, some
from wire.kinds.coded import made, written
from wire.kinds.composing import ComposedTarget, Composing, Looking
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Slots
from wire.kinds.counted import kind_of, lua_kind, python_octets, python_slice
from wire.kinds.edits import Find, Found, MutableField, UnreadableFrame, spoiled_within, truncate
from wire.kinds.generators import AVOIDED, MAX_SIZED, Draw, Lead, Numbers, Pair, Source


def computed(source: Any, context: Context) -> int:
    """Return the value of an expression of Construct, or a number as it is."""
    return int(source(context)) if callable(source) else int(source)


def announced(count: int, stream: IO[bytes], path: str) -> int:
    """Return a count that a field announces; ``DecodeError`` (bad-value) if it is negative."""
    if count < 0:
        raise DecodeError(Reason.BAD_VALUE, stream.tell(), dotted(path), f"{count} bytes announced")
    return count


PRINTABLE = bytes(33 + byte % 94 for byte in range(256))
"""A table that makes a visible letter of ASCII of each byte."""


LETTERS = tuple(bytes((letter,)) for letter in range(ord("a"), ord("z") + 1))
"""What a text is made of that is composed: as long as its count says, and no two neighbours alike."""

MAX_WRITTEN = 1 << 14
"""Bytes that are composed where a number says how many; a frame that announces more is cut."""


class Bytes(Leaf):
    """As many bytes as an expression over earlier fields says.

    ``Bytes(this.length - 4)`` where the length counts a header of four bytes too.
    """

    def __init__(self, count: Any) -> None:
        super().__init__()
        self.count = count

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        return take(stream, announced(self.size(context), stream, path), path, "a field")

    def size(self, context: Context) -> int:
        """Return how many bytes are announced."""
        return computed(self.count, context)

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        if not isinstance(obj, bytes) or len(obj) != self.size(context):
            raise EncodeError(f"{dotted(path)}: {obj!r} is not bytes of the length that is announced")
        stream.write(obj)
        return obj


class SizedText(Bytes):
    """UTF-8 text of as many bytes as an expression over earlier fields says."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        return decoded(super().read(stream, context, path), start, path)

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        super()._build(encoded(obj, path), stream, context, path)
        return obj


class Sized(Part, frozen=True):
    """As many bytes as ``count`` says, or UTF-8 ``text`` of so many."""

    count: Expr
    text: bool = False

    constructs = (Bytes,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls(scope.expression(grammar.count, path), isinstance(grammar, SizedText))

    def expressions(self) -> tuple[Expr, ...]:
        return (self.count,)

    def fewest(self) -> int:
        return max(self.count.value, 0) if isinstance(self.count, Const) else 0

    def python_read(self, code: Code, into: str) -> Lines:
        if self.text:
            yield "start = at"
        # Compared as an end and not as a count: the sum is needed anyway, and Python's integers do not overflow.
        yield f"end = at + {code.number(self.count)}"
        yield "if end < at:"
        yield "    raise Refusal(BAD_VALUE, at)"
        yield "if end > len(data):"
        yield "    raise Refusal(TRUNCATED, len(data))"
        yield from python_slice(into, "data[at:end]", text=self.text)
        yield "at = end"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        value = f"t_{field}" if self.text else f"v_{field}"
        first = [f"{value} = v_{field}.encode()"] if self.text else python_octets(value)
        wrong = f"if len({value}) != {code.number(self.count)}:"
        bad = '    raise EncodeError("bytes of another length than announced")'
        return [*first, wrong, bad], value

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    size_t start;"
        yield f"    int64_t count = {code.number(self.count)};"
        yield "    if (count < 0) {"
        yield "        refuse(r, BAD_VALUE, r->at);"
        yield "        goto bad;"
        yield "    }"
        yield "    if (!read_sized(r, (uint64_t)count, &start))"
        yield "        goto bad;"
        value = "text(r, start, (size_t)count, start)" if self.text else "octets(r, start, (size_t)count)"
        yield from (f"    {line}" for line in made(into, value))
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from written(f"write_{'text' if self.text else 'bytes'}(w, {source}, 0)")

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:sized({code.declare(name, lua_kind(self.text))}, {code.number(self.count)})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.octets(path, text=self.text)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, _ = code.cell(path, kind_of(self.text))
        text = "_text" if self.text else ""
        yield f"TAKE(take_sized{text}({cell}, {code.number(self.count)}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, kind_of(self.text)), value

    # Generators

    def leads(self, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
        count = compiled(self.count, fields)

        def sized(numbers: Numbers) -> Lead:
            size = count(numbers)
            # By the power of two: so each order of magnitude is drawn about as often, and not mostly the longest.
            return size.bit_length() if 0 <= size <= MAX_SIZED else AVOIDED

        return sized

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        count, octets = compiled(self.count, fields), sampling.choices.octets()

        def draw(source: Source, numbers: Numbers) -> Pair:
            data = octets(source, count(numbers))
            if self.text:
                # Letters of a byte each make up any number of bytes exactly; one of two bytes ends some of them.
                end = "ü".encode() if len(data) > 1 and data[-1] % 8 == 0 else b""
                data = data[: len(data) - len(end)].translate(PRINTABLE) + end
                return data.decode(), data
            return data, data

        return draw

    @property
    def announced(self) -> Expr | None:
        return self.count

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        place = MutableField(path, self, [truncate(path), *([spoiled_within(path)] if self.text else [])])
        count = compiled(self.count, fields)

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            end = at + count(numbers)
            # A mutation may have made the count negative, or more than there is.
            if not at <= end <= len(data):
                raise UnreadableFrame
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    def most_bytes(self) -> float:
        return float("inf")

    @property
    def decided_by(self) -> Expr | None:
        return self.count

    def branches(self, place: Place) -> Iterator[str]:
        # Only if it is known: of an expression of which nothing is known it would be listed for each plain count, and
        # no frame could reach it.
        if place.numbers is not None and some(place.numbers, -MAX_SIZED, -1):
            yield NEGATIVE
        # Of what is known to be there none is missing, and not all of it cut.
        if not place.given and some(place.numbers, 1):
            yield MISSING
        if some(place.numbers, max(2, place.given + 1)):
            yield CUT
        if self.text:
            # What is not ASCII has two bytes in UTF-8 at least; one byte that is wrong is enough for a bad text.
            yield from ([NOT_ASCII] if some(place.numbers, 2) else [])
            yield from ([BAD_TEXT] if some(place.numbers, 1) else [])

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        start, count = tracing.at, tracing.computed(self.count, scope)
        if count < 0:
            tracing.hit(place, NEGATIVE)
            raise TracedRefusal(Reason.BAD_VALUE, start)
        content = tracing.take(place, count)
        return tracing.text(place, content, start) if self.text else content

    # Vectors

    is_composed = True
    can_be_missing = True

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        # Half of what a frame can have: the number that announces more is a branch of its own, and leaves it cut.
        most = MAX_WRITTEN if place.room is None else place.room // 2
        count = min(computed(self.count), most)
        if not self.text:
            return bytes(i % 255 + 1 for i in range(count))
        # What is long repeats one letter, which files of vectors write as a run.
        return b"".join(islice(cycle(LETTERS), count)) if count <= MAX_SIZED else PLAIN_TEXT * count

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        planned = composing.plan.get(where, default)
        if not isinstance(planned, bytes) or len(planned) != composing.computed(self.count, scope):
            # Nothing was planned, or for another size: then it does not fit any more.
            planned = self.plain_bytes(place, lambda expr: composing.computed(expr, scope))
        composing.put(planned)

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        found = looking.longest(target, self.count, PAIRED_SIZE)
        if found is None:
            return
        size, frame = found
        yield looking.specimen(target, "values", "value", f"of {size} bytes", frame.data)
        start, end = frame.spans[target.where]
        # As long as what is announced, so that nothing but the text itself is looked at.
        for variant in text_boundaries(target.full) if self.text else ():
            if len(variant.data) <= size:
                data = frame.data[:start] + variant.data.ljust(size, PLAIN_TEXT) + frame.data[end:]
                yield looking.specimen(target, variant.family, variant.aspect, variant.comment, data)
        data = frame.data[: start + 1]
        yield looking.specimen(target, "cut", CUT, f"of {size} bytes, with one", data)
