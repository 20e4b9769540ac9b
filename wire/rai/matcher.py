"""Matching subjects against patterns, in a time that is linear in the subject whatever the pattern is.

A pattern becomes an automaton (Thompson, Communications of the ACM 11, 1968), and all states that a subject may have
reached are kept at once: nothing is tried and given up, so no pattern has anything tried twice. What a character makes
of a set of states is remembered while there is room.

The standard library's ``re`` does go back, which takes exponential time for a few characters of a pattern that a
stranger sends. RE2 does not, and would be a package in C++ in place of this page; and its language is not PCRE either.
"""

from wire.rai import pcre
from wire.rai.pcre import Boundary, Characters, Choice, InRow, Pattern, Repeated, UnsupportedPattern

MOST_STATES = 4000
"""States of the largest automaton; the pattern of a wildcard has about as many as characters."""

MOST_SETS = 256
"""Sets of states that are remembered, each with its steps by characters of ASCII."""

START, LINE_END, END = 1, 2, 4
"""What a place of a subject is, as bits."""

PLACES = {"start": START, "line-end": LINE_END, "end": END}

MATCHED = 0
"""The state at the end of every pattern."""


class _State:
    """A state: it goes on to all of ``then``; by one of ``characters``, or at a ``place``, if it has either."""

    __slots__ = ("characters", "place", "then")

    def __init__(self, then: tuple[int, ...], characters: Characters | None = None, place: int = 0) -> None:
        self.then = then
        self.characters = characters
        self.place = place


class _Reached:
    """States that a subject may have reached: those that ``wait`` for a character, or that the pattern has ended."""

    __slots__ = ("after", "matched", "waiting")

    def __init__(self, waiting: tuple[_State, ...], matched: bool) -> None:
        self.waiting = waiting
        self.matched = matched
        self.after: dict[str, frozenset[int]] = {}


class Matcher:
    """A pattern, made ready to be matched.

    ``steps`` counts the states that were looked at so far: what matching costs, on whatever machine.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.steps = 0
        self._known: dict[tuple[frozenset[int], int], _Reached] = {}
        self._states = [_State(())]
        self._copied = 0
        self._begun = frozenset({self._compile(pattern, MATCHED)})
        later = self._reached(self._begun, LINE_END | END)
        self._is_anchored = not (later.waiting or later.matched)

    @classmethod
    def of_pcre(cls, pattern: str) -> "Matcher":
        """Return the matcher of a pattern. Raises ``UnsupportedPattern`` for what is not matched here."""
        return cls(pcre.read(pattern))

    def matches(self, subject: str) -> bool:
        """Tell whether the pattern is found in a subject; anywhere, if it is not anchored."""
        size = len(subject)
        line_end = size - 1 if subject.endswith("\n") else size
        states = self._begun
        for at, character in enumerate(subject):
            place = START * (at == 0) + LINE_END * (at == line_end)
            reached = self._known.get((states, place)) or self._reached(states, place)
            if reached.matched:
                return True
            after = reached.after.get(character)
            states = self._after(reached, character) if after is None else after
            if not states:
                return False
        return self._reached(states, START * (size == 0) + LINE_END + END).matched

    def _reached(self, states: frozenset[int], place: int) -> _Reached:
        """Return what some states come to without a character, at a place."""
        if (known := self._known.get((states, place))) is not None:
            return known
        seen = set(states)
        ahead = list(states)
        waiting = []
        while ahead:
            self.steps += 1
            state = self._states[ahead.pop()]
            if state.characters is not None:
                waiting.append(state)
            elif not state.place or state.place & place:
                following = [each for each in state.then if each not in seen]
                seen.update(following)
                ahead += following
        if len(self._known) == MOST_SETS:
            self._known.clear()
        return self._known.setdefault((states, place), _Reached(tuple(waiting), MATCHED in seen))

    def _after(self, reached: _Reached, character: str) -> frozenset[int]:
        """Return the states behind a character."""
        self.steps += len(reached.waiting)
        found = set() if self._is_anchored else set(self._begun)
        for state in reached.waiting:
            assert state.characters is not None  # it waits
            if state.characters.has(character):
                found.update(state.then)
        states = frozenset(found)
        if character.isascii():
            reached.after[character] = states
        return states

    def _compile(self, part: Pattern, then: int) -> int:
        """Return the state where a part begins that goes on to ``then``."""
        self._copied += 1  # what has no states costs time too, if it is repeated often enough
        if max(self._copied, len(self._states)) > MOST_STATES:
            raise UnsupportedPattern(0, f"more than {MOST_STATES} states")
        match part:
            case Characters():
                return self._add(_State((then,), characters=part))
            case Boundary(place=place):
                return self._add(_State((then,), place=PLACES[place]))
            case InRow(parts=parts):
                for each in reversed(parts):
                    then = self._compile(each, then)
                return then
            case Choice(options=options):
                return self._add(_State(tuple(self._compile(option, then) for option in options)))
            case Repeated(part=inner, least=least, most=most):
                if most is None:
                    loop = _State(())
                    number = self._add(loop)
                    loop.then = (self._compile(inner, number), then)
                    then = number
                else:
                    end = then
                    for _ in range(most - least):
                        then = self._add(_State((self._compile(inner, then), end)))
                for _ in range(least):
                    then = self._compile(inner, then)
                return then

    def _add(self, state: _State) -> int:
        self._states.append(state)
        return len(self._states) - 1
