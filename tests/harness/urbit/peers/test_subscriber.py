"""The reference subscriber in memory and virtual time: polling, promises, heartbeats, nacks, values."""

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from harness.errors import ControlFailed, Unsupported
from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.trace import Trace
from harness.urbit.peers.subscriber import RETIRED, Subscriber
from harness.urbit.peers.times import FACTOR, FIRST_GAP, HEARTBEAT, LONGEST_GAP
from harness.urbit.protocol import PROTOCOL
from harness.urbit.tester.conversation import is_genuine
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import TestPublisher, number_of
from wire.urbit.values import Cancellation, ScryRequest, Ship


class House:
    """A subscriber in a world of its own, and the publisher that it speaks with."""

    def __init__(self) -> None:
        self.world: World = PROTOCOL.world(self.make, "subscriber")
        self.trace = Trace("urbit", "udp", self.world.clock)
        self.node = NodeUnderTest(self.world, self.trace, profile="document", namespace="n/")

    def make(self, settings: PeerSettings) -> Subscriber:
        self.subscriber = Subscriber()
        return self.subscriber

    @property
    def publisher(self) -> TestPublisher:
        return self.node.publisher

    def wants(self, *names: str) -> TestPublisher:
        """Have paths be wanted, and return the publisher once it has heard of them."""
        for name in names:
            self.node.want(name)
        self.publisher.read(0.0)
        return self.publisher


@pytest.fixture
def house() -> Any:
    """A subscriber that must be alive when the test is over."""
    house = House()
    yield house
    assert not house.world.last_output()


def numbers(publisher: TestPublisher, session: int | None = None) -> list[int]:
    return [number_of(beat) for beat in publisher.beats(session)]


def test_a_request_is_signed_and_names_what_is_wanted(house: House) -> None:
    publisher = house.wants("a")
    [request] = publisher.received(ScryRequest)
    assert is_genuine(request.packet)
    assert (request.packet.body.path, request.packet.body.fragment) == (b"/n/a", 1)  # type: ignore[union-attr]


def test_requests_are_repeated_with_backoff(house: House) -> None:
    house.publisher.be_silent()
    publisher = house.wants("a")
    publisher.pause(200.0)
    gaps = [two.time - one.time for one, two in pairwise(publisher.requests("a"))]
    expected = [min(FIRST_GAP * FACTOR**power, LONGEST_GAP) for power in range(len(gaps))]
    assert gaps == pytest.approx(expected)
    assert expected[-1] == LONGEST_GAP


def test_what_is_promised_is_not_asked_for_again(house: House) -> None:
    publisher = house.wants("a", "b")
    publisher.pause(300.0)
    assert (len(publisher.requests("a")), len(publisher.requests("b"))) == (1, 1)


def test_heartbeats_come_every_25_seconds_answered_or_not(house: House) -> None:
    publisher = house.wants("a")
    publisher.pause(2 * HEARTBEAT)
    publisher.be_silent()
    publisher.pause(20 * HEARTBEAT)
    beats = publisher.beats()
    assert [number_of(beat) for beat in beats] == list(range(1, 24))
    assert {two.time - one.time for one, two in pairwise(beats)} == {HEARTBEAT}


def test_after_a_nack_all_is_asked_for_again_and_numbers_begin_anew(house: House) -> None:
    house.publisher.answers = False
    publisher = house.wants("a", "b")
    publisher.pause(HEARTBEAT)
    dead, since = publisher.session, publisher.place
    publisher.die(2)
    publisher.pause(HEARTBEAT)
    assert (len(publisher.requests("a", since=since)), len(publisher.requests("b", since=since))) == (1, 1)
    assert (numbers(publisher, dead), numbers(publisher)) == ([1, 2], [1, 2])


@pytest.mark.parametrize("number", [0, 1, 3, 2**64 - 1])
def test_a_nack_to_no_heartbeat_that_waits_for_an_answer_is_passed_over(house: House, number: int) -> None:
    publisher = house.wants("a")
    publisher.pause(HEARTBEAT)
    publisher.nack(number)
    publisher.pause(HEARTBEAT)
    assert numbers(publisher) == [1, 2, 3]
    assert len(publisher.requests("a")) == 1


def test_a_late_promise_brings_no_dead_session_back(house: House) -> None:
    house.publisher.answers = False
    publisher = house.wants("a")
    late = publisher.promise_of(publisher.path("a"))
    dead = publisher.session
    publisher.die(1)
    publisher.read()
    publisher.send(late)
    publisher.pause(2 * HEARTBEAT)
    assert numbers(publisher, dead) == [1]
    assert numbers(publisher) == [1, 2, 3]


def test_as_many_dead_sessions_are_remembered_as_there_is_place_for(house: House) -> None:
    for id in range(2 * RETIRED):
        house.subscriber.retire(id)
    assert list(house.subscriber.retired) == list(range(RETIRED, 2 * RETIRED))


def test_what_was_promised_before_is_asked_for_again_in_another_session(house: House) -> None:
    publisher = house.wants("a")
    publisher.session += 1
    house.wants("b")
    assert len(publisher.requests("a")) == 2
    assert numbers(publisher) == [1]


def test_a_value_is_told_once_and_cancelled_each_time(house: House) -> None:
    publisher = house.wants("a")
    for count in (1, 2):
        publisher.tell("a", "a value")
        publisher.read()
        assert len(publisher.cancellations("a")) == count
    assert house.node.got("a") == ["a value"]
    assert all(is_genuine(event.packet) for event in publisher.received(Cancellation))


def test_a_value_that_is_forged_or_of_another_fragment_is_not_told(house: House) -> None:
    publisher = house.wants("a")
    genuine = publisher.response_of(publisher.path("a"), b"a value")
    publisher.send(replace(genuine, data=b"another"))
    publisher.read()
    assert not publisher.cancellations("a")
    publisher.send(publisher.response_of(publisher.path("a"), b"another", 2))
    publisher.read()
    assert len(publisher.received(Cancellation)) == 1
    assert not house.node.got("a")


def test_what_is_dropped_is_cancelled_and_never_asked_for_again(house: House) -> None:
    house.publisher.promises = False
    publisher = house.wants("a", "b")
    house.node.drop("a")
    publisher.pause(100.0)
    assert (len(publisher.requests("a")), len(publisher.cancellations("a"))) == (1, 1)
    assert len(publisher.requests("b")) > 4
    assert not publisher.cancellations("b")


def test_packets_of_other_ships_are_dropped(house: House) -> None:
    publisher = house.wants("a")
    packet = publisher.packet(publisher.response_of(publisher.path("a"), b"a value"))
    publisher.send_packet(replace(packet, sender=Ship.of(70)))
    publisher.send_packet(replace(packet, receiver=Ship.of(70)))
    publisher.read()
    assert not publisher.received(Cancellation)


def test_what_an_application_cannot_ask_for(house: House) -> None:
    for verb, path in (("want", "no/slash"), ("drop", "/never/wanted")):
        with pytest.raises(ControlFailed):
            house.world.command(verb, path)
    with pytest.raises(Unsupported):
        house.world.command("grow", "/a", "text")


def test_what_is_wanted_before_there_is_a_publisher_is_asked_for_then(house: House) -> None:
    house.node.want("early")
    assert house.publisher.requested("early") is not None
