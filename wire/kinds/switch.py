"""What depends on a number that stands earlier."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import construct

from wire import expressions
from wire.errors import CannotLayOut
from wire.expressions import Expr, compiled
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, lead_of, seen_in
from wire.kinds.branches import Inside, Place, Tracing
from wire.kinds.coded import c_one_of, indented, lua_one_of, one_of
from wire.kinds.composing import Composing
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Lines, LuaCode, Names, Slots
from wire.kinds.edits import Find
from wire.kinds.generators import AVOIDED, REFUSED, Draw, Lead, Numbers, any_of
from wire.kinds.nothing import Reserved


class Switch(Part, frozen=True):
    """The case that has the value of ``key``, or ``default``."""

    key: Expr
    cases: tuple[tuple[int, Part], ...]
    default: Part

    constructs = (construct.Switch,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        key = scope.expression(grammar.keyfunc, path)
        cases = []
        for value, case in grammar.cases.items():
            if not isinstance(value, int):
                raise CannotLayOut(f"{path}: the case {value!r} of a Switch is not a number")
            cases.append((int(value), walk.part(case, path, scope)))
        return cls(key, tuple(cases), walk.part(grammar.default, path, scope))

    def inner(self) -> tuple[Part, ...]:
        return (*(case for _, case in self.cases), self.default)

    def beside(self) -> tuple[Part, ...]:
        return self.inner()

    def expressions(self) -> tuple[Expr, ...]:
        return (self.key,)

    @property
    def number_bits(self) -> int | None:
        """A number if every case is one, or always refused."""
        # A case that is always refused has no value, so it does not keep the others from being a number.
        bits = [case.number_bits for case in self.inner() if not isinstance(case, Reserved)]
        known = [each for each in bits if each is not None]
        return max(known) if bits and len(known) == len(bits) else None

    @property
    def signed(self) -> bool:
        return any(case.signed for case in self.inner())

    def fewest(self) -> int:
        return min(case.fewest() for case in self.inner())

    @property
    def open_ended(self) -> bool:
        return any(case.open_ended for case in self.inner())

    @property
    def silent(self) -> bool:
        # Which case it is is not known here; one that needs a value refuses None by itself.
        return any(case.silent for case in self.inner())

    def take_names(self, names: Names, hint: str) -> None:
        for case in self.inner():
            names.visit(case, hint)

    # A chain of comparisons, and no table of functions: a case is read in its record, whose numbers it may look at.

    def python_read(self, code: Code, into: str) -> Lines:
        yield from self._python(code, lambda case: case.python_read(code, into))

    def python_store(self, code: Code, field: str) -> Lines:
        yield from self._python(code, lambda case: case.python_store(code, field))

    def _python(self, code: Code, each: Callable[[Part], Lines]) -> Lines:
        yield f"key = {code.bare(self.key)}"
        yield from one_of(((f"key == {value}", each(case)) for value, case in self.cases), each(self.default))

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return list(self._python(code, lambda case: case.python_set(code, field))), f"w_{field}"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield from self._c(code, field, lambda case: case.c_read(code, into, field))

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from self._c(code, field, lambda case: case.c_write(code, source, field))

    def _c(self, code: CCode, field: str, each: Callable[[Part], Lines]) -> Lines:
        otherwise = [*_alone(self.default, field, each)]
        if not isinstance(self.default, Reserved):
            otherwise.append("break;")
        cases = ((value, _alone(case, field, each)) for value, case in self.cases)
        yield from c_one_of(code.number(self.key), cases, otherwise)

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        cases = ((number, part.lua_read(code, name)) for number, part in self.cases)
        yield from lua_one_of(code.number(self.key), cases, self.default.lua_read(code, name))

    def slots(self, slots: Slots, path: str) -> None:
        for case in self.inner():
            slots.add(case, path)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        key = code.number(self.key)
        keyword = "if"
        for value, case in self.cases:
            yield f"{keyword} ({key} == {expressions.c_number(value)}) {{"
            yield from indented(case.column_read(code, path, field))
            keyword = "} else if"
        if not self.cases:
            yield from self.default.column_read(code, path, field)
            return
        yield "} else {"
        yield from indented(self.default.column_read(code, path, field))
        yield "}"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        key = expressions.evaluate(self.key, seen_in(record))
        yield from dict(self.cases).get(key, self.default).cells(value, path, record)

    # Generators

    def hopeless(self) -> bool:
        return all(case.hopeless() for case in self.inner())

    def may_be_empty(self) -> bool:
        return any(case.may_be_empty() for case in self.inner())

    def swallows(self) -> int:
        return any_of(case.swallows() for case in self.inner())

    def leads(self, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
        key, default = compiled(self.key, fields), lead_of(self.default, fields)
        cases = {number: (index, lead_of(case, fields)) for index, (number, case) in enumerate(self.cases)}

        def chosen(numbers: Numbers) -> Lead:
            index, lead = cases.get(key(numbers), (-1, default))
            led = lead(numbers)
            return led if led in (REFUSED, AVOIDED) else (index, led)

        return chosen

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        key, default = compiled(self.key, fields), sampling.promised(self.default, fields)
        cases = {number: sampling.promised(case, fields) for number, case in self.cases}
        return lambda source, numbers: cases.get(key(numbers), default)(source, numbers)

    def decisions(self) -> tuple[int, ...]:
        return tuple(number for number, _ in self.cases)

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        key, default = compiled(self.key, fields), finding.part(self.default, path, fields)
        cases = {number: finding.part(case, path, fields) for number, case in self.cases}
        return lambda data, at, numbers, found: cases.get(key(numbers), default)(data, at, numbers, found)

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return max(case.most_bytes() for case in self.inner())

    @property
    def takes_rest(self) -> bool:
        return all(case.takes_rest for case in self.inner())

    def inside(self) -> Iterator[Inside]:
        for number, case in self.cases:
            yield Inside(f"case {number}", case)
        yield Inside("default", self.default)

    def chosen(self, computed: Callable[[Expr], int]) -> str:
        key = computed(self.key)
        return f"case {key}" if any(number == key for number, _ in self.cases) else "default"

    def alternatives(self) -> tuple[str, ...]:
        return (*(f"case {number}" for number, _ in self.cases), "default")

    def branches(self, place: Place) -> Iterator[str]:
        yield from place.labels

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        label = self.chosen(lambda expr: tracing.computed(expr, scope))
        tracing.hit(place, label)
        return tracing.read(place.inner[place.labels.index(label)], where, scope)

    # Vectors

    is_composed = True

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        label = self.chosen(lambda expr: composing.computed(expr, scope))
        return composing.write(place.under(label), where, scope, default)

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        # One without fields is no mapping, and the others differ in their names.
        cases = []
        for case in dict.fromkeys(self.inner()):
            inside = [*loop.part(case, value)]
            if inside:
                if not case.value_names:
                    raise TypeError("a Switch between other things than records, bits and leaves")
                cases.append((f"isinstance({value}, Mapping) and tuple({value}) == {case.value_names}", inside))
        yield from one_of(cases)


def _alone(case: Part, field: str, each: Callable[[Part], Lines]) -> Lines:
    """Write a case down, with the variable that it alone needs."""
    variable = case.c_variable(field, kept=False)
    if variable is None:
        yield from each(case)
        return
    yield "{"
    yield from indented([variable, *each(case)])
    yield "}"
