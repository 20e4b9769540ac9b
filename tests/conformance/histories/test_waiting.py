"""Waits of histories: how long, and what other plays learn by them."""

from collections.abc import Callable

from conformance.histories.mismatch import Mismatch
from conformance.histories.waiting import still_missing
from harness.timing import WINDOW, Timing

PATIENCE = 32.5
THING = "a notification of what has gone"


def waited_for(timing: Timing, thing: str = THING) -> float:
    """Return for how many seconds something that never comes is waited for."""
    until = 0.0

    def wait_until(done: Callable[[], bool], deadline: float) -> bool:
        nonlocal until
        until = deadline
        return done()

    lacking = Mismatch("R-1", "it is not told", thing=thing)
    assert still_missing(lambda: lacking, wait_until, timing, now=0.0, patience=PATIENCE) is lacking
    return until


def test_what_two_plays_have_waited_for_in_full_no_other_waits_for() -> None:
    node = Timing()
    assert [waited_for(node.of_a_play()) for _ in range(4)] == [PATIENCE, PATIENCE, WINDOW, WINDOW]
    assert node.of_a_play().is_in_vain(THING)


def test_what_cases_have_waited_for_in_vain_histories_do_not_wait_for() -> None:
    node = Timing()
    for _ in range(2):
        node.of_a_play().awaited(THING, came=False)
    assert waited_for(node.of_a_play()) == WINDOW


def test_of_what_has_no_name_a_play_waits_twice() -> None:
    play = Timing()
    assert [waited_for(play, "") for _ in range(3)] == [PATIENCE, PATIENCE, WINDOW]
    assert [waited_for(Timing().of_a_play(), "") for _ in range(3)] == [PATIENCE] * 3


def test_what_comes_is_not_waited_for_any_longer() -> None:
    timing = Timing()
    assert still_missing(lambda: None, lambda done, _: done(), timing, now=0.0, patience=PATIENCE) is None


def test_a_play_waits_once_where_that_is_longer_than_for_two_answers() -> None:
    play = Timing().of_a_play()
    assert [waited_for(play) for _ in range(2)] == [PATIENCE, WINDOW]
