"""What has no bytes."""

from collections.abc import Iterator, Mapping
from typing import IO, Any

import construct

from wire.constructs import Context, Leaf, dotted
from wire.errors import DecodeError, EncodeError, Reason
from wire.kinds.base import FieldFinding, Part, Sampling, Scope, Walk
from wire.kinds.branches import REFUSED, Place, TracedRefusal, Tracing
from wire.kinds.composing import ComposedTarget, Looking
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, lua_text
from wire.kinds.edits import Find, Found, UnreadableFrame
from wire.kinds.generators import ABSENT, Draw, Numbers


class Refused(Leaf):
    """A place that a layout reserves: reading it is refused with a reason."""

    def __init__(self, detail: str) -> None:
        super().__init__()
        self.detail = detail

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        raise DecodeError(Reason.RESERVED, stream.tell() - 1, dotted(path), self.detail)

    def spell(self, value: Any, path: str) -> bytes:
        raise EncodeError(f"{dotted(path)}: {self.detail}")


def literal(text: str) -> str:
    """Return a text as it stands in source code."""
    return repr(text) if '"' in text else f'"{repr(text)[1:-1]}"'


class Nothing(Part, frozen=True):
    """No bytes; the value is ``None``."""

    constructs = (construct.Pass,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls()

    silent = True

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"{into} = None"

    def python_store(self, code: Code, field: str) -> Lines:
        yield "pass"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return [], 'b""'

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield f"{into} = Py_NewRef(Py_None);"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield ";"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield from ()

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        yield from ()

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from ()

    # Generators

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        return lambda source, numbers: ABSENT

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        return lambda data, at, numbers, found: at

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return 0

    def branches(self, place: Place) -> Iterator[str]:
        yield from ()

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        return None

    # Vectors

    is_composed = True


class AlwaysRefused(Part, frozen=True):
    """Base of the kinds that have no bytes, and that no frame can have."""

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield from ()

    # Generators

    def hopeless(self) -> bool:
        return True

    def may_be_empty(self) -> bool:
        return False

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        return unreadable

    # Coverage

    def most_bytes(self) -> float:
        return 0

    takes_rest = True


class Reserved(AlwaysRefused, frozen=True):
    """No bytes, and always refused, one byte before; ``detail`` says why."""

    detail: str

    constructs = (Refused,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return cls(grammar.detail)

    def python_read(self, code: Code, into: str) -> Lines:
        yield "raise Refusal(RESERVED, at - 1)"

    def python_store(self, code: Code, field: str) -> Lines:
        yield from self.python_read(code, field)

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return [f"raise EncodeError({literal(self.detail)})"], 'b""'

    def python_set(self, code: Code, field: str) -> Lines:
        yield from self.python_write(code, field)[0]

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield "refuse(r, RESERVED, r->at - 1);"
        yield "goto bad;"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield "return 0;"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f'refuse("reserved", r.at - 1, {lua_text(self.detail)})'

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        yield "return refused(f, RESERVED, p - 1);"

    # Generators

    @property
    def refusal(self) -> str:
        return "reserved"

    # Coverage

    def branches(self, place: Place) -> Iterator[str]:
        yield REFUSED

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        tracing.hit(place, REFUSED)
        raise TracedRefusal(Reason.RESERVED, tracing.at - 1)

    # Vectors

    is_composed = True

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        yield looking.made(target, "refused", REFUSED, "in the form that is reserved")


def unreadable(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
    """Find nothing: what stands here is refused."""
    raise UnreadableFrame
