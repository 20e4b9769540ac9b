"""Section "Overview of a Solution": the heartbeats of a subscriber, while they are answered."""

from itertools import combinations

from conformance.cases import judging, rule
from conformance.urbit.roles import SUBSCRIBER
from conformance.urbit.subscriber_sessions import (
    TOLERANCE,
    assert_next_numbers,
    assert_pace,
    in_session,
    promised_at,
    series,
)
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import number_of
from harness.urbit.tester.subscriber import BEAT
from wire.urbit.values import HeartbeatResponse

SLOW = 8.0
"""Seconds by which an answer is late: many more than heartbeats may be."""

AT_ONCE = 2.0
"""Seconds within which a heartbeat is one that was sent as soon as the promise was there."""


@rule("URB-090", "URB-092", "URB-153", roles=SUBSCRIBER)
def test_the_first_heartbeat(node: NodeUnderTest) -> None:
    """Promise a path.

    A heartbeat with the session's id comes within 25 seconds, and has the number 1.
    """
    node.want("a")
    publisher = node.publisher
    publisher.surely(publisher.requested("a"), "request")
    beat = publisher.beat_of()
    with judging("URB-153"):
        others = [each.packet.body for each in publisher.received() if each.form.__name__ == "HeartbeatRequest"]
        assert beat or not others, f"heartbeats come, and of another session than was promised: {others[:1]}"
    with judging("URB-090"):
        assert beat, "no heartbeat comes"
        seconds = node.elapsed(promised_at(publisher, publisher.session, beat), beat.time)
        assert seconds <= (1 + TOLERANCE) * BEAT + node.slack, f"the first heartbeat comes after {seconds:.0f} s"
        node.shows("URB-090", "A23", "A" if seconds <= AT_ONCE + node.slack else "B")
    with judging("URB-092"):
        assert number_of(beat) == 1 or node.instance.loses, f"the first heartbeat has the number {number_of(beat)}"


@rule("URB-091", "URB-093", "URB-112", "URB-118", roles=SUBSCRIBER)
def test_heartbeats_of_several_paths(node: NodeUnderTest) -> None:
    """Promise two paths in a session, and a third one between two heartbeats; answer all of them as of a live session.

    There is one series of heartbeats, 25 seconds apart, each with the next number; nothing is asked for again.
    """
    publisher = in_session(node, "a", "b")
    publisher.answers = True
    place = publisher.place
    # Behind the second heartbeat, and long before the third.
    publisher.pause(1.3 * BEAT)
    node.want("c")
    publisher.pause(1.2 * BEAT)
    beats = series(node, publisher)
    with judging("URB-112"):
        for one, two in combinations(beats, 2):
            apart = node.elapsed(one.time, two.time)
            is_again = number_of(one) == number_of(two) and apart < (1 - TOLERANCE) * BEAT - node.slack
            assert not is_again, f"number {number_of(one)} comes twice in {apart:.1f} s"
    with judging("URB-091"):
        silence = node.elapsed(beats[-1].time)
        is_late = silence > (1 + TOLERANCE) * BEAT + node.slack
        assert not is_late or node.instance.loses, f"no heartbeat comes for {silence:.0f} s"
    with judging("URB-093"):
        assert_next_numbers(node, beats)
    with judging("URB-118"):
        # Who asks again now and then has other reasons (URB-110): after each answer he does so.
        answers = [event.time for event in publisher.sent(HeartbeatResponse, since=place)]
        again = publisher.requests("a", since=place) + publisher.requests("b", since=place)
        hasty = [
            at for at in answers if any(0 <= node.elapsed(at, event.time) <= AT_ONCE + node.slack for event in again)
        ]
        assert len(hasty) < max(2, len(answers)), "what is promised is asked for again after an answer that says live"
    with judging("URB-091"):
        assert_pace(node, beats)


@rule("URB-094", roles=SUBSCRIBER)
def test_slow_answers(node: NodeUnderTest) -> None:
    """Answer heartbeats eight seconds late.

    They are 25 seconds apart all the same.
    """
    publisher = in_session(node, "a")
    number = number_of(publisher.beats()[-1])
    for _ in range(3):
        publisher.pause(SLOW)
        publisher.say(publisher.live(number))
        beat = publisher.next_beat(number)
        assert beat, "no heartbeat comes after an answer that was slow"
        number = number_of(beat)
    assert_pace(node, series(node, publisher))


@rule("URB-118", roles=SUBSCRIBER)
def test_answers_to_other_heartbeats(node: NodeUnderTest) -> None:
    """Say live of a session again and again: of its last heartbeat, of an old one, of one that was not sent.

    The next heartbeat has the same id and the next number, and nothing is asked for again.
    """
    publisher = in_session(node, "a")
    since, number = publisher.place, number_of(publisher.beats()[-1])
    for each in (number, number, 0, number + 1, 2**64 - 1):
        publisher.say(publisher.live(each))
    beat = publisher.next_beat(number)
    assert not publisher.requests("a", since=since), "a path is asked for again after answers that say live"
    assert beat, "heartbeats cease, or begin anew, after answers that say live"
    assert number_of(beat) == number + 1 or node.instance.loses, f"number {number_of(beat)} comes after {number}"
