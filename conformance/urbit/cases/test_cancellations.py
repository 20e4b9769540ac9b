"""Urbit, "Scry Cancellation Request": the end of an interest, before a value is told or as the ack behind it."""

from collections.abc import Sequence

from conformance.cases import judging, rule
from conformance.urbit.roles import PUBLISHER
from conformance.urbit.sessions import lives, tell, told, wait
from harness.errors import NotAnswered
from harness.urbit.ships import PUBLISHER as PUBLISHING
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session
from wire.urbit.signatures import cancellation_input, request_input
from wire.urbit.values import Ames, Cancellation, HeartbeatRequest, HeartbeatResponse

REPEATED = 40.0
"""Seconds of the protocol within which a notification that nobody cancels is repeated twice."""


def is_repeated(node: NodeUnderTest, asking: TestSubscriber, name: str, since: int, times: int = 1) -> bool:
    """Wait until a notification is repeated, so many times since a place; ``False`` when it is not."""

    def are_there(_: Event) -> bool:
        return len(asking.notifications(name, since=since)) >= times

    return wait(node, asking, are_there, REPEATED, since=since) is not None


def require_repeats(node: NodeUnderTest, asking: TestSubscriber, name: str, since: int, times: int = 1) -> None:
    """Raise ``NotAnswered`` where nothing is repeated anyway."""
    if not is_repeated(node, asking, name, since, times):
        raise NotAnswered("no notification is repeated")


@rule("URB-044", "URB-046", roles=PUBLISHER)
def test_the_ack_ends_the_repeats(node: NodeUnderTest) -> None:
    """Be told three values and cancel two, of which another ship was told one as well.

    The third is repeated, and these are not; but to the other ship.
    """
    asking, other, last = node.main, node.other, "last/" + 300 * "x"
    for name in ("first", "kept", last):
        asking.promised(name)
    for name in ("first", "kept"):
        other.promised(name)
    for name in ("first", "kept", last):
        asking.surely(tell(node, asking, name), "notification")
    asking.cancel("first")
    asking.cancel(last)
    asking.settle()
    other.settle()
    since, others = asking.place, other.place
    require_repeats(node, other, "kept", 0, times=3)
    with judging("URB-046"):
        assert is_repeated(node, asking, "kept", since, times=2), "a value is not repeated when others are cancelled"
        told_again = is_repeated(node, other, "first", others)
        assert told_again, "a value is not repeated to one ship when another one has cancelled it"
    with judging("URB-044"):
        for name in ("first", last):
            assert not asking.notifications(name, since=since), "a value is repeated after its cancellation"


@rule("URB-045", roles=PUBLISHER)
def test_a_cancellation_before_the_value(node: NodeUnderTest) -> None:
    """Be promised something by ships of all ranks and cancel it, asked for once or twice, and have it grow.

    It is not told; another promise is kept.
    """
    ships = (node.main, *node.of_all_ranks())
    for asking in ships:
        asking.promised("dropped")
        asking.promised("kept")
        asking.cancel("dropped")
        asking.settle()
    for asking in ships:
        asking.beat_on()
    node.grow("dropped")
    node.grow("kept")
    for asking in ships:
        asking.surely(told(node, asking, "kept"), "notification")
        asking.settle()
        assert not asking.notifications("dropped"), "a value is told whose promise was cancelled"


@rule("URB-045", roles=PUBLISHER)
def test_an_interest_that_comes_back(node: NodeUnderTest) -> None:
    """Cancel a promise, ask again, and have it grow.

    It is told.
    """
    for _ in range(2):
        node.main.promised("again")
        node.main.cancel("again")
        node.main.settle()
    node.main.promised("again")
    assert tell(node, node.main, "again"), "a value is not told that was cancelled once and asked for again"


@rule("URB-046", roles=PUBLISHER)
def test_a_cancellation_is_about_one_thing(node: NodeUnderTest) -> None:
    """Cancel a fragment of a path, and another ship's promise of the next; then have that and others grow.

    They are told.
    """
    asking, other = node.main, node.other
    for name in ("path", "path/below", "pat", "another", "theirs"):
        asking.promised(name)
        other.promised(name)
    asking.promised("path", 2)
    for name in ("unwanted", "pa", "anothe"):
        asking.promised(name)
        asking.cancel(name)
    asking.cancel("path", 2)
    other.cancel("theirs")
    asking.settle()
    other.settle()
    for name in ("path", "path/below", "pat", "another", "theirs"):
        other.beat_on()
        assert tell(node, asking, name), "a value is not told after the cancellation of something else"
        if name != "theirs":
            assert told(node, other, name), "a value is not told after another ship's cancellation"


def forged(asking: TestSubscriber, name: str, signature: bytes) -> Cancellation:
    """Return a cancellation with some signature."""
    return Cancellation(asking.path(name), 1, signature)


def are_ignored(node: NodeUnderTest, asking: TestSubscriber, signatures: dict[str, bytes]) -> None:
    """Make sure that cancellations with these signatures are ignored, before a value is there and when it is told."""
    names = (*signatures, "untouched")
    for name in names:
        asking.promised(name)

    def forge() -> None:
        for name, signature in signatures.items():
            asking.say(forged(asking, name, signature))
        asking.settle()

    forge()
    for name in names:
        assert tell(node, asking, name), "a value is not told after a cancellation that was forged"
    forge()
    since = asking.place
    require_repeats(node, asking, "untouched", since)
    for name in signatures:
        assert is_repeated(node, asking, name, since), "a value is not repeated after a cancellation that was forged"


@rule("URB-047", roles=PUBLISHER, needs=("URB-042",))
def test_signatures_that_do_not_verify(node: NodeUnderTest) -> None:
    """Cancel promises with signatures of zeros, changed in a bit, and of other paths and fragments.

    They are told, and repeated.
    """
    asking = node.main

    def genuine(name: str, fragment: int = 1) -> bytes:
        return asking.sign(cancellation_input(asking.path(name), fragment))

    def spoilt(name: str, bit: int) -> bytes:
        return (int.from_bytes(genuine(name), "little") ^ 1 << bit).to_bytes(64, "little")

    are_ignored(
        node,
        asking,
        {
            "zeros": bytes(64),
            "first/bit": spoilt("first/bit", 0),
            "middle": spoilt("middle", 250),
            "last": spoilt("last", 500),
            "of/another/path": genuine("another/path"),
            "of/its/parent": genuine("of/its"),
            "of/another/fragment": genuine("of/another/fragment", 2),
        },
    )


@rule("URB-048", roles=PUBLISHER, needs=("URB-042",))
def test_signatures_of_other_packets(node: NodeUnderTest) -> None:
    """Cancel promises with the signatures of the requests for them.

    They are told, and repeated.
    """
    asking = node.main
    names = ("requested", "a/longer/path")
    are_ignored(node, asking, {name: asking.sign(request_input(asking.path(name), 1)) for name in names})


@rule("URB-049", roles=PUBLISHER, needs=("URB-042",))
def test_signatures_of_other_ships(node: NodeUnderTest) -> None:
    """Cancel a ship's promises in its name, signed by a stranger, by one that waits for the same, and by the publisher.

    They are told, and repeated.
    """
    asking, beside, stranger = node.main, node.other, node.subscriber()
    signers = {"stranger": stranger.me, "beside": beside.me, "publisher": PUBLISHING}
    stranger.heartbeat(unknown_session(), number=1)
    for name in signers:
        beside.promised(name)
    are_ignored(
        node,
        asking,
        {name: asking.sign(cancellation_input(asking.path(name), 1), ship) for name, ship in signers.items()},
    )


@rule("URB-050", roles=PUBLISHER)
def test_cancellations_of_nothing(node: NodeUnderTest) -> None:
    """Cancel what was never asked for, what has a value, and something twice, with a session and without one.

    The session lives, and another promise is kept.
    """
    asking, stranger = node.main, node.subscriber()
    node.grow("there")
    asking.promised("kept")
    asking.promised("twice")
    asking.heartbeat()
    for each in (asking, stranger):
        for name, fragment in (("kept", 2), ("never", 1), ("there", 1), ("twice", 1), ("twice", 1), ("to/come", 1)):
            each.cancel(name, fragment)
    asking.settle()
    stranger.settle()
    assert lives(node, asking), "a session is dead after cancellations of what was not pending"
    assert tell(node, asking, "kept"), "a promise is not kept after cancellations of what was not pending"
    stranger.promised("to/come")
    assert tell(node, stranger, "to/come"), "a promise is not kept after cancellations that came before all promises"


@rule("URB-051", roles=PUBLISHER)
def test_cancellations_are_not_answered(node: NodeUnderTest) -> None:
    """Cancel what was promised, what was never asked for, what has a value, and all with wrong signatures.

    Nothing comes back.
    """
    asking, stranger = node.main, node.subscriber()
    node.grow("there")
    asking.promised("promised")
    asking.settle()
    for each in (asking, stranger):
        since = each.place
        for name in ("promised", "never", "there"):
            each.say(forged(each, name, bytes(64)))
            each.cancel(name)
        each.settle()
        each.pause(2)
        # Answers to the heartbeats by which it settles apart: they name sessions that there are not.
        assert not unasked(each, since), "a cancellation is answered"


def unasked(asking: TestSubscriber, since: int) -> Sequence[object]:
    """Return what came since a place, but for commands and for nacks to what was asked meanwhile."""
    sent = {
        event.packet.body.session
        for event in asking.conversation.events
        if isinstance(event.packet.body, HeartbeatRequest)
    }
    return [
        body
        for event in asking.received(since=since)
        if not isinstance(body := event.packet.body, Ames)
        and not (isinstance(body, HeartbeatResponse) and body.session in sent)
    ]


@rule("URB-056", roles=PUBLISHER)
def test_a_session_without_interests(node: NodeUnderTest) -> None:
    """Cancel the last promise of a session, before its value is there and after it was told, and send heartbeats.

    The session lives.
    """
    dropped, acked = node.main, node.other
    dropped.promised("dropped")
    acked.promised("acked")
    acked.surely(tell(node, acked, "acked"), "notification")
    dropped.beat_on()
    for asking, name in ((dropped, "dropped"), (acked, "acked")):
        asking.cancel(name)
        asking.settle()
        assert lives(node, asking), "a session is dead when its last promise is cancelled"
        assert lives(node, asking), "a session is dead soon after its last promise is cancelled"
