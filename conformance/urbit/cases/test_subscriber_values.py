"""Sections "Overview of a Solution" and "Scry Cancellation Request": values, and the cancellations that they bring."""

from collections.abc import Iterator

from conformance.cases import NotPlayed, judging, rule
from conformance.urbit.roles import SUBSCRIBER
from conformance.urbit.subscriber_sessions import assert_told, in_session, is_known_again, series
from harness.urbit.ships import OTHER
from harness.urbit.tester.conversation import is_genuine
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import TestPublisher, number_of
from harness.urbit.tester.subscriber import BEAT
from wire.urbit.signatures import cancellation_input, request_input, response_input
from wire.urbit.values import ScryRequest, ScryResponse

VALUES = {"short": "a value", "empty": "", "two/segments": "  spaces, = and more ", "long": 1024 * "v"}
"""What is told at which path: nothing at all, and as much as one fragment holds, among others."""


@rule("URB-100", "URB-111", "URB-154", roles=SUBSCRIBER)
def test_notifications(node: NodeUnderTest) -> None:
    """Promise several paths, and tell their values, short and long ones.

    Each is told to the application and cancelled, by a cancellation that is signed as one.
    """
    publisher = in_session(node, *VALUES)
    publisher.answers = True
    for name, text in VALUES.items():
        with judging("URB-100"):
            cancelled = publisher.notify(publisher.response_of(publisher.path(name), text.encode()))
            assert cancelled, f"a response of {len(text)} bytes is not cancelled"
        with judging("URB-111"):
            assert is_genuine(cancelled.packet), "the signature of a cancellation is not one of its own"
        with judging("URB-154"):
            assert_told(node, name, text)


@rule("URB-101", roles=SUBSCRIBER)
def test_notifications_that_come_again(node: NodeUnderTest) -> None:
    """Tell a value four times, each time when it was cancelled; nack the session, and tell it once more.

    Each time it is cancelled.
    """
    publisher = in_session(node, "a", "b")
    response = publisher.response_of(publisher.path("a"), b"a value")
    for time in range(1, 5):
        assert publisher.notify(response), f"when a response comes for the {time}. time, it is not cancelled"
        # Of one that cancels several times, or of a path that doubles.
        publisher.read()
    is_known_again(node, publisher, number_of(publisher.beats()[-1]), "b")
    assert publisher.notify(response), "a response that comes again after a nack is not cancelled"


@rule("URB-102", roles=SUBSCRIBER)
def test_notifications_that_nobody_wants(node: NodeUnderTest) -> None:
    """Tell values of paths that were never asked for: without a session, in one; a second fragment; of a dropped path.

    All are cancelled, each by its path and fragment.
    """
    node.want("open")
    publisher = node.publisher
    publisher.promises = False
    publisher.surely(publisher.requested("open"), "request")
    assert cancels(publisher, "never"), "a response for a path that it never asked for is not cancelled"
    publisher.promises = True
    publisher.heartbeat()
    assert cancels(publisher, "never/in/a/session"), "a response for a path that it never asked for is not cancelled"
    assert cancels(publisher, "open", 2), "a response for a fragment that it never asked for is not cancelled"
    node.want("dropped")
    publisher.surely(publisher.requested("dropped"), "request")
    node.drop("dropped")
    publisher.read()
    assert cancels(publisher, "dropped"), "a response for a path that it has lost interest in is not cancelled"


def cancels(publisher: TestPublisher, name: str, fragment: int = 1) -> Event | None:
    """Tell a fragment of a value, and return its cancellation."""
    path, data = publisher.path(name), b"a value"
    signature = publisher.sign(response_input(path, fragment, data))
    return publisher.notify(ScryResponse(path, fragment, signature, fragment, data))


@rule("URB-103", roles=SUBSCRIBER)
def test_lost_interest(node: NodeUnderTest) -> None:
    """Promise three paths, of which one is the beginning of another, and have one be dropped.

    Nothing but that one is cancelled; the others are told when their values come.
    """
    names = ("a", "a/b", "c")
    publisher = in_session(node, *names)
    publisher.answers = True
    since = publisher.place
    node.drop("a")
    publisher.cancelled("a", since=since, seconds=node.timing.quiet(5.0))
    publisher.read()
    for name in names[1:]:
        assert not publisher.cancellations(name, since=since), f"{name} is cancelled when another path is dropped"
    others = [event for event in publisher.received() if getattr(event.packet.body, "fragment", 1) != 1]
    assert not others, "fragments are cancelled that nobody asked for"
    for name in names[1:]:
        publisher.notify(publisher.response_of(publisher.path(name), b"a value"))
        assert_told(node, name, "a value")


def forged(publisher: TestPublisher, name: str) -> Iterator[ScryResponse]:
    """Yield responses for a path that the publisher has not signed as they are."""
    path, data = publisher.path(name), b"forged"
    genuine = publisher.response_of(path, data)
    for place in (0, 40, 63):
        signature = bytearray(genuine.signature)
        signature[place] ^= 4
        yield ScryResponse(path, 1, bytes(signature), 1, data)
    inputs = (
        response_input(path, 1, b"other data"),
        response_input(path, 1, b""),
        response_input(path, 2, data),
        response_input(path + b"/x", 1, data),
        request_input(path, 1),
        cancellation_input(path, 1),
    )
    for signed in inputs:
        yield ScryResponse(path, 1, publisher.sign(signed), 1, data)
    for signer in (OTHER, publisher.other):
        yield publisher.response_of(path, data, signer=signer)
    yield ScryResponse(path, 1, bytes(64), 1, data)


@rule("URB-117", roles=SUBSCRIBER)
def test_forged_values(node: NodeUnderTest) -> None:
    """Tell a value by responses that the publisher has not signed as they are, of a promised path and of others.

    None is told to the application or cancelled; the genuine one is.
    """
    publisher = in_session(node, "promised")
    publisher.answers = True
    publisher.promises = False
    node.want("open")
    publisher.surely(publisher.requested("open"), "request")
    names = ("promised", "open", "stray")
    for name in names:
        for response in forged(publisher, name):
            publisher.send(response)
    # A genuine one behind them is cancelled: whatever was sent before has been looked at.
    publisher.surely(publisher.notify(publisher.response_of(publisher.path("control"), b"")), "cancellation")
    publisher.read()
    for name in names:
        assert not publisher.cancellations(name), "a response is cancelled that the publisher has not signed"
        assert not node.got(name), "a value is told that the publisher has not signed"
    publisher.notify(publisher.response_of(publisher.path("promised"), b"a value"))
    assert_told(node, "promised", "a value")


@rule("URB-144", roles=SUBSCRIBER)
def test_everything_twice(node: NodeUnderTest) -> None:
    """Send everything twice: promises, answers to heartbeats, a nack, a value.

    There is one series of heartbeats in each session, every value is told once, and cancelled as often as it came.
    """
    if node.instance.loses or node.instance.repeats:
        raise NotPlayed("the path has things come more or less often by itself")
    publisher = in_session(node, "a", "b")
    publisher.copies = 2
    is_known_again(node, publisher, 1, "a", "b")
    live = publisher.session
    for name in ("a", "b"):
        publisher.say(publisher.promise_of(publisher.path(name)))
    beat = publisher.heartbeat()
    publisher.say(publisher.live(number_of(beat)))
    since = publisher.place
    publisher.tell("a")
    publisher.heartbeat(number=2)
    with judging("URB-144"):
        numbers = [number_of(each) for each in series(node, publisher, live)]
        assert numbers == [1, 2], f"the heartbeats of a session of which all came twice have the numbers {numbers}"
        gap = node.elapsed(beat.time, publisher.beats(live)[-1].time)
        assert gap >= BEAT / 2 - node.slack, f"where all came twice heartbeats are {gap:.0f} s apart"
        # One cancellation may be meant for both, where they come at once.
        assert publisher.cancellations("a", since=since), "of a response that came twice none is cancelled"
        assert_told(node, "a", "a value")


@rule("URB-154", roles=SUBSCRIBER)
def test_another_fragment(node: NodeUnderTest) -> None:
    """Tell another fragment of a path that is wanted, and then the one that was asked for.

    The application is told the latter, and nothing else.
    """
    publisher = in_session(node, "a")
    publisher.answers = True
    path = publisher.path("a")
    publisher.say(publisher.response_of(path, b"another fragment", 2))
    publisher.read()
    publisher.surely(publisher.notify(publisher.response_of(path, b"a value")), "cancellation")
    assert_told(node, "a", "a value")


@rule("URB-111", roles=SUBSCRIBER)
def test_a_cancellation_is_no_request(node: NodeUnderTest) -> None:
    """Tell a value that is wanted, and one that is not.

    The signatures of both cancellations differ from that of the request.
    """
    node.want("a")
    publisher = node.publisher
    request = publisher.surely(publisher.requested("a"), "request").packet.body
    assert isinstance(request, ScryRequest)
    for name in ("a", "b"):
        cancelled = publisher.notify(publisher.response_of(publisher.path(name), b"a value"))
        packet = publisher.surely(cancelled, "cancellation").packet
        assert is_genuine(packet), "a cancellation is not signed by the subscriber, over %bond, path and fragment"
        assert getattr(packet.body, "signature", b"") != request.signature, (
            "a cancellation is signed as the request was"
        )
