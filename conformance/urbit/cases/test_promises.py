"""Urbit, "Overview of a Solution": promises of what is not there yet, and the sessions that they open."""

from itertools import pairwise

from conformance.cases import rule
from conformance.urbit.roles import PUBLISHER
from conformance.urbit.sessions import lives, require_lease, told
from harness.urbit.tester.conversation import is_genuine
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber
from wire.urbit.values import Promise, ScryResponse

NAMES = ("a/B", "a/b", "a", "a b.c~d/34", "x" * 200 + "/y", "x" * 200)
"""Of paths: nested, in both cases, with marks and spaces, and longer than a byte counts."""

FRAGMENTS = (300, 2, 2**32 - 1, 1)
"""What might be taken for another comes before that: what was asked for later cannot be meant."""

SHIPS = 32
"""Sessions whose ids are compared: in so many random ones each bit is 0 in some and 1 in others."""

VARYING = 16
"""Bits of each half of an id that have to differ between sessions: half of them, for whoever has fewer than 64."""

MANY = 40
"""Requests at once: more than anybody would look through by hand, and no burden for a socket."""


def promises(asking: TestSubscriber, since: int = 0) -> list[Promise]:
    """Return the promises that have come to a subscriber since a place."""
    bodies = (event.packet.body for event in asking.received(Promise, since=since))
    return [body for body in bodies if isinstance(body, Promise)]


@rule("URB-031", roles=PUBLISHER)
def test_a_value_that_is_there(node: NodeUnderTest) -> None:
    """Have values grow, and ask for them as several ships.

    They come, and no promises.
    """
    for name in ("there", "there/too"):
        node.grow(name, f"the value of {name}")
        for asking in (node.main, *node.of_all_ranks(), node.main):
            answer = asking.request(name)
            assert answer is not None, "a request for a value is not answered"
            body = answer.packet.body
            assert isinstance(body, ScryResponse), "a request for a value is answered by a promise"
            assert body.data == f"the value of {name}".encode(), "a request for a value is answered by another one"
    node.grow("there/empty", "")
    answer = node.main.request("there/empty")
    assert answer is not None, "a request for a value without any bytes is not answered"
    assert answer.form is ScryResponse, "a request for a value without any bytes is answered by a promise"


@rule("URB-031", roles=PUBLISHER, needs=("URB-040",))
def test_a_value_that_was_promised(node: NodeUnderTest) -> None:
    """Ask for a value that was promised, told and cancelled, and as another ship for one that was only promised.

    It comes.
    """
    node.main.promised("later")
    node.grow("later")
    node.main.surely(told(node, node.main, "later"), "notification")
    node.main.cancel("later")
    node.main.settle()
    for asking in (node.main, node.subscriber()):
        answer = asking.request("later")
        assert answer is not None, "a request for a value that was promised before is not answered"
        assert answer.form is ScryResponse, "a request for a value that was promised before is answered by a promise"


@rule("URB-032", roles=PUBLISHER)
def test_the_id_of_the_first_promise(node: NodeUnderTest) -> None:
    """Be promised something, as ships of all ranks, and send heartbeats with the ids of these promises.

    The sessions live.
    """
    for asking in (node.main, *node.of_all_ranks()):
        asking.promised("none/yet")
        assert lives(node, asking), "a heartbeat with the id of the first promise is told that there is no such session"


@rule("URB-033", roles=PUBLISHER)
def test_the_ids_of_many_sessions(node: NodeUnderTest) -> None:
    """Be promised something as 32 ships.

    Their ids differ, at no fixed distance, in high bits and low ones.
    """
    ids = [node.subscriber().promised("none/yet").session for _ in range(SHIPS)]
    assert len(set(ids)) == SHIPS, "two sessions have the same id"
    distances = {(later - earlier) % 2**64 for earlier, later in pairwise(ids)}
    assert len(distances) > SHIPS // 2, "the ids of sessions follow each other at fixed distances"
    seen, always = 0, 2**64 - 1
    for id in ids:
        seen, always = seen | id, always & id
    varying = seen & ~always
    for half, bits in (("high", varying >> 32), ("low", varying & 0xFFFFFFFF)):
        assert bits.bit_count() >= VARYING, f"the {half} bits of all sessions' ids are the same"


@rule("URB-034", roles=PUBLISHER)
def test_what_promises_name(node: NodeUnderTest) -> None:
    """Ask for fragments of several paths, while another ship waits for something else.

    Promises name what was asked for; the other ship hears nothing.
    """
    node.other.promised("something/else")
    node.other.settle()
    since = node.other.place
    asked = set()
    for name in NAMES:
        for fragment in FRAGMENTS:
            asked.add((node.main.path(name), fragment))
            # That no promise comes at all is for other cases.
            node.main.request(name, fragment)
            named = {(body.path, body.fragment) for body in promises(node.main)}
            assert named <= asked, "a promise names a path or a fragment that was not asked for"
    node.other.settle()
    assert not promises(node.other, since), "a ship is promised what another ship has asked for"


@rule("URB-035", roles=PUBLISHER)
def test_two_addresses(node: NodeUnderTest) -> None:
    """Ask and send heartbeats as two ships from two addresses, in turn.

    All that is answered arrives where it was asked for.
    """
    ships = (node.main, node.other)
    for name in ("one", "two"):
        for asking in ships:
            answer = asking.request(name)
            assert answer is not None, "a request is not answered at the address that it came from"
        for asking in ships:
            assert asking.beat() is not None, "a heartbeat is not answered at the address that it came from"
    node.main.settle()
    for asking in ships:
        to = {event.packet.receiver for event in asking.received()}
        assert to == {asking.me}, "what is for another ship arrives at an address"


@rule("URB-036", roles=PUBLISHER)
def test_signatures_of_promises(node: NodeUnderTest) -> None:
    """Be promised fragments of several paths, as ships of all ranks.

    The publisher has signed all of it.
    """
    for asking in (node.main, *node.of_all_ranks()):
        for name, fragment in zip(NAMES, FRAGMENTS * 2, strict=False):
            asking.promised(name, fragment)
        for event in asking.received(Promise):
            assert is_genuine(event.packet), "a promise has another signature than the publisher's"


@rule("URB-037", roles=PUBLISHER, needs=("URB-040",))
def test_promises_of_one_session(node: NodeUnderTest) -> None:
    """Be promised one thing after the other: between heartbeats, after all was cancelled, after something was told.

    All promises have the same id.
    """
    asking = node.main

    def is_of_the_session(name: str) -> bool:
        renewed = asking.renewed
        session = asking.session
        id = asking.promised(name).session
        if id != session:
            require_lease(node, renewed)
        return id == session

    asking.promised("first")
    assert is_of_the_session("second"), "the second promise of a session has another id"
    asking.heartbeat()
    assert is_of_the_session("third"), "a promise after a heartbeat has another id"
    for name in ("first", "second", "third"):
        asking.cancel(name)
    asking.settle()
    asking.beat_on()
    assert is_of_the_session("fourth"), "a promise has another id when all was cancelled before"
    node.grow("fourth")
    asking.surely(told(node, asking, "fourth"), "notification")
    asking.beat_on()
    assert is_of_the_session("fifth"), "a promise has another id when something was told before"


@rule("URB-038", roles=PUBLISHER)
def test_a_repeated_request(node: NodeUnderTest) -> None:
    """Repeat a request whose path is pending.

    It is promised again under the same id, or passed over; the session lives on, and there is no other.
    """
    asking = node.main
    first = asking.promised("pending")
    asking.heartbeat()
    since = asking.place
    for _ in range(3):
        asking.say(asking.request_for("pending"))
    asking.settle()
    again = promises(asking, since)
    if any(promise.session != first.session for promise in again):
        require_lease(node, asking.renewed)
        raise AssertionError("a repeated request is promised under another id")
    node.shows("URB-038", "A16", "A" if again else "B")
    assert lives(node, asking), "a session is dead after a repeated request"
    assert asking.promised("another").session == first.session, "after a repeated request there is another session"


@rule("URB-039", roles=PUBLISHER)
def test_ships_have_sessions_of_their_own(node: NodeUnderTest) -> None:
    """Be promised the same as several ships, two of them at one address.

    Each has another id.
    """
    ids = [asking.promised("the/same").session for asking in (node.main, *node.of_all_ranks())]
    beside = node.neighbour(node.main)
    answer = beside.ask(
        lambda: beside.send(beside.request_for("the/same")),
        lambda event: event.form is Promise and event.packet.receiver == beside.me,
    )
    promise = beside.surely(answer, "promise to a second ship at the same address").packet.body
    assert isinstance(promise, Promise)
    assert promise.session not in ids, "two ships at one address have the same session"
    assert len(set(ids)) == len(ids), "two ships have the same session"


@rule("URB-059", roles=PUBLISHER)
def test_many_requests_at_once(node: NodeUnderTest) -> None:
    """Ask for forty paths at once, and for several fragments of one; then ask again for what was not answered.

    All is promised; of fragments behind the first, which there may never be, all or none.
    """
    asking = node.main
    asking.promised("first")
    asking.heartbeat()
    wanted = [(f"many/{number}", 1) for number in range(MANY)] + [("many", fragment) for fragment in FRAGMENTS]
    for name, fragment in wanted:
        asking.send(asking.request_for(name, fragment))
    asking.settle()
    promised = {(body.path, body.fragment) for body in promises(asking)}
    later = {fragment for path, fragment in promised if path == asking.path("many") and fragment > 1}
    for name, fragment in wanted:
        is_due = fragment == 1 or later
        if is_due and (asking.path(name), fragment) not in promised:
            assert asking.request(name, fragment), "of many requests of one session some are never promised"
