"""Bytes and text after their count, which belongs to them: a variable-length integer."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from wire.constructs import Context, Leaf, Span, counted, decoded, dotted, encoded, left, remaining, shortened
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.expressions import Expr
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.boundaries import PLAIN_BYTE, PLAIN_TEXT, BoundaryBytes, say, text_boundaries
from wire.kinds.branches import (
    BAD_TEXT,
    BEYOND,
    COUNT_CUT,
    COUNT_MISSING,
    EMPTY,
    LONG_COUNT,
    MORE_BYTES,
    NOT_ASCII,
    ONE_BYTE,
    OUT_OF_RANGE,
    OVERLONG,
    TOO_LONG,
    TOO_SHORT,
    Place,
    TracedRefusal,
    Tracing,
    size_of,
)
from wire.kinds.coded import made, written
from wire.kinds.composing import Change, ComposedTarget, Looking, PlannedOption, short_options
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Slots
from wire.kinds.edits import GROWN, Below, Find, Found, MutableField, Mutation, UnreadableFrame, not_utf8, put, truncate
from wire.kinds.generators import Draw, Numbers, Pair, Source
from wire.kinds.varint import (
    VLE,
    check_bits,
    hostile,
    longer,
    overflow,
    overlong,
    python_read_varint,
    python_write_varint,
    respelled,
)
from wire.varints import LONGEST, spell, unspell

LONG = 128
"""Bytes: the first count that takes two."""

LARGE = 1 << 14
"""Bytes: the first count that takes three."""


class Blob(Leaf):
    """Bytes after their count (``<u8;zN>``): ``least`` to ``most`` of them, where there are fewer than it can say."""

    def __init__(self, bits: int, *, least: int = 0, most: int | None = None) -> None:
        super().__init__()
        self.count = VLE(bits)
        self.least = least
        self.most = most

    def read(self, stream: IO[bytes], context: Context, path: str) -> bytes:
        start = stream.tell()
        count = self.count.read(stream, context, path)
        # Before it is asked whether so many are there: who reads into a buffer of fixed size must not begin.
        if self.most is not None and count > self.most:
            raise DecodeError(Reason.TOO_LONG, start, dotted(path), f"{counted(count)}, at most {self.most} fit")
        if count < self.least:
            raise DecodeError(Reason.BAD_VALUE, start, dotted(path), f"{counted(count)}, at least {self.least} belong")
        rest = remaining(stream)
        if count > rest:
            raise DecodeError(Reason.TRUNCATED, start, dotted(path), f"{counted(count)} announced, {left(rest)}")
        return stream.read(count)

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, bytes):
            raise EncodeError(f"{dotted(path)}: {value!r} is not bytes")
        if not self.fits(len(value)):
            raise EncodeError(f"{dotted(path)}: {counted(len(value))}, not {self.least} to {self.most}")
        return self.count.spell(len(value), path) + value

    def fits(self, count: int) -> bool:
        """Tell whether there may be so many bytes, as far as the bounds say."""
        return self.least <= count and (self.most is None or count <= self.most)

    def shorter(self, content: bytes) -> Iterator[bytes]:
        for each in shortened(content):
            if self.fits(len(each)):
                yield self.count.spell(len(each), "") + each

    def remarks(self, span: Span, data: bytes) -> Iterator[str]:
        yield from overlong(span)


class Text(Blob):
    """UTF-8 text after its count of bytes (``<u8;zN>`` where the document says string)."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> str:  # type: ignore[override]
        start = stream.tell()
        return decoded(super().read(stream, context, path), start, path)

    def spell(self, value: Any, path: str) -> bytes:
        return super().spell(encoded(value, path), path)


def python_slice(into: str, source: str, *, text: bool) -> Lines:
    """Take bytes, or text that began at ``start``."""
    if not text:
        yield f"{into} = {source}"
        return
    yield "try:"
    yield f"    {into} = {source}.decode()"
    yield "except UnicodeDecodeError:"
    yield "    raise Refusal(BAD_TEXT, start) from None"


def python_octets(source: str) -> list[str]:
    """Refuse what is not bytes."""
    return [f"if not isinstance({source}, bytes):", f'    raise EncodeError(f"{{{source}!r}} is not bytes")']


def kind_of(text: bool) -> Kind:
    """Return the kind of column for text or for bytes."""
    return Kind.TEXT if text else Kind.BYTES


def lua_kind(text: bool) -> str:
    """Return Wireshark's type for text or for bytes."""
    return "string" if text else "bytes"


class Counted(Part, frozen=True):
    """Bytes, or UTF-8 ``text``, after their count, a variable-length integer below ``2**bits``.

    There are ``least`` to ``most`` bytes, where there is a bound.
    """

    bits: int
    text: bool
    least: int = 0
    most: int | None = None

    constructs = (Blob,)
    plain = True

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        check_bits(grammar.count.bits, path)
        least, most = grammar.least, grammar.most
        # Those of an identifier or a short name. Others would need boundaries of their own: a count of two bytes that
        # is still too small, a letter that does not fit.
        if (least, most) != (0, None) and not (least in (0, 1) and 4 <= (most or 0) < LONG - 1):
            raise CannotLayOut(f"{path}: bounds of {least} and {most}; give least=0 or 1, and most=4 to {LONG - 2}")
        return cls(grammar.count.bits, isinstance(grammar, Text), least, most)

    @property
    def top(self) -> int:
        """The highest count that is accepted."""
        return (1 << self.bits) - 1 if self.most is None else self.most

    def fewest(self) -> int:
        return 1 + self.least

    def python_read(self, code: Code, into: str) -> Lines:
        yield "start = at"
        yield from python_read_varint("count", self.bits)
        if self.most is not None:
            yield f"if count > {self.most}:"
            yield "    raise Refusal(TOO_LONG, start)"
        if self.least:
            yield f"if count < {self.least}:"
            yield "    raise Refusal(BAD_VALUE, start)"
        yield "end = at + count"
        yield "if end > len(data):"
        yield "    raise Refusal(TRUNCATED, start)"
        yield from python_slice(into, "data[at:end]", text=self.text)
        yield "at = end"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        value = f"v_{field}"
        first = [f"t_{field} = {value}.encode()"] if self.text else [*python_octets(value), f"t_{field} = {value}"]
        count = f"n_{field}"
        first.append(f"{count} = len(t_{field})")
        if self.most is not None:
            first.append(f"if not {self.least} <= {count} <= {self.top}:")
            first.append(f'    raise EncodeError(f"{{{count}}} bytes, not {self.least} to {self.top}")')
        return first, f"{python_write_varint(count, self.bits)} + t_{field}"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    size_t announced = r->at, start, count;" if self.text else "    size_t start, count;"
        bounds = f"_within(r, {self.bits}, {self.least}, {self.top}" if self.most is not None else f"(r, {self.bits}"
        yield f"    if (!read_counted{bounds}, &start, &count))"
        yield "        goto bad;"
        value = "text(r, start, count, announced)" if self.text else "octets(r, start, count)"
        yield from (f"    {line}" for line in made(into, value))
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from written(f"write_{'text' if self.text else 'bytes'}(w, {source}, 1)")

    def c_fits(self, code: CCode, source: str) -> str | None:
        if self.most is not None:
            return f"fits_counted({source}, {int(self.text)}, {self.least}, {self.top})"
        return f"fits_{'text' if self.text else 'bytes'}({source}, {self.bits})"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        length = {"length": "uint32" if self.bits <= 32 else "uint64"}
        bounds = f", {self.least}, {self.top}" if self.most is not None else ""
        yield f"r:counted({code.declare(name, lua_kind(self.text), length)}, {self.bits}{bounds})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.octets(path, text=self.text)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, _ = code.cell(path, kind_of(self.text))
        if self.most is not None:
            yield f"TAKE(take_counted_within({cell}, {self.bits}, {int(self.text)}, {self.least}, {self.top}));"
        else:
            yield f"TAKE(take_counted({cell}, {self.bits}, {int(self.text)}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, kind_of(self.text)), value

    # Generators

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        content, count = sampling.choices.content(self.top, self.text), sampling.choices.count()

        def draw(source: Source, numbers: Numbers) -> Pair:
            value, data = content(source)
            if len(data) < self.least:
                # Few are so short, and so all the others are drawn as they would be without a bound.
                data = data.ljust(self.least, self.filling)
                value = data.decode() if self.text else data
            return value, count(source, len(data)) + data

        return draw

    def mutations(self, path: str) -> list[Mutation]:
        """Return what can be done to the content at ``path`` and to its count."""
        most = (1 << self.bits) - 1
        huge = tuple(n for n in (1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 63, most - 1, most) if n <= most)

        def content(name: str, rewrite: Callable[[bytes, Below], bytes]) -> Mutation:
            def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
                data = rewrite(frame[cuts[0] : end], below)
                return put(frame, start, end, spell(len(data)) + data) if len(data) <= most else None

            return f"{name} {path}", change

        def hugely(number: int, below: Below) -> bytes | None:
            count = huge[below(len(huge))]
            return spell(count) if count > number else None

        mutations = [
            respelled(f"count one more than there is in {path}", lambda n, below: spell(n + 1) if n < most else None),
            respelled(f"count one less than there is in {path}", lambda n, below: spell(n - 1) if n else None),
            respelled(f"count huge in {path}" if self.most is None else f"count beyond the bound of {path}", hugely),
            respelled(f"overlong count of {path}", longer),
            respelled(f"hostile continuation bytes in {path}", hostile),
            content("empty", lambda data, below: b""),
            content("grow", lambda data, below: data + b"a" * (GROWN[below(len(GROWN))] - len(data))),
            truncate(path),
        ]
        if self.bits < 64:
            mutations.append(respelled(f"overflow count of {path}", overflow(self.bits)))
        if self.text:
            mutations.append(content("not UTF-8 in", not_utf8))
        return mutations

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        place = MutableField(path, self, self.mutations(path))

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            count, begin = unspell(data, at)
            end = begin + count
            if end > len(data):
                raise UnreadableFrame
            found.append((at, end, place, (begin,)))
            return end

        return find

    # Coverage

    def most_bytes(self) -> float:
        return 9.0 + self.top + 1

    def branches(self, place: Place) -> Iterator[str]:
        yield from ([TOO_SHORT] if self.least else [EMPTY])
        yield from (ONE_BYTE, MORE_BYTES, *([LONG_COUNT] if self.top >= LONG else []), OVERLONG)
        yield from ([TOO_LONG] if self.most is not None else [])
        yield from ([OUT_OF_RANGE] if self.bits < 64 else [])
        yield from ([] if place.given else [COUNT_MISSING])
        yield from (COUNT_CUT, BEYOND, *([NOT_ASCII, BAD_TEXT] if self.text else []))

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        start = tracing.at
        count = tracing.varint(place, self.bits, COUNT_MISSING, COUNT_CUT)
        if count > self.top:
            tracing.hit(place, TOO_LONG)
            raise TracedRefusal(Reason.TOO_LONG, start)
        if count < self.least:
            tracing.hit(place, TOO_SHORT)
            raise TracedRefusal(Reason.BAD_VALUE, start)
        if count > tracing.end - tracing.at:
            tracing.hit(place, BEYOND)
            raise TracedRefusal(Reason.TRUNCATED, start)
        content = tracing.take(place, count)
        tracing.hit(place, size_of(count) if count < LONG else LONG_COUNT)
        return tracing.text(place, content, start) if self.text else content

    # Vectors

    def spelled_number(self, value: Any, size: int) -> tuple[int, int] | None:
        content = len(value.encode() if isinstance(value, str) else value)
        return content, size - content

    is_composed = True
    can_be_missing = True

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        return b"\x01" + self.filling

    @property
    def filling(self) -> bytes:
        """The byte that contents are made of."""
        return PLAIN_TEXT if self.text else PLAIN_BYTE

    def boundaries(self, full: bool) -> Iterator[BoundaryBytes]:
        top = (1 << self.bits) - 1
        names = {0: "empty", 1: "of one byte"}
        sizes = (0, 1, 2, 127, 128) if full else (0, 1, 2, 128)
        for size in sizes if self.most is None else (0, 1, 2, self.most):
            if self.least <= size <= self.top:
                yield BoundaryBytes("value", names.get(size, f"of {size} bytes"), spell(size) + self.filling * size)
        yield BoundaryBytes(OVERLONG, "with a count of 1 in two bytes", b"\x81\0" + self.filling)
        if self.least:
            yield BoundaryBytes(TOO_SHORT, "empty, where one byte is the least", b"\0", "refused")
        if self.most is not None:
            for size in (self.most + 1, LONG - 1) if full and self.most < LONG - 2 else (self.most + 1,):
                comment = f"of {size} bytes, where {self.most} are the most"
                yield BoundaryBytes(TOO_LONG, comment, spell(size) + self.filling * size, "refused")
        if self.bits < 64:
            comment = f"with a count of {say(top + 1)}, which does not fit"
            yield BoundaryBytes(OUT_OF_RANGE, comment, spell(top + 1) + self.filling, "refused")
        yield BoundaryBytes(COUNT_CUT, "with a count that is cut", b"\x80", "cut", True)
        yield BoundaryBytes(BEYOND, "of three bytes, with one", b"\3" + self.filling, "cut", True)
        if full:
            most = spell(self.top) + self.filling
            yield BoundaryBytes(BEYOND, f"of {say(self.top)} bytes, with one", most, "cut", True)
        if self.text:
            for variant in text_boundaries(full):
                yield variant._replace(data=spell(len(variant.data)) + variant.data)

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        yield from super().specimens(looking, target)
        if target.full and looking.is_first(self):
            yield from self.large_counts(looking, target)

    def large_counts(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        """Give a count of three bytes, and the highest one if that is not too much."""
        top = self.top
        for count in (LARGE, top) if self.bits == 16 and self.most is None else (LARGE,) if top > LARGE else ():
            # 64 bytes are more than what else there is of any plain message.
            if target.place.room is None or count + 64 < target.place.room:
                content = (b"a" if self.text else b"\0") * count
                yield looking.varied(target, BoundaryBytes("value", f"of {count} bytes", spell(count) + content))

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        yield from short_options(self.boundaries(False), where)

    def stretched(self, looking: Looking, target: ComposedTarget, size: int) -> dict[str, Change]:
        frame = len(looking.compose({**target.plan, target.where: b""}).data)
        for spelled in range(1, LONGEST + 1):
            count = size - frame - spelled
            if self.least <= count <= self.top and len(spell(count)) == spelled:
                return {target.where: spell(count) + bytes(count)}
        return {}
