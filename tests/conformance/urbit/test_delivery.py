"""Both peers over a path that loses, doubles and overtakes datagrams, and moves the subscriber's address."""

from collections import Counter

import pytest
from msgspec.structs import replace

from conformance.findings import judge_conversations
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.links.network_path import NetworkPath
from harness.peers.pair import PeerPair
from harness.trace import Direction, Trace
from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.subscriber import Subscriber

BAD = NetworkPath(round_trip=0.1, jitter=0.5, loose=True, loss=0.2, doubling=0.2, seed=20240)

AT_ONCE = 50
"""Paths that are wanted before the first of them has a value, and from then on all the time."""

OTHER = {Direction.SENT: Direction.RECEIVED, Direction.RECEIVED: Direction.SENT}


@pytest.mark.parametrize(
    ("paths", "moving"),
    # An address that moves with each thousandth datagram moves every few seconds; with more paths it would do so in the
    # middle of each burst, which no router does.
    [(500, 0.001), pytest.param(10_000, 0.0, marks=(pytest.mark.slow, pytest.mark.sweep))],
)
def test_every_value_comes_once(paths: int, moving: float) -> None:
    """Each value that is wanted comes to the application once, and no monitor finds anything wrong with either peer."""
    publisher, subscriber = Publisher(), Subscriber()
    pair = PeerPair(subscriber, publisher, "urbit", replace(BAD, moving=moving))
    told: list[str] = []
    for number in range(paths + AT_ONCE):
        if number < paths:
            subscriber.want(path(number), pair.clock.now())
        if number >= AT_ONCE:
            publisher.grow(path(number - AT_ONCE), b"value", pair.clock.now())
        pair.settle()
        pair.run(lambda: False, 0.1)
        told += subscriber.take_events()
    assert pair.run(lambda: is_settled(publisher, subscriber), 600.0)
    told += subscriber.take_events()
    assert Counter(told) == {f"got {path(number).decode()} value": 1 for number in range(paths)}
    for trace in (pair.trace, seen_by_the_other(pair.trace)):
        assert accusations(trace) == []


def path(number: int) -> bytes:
    return b"/chat/%d" % number


def is_settled(publisher: Publisher, subscriber: Subscriber) -> bool:
    """Tell whether nothing is wanted any more, and the publisher knows it."""
    return not subscriber.wants and not any(each.interests for each in publisher.sessions.of_id.values())


def seen_by_the_other(trace: Trace) -> Trace:
    """Return the same with the one that dials in the place of the implementation."""
    other = Trace(trace.protocol, trace.transport, trace.clock)
    for entry in trace:
        other.add(replace(entry, direction=OTHER[entry.direction]))
    return other


def accusations(trace: Trace) -> list[tuple[str, str]]:
    suite = Suite("urbit")
    found = suite.harness.conversations(trace).values()
    judged = judge_conversations(found, suite, "document", "")
    return [(each.rule, each.what) for each in judged if each.outcome not in (Outcome.PASS, Outcome.ODD)]
