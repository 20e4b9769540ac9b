"""Where numbers lead: what the later fields of a record make of the number of an earlier one.

A sampler that wants a certain case of a ``Switch`` first chooses the case and then the number that its key is made
of; a mutator that wants a refusal chooses the number that leads to ``Reserved``. Both ask ``Leads``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from wire.expressions import Const, Ref, compiled, terms
from wire.kinds import Part
from wire.kinds.base import lead_of, looked_at, together
from wire.kinds.generators import AVOIDED, REFUSED, Lead, Numbers, any_of


def number_of(value: Any) -> int:
    """Return the number that a field's value counts as in expressions: itself, or the integer of named bits."""
    return int(getattr(value, "byte", value))


def references(part: Part) -> frozenset[Ref]:
    """Return what the expressions of a field look at."""
    return frozenset(looked_at(part))


class Leads:
    """Where the numbers of one ``field`` lead: what the later fields of its record make of them.

    ``others`` are the earlier fields that share an expression with it: with those, the answer depends on them. ``also``
    is a bit of the field that somebody else looks at.
    """

    def __init__(self, fields: Mapping[str, Part], field: str, also: str | None = None) -> None:
        names = [*fields]
        self.fields = fields
        self.field = field
        self.part = self.fields[field].guarded
        known = set(names[: names.index(field) + 1])
        self.dependents = {
            name: fields[name]
            for name in names[names.index(field) + 1 :]
            # A field that looks at a later number as well cannot be led from here; the later number leads it.
            if field in (looked := {ref.field for ref in references(fields[name])}) and looked <= known
        }
        refs = frozenset(ref for node in self.dependents.values() for ref in references(node))
        self.refs = frozenset(ref for ref in refs if ref.field == field) | ({Ref(field, also)} if also else set())
        self.others = tuple(name for name in names if name in {ref.field for ref in refs} and name != field)
        self._leads = tuple(lead_of(node, self.fields) for node in self.dependents.values())

    def __bool__(self) -> bool:
        return bool(self.dependents)

    def of(self, numbers: Numbers) -> Lead:
        """Return where ``numbers`` lead."""
        try:
            led = tuple(lead(numbers) for lead in self._leads)
        except (ValueError, KeyError):  # a shift by a negative number, a field that is absent
            return AVOIDED
        return REFUSED if REFUSED in led else AVOIDED if AVOIDED in led else led

    def is_settled(self) -> bool:
        """Tell whether a later field has bytes from which the number follows."""
        parts = (each for node in self.dependents.values() for each in together(node))
        return any(each.settles and {ref.field for ref in looked_at(each)} & {self.field} for each in parts)

    def is_open(self, numbers: Numbers) -> bool:
        """Tell whether ``numbers`` lead to what a frame can have."""
        return self.of(numbers) not in (REFUSED, AVOIDED)

    def candidates(self, numbers: Numbers) -> list[int]:
        """Return the numbers worth trying, ascending: all of a byte, or what the expressions could be about."""
        if self.part.has_few:
            return self.part.candidates((), self.refs)
        constants = {numbers[name] for name in self.others if name in numbers}
        targets = {0}
        for node in self.dependents.values():
            expressions = [expr for each in together(node) for expr in each.expressions()]
            constants |= {term.value for expr in expressions for term in terms(expr) if isinstance(term, Const)}
            targets |= {number for each in together(node) for number in each.decisions()}
        return self.part.candidates(_solutions(targets | constants, constants), self.refs)

    def groups(self, numbers: Numbers) -> list[list[int]]:
        """Return the candidates that a frame can have, by where they lead; the group of the smallest comes first."""
        by_lead: dict[Lead, list[int]] = {}
        # Ascending, so that the first of each group is the plainest, and so is the first group.
        for number in self.candidates(numbers):
            by_lead.setdefault(self.of({**numbers, self.field: number}), []).append(number)
        by_lead.pop(REFUSED, None)
        by_lead.pop(AVOIDED, None)
        return list(by_lead.values())

    def refusals(self) -> tuple[str, int, tuple[int, ...]]:
        """Return the numbers that lead to a refusal, whatever else the record has, ascending, and what they are called.

        Of named bits: what the bits of the mask that comes second have to be. Of a number the mask has no meaning.
        """
        alone = [
            (node, word)
            for node in self.dependents.values()
            if (word := next((each.refusal for each in together(node) if each.refusal), ""))
            and {ref.field for ref in references(node)} == {self.field}
        ]
        leads = [lead_of(node, self.fields) for node, _ in alone]
        mask = self.mask(ref for node, _ in alone for ref in references(node))
        refused = {
            number & mask if mask else number
            for number in (self.candidates({}) if alone else ())
            if any(lead({self.field: number}) == REFUSED for lead in leads)
        }
        return next((word for _, word in alone), ""), mask, tuple(sorted(refused))

    def counts(self) -> Iterator[tuple[str, int, Callable[[Numbers], int]]]:
        """Give the later fields whose size this field alone gives: name, the mask of the bits that do, the size."""
        for name, node in self.dependents.items():
            for each in together(node):
                count = each.announced
                if count is not None and {term.field for term in terms(count) if isinstance(term, Ref)} == {self.field}:
                    refs = [term for term in terms(count) if isinstance(term, Ref)]
                    yield name, self.mask(refs), compiled(count, self.fields)

    def mask(self, refs: Iterable[Ref]) -> int:
        """Return the bits of this field that some expressions look at; 0 for a number."""
        groups = [self.part.group(ref.bit) for ref in refs if ref.bit is not None]
        return any_of(group.mask for group in groups if group is not None)


def _solutions(targets: Iterable[int], constants: Iterable[int]) -> Iterator[int]:
    """Give the numbers around each target, and those from which one operation with a constant leads there."""
    for target in targets:
        yield from (target - 1, target, target + 1)
        for constant in constants:
            # One step back through each operation that expressions have: what `this.n - 4 == 0` asks for is 4.
            for number in (target + constant, target - constant, constant - target, target ^ constant):
                yield from (number - 1, number, number + 1)
            if constant > 0:
                yield target // constant
            if 0 <= constant < 64:
                yield target << constant
                yield target >> constant
