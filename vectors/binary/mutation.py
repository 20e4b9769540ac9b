"""Mutations of binary frames: a light reading that finds the fields, which say themselves what can be done to them.

The reading checks nothing that it need not. Of a frame that it cannot read to the end it keeps what it understood. How
a part is found, and its own mutations, stand with its kind (``wire/kinds``); what is done to a number because other
fields depend on it stands here.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from vectors.binary.leads import Leads
from wire.expressions import compiled
from wire.kinds import Part
from wire.kinds.edits import Below, Find, Found, Mutation, UnreadableFrame, put
from wire.kinds.generators import Numbers


class BinaryFieldFinder:
    """A compiled tree that finds the fields of a frame."""

    def __init__(self, root: Part) -> None:
        self._known: dict[tuple[Part, str], Find] = {}
        self._find = self.part(root, "", {})

    def found(self, frame: bytes) -> list[Found]:
        """Return the fields of a frame in order, inner ones before outer ones, as far as it can be read."""
        found: list[Found] = []
        with suppress(LookupError, ValueError, UnreadableFrame):
            self._find(frame, 0, {}, found)
        return found

    def part(self, part: Part, path: str, fields: Mapping[str, Part]) -> Find:
        """Compile a part at ``path``, in a record of ``fields``."""
        if part.expressions() or part.beside():  # it means what the record makes of it
            return part.finder(self, path, fields)
        key = part, path
        # By path as well: the same record at two places has fields of two names.
        if key not in self._known:
            self._known[key] = part.finder(self, path, {})
        return self._known[key]

    def record(self, fields: Mapping[str, Part], path: str, first: Sequence[Mutation] = ()) -> Find:
        """Compile a record; ``first`` are the mutations that its first byte has as a member of a union."""
        finders = []
        for name, part in fields.items():
            label = f"{path}.{name}" if path else name
            node, leads = part.guarded, Leads(fields, name)
            more, first = [*first, *(_of_deciding(leads, label) if leads and node.decides else ())], ()
            if more and node.decides:
                finder = node.number_finder(label, more)
                if part.guard is not None:
                    finder = _if(compiled(part.guard, fields), finder)
            else:
                finder = self.part(part, label, fields)
            finders.append(finder)
        return _in_a_row(tuple(finders))


def _in_a_row(finders: tuple[Find, ...]) -> Find:
    def find(data: bytes, at: int, outer: Numbers, found: list[Found]) -> int:
        numbers: Numbers = {}
        for finder in finders:
            at = finder(data, at, numbers, found)
        return at

    return find


def _if(when: Callable[[Numbers], int], find: Find) -> Find:
    return lambda data, at, numbers, found: find(data, at, numbers, found) if when(numbers) else at


def _of_deciding(leads: Leads, path: str) -> list[Mutation]:
    """Return what can be done to a number that later fields depend on: lead to a refusal, lie about a length."""
    mutations = []
    part = leads.part
    word, mask, refused = leads.refusals()
    if refused:
        where = [name for name in part.group_names if (group := part.group(name)) is not None and group.mask & mask]
        mutations.append(_renumbered(f"{word} {'.'.join([path, *where])}", part, _refusing(mask, refused)))
    beside = path.removesuffix(leads.field)
    for name, bits, size in leads.counts():
        for more, step in (("more", 1), ("less", -1)):
            recount = _counting(leads, bits, size, step)
            mutations.append(_renumbered(f"count {more} than there is in {beside}{name}", part, recount))
    return mutations


def _renumbered(name: str, part: Part, renumber: Callable[[int, Below], int | None]) -> Mutation:
    """Make a mutation of what is done to the number that a part counts as."""

    def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        number = renumber(part.number_in(frame[start:end]), below)
        return None if number is None else put(frame, start, end, part.spelled(number))

    return name, change


def _refusing(mask: int, refused: Sequence[int]) -> Callable[[int, Below], int]:
    def refuse(old: int, below: Below) -> int:
        number = refused[below(len(refused))]
        return old & ~mask | number if mask else number

    return refuse


def _counting(leads: Leads, mask: int, size: Callable[[Numbers], int], sign: int) -> Callable[[int, Below], int | None]:
    """Change a number by one so that it announces more bytes, or fewer."""
    part, field = leads.part, leads.field
    most = mask or (1 << (part.number_bits or 0)) - 1
    step = mask & -mask or 1

    def recount(old: int, below: Below) -> int | None:
        number = (old & most) + sign * step
        if number < 0 or number > most:
            return None
        number |= old & ~most
        return number if (size({field: number}) - size({field: old})) * sign > 0 else None

    return recount
