"""Valid frames and their values from any layout, at random, fast, and the same for the same seed everywhere.

::

    tree ──► Drawing ──► draw(source, scope) -> (value, its bytes)
                ▲
             Choices     Dice here: source is a generator's ``getrandbits``
                         Drawn in vectors/strategies.py: source is Hypothesis' ``draw``

``Drawing`` compiles a tree once into closures and knows what must hold together: the key of a ``Switch`` and the case
behind it, the count and what it counts, Z and the end of a chain, what a list would swallow. ``Choices`` knows how to
choose. Every part gives its value together with its bytes, so that neither needs an engine. Texts of JSON are drawn
in ``json_drawing``, those of other languages in ``language_drawing``; of these most are made as the language itself
says.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count as counting
from random import Random
from typing import Any

from vectors.choices import ABSENT, PATIENCE, Choices, Dice, Draw, Leaf, Pair, Source
from vectors.json_drawing import json_drawing
from vectors.language_drawing import language_drawing
from vectors.mutation import Mutator
from vectors.spelling import (
    NoGenerator,
    Outcome,
    Outcomes,
    Scope,
    Unsatisfiable,
    evaluator,
    first,
    hopeless,
    number_of,
    references,
    spell,
    spelled,
    swallows,
)
from wire.catalogue import samples
from wire.engines import engine
from wire.layout import (
    Chain,
    Counted,
    Flags,
    Integer,
    Items,
    Json,
    Language,
    Layout,
    Limited,
    Nothing,
    Optional,
    Part,
    Record,
    Remainder,
    Sized,
    Switch,
    Union,
    Varint,
    walk,
)
from wire.primitives import Flags as Bits


def drawing(layout: Layout, choices: Choices) -> Callable[[Source], Pair]:
    """Compile a layout: a function from a source of choices to a value and its bytes.

    Raises ``NoGenerator`` for a layout with parts that are not known here, ``Unsatisfiable`` for one that has no
    valid frame; so does the function if it found none.
    """
    frame = layout.frame
    match frame:
        case Json():
            draw = json_drawing(frame, choices)
        case Language():
            draw = language_drawing(layout, choices)
        case _:
            draw = _Drawing(choices).part(frame)
    return lambda source: draw(source, {})


@cache
def _flags(flags: Flags) -> tuple[Pair, ...]:
    """Return the values of all bytes; they are shared, and cannot be changed."""
    return tuple((Bits(flags.value(byte), byte), bytes((byte,))) for byte in range(256))


class _Drawing:
    """One compilation: equal parts become the same closure."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.known: dict[Part, Draw] = {}

    def part(self, part: Part, fields: dict[str, Part] | None = None) -> Draw:
        """Compile a part that stands in a record of these ``fields``."""
        if isinstance(part, Optional | Switch | Sized):  # they mean what the record makes of them
            return self.conditional(part, fields or {})
        if part not in self.known:
            self.known[part] = self.make(part)
        return self.known[part]

    def make(self, part: Part) -> Draw:
        if hopeless(part):
            raise Unsatisfiable(f"{type(part).__name__}: every frame with it is refused")
        match part:
            case Integer(size=size):
                return _leaf(self.choices.number(8 * size, lambda number: number.to_bytes(size, "little")))
            case Varint(bits=bits):
                return _leaf(self.choices.number(bits, spell))
            case Flags():
                return _leaf(self.choices.pick([_flags(part)[byte] for byte in part.begins]))
            case Counted(bits=bits, text=text):
                return self.counted((1 << bits) - 1, text)
            case Remainder(text=text):
                return _leaf(self.choices.content(1 << 16, text))
            case Nothing():
                return lambda source, scope: ABSENT
            case Record():
                return self.record(part)
            case Union():
                messages = [message for message in part.messages if not hopeless(message)]
                pick = self.choices.pick([self.part(message) for message in messages for _ in range(_share(message))])
                return lambda source, scope: pick(source)(source, scope)
            case Items():
                return self.items(part)
            case Chain():
                return self.chain(part)
        raise NoGenerator(f"{type(part).__name__} is not among the parts of which frames can be made")

    def counted(self, most: int, text: bool) -> Draw:
        content, count = self.choices.content(most, text), self.choices.count()

        def draw(source: Source, scope: Scope) -> Pair:
            value, data = content(source)
            return value, count(source, len(data)) + data

        return draw

    def conditional(self, part: Optional | Switch | Sized, fields: dict[str, Part]) -> Draw:
        match part:
            case Optional():
                when, node = evaluator(part.when, fields), self.promised(part.node, fields)
                return lambda source, scope: node(source, scope) if when(scope) else ABSENT
            case Sized():
                count, octets = evaluator(part.count, fields), self.choices.octets()

                def sized(source: Source, scope: Scope) -> Pair:
                    data = octets(source, count(scope))
                    return data, data

                return sized
            case Switch():
                key, default = evaluator(part.key, fields), self.promised(part.default, fields)
                cases = {number: self.promised(case, fields) for number, case in part.cases}
                return lambda source, scope: cases.get(key(scope), default)(source, scope)

    def promised(self, part: Part, fields: dict[str, Part]) -> Draw:
        """Compile a part that may be refused always: whoever chose the numbers before it has seen to that."""
        return _refused if hopeless(part) else self.part(part, fields)

    def record(self, record: Record, header: Callable[[int], bool] | None = None) -> Draw:
        """Compile a record; ``header`` tells which bytes its first field may be."""
        fields = {field.name: field.node for field in record.fields}
        draws: list[tuple[str, Draw]] = []
        looked_at = {ref.field for field in record.fields for ref in references(field.node)}
        depends = False
        for field in record.fields:
            outcomes = Outcomes(record, field.name)
            allowed, header = header, None
            if outcomes or allowed:
                draw = self.deciding(outcomes, allowed or (lambda byte: True))
                if isinstance(field.node, Optional):
                    draw = _if(evaluator(field.node.when, fields), draw)
                depends = depends or bool(outcomes.others)
            else:
                draw = self.part(field.node, fields)
                if field.name in looked_at:
                    draw = _noted(field.name, draw)
            draws.append((field.name, draw))
        bars = tuple(swallows(field.node) for field in record.fields)
        if any(bars[:-1]):
            return _patient(_barred(record, draws, bars))
        return _patient(_gathered(record, draws)) if depends else _gathered(record, draws)

    def deciding(self, outcomes: Outcomes, allowed: Callable[[int], bool]) -> Draw:
        """Compile a field that later ones depend on: first where it shall lead, then a number that leads there."""
        part, name = outcomes.part, outcomes.field
        fresh = self.part(part) if not isinstance(part, Flags) else None
        stray = self.choices.pick((False, False, False, True))

        def nowhere(source: Source) -> Pair:
            raise Unsatisfiable(f"{name}: no number leads anywhere")

        others = outcomes.others
        known: dict[tuple[int | None, ...], tuple[Callable[[Source], Pair], frozenset[Outcome]]] = {}

        def prepare(scope: Scope) -> tuple[Callable[[Source], Pair], frozenset[Outcome]]:
            groups = [[number for number in group if allowed(number)] for group in outcomes.groups(scope)]
            groups = [group for group in groups if group]
            if not groups:
                return nowhere, frozenset()
            leads = frozenset(outcomes.of({**scope, name: group[0]}) for group in groups)
            return self.choices.lead([[_pair(part, number) for number in group] for group in groups]), leads

        def draw(source: Source, scope: Scope) -> Pair:
            key = tuple([scope.get(other) for other in others])
            found = known.get(key)
            if found is None:
                if len(known) > 4096:  # endless numbers, endless answers
                    known.clear()
                found = known[key] = prepare(scope)
            pick, leads = found
            pair = pick(source)
            if fresh is not None and stray(source):
                other = fresh(source, scope)
                if outcomes.of({**scope, name: other[0]}) in leads:
                    pair = other
            scope[name] = number_of(pair[0])
            return pair

        if others or fresh is not None:
            return draw
        pick, _ = prepare({})

        def fixed(source: Source, scope: Scope) -> Pair:
            pair = pick(source)
            scope[name] = pair[0].byte
            return pair

        return fixed

    def chain(self, chain: Chain) -> Draw:
        mask = chain.item.header.bit("Z").mask
        more = self.choices.more(1, 1 if swallows(chain.item) else chain.most)
        inner = self.choices.item(self.record(chain.item, lambda byte: bool(byte & mask)))
        last = self.choices.item(self.record(chain.item, lambda byte: not byte & mask))

        def draw(source: Source, scope: Scope) -> Pair:
            values: list[Any] = []
            out = b""
            while more(source, len(values) + 1):
                value, piece = inner(source, scope)
                values.append(value)
                out += piece
            value, piece = last(source, scope)
            values.append(value)
            return values, out + piece

        return draw

    def items(self, items: Items) -> Draw:
        if hopeless(items.union):
            return lambda source, scope: ([], b"")
        more = self.choices.more(0, items.most)
        item = self.choices.item(self.part(items.union))
        begins = first(items.union)
        # Behind these nothing can follow: they would take it for their own.
        final = frozenset(message.name for message in items.union.messages if swallows(message) & begins)

        def draw(source: Source, scope: Scope) -> Pair:
            values: list[Any] = []
            out = b""
            while more(source, len(values)):
                value, piece = item(source, scope)
                values.append(value)
                out += piece
                if value["type"] in final:
                    break
            return values, out

        return draw


def _share(message: Record) -> int:
    """Return how often a message is chosen: more often if others stand inside it, or those were rare."""
    return sum(isinstance(each, Record) and bool(each.name) for each in walk(message)).bit_length()


def _leaf(leaf: Leaf) -> Draw:
    return lambda source, scope: leaf(source)


def _refused(source: Source, scope: Scope) -> Pair:
    raise Unsatisfiable("a reserved place was reached")


def _pair(part: Flags | Integer | Varint, number: int) -> Pair:
    return _flags(part)[number] if isinstance(part, Flags) else (number, spelled(part, number))


def _noted(name: str, draw: Draw) -> Draw:
    """Keep the number of a field for the fields that look at it."""

    def noted(source: Source, scope: Scope) -> Pair:
        pair = draw(source, scope)
        if pair is not ABSENT:
            scope[name] = number_of(pair[0])
        return pair

    return noted


def _if(when: Callable[[Scope], int], draw: Draw) -> Draw:
    return lambda source, scope: draw(source, scope) if when(scope) else ABSENT


def _gathered(record: Record, draws: Sequence[tuple[str, Draw]]) -> Draw:
    """Draw the fields in a row."""
    fields, name = tuple(draws), record.name

    def draw(source: Source, outer: Scope) -> Pair:
        scope: Scope = {}
        value: dict[str, Any] = {"type": name} if name else {}
        out = b""
        for field, part in fields:
            value[field], piece = part(source, scope)
            out += piece
        return value, out

    return draw


def _barred(record: Record, draws: Sequence[tuple[str, Draw]], bars: Sequence[int]) -> Draw:
    """Draw the fields in a row, none beginning with a byte that an earlier one would swallow."""
    fields, name = tuple(zip(draws, bars, strict=True)), record.name

    def draw(source: Source, outer: Scope) -> Pair:
        scope: Scope = {}
        value: dict[str, Any] = {"type": name} if name else {}
        out, barred = b"", 0
        for (field, part), bar in fields:
            for _ in range(PATIENCE):
                pair = part(source, scope)
                if not pair[1] or not barred >> pair[1][0] & 1:
                    break
            else:
                raise Unsatisfiable(f"{name}.{field}: what stands before it leaves nothing over")
            value[field], piece = pair
            out += piece
            barred = (0 if piece else barred) | (0 if pair is ABSENT else bar)
        return value, out

    return draw


def _patient(draw: Draw) -> Draw:
    """Draw again if the choices that were made do not go together."""

    def again(source: Source, scope: Scope) -> Pair:
        for _ in range(PATIENCE):
            try:
                return draw(source, scope)
            except Unsatisfiable as error:
                reason = error
        raise reason

    return again


@cache
def _diced(layout: Layout, overlong: bool, terse: bool) -> Callable[[Source], Pair]:
    return drawing(layout, Dice(overlong=overlong, terse=terse))


def _own(layout: Layout, rng: Random) -> Callable[[], Pair]:
    """Return what makes a value and its frame as a language itself says."""
    sample, encode = samples(layout.name).sample, engine("python").codec(layout.name).encode

    def pair() -> Pair:
        value = sample(rng)
        return value, encode(value)

    return pair


class Sampler:
    """Valid frames and values of a layout, at random from ``rng``.

    Values are as the engines decode them: mappings, lists, numbers, bytes and text; flags are shared and immutable.
    Raises ``Unsatisfiable`` for a layout that no frame fits.
    """

    def __init__(self, layout: Layout, rng: Random) -> None:
        self.layout = layout
        self._bits = rng.getrandbits
        self._own = _own(layout, rng) if layout.is_text else None
        self._limit = layout.root.size if isinstance(layout.root, Limited) else None
        self._draws = {overlong: _diced(layout, overlong, terse=False) for overlong in (False, True)}

    def value(self) -> Any:
        """Return a value that every engine encodes."""
        return self.pair()[0]

    def frame(self, *, overlong: bool = False) -> bytes:
        """Return bytes that every engine accepts; with ``overlong`` only one that does not refuse such numbers.

        In JSON, ``overlong`` is any way to spell a value, and no engine refuses it.
        """
        return self.pair(overlong=overlong)[1]

    def pair(self, *, overlong: bool = False) -> Pair:
        """Return a value and a frame of it: the canonical one, or with ``overlong`` one with longer numbers."""
        own = self._own if self._own is not None and self._bits(2) else None
        pair = self._draws[overlong](self._bits) if own is None else own()
        if self._limit is None or len(pair[1]) <= self._limit:
            return pair
        for attempt in range(4 * PATIENCE):
            draw = self._draws[overlong] if attempt < 16 else _diced(self.layout, overlong, terse=True)
            pair = draw(self._bits)
            if len(pair[1]) <= self._limit:
                return pair
        raise Unsatisfiable(f"{self.layout.name}: no frame of at most {self._limit} bytes was found")


def stream(layout: Layout, seed: int) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Give frames of a layout without end, the same for the same seed: half of them valid, half of them mutated.

    With each frame come the names of its mutations, none for a valid one. One valid frame in four has numbers that are
    longer than they need to be, or, in JSON, white space, escapes and exponents. Raises ``Unsatisfiable`` for a layout
    that no frame fits.
    """
    rng = Random(seed)
    sampler, mutator = Sampler(layout, rng), Mutator(layout, rng)
    recent = [sampler.frame() for _ in range(16)]
    for number in counting():
        frame = sampler.frame(overlong=number & 6 == 6)
        yield (frame, ()) if number & 1 else mutator.mutate(frame, recent)
        recent[number & 15] = frame
