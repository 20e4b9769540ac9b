"""Section "Overview of a Solution": what a subscriber does when a nack says that its session is dead."""

from conformance.cases import judging, rule
from conformance.urbit.roles import SUBSCRIBER
from conformance.urbit.subscriber_sessions import assert_next_numbers, in_session, is_known_again, series
from harness.urbit.ships import OTHER
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import number_of
from harness.urbit.tester.subscriber import BEAT, unknown_session
from wire.urbit.values import HeartbeatResponse

NAMES = ("a", "b", "b/c", *(f"many/{number}" for number in range(12)))

LATE = 5.0
"""Seconds for which a heartbeat of a dead session may still be under way."""


@rule("URB-096", "URB-097", "URB-099", roles=SUBSCRIBER)
def test_a_nack(node: NodeUnderTest) -> None:
    """Promise three paths and nack the session, and so the next one when it is older.

    All three are asked for again each time. The next promise is a new session, whose heartbeats begin with number 1; of
    the dead one none come.
    """
    publisher = in_session(node, *NAMES)
    for last in (1, 2):
        dead, since = publisher.session, publisher.place
        number = number_of(publisher.surely(publisher.next_beat(last - 1), "heartbeat"))
        with judging("URB-097"):
            missing = is_known_again(node, publisher, number, *NAMES)
            assert not missing, f"after a nack {', '.join(missing)} is not asked for again"
        asked = node.trace.now()
        with judging("URB-099"):
            beat = publisher.beat_of()
            assert beat, "no heartbeat comes of the session after a nack"
            assert number_of(beat) == 1 or node.instance.loses, f"the first number after a nack is {number_of(beat)}"
            assert publisher.next_beat(1), "a session after a nack has one heartbeat only"
            assert_next_numbers(node, series(node, publisher))
        with judging("URB-096"):
            after = [node.elapsed(asked, beat.time) for beat in publisher.beats(dead, since=since)]
            assert max(after, default=0.0) <= LATE + node.slack, "a session has heartbeats still that is dead"


@rule("URB-098", "URB-096", roles=SUBSCRIBER)
def test_what_is_pending_no_more(node: NodeUnderTest) -> None:
    """Of three promised paths tell the value of one, drop another, and nack the session; then answer nothing.

    The third one is asked for again, and the others are not; and no heartbeats come.
    """
    publisher = in_session(node, "got", "dropped", "pending")
    publisher.surely(publisher.notify(publisher.response_of(publisher.path("got"), b"a value")), "cancellation")
    node.drop("dropped")
    publisher.read()
    since, number = publisher.place, number_of(publisher.beats()[-1])
    publisher.promises = False
    publisher.nack(number)
    publisher.surely(publisher.requested("pending", since=since), "request after a nack")
    # What else it asks for it does not ask for much later.
    publisher.pause(LATE)
    with judging("URB-098"):
        assert not publisher.requests("got", since=since), "what has come is asked for again"
        assert not publisher.requests("dropped", since=since), "what is of no interest any more is asked for again"
    late = publisher.place
    publisher.pause(1.3 * BEAT)
    with judging("URB-096"):
        assert not publisher.beats(since=late), "a dead session has heartbeats while nothing else is promised"


@rule("URB-106", "URB-117", roles=SUBSCRIBER)
def test_a_stranger_draws_nothing_away(node: NodeUnderTest) -> None:
    """Send from another address, in the publisher's name, a nack of another session and a value that is not signed.

    The next heartbeats still come to the publisher.
    """
    publisher = in_session(node, "a")
    number = number_of(publisher.beats()[-1])
    stranger = node.stranger()
    stranger.say(stranger.response_of(stranger.path("a"), b"forged", signer=OTHER))
    stranger.nack(number, unknown_session())
    beat = publisher.next_beat(number)
    assert beat, "heartbeats go to somebody else who has spoken in the publisher's name"


@rule("URB-106", roles=SUBSCRIBER)
def test_nacks_of_other_sessions(node: NodeUnderTest) -> None:
    """Nack sessions with other ids: some resemble the live one's, one has died before.

    The next heartbeat has the live one's id and the next number, and nothing is asked for again.
    """
    publisher = in_session(node, "a")
    dead = publisher.session
    missing = is_known_again(node, publisher, 1, "a")
    assert not missing, "a nack of its own session is ignored"
    beat = publisher.heartbeat()
    live, number, since = publisher.session, number_of(beat), publisher.place
    swapped = int.from_bytes(live.to_bytes(8, "little"), "big")
    for other in (dead, live ^ 1, live ^ 1 << 63, live & 0xFFFFFFFF, live >> 32, swapped, 0, 2**64 - 1):
        publisher.nack(number, other)
    after = publisher.next_beat(number)
    assert not publisher.requests("a", since=since), "a path is asked for again after nacks of other sessions"
    assert after, "heartbeats cease, or begin anew, after nacks of other sessions"
    assert number_of(after) == number + 1 or node.instance.loses, "numbers are left out after nacks of other sessions"


@rule("URB-107", roles=SUBSCRIBER)
def test_a_nack_with_an_old_number(node: NodeUnderTest) -> None:
    """Answer two heartbeats as of a live session, and then nack the first of them.

    Either the next heartbeat has the same id and the next number, or all that is pending is asked for again.
    """
    publisher = in_session(node, "a", "b")
    publisher.answers = True
    number = number_of(publisher.surely(publisher.next_beat(2), "heartbeat"))
    publisher.read()
    since = publisher.place
    publisher.promises = False
    publisher.nack(1)
    beat = publisher.next_beat(number)
    asked = [name for name in ("a", "b") if publisher.requests(name, since=since)]
    node.shows("URB-107", "A20", "C" if asked else "A")
    if asked:
        assert len(asked) == 2, f"after a nack with an old number only {asked[0]} is asked for again"
        assert not beat, "what is pending is asked for after a nack with an old number, and heartbeats go on"
    else:
        assert beat, "after a nack with an old number heartbeats cease, or begin anew, and nothing is asked for"


@rule("URB-141", roles=SUBSCRIBER)
def test_padding_beside_live(node: NodeUnderTest) -> None:
    """Say of a session that it lives, with padding that is not 0; then that it is dead, with such padding as well.

    Heartbeats go on after the first, and all is asked for again after the second.
    """
    publisher = in_session(node, "a")
    since, number = publisher.place, number_of(publisher.beats()[-1])
    for padding in (0x7F, 0x40, 0x01):
        publisher.say(HeartbeatResponse(publisher.session, number, live=True, padding=padding))
    beat = publisher.next_beat(number)
    assert not publisher.requests("a", since=since), "live with padding is taken for a nack"
    assert beat, "heartbeats cease after live with padding"
    since, number = publisher.place, number_of(beat)
    publisher.say(HeartbeatResponse(publisher.session, number, live=False, padding=0x7F))
    again = publisher.requested("a", since=since, seconds=node.timing.within(BEAT / 2))
    assert again, "a nack with padding is not taken for one"
