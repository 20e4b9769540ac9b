"""Rai, "HMAC Authentication" and "Session Notification": what one session must not be able to do to another."""

from conformance.cases import rule
from conformance.rai.forging import ask_for_everything, mute, proof
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
from harness.rai.tester.driver import TestSession
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.users import PROFILE, STRANGER
from wire.rai.values import BYE, HB, SNAP, START, STOP, Bye, Heartbeat, SnapRequest, SubStart, SubStop, nonce_of


def keys_of_others(session: TestSession, other: TestSession) -> list[bytes]:
    """Return keys that somebody else has, and might sign with in the name of a session."""
    keys = [
        other.key,
        other.secret,
        PROFILE.session_key(other.secret, nonce_of(session.session)),
        PROFILE.session_key(session.secret, nonce_of(other.session)),
        bytes(32),
    ]
    # Of another session of the same user some are the session's own.
    return [each for each in keys if each != session.key]


@rule("RAI-169", roles=PUBLISHER, needs=("RAI-134", "RAI-137"))
def test_speaking_for_others(node: NodeUnderTest) -> None:
    """Have a trusted session ask in the session of another, signed with its own key and others that it may have.

    Nothing is answered or taken.
    """
    subject, victim, thief = node.set("guarded", BID=1), node.main, node.other
    holder = node.session("tara").met()
    holder.subscribed(subject)
    since = node.broker.place
    victim.seqno += 10
    for key in keys_of_others(victim, thief):
        for name in (victim.session, f"{victim.user}.{nonce_of(thief.session)}"):
            victim.say(START + subject, SubStart(return_="stolen", ack=True, initial=True), key=key, session=name)
            victim.say(SNAP + subject, SnapRequest(return_="stolen"), key=key, session=name)
            victim.say(STOP + subject, SubStop(return_="stolen", ack=True), key=key, session=name)
    settle(thief)
    said = [each for each in node.broker.received(since=since) if each.subject.endswith(".stolen")]
    assert not said, "what one user has signed in the session of another is answered"
    assert holder_stops(node, holder, subject), "what one user has started in the session of another is taken"


@rule("RAI-170", roles=PUBLISHER, needs=("RAI-009",))
def test_ending_others(node: NodeUnderTest) -> None:
    """Say BYE and stops in the name of a session that has subscribed, signed with whatever others have.

    Its subscription stands. Its own BYE ends it.
    """
    subject, victim, thief = node.set("held", BID=1), node.main, node.other
    second = node.session(victim.user).met()
    victim.subscribed(subject)
    since = node.broker.place
    seqno = victim.seqno
    for other in (thief, second):
        for key in keys_of_others(victim, other):
            victim.say(BYE, Bye(), key=key)
            victim.say(STOP + subject, SubStop(return_="stolen", ack=True), key=key)
            victim.say(BYE, Bye(), key=key, seqno=2**40)
            victim.say(STOP + subject, SubStop(return_="stolen", ack=True), key=key, seqno=2**40)
    victim.say(BYE, Bye(), digest="")
    settle(thief)
    assert not drops(node, subject, since), "a subscription is ended by what its session has not signed"
    assert is_published(node, "held"), "a subscription is ended by what its session has not signed"
    victim.seqno = seqno
    assert victim.snapshot(subject), "a forged message with a great seqno makes what comes next old"
    victim.bye()
    assert dropped(node, subject, since), "the BYE of a session does not count after forged ones"


@rule("RAI-170", "RAI-102", roles=PUBLISHER, needs=("RAI-009",))
def test_sessions_of_one_user(node: NodeUnderTest) -> None:
    """Have three sessions of one user subscribe one subject, and end one by a stop, one by BYE.

    The third is still a subscriber, and the subject is dropped when it says BYE.
    """
    subject = node.set("shared", BID=1)
    sessions = [node.session("dora").met() for _ in range(3)]
    for session in sessions:
        session.subscribed(subject)
    # Somebody else, who is answered whatever becomes of these.
    settle(node.other)
    since = node.broker.place
    sessions[0].stop(subject)
    sessions[1].bye()
    settle(node.other)
    assert not drops(node, subject, since), "one session of a user ends the subscription of another"
    assert is_published(node, "shared"), "one session of a user ends the subscription of another"
    sessions[2].bye()
    assert dropped(node, subject, since), "a subject is not dropped when the last session of a user says BYE"


@rule("RAI-086", roles=PUBLISHER, needs=("RAI-137",))
def test_trust_is_of_one_session(node: NodeUnderTest) -> None:
    """Have sessions ask that are like trusted ones: another session of the same user, and the same NONCE of another.

    Each has to prove itself: nothing is answered or taken before.
    """
    subject, holder = node.set("guarded", BID=1), node.main
    holder.subscribed(subject)
    alike = TestSession(node.broker, "dora", nonce=nonce_of(holder.session))
    again = TestSession(node.broker, holder.user)
    since = node.broker.place
    for session in (alike, again):
        session.answers_auth = session.beats = False
        ask_for_everything(session, subject)
        session.hello()
        session.surely(proof(session), "auth message")
        ask_for_everything(session, subject)
    settle(holder)
    for session in (alike, again):
        assert not answers(session, since), "a session is answered that has not proven itself, as it is like another"
    assert holder_stops(node, holder, subject), "a session that is like a trusted one is taken for that"


@rule("RAI-088", roles=PUBLISHER, needs=("RAI-109", "RAI-134"))
def test_numbers_of_other_sessions(node: NodeUnderTest) -> None:
    """Have a session use great seqnos, and others of its user and of another ask for the same with low ones.

    Each is answered: numbers are a session's own.
    """
    subject = node.set("shared", BID=1)
    first = node.session("tess").met()
    first.seqno += 100_000
    alike = TestSession(node.broker, "toby", nonce=nonce_of(first.session))
    for session in (first, node.session("tess").met(), alike.met()):
        assert session.subscribe(subject), "a session is not answered as another has used greater numbers"
        assert session.snapshot(subject), "a session is not answered as another has used greater numbers"


@rule("RAI-076", roles=PUBLISHER, needs=("RAI-134",))
def test_numbers_of_forged_messages(node: NodeUnderTest) -> None:
    """Publish messages in the name of a session with wrong digests and very great seqnos.

    They change nothing: what the session itself says next is answered.
    """
    subject, session = node.set("shown", BID=1), node.main
    for seqno in (1000, 2**31, 2**53):
        session.say(SNAP + subject, SnapRequest(return_="forged"), key=bytes(32), seqno=seqno)
        session.say(START + subject, SubStart(return_="forged", ack=True), digest="", seqno=seqno)
        session.say(HB, session.greeting(Heartbeat), key=bytes(32), seqno=seqno)
    assert session.snapshot(subject), "after forged messages with great seqnos a session is not answered"
    assert session.subscribe(subject), "after forged messages with great seqnos a session is not answered"


@rule("RAI-169", roles=PUBLISHER)
def test_recorded_by_another(node: NodeUnderTest) -> None:
    """Publish what one session has said in the name of another, with the seqnos and digests that it has.

    Nothing of it is answered.
    """
    subject, first, second = node.set("shown", BID=1), node.main, node.other
    recorded = [
        first.message(START + subject, SubStart(return_="stolen", ack=True), session=second.session),
        first.message(SNAP + subject, SnapRequest(return_="stolen"), session=second.session),
    ]
    since = node.broker.place
    repeated(second, *recorded)
    settle(second)
    assert not second.replies("stolen", since=since), "what another has signed is answered"


@rule("RAI-070", roles=PUBLISHER, needs=("RAI-109",))
def test_a_stranger_among_others(node: NodeUnderTest) -> None:
    """Have strangers, and sessions that prove nothing, say HELLO, HB and BYE by the dozen between trusted ones.

    Those are answered as ever.
    """
    session = node.main
    for number in range(12):
        stranger = mute(node, (STRANGER, "dora", "toby")[number % 3])
        stranger.hello()
        stranger.beat()
        if number % 2:
            stranger.bye()
        stranger.start(node.subject("none"), return_="none", ack=True)
    assert session.subscribe(node.subject("one")), "a trusted session is not answered among others that are not"
    fresh = node.other
    assert fresh.subscribe(node.subject("two")), "a session that comes after many others is not answered"
    meets_somebody(node)
