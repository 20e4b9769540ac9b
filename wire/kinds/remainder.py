"""Bytes and text up to the end of the frame."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from wire.constructs import Context, Leaf, decoded, dotted, encoded
from wire.errors import EncodeError
from wire.expressions import Expr
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.boundaries import PLAIN_BYTE, PLAIN_TEXT, BoundaryBytes, text_boundaries
from wire.kinds.branches import BAD_TEXT, EMPTY, MORE_BYTES, NOT_ASCII, Place, Tracing
from wire.kinds.coded import made, written
from wire.kinds.composing import Change, ComposedTarget, Looking, PlannedOption, short_options
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Slots
from wire.kinds.counted import kind_of, lua_kind, python_octets, python_slice
from wire.kinds.edits import Find, Found, MutableField, spoiled_text, truncate
from wire.kinds.generators import ANY_BYTE, Draw, Numbers, leaf


class Rest(Leaf):
    """All bytes up to the end of the frame."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> bytes:
        return stream.read()

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, bytes):
            raise EncodeError(f"{dotted(path)}: {value!r} is not bytes")
        return value


class RestText(Leaf):
    """UTF-8 text up to the end of the frame."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> str:
        start = stream.tell()
        return decoded(stream.read(), start, path)

    def spell(self, value: Any, path: str) -> bytes:
        return encoded(value, path)


class Remainder(Part, frozen=True):
    """All bytes, or UTF-8 ``text``, up to the end of the frame."""

    text: bool

    constructs = (Rest, RestText)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls(isinstance(grammar, RestText))

    def python_read(self, code: Code, into: str) -> Lines:
        if self.text:
            yield "start = at"
        yield from python_slice(into, "data[at:]", text=self.text)
        yield "at = len(data)"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        value = f"v_{field}"
        return ([], f"{value}.encode()") if self.text else (python_octets(value), value)

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    size_t start = r->at;"
        yield "    r->at = r->size;"
        value = "text(r, start, r->size - start, start)" if self.text else "octets(r, start, r->size - start)"
        yield from (f"    {line}" for line in made(into, value))
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from written(f"write_{'text' if self.text else 'bytes'}(w, {source}, 0)")

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:remainder({code.declare(name, lua_kind(self.text))})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.octets(path, text=self.text)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, _ = code.cell(path, kind_of(self.text))
        yield f"TAKE(take_rest({cell}, {int(self.text)}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, kind_of(self.text)), value

    # Generators

    def swallows(self) -> int:
        return ANY_BYTE

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        # What is longer than any batch would be cut off by the limit of the frame, if there is one.
        return leaf(sampling.choices.content(1 << 16, self.text))

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        place = MutableField(path, self, [truncate(path), *([spoiled_text(path)] if self.text else [])])

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            found.append((at, len(data), place, ()))
            return len(data)

        return find

    # Coverage

    def most_bytes(self) -> float:
        return float("inf")

    takes_rest = True

    def branches(self, place: Place) -> Iterator[str]:
        yield from (EMPTY, MORE_BYTES, *([NOT_ASCII, BAD_TEXT] if self.text else []))

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        start, tracing.at = tracing.at, tracing.end
        content = tracing.data[start : tracing.end]
        tracing.hit(place, MORE_BYTES if content else EMPTY)
        return tracing.text(place, content, start) if self.text else content

    # Vectors

    is_composed = True

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        return PLAIN_TEXT if self.text else PLAIN_BYTE

    def boundaries(self, full: bool) -> Iterator[BoundaryBytes]:
        yield BoundaryBytes(EMPTY, "empty", b"")
        yield BoundaryBytes(MORE_BYTES, "of two bytes", b"ab" if self.text else b"\0\xff")
        if self.text:
            yield from text_boundaries(full)

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        yield from short_options(self.boundaries(False), where)

    def stretched(self, looking: Looking, target: ComposedTarget, size: int) -> dict[str, Change]:
        return {target.where: bytes(size - len(looking.compose({**target.plan, target.where: b""}).data))}
