"""Brokers, publishers, subscribers and router-caches that are killed in the middle of a stream, and come back."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest
from brokers import broker
from restarts import Restarts

from harness.rai.framings import FRAMINGS

Note = Callable[[str, object], None]


def play(transport: str, victims: list[str], times: int, note: Note, *, routed: bool) -> None:
    """Kill each in turn; how often, and how long until all was well, goes into the test's record."""
    with ExitStack() as stack:
        brokers = [stack.enter_context(broker(transport, FRAMINGS)) for _ in range(1 + routed)]
        restarts = Restarts(brokers, f"{transport} {victims} {times}")
        stack.callback(restarts.close)
        for number in range(times):
            restarts.disturb(victims[number % len(victims)])
        for name, each in restarts.figures.items():
            note(
                name,
                f"{len(each)} times, {sorted(each)[len(each) // 2] if each else 0:.2f} s, {max(each, default=0):.2f} s",
            )


DIRECT = ["publisher", "broker", "subscriber"]
ROUTED = ["router-cache", "source's broker", "broker", "publisher", "subscriber"]


@pytest.mark.slow  # each process that is started again loads Python
@pytest.mark.parametrize("transport", ["nats", "redis"])
def test_a_few_are_killed(transport: str, record_property: Note) -> None:
    play(transport, DIRECT, 6, record_property, routed=False)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["nats", "redis"])
def test_a_few_are_killed_beside_a_router_cache(transport: str, record_property: Note) -> None:
    play(transport, ROUTED, 5, record_property, routed=True)


@pytest.mark.slow  # a second or two for each
@pytest.mark.sweep
@pytest.mark.parametrize("victim", DIRECT)
def test_each_is_killed_a_hundred_times(victim: str, record_property: Note) -> None:
    play("nats", [victim], 100, record_property, routed=False)


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("victim", ROUTED)
def test_each_is_killed_a_hundred_times_beside_a_router_cache(victim: str, record_property: Note) -> None:
    play("nats", [victim], 100, record_property, routed=True)
