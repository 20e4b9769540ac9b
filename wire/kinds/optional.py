"""What is there only if earlier fields say so."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import construct

from wire.errors import CannotLayOut
from wire.expressions import Expr, Group, compiled
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, lead_of
from wire.kinds.branches import Inside, Place, Tracing
from wire.kinds.coded import indented
from wire.kinds.composing import Composing
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Names, Slots
from wire.kinds.edits import Find
from wire.kinds.generators import ABSENT, Draw, Lead, Numbers


class Optional(Part, frozen=True):
    """``node`` if ``when`` is not 0, else ``None`` and no bytes."""

    when: Expr
    node: Part

    constructs: ClassVar[tuple[Any, ...]] = (construct.IfThenElse,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        if grammar.elsesubcon is not construct.Pass:
            raise CannotLayOut(f"{path}: IfThenElse with two branches; use Switch on the field that decides")
        when = scope.expression(grammar.condfunc, path)
        return cls(when, walk.part(grammar.thensubcon, path, Scope(scope, (*scope.holds, when))))

    def inner(self) -> tuple[Part, ...]:
        return (self.node,)

    def beside(self) -> tuple[Part, ...]:
        return (self.node,)

    def expressions(self) -> tuple[Expr, ...]:
        return (self.when,)

    @property
    def guard(self) -> Expr | None:
        return self.when

    @property
    def guarded(self) -> Part:
        return self.node

    def conditions(self) -> tuple[Expr, ...]:
        return (self.when, *self.node.conditions())

    @property
    def number_bits(self) -> int | None:
        return self.node.number_bits

    @property
    def signed(self) -> bool:
        return self.node.signed

    def group(self, name: str) -> Group | None:
        return self.node.group(name)

    @property
    def open_ended(self) -> bool:
        return self.node.open_ended

    def take_names(self, names: Names, hint: str) -> None:
        names.visit(self.node, hint)

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"{into}: Any = None"
        yield f"if {code.truth(self.when)}:"
        yield from indented(self.node.python_read(code, into))

    def python_store(self, code: Code, field: str) -> Lines:
        yield f"if {code.truth(self.when)}:"
        yield from indented(self.node.python_store(code, field))

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        lines = [f'w_{field} = b""', f"if {code.truth(self.when)}:"]
        lines.append(f"    v_{field} = {self.node.python_item(code, field)}")
        return [*lines, *indented(self.node.python_set(code, field))], f"w_{field}"

    @property
    def silent(self) -> bool:
        return self.node.silent

    def c_variable(self, field: str, *, kept: bool) -> str | None:
        return self.node.c_variable(field, kept=kept)

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield f"if ({code.truth(self.when)}) {{"
        yield from indented(self.node.c_read(code, into, field))
        yield "} else {"
        yield f"    {into} = Py_NewRef(Py_None);"
        yield "}"

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield f"if ({code.truth(self.when)}) {{"
        yield from indented(self.node.c_write(code, source, field))
        yield "}"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"if {code.truth(self.when)} then"
        yield from indented(self.node.lua_read(code, name))
        yield "end"

    def slots(self, slots: Slots, path: str) -> None:
        slots.add(self.node, path)

    def column_variable(self, field: str) -> str:
        return self.node.column_variable(field)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        body = list(self.node.column_read(code, path, field))
        if body:
            yield f"if ({code.truth(self.when)}) {{"
            yield from indented(iter(body))
            yield "}"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        if value is not None:
            yield from self.node.cells(value, path, record)

    # Generators

    def swallows(self) -> int:
        return self.node.swallows()

    def swallows_behind(self, value: Any) -> int:
        return 0 if value is None else self.node.swallows_behind(value)

    def leads(self, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
        when, inner = compiled(self.when, fields), lead_of(self.node, fields)
        return lambda numbers: inner(numbers) if when(numbers) else None

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        when, node = compiled(self.when, fields), sampling.promised(self.node, fields)
        return lambda source, numbers: node(source, numbers) if when(numbers) else ABSENT

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        when, node = compiled(self.when, fields), finding.part(self.node, path, fields)
        return lambda data, at, numbers, found: node(data, at, numbers, found) if when(numbers) else at

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return self.node.most_bytes()

    def inside(self) -> Iterator[Inside]:
        yield Inside("present", self.node)

    def chosen(self, computed: Callable[[Expr], int]) -> str:
        return "present" if computed(self.when) else "absent"

    def alternatives(self) -> tuple[str, ...]:
        return ("absent", "present")

    def branches(self, place: Place) -> Iterator[str]:
        yield from ("present", "absent")

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        there = bool(tracing.computed(self.when, scope))
        tracing.hit(place, "present" if there else "absent")
        return tracing.read(place.inner[0], where, scope) if there else None

    # Vectors

    is_composed = True

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        label = self.chosen(lambda expr: composing.computed(expr, scope))
        return None if label == "absent" else composing.write(place.inner[0], where, scope, default)

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        inside = [*loop.part(self.node, value)]
        if inside:
            yield f"if {value} is not None:"
            yield from indented(inside)
