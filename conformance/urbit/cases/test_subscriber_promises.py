"""Sections "Overview of a Solution" and "Scry Promise": what a subscriber makes of promises."""

from collections.abc import Iterator

from conformance.cases import judging, rule
from conformance.urbit.roles import SUBSCRIBER
from conformance.urbit.subscriber_sessions import in_session
from harness.urbit.ships import OTHER
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import TestPublisher, number_of
from harness.urbit.tester.subscriber import BEAT, unknown_session
from wire.urbit.signatures import cancellation_input, promise_input, request_input
from wire.urbit.values import Packet, Promise

EXTREME = (0, 2**64 - 1, 2**53 + 1, 1 << 63)
"""Ids at the ends of what 64 bits hold, and of what signed and floating numbers of 64 bits do."""


@rule("URB-146", "URB-153", "URB-099", roles=SUBSCRIBER)
def test_extreme_ids(node: NodeUnderTest) -> None:
    """Promise a path in sessions with ids like 0 and the highest number, one after the other has died.

    Each has heartbeats, from number 1 on.
    """
    node.want("a")
    publisher = node.publisher
    publisher.answers = False
    for id in EXTREME:
        publisher.session = id
        beat = publisher.beat_of()
        with judging("URB-146"):
            assert beat, f"no heartbeat carries the id {id:#x}"
        with judging("URB-099"):
            assert number_of(beat) == 1 or node.instance.loses, f"the first number is {number_of(beat)}"
        publisher.session = EXTREME[(EXTREME.index(id) + 1) % len(EXTREME)]
        publisher.nack(number_of(beat), id)


def forged(publisher: TestPublisher, name: str) -> Iterator[Packet]:
    """Yield promises of a path that the publisher has not signed, of other sessions than its own."""
    path = publisher.path(name)
    for wrong in range(3):
        genuine = publisher.promise_of(path, session=unknown_session())
        signature = bytearray(genuine.signature)
        signature[wrong * 31] ^= 1 << wrong
        yield publisher.packet(Promise(genuine.session, path, 1, bytes(signature)))
    id = unknown_session()
    for signed in (
        cancellation_input(path, 1),
        request_input(path, 1),
        promise_input(publisher.session, path, 1),
        promise_input(id ^ 1 << 63, path, 1),
        promise_input(id, path + b"/x", 1),
        promise_input(id, path, 2),
    ):
        yield publisher.packet(Promise(id, path, 1, publisher.sign(signed)))
    for signer in (OTHER, publisher.other):
        yield publisher.packet(publisher.promise_of(path, session=unknown_session(), signer=signer))
    # In its own name, and valid: but it is not the publisher's.
    stranger = publisher.packet(publisher.promise_of(path, session=unknown_session(), signer=OTHER))
    yield Packet(stranger.body, OTHER, stranger.receiver)
    yield publisher.packet(Promise(unknown_session(), path, 1, bytes(64)))


@rule("URB-104", roles=SUBSCRIBER)
def test_forged_promises(node: NodeUnderTest) -> None:
    """Promise a path by packets that the publisher has not signed as they are, before the genuine promise and after it.

    No heartbeat carries their ids; those of the genuine session go on.
    """
    node.want("a")
    publisher = node.publisher
    publisher.promises = publisher.answers = False
    publisher.surely(publisher.requested("a"), "request")
    publisher.promises = True
    sent = list(forged(publisher, "a"))
    for packet in sent:
        publisher.send_packet(packet)
    # A first heartbeat may take its time.
    publisher.pause(BEAT)
    assert_none_is_taken(publisher, sent)
    publisher.say(publisher.promise_of(publisher.path("a")))
    number = number_of(publisher.heartbeat())
    node.want("b")
    publisher.surely(publisher.requested("b"), "request")
    again = [*forged(publisher, "a"), *forged(publisher, "b")]
    for packet in again:
        publisher.send_packet(packet)
    beat = publisher.next_beat(number)
    assert_none_is_taken(publisher, again)
    assert beat, "heartbeats cease, or begin anew, after promises that are forged"


def assert_none_is_taken(publisher: TestPublisher, packets: list[Packet]) -> None:
    """Demand that no heartbeat carries the id of some promises."""
    for packet in packets:
        assert isinstance(packet.body, Promise)
        assert not publisher.beats(packet.body.session), "a heartbeat carries the id of a promise that is forged"


@rule("URB-105", roles=SUBSCRIBER)
def test_promises_that_nobody_asked_for(node: NodeUnderTest) -> None:
    """Promise, in another session each time, a path that nobody asked for: before a session, and while one lives.

    What is wanted is asked for until it is promised, and is asked for again when whatever session it has then is dead.
    """
    node.want("a")
    publisher = node.publisher
    publisher.promises = publisher.answers = False
    place = publisher.conversation.events.index(publisher.surely(publisher.requested("a"), "request")) + 1
    stray = unknown_session()
    publisher.say(publisher.promise_of(publisher.path("stray"), session=stray))
    with judging("URB-105"):
        again = publisher.requested("a", since=place, seconds=node.timing.within(2 * BEAT))
        assert again, "what is wanted is not asked for any more after a promise of something else"
    publisher.promises = True
    own, other = publisher.session, unknown_session()
    number = number_of(publisher.heartbeat())
    since = publisher.place
    publisher.say(publisher.promise_of(publisher.path("else"), session=other))
    # Whichever it keeps alive now: one heartbeat is due, and a first one of the other session would be as well.
    publisher.pause(BEAT)
    beats = publisher.beats(other, since=since)
    node.shows("URB-105", "A25", "B" if beats else "A")
    session = other if beats else own
    beat = beats[-1] if beats else publisher.next_beat(number)
    assert beat, "heartbeats cease, or begin anew, after a promise that nobody asked for"
    since = publisher.place
    publisher.session = unknown_session()
    publisher.nack(number_of(beat), session)
    assert publisher.requested("a", since=since), "what is wanted is forgotten after a promise that nobody asked for"


@rule("URB-115", roles=SUBSCRIBER)
def test_another_session(node: NodeUnderTest) -> None:
    """Promise a path, and when another one is asked for promise that in another session.

    Heartbeats of that one come, from number 1 on.
    """
    publisher = in_session(node, "a")
    publisher.answers = True
    publisher.surely(publisher.next_beat(1), "heartbeat")
    publisher.session = other = unknown_session()
    # Of the session before nothing is known any more, nor is it known to be dead.
    publisher.answers = False
    node.want("b")
    publisher.surely(publisher.requested("b"), "request")
    beat = publisher.beat_of(other)
    assert beat, "no heartbeat carries the id of a later promise"
    assert number_of(beat) == 1 or node.instance.loses, f"heartbeats of a later promise begin with {number_of(beat)}"
