"""How property cases search: a fixed budget of examples, the same ones every time."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import wraps
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from conformance.hypothesis_constants import of_hypothesis_alone
from harness.errors import HarnessError

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

_DRAWING = settings(GATE, phases=(Phase.explicit, Phase.generate))
"""How the examples are drawn that are played without making smaller what fails."""

NEAR = 0.01
"""Seconds of a round trip up to which all examples are played; where it takes longer, as many as take no longer."""

FEWEST = 4
"""Examples that are played however far away the node is."""

SHRINKING = 10.0
"""Seconds of the node's time for making smaller what fails: each try may have to wait for what does not come."""

TRIES = 200
"""Examples that are played to make smaller what fails. Hypothesis itself goes on for five minutes of the machine's
time, and where that ends it no two runs end alike.
"""

_shrinks = True


def searched(*, shrinks: bool = True, **strategies: SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """Make a property case: it searches for an example that fails, and makes that smaller if it ``shrinks``."""

    def decorate(function: Callable[..., None]) -> Any:
        allowed = _Allowed(function)
        thorough = GATE(given(**strategies)(allowed.play))
        brief = _PlayedInTurn(function, strategies)

        @wraps(thorough)
        def case(*arguments: object, **named: object) -> None:
            number = examples_for(named.get("node"))
            with of_hypothesis_alone():
                if shrinks and _shrinks:
                    allowed.begin(number, named.get("node"))
                    thorough(*arguments, **named)
                else:
                    brief(number, *arguments, **named)

        return case

    return decorate


def examples_for(node: Any) -> int:
    """Return how many examples are played with a node: all, unless it is so far away that they would take minutes."""
    # As it was measured before the first play, so that the same node is always played the same.
    away = node.instance.timing.round_trip if node is not None else 0.0
    return GATE.max_examples if away <= NEAR else max(FEWEST, int(GATE.max_examples * NEAR / away))


class _Allowed:
    """Plays the first of the examples that Hypothesis draws, and passes over the others."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.left = 0
        # What the implementation did not do that an example rests on: no other example is worth the wait.
        self._unanswered: HarnessError | None = None
        self._failed: dict[str, BaseException] = {}
        self._now: Callable[[], float] = lambda: 0.0
        self._since = 0.0
        self._tries = 0
        self._patience = math.inf

        # With the function's own name and source: what is drawn comes of these.
        @wraps(function)
        def play(*arguments: object, **named: object) -> None:
            if self.left <= 0:
                return
            if self._unanswered is not None:
                raise self._unanswered
            example = repr([value for name, value in named.items() if name != "node"])
            if self._failed and (self._tries >= TRIES or self._now() - self._since > SHRINKING):
                # The smallest that was found stays, and says the same when it is asked for once more.
                if example in self._failed:
                    raise self._failed[example]
                return
            began = self._now()
            self._tries += bool(self._failed)
            try:
                function(*arguments, **named)
            except HarnessError as error:
                # Proof of nothing, and the smallest example would prove no more: each try waits for it in vain again.
                self._unanswered = error
                raise
            except BaseException as error:
                # What fails is played again, and made smaller.
                if not self._failed:
                    self.left, self._since = sys.maxsize, self._now()
                # It shows by what never came: each smaller one would be waited for as long.
                if self._now() - began >= self._patience:
                    self._since = -math.inf
                self._failed[example] = error
                raise
            self.left -= 1

        self.play = play

    def begin(self, number: int, node: Any) -> None:
        """Begin with so many examples, and nothing known of a node."""
        self.left, self._unanswered, self._failed, self._tries = number, None, {}, 0
        if node is not None:
            self._now, self._patience = node.instance.clock.now, node.instance.timing.patience


def _now(named: Mapping[str, Any]) -> float:
    """Return the time of the node's clock; always the same without a node."""
    return float(named["node"].instance.clock.now()) if "node" in named else 0.0


def _patience(named: Mapping[str, Any]) -> float:
    return float(named["node"].instance.timing.patience) if "node" in named else math.inf


class _PlayedInTurn:
    """Plays the examples that Hypothesis would, until one fails, which it plays once more, as Hypothesis does.

    What is drawn depends on the case alone, and drawing takes half of a play in memory: it is done once, for however
    many peers the case is then played against.
    """

    def __init__(self, function: Callable[..., None], strategies: dict[str, SearchStrategy[Any]]) -> None:
        self._function = function
        self._strategies = strategies
        self._examples: list[dict[str, Any]] | None = None

    def __call__(self, number: int, *arguments: object, **named: object) -> None:
        if self._examples is None:
            self._examples = self._drawn(*arguments, **named)
        for example in self._examples[:number]:
            began, patience = _now(named), _patience(named)
            try:
                self._play(example, *arguments, **named)
            except HarnessError:
                raise
            except Exception:
                # What shows by what never came shows again when the case is played again, and not twice in each play.
                if _now(named) - began >= patience:
                    raise
                self._play(example, *arguments, **named)
                raise Flaky("an example that failed does not fail when it is played again") from None

    def _play(self, example: dict[str, Any], *arguments: object, **named: object) -> None:
        # A copy, as whoever plays it may change what it is given.
        self._function(*arguments, **named, **deepcopy(example))

    def _drawn(self, *arguments: object, **named: object) -> list[dict[str, Any]]:
        examples: list[dict[str, Any]] = []

        # With the function's own name and source: what is drawn comes of these.
        @_DRAWING
        @given(**self._strategies)
        @wraps(self._function)
        def note(*_: object, **given: Any) -> None:
            examples.append({name: given[name] for name in self._strategies})

        note(*arguments, **named)
        return examples


@contextmanager
def without_shrinking() -> Iterator[None]:
    """Make no failure smaller meanwhile: for those who want the verdict alone."""
    global _shrinks  # of this process: cases are functions without any other surroundings
    before, _shrinks = _shrinks, False
    try:
        yield
    finally:
        _shrinks = before
