"""Pathfinder, "Transport Protocol" and "Message Size Limitations": frames, their order, their size, their ends."""

from conformance.cases import rule
from conformance.pathfinder.answers import granted, listed
from conformance.pathfinder.fixtures import Bystanders
from conformance.pathfinder.roles import EVERY_LINK, SERVER
from harness.links.framing import LARGEST
from harness.links.transports import framing_of
from harness.pathfinder.framings import FRAMINGS
from harness.pathfinder.tester.driver import Driver, new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.errors import Reason

FRAMED = ("tcp", "tls")
"""The links on which a length stands before each message."""

# The numbers of these pings are far from those that a session hands out.
PING = b'{"ta-cmd":"ping","ta-id":%d,"msg-type":"request"}'

# Fewer than any server has files for, more than a table of fixed size would have.
STRANGERS = 100


def is_socket(session: Driver) -> bool:
    """Tell whether a connection goes over a socket; in memory nothing lies below frames."""
    return session.link.can_reset


def framed(node: NodeUnderTest, frame: bytes) -> bytes:
    """Return the bytes that carry a frame over the link that is played."""
    return framing_of(FRAMINGS, node.transport).encode(frame)


def tangled(session: Driver) -> list[bytes]:
    """Return the frames that came in which something stands behind the message."""
    return [each.frame for each in session.received() if each.error and each.error.reason is Reason.TRAILING]


@rule("PF-061", roles=SERVER, transports=EVERY_LINK, needs=("PF-098",))
def test_one_message_in_each_frame(node: NodeUnderTest) -> None:
    """Send many requests at once, some of them with many answers.

    Each answer comes in a frame of its own.
    """
    for number in range(5):
        node.other.sure(node.other.publish(node.service(n=[number])))
    session = node.session()
    requests = [("ping", {}), ("services", {"filter": node.mine}), ("clients", {}), ("subscriptions", {})] * 5
    begun = session.finish_all([session.begin(command, fields) for command, fields in requests])
    assert not tangled(session), "a frame holds more than one message"
    assert all(granted(each) for each in begun), "a request among many is not answered"


@rule("PF-061", roles=SERVER, transports=EVERY_LINK)
def test_requests_in_pieces(node: NodeUnderTest) -> None:
    """Send requests byte by byte, then several in one piece.

    They are answered as if each had come in a segment of its own. In memory and in packets there are no pieces, so
    the requests come whole.
    """
    session = node.session()
    frames = [PING % (1000 + number) for number in range(5)]
    # Below packets and calls there is no smaller piece to send.
    in_pieces = is_socket(session) and node.transport != "ux"
    for frame in frames[:2]:
        if in_pieces:
            session.send_pieces(framed(node, frame), frame)
        else:
            session.send_bytes(frame)
    for frame in frames[2:]:
        session.send_bytes(frame)
    pings = session.conversation.transactions[-5:]
    assert all(session.finish(ping).completed for ping in pings), "a request that comes in pieces is not answered"


@rule("PF-061", roles=SERVER, transports=(*FRAMED, "ux"), needs=("PF-120",))
def test_two_messages_in_one_frame(node: NodeUnderTest) -> None:
    """Send two pings in one frame, with and without white space between, while two others are served.

    No answer holds two messages, and the others are served on.
    """
    bystanders = Bystanders(node)
    for between in (b"", b"\n"):
        session = node.session()
        session.offend(PING % 1000 + between + PING % 1001)
        assert not tangled(session), "a frame holds more than one message"
    assert bystanders.are_served(), "two messages in one frame end the service of others"


@rule("PF-064", roles=SERVER, transports=EVERY_LINK)
def test_large_messages(node: NodeUnderTest) -> None:
    """Publish properties of a kilobyte, and of more and more up to the largest frame that there is.

    Each is completed, or it fails, or its connection is ended; another client is served throughout.
    """
    # Past the sizes of usual buffers (8 KiB, 64 KiB), up to the largest frame with as little around it as a publish
    # needs.
    for size in (1 << 10, 1 << 13, 1 << 16, 1 << 17, LARGEST - 4096, LARGEST - 256):
        session = node.session()
        publish = session.publish(node.service(name=["x" * size]))
        assert publish.is_over, "a large message is passed over in silence"
        if not publish.completed:
            node.shows("PF-064", "R37", "B" if publish.failed else "A")
        else:
            session.unpublish(publish.request.fields["service-id"])
        assert node.main.is_served(), "a large message of one client ends the service of others"


@rule("PF-210", roles=SERVER, transports=EVERY_LINK, needs=("PF-157",))
def test_requests_take_effect_in_order(node: NodeUnderTest) -> None:
    """Publish ten generations of a service, take it back and publish it from the beginning, all at once.

    Everything is completed, and the last is what stands.
    """
    session, service = node.session(), node.service(name=["x"])
    # All at once: whoever carries out requests of one client side by side mixes them up.
    asked = [("publish", service.newer(by=number).fields) for number in range(10)]
    asked += [("unpublish", {"service-id": service.id}), ("publish", service.fields)]
    begun = [session.begin(command, fields) for command, fields in asked]
    done = [granted(session.finish(each)) for each in begun]
    session.published[service.id] = service
    assert all(done), "requests that are right in their order are refused"
    assert listed(node, service).get("generation") == 0, "what was asked for last is not what stands"


@rule("PF-210", roles=SERVER, transports=EVERY_LINK, needs=("PF-157",))
def test_answers_show_what_was_asked_before(node: NodeUnderTest) -> None:
    """Publish, list, take back and list, all at once.

    Each listing shows what the requests before it have made of the directory.
    """
    session, service = node.session(), node.service(name=["x"])
    publish = session.begin("publish", service.fields)
    there = session.begin("services", {"filter": node.mine})
    unpublish = session.begin("unpublish", {"service-id": service.id})
    gone = session.begin("services", {"filter": node.mine})
    assert all(granted(session.finish(each)) for each in (publish, there, unpublish, gone)), "a request is refused"
    counts = len(there.notifications), len(gone.notifications)
    assert counts == (1, 0), "a listing does not show what the requests before it have done"


@rule("PF-215", roles=SERVER, transports=FRAMED, needs=("PF-120",))
def test_bystanders_of_broken_frames(node: NodeUnderTest) -> None:
    """Send lengths of 0, of the largest frame and beyond, with nothing or rubbish behind, while two others are served.

    The others are served on. In memory the same bytes are frames.
    """
    bystanders = Bystanders(node)
    # Around the bounds, at the border of signed 32 bits, and the largest that four bytes can say.
    for length in (0, 1, LARGEST, LARGEST + 1, 1 << 31, (1 << 32) - 1):
        sessions = node.open_together([node.connect() for _ in range(3)])
        for session, behind in zip(sessions, (b"", b"x", b"x" * 5000), strict=True):
            session.send_raw(length.to_bytes(4, "big") + behind)
        # Long enough for the bytes to arrive before the end of the connection.
        deadline = node.main.now() + node.timing.glance
        for session in sessions:
            session.wait_until(lambda session=session: bool(session.ended), deadline)  # type: ignore[misc]
            session.close()
        assert bystanders.are_served(), "a broken frame of one client ends the service of others"


@rule("PF-215", roles=SERVER, transports=EVERY_LINK, needs=("PF-120",))
def test_bystanders_of_resets(node: NodeUnderTest) -> None:
    """Reset connections amid transactions, unread answers and half a frame, while two others are served.

    The others are served on. In memory the connections just end.
    """
    bystanders = Bystanders(node)
    for number in range(10):
        session = node.session()
        session.begin("subscribe", {"subscription-id": new_id(), "filter": node.mine})
        # Answers that nobody reads: the reset comes while the server has more to write.
        for _ in range(20):
            session.begin("services")
        session.begin("publish", node.service(ttl=1, n=[number]).fields)
        # Every other time in the middle of a frame, each time with another part of it.
        if number % 2 and is_socket(session):
            session.send_raw(framed(node, PING % 1000)[:-number])
        session.abort()
    assert bystanders.are_served(), "connections that are reset end the service of others"


@rule("PF-215", roles=SERVER, transports=EVERY_LINK, needs=("PF-120",))
def test_bystanders_of_strangers(node: NodeUnderTest) -> None:
    """Make many connections and say nothing on them, and end half of them, while two others are served.

    The others are served on.
    """
    bystanders = Bystanders(node)
    # Nothing is said on them: they are accepted, and that is all.
    strangers = [node.connect() for _ in range(STRANGERS)]
    assert bystanders.are_served(), "connections without hello end the service of others"
    for session in strangers[::2]:
        session.close()
    assert bystanders.are_served(), "connections that end without hello end the service of others"
    for session in strangers[1::2]:
        session.close()
