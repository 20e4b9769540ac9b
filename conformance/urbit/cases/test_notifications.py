"""Urbit, "Overview of a Solution": what is promised is told once it is there, and told again until it is cancelled."""

from itertools import pairwise
from statistics import median

from conformance.cases import NotPlayed, judging, rule
from conformance.urbit.roles import PUBLISHER
from conformance.urbit.sessions import PROMPT, tell, told, wait
from harness.errors import NotAnswered
from harness.urbit.tester.driver import Driver
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from wire.urbit.values import ScryResponse

WATCHED = 95.0
"""Seconds for which repeats are watched: a backoff that begins with 5 seconds and grows by 4 brings three of them."""

BETWEEN = 20.0
"""Seconds between two heartbeats meanwhile."""

APART = 3.0
"""Seconds between two values."""

GROWING = 1.2
"""How many times as long as the first a late pause is at least: less than any factor that is known."""

SHRUNK = 0.6
"""The part of the pause before that a pause is at least: some let chance change each of them a little."""

MANY = 100
"""Promises of one session: more than anybody would have made a table for."""

PATIENT, ABSENT = 20.0, 5.0
"""Seconds, and how many times the last pause, after which nothing is taken to be repeated any more."""


def response(event: Event) -> ScryResponse:
    """Return the body of a notification."""
    body = event.packet.body
    assert isinstance(body, ScryResponse)
    return body


@rule("URB-040", roles=PUBLISHER)
def test_promised_values_are_told(node: NodeUnderTest) -> None:
    """Be promised several paths, as ships of all ranks, and have them grow one by one.

    Each is told unasked.
    """
    names = ("first", "second", "second/below", "long" * 50)
    ships = (node.main, *node.of_all_ranks())
    # The last ones send no heartbeat before: a session lives from its promise on.
    for asking in ships:
        for name in names:
            asking.promised(name)
    for name in names:
        node.grow(name)
        for asking in ships:
            assert told(node, asking, name), "a promised value has grown, and is not told"
            asking.beat_on()


@rule("URB-041", roles=PUBLISHER)
def test_all_are_told(node: NodeUnderTest) -> None:
    """Be promised the same as a dozen ships of all ranks, and have it grow.

    Each of them is told, also who asked twice or for another fragment as well.
    """
    ships = [node.main, *node.of_all_ranks(), *node.of_all_ranks(), *(node.subscriber() for _ in range(3))]
    for asking in ships:
        asking.promised("for/all")
    node.main.promised("for/all", 2)
    node.main.promised("for/all")
    for asking in ships:
        asking.beat_on()
    node.grow("for/all")
    for asking in ships:
        assert told(node, asking, "for/all"), "a value that several were promised is not told to all of them"


@rule("URB-041", roles=PUBLISHER)
def test_neighbours_are_told(node: NodeUnderTest) -> None:
    """Be promised the same as two ships at one address, and have it grow.

    Both are told.
    """
    one = node.main
    other = node.neighbour(one)
    for asking in (one, other):
        asking.promised("for/both")
        asking.beat_on()
    since = one.place
    node.grow("for/both")

    def are_told(_: Event) -> bool:
        heard = {event.packet.receiver.number for event in one.notifications("for/both", since=since)}
        return heard >= {one.me.number, other.me.number}

    seconds = node.timing.within(PROMPT)
    assert one.wait_for(are_told, since=since, seconds=seconds), "of two ships at one address one is not told a value"


@rule("URB-040", roles=PUBLISHER)
def test_many_promises(node: NodeUnderTest) -> None:
    """Be promised a hundred paths, and have the first grow, some in between, and the last.

    All of these are told.
    """
    asking, names = node.main, [f"many/{number}" for number in range(MANY)]
    for number, name in enumerate(names):
        asking.promised(name)
        # It may be far away, and its sessions last no longer than others.
        if number % 10 == 0:
            asking.beat_on()
    for name in (names[0], names[1], names[MANY // 2], names[-1]):
        asking.beat_on()
        assert tell(node, asking, name), "of many promised values some are not told"


@rule("URB-042", roles=PUBLISHER)
def test_a_request_is_no_ack(node: NodeUnderTest) -> None:
    """Be told a value, and ask for it once more.

    It is repeated as before: only a cancellation ends that.
    """
    asking = node.main
    asking.promised("repeated")
    asking.promised("control")
    for name in ("repeated", "control"):
        asking.surely(tell(node, asking, name), "notification")
    asking.fetched("repeated")
    asking.settle()
    since = asking.place
    asking.beat_on()

    def is_again(name: str) -> bool:
        def are_there(_: Event) -> bool:
            return len(asking.notifications(name, since=since)) > 1

        return wait(node, asking, are_there, WATCHED / 2, since=since) is not None

    if not is_again("control"):
        raise NotAnswered("no notification is repeated")
    assert is_again("repeated"), "a value is not repeated any more once it was asked for again"


@rule("URB-155", roles=PUBLISHER)
def test_values_are_told_at_once(node: NodeUnderTest) -> None:
    """Be promised some paths, and have them grow one by one, the last when nothing was said for a while.

    Each is told within ten seconds.
    """
    if node.instance.loses:
        raise NotPlayed("what is lost is told again later, and nobody knows whether it was told before")
    asking = node.main
    names = ("one", "two", "three")
    for name in names:
        asking.promised(name)
    asking.heartbeat()
    for name in names:
        if name == names[-1]:
            # As long as nobody is in the middle of anything else.
            asking.pause(PROMPT)
        node.grow(name)
        grown = node.trace.now()
        event = told(node, asking, name)
        assert event is not None, "a value is not told within ten seconds"
        assert node.elapsed(grown, event.time) <= PROMPT + node.slack, "a value is told later than ten seconds"
        asking.cancel(name)


@rule("URB-042", "URB-043", roles=PUBLISHER)
def test_repeats(node: NodeUnderTest) -> None:
    """Be told five values and cancel none, while heartbeats go on, for a minute and a half.

    They are repeated, and the pauses grow, each in its own time, up to a longest one.
    """
    if node.instance.repeats:
        raise NotPlayed("what comes twice was not repeated by the publisher")
    asking, names = node.main, [f"repeated/{number}" for number in range(5)]
    for name in names:
        asking.promised(name)
    for name in names:
        asking.surely(tell(node, asking, name), "notification")
        # One after the other: the tester may stand still for a moment, and not each time that a pause is measured.
        asking.pause(APART)
    began = node.trace.now()
    while node.elapsed(began) < WATCHED:
        asking.beat_on()
        asking.pause(BETWEEN)
    times = [[event.time for event in asking.notifications(name)] for name in names]
    gaps = [[node.elapsed(*two) for two in pairwise(each)] for each in times]
    with judging("URB-042"):
        assert all(gaps), "a notification that nobody cancels is not repeated"
        if not node.instance.loses:
            silences = [
                (node.elapsed(each[-1]), max(PATIENT, ABSENT * gap[-1])) for each, gap in zip(times, gaps, strict=True)
            ]
            assert all(silence <= most + node.slack for silence, most in silences), (
                "a notification that nobody cancels is not repeated any more"
            )
    with judging("URB-043"):
        # Those in the middle, of the first pauses and of the later ones.
        first = median(gap[0] for gap in gaps)
        last = median(pause for gap in gaps for pause in gap[-max(1, len(gap) // 3) :])
        assert last >= GROWING * first, "the pauses between repeats do not grow"
        if not node.instance.loses:
            # One pause after the other, of five notifications each: who stands still for a moment delays two of them.
            pauses = [median(each) for each in zip(*gaps, strict=False)]
            assert all(later >= SHRUNK * earlier - node.slack / 5 for earlier, later in pairwise(pauses)), (
                "a pause between repeats is shorter than the one before"
            )
    node.shows("URB-043", "A17", "A" if first <= 5 + node.slack else "B")


@rule("URB-054", roles=PUBLISHER)
def test_a_notification_is_a_response(node: NodeUnderTest) -> None:
    """Be told values that were promised, one of them longer than a fragment, and ask for them as another ship.

    Path, fragment and data are the same.
    """
    asking, other = node.main, node.other
    for name, text in (("short", "x"), ("long", "0123456789" * 150)):
        asking.promised(name)
        event = asking.surely(tell(node, asking, name, text), "notification")
        told_, fetched = response(event), other.fetched(name)
        for what in ("path", "fragment", "data", "total"):
            assert getattr(told_, what) == getattr(fetched, what), (
                f"{what} is another in a notification than in a response"
            )
    asking.settle()
    others = [event for event in asking.received(ScryResponse) if response(event).fragment != 1]
    node.shows("URB-054", "A29", "B" if others else "A")


@rule("URB-054", roles=PUBLISHER, needs=("URB-043",))
def test_a_later_fragment(node: NodeUnderTest) -> None:
    """Be promised the second fragment of a value that has two, and ask for it as another ship when it is told.

    Path, fragment and data are the same.
    """
    node.main.promised("long", 2)
    node.grow("long", "0123456789" * 150)
    if node.other.fetched("long").total != 2:
        raise NotPlayed("the value is not in two fragments")
    event = told(node, node.main, "long", 2)
    assert event is not None, "the fragment that was promised is not told"
    told_, fetched = response(event), node.other.fetched("long", 2)
    assert (told_.path, told_.data) == (fetched.path, fetched.data), "a fragment is another one when it is told"


@rule("URB-156", roles=PUBLISHER, needs=("URB-040",))
def test_who_has_not_asked(node: NodeUnderTest) -> None:
    """Be promised a path while others wait for paths like it, have a session, or asked for something that is there.

    It is told to nobody else.
    """
    node.grow("there")
    above, below, fetching = node.subscriber(), node.subscriber(), node.subscriber()
    beside = node.neighbour(node.main)
    above.promised("pa"), below.promised("path/below"), fetching.fetched("there")
    node.main.promised("path")
    node.main.surely(tell(node, node.main, "path"), "notification")
    node.main.surely(node.main.request("path"), "response")
    for asking in (above, below, fetching):
        asking.settle()
        assert not about(asking, node.main.path("path")), "a value is sent to a ship that has not asked for it"
    to = {event.packet.receiver for event in about(beside, node.main.path("path"))}
    assert to == {node.main.me}, "a value is sent to a ship that has not asked for it"


def about(driver: Driver, path: bytes) -> list[Event]:
    """Return the scry responses about a path that have come to an address."""
    return [event for event in driver.received(ScryResponse) if response(event).path == path]
