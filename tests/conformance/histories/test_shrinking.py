"""Shrinking: few moves are left, those that it takes, and it ends."""

from conformance.histories.shrinking import shrunk


def test_what_it_takes_is_left() -> None:
    moves = tuple(range(40))
    assert shrunk(moves, lambda tried: tried if {3, 17, 39} <= set(tried) else ()) == (3, 17, 39)


def test_moves_that_were_not_made_are_not_told() -> None:
    """Without 3, which prepares them, 5 and 9 are left out by whoever plays."""

    def fails(tried: tuple[int, ...]) -> tuple[int, ...]:
        made = tuple(each for each in tried if each not in (5, 9) or 3 in tried)
        return made if 39 in made else ()

    assert shrunk(tuple(range(40)), fails) == (39,)


def test_moves_are_made_simpler() -> None:
    def simpler(move: str) -> list[str]:
        return [move[:place] + move[place + 1 :] for place in range(len(move))]

    assert shrunk(("ab", "cde"), lambda tried: tried if "d" in tried[-1] else (), simpler) == ("d",)


def test_tries_are_counted() -> None:
    tried = []

    def fails(moves: tuple[int, ...]) -> tuple[int, ...]:
        tried.append(moves)
        return ()

    assert shrunk(tuple(range(100)), fails, tries=7) == tuple(range(100))
    assert len(tried) == 7


def test_seconds_are_counted() -> None:
    assert shrunk((1, 2, 3), lambda moves: moves, seconds=0) == (1, 2, 3)


def test_a_try_that_is_waited_for_in_vain_is_the_last() -> None:
    """What shows by silence is made no smaller by the handful of tries that there would be time for."""
    tried = []

    def fails(moves: tuple[int, ...]) -> tuple[int, ...]:
        tried.append(moves)
        return moves

    assert shrunk(tuple(range(8)), fails, patience=0) == tried[0]
    assert len(tried) == 1
