"""Urbit, "Overview of a Solution": heartbeats, their numbers, and where they come from."""

from collections.abc import Callable
from itertools import pairwise

from conformance.cases import NotPlayed, rule
from conformance.urbit.roles import PUBLISHER
from conformance.urbit.sessions import require_lease, tell, tells, told, wait
from harness.errors import NotAnswered
from harness.urbit.tester.driver import Driver
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session
from wire.urbit.values import HeartbeatRequest, HeartbeatResponse

HIGHEST = 2**64 - 1

NUMBERS = (1, 2, 255, 256, 2**32 - 1, 2**32, 2**53 + 1, 2**63, HIGHEST)
"""Heartbeat numbers, growing: over the edges of what others count with."""

REPEATED = 60.0
"""Seconds of the protocol within which a notification that nobody cancels is repeated."""


def responses(asking: Driver, since: int = 0) -> list[HeartbeatResponse]:
    """Return the heartbeat responses that have come since a place."""
    bodies = (event.packet.body for event in asking.received(HeartbeatResponse, since=since))
    return [body for body in bodies if isinstance(body, HeartbeatResponse)]


@rule("URB-060", roles=PUBLISHER)
def test_heartbeats_of_a_session(node: NodeUnderTest) -> None:
    """Send heartbeats of live sessions, as ships of all ranks, with and without interests.

    Each is answered with the same id, as live.
    """
    for asking in (node.main, *node.of_all_ranks()):
        asking.promised("none/yet")
        for _ in range(4):
            renewed = asking.renewed
            answer = asking.beat()
            if answer is None or not answer.live:
                require_lease(node, renewed)
            assert answer is not None, "a heartbeat of a live session is not answered with its id"
            assert answer.live, "a heartbeat of a live session is answered by a nack"


@rule("URB-061", roles=PUBLISHER)
def test_responses_have_the_numbers_of_requests(node: NodeUnderTest) -> None:
    """Send heartbeats of an unknown session and of a live one, with numbers up to the highest.

    Each is answered with its own number.
    """
    asking, unknown = node.main, unknown_session()
    asking.promised("none/yet")
    for place, number in enumerate(NUMBERS, 1):
        for id in (unknown, asking.id):
            # Whether it is answered at all is for other cases.
            asking.ask(lambda id=id, number=number: asking.send(HeartbeatRequest(id, number)), answers(id, number))  # type: ignore[misc]
            numbers = {body.number for body in responses(asking) if body.session == id}
            assert numbers <= set(NUMBERS[:place]), "a heartbeat is answered with another number"


def answers(session: int, number: int) -> Callable[[Event], bool]:
    """Return what tells whether a packet answers a heartbeat."""

    def is_answer(event: Event) -> bool:
        body = event.packet.body
        return isinstance(body, HeartbeatResponse) and (body.session, body.number) == (session, number)

    return is_answer


@rule("URB-062", roles=PUBLISHER)
def test_heartbeats_of_unknown_sessions(node: NodeUnderTest) -> None:
    """Send heartbeats with ids that nobody has, as ships with a session and without; some differ from it in a bit.

    Each is answered by a nack with the same id.
    """
    asking = node.main
    id = asking.promised("none/yet").session
    asking.heartbeat()
    unknown = [unknown_session(), 0, HIGHEST, *(id ^ 1 << bit for bit in (0, 20, 31, 32, 50, 63))]
    for each in (asking, *node.of_all_ranks()):
        for session in unknown:
            answer = each.beat(session, number=1)
            assert answer is not None, "a heartbeat with an unknown id is not answered with that id"
            assert not answer.live, "a heartbeat with an unknown id is told that its session lives"


@rule("URB-069", roles=PUBLISHER)
def test_old_numbers(node: NodeUnderTest) -> None:
    """Send heartbeats with numbers that are lower than others before.

    They are ignored, or answered with their own numbers.
    """
    asking = node.main
    asking.promised("none/yet")
    asking.heartbeat()
    asking.send_beat(10)
    asking.heartbeat()
    asking.settle()
    since = asking.place
    for old in (5, 2):
        asking.send_beat(old)
    asking.settle()
    seen = {body.number for body in responses(asking, since) if body.session == asking.id}
    assert seen <= {5, 2}, "an old heartbeat is answered with another number than its own"
    node.shows("URB-069", "A20", "B" if seen else "A")


@rule("URB-070", roles=PUBLISHER)
def test_heartbeats_replayed_from_elsewhere(node: NodeUnderTest) -> None:
    """Repeat heartbeats of a session from another address, and have a promised value grow.

    It is told where the session is, and not there.
    """
    asking = node.main
    asking.promised("later")
    for _ in range(3):
        asking.heartbeat()
    thief = node.elsewhere(asking)
    for number in (1, asking.number, asking.number - 1, asking.number, 1):
        thief.send_beat(number)
    thief.settle()
    # No heartbeat between: it would bring the session back.
    node.grow("later")
    assert told(node, asking, "later"), "a value is not told where the session is after heartbeats were replayed"
    thief.settle()
    assert not thief.notifications("later"), "a value is told where heartbeats were replayed"


@rule("URB-071", roles=PUBLISHER)
def test_gaps_in_the_numbers(node: NodeUnderTest) -> None:
    """Send heartbeats of a session whose numbers grow by more than one, up to the highest.

    Each is answered as live.
    """
    asking = node.main
    asking.promised("none/yet")
    for number in (1, 3, 10, 100, 5000, 2**16, 2**31, 2**32 + 1, 2**53 + 1, 2**63, HIGHEST - 8):
        renewed = asking.renewed
        # Each is followed by the next ones where it has to be repeated.
        asking.number = number - 1
        answer = asking.beat()
        if answer is None or not answer.live:
            require_lease(node, renewed)
        assert answer is not None, "a heartbeat is not answered whose number is far above the one before"
        assert answer.live, "a heartbeat is answered by a nack whose number is far above the one before"


@rule("URB-072", roles=PUBLISHER)
def test_the_number_zero(node: NodeUnderTest) -> None:
    """Send heartbeats with the number 0, then 1, and 0 again.

    1 is answered as live, and so is what follows.
    """
    asking = node.main
    asking.promised("none/yet")
    since = asking.place
    asking.say(HeartbeatRequest(asking.id, 0))
    asking.settle()
    node.shows("URB-072", "A21", "B" if any(body.number == 0 for body in responses(asking, since)) else "A")
    for _ in range(2):
        renewed = asking.renewed
        answer = asking.beat()
        if answer is None or not answer.live:
            require_lease(node, renewed)
        assert answer is not None, "after a heartbeat with the number 0 others are not answered"
        assert answer.live, "after a heartbeat with the number 0 a session is dead"
        asking.say(HeartbeatRequest(asking.id, 0))
        asking.settle()


@rule("URB-073", roles=PUBLISHER, needs=("URB-042",))
def test_a_subscriber_that_moves(node: NodeUnderTest) -> None:
    """Send the heartbeats of a session from a second address, from a third, and from the first again.

    They are answered where they came from, and what is promised or to be repeated is told there.
    """
    asking, still, names = node.main, node.other, ("first", "second", "third", "fourth")
    for name in names:
        asking.promised(name)
        still.promised(name)
    asking.surely(tell(node, asking, names[0]), "notification")
    for before, name in pairwise(names):
        here = asking if name == names[-1] else node.elsewhere(asking)
        here.number = node.main.number
        still.beat_on()
        since = here.place
        if is_left(node, here):
            return
        repeated = wait(node, here, tells(here, before), REPEATED, since=since)
        still.read(node.timing.glance)
        if not repeated and len(still.notifications(before)) < 2:
            raise NotAnswered("no notification is repeated")
        assert repeated, "a subscriber has moved, and a value is not repeated where it is now"
        node.grow(name)
        assert told(node, here, name), "a subscriber has moved, and a value is not told where it is now"
        # The numbers go on, wherever it is.
        node.main.number, node.main.renewed = here.number, here.renewed


def is_left(node: NodeUnderTest, here: TestSubscriber) -> bool:
    """Send two heartbeats from a new address; tell whether the node takes it for one without the session."""
    renewed = here.renewed
    for _ in range(2):
        answer = here.beat() if node.instance.loses else beat_once(here)
        assert answer is not None, "heartbeats of a subscriber that has moved are not answered where it is now"
        if not answer.live:
            require_lease(node, renewed)
            node.shows("URB-073", "A09", "B")
            return True
    node.shows("URB-073", "A09", "A")
    return False


def beat_once(asking: TestSubscriber) -> HeartbeatResponse | None:
    """Send one heartbeat, and return its answer; ``None`` when there is none."""
    since, number = asking.place, asking.send_beat()
    event = asking.wait_for(answers(asking.id, number), since=since)
    return event.packet.body if event is not None and isinstance(event.packet.body, HeartbeatResponse) else None


@rule("URB-075", roles=PUBLISHER)
def test_one_response_for_each_request(node: NodeUnderTest) -> None:
    """Send heartbeats of a live session and of an unknown one, each once.

    None is answered twice.
    """
    if node.instance.repeats:
        raise NotPlayed("what comes twice was not sent twice")
    asking, unknown = node.main, unknown_session()
    asking.promised("none/yet")
    asking.settle()
    since = asking.place
    sent = [(asking.session, asking.send_beat()) for _ in range(4)]
    for number in (1, 2, 3):
        asking.send(HeartbeatRequest(unknown, number))
        sent.append((unknown, number))
    asking.pause(5)
    for one in sent:
        seen = [body for body in responses(asking, since) if (body.session, body.number) == one]
        assert len(seen) <= 1, f"a heartbeat is answered {len(seen)} times"


@rule("URB-077", roles=PUBLISHER)
def test_heartbeats_of_another_ships_session(node: NodeUnderTest) -> None:
    """Send heartbeats with the id of another ship's session, and have values grow that were promised to either.

    They are told to those who were promised them.
    """
    asking, other = node.main, node.other
    asking.promised("theirs")
    other.promised("ours")
    asking.heartbeat()
    for number in (1, 2, 1000, 1001):
        other.say(HeartbeatRequest(asking.id, number))
    other.settle()
    # No heartbeat between: it would bring the session back.
    node.grow("theirs")
    assert told(node, asking, "theirs"), "a value is not told when another ship has sent the session's id"
    other.settle()
    assert not other.notifications("theirs"), "a value is told to another ship that has sent the session's id"
    assert tell(node, other, "ours"), "a value is not told to a ship that has sent the id of another's session"
    assert not asking.notifications("ours"), "a value is told to a ship whose session's id another has sent"
