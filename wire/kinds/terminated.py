"""Text and bytes up to a NUL."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from wire.constructs import Context, Leaf, decoded, dotted, encoded, shortened
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.branches import (
    BAD_TEXT,
    CUT,
    EMPTY,
    FULL,
    MISSING,
    MORE_BYTES,
    NOT_ASCII,
    ONE_BYTE,
    TOO_LONG,
    Place,
    TracedRefusal,
    Tracing,
    size_of,
)
from wire.kinds.coded import made, written
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Slots
from wire.kinds.counted import kind_of, lua_kind, python_octets, python_slice
from wire.kinds.edits import GROWN, Below, Find, Found, MutableField, Mutation, UnreadableFrame, not_utf8, put, truncate
from wire.kinds.generators import Draw, Numbers, Pair, Source

LONGEST = 0xFFFF
"""Bytes that may stand before the NUL: what any batch holds, so that a hostile frame is not searched for ever."""


class NulBytes(Leaf):
    """At most ``most`` bytes that are not NUL, and a NUL, which is not part of the value."""

    def __init__(self, most: int = LONGEST) -> None:
        super().__init__()
        self.most = most

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        there = stream.read(self.most + 1)
        content, nul, _ = there.partition(b"\0")
        if not nul:
            if len(there) > self.most:
                detail = f"no NUL within {self.most} bytes"
                raise DecodeError(Reason.TOO_LONG, start + self.most, dotted(path), detail)
            raise DecodeError(Reason.TRUNCATED, stream.tell(), dotted(path), "no NUL up to the end")
        stream.seek(start + len(content) + 1)
        return content

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, bytes):
            raise EncodeError(f"{dotted(path)}: {value!r} is not bytes")
        if b"\0" in value or len(value) > self.most:
            raise EncodeError(f"{dotted(path)}: a NUL in it, or more than {self.most} bytes: {value!r:.80}")
        return value + b"\0"

    def shorter(self, content: bytes) -> Iterator[bytes]:
        yield from (each + b"\0" for each in shortened(content))


class NulText(NulBytes):
    """UTF-8 text of at most ``most`` bytes, and a NUL, which is not part of the value."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        return decoded(super().read(stream, context, path), start, path)

    def spell(self, value: Any, path: str) -> bytes:
        return super().spell(encoded(value, path), path)


class Terminated(Part, frozen=True):
    """At most ``most`` bytes, or UTF-8 ``text`` of so many, and a NUL."""

    most: int
    text: bool

    constructs = (NulBytes,)
    plain = True

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        # Without a bound a frame without a NUL would be searched to its end, for each text in it.
        if not 1 <= grammar.most <= LONGEST:
            raise CannotLayOut(f"{path}: at most {grammar.most} bytes before NUL; give a bound from 1 to {LONGEST}")
        return cls(grammar.most, isinstance(grammar, NulText))

    def fewest(self) -> int:
        return 1

    def python_read(self, code: Code, into: str) -> Lines:
        yield "start = at"
        # The NUL first, then the text: what is not UTF-8 and has no end either is refused for its end, as everywhere.
        yield f"end = nul(data, at, {self.most})"
        yield from python_slice(into, "data[at:end]", text=self.text)
        yield "at = end + 1"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        first = [f"t_{field} = v_{field}.encode()"] if self.text else [*python_octets(f"v_{field}")]
        if not self.text:
            first.append(f"t_{field} = v_{field}")
        wrong = f'if b"\\0" in t_{field} or len(t_{field}) > {self.most}:'
        return [*first, wrong, '    raise EncodeError("a NUL in it, or too long")'], f't_{field} + b"\\0"'

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "{"
        yield "    size_t start = r->at, count;"
        yield f"    if (!read_terminated(r, {self.most}, &count))"
        yield "        goto bad;"
        value = "text(r, start, count, start)" if self.text else "octets(r, start, count)"
        yield from (f"    {line}" for line in made(into, value))
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from written(f"write_{'text' if self.text else 'bytes'}(w, {source}, 0) || !write_octet(w, 0)")

    def c_fits(self, code: CCode, source: str) -> str | None:
        return f"fits_terminated({source}, {int(self.text)}, {self.most})"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:terminated({code.declare(name, lua_kind(self.text))}, {self.most})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.octets(path, text=self.text)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, _ = code.cell(path, kind_of(self.text))
        yield f"TAKE(take_terminated({cell}, {self.most}, {int(self.text)}));"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, kind_of(self.text)), value

    # Generators

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        content = sampling.choices.content(self.most, self.text)

        def draw(source: Source, numbers: Numbers) -> Pair:
            _, data = content(source)
            data = data.replace(b"\0", b"")[: self.most]  # a NUL would end it; choices keep to a bound only roughly
            if not self.text:
                return data, data + b"\0"
            text = data.decode(errors="ignore")  # without a letter that the bound cut
            return text, text.encode() + b"\0"

        return draw

    def mutations(self, path: str) -> list[Mutation]:
        """Return what can be done to the content at ``path`` and to its NUL."""

        def content(name: str, rewrite: Callable[[bytes, Below], bytes]) -> Mutation:
            def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
                return put(frame, start, end, rewrite(frame[start : end - 1], below))

            return f"{name} {path}", change

        def within(data: bytes, below: Below) -> bytes:
            at = below(len(data) + 1)
            return data[:at] + b"\0" + data[at:] + b"\0"

        grown = tuple(sorted({*GROWN, self.most - 1, self.most, self.most + 1}))
        mutations = [
            content("NUL missing in", lambda data, below: data),
            content("NUL within", within),
            content("empty", lambda data, below: b"\0"),
            content("grow", lambda data, below: data + b"a" * (grown[below(len(grown))] - len(data)) + b"\0"),
            content("one byte beyond the bound of", lambda data, below: data.ljust(self.most + 1, b"a") + b"\0"),
            truncate(path),
        ]
        if self.text:
            mutations.append(content("not UTF-8 in", lambda data, below: not_utf8(data, below) + b"\0"))
        return mutations

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        place = MutableField(path, self, self.mutations(path))

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            end = data.find(b"\0", at, at + self.most + 1) + 1
            if not end:
                raise UnreadableFrame
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    def most_bytes(self) -> float:
        return self.most + 1

    def branches(self, place: Place) -> Iterator[str]:
        yield from (EMPTY, ONE_BYTE, *([MORE_BYTES] if self.most > 1 else []), FULL, TOO_LONG)
        yield from ([] if place.given else [MISSING])
        yield CUT
        if self.text:
            yield from ([NOT_ASCII] if self.most > 1 else [])
            yield BAD_TEXT

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        start = tracing.at
        nul = tracing.data.find(b"\0", start, min(start + self.most + 1, tracing.end))
        if nul < 0 and tracing.end - start > self.most:
            tracing.hit(place, TOO_LONG)
            raise TracedRefusal(Reason.TOO_LONG, start + self.most)
        if nul < 0:
            tracing.hit(place, CUT if tracing.end > start else MISSING)
            raise TracedRefusal(Reason.TRUNCATED, tracing.end)
        tracing.at = nul + 1
        content = tracing.data[start:nul]
        tracing.hit(place, size_of(len(content)))
        if len(content) == self.most:
            tracing.hit(place, FULL)
        return tracing.text(place, content, start) if self.text else content
