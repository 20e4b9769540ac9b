"""The tester as a publisher: what it answers by itself, and how it follows heartbeats."""

from harness.peers.peer import PeerSettings
from harness.trace import Trace
from harness.urbit.peers.subscriber import Heartbeats, Subscriber
from harness.urbit.protocol import PROTOCOL
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import MOST_NACKS, TestPublisher, number_of
from wire.urbit.values import HeartbeatResponse


class BeginsAnew(Subscriber):
    """A subscriber that begins its numbers anew behind the third."""

    def beat(self, session: Heartbeats, now: float) -> None:
        session.number %= 3
        super().beat(session, now)


class MakesIdsUp(Subscriber):
    """A subscriber whose heartbeats are of no session that there is."""

    def beat(self, session: Heartbeats, now: float) -> None:
        session.id = 7
        super().beat(session, now)


def speaking_with(peer: type[Subscriber]) -> TestPublisher:
    """Return a tester's publisher from which a subscriber wants a path."""

    def make(settings: PeerSettings) -> Subscriber:
        return peer()

    world = PROTOCOL.world(make, "subscriber")
    node = NodeUnderTest(world, Trace("urbit", "udp", world.clock), profile="document", namespace="n/")
    node.want("a")
    return node.publisher


def test_the_next_heartbeat_has_the_next_number() -> None:
    publisher = speaking_with(Subscriber)
    numbers = [0]
    for _ in range(3):
        beat = publisher.next_beat(numbers[-1])
        assert beat is not None
        numbers.append(number_of(beat))
    assert numbers == [0, 1, 2, 3]


def test_a_number_that_had_come_long_before_is_no_next_one() -> None:
    publisher = speaking_with(BeginsAnew)
    assert publisher.next_beat(2) is not None
    assert publisher.next_beat(3) is None


def test_one_who_makes_ids_up_is_not_nacked_for_ever() -> None:
    publisher = speaking_with(MakesIdsUp)
    publisher.pause(100.0)
    nacks = [event for event in publisher.conversation.events if event.form is HeartbeatResponse]
    assert len(nacks) == MOST_NACKS


def test_a_dead_session_is_followed_by_another() -> None:
    publisher = speaking_with(Subscriber)
    publisher.answers = False
    publisher.heartbeat()
    before = publisher.session
    assert publisher.die(1) == publisher.session != before
    assert number_of(publisher.heartbeat()) == 1
