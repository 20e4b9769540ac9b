"""Section "HMAC Authentication": how a subscriber comes to trust a publisher, and whom it does not."""

from conformance.cases import judging, rule
from conformance.rai.feeds import Feed
from conformance.rai.roles import SUBSCRIBER
from harness.rai.tester.driver import TestSession, new_nonce
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.users import PROFILE, secret_of
from wire.rai.values import AUTH, Auth, Heartbeat, Hello, Message, Published, inbox, nonce_of, object_of


def last_greeting(node: NodeUnderTest) -> tuple[str, Hello]:
    """Return the node's session, and its last HELLO or heartbeat."""
    return node.greeted(node.source)


def stranger(node: NodeUnderTest, user: str = "toby") -> TestSession:
    """Return a session that has said HELLO, and answers nothing that the node may say to that."""
    session = node.source_session(user)
    session.answers_auth = False
    session.hello()
    return session


def is_answer(event: Event, session: TestSession) -> bool:
    """Tell whether an auth message of the node answers one of a session's: who begins the exchange answers a HELLO."""
    return isinstance(event.body, Auth) and not session.answers_greeting(event.message)


def proof_of(node: NodeUnderTest, session: TestSession, since: int) -> Event | None:
    """Read until the node answers an auth message of a session, and return that."""
    subject = inbox(session.session, AUTH)
    return node.source.wait_for(
        lambda event: event.subject == subject and is_answer(event, session), since=since, thing="an auth message"
    )


def answers_to(session: TestSession, since: int) -> list[Event]:
    """Return what the node has answered to auth messages of a session."""
    return [each for each in session.proofs(since=since) if is_answer(each, session)]


def assert_answers(session: TestSession, asked: Message, proof: Event) -> None:
    """Demand that an auth message answers one of the tester's: by its time, and with a digest that its cnonce makes."""
    body, question = proof.body, asked.body
    assert isinstance(question, Auth)
    with judging("RAI-166"):
        assert isinstance(body, Auth)
        assert body.auth_time == question.time, "the auth_time of an auth message is not the time of what it answers"
    with judging("RAI-165"):
        message = proof.message
        key = session.auth_key(message.session, question.time, question.cnonce)
        is_right = PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)
        assert is_right, "an auth message is not keyed by NONCE, time and cnonce as what it answers asks for"


@rule("RAI-087", "RAI-165", "RAI-166", roles=SUBSCRIBER)
def test_proofs_are_answered(node: NodeUnderTest) -> None:
    """Prove who they are as publishers: by HELLO and by a heartbeat, one that was there before, two of one user.

    Each is answered, at auth in its inbox, by an auth message that answers its own.
    """
    to, greeting = last_greeting(node)
    sessions = [*(stranger(node, user) for user in ("tess", "toby", "toby")), node.source_session("tara")]
    sessions[-1].answers_auth = False
    since = node.source.place
    asked = [session.prove(to, greeting.time, greeting.cnonce) for session in sessions]
    for session, question in zip(sessions, asked, strict=True):
        proof = proof_of(node, session, since)
        with judging("RAI-087"):
            what = "" if session.said else ", whose HELLO was said before it began,"
            assert proof, f"the auth message of a publisher{what} is not answered"
        assert_answers(session, question, proof)
    beat = node.source.wait_for(
        lambda event: event.form is Heartbeat, since=since, seconds=node.timing.within(25), thing="a heartbeat"
    )
    body = sessions[0].surely(beat, "heartbeat").body
    assert isinstance(body, Heartbeat)
    late = node.source_session("dora")
    question = late.prove(to, body.time, body.cnonce)
    proof = proof_of(node, late, since)
    with judging("RAI-087"):
        assert proof, "an auth message that answers a heartbeat is not answered"
    assert_answers(late, question, proof)


@rule("RAI-088", roles=SUBSCRIBER, needs=("RAI-155",))
def test_both_trust_each_other(node: NodeUnderTest) -> None:
    """Prove who two publishers are, once by the HELLO and once by a heartbeat, and publish at once.

    What they publish is told.
    """
    feed = Feed(node)
    for user in ("toby", "tara"):
        other = node.new_publisher(user, serves=False)
        other.publish(feed.subject, data={"WHO": user})
        assert feed.tells(WHO=user), "what a publisher says after the exchange is not told"
        if user == "toby":
            since = node.source.place
            node.source.wait_for(lambda event: event.form is Heartbeat, since=since, seconds=node.timing.within(25))
            other.publish(feed.subject, data={"WHO": "still"})
            assert feed.tells(WHO="still"), "what a publisher says half a minute after the exchange is not told"


def wrong_proofs(session: TestSession, to: str, greeting: Hello) -> dict[str, tuple[Auth, bytes]]:
    """Return auth messages that prove nothing, with the key that each is signed with, by what is wrong."""
    right = Auth(auth_time=greeting.time, time=session.broker.utc(), cnonce=new_nonce())
    key, nonce, secret = PROFILE.auth_key, nonce_of(session.session), session.secret
    other = secret_of("sam")
    return {
        "another cnonce": (right, key(secret, nonce, greeting.time, new_nonce())),
        "its own cnonce": (right, key(secret, nonce, greeting.time, right.cnonce)),
        "another time": (right, key(secret, nonce, greeting.time - 1, greeting.cnonce)),
        "its own time": (right, key(secret, nonce, right.time, greeting.cnonce)),
        "its session's key": (right, session.key),
        "the subscriber's password": (right, key(other, nonce, greeting.time, greeting.cnonce)),
        "the subscriber's NONCE": (right, key(secret, nonce_of(to), greeting.time, greeting.cnonce)),
        "no key": (right, bytes(32)),
    }


@rule("RAI-164", roles=SUBSCRIBER)
def test_proofs_that_prove_nothing(node: NodeUnderTest) -> None:
    """Send auth messages that are keyed by another time, cnonce, NONCE or password, and publish behind each.

    None is answered, and nothing is told; the right one of the same session is answered.
    """
    feed = Feed(node)
    to, greeting = last_greeting(node)
    since = node.source.place
    for what in wrong_proofs(feed.publisher, to, greeting):
        session = stranger(node)
        to, greeting = last_greeting(node)
        body, key = wrong_proofs(session, to, greeting)[what]
        session.say(inbox(to, AUTH), body, key=key)
        session.publish(feed.subject, data={"BAD": what})
        assert feed.keeps_out(), f"what a publisher says is told whose auth message is keyed by {what}"
        assert not answers_to(session, since), f"an auth message that is keyed by {what} is answered"
    last = node.source_session("toby")
    last.answers_auth = False
    body, key = wrong_proofs(last, to, greeting)["another cnonce"]
    last.say(inbox(to, AUTH), body, key=key)
    last.prove(to, greeting.time, greeting.cnonce)
    assert proof_of(node, last, since), "behind a wrong auth message the right one is not answered"


@rule("RAI-164", roles=SUBSCRIBER)
def test_proofs_of_a_former_run(node: NodeUnderTest) -> None:
    """Record the exchange of a publisher with the node, start the node anew, and say the same again, in its new inbox.

    It is not answered, and what the publisher says is not told.
    """
    with node.scene() as first:
        to, greeting = last_greeting(first)
        recorded = stranger(first)
        proof = recorded.prove(to, greeting.time, greeting.cnonce)
        recorded.surely(proof_of(first, recorded, 0), "auth message")
        old = greeting
        # So that the next run begins at another time.
        first.source.pause(1)
    with node.scene() as second:
        feed = Feed(second)
        now, _ = last_greeting(second)
        session = second.source_session("toby")
        session.answers_auth = False
        session.session, session.key, session.seqno = recorded.session, recorded.key, recorded.seqno
        since = second.source.place
        session.send(proof, inbox(now, AUTH))
        session.prove(now, old.time, old.cnonce)
        session.publish(feed.subject, data={"BAD": 1})
        assert feed.keeps_out(), "what a publisher says is told whose auth message answers a former run"
        assert not answers_to(session, since), "an auth message that answers a former run is answered"


@rule("RAI-085", roles=SUBSCRIBER)
def test_proofs_of_another_time(node: NodeUnderTest) -> None:
    """Send auth messages with the right key, whose auth_time is that of nothing that the node has said.

    They are not answered; the right one is.
    """
    node.greeted(node.source)
    session = node.source_session("toby")
    session.answers_auth = False
    to, greeting = last_greeting(node)
    since = node.source.place
    key = session.auth_key(session.session, greeting.time, greeting.cnonce)
    for time in (greeting.time + 1, greeting.time - 10_000_000, 0, 2**62):
        body = Auth(auth_time=time, time=node.source.utc(), cnonce=new_nonce())
        session.say(inbox(to, AUTH), body, key=key)
    other = node.new_publisher("tara", serves=False)
    other.broker.read(node.timing.glance)
    assert not answers_to(session, since), "an auth message is answered whose auth_time is that of nothing"


@rule("RAI-079", roles=SUBSCRIBER)
def test_publishers_before_the_exchange(node: NodeUnderTest) -> None:
    """Have known users say HELLO and heartbeats, or nothing at all, and publish, answer and drop, without an auth.

    Nothing of it is told; where the node sends an auth itself, it is not answered.
    """
    feed = Feed(node)
    for greets in (False, True):
        session = node.source_session("toby" if greets else "tara")
        session.answers_auth = False
        if greets:
            session.hello()
            node.source.pause(1)
            session.beat()
            node.source.pause(1)
        for body in (
            Published(data=object_of({"BAD": 1})),
            Published(type="initial", data=object_of({"BAD": 2})),
            Published(status="stale"),
            Published(type="drop", status="expired"),
        ):
            session.say(feed.subject, body)
        session.say(feed.returned, session.reply_of(type="start", subject=feed.subject, data={"BAD": 3}))
        after = "after its HELLO alone" if greets else "that has not said HELLO"
        assert feed.keeps_out(), f"what a session {after} publishes is told"
        assert not node.events("drop", feed.subject), f"a drop of a session {after} is told"
        assert {status for status, _ in node.values(feed.subject)} == {"ok"}, f"a session {after} makes a value stale"


@rule("RAI-090", roles=SUBSCRIBER)
def test_replays_of_a_session_that_has_ended(node: NodeUnderTest) -> None:
    """Record what a publisher says, also on a subject that was not subscribed then; it says BYE; publish it all again.

    Nothing of it is told, with its HELLO and auth before it or without.
    """
    feed, late = Feed(node), node.subject("late")
    greeted = last_greeting(node)
    gone = stranger(node)
    node.source.pause(1)
    hello = gone.hello()
    proof = gone.prove(greeted[0], greeted[1].time, greeted[1].cnonce)
    answer = gone.surely(proof_of(node, gone, 0), "auth message")
    beat = gone.beat()
    told = gone.publish(feed.subject, data={"GOOD": 1})
    gone.surely(answer if feed.tells(GOOD=1) else None, "value")
    unheard = [gone.publish(late, data={"BAD": number}) for number in range(3)]
    bye = gone.bye()
    feed.refresh(BID=1)
    gone.surely(answer if feed.tells(BID=1) else None, "value")
    node.command("listen", late)
    feed.publisher.surely(feed.publisher.started(late), "start")
    place = feed.place

    def replay(when: str, *messages: Message) -> None:
        for message in messages:
            gone.send(message)
        feed.surely_goes_on()
        feed.publisher.publish(late, data={"CONTROL": when})
        heard = node.until(lambda: [each for _, each in node.values(late) if each.get("CONTROL") == when])
        feed.publisher.surely(feed.start if heard else None, "value")
        bad = [each for _, each in node.values(late) if "BAD" in each]
        assert not bad, f"what was recorded of a session that has ended is told {when}"
        again = [each for _, each in node.values(feed.subject)[place:] if "GOOD" in each]
        assert not again, f"what was told of a session that has ended is told again {when}"

    replay("when it is published again", told, *unheard)
    replay("behind its HELLO", hello, told, *unheard)
    replay("behind its heartbeat and its auth message", hello, beat, proof, *unheard)
    replay("behind its BYE", bye, told, *unheard)


@rule("RAI-090", roles=SUBSCRIBER)
def test_replays_of_a_former_run(node: NodeUnderTest) -> None:
    """Record what a publisher says to one run of the node, and publish it again to the next.

    Nothing of it is told.
    """
    with node.scene() as first:
        feed = Feed(first)
        recorded = [feed.publish(data={"BAD": number}) for number in range(3)]
        hello = feed.publisher.hello()
    with node.scene() as second:
        feed = Feed(second, publisher=second.new_publisher("tara"))
        for message in (*recorded, hello, *recorded):
            feed.publisher.send(message)
        assert feed.keeps_out(), "what was recorded of a session that the node has never met is told"


@rule("RAI-203", roles=SUBSCRIBER)
def test_starts_before_the_exchange(node: NodeUnderTest) -> None:
    """Have a subscriber want subjects and a wildcard before a publisher trusts it, and prove who that publisher is.

    All are started behind the node's auth message.
    """
    node.greeted(node.source)
    subjects = [node.subject(name) for name in ("one", "two", "three")]
    for number, subject in enumerate(subjects):
        node.command("listen" if number else "subscribe", subject)
    wildcard = node.subject("early.>")
    node.command("psubscribe", wildcard)
    early = node.source.wait_for(lambda event: event.subject == f"_SUB.START.{subjects[0]}", seconds=node.timing.window)
    node.shows("RAI-203", "R11", "B" if early else "A")
    publisher = node.publisher
    events = node.source.conversation.events
    place = next(number for number, event in enumerate(events) if event in publisher.proofs())
    for subject in subjects:
        start = publisher.started(subject, since=place)
        assert start, "what was wanted before the exchange is not started behind it"
    wild = publisher.started_wild(wildcard, since=place)
    assert wild, "a wildcard that was wanted before the exchange is not started behind it"
