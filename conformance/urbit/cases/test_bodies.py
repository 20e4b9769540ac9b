"""Urbit, "Packet Types": what a publisher makes of bodies that are cut, too long, badly signed, or come twice."""

from conformance.cases import rule
from conformance.urbit.offences import Offended, Spoilt, about
from conformance.urbit.roles import PUBLISHER
from conformance.urbit.sessions import lives, require_lease, tell
from harness.urbit.tester.node_under_test import NodeUnderTest
from wire.urbit.signatures import request_input
from wire.urbit.values import (
    Body,
    HeartbeatRequest,
    Packet,
    Promise,
    ScryRequest,
    with_checksum,
    write,
)


@rule("URB-023", roles=PUBLISHER)
def test_more_than_a_body(node: NodeUnderTest) -> None:
    """Send packets with one byte and with many behind their bodies.

    They are dropped, or the bytes are ignored: nothing else is promised, and the session lives on.
    """
    asking = node.main
    asking.promised("kept")
    asking.promised("cancelled")
    asking.heartbeat()
    heartbeat = HeartbeatRequest(asking.id, asking.number + 1)
    bodies: list[Body] = [asking.request_for("longer"), heartbeat, asking.cancellation_of("cancelled")]
    since = asking.place
    for extra in (b"\0", b"\1", b"/more", bytes(300)):
        for body in bodies:
            for _ in range(asking.copies):
                asking.send_bytes(with_checksum(write(asking.packet(body)) + extra))
    asking.number += 1
    asking.settle()
    seen = {about(event.packet) for event in asking.received(Promise, since=since)}
    # What was asked for before may be promised once more, late.
    asked = {asking.path(name) for name in ("kept", "cancelled", "longer")}
    assert seen <= asked, "a request with more bytes behind its path is promised another path"
    node.shows("URB-023", "A15", "B" if asking.path("longer") in seen else "A")
    assert lives(node, asking), "a session is dead after packets with more bytes than they need"
    assert tell(node, asking, "kept"), "a promise is not kept after packets with more bytes than they need"


@rule("URB-024", roles=PUBLISHER)
def test_less_than_a_body(node: NodeUnderTest) -> None:
    """Send packets whose bodies end before their last byte, in the middle of a field, and before the first.

    They are dropped.
    """

    def spoil(packet: Packet) -> Spoilt:
        frame = write(packet)
        # The body is what stands behind the header, the ticks and the numbers of a planet and a galaxy.
        size = len(frame) - (4 + 1 + 4 + 2)
        for missing in sorted({1, 2, 5, 8, 9, size // 2, size - 1, size}):
            yield with_checksum(frame[:-missing])

    offended = Offended(node)
    offended.offend(spoil)
    path = offended.asking.path("spoilt")
    answers = [about(event.packet) or b"" for event in offended.asking.received(Promise, since=offended.since)]
    assert not any(path.startswith(each) for each in answers), "a request is promised that is cut short"
    offended.heard_nothing()


@rule("URB-135", roles=PUBLISHER)
def test_paths_that_are_not_ascii(node: NodeUnderTest) -> None:
    """Ask for paths with bytes above 127.

    They are not promised; the session lives on.
    """
    asking = node.main
    asking.promised("kept")
    since = asking.place
    paths = {asking.namespace + odd for odd in (b"caf\xc3\xa9", b"\x80", b"\xff/below")}
    for path in paths:
        asking.say(ScryRequest(path, 1, asking.sign(request_input(path, 1))))
    asking.settle()
    promised = {about(event.packet) for event in asking.received(Promise, since=since)}
    node.shows("URB-135", "A14", "B" if promised & paths else "A")
    assert lives(node, asking), "a session is dead after a request for a path that is not ASCII"


@rule("URB-136", roles=PUBLISHER)
def test_paths_without_form(node: NodeUnderTest) -> None:
    """Ask for paths that are empty, begin without a slash, hold control characters or empty segments, or are long.

    They are promised or passed over; the session lives, its promise is kept, and others are promised.
    """
    asking = node.main
    id = asking.promised("kept").session
    asking.heartbeat()
    since = asking.place
    space = asking.namespace
    paths = (b"", b"/", space[1:] + b"x", b"x", space + b"a\0b", space + b"\x01\n\x7f", space + b"a//b", space + b"a/")
    for path in (*paths, space + b"x" * 400, space + b"long/" * 250):
        asking.say(ScryRequest(path, 1, asking.sign(request_input(path, 1))))
        asking.beat_on()
    asking.settle()
    for event in asking.received(Promise, since=since):
        assert event.packet.body.session == id, "a path without form is promised under another id"  # type: ignore[union-attr]
    assert lives(node, asking), "a session is dead after requests for paths without form"
    assert asking.request("next") is not None, "after requests for paths without form others are not answered"
    assert tell(node, asking, "kept"), "a promise is not kept after requests for paths without form"


@rule("URB-144", roles=PUBLISHER, needs=("URB-042",))
def test_every_packet_twice(node: NodeUnderTest) -> None:
    """Send each request, heartbeat and cancellation twice.

    There is one session, it lives, what was cancelled once or twice is not told, and the rest is.
    """
    asking = node.main

    def twice(body: Body) -> None:
        for _ in range(2):
            asking.say(body)

    id = asking.promised("kept").session
    for name in ("kept", "dropped", "again", "once"):
        twice(asking.request_for(name))
        asking.promised(name)
    for _ in range(3):
        asking.number += 1
        asking.renew()
        twice(HeartbeatRequest(id, asking.number))
    assert lives(node, asking), "a session is dead when each packet comes twice"
    twice(asking.cancellation_of("dropped"))
    twice(asking.cancellation_of("again"))
    asking.cancel("once")
    asking.settle()
    twice(asking.request_for("again"))
    asking.settle()
    ids = {event.packet.body.session for event in asking.received(Promise)}  # type: ignore[union-attr]
    if ids != {id}:
        require_lease(node, asking.renewed)
        raise AssertionError("a request that comes twice opens a second session")
    for name in ("dropped", "once"):
        asking.beat_on()
        node.grow(name)
    for name in ("kept", "again"):
        assert tell(node, asking, name), "a value is not told when each packet comes twice"
    asking.settle()
    for name in ("dropped", "once"):
        assert not asking.notifications(name), "a value is told whose promise was cancelled, as the request came twice"


@rule("URB-148", roles=PUBLISHER)
def test_requests_with_wrong_signatures(node: NodeUnderTest) -> None:
    """Send requests with signatures of zeros, of another ship, and of another path, for new paths and a promised one.

    They are promised, or passed over; the session lives, and its promise is kept.
    """
    asking = node.main
    id = asking.promised("kept").session
    asking.heartbeat()
    since = asking.place
    for name in ("forged", "kept"):
        path = asking.path(name)
        for signature in (
            bytes(64),
            asking.sign(request_input(path, 1), node.other.me),
            asking.sign(request_input(path, 2)),
            asking.sign(request_input(path + b"/x", 1)),
        ):
            asking.say(ScryRequest(path, 1, signature))
    asking.settle()
    promised = {about(event.packet) for event in asking.received(Promise, since=since)}
    node.shows("URB-148", "A10", "B" if asking.path("forged") in promised else "A")
    assert lives(node, asking), "a session is dead after requests with wrong signatures"
    assert asking.promised("more").session == id, "requests with wrong signatures open another session"
    assert tell(node, asking, "kept"), "a promise is not kept after a request with a wrong signature"
