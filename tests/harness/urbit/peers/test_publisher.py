"""The reference publisher in memory and virtual time: sessions, the lease to its last moment, backoff, addresses."""

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from harness.errors import ControlFailed, Unsupported
from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.trace import Trace
from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.times import FACTOR, FIRST_GAP, LEASE, LONGEST_GAP
from harness.urbit.protocol import PROTOCOL
from harness.urbit.ships import PUBLISHER
from harness.urbit.tester.conversation import is_genuine
from harness.urbit.tester.driver import changed
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session
from wire.urbit.values import Ames, HeartbeatRequest, Promise, ScryResponse, Ship, write


class House:
    """A publisher in a world of its own, and the ships that speak with it."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.world: World = PROTOCOL.world(self.make, "publisher")
        self.trace = Trace("urbit", "udp", self.world.clock)
        self.node = NodeUnderTest(self.world, self.trace, profile="document", namespace="n/")

    def make(self, settings: PeerSettings) -> Publisher:
        self.publisher = Publisher(**self.settings)
        return self.publisher

    @property
    def now(self) -> float:
        return self.world.clock.now()

    def subscriber(self, *names: str) -> TestSubscriber:
        """Return another subscriber that was promised some paths."""
        made = self.node.subscriber()
        for name in names:
            made.promised(name)
        return made


@pytest.fixture
def house() -> Any:
    """A publisher that must be alive when the test is over."""
    house = House()
    yield house
    assert not house.world.last_output()
    house.node.probe()


def lives(asking: TestSubscriber) -> bool:
    return asking.heartbeat().live


# --- requests and promises --------------------------------------------------------------------------------


def test_a_promise_is_signed_and_names_what_was_asked_for(house: House) -> None:
    asking = house.subscriber()
    promise = asking.promised("a", 3)
    assert (promise.path, promise.fragment) == (b"/n/a", 3)
    assert all(is_genuine(event.packet) for event in asking.received(Promise))
    assert lives(asking)


def test_all_promises_of_a_ship_have_the_same_id(house: House) -> None:
    first, second = house.subscriber("a", "b", "a"), house.subscriber("a")
    assert len({event.packet.body.session for event in first.received()}) == 1
    assert first.session != second.session


def test_an_id_that_is_taken_is_not_drawn_again() -> None:
    ids = iter((7, 7, 7, 8))
    house = House(draw=lambda: next(ids))
    assert [house.subscriber("a").session for _ in range(2)] == [7, 8]


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 3000])
def test_values_of_all_sizes(house: House, size: int) -> None:
    value = bytes(range(65, 91)) * 200
    asking = house.subscriber("a")
    house.node.grow("a", value[:size].decode())
    told = asking.notified("a")
    assert told is not None
    total = max(1, -(-size // 1024))
    fetched = [house.node.other.fetched("a", fragment) for fragment in range(1, total + 1)]
    assert told.packet.body == fetched[0]
    assert b"".join(each.data for each in fetched) == value[:size]
    assert {each.total for each in fetched} == {total}
    assert house.node.other.request("a", total + 1) is None


def test_what_grows_is_a_path_that_has_no_value(house: House) -> None:
    house.node.grow("a")
    for path in ("/n/a", "a", "/", "", "/n//b", "/n/\t", "/" + "x" * 384):
        with pytest.raises(ControlFailed):
            house.world.command("grow", path, "again")
    with pytest.raises(Unsupported):
        house.world.command("want", "/n/a")
    assert house.node.other.fetched("a").data == b"a value"


def test_a_fragment_that_will_never_be_there_is_not_told(house: House) -> None:
    asking = house.subscriber()
    asking.promised("a", 2)
    house.node.grow("a")
    assert asking.notified("a", 2) is None
    assert lives(asking)


# --- the lease --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "is_alive"), [(LEASE, True), (LEASE + 0.001, False)])
@pytest.mark.parametrize("heartbeats", [0, 1, 3])
def test_a_session_lives_for_a_minute_and_no_longer(
    house: House, heartbeats: int, seconds: float, is_alive: bool
) -> None:
    asking = house.subscriber("a")
    for _ in range(heartbeats):
        asking.read(10)
        assert lives(asking)
    house.node.other.read(seconds)
    assert lives(asking) == is_alive


def test_a_dead_session_leaves_nothing(house: House) -> None:
    asking, other = house.subscriber("a", "b"), house.subscriber()
    old = asking.session
    assert lives(asking)
    house.node.grow("a")
    other.read(LEASE + 1)
    sessions = house.publisher.sessions
    assert not any((sessions.of_ship, sessions.of_id, sessions.waiting))
    asking.promised("c")
    assert asking.session != old
    since = asking.place
    house.node.grow("b")
    house.node.grow("c")
    assert asking.notified("c") is not None
    assert not asking.notifications("a", since=since)
    assert not asking.notifications("b")
    assert asking.beat(old) is not None
    assert not asking.heartbeat(old).live


def test_what_is_no_new_heartbeat_renews_nothing(house: House) -> None:
    asking, other = house.subscriber("a"), house.subscriber("a")
    assert lives(asking)
    for second in range(1, 7):
        asking.read(10)
        asking.send_beat(1)
        asking.send_beat(0)
        asking.send(asking.request_for(f"a/{second}"))
        asking.cancel(f"a/{second}")
        asking.send(Ames(b"x", is_response=False))
        other.send(HeartbeatRequest(asking.id, 100 + second))
        assert lives(other)
    asking.read(0.001)
    assert not lives(asking)
    assert lives(other)


def test_a_thousand_sessions_end_by_themselves(house: House) -> None:
    for _ in range(1000):
        house.subscriber("a")
    assert len(house.publisher.sessions.of_id) == 1000
    house.node.main.read(LEASE + 1)
    assert not house.publisher.sessions.of_id
    assert not len(house.publisher.timers)


# --- heartbeats -------------------------------------------------------------------------------------------


def test_heartbeats_are_answered_once_and_old_ones_passed_over(house: House) -> None:
    asking = house.subscriber("a")
    since = asking.place
    for number in (1, 1, 5, 3, 5, 0, 2**64 - 1, 6):
        asking.send_beat(number)
    asking.read(1)
    answered = [event.packet.body.number for event in asking.received(since=since)]
    assert answered == [1, 5, 2**64 - 1]


def test_an_unknown_id_gets_a_nack_and_makes_nothing(house: House) -> None:
    asking = house.subscriber()
    for number in (0, 1, 2**64 - 1):
        answer = asking.heartbeat(unknown_session(), number=number)
        assert (answer.live, answer.number) == (False, number)
    assert not house.publisher.sessions.of_ship


def test_another_ships_id_is_an_unknown_one(house: House) -> None:
    asking, other = house.subscriber("a"), house.subscriber("b")
    assert not other.heartbeat(asking.id, number=9).live
    house.node.grow("a")
    assert asking.notified("a") is not None
    assert lives(asking)
    assert not other.notifications("a")


# --- notifications ----------------------------------------------------------------------------------------


def test_repeats_back_off_until_the_session_ends(house: House) -> None:
    asking = house.subscriber("a")
    house.node.grow("a")
    asking.keep_alive(100)
    last = house.now - 25
    asking.read(2 * LEASE)
    times = [event.time for event in asking.notifications("a")]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    expected = [min(FIRST_GAP * FACTOR**number, LONGEST_GAP) for number in range(len(gaps))]
    assert gaps == pytest.approx(expected)
    assert times[-1] <= last + LEASE < times[-1] + LONGEST_GAP


def test_a_cancellation_is_about_one_fragment_of_one_path_of_one_ship(house: House) -> None:
    asking, other = house.subscriber("a", "a/b", "c"), house.subscriber("a")
    asking.promised("a", 2)
    asking.cancel("a", 2)
    asking.cancel("c")
    asking.cancel("never")
    for name in ("a", "a/b", "c"):
        house.node.grow(name, "x" * 2000)
    assert all(each.notified(name) for each, name in ((asking, "a"), (asking, "a/b"), (other, "a")))
    assert not asking.notifications("c")
    assert not asking.notifications("a", 2)
    asking.cancel("a")
    since = asking.place
    asking.read(5)
    assert not asking.notifications("a", since=since)
    assert len(asking.notifications("a/b", since=since)) == 2
    assert lives(asking)


def test_a_promise_that_was_cancelled_and_made_again_is_repeated_in_its_own_time(house: House) -> None:
    asking = house.subscriber("a")
    asking.cancel("a")
    asking.promised("a")
    house.node.grow("a")
    asking.read(0.5)
    assert len(asking.notifications("a")) == 1
    asking.cancel("a")
    asking.read(30)
    assert len(asking.notifications("a")) == 1


@pytest.mark.parametrize("signer", [Ship.of(70), PUBLISHER])
def test_a_forged_cancellation_is_ignored(house: House, signer: Ship) -> None:
    asking = house.subscriber("a")
    asking.send(asking.cancellation_of("a", signer=signer))
    asking.send(replace(asking.cancellation_of("a"), signature=asking.request_for("a").signature))
    house.node.grow("a")
    assert asking.notified("a") is not None


def test_a_request_that_its_sender_has_not_signed_is_dropped(house: House) -> None:
    asking = house.subscriber()
    asking.send(asking.request_for("a", signer=Ship.of(70)))
    asking.settle()
    assert not asking.received(Promise)
    assert not house.publisher.sessions.of_ship


# --- addresses --------------------------------------------------------------------------------------------


def test_notifications_follow_the_newest_heartbeat(house: House) -> None:
    asking = house.subscriber("a", "b")
    asking.heartbeat()
    moved = house.node.elsewhere(asking)
    moved.heartbeat()
    asking.send_beat(1)
    house.node.grow("a")
    assert moved.notified("a") is not None
    assert not asking.notifications("a")
    asking.number = moved.number
    asking.heartbeat()
    house.node.grow("b")
    assert asking.notified("b") is not None
    assert not moved.notifications("b")


def test_an_address_is_forgotten_that_nobody_has_a_session_at(house: House) -> None:
    needed = house.subscriber("a")
    for _ in range(100):
        stranger = house.node.subscriber()
        stranger.heartbeat(unknown_session(), number=1)
        stranger.cancel("a")
        stranger.send_bytes(b"no packet")
        stranger.read(0)
    assert len(house.world._links) == 1
    moved = house.node.elsewhere(needed)
    moved.heartbeat()
    assert len(house.world._links) == 1
    moved.read(LEASE + 1)
    assert not house.world._links


# --- packets that are none --------------------------------------------------------------------------------


def test_what_is_no_packet_for_it_changes_nothing(house: House) -> None:
    asking = house.subscriber("kept")
    packet = asking.packet(asking.request_for("a"))
    frame = write(packet)
    spoilt = [
        *(frame[:length] for length in range(len(frame))),
        frame + b"\0",
        write(changed(packet, version=1)),
        write(changed(packet, checksum=0)),
        write(changed(packet, receiver=Ship.of(167))),
        write(changed(packet, receiver=Ship(PUBLISHER.number, 1))),
        write(changed(packet, sender=Ship(asking.me.number, 2))),
    ]
    since = asking.place
    for each in spoilt:
        asking.send_bytes(each)
    asking.send(asking.request_for("odd//path"))
    asking.send(asking.request_for("a", 0))
    asking.send(asking.promised("kept"))
    asking.send(ScryResponse(asking.path("kept"), 1, bytes(64), 1, b""))
    asking.read(1)
    about = {event.packet.body.path for event in asking.received(Promise, since=since)}
    assert about == {asking.path("kept")}
    house.node.grow("kept")
    assert asking.notified("kept") is not None
