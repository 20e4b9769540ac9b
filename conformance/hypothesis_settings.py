"""How property cases search: a fixed budget of examples, the same ones every time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

GATE = settings(
    # Each example is a play over real links. Forty find every seeded fault that a property case is to find, and cost
    # seconds; whoever wants more searches by fuzzing, which has no budget.
    max_examples=40,
    # The gate is to say the same of the same implementation on every machine, and to leave no files behind.
    derandomize=True,
    database=None,
    # Time is the implementation's: one that is slow is not wrong, and a lost answer has a time-out of its own.
    deadline=None,
    # One failure is enough to accuse, and each further one costs as much to make small.
    report_multiple_bugs=False,
    # They warn of slow or rare examples, which is a matter of the implementation again.
    suppress_health_check=list(HealthCheck),
)
"""How the gate searches."""

WITHOUT_SHRINKING = settings(GATE, phases=(Phase.explicit, Phase.generate))
"""How it searches where every failure takes a wait to be seen, or nobody reads it: what fails is not made smaller."""

_shrinks = True


def searched(*, shrinks: bool = True, **strategies: SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """Make a property case: it searches for an example that fails, and makes that smaller if it ``shrinks``."""

    def decorate(function: Callable[..., None]) -> Any:
        # Two, as settings belong to a function once and for all. Both draw the same examples: these come of its source.
        thorough = (GATE if shrinks else WITHOUT_SHRINKING)(given(**strategies)(function))
        brief = WITHOUT_SHRINKING(given(**strategies)(function))

        @wraps(thorough)
        def case(*arguments: object, **named: object) -> None:
            (thorough if _shrinks else brief)(*arguments, **named)

        return case

    return decorate


@contextmanager
def without_shrinking() -> Iterator[None]:
    """Make no failure smaller meanwhile: for those who want the verdict alone."""
    global _shrinks  # of this process: cases are functions without any other surroundings
    before, _shrinks = _shrinks, False
    try:
        yield
    finally:
        _shrinks = before
