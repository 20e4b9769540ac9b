"""Rai, "HMAC Authentication": what was said before, and is published again, does nothing at a publisher."""

from conformance.cases import NotPlayed, rule
from conformance.rai.forging import proof
from conformance.rai.publishing import (
    answers,
    dropped,
    drops,
    holder_stops,
    is_published,
    meets_somebody,
    repeated,
    settle,
)
from conformance.rai.roles import PUBLISHER
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import SNAP, START, STOP, Bye, SnapRequest, SubStart, SubStop


@rule("RAI-159", "RAI-180", roles=PUBLISHER, needs=("RAI-116", "RAI-134"))
def test_requests_that_come_twice(node: NodeUnderTest) -> None:
    """Publish starts, snapshot requests and stops twice each, byte for byte.

    Each is answered once.
    """
    subject, session = node.set("shown", BID=1), node.main
    since = node.broker.place
    for number in range(3):
        for message in (
            session.message(START + subject, SubStart(return_=f"start.{number}", ack=True)),
            session.message(SNAP + subject, SnapRequest(return_=f"snap.{number}")),
            session.message(STOP + subject, SubStop(return_=f"stop.{number}", ack=True)),
        ):
            session.send(message)
            session.send(message)
    settle(session)
    for number in range(3):
        for what in ("start", "snap", "stop"):
            heard = session.replies(f"{what}.{number}", since=since)
            assert len(heard) == 1, "a request that comes twice is not answered once"


@rule("RAI-159", roles=PUBLISHER, needs=("RAI-116", "RAI-134"))
def test_old_numbers(node: NodeUnderTest) -> None:
    """Ask in a trusted session with seqnos that are not greater than the last on their subject, rightly signed.

    Nothing is answered; the next that is greater is.
    """
    subject, session = node.set("shown", BID=1), node.main
    session.seqno += 10
    session.start(subject, return_="right", ack=True)
    session.snapshot_request(subject, "right")
    session.stop(subject, return_="right", ack=True)
    settle(session)
    since = node.broker.place
    last = session.seqno
    for seqno in (last - 5, last - 8, 1, 0):
        session.say(START + subject, SubStart(return_="old", ack=True, initial=True), seqno=seqno)
        session.say(SNAP + subject, SnapRequest(return_="old"), seqno=seqno)
        session.say(STOP + subject, SubStop(return_="old", ack=True), seqno=seqno)
    settle(session)
    assert not session.replies("old", since=since), "a request is answered whose seqno is not greater than the last"
    assert session.snapshot(subject), "a request is not answered whose seqno is greater than the last"


@rule("RAI-159", roles=PUBLISHER, needs=("RAI-009", "RAI-137"))
def test_starts_and_stops_that_come_again(node: NodeUnderTest) -> None:
    """Start, stop and start a subject, and publish the stop again; stop it, and publish the starts again.

    The stop ends nothing, the starts begin nothing.
    """
    name, session, holder = "again", node.main, node.other
    subject = node.set(name, BID=1)
    first = session.start(subject)
    stop = session.stop(subject)
    second = session.start(subject)
    settle(session)
    since = node.broker.place
    repeated(session, stop, stop)
    settle(session)
    assert not drops(node, subject, since), "a stop that comes again ends a subscription"
    assert is_published(node, name), "a stop that comes again ends a subscription"
    holder.subscribed(subject)
    session.stop(subject)
    repeated(session, first, second, first)
    settle(session)
    assert holder_stops(node, holder, subject), "a start that comes again begins a subscription"


@rule("RAI-159", roles=PUBLISHER, needs=("RAI-009", "RAI-187"))
def test_numbers_outlive_a_hello(node: NodeUnderTest) -> None:
    """Record what a session says, have it say HELLO again, and prove itself, and publish it again.

    It does nothing.
    """
    subject, session, holder = node.set("again", BID=1), node.main, node.other
    recorded = [
        session.start(subject, return_="old", ack=True),
        session.snapshot_request(subject, "old"),
        session.stop(subject, return_="old", ack=True),
    ]
    holder.subscribed(subject)
    settle(session)
    session.hello()
    meets_somebody(node)
    session.beat()
    settle(session)
    since = node.broker.place
    repeated(session, *recorded[:2])
    settle(session)
    assert not session.replies("old", since=since), "what was said before a HELLO of its session is answered again"
    assert holder_stops(node, holder, subject), "what was said before a HELLO of its session is taken again"


@rule("RAI-159", roles=PUBLISHER, needs=("RAI-137",))
def test_numbers_outlive_silence(node: NodeUnderTest) -> None:
    """Have a session be silent until it is forgotten, come back, and record it: what it said before comes again.

    It does nothing.
    """
    subject, session, holder = node.set("again", BID=1), node.other, node.main
    recorded = [session.start(subject, return_="old", ack=True), session.snapshot_request(subject, "old")]
    session.stop(subject)
    settle(session)
    session.beats_at = None
    node.broker.pause(50)
    session.hello()
    meets_somebody(node)
    settle(session)
    holder.subscribed(subject)
    since = node.broker.place
    repeated(session, *recorded)
    settle(session)
    assert not session.replies("old", since=since), "what a session said before it was silent is answered again"
    assert holder_stops(node, holder, subject), "what a session said before it was silent is taken again"


@rule("RAI-174", roles=PUBLISHER, needs=("RAI-137",))
def test_recorded_session(node: NodeUnderTest) -> None:
    """Record a whole session, from HELLO to BYE, and publish all of it again at once.

    Nothing of it is answered, and no subscription begins.
    """
    subject, holder = node.set("again", BID=1), node.main
    gone = node.other
    gone.start(subject, return_="old", ack=True, initial=True)
    gone.snapshot_request(subject, "old")
    gone.stop(subject)
    gone.start(subject)
    gone.beat()
    settle(gone)
    gone.bye()
    holder.subscribed(subject)
    meets_somebody(node)
    recorded = [each.message for each in node.broker.conversation.events if each.message.session == gone.session]
    since = node.broker.place
    for _ in range(2):
        repeated(gone, *(each for each in recorded if not isinstance(each.body, Bye)))
        meets_somebody(node)
    assert not answers(gone, since), "what was recorded of a session that has said BYE is answered"
    settle(holder)
    assert holder_stops(node, holder, subject), "what was recorded of a session that has said BYE is taken"


@rule("RAI-175", roles=PUBLISHER, needs=("RAI-080",))
def test_recorded_hello(node: NodeUnderTest) -> None:
    """Have sessions say HELLO and BYE, trusted and not, and publish their HELLOs again while those are not old.

    They are not answered.
    """
    node.greeted(node.broker)
    trusted, pending = node.session("tess"), node.session("toby")
    pending.answers_auth = False
    hellos = [(session, session.hello()) for session in (trusted, pending)]
    trusted.surely(proof(trusted), "auth message")
    settle(trusted)
    for session, _ in hellos:
        session.bye()
    meets_somebody(node)
    since = node.broker.place
    for session, hello in hellos:
        repeated(session, hello, hello)
    meets_somebody(node)
    assert not trusted.proofs(since), "the HELLO of a session that has said BYE is answered when it comes again"
    if pending.proofs(since):
        # What an untrusted session says is dropped: its BYE as well, where somebody reads it so.
        raise NotPlayed("a session that was never trusted is met again")


@rule("RAI-102", roles=PUBLISHER)
def test_numbers_of_byes(node: NodeUnderTest) -> None:
    """Have two sessions of a user say BYE, the second with a lower seqno.

    Numbers are a session's own: each BYE counts, and ends one session.
    """
    subject = node.set("numbered", BID=1)
    first, second = node.session("tess").met(), node.session("tess").met()
    first.seqno += 1000
    for session in (first, second):
        session.subscribed(subject)
    since = node.broker.place
    first.bye()
    settle(second)
    assert not drops(node, subject, since), "the BYE of one session ends the subscription of another"
    second.bye()
    assert dropped(node, subject, since), "a BYE does not count whose seqno is lower than that of another session's"
