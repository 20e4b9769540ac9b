"""Rai, "HMAC Authentication": the exchange in which a publisher and a session come to trust each other."""

from collections.abc import Callable

from msgspec.structs import replace

from conformance.cases import judging, rule
from conformance.rai.forging import ask_for_everything, forgeries, mute, proof, surely_proof
from conformance.rai.publishing import answers, holder_stops, is_published, meets_somebody, settle
from conformance.rai.roles import PUBLISHER
from harness.rai.tester.driver import TestSession, new_nonce
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.users import PROFILE, STRANGER, secret_of
from wire.rai.values import AUTH, HB, HELLO, Auth, Heartbeat, Message, inbox, nonce_of, user_of

MICROSECONDS = 1_000_000

LONG = (200, 3600, 86_400, 400 * 86_400)
"""Seconds that make a HELLO old: more than ten intervals (reading R49)."""


def keyed_by(event: Event, time: int, cnonce: str) -> bool:
    """Tell whether an auth message is keyed by a time and a cnonce."""
    message = event.message
    key = PROFILE.auth_key(secret_of(user_of(message.session)), nonce_of(message.session), time, cnonce)
    return PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)


@rule("RAI-080", "RAI-083", "RAI-084", roles=PUBLISHER)
def test_greeted_sessions(node: NodeUnderTest) -> None:
    """Say HELLO as all users, in several sessions each, some with other intervals, or with a clock a little off.

    Each is sent an auth message to its inbox, keyed by its time and cnonce, with its time as auth_time.
    """
    node.greeted(node.broker)
    for round, (interval, off) in enumerate(((10, 0), (60, -2), (20, 2))):
        for user in ("tess", "toby", "tara", "dora"):
            session = mute(node, user)
            session.interval = interval
            time = node.broker.utc() + off * MICROSECONDS
            cnonce = new_nonce() if round else "A" * 22
            session.hello(time=time, cnonce=cnonce)
            answer = proof(session)
            with judging("RAI-080"):
                assert answer is not None, "a HELLO is not answered by an auth message"
            assert isinstance(answer.body, Auth)
            with judging("RAI-084"):
                assert answer.body.auth_time == time, "the auth_time is not the time of the HELLO"
            with judging("RAI-083"):
                assert keyed_by(answer, time, cnonce), "an auth message is not keyed by the HELLO's time and cnonce"


@rule("RAI-083", "RAI-084", roles=PUBLISHER)
def test_sessions_that_greet_at_once(node: NodeUnderTest) -> None:
    """Have several sessions say HELLO before any is answered.

    Each is sent the proof for what it has said itself.
    """
    node.greeted(node.broker)
    sessions = [mute(node, user) for user in ("tess", "toby", "tara", "tess")]
    said: list[tuple[int, str]] = []
    for place, session in enumerate(sessions):
        said.append((node.broker.utc() + place, new_nonce()))
        session.hello(time=said[-1][0], cnonce=said[-1][1])
    for session, (time, cnonce) in zip(sessions, said, strict=True):
        answer = session.surely(proof(session), "auth message")
        assert isinstance(answer.body, Auth)
        with judging("RAI-084"):
            assert answer.body.auth_time == time, "the auth_time is the time of another HELLO"
        with judging("RAI-083"):
            assert keyed_by(answer, time, cnonce), "an auth message is keyed by another HELLO"


@rule("RAI-224", roles=PUBLISHER)
def test_heartbeat_of_an_unknown_session(node: NodeUnderTest) -> None:
    """Say HB in a session that has said no HELLO.

    If it is answered by an auth message, that is keyed by the heartbeat's time and cnonce, and has its time.
    """
    node.greeted(node.broker)
    session = mute(node)
    body = session.greeting(Heartbeat)
    session.say(HB, body)
    meets_somebody(node)
    answers = session.proofs()
    node.shows("RAI-224", "R12", "A" if answers else "B")
    for answer in answers:
        assert isinstance(answer.body, Auth)
        assert answer.body.auth_time == body.time, "the auth_time is not the time of the heartbeat"
        assert keyed_by(answer, body.time, body.cnonce), "the auth message is not keyed by the heartbeat"


@rule("RAI-088", roles=PUBLISHER, needs=("RAI-109", "RAI-134"))
def test_what_trusted_sessions_say(node: NodeUnderTest) -> None:
    """Have sessions ask for something in the moment in which they have proven who they are.

    Each is answered, also when several sessions are new.
    """
    subject = node.set("wanted", BID=1)
    node.greeted(node.broker)
    sessions = [mute(node, user) for user in ("tess", "toby", "tess")]
    for session in sessions:
        session.hello()
    asked = [(session, *surely_proof(session)) for session in sessions]
    since = node.broker.place
    for session, its, answered in asked:
        session.prove(its, answered.time, answered.cnonce)
        session.start(subject, return_="first", ack=True)
    for session in sessions:
        assert session.reply("first", since=since), "a session that has just proven who it is is not answered"
        assert session.snapshot(subject), "a session that is trusted is not answered"


@rule("RAI-086", roles=PUBLISHER, needs=("RAI-137", "RAI-152"))
def test_sessions_that_prove_nothing(node: NodeUnderTest) -> None:
    """Say HELLO and answer no proof, or say nothing at all, and ask for whatever can be asked for.

    Nothing is answered or taken: not then, and not when the session proves itself after all.
    """
    subject = node.set("guarded", BID=1)
    node.command("dictionary", "words", '{"BID":1}')
    node.other.subscribed(subject)
    greeted, silent = mute(node, "tess"), mute(node, "toby")
    greeted.hello()
    node_session, answered = surely_proof(greeted)
    since = node.broker.place
    for session in (greeted, silent):
        ask_for_everything(session, subject)
    settle(node.other)
    for session in (greeted, silent):
        assert not answers(session, since), "a session is answered that has not proven who it is"
    greeted.prove(node_session, answered.time, answered.cnonce)
    settle(greeted)
    late = [each for each in answers(greeted, since) if not each.subject.endswith(tuple("0123456789"))]
    assert not late, "what a session has asked for is answered once it has proven who it is"
    assert holder_stops(node, node.other, subject), "what a session has started that has proven nothing keeps a subject"


@rule("RAI-086", roles=PUBLISHER, needs=("RAI-009",))
def test_stop_of_a_session_that_proves_nothing(node: NodeUnderTest) -> None:
    """Have a user whose one session has subscribed say HELLO in another, prove nothing, and stop there.

    Nothing is answered, and the subscription stands.
    """
    subject = node.set("held", BID=1)
    holder = node.main
    holder.subscribed(subject)
    second = mute(node, holder.user)
    second.hello()
    surely_proof(second)
    since = node.broker.place
    second.stop(subject, return_="stop", ack=True)
    second.start(subject, return_="start", ack=True)
    second.bye()
    settle(holder)
    assert not answers(second, since), "a session is answered that has not proven who it is, as another has"
    assert is_published(node, "held"), "a session that has proven nothing has ended the subscription of another"


Forgery = Callable[[TestSession, str, Auth], object]


def wrong_answers() -> dict[str, Forgery]:
    """Return answers to an auth message that prove nothing: what each is keyed by, and how it is said."""

    def keyed(make: Callable[[TestSession, Auth], bytes]) -> Forgery:
        def answer(session: TestSession, its: str, asked: Auth) -> object:
            body = Auth(auth_time=asked.time, time=session.broker.utc(), cnonce=new_nonce())
            return session.say(inbox(its, AUTH), body, key=make(session, asked))

        return answer

    def auth_key(session: TestSession, time: object, cnonce: str) -> bytes:
        return PROFILE.auth_key(session.secret, nonce_of(session.session), time, cnonce)  # type: ignore[arg-type]

    return {
        "another cnonce": keyed(lambda session, asked: auth_key(session, asked.time, new_nonce())),
        "no cnonce": keyed(lambda session, asked: auth_key(session, asked.time, "")),
        "another time": keyed(lambda session, asked: auth_key(session, asked.time + 1, asked.cnonce)),
        "no time": keyed(lambda session, asked: auth_key(session, "", asked.cnonce)),
        "its own HELLO": keyed(lambda session, asked: auth_key(session, *list(session.said.items())[-1])),
        "its session alone": keyed(lambda session, asked: session.key),
        "another NONCE": keyed(
            lambda session, asked: PROFILE.auth_key(session.secret, new_nonce(), asked.time, asked.cnonce)
        ),
        "another user": keyed(
            lambda session, asked: PROFILE.auth_key(
                secret_of("dora"), nonce_of(session.session), asked.time, asked.cnonce
            )
        ),
        "the publisher": keyed(
            lambda session, asked: PROFILE.auth_key(
                secret_of("paul"), nonce_of(session.broker.node_session), asked.time, asked.cnonce
            )
        ),
    }


@rule("RAI-168", roles=PUBLISHER)
def test_answers_that_prove_nothing(node: NodeUnderTest) -> None:
    """Answer a publisher's auth by one that is keyed by other things than it has sent, a new session each time.

    It makes no bond: what the session asks for is not answered. One that is rightly keyed does.
    """
    subject = node.set("guarded", BID=1)
    for name, answer in wrong_answers().items():
        session = mute(node, "tess")
        session.hello()
        its, asked = surely_proof(session)
        answer(session, its, asked)
        session.start(subject, return_="wrong", ack=True)
        settle(node.other)
        assert not session.replies("wrong"), f"a session is trusted whose auth is keyed by {name}"
    session = mute(node, "tess")
    session.hello()
    its, asked = surely_proof(session)
    session.prove(its, asked.time, asked.cnonce)
    settle(session)


@rule("RAI-168", roles=PUBLISHER)
def test_answers_to_the_proofs_of_others(node: NodeUnderTest) -> None:
    """Have two sessions of a user, and one of another, greeted, and answer the proof of one with what another was sent.

    It makes no bond, and neither does an auth that another session has sent, published again.
    """
    subject = node.set("guarded", BID=1)
    node.main.subscribed(subject)
    first, second, third = mute(node, "tess"), mute(node, "tess"), mute(node, "toby")
    for place, session in enumerate((first, second, third)):
        session.hello(time=node.broker.utc() + place)
    asked = {session: surely_proof(session) for session in (first, second, third)}
    since = node.broker.place
    for session, other in ((first, second), (third, first)):
        its, body = asked[other]
        session.prove(its, body.time, body.cnonce)
        session.prove(its, body.time, body.cnonce, auth_time=asked[session][1].time)
        session.start(subject, return_="wrong", ack=True)
        settle(node.main)
        assert not session.replies("wrong", since=since), "a session is trusted for answering the proof of another"
    its, body = asked[second]
    right = second.prove(its, body.time, body.cnonce)
    settle(second)
    for session in (first, third):
        session.send(right)
        session.start(subject, return_="again", ack=True)
    settle(node.main)
    for session in (first, third):
        assert not session.replies("again", since=since), "a session is trusted for what another has proven"


@rule("RAI-168", roles=PUBLISHER)
def test_auth_of_a_former_session(node: NodeUnderTest) -> None:
    """Record an auth, and publish it again in another run of the publisher; send one where nothing was asked.

    Neither makes a bond.
    """
    subject = node.set("guarded", BID=1)
    recorded = mute(node, "tess")
    recorded.hello()
    its, asked = surely_proof(recorded)
    old = recorded.prove(its, asked.time, asked.cnonce)
    settle(recorded)
    # What is greeted anew is not to have the time of what was said before.
    node.broker.pause(1)
    with node.scene() as scene:
        subject = scene.set("guarded", BID=1)
        again = TestSession(scene.broker, "tess", nonce=nonce_of(recorded.session))
        again.seqno, again.answers_auth, again.beats = 100, False, False
        again.hello()
        new, body = surely_proof(again)
        again.send(old, inbox(new, AUTH))
        again.say(inbox(new, AUTH), Auth(auth_time=body.time, time=scene.broker.utc(), cnonce=new_nonce()))
        unasked = mute(scene, "toby")
        unasked.prove(new, body.time, body.cnonce)
        unasked.prove(new, scene.broker.utc(), new_nonce())
        since = scene.broker.place
        for session in (again, unasked):
            session.start(subject, return_="wrong", ack=True)
        settle(scene.session("dora").met())
        for session in (again, unasked):
            assert not session.replies("wrong", since=since), "a session is trusted that answers nothing it was sent"


@rule("RAI-160", roles=PUBLISHER, needs=("RAI-109",))
def test_unknown_users(node: NodeUnderTest) -> None:
    """Say HELLO as users whom nobody knows: strangers, parts of known names, none; by keys of their own and of others.

    Nothing is sent to them, and a known user is greeted as ever.
    """
    node.greeted(node.broker)
    since = node.broker.place
    sessions: list[TestSession] = []
    for user in (STRANGER, "tes", "tess2", "TESS", "", "tess.tess", "paul2"):
        for secret in (secret_of(user), secret_of("tess"), b"", bytes(32)):
            session = mute(node, user or STRANGER)
            session.session = f"{user}.{nonce_of(session.session)}"
            session.key = PROFILE.session_key(secret, nonce_of(session.session))
            session.hello()
            sessions.append(session)
    meets_somebody(node)
    for session in sessions:
        assert not session.proofs(since), "a user whom the node does not know is sent an auth message"


@rule("RAI-161", roles=PUBLISHER)
def test_old_hellos(node: NodeUnderTest) -> None:
    """Say HELLO with times long gone, in other units, and none, as users who are known.

    They are not answered; one of now is.
    """
    times = [0, -1, 1, *(node.broker.utc() - seconds * MICROSECONDS for seconds in LONG)]
    times += [node.broker.utc() // 1000, node.broker.utc() // MICROSECONDS]
    require_no_proof(node, times, "a HELLO is answered that is old")


@rule("RAI-162", roles=PUBLISHER)
def test_hellos_of_the_future(node: NodeUnderTest) -> None:
    """Say HELLO with times that lie far ahead, as users who are known.

    They are not answered; one of now is.
    """
    times = [*(node.broker.utc() + seconds * MICROSECONDS for seconds in LONG), node.broker.utc() * 1000]
    require_no_proof(node, times, "a HELLO is answered that comes from the future")


def require_no_proof(node: NodeUnderTest, times: list[int], otherwise: str) -> None:
    """Judge that a HELLO of none of some times is answered."""
    node.greeted(node.broker)
    sessions = [mute(node, "tess") for _ in times]
    for session, time in zip(sessions, times, strict=True):
        session.hello(time=time)
    meets_somebody(node)
    for session in sessions:
        assert not session.proofs(), otherwise


@rule("RAI-161", roles=PUBLISHER)
def test_old_hello_of_a_session_that_was_met(node: NodeUnderTest) -> None:
    """Have a session be greeted that proves nothing, and say HELLO with an old time and new numbers.

    That is not answered.
    """
    node.greeted(node.broker)
    session = mute(node, "tess")
    session.hello()
    surely_proof(session)
    since = node.broker.place
    for seconds in LONG:
        session.hello(time=node.broker.utc() - seconds * MICROSECONDS)
    meets_somebody(node)
    assert not session.proofs(since), "an old HELLO is answered, as its session is known"


@rule("RAI-163", roles=PUBLISHER)
def test_hellos_with_wrong_digests(node: NodeUnderTest) -> None:
    """Say HELLO with digests that are not its own: of another session, user, seqno, subject, time, or cut short.

    None is answered; one whose digest is right is.
    """
    node.greeted(node.broker)
    sessions: list[TestSession] = []

    def forged(change: Callable[[TestSession], object]) -> None:
        session = mute(node, "tess")
        change(session)
        sessions.append(session)

    def after(change: Callable[[Message], Message]) -> Callable[[TestSession], None]:
        return lambda session: session.send(change(session.message(HELLO, session.greeting())))

    other = mute(node, "tess")
    forged(lambda session: session.say(HELLO, session.greeting(), key=other.key))
    forged(lambda session: session.say(HELLO, session.greeting(), key=mute(node, "toby").key))
    forged(lambda session: session.say(HELLO, session.greeting(), key=session.secret))
    forged(lambda session: session.say(HELLO, session.greeting(), key=bytes(32)))
    forged(lambda session: session.send(session.message(HB, session.greeting(Heartbeat)), HELLO))
    forged(after(lambda message: replace(message, signed=message.signed.replace(b'"interval":10', b'"interval":11'))))
    for change in forgeries():
        forged(after(change))
    meets_somebody(node)
    for session in sessions:
        assert not session.proofs(), "a HELLO is answered whose digest is not its own"


@rule("RAI-082", roles=PUBLISHER, needs=("RAI-109",))
def test_hellos_that_come_again(node: NodeUnderTest) -> None:
    """Publish HELLOs again byte for byte: of a session that has proven nothing, of a trusted one, and older ones.

    Each is answered once, at most.
    """
    node.greeted(node.broker)
    pending, trusted = mute(node, "tess"), node.session("toby")
    said = [(session, [session.hello()]) for session in (pending, trusted)]
    for session, hellos in said:
        session.surely(proof(session), "auth message")
        hellos += [session.hello(time=node.broker.utc() + place) for place in (1, 2)]
    meets_somebody(node)
    settle(trusted)
    since = node.broker.place
    for session, hellos in said:
        for hello in (*hellos, *reversed(hellos)):
            session.send(hello)
    meets_somebody(node)
    for session, _ in said:
        assert not session.proofs(since), "a HELLO that comes again is answered again"


@rule("RAI-187", roles=PUBLISHER, needs=("RAI-009", "RAI-134"))
def test_second_hello(node: NodeUnderTest) -> None:
    """Have a trusted session that has subscribed say HELLO again, and prove itself again if it is asked to.

    Its subscriptions stand, and what it asks for is answered.
    """
    subject, session = node.set("held", BID=1), node.main
    session.subscribed(subject)
    for _ in range(2):
        since = node.broker.place
        session.hello()
        meets_somebody(node)
        node.shows("RAI-187", "R56", "A" if session.proofs(since) else "B")
        assert is_published(node, "held"), "after another HELLO of its session a subscription is gone"
        assert session.snapshot(subject), "after another HELLO a session is not answered any more"
        assert not [each for each in node.broker.received(since=since) if each.subject == subject and is_drop(each)], (
            "after another HELLO of its session a subject is dropped"
        )


def is_drop(event: Event) -> bool:
    """Tell whether an event is a drop."""
    return getattr(event.body, "kind", "") == "drop"


@rule("RAI-070", roles=PUBLISHER)
def test_sessions_of_all_users(node: NodeUnderTest) -> None:
    """Have many sessions of all users at once, with NONCEs of all letters, that ask in turn.

    All of them are understood.
    """
    node.greeted(node.broker)
    # Sixteen bytes each, as others are; the first letters are those that not every alphabet of base64 has.
    sessions = [
        TestSession(node.broker, user, nonce=f"{begin}{new_nonce()[len(begin) :]}")
        for begin in ("", "-", "_", "--_", "__-")
        for user in ("tess", "toby", "tara", "dora")
    ]
    for session in sessions:
        session.hello()
        assert proof(session), "a session of a known user is not greeted"
    for _ in range(2):
        for session in sessions:
            assert session.subscribe(node.subject("shared")), "a session of a known user is not answered"
