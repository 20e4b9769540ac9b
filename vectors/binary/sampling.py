"""Frames of binary layouts and their values: a walk that compiles how each part is drawn.

How a part is drawn by itself it says itself (``sampled``, in ``wire/kinds``). What must hold together in a record is
known here: a number that later fields look at is chosen by where it leads them, what would be swallowed is drawn again,
and a number that says how long something is may be settled by what came out.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from vectors.binary.leads import Leads, number_of, references
from wire.expressions import compiled
from wire.kinds import Part
from wire.kinds.generators import ABSENT, PATIENCE, Choices, Draw, Lead, Numbers, Pair, Source, Unsatisfiable

MAX_KNOWN = 4096
"""Answers that a deciding field remembers: endless numbers before it would have endless answers."""


class BinarySampling:
    """One compilation: equal parts become the same closure."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.known: dict[Part, Draw] = {}

    def part(self, part: Part, fields: Mapping[str, Part]) -> Draw:
        """Compile a part that stands in a record of these ``fields``."""
        if part.expressions() or part.beside():  # it means what the record makes of it
            return self.made(part, fields)
        if part not in self.known:
            self.known[part] = self.made(part, {})
        return self.known[part]

    def made(self, part: Part, fields: Mapping[str, Part]) -> Draw:
        """Compile a part anew; ``Unsatisfiable`` if no frame has it."""
        if part.hopeless():
            raise Unsatisfiable(f"{type(part).__name__}: every frame with it is refused")
        return part.sampled(self, fields)

    def promised(self, part: Part, fields: Mapping[str, Part]) -> Draw:
        """Compile a part that may be refused always: whoever chose the numbers before it has seen to that."""
        try:
            return self.part(part, fields)
        except Unsatisfiable:
            return _refused

    def attempted(self, part: Part) -> Draw | None:
        """Compile a part that looks at no field around it; ``None`` if no frame has it."""
        try:
            return self.part(part, {})
        except Unsatisfiable:
            return None

    def record(self, name: str, fields: Mapping[str, Part], first: tuple[str, int] | None = None) -> Draw:
        """Compile a record: the ``name`` of a message or "", and its fields.

        ``first`` is a bit of the first field, and what it has to be.
        """
        draws: list[tuple[str, Draw]] = []
        looked_at = {ref.field for part in fields.values() for ref in references(part)}
        depends = False
        for field, part in fields.items():
            leads = Leads(fields, field, first[0] if first else None)
            wanted, first = first, None
            if (leads or wanted) and part.guarded.decides:
                draw = self.deciding(leads, _having(part, *wanted) if wanted else lambda number: True)
                if part.guard is not None:
                    draw = _if(compiled(part.guard, fields), draw)
                depends = depends or bool(leads.others)
            else:
                draw = self.part(part, fields)
                if field in looked_at:
                    draw = _noted(field, draw)
                if leads:  # a number in another guise, such as one of several by a Switch: drawn until it leads on
                    draw = _leading(leads, draw)
                    depends = True
            draws.append((field, draw))
        bars = tuple(part.swallows_behind if part.swallows() else _nothing for part in fields.values())
        settled = [leads for field in fields if (leads := Leads(fields, field)).is_settled()]
        if settled:
            return _patient(_settled(name, draws, bars, settled))
        if any(bar is not _nothing for bar in bars[:-1]):
            return _patient(_barred(name, draws, bars))
        return _patient(_gathered(name, draws)) if depends else _gathered(name, draws)

    def deciding(self, leads: Leads, allowed: Callable[[int], bool]) -> Draw:
        """Compile a field that later ones depend on: first where it shall lead, then a number that leads there."""
        part, name = leads.part, leads.field
        fresh = None if part.has_few else self.part(part, {})
        # One in four is any number that leads to the same: where it leads was decided first, so numbers that nobody
        # thought of do not change how often each case comes up.
        stray = self.choices.pick((False, False, False, True))

        def nowhere(source: Source) -> Pair:
            raise Unsatisfiable(f"{name}: no number leads anywhere")

        mask = 0 if part.has_few else leads.mask(leads.refs)
        others = leads.others
        known: dict[tuple[int | None, ...], tuple[Callable[[Source], Pair], frozenset[Lead]]] = {}
        # What is known is of the same few hundred numbers again and again: with pairs of its own each takes megabytes.
        paired = cache(part.paired)

        def prepare(numbers: Numbers) -> tuple[Callable[[Source], Pair], frozenset[Lead]]:
            groups = [[number for number in group if allowed(number)] for group in leads.groups(numbers)]
            groups = [group for group in groups if group]
            if not groups:
                return nowhere, frozenset()
            there = frozenset(leads.of({**numbers, name: group[0]}) for group in groups)
            return self.choices.lead([[paired(number) for number in group] for group in groups]), there

        def draw(source: Source, numbers: Numbers) -> Pair:
            key = tuple([numbers.get(other) for other in others])
            found = known.get(key)
            if found is None:
                # All at once: which of them come again is not known, and nothing is lost but time.
                if len(known) > MAX_KNOWN:
                    known.clear()
                found = known[key] = prepare(numbers)
            pick, there = found
            pair = pick(source)
            if mask and fresh is not None:  # of a word of named bits, what is looked at; the rest may be anything
                number = number_of(pair[0]) & mask | number_of(fresh(source, numbers)[0]) & ~mask
                pair = part.paired(number)
            if fresh is not None and stray(source):
                other = fresh(source, numbers)
                if allowed(number_of(other[0])) and leads.of({**numbers, name: number_of(other[0])}) in there:
                    pair = other
            numbers[name] = number_of(pair[0])
            return pair

        # Where it leads depends on earlier fields, which are known frame by frame only.
        if others:
            return draw
        if prepare({})[0] is nowhere:
            # Whatever is drawn: whoever has this part inside can do without it, or has nothing either.
            nowhere(None)
        if fresh is not None:
            return draw
        pick, _ = prepare({})

        def fixed(source: Source, numbers: Numbers) -> Pair:
            pair = pick(source)
            numbers[name] = pair[0].byte
            return pair

        return fixed


def _having(part: Part, name: str, wanted: int) -> Callable[[int], bool]:
    """Tell of a number whether a bit of it is as it has to be."""
    group = part.group(name)
    assert group is not None
    mask, value = group.mask, wanted << group.shift
    return lambda number: number & mask == value


def _nothing(value: Any) -> int:
    return 0


def _refused(source: Source, numbers: Numbers) -> Pair:
    raise Unsatisfiable("a reserved place was reached")


def _noted(name: str, draw: Draw) -> Draw:
    """Keep the number of a field for the fields that look at it."""

    def noted(source: Source, numbers: Numbers) -> Pair:
        pair = draw(source, numbers)
        if pair is not ABSENT:
            numbers[name] = number_of(pair[0])
        return pair

    return noted


def _leading(leads: Leads, draw: Draw) -> Draw:
    """Draw until the number leads somewhere."""

    def leading(source: Source, numbers: Numbers) -> Pair:
        for _ in range(PATIENCE):
            pair = draw(source, numbers)
            if pair is ABSENT or leads.is_open(numbers):
                return pair
        raise Unsatisfiable(f"{leads.field}: no number leads anywhere")

    return leading


def _if(when: Callable[[Numbers], int], draw: Draw) -> Draw:
    return lambda source, numbers: draw(source, numbers) if when(numbers) else ABSENT


def _gathered(name: str, draws: Sequence[tuple[str, Draw]]) -> Draw:
    """Draw the fields in a row."""
    fields = tuple(draws)

    def draw(source: Source, outer: Numbers) -> Pair:
        numbers: Numbers = {}
        value: dict[str, Any] = {"type": name} if name else {}
        out = b""
        for field, part in fields:
            value[field], piece = part(source, numbers)
            out += piece
        return value, out

    return draw


Bar = Callable[[Any], int]
"""The bytes, as bits of a number, that what was drawn would take for its own if they stood right behind it."""


def _barred(name: str, draws: Sequence[tuple[str, Draw]], bars: Sequence[Bar]) -> Draw:
    """Draw the fields in a row, none beginning with a byte that an earlier one would swallow."""
    fields = tuple(zip(draws, bars, strict=True))

    def draw(source: Source, outer: Numbers) -> Pair:
        numbers: Numbers = {}
        value: dict[str, Any] = {"type": name} if name else {}
        out, barred = b"", 0
        for (field, part), bar in fields:
            value[field], piece = _let_through(f"{name}.{field}", part, source, numbers, barred)
            out += piece
            # What has no bytes hides nothing: the field before it still stands right before the next one.
            barred = (0 if piece else barred) | bar(value[field])
        return value, out

    return draw


def _settled(name: str, draws: Sequence[tuple[str, Draw]], bars: Sequence[Bar], settled: Sequence[Leads]) -> Draw:
    """Draw the fields in a row, and spell those anew whose numbers follow from what came behind them."""
    fields = tuple(zip(draws, bars, strict=True))
    at = [(leads, [field for field, _ in draws].index(leads.field)) for leads in settled]

    def draw(source: Source, outer: Numbers) -> Pair:
        numbers: Numbers = {}
        value: dict[str, Any] = {"type": name} if name else {}
        pieces, barred = list[bytes](), 0
        for (field, part), bar in fields:
            value[field], piece = _let_through(f"{name}.{field}", part, source, numbers, barred)
            pieces.append(piece)
            barred = (0 if piece else barred) | bar(value[field])
        for leads, index in at:
            if value[leads.field] is None or numbers[leads.field] == (old := number_of(value[leads.field])):
                continue
            # The number that is spelled anew may say more than the length: then what stands behind it is of another
            # case.
            if leads.of(numbers) != leads.of({**numbers, leads.field: old}):
                raise Unsatisfiable(f"{name}.{leads.field}: another field has been drawn by its number already")
            value[leads.field], pieces[index] = leads.part.paired(numbers[leads.field])
        return value, b"".join(pieces)

    return draw


def _let_through(what: str, draw: Draw, source: Source, numbers: Numbers, barred: int) -> Pair:
    """Draw a field that does not begin with a byte that what stands before it would take for its own."""
    # Where nothing is barred the first draw is taken, whatever it is.
    for _ in range(PATIENCE if barred else 1):
        pair = draw(source, numbers)
        if not pair[1] or not barred >> pair[1][0] & 1:
            return pair
    raise Unsatisfiable(f"{what}: what stands before it leaves nothing over")


def _patient(draw: Draw) -> Draw:
    """Draw again if the choices that were made do not go together."""

    def again(source: Source, numbers: Numbers) -> Pair:
        for _ in range(PATIENCE):
            try:
                return draw(source, numbers)
            except Unsatisfiable as error:
                reason = error
        raise reason

    return again
