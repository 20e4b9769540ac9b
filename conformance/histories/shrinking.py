"""Shrinking: a history that shows a difference becomes a few moves that show it, within bounds.

Not by Hypothesis: each try costs a play with a node, and a wait where something never comes. So tries are counted and
timed, and moves are left out in pieces that grow smaller, with what nobody prepares any more.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

MoveT = TypeVar("MoveT")
Moves = tuple[MoveT, ...]
Fails = Callable[[Moves[MoveT]], Moves[MoveT]]
"""Plays moves; returns those that were made, up to the one that failed, or none if none did."""

TRIES = 120
SECONDS = 10.0
"""What shrinking one history may cost: in memory the tries count, over sockets the seconds."""

LONG = 12
"""Messages of one move that are halved before single ones are left out."""


def with_less(sent: Sequence[MoveT]) -> Iterator[Sequence[MoveT]]:
    """Yield what is sent in one move with less of it: the halves of much, little without one of each."""
    if len(sent) > 3:
        yield sent[: len(sent) // 2]
        yield sent[len(sent) // 2 :]
    for place in range(len(sent)) if 1 < len(sent) <= LONG else ():
        yield (*sent[:place], *sent[place + 1 :])


class _Tries:
    """What may still be tried: a number, until some moment."""

    def __init__(self, fails: Fails[Any], count: int, seconds: float, patience: float) -> None:
        self._fails = fails
        self._count = count
        self._patience = patience
        self._end = time.monotonic() + seconds

    @property
    def are_over(self) -> bool:
        """Whether nothing more is tried."""
        return self._count <= 0 or time.monotonic() > self._end

    def fail(self, moves: Moves[Any]) -> Moves[Any]:
        """Return those of some moves that were made and failed, as long as that may be tried; else none."""
        if self.are_over:
            return ()
        began = time.monotonic()
        shorter = self._fails(moves)
        # It shows by what never came: a handful of tries, for which each is waited as long, would make it no smaller.
        self._count = self._count - 1 if time.monotonic() - began < self._patience else 0
        return shorter


def shrunk(
    moves: Moves[MoveT],
    fails: Fails[MoveT],
    simpler: Callable[[MoveT], Sequence[MoveT]] = lambda move: (),
    *,
    tries: int = TRIES,
    seconds: float = SECONDS,
    patience: float = math.inf,
) -> Moves[MoveT]:
    """Return the fewest moves that were found to fail still; ``simpler`` gives what a move may be replaced by.

    A try that takes as long as ``patience``, in seconds, is the last one.
    """
    left = _Tries(fails, tries, seconds, patience)
    while not left.are_over:
        before = moves
        moves = _simplified(_shortened(moves, left), simpler, left)
        if moves == before:
            break
    return moves


def _shortened(moves: Moves[MoveT], tries: _Tries) -> Moves[MoveT]:
    """Leave out pieces: the largest first, from the end on, where less depends on them."""
    size = len(moves) // 2
    while size:
        # Not the last move: it is the one after which the difference was seen.
        end = len(moves) - 1
        while end > 0:
            start = max(0, end - size)
            shorter = tries.fail(moves[:start] + moves[end:])
            moves = shorter or moves
            end = min(start, len(moves) - 1)
        size //= 2
    return moves


def _simplified(moves: Moves[MoveT], simpler: Callable[[MoveT], Sequence[MoveT]], tries: _Tries) -> Moves[MoveT]:
    """Replace moves by simpler ones."""
    for place in range(len(moves) - 1, -1, -1):
        options = list(simpler(moves[place])) if place < len(moves) else []
        while options:
            changed = (*moves[:place], options.pop(0), *moves[place + 1 :])
            if simple := tries.fail(changed):
                moves = simple
                if place >= len(moves):
                    break
                options = list(simpler(moves[place]))
    return moves
