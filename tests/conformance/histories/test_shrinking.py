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
