"""Growth: what leaks is told from what settles, however long that takes within reason."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fuzz.net.growth_trial import GrowthTrial
from fuzz.net.moves import NetworkTest
from fuzz.net.node_on_trial import reproduce
from fuzz.net.resources import Resources

KIB = 1 << 10


def seen(memory: Callable[[int], float], times: int = 30) -> tuple[str, int]:
    """Return what is seen of a process that has so many KiB after each time, and how often the test was played."""
    played = 0
    trial = GrowthTrial(lambda: Resources(memory=int(memory(played) * KIB)), times)
    for _ in trial.rounds():
        played += 1
    return trial.symptom.what if trial.symptom is not None else "", played


def test_what_does_not_grow_is_played_no_more_often_than_said() -> None:
    assert seen(lambda played: 40_000) == ("", 30)
    assert seen(lambda played: 40_000 + 20 * played) == ("", 30)
    assert seen(lambda played: 40_000 + 100 * played, times=1) == ("", 1)


def test_what_is_made_once_is_no_growth() -> None:
    assert seen(lambda played: 40_000 + 2_000 * min(played, 10)) == ("", 30)


@pytest.mark.parametrize("times", [10, 30])
def test_what_leaks_grows_for_ever(times: int) -> None:
    what, played = seen(lambda played: 40_000 + 64 * played, times)
    assert what == "each time the test is played, it takes more memory"
    assert played == 3 * times


def test_memory_that_settles_late_is_no_growth() -> None:
    """As a router's did that was sent 32,768 extensions in each test, and kept nothing of them."""
    assert seen(lambda played: 45_000 + 9_000 * (1 - 0.95**played)) == ("", 90)


def test_what_is_taken_for_a_moment_is_no_growth() -> None:
    """A regression: routers that read into buffers of 64 KiB were accused, whichever test was played meanwhile."""
    for busy in range(1, 7):
        for phase in range(7):
            what, _ = seen(lambda played, busy=busy, phase=phase: 40_000 + 30_000 * ((played + phase) % 7 < busy))  # type: ignore[misc]
            assert what == "", (busy, phase)


def test_who_takes_all_there_is_is_not_played_with_for_long() -> None:
    what, played = seen(lambda played: 40_000 + 64_000 * played)
    assert "a gigabyte more" in what
    assert played < 20


def test_descriptors_count_as_well() -> None:
    taken = iter(range(100))
    trial = GrowthTrial(lambda: Resources(descriptors=30 * next(taken)), 30)
    assert len(list(trial.rounds())) == 90
    assert trial.symptom is not None
    assert "descriptors" in trial.symptom.what


@pytest.mark.parametrize(("a_test", "plays", "grows"), [(64, 90, True), (0, 11, False)])
def test_who_seems_to_grow_is_played_to_the_end_whatever_time_it_takes(
    a_test: int, plays: int, grows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: of who took long for a test nobody was accused, as the time was over each time."""
    played = 0

    def play(test: NetworkTest) -> tuple[None, None]:
        nonlocal played
        played += 1
        # The time is over as soon as it has been played more often than a third of what is said.
        now[0] = float(played > (30 if a_test else 10))
        return None, None

    now = [0.0]
    node: Any = SimpleNamespace(play=play, takes=lambda: Resources(memory=(40_000 + a_test * played) * KIB))
    monkeypatch.setattr("fuzz.net.node_on_trial.time", SimpleNamespace(monotonic=lambda: now[0]))
    shown = reproduce(node, (), times=30, fresh=False, deadline=0.5)
    assert (played, shown is not None) == (plays, grows)
