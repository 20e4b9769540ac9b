"""Sections "Session-Based Notifications Protocol", "Problems with Naive Scry Polling": what a subscriber asks for."""

from itertools import pairwise

from conformance.cases import Inconclusive, NotPlayed, judging, rule
from conformance.urbit.roles import SUBSCRIBER
from conformance.urbit.subscriber_sessions import assert_next_numbers, assert_pace, in_session, series, told
from harness.urbit.ships import OTHER
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import number_of
from wire.urbit.values import ScryRequest

NAMES = ("a", "a/b", "A~z-0.9_", "deep" + 9 * "/deeper", "long/" + 300 * "x")
"""Paths of all kinds: one is the beginning of another, one has many segments, one is nearly as long as can be."""

MINUTES = 285.0
"""Seconds of silence: more than four leases and eleven heartbeats, and less than five minutes (reading A24)."""

LONGEST = 120.0
"""Seconds to which pauses may grow (reading A17)."""

SHRUNK, GROWN = 0.6, 1.3
"""How many times as long as the one before a pause is at least, and the longest of them as long as the shortest: some
are made longer or shorter at random, so that not all who ask do so at once."""


@rule("URB-020", roles=SUBSCRIBER)
def test_paths_of_all_kinds(node: NodeUnderTest) -> None:
    """Have several paths be wanted: short, long and deep ones, one of which is the beginning of another.

    Each is asked for as it is, in full.
    """
    for name in NAMES:
        node.want(name)
    for name in NAMES:
        request = node.publisher.requested(name)
        assert request, f"{name[:20]} is not asked for"
        body = request.packet.body
        assert isinstance(body, ScryRequest)
        node.shows("URB-020", "A10", "A" if any(body.signature) else "B")


@rule("URB-109", "URB-110", "URB-094", "URB-095", roles=SUBSCRIBER, needs=("URB-090",))
def test_a_silent_publisher(node: NodeUnderTest) -> None:
    """Promise a path; then answer nothing for minutes while another path is wanted as well, and answer again.

    Heartbeats go on, as if they were answered. The other path is asked for again and again, with pauses that grow; the
    promised one is not.
    """
    publisher = in_session(node, "promised")
    publisher.be_silent()
    # What was under way as the publisher fell silent is behind this.
    publisher.read()
    since = publisher.place
    node.want("open")
    publisher.pause(MINUTES)
    beats = series(node, publisher)
    with judging("URB-094"):
        assert len(beats) > 2, "without an answer no further heartbeats come"
        assert_next_numbers(node, beats[:4])
        assert_pace(node, beats[:4])
    with judging("URB-095"):
        latest = node.elapsed(beats[-1].time)
        assert latest <= 2 * 25.0 + node.slack, f"the last heartbeat came {latest:.0f} s ago"
        assert_next_numbers(node, beats)
    with judging("URB-110"):
        assert not publisher.requests("promised", since=since), "a promised path is asked for while its session lives"
    with judging("URB-109"):
        assert_backoff(node, publisher.requests("open", since=since))
    publisher.serve()
    with judging("URB-095"):
        for _ in range(2):
            beat = publisher.next_beat(number_of(beats[-1]))
            assert beat, "heartbeats cease, or begin anew, when answers come again"
            beats.append(beat)


@rule("URB-109", "URB-104", roles=SUBSCRIBER, needs=("URB-090",))
def test_what_is_not_promised(node: NodeUnderTest) -> None:
    """Have several paths be wanted, and promise a short and a long one; of the others promise one in the same session
    without having signed it, and of one another fragment.

    These are asked for again.
    """
    long = "long/" + 270 * "x"
    wanted = ("a", "b", "forged", "fragment", f"{long}/1", f"{long}/2")
    for name in wanted:
        node.want(name)
    publisher = node.publisher
    publisher.promises = False
    for name in wanted:
        publisher.surely(publisher.requested(name), "request")
    for name in ("a", f"{long}/1"):
        publisher.say(publisher.promise_of(publisher.path(name)))
    publisher.say(publisher.promise_of(publisher.path("forged"), signer=OTHER))
    publisher.say(publisher.promise_of(publisher.path("fragment"), 2))
    publisher.heartbeat()
    publisher.read()
    since = publisher.place
    for name, id in (("b", "URB-109"), ("forged", "URB-104"), ("fragment", "URB-109"), (f"{long}/2", "URB-109")):
        with judging(id):
            again = publisher.requested(name, since=since, seconds=node.timing.within(LONGEST))
            assert again, f"{name[:20]}, which was not promised, is asked for no more"


def assert_backoff(node: NodeUnderTest, asked: list[Event]) -> None:
    """Demand that a path was asked for again and again up to now, with pauses that grew."""
    assert len(asked) > 1, "a request that nobody answers is not sent again"
    pauses = [node.elapsed(one.time, two.time) for one, two in pairwise(asked)]
    waited = node.elapsed(asked[-1].time)
    # Four times as long as the pause before is a long one, and two minutes are the longest.
    most = min(LONGEST, 4 * max(pauses)) + node.slack
    assert waited <= most, f"after {len(asked)} requests no more came for {waited:.0f} s"
    if node.instance.loses or node.instance.repeats:
        return  # pauses are longer for what was lost, and shorter for what came twice
    said = ", ".join(f"{pause:.1f}" for pause in pauses)
    assert len(pauses) == 1 or max(pauses) > GROWN * min(pauses), f"the pauses do not grow: {said} s"
    for one, two in pairwise(pauses):
        assert two >= SHRUNK * one - node.slack, f"the pauses shrink: {said} s"
    node.shows("URB-109", "A17", "A" if pauses[0] <= 5.0 + node.slack and max(pauses) <= LONGEST else "B")


@rule("URB-113", roles=SUBSCRIBER)
def test_a_publisher_without_promises(node: NodeUnderTest) -> None:
    """Answer nothing until a path was asked for three times; then answer with the value, to whatever is asked.

    It is told to the application.
    """
    node.want("slow")
    publisher = node.publisher
    publisher.promises = False
    place = 0
    for _ in range(3):
        request = publisher.requested("slow", since=place, seconds=node.timing.within(LONGEST / 4))
        if request is None:
            raise Inconclusive("a request is not sent three times")
        place = publisher.conversation.events.index(request, place) + 1
    publisher.values[publisher.path("slow")] = b"at last"
    publisher.cancelled("slow", seconds=node.timing.within(LONGEST))
    assert told(node, "slow") == ["at last"], "the answer to a request that was repeated is not told"


@rule("URB-113", roles=SUBSCRIBER)
def test_a_value_that_is_there(node: NodeUnderTest) -> None:
    """Answer the first request for a path with its value.

    It is told to the application, although there never was a promise.
    """
    node.want("there")
    publisher = node.publisher
    publisher.values[publisher.path("there")] = b"always"
    assert told(node, "there") == ["always"], "a value that is there at once is not told"


@rule("URB-109", roles=SUBSCRIBER)
def test_a_promise_that_is_lost(node: NodeUnderTest) -> None:
    """Answer the first request for each of two paths with nothing, and all others with a promise.

    Both are asked for again.
    """
    if node.instance.loses:
        raise NotPlayed("the first request may be lost")
    for name in ("one", "two"):
        node.want(name)
    publisher = node.publisher
    publisher.promises = False
    for name in ("one", "two"):
        publisher.surely(publisher.requested(name), "request")
    place = publisher.place
    publisher.promises = True
    for name in ("one", "two"):
        again = publisher.requested(name, since=place, seconds=node.timing.within(LONGEST / 4))
        assert again, f"{name} is asked for once only"
