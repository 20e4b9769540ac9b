"""A whole frame that has a greatest size."""

from collections.abc import Iterator
from typing import IO, Any

from wire.constructs import Context, Grammar, dotted, remaining
from wire.errors import DecodeError, EncodeError, Reason
from wire.kinds.base import FieldLoop, Part, Scope, Walk
from wire.kinds.branches import FULL, TOO_LONG, Inside, Place, TracedRefusal, Tracing
from wire.kinds.composing import Composing, Plan, Way
from wire.kinds.contexts import Cell, Lines, LuaCode, Names, Slots


class LimitedTo(Grammar):
    """A whole frame of at most ``size`` bytes; a longer one is refused before it is read."""

    def __init__(self, size: int, content: Grammar) -> None:
        super().__init__()
        self.size = size
        self.content = content

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        there = remaining(stream)
        if there > self.size:
            at = stream.tell() + self.size
            raise DecodeError(Reason.TOO_LONG, at, dotted(path), f"{there} bytes, at most {self.size} fit")
        return self.content._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        self.content._build(obj, stream, context, path)
        if stream.tell() - start > self.size:
            raise EncodeError(f"{dotted(path)}: {stream.tell() - start} bytes, at most {self.size} fit")
        return obj


class Limited(Part, frozen=True):
    """A whole frame of at most ``size`` bytes."""

    size: int
    node: Part

    constructs = (LimitedTo,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls(grammar.size, walk.part(grammar.content, path, scope))

    def inner(self) -> tuple[Part, ...]:
        return (self.node,)

    def fewest(self) -> int:
        return self.node.fewest()

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.node, hint)

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield from self.node.lua_read(code, name)

    def slots(self, slots: Slots, path: str) -> None:
        slots.add(self.node, path)

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from self.node.cells(value, path, record)

    # Generators

    def hopeless(self) -> bool:
        return self.node.hopeless()

    def may_be_empty(self) -> bool:
        return self.node.may_be_empty()

    def swallows(self) -> int:
        return self.node.swallows()

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return self.node.most_bytes()

    @property
    def takes_rest(self) -> bool:
        return self.node.takes_rest

    @property
    def frame_limit(self) -> int | None:
        return self.size

    def inside(self) -> Iterator[Inside]:
        yield Inside("whole", self.node)

    def branches(self, place: Place) -> Iterator[str]:
        yield from ([FULL] if self.node.most_bytes() >= self.size else [])
        yield TOO_LONG

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        if len(tracing.data) > self.size:
            tracing.hit(place, TOO_LONG)
            raise TracedRefusal(Reason.TOO_LONG, self.size)
        if len(tracing.data) == self.size:
            tracing.hit(place, FULL)
        return tracing.read(place.inner[0], where, {})

    # Vectors

    is_composed = True
    ends_inside = True

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        return composing.write(place.inner[0], where, scope)

    def ways(self, place: Any, where: str, plan: Plan) -> Iterator[Way]:
        yield Way(place.inner[0], where, {**plan})

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.part(self.node, value)
