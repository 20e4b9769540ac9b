"""Valid frames and their values from any layout, at random, fast, and the same for the same seed everywhere.

::

    tree ──► drawing ──► draw(source) -> (value, its bytes)
                ▲
             Choices     RandomChoices here: source is a generator's ``getrandbits``
                         HypothesisChoices in vectors/strategies.py: source is Hypothesis' ``draw``

A tree is compiled once into closures. How each kind of layout is drawn stands in its folder (``vectors/kinds.py``).
Every part gives its value together with its bytes, so that neither needs an engine. Of texts of a language most are
made as the language itself says.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count as counting
from random import Random
from typing import Any

from vectors.kinds import kind_of
from vectors.language.samples import samples
from vectors.mutation import Mutator
from vectors.random_choices import RandomChoices
from wire.engines import engine
from wire.kinds import Limited
from wire.kinds.generators import PATIENCE, Choices, Pair, Source, Unsatisfiable
from wire.layout import Layout


def drawing(layout: Layout, choices: Choices) -> Callable[[Source], Pair]:
    """Compile a layout: a function from a source of choices to a value and its bytes.

    Raises ``NoGenerator`` for a layout with parts that are not known here, ``Unsatisfiable`` for one that has no
    valid frame; so does the function if it found none.
    """
    draw = kind_of(layout).drawing(layout, choices)
    return lambda source: draw(source, {})


@lru_cache(maxsize=32)  # the layouts of one process; random grammars, as tests make them, are without end
def _random_drawing(layout: Layout, overlong: bool, terse: bool) -> Callable[[Source], Pair]:
    return drawing(layout, RandomChoices(overlong=overlong, terse=terse))


def _language_pairs(layout: Layout, rng: Random) -> Callable[[], Pair]:
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
        self._language_pair = _language_pairs(layout, rng) if layout.is_text else None
        self._limit = layout.root.size if isinstance(layout.root, Limited) else None
        self._draws = {overlong: _random_drawing(layout, overlong, terse=False) for overlong in (False, True)}

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
        own = self._language_pair if self._language_pair is not None and self._bits(2) else None
        pair = self._draws[overlong](self._bits) if own is None else own()
        if self._limit is None or len(pair[1]) <= self._limit:
            return pair
        # First as usual, then as short as can be: a layout whose frames are mostly too long still has some.
        for attempt in range(4 * PATIENCE):
            draw = self._draws[overlong] if attempt < 16 else _random_drawing(self.layout, overlong, terse=True)
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
    # A few valid frames to splice with: new ones come in all the time, so that pairs change.
    recent = [sampler.frame() for _ in range(16)]
    for number in counting():
        # By number and not by chance: the proportions hold in every chunk, however short.
        frame = sampler.frame(overlong=number & 6 == 6)
        yield (frame, ()) if number & 1 else mutator.mutate(frame, recent)
        recent[number & 15] = frame
