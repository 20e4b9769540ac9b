"""Hypothesis strategies from any layout: values, valid frames and mutated ones, which shrink to the simplest.

The same ``Drawing`` as that of the sampler, with choices that Hypothesis makes: the first of some options, nothing
more in a list, zero, no bytes. Every item of a list is drawn on its own, so that shrinking can leave any of them out.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from hypothesis import assume
from hypothesis import strategies as st

from vectors.json.spelling import ALPHABET
from vectors.mutation import mutations
from vectors.sampling import drawing
from wire.kinds import Limited
from wire.kinds.generators import Draw, Leaf, Numbers, Pair, Source, Unsatisfiable
from wire.layout import Layout
from wire.varints import LONGEST, spell, stretch

T = TypeVar("T")

MOST_CONTENT = 300
"""Bytes of the longest content that is drawn: enough for counts of two bytes."""

MOST_ITEMS = 20
"""Items of the longest list that is drawn."""


LETTERS = st.characters(exclude_categories=["Cs"])
"""All that UTF-8 can write, which is what Hypothesis takes as well when it is told nothing. But then it tries every
character out, which takes 200 MB and a second in each process on a machine where it has not yet kept what comes of it.
"""

LEAD = 256
"""Choices of a byte of flags that later fields depend on."""


@cache
def _below(number: int) -> st.SearchStrategy[int]:
    return st.integers(0, number - 1)


class HypothesisChoices:
    """Choices by a source that is Hypothesis' ``draw``."""

    def __init__(self, *, overlong: bool = False) -> None:
        self.overlong = overlong

    def pick(self, options: Sequence[T]) -> Callable[[Source], T]:
        if len(options) == 1:
            return lambda draw: options[0]
        index = _below(len(options))
        return lambda draw: options[draw(index)]

    def lead(self, groups: Sequence[Sequence[T]]) -> Callable[[Source], T]:
        """Make one choice in all, from the same range for every byte of flags, so that it keeps its meaning.

        The fewer choices, the better it shrinks; and where it replaces one message by another, the choices behind
        are kept as they are: half of the range is for Z in all of them.
        """
        largest = max(map(len, groups))
        options = [option for group in groups for option in group for _ in range(largest // len(group))]
        if len(options) > LEAD:
            return self.pick(options)
        index, size = _below(LEAD), len(options)
        return lambda draw: options[draw(index) * size // LEAD]

    def more(self, least: int, most: int) -> Callable[[Source, int], bool]:
        yes, most = st.booleans(), min(most, max(least, MOST_ITEMS))
        return lambda draw, so_far: so_far < least or (so_far < most and draw(yes))

    def number(self, bits: int, spelling: Callable[[int], bytes]) -> Leaf:
        numbers = _below(1 << bits)
        if spelling is not spell:
            return lambda draw: (number := draw(numbers), spelling(number))
        count = self.count()
        return lambda draw: (number := draw(numbers), count(draw, number))

    def count(self) -> Callable[[Source, int], bytes]:
        if not self.overlong:
            return lambda draw, number: spell(number)
        longer = _below(LONGEST)

        def count(draw: Source, number: int) -> bytes:
            data = spell(number)
            return stretch(number, min(len(data) + draw(longer), LONGEST))

        return count

    def content(self, most: int, text: bool) -> Leaf:
        if not text:
            octets = st.binary(max_size=min(most, MOST_CONTENT))
            return lambda draw: (data := draw(octets), data)
        texts = st.text(LETTERS, max_size=min(most // 4, MOST_CONTENT))  # a letter has at most four bytes
        return lambda draw: (value := draw(texts), value.encode())

    def octets(self) -> Callable[[Source, int], bytes]:
        return lambda draw, size: draw(st.binary(min_size=size, max_size=size))

    def integer(self, least: int, most: int) -> Callable[[Source], int]:
        integers = st.integers(least, most)
        return lambda draw: draw(integers)

    def real(self, least: int | None) -> Callable[[Source], float]:
        reals = st.floats(min_value=least, allow_nan=False, allow_infinity=False)
        return lambda draw: draw(reals)

    def letters(self) -> Callable[[Source], str]:
        letter = st.characters(exclude_categories=["Cs"], min_codepoint=1) | st.sampled_from(ALPHABET)
        texts = st.text(letter, max_size=MOST_CONTENT)
        return lambda draw: draw(texts)

    def item(self, draw: Draw) -> Draw:
        return lambda source, numbers: source(_item(draw, numbers))


@st.composite
def _item(draw: st.DrawFn, part: Draw, numbers: Numbers) -> Pair:
    return part(draw, numbers)


@lru_cache(maxsize=32)  # the layouts of one process; random grammars, as tests make them, are without end
def _pairs(layout: Layout, overlong: bool) -> st.SearchStrategy[Pair]:
    """Return the strategy of a layout's values with their frames."""
    make = drawing(layout, HypothesisChoices(overlong=overlong))
    limit = layout.root.size if isinstance(layout.root, Limited) else None

    @st.composite
    def pairs(draw: st.DrawFn) -> Pair:
        try:
            pair = make(draw)
        except Unsatisfiable:
            assume(False)
        # Thrown away and not cut: what is cut is no valid frame.
        assume(limit is None or len(pair[1]) <= limit)
        return pair

    return pairs()


def values(layout: Layout) -> st.SearchStrategy[Any]:
    """Return the strategy of values that every engine encodes; ``Unsatisfiable`` if the layout has none."""
    return _pairs(layout, overlong=False).map(lambda pair: pair[0])


def frames(layout: Layout, *, overlong: bool = False) -> st.SearchStrategy[bytes]:
    """Return the strategy of valid frames; with ``overlong`` also of those whose numbers are longer than needed."""
    return _pairs(layout, overlong=overlong).map(lambda pair: pair[1])


def mutated(layout: Layout) -> st.SearchStrategy[bytes]:
    """Return the strategy of frames with one to three mutations, of which each is different from a valid frame."""
    return named_mutated(layout).map(lambda pair: pair[0])


def named_mutated(layout: Layout) -> st.SearchStrategy[tuple[bytes, tuple[str, ...]]]:
    """Return the strategy of mutated frames with the names of their mutations."""
    valid, known = frames(layout), mutations(layout)

    @st.composite
    def mutated_frames(draw: st.DrawFn) -> tuple[bytes, tuple[str, ...]]:
        frame = draw(valid)
        number = 1 + draw(_below(3))
        return known.several(frame, number, lambda options: draw(_below(options)), ())

    return mutated_frames()
