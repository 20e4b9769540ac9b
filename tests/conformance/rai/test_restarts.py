"""Brokers, publishers, subscribers and router-caches that are killed in the middle of a stream, and come back."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest
from brokers import broker
from restarts import Restarts

from harness.rai.framings import FRAMINGS

Note = Callable[[str, str], None]


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Note:
    """Write something into the test's record."""
    return lambda name, text: request.node.user_properties.append((name, text))


def play(transport: str, victims: list[str], times: int, note: Note, *, routed: bool) -> None:
    """Kill each in turn; how often, and how long until all was well (median, longest), is noted."""
    with ExitStack() as stack:
        brokers = [stack.enter_context(broker(transport, FRAMINGS)) for _ in range(1 + routed)]
        restarts = Restarts(brokers, f"{transport} {victims} {times}")
        stack.callback(restarts.close)
        for number in range(times):
            restarts.disturb(victims[number % len(victims)])
        for name, each in restarts.figures.items():
            seconds = sorted(each) or [0.0]
            note(name, f"{len(each)} times, {seconds[len(seconds) // 2]:.2f} s, {seconds[-1]:.2f} s at most")


DIRECT = ["publisher", "broker", "subscriber"]
ROUTED = ["router-cache", "source's broker", "broker", "publisher", "subscriber"]


@pytest.mark.slow  # each process that is started again loads Python
@pytest.mark.parametrize("transport", ["nats", "redis"])
def test_a_few_are_killed(transport: str, note: Note) -> None:
    play(transport, DIRECT, 6, note, routed=False)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["nats", "redis"])
def test_a_few_are_killed_beside_a_router_cache(transport: str, note: Note) -> None:
    play(transport, ROUTED, 5, note, routed=True)


@pytest.mark.slow  # what does not come is waited for
@pytest.mark.parametrize(
    ("role", "fault", "victim", "found"),
    [
        ("router-cache", "router-keeps-leaving-to-itself", "publisher", "not marked"),
        ("router-cache", "router-starts-nothing-after-outages", "source's broker", "the newest does not come"),
        pytest.param(
            *("router-cache", "router-passes-three-updates", "publisher", "does not come|is lost"),
            marks=pytest.mark.sweep,
        ),
        pytest.param(
            *("router-cache", "router-listens-to-nothing-again", "source's broker", "is lost"), marks=pytest.mark.sweep
        ),
    ],
)
def test_who_does_it_wrong_is_found(role: str, fault: str, victim: str, found: str) -> None:
    with ExitStack() as stack:
        brokers = [stack.enter_context(broker("nats", FRAMINGS)) for _ in range(2)]
        restarts = Restarts(brokers, fault, faults={role: fault}, bound=8.0)
        stack.callback(restarts.close)
        with pytest.raises(AssertionError, match=found):
            restarts.disturb(victim, is_long=True)


@pytest.mark.slow  # a second or two for each
@pytest.mark.sweep
@pytest.mark.parametrize("transport", ["nats", "redis"])
@pytest.mark.parametrize("victim", DIRECT)
def test_each_is_killed_a_hundred_times(transport: str, victim: str, note: Note) -> None:
    play(transport, [victim], 100, note, routed=False)


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("transport", ["nats", "redis"])
@pytest.mark.parametrize("victim", ROUTED)
def test_each_is_killed_a_hundred_times_beside_a_router_cache(transport: str, victim: str, note: Note) -> None:
    play(transport, [victim], 100, note, routed=True)
