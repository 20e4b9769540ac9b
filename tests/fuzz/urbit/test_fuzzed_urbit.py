"""Urbit's publishers as they are fuzzed: their service, in memory."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from conformance.suite import Suite
from fuzz.net.targets import ServiceBroken
from fuzz.urbit.common_ground import CommonGround
from fuzz.urbit.messages import FEW, GENUINE, HELD, ME, MINE, NEXT, PATHS, ROOT, Speech
from fuzz.urbit.network import UrbitPublisherTarget
from fuzz.urbit.service import StayingSubscriber, UrbitService
from harness.trace import Trace
from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import PromisedDatum
from harness.urbit.peers.times import LEASE
from harness.urbit.ships import PUBLISHER
from harness.urbit.tester.subscriber import TestSubscriber
from wire.urbit.values import HeartbeatRequest, Packet, ScryRequest, write

SUITE = Suite("urbit")


def service_of(peer: type[Publisher]) -> tuple[UrbitService, Any]:
    """Return the service of a publisher in memory, begun, and that publisher."""
    instance = SUITE.harness.world(peer.of, "publisher")
    service = UrbitService(instance, Trace("urbit", SUITE.harness.usual_transport, instance.clock), CommonGround())
    service.begin()
    service.check()
    return service, instance


def pass_time(asking: TestSubscriber, seconds: float) -> None:
    """Let time pass, in which nobody has a core."""
    asking.exchange.read_until(lambda: False, asking.now() + seconds)


def test_who_stays_is_told_at_once_what_a_test_had_grow_while_his_lease_ended() -> None:
    """A regression: that no promise came was said of a publisher to be a hang, on a machine that had no core."""
    service, instance = service_of(Publisher)
    instance.command("grow", f"{service.ground.root.decode()}/{HELD}", "there")
    pass_time(service._staying[0].asking, 2 * LEASE)
    service.check()
    service.check()


def test_nobody_is_accused_of_not_telling_whose_lease_was_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression, likewise: a lease that is over before the value is there."""
    begin = StayingSubscriber.begin

    def slowly(staying: StayingSubscriber) -> None:
        begin(staying)
        pass_time(staying.asking, 2 * LEASE)

    monkeypatch.setattr(StayingSubscriber, "begin", slowly)
    service_of(Publisher)


class Mute(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        pass


def test_who_tells_nothing_is_found_out() -> None:
    with pytest.raises(ServiceBroken, match="not told when it is there"):
        service_of(Mute)


def test_most_is_about_few_paths() -> None:
    """What is promised is to be told, and told again, and cancelled: by a path that nobody says again nothing is."""
    speech = Speech(Random(1))
    drawn = Counter(speech.path() for _ in range(1000))
    assert sum(drawn[ROOT + b"/" + each.encode()] for each in PATHS.names[:FEW]) > 400
    assert len(drawn) > 100


def test_who_means_the_session_that_his_request_begins_hears_its_promise_first() -> None:
    """A regression: a test did something or not by how soon the promise came, which nobody can replay."""
    _, instance = service_of(Publisher)
    target = UrbitPublisherTarget()
    node = target.node(instance, Trace("urbit", SUITE.harness.usual_transport, instance.clock))
    session = target.session(node, "")
    bodies = ScryRequest(ROOT + b"/a", 1, GENUINE), HeartbeatRequest(MINE, NEXT)
    session.say([write(Packet(each, ME, PUBLISHER, sender_tick=1, receiver_tick=1)) for each in bodies], "message", 0)
    session.catch_up(1.0)
    assert session.answers() == ["Promise", "heartbeat"]
    node.close()


def test_a_state_says_that_a_heartbeat_was_sent_and_that_an_address_was_left() -> None:
    """A regression: both looked as if nothing had been done, and so tests that had come so far were not kept."""
    _, instance = service_of(Publisher)
    target = UrbitPublisherTarget()
    node = target.node(instance, Trace("urbit", SUITE.harness.usual_transport, instance.clock))
    session = target.session(node, "")
    states = [session.state()]
    session.known.beats(1)
    states.append(session.state())
    target.session(node, "moved")
    states.append(session.state())
    assert len(set(states)) == 3
    node.close()
