"""Sessions with a subscriber under test: how cases open one, follow its heartbeats, prove that it was left alone."""

from collections.abc import Callable, Iterable
from itertools import pairwise

from harness.trace import Direction
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import TestPublisher, number_of
from harness.urbit.tester.subscriber import BEAT, unknown_session
from wire.urbit.values import HeartbeatResponse, Packet, Promise

TOLERANCE = 0.1
"""The part of 25 seconds by which heartbeats may be apart more or less (reading A23)."""

Spoil = Callable[[Packet], Iterable[bytes]]
"""Makes of a packet that would change something others that must not."""


def in_session(node: NodeUnderTest, *names: str) -> TestPublisher:
    """Have the subscriber want paths, promise them, and return its publisher once a heartbeat has come.

    That one is not answered: so it can be nacked.
    """
    for name in names:
        node.want(name)
    publisher = node.publisher
    publisher.answers = False
    for name in names:
        publisher.surely(publisher.requested(name), "request")
        if node.instance.loses:
            # It asks again for what it was not promised, and that may have happened.
            publisher.say(publisher.promise_of(publisher.path(name)))
    publisher.heartbeat()
    if node.instance.loses or node.instance.repeats:
        # Copies, and what it asked before it heard of a promise, may be under way.
        publisher.read()
    return publisher


def series(node: NodeUnderTest, publisher: TestPublisher, session: int | None = None, *, since: int = 0) -> list[Event]:
    """Return the heartbeats of a session since a place, without what the path has doubled."""
    beats = publisher.beats(session, since=since)
    if not node.instance.repeats:
        return beats
    return [*{number_of(beat): beat for beat in reversed(beats)}.values()][::-1]


def steps(beats: list[Event]) -> list[tuple[int, int, float]]:
    """Return of each two neighbours among heartbeats: both numbers, and the seconds of the clock between them."""
    return [(number_of(one), number_of(two), two.time - one.time) for one, two in pairwise(beats)]


def assert_next_numbers(node: NodeUnderTest, beats: list[Event]) -> None:
    """Demand that each heartbeat has the next number; where some are lost, a higher one."""
    for one, two, _ in steps(beats):
        assert two == one + 1 or (node.instance.loses and two > one), f"number {two} comes after number {one}"


def assert_pace(node: NodeUnderTest, beats: list[Event]) -> None:
    """Demand that heartbeats are 25 seconds apart, as far as their numbers say that none is missing between them."""
    for one, two, seconds in steps(beats):
        if two > one:
            apart = seconds * node.tempo / (two - one)
            assert abs(apart - BEAT) <= TOLERANCE * BEAT + node.slack, f"two heartbeats are {apart:.1f} s apart"


def promised_at(publisher: TestPublisher, session: int, before: Event) -> float:
    """Return when the latest promise in a session was sent before an event came."""
    sent = [
        event.time
        for event in publisher.conversation.events
        if event.direction is Direction.SENT
        and isinstance(event.packet.body, Promise)
        and event.packet.body.session == session
        and event.time <= before.time
    ]
    return max(sent)


def is_known_again(node: NodeUnderTest, publisher: TestPublisher, number: int, *names: str) -> list[str]:
    """Say that the session is dead, and return those of some paths that are not asked for again."""
    since = publisher.place
    publisher.die(number)
    seconds = node.timing.within(BEAT)
    return [name for name in names if publisher.requested(name, since=since, seconds=seconds) is None]


def assert_left_alone(node: NodeUnderTest, spoil: Spoil) -> None:
    """Send a promise, a value and a nack in ways that nobody may act upon; demand that nobody has.

    The same packets, as they should be, are acted upon afterwards.
    """
    publisher = in_session(node, "promised")
    publisher.promises = False
    node.want("open")
    publisher.surely(publisher.requested("open"), "request")
    path, other = publisher.path("promised"), unknown_session()
    number = number_of(publisher.beats()[-1])
    offences = (
        publisher.promise_of(publisher.path("open"), session=other),
        publisher.response_of(path, b"spoilt"),
        HeartbeatResponse(publisher.session, number, live=False),
    )
    since = publisher.place
    for body in offences:
        for frame in spoil(publisher.packet(body)):
            publisher.send_bytes(frame)
    beat = publisher.next_beat(number)
    assert not publisher.beats(other), "a promise is acted upon that should be dropped"
    assert not publisher.cancellations("promised", since=since), "a value is cancelled that should be dropped"
    assert not node.got("promised"), "a value is told that should be dropped"
    assert not publisher.requests("promised", since=since), "a nack is acted upon that should be dropped"
    assert beat, "heartbeats cease, or begin anew, after packets that should be dropped"
    assert_serves(node, publisher, number_of(beat))


def assert_serves(node: NodeUnderTest, publisher: TestPublisher, number: int) -> None:
    """Demand that a nack is acted upon, and then a value."""
    missing = is_known_again(node, publisher, number, "promised")
    assert not missing, "a nack is not acted upon any more"
    cancelled = publisher.notify(publisher.response_of(publisher.path("promised"), b"a value"))
    assert cancelled, "a value is not cancelled any more"
    assert_told(node, "promised", "a value")


def told(node: NodeUnderTest, name: str) -> list[str]:
    """Return what the application was told of a path; it may hear of it a little later than the tester."""
    give_up = node.publisher.now() + node.timing.patience
    while not node.got(name) and node.publisher.now() < give_up:
        node.publisher.read(node.timing.glance)
    return node.got(name)


def assert_told(node: NodeUnderTest, name: str, text: str) -> None:
    """Demand that the application was given a value of a path, once; white space at its ends is not looked at."""
    found = [each.strip() for each in told(node, name)]
    assert found == [text.strip()], f"of {name} the application is told {[each[:40] for each in found]}"
