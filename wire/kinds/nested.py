"""Messages within messages of the same kind, to a stated depth."""

from collections.abc import Callable, Iterator
from typing import IO, Any

from wire.constructs import Context, Grammar, Leaf, dotted
from wire.errors import DecodeError, EncodeError, Reason
from wire.kinds.base import Part, Scope, Walk
from wire.kinds.branches import REFUSED, Place, TracedRefusal, Tracing
from wire.kinds.compound import Compound
from wire.kinds.contexts import CCode, Code, ColumnCode, Lines, LuaCode
from wire.kinds.nothing import AlwaysRefused


class TooDeep(Leaf):
    """Where a message would be nested deeper than ``depth``: refused."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.depth = depth

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        raise DecodeError(Reason.TOO_LONG, stream.tell(), dotted(path), f"nested deeper than {self.depth}")

    def spell(self, value: Any, path: str) -> bytes:
        raise EncodeError(f"{dotted(path)}: nested deeper than {self.depth}")


def nested(depth: int, make: Callable[[Grammar], Grammar]) -> Grammar:
    """Return a message that may have itself within, ``depth`` of them in all: ``make(inner)`` declares one level.

    The levels are laid out one by one, so that no engine needs a stack that grows with what it reads.
    """
    if not 1 <= depth <= DEEPEST:
        raise ValueError(f"nested to the depth {depth}; give one from 1 to {DEEPEST}")
    level: Grammar = TooDeep(depth)
    for _ in range(depth):
        level = make(level)
    return level


DEEPEST = 64
"""Levels: each is code of its own in every engine."""


class Bottom(AlwaysRefused, Compound, frozen=True):
    """No bytes, and always refused: below the last level of ``depth``.

    A compound, so that it can stand wherever a message can: in a list, within so many bytes.
    """

    depth: int

    constructs = (TooDeep,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls(grammar.depth)

    def fewest(self) -> int:
        return 1  # none is enough, so a list of these that goes to the end comes to its end

    def python_reader(self, code: Code) -> Lines:
        yield "raise Refusal(TOO_LONG, at)"

    def python_writer(self, code: Code) -> Lines:
        yield f'raise EncodeError("nested deeper than {self.depth}")'

    def c_reader(self, code: CCode) -> Lines:
        yield "refuse(r, TOO_LONG, r->at);"
        yield "return NULL;"

    def c_writer(self, code: CCode) -> Lines:
        yield from ("(void)w;", "(void)value;")
        yield "return 0;"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f'refuse("too-long", r.at, "nested deeper than {self.depth}")'

    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        yield "return refused(f, TOO_LONG, p);"

    # Generators

    @property
    def refusal(self) -> str:
        return "too deep"

    # Coverage

    def branches(self, place: Place) -> Iterator[str]:
        yield REFUSED

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        tracing.hit(place, REFUSED)
        raise TracedRefusal(Reason.TOO_LONG, tracing.at)
