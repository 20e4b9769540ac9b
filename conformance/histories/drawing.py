"""Drawing: histories out of choices, which a seed makes for the gate, and Hypothesis where it is to shrink."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

from hypothesis import strategies as st

from conformance.cases import SEEDS

T = TypeVar("T")
MoveT_co = TypeVar("MoveT_co", covariant=True)
MoveT = TypeVar("MoveT")


class Chooser(Protocol):
    """Who makes choices: a seed, or Hypothesis."""

    def choice(self, options: Sequence[T], /) -> T:
        """Return one of some options."""
        ...

    def randint(self, least: int, most: int, /) -> int:
        """Return a number from ``least`` to ``most``, both included."""
        ...

    def dealt(self, options: Sequence[T], /) -> list[T]:
        """Return some options in an order of its own: the histories of a run together come to the first of all."""
        ...


class MoveGenerator(Protocol[MoveT_co]):
    """What generates one history, move by move, each by what the model knows after those before it."""

    def opening(self) -> Sequence[MoveT_co]:
        """Return the moves that a history begins with."""
        ...

    def move(self) -> MoveT_co | None:
        """Return the next move; ``None`` when what was chosen cannot be done now."""
        ...

    def closing(self) -> Sequence[MoveT_co]:
        """Return the moves that a history ends with."""
        ...


class Seeded:
    """The choices of the history of a seed."""

    def __init__(self, theme: str, number: int) -> None:
        self._random = Random(f"{theme} {number}")
        self._number = number

    def choice(self, options: Sequence[T]) -> T:
        """Return one of some options."""
        return self._random.choice(options)

    def randint(self, least: int, most: int) -> int:
        """Return a number from ``least`` to ``most``, both included."""
        return self._random.randint(least, most)

    def dealt(self, options: Sequence[T]) -> list[T]:
        """Return some options, those of this seed first: a fifth of them, if five seeds are played, and so on.

        Drawn with no regard to the other seeds, one in eight of forty would come in no history of a run.
        """
        mine: list[T] = []
        others: list[T] = []
        for place, option in enumerate(options):
            (others if (place - self._number) % SEEDS else mine).append(option)
        self._random.shuffle(mine)
        self._random.shuffle(others)
        return mine + others


GeneratorFactory = Callable[[Chooser, str], MoveGenerator[MoveT]]
"""Makes a generator that asks a chooser, for one of a protocol's themes."""


def generate(new_generator: GeneratorFactory[MoveT], theme: str, number: int, length: int) -> tuple[MoveT, ...]:
    """Return the history of a seed: the same moves on every machine, with every version of Hypothesis.

    Not drawn by Hypothesis, which takes a hundred times as long, and begins with the simplest of everything.
    """
    generator = new_generator(Seeded(theme, number), theme)
    moves = list(generator.opening())
    while len(moves) < length:
        move = generator.move()
        if move is not None:
            moves.append(move)
    return (*moves, *generator.closing())


class Drawn:
    """Choices that Hypothesis makes, and makes smaller when something fails: the first option, the least number."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def choice(self, options: Sequence[T]) -> T:
        """Return one of some options."""
        return options[self.randint(0, len(options) - 1)]

    def randint(self, least: int, most: int) -> int:
        """Return a number from ``least`` to ``most``, both included."""
        return self._draw(st.integers(least, most))

    def dealt(self, options: Sequence[T]) -> list[T]:
        """Return some options in any order."""
        return self._draw(st.permutations(options))


@st.composite
def histories(draw: st.DrawFn, new_generator: GeneratorFactory[MoveT], theme: str, longest: int) -> tuple[MoveT, ...]:
    """Draw a history of so many moves at most."""
    generator = new_generator(Drawn(draw), theme)
    moves = list(generator.opening())
    drawn = (generator.move() for _ in range(draw(st.integers(1, longest))))
    return (*moves, *[move for move in drawn if move is not None], *generator.closing())
