"""Rai, "Protocol Initialization", "Inbox Subjects" and "Session Notification": how a publisher's session begins, lives
and ends, and where it is told something.
"""

from itertools import pairwise
from math import log2

from conformance.cases import judging, rule
from conformance.rai.forging import proof
from conformance.rai.publishing import dropped, drops, is_published, meets_somebody, settle
from conformance.rai.roles import BROKERS, PUBLISHER
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.trace import Direction
from wire.rai.values import (
    HELLO,
    Bye,
    Heartbeat,
    Hello,
    Published,
    Return,
    inbox,
    nonce_of,
    user_of,
)
from wire.subjects import is_wildcard

BITS = 64
"""Random bits that a NONCE has to hold: as many as two sessions in four thousand million need to differ."""

RUNS = 5
"""Runs of a node that are compared: what is random is the same at one place of all of them once in millions."""

MICROSECONDS = 1_000_000

CLOSE = 60
"""Seconds by which the clock of a node may be off before its times are said to be something else."""


def greetings(node: NodeUnderTest) -> list[Event]:
    """Return the HELLOs and heartbeats of the node."""
    return node.broker.received(Hello, Heartbeat)


def said(node: NodeUnderTest, since: int = 0) -> list[Event]:
    """Return all that anybody but the tester has said."""
    events = node.broker.conversation.events[since:]
    return [event for event in events if event.direction is Direction.RECEIVED]


@rule("RAI-099", roles=PUBLISHER)
def test_first_words(node: NodeUnderTest) -> None:
    """Start a publisher, and at once have its source say something, and sessions greet it.

    The first that it says is HELLO.
    """
    node.set("early", BID=1)
    for user in ("tess", "toby"):
        node.session(user).hello()
    node.main.image(node.subject("early"))
    assert said(node)[0].subject == HELLO, "something else is said before HELLO"


@rule("RAI-002", roles=PUBLISHER, needs=("RAI-080", "RAI-108", "RAI-137"))
def test_one_session(node: NodeUnderTest) -> None:
    """Have a publisher say what it can: greetings, proofs, answers, updates, drops, BYE.

    All of it is said in the same session, of its user.
    """
    subject = node.set("all", BID=1)
    for session in (node.main, node.other):
        session.subscribed(subject)
        session.image(subject)
        session.snapshot(subject)
    is_published(node, "all")
    node.main.stop(subject)
    node.other.stop(subject)
    dropped(node, subject)
    node.broker.wait_for(lambda event: event.form is Heartbeat, seconds=node.timing.within(25))
    node.command("end")
    node.broker.wait_for(lambda event: event.form is Bye)
    sessions = {event.message.session for event in said(node)}
    assert len(sessions) == 1, "messages of one run are said in several sessions"
    assert {user_of(each) for each in sessions} == {node.user}, "the session is not of the node's user"


@rule("RAI-077", "RAI-089", roles=PUBLISHER)
def test_nonces(node: NodeUnderTest) -> None:
    """Start a publisher five times.

    Each run has another NONCE, and what changes between them holds no less than 64 bits.
    """
    nonces = [nonce_of(node.greeted(node.broker)[0])]
    while len(nonces) < RUNS:
        with node.scene() as scene:
            nonces.append(nonce_of(scene.greeted(scene.broker)[0]))
    with judging("RAI-077"):
        assert len(set(nonces)) == RUNS, "two runs have the same NONCE"
    with judging("RAI-089"):
        assert random_bits(nonces) >= BITS, "what differs between the NONCEs of several runs holds less than 64 bits"


def random_bits(nonces: list[str]) -> float:
    """Return how many bits differ between words, as far as their alphabet lets them."""
    places = [set(each) for each in zip(*nonces, strict=False)]
    alphabet = set("".join(nonces))
    size = 10 if alphabet <= set("0123456789") else 16 if alphabet <= set("0123456789abcdefABCDEF-") else 64
    return log2(size) * sum(len(each) > 1 for each in places)


@rule("RAI-081", "RAI-100", roles=PUBLISHER)
def test_heartbeats(node: NodeUnderTest) -> None:
    """Listen to a publisher for some intervals, and have it work meanwhile.

    Heartbeats come, the stated interval apart, a whole one early or late at most.
    """
    _, hello = node.greeted(node.broker)
    interval, count = hello.interval, 4
    node.main.subscribed(node.set("busy", BID=1))
    beats: list[Event] = []
    since = 0
    while len(beats) < count:
        patience = node.timing.within(3 * interval)
        beat = node.broker.wait_for(lambda event: event.form is Heartbeat, since=since, seconds=patience)
        with judging("RAI-081"):
            assert beat is not None, "no heartbeat comes for three intervals"
        beats.append(beat)
        since = node.broker.conversation.events.index(beat) + 1
        for _ in range(4):
            is_published(node, "busy")
    times = [greetings(node)[0].time, *(each.time for each in beats)]
    gaps = [node.elapsed(one, two) for one, two in pairwise(times)]
    with judging("RAI-100"):
        assert max(gaps) <= 2 * interval + node.slack, "a heartbeat comes more than an interval late"
        assert sum(gaps) >= (count - 1) * interval - node.slack, "heartbeats come more often than the interval says"
    is_close = all(abs(gap - interval) <= interval / 2 + node.slack for gap in gaps)
    node.shows("RAI-100", "R37", "A" if is_close else "B")


@rule("RAI-186", roles=PUBLISHER, needs=("RAI-081",))
def test_times(node: NodeUnderTest) -> None:
    """Listen to a publisher's HELLO and heartbeats.

    Their time is the clock's, in microseconds, and grows with the time between them.
    """
    node.greeted(node.broker)
    node.broker.wait_for(lambda event: event.form is Heartbeat, seconds=node.timing.within(25))
    heard = greetings(node)
    for event in heard:
        assert isinstance(event.body, Hello)
        clock = node.broker.utc() / MICROSECONDS - node.elapsed(event.time)
        assert abs(event.body.time / MICROSECONDS - clock) <= CLOSE, "the time is not that of the clock in microseconds"
    for one, two in pairwise(heard):
        assert isinstance(one.body, Hello)
        assert isinstance(two.body, Hello)
        passed = (two.body.time - one.body.time) / MICROSECONDS
        assert passed > 0, "the time of a heartbeat is not later than the one before"
        between = node.elapsed(one.time, two.time)
        assert abs(passed - between) <= 5 + node.slack, "the times of two greetings are not as far apart as these"


@rule("RAI-103", "RAI-177", roles=PUBLISHER, needs=("RAI-109",))
def test_end(node: NodeUnderTest) -> None:
    """End a publisher that has subscribers, and speak to it afterwards for some intervals.

    It says BYE once, and then nothing.
    """
    subject = node.set("kept", BID=1)
    node.main.subscribed(subject)
    stranger = node.session()
    node.command("end")
    bye = node.broker.wait_for(lambda event: event.form is Bye)
    with judging("RAI-103"):
        assert bye is not None, "a publisher that is ended says no BYE"
    since = node.broker.conversation.events.index(bye) + 1
    returned = node.main.new_return()
    node.main.start(subject, return_=returned, ack=True, initial=True)
    node.main.stop(subject, return_=returned, ack=True)
    stranger.hello()
    node.broker.pause(25)
    with judging("RAI-177"):
        assert not said(node, since), "something is said in a session after its BYE"


@rule("RAI-095", roles=PUBLISHER, needs=("RAI-109",))
def test_inbox_from_the_beginning(node: NodeUnderTest) -> None:
    """Greet a publisher as soon as it has said HELLO, and answer its proof at once.

    The answer reaches its inbox: the session is trusted.
    """
    node.greeted(node.broker)
    session = node.session().met()
    assert session.subscribe(node.subject("early")), "what was sent to the inbox right after HELLO has not reached it"


@rule("RAI-096", roles=PUBLISHER, needs=("RAI-152",))
def test_inbox_of_a_publisher(node: NodeUnderTest) -> None:
    """Prove who one is in a publisher's inbox, and ask for a dictionary there.

    Both reach the node.
    """
    node.command("dictionary", "words", '{"BID":1}')
    for session in (node.main, node.other):
        for _ in range(2):
            answer = session.dictionary("words")
            assert answer is not None, "what is published below the inbox of its session does not reach the publisher"


@rule("RAI-097", roles=PUBLISHER, needs=("RAI-109",))
def test_ucast_url(node: NodeUnderTest) -> None:
    """Have sessions name another way to their inboxes in HELLO and heartbeats.

    Over a broker it changes nothing: they are greeted there, trusted, and answered.
    """
    node.greeted(node.broker)
    for url in ("pgm://127.0.0.1:7500", "tcp://localhost:9999", ""):
        session = node.session()
        session.hello(ucast_url=url)
        assert node.broker.wait_for(lambda event, its=session: event in its.proofs()), (  # type: ignore[misc]
            "a HELLO with ucast_url is not answered"
        )
        assert session.subscribe(node.subject("one")), "a session that has stated ucast_url is not answered"
        session.beat(ucast_url=url)
        assert session.subscribe(node.subject("two")), "a session whose heartbeat has ucast_url is not answered"


@rule("RAI-098", roles=PUBLISHER, needs=("RAI-108", "RAI-116", "RAI-134"))
def test_returns(node: NodeUnderTest) -> None:
    """Ask for acks, images and snapshots at returns of all kinds: numbers, texts, several segments.

    Each answer stands below the inbox of the session that asks, under its return.
    """
    subject = node.set("shown", BID=1)
    since = node.broker.place
    returns: tuple[Return, ...] = (1, 0, 4711, 2**40, "17", "a", "subs.1", "A.b-C_d.3", "auth.1", "x" * 100)
    for place, returned in enumerate(returns):
        session = (node.main, node.other)[place % 2]
        own = inbox(session.session, returned)
        for what in ("ack", "image", "stop", "snap"):
            asked = node.broker.place
            match what:
                case "ack":
                    session.start(subject, return_=returned, ack=True)
                case "image":
                    session.start(subject, return_=returned, initial=True)
                case "stop":
                    session.stop(subject, return_=returned, ack=True)
                case _:
                    session.snapshot(subject, return_=returned)
            heard = node.broker.wait_for(lambda event, its=own: event.subject == its, since=asked)  # type: ignore[misc]
            assert heard is not None, "nothing is answered under the inbox of who asks and the return"
    inboxes = tuple(inbox(each.session, "") for each in (node.main, node.other))
    others = [each for each in said(node, since) if each.subject.startswith("_INBOX.")]
    assert all(each.subject.startswith(inboxes) for each in others), "an answer stands in another inbox"


@rule("RAI-201", roles=PUBLISHER, needs=("RAI-109",))
def test_returns_that_make_no_subject(node: NodeUnderTest) -> None:
    """Ask for answers at returns that are wildcards, or have empty segments.

    Nothing is published there, and the next request is answered.
    """
    subject = node.set("shown", BID=1)
    since = node.broker.place
    settle(node.main)
    for returned in ("*", ">", "a.>", "a.*.b", "", ".", "a..b", ".a", "a."):
        node.main.start(subject, return_=returned, ack=True, initial=True)
        assert node.main.subscribe(subject), "after a return that makes no subject nothing is answered"
    for event in said(node, since):
        assert not is_wildcard(event.subject), "something is published to a wildcard"


@rule("RAI-028", roles=PUBLISHER, needs=("RAI-109",))
def test_subjects_that_are_wildcards(node: NodeUnderTest) -> None:
    """Name wildcards as subjects of starts and snapshots, end that, and have matching values change.

    Nothing is published to them.
    """
    node.set("a.b", BID=1)
    since = node.broker.place
    for wildcard in ("LAB.>", "LAB.*", "LAB.a.*"):
        node.main.start(wildcard, return_=node.main.new_return(), ack=True, initial=True)
        node.main.start_wild(wildcard)
    settle(node.main)
    node.set("a.b", BID=2)
    for wildcard in ("LAB.>", "LAB.*", "LAB.a.*"):
        node.main.stop(wildcard, return_=node.main.new_return(), ack=True)
        node.main.stop_wild(wildcard)
    settle(node.main)
    for event in said(node, since):
        assert not is_wildcard(event.subject), "something is published to a wildcard"


@rule("RAI-102", roles=PUBLISHER)
def test_bye(node: NodeUnderTest) -> None:
    """Have a session say BYE that has subscribed three subjects, one of them with another session.

    The two that nobody else has subscribed are dropped, the other is not.
    """
    names = ("first", "shared", "last")
    subjects = [node.set(name, BID=1) for name in names]
    gone = node.other
    for subject in subjects:
        gone.subscribed(subject)
    node.main.subscribed(subjects[1])
    since = node.broker.place
    gone.bye()
    for subject in (subjects[0], subjects[2]):
        assert dropped(node, subject, since), "a subject is not dropped after the BYE of its only subscriber"
    assert not drops(node, subjects[1], since), "a subject that somebody else has subscribed is dropped after a BYE"
    assert is_published(node, "shared"), "after a BYE a subject is not published that somebody else has subscribed"


@rule("RAI-102", roles=PUBLISHER, needs=("RAI-122",))
def test_bye_of_who_has_subscribed_a_wildcard(node: NodeUnderTest) -> None:
    """Have a session say BYE that has subscribed a wildcard, then end the last subscription of a subject it matches.

    The subject is dropped.
    """
    subject = node.set("wild.one", BID=1)
    node.main.subscribed(subject)
    node.other.start_wild(f"{node.subject('wild')}.>")
    settle(node.other)
    node.other.bye()
    meets_somebody(node)
    since = node.broker.place
    node.main.stop(subject)
    assert dropped(node, subject, since), "a wildcard of a session that has said BYE keeps a subject from being dropped"


@rule("RAI-176", roles=PUBLISHER)
def test_start_after_bye(node: NodeUnderTest) -> None:
    """Have a session say BYE, and then start a subject, stop one and ask for a snapshot.

    Nothing is answered.
    """
    subject = node.set("late", BID=1)
    gone = node.other
    gone.subscribed(subject)
    gone.bye()
    since = node.broker.place
    gone.start(subject, return_="late", ack=True, initial=True)
    gone.snapshot_request(subject, "late")
    gone.stop(subject, return_="late", ack=True)
    settle(node.main)
    assert not gone.replies("late", since=since), "a session that has said BYE is answered"


@rule("RAI-204", roles=PUBLISHER, needs=("RAI-109",))
def test_broker_comes_back(node: NodeUnderTest) -> None:
    """Have the broker go away and come back.

    The publisher greets with a new NONCE, and goes on: it meets sessions, and answers them.
    """
    subject = node.set("lasting", BID=1)
    node.main.subscribed(subject)
    before = node.broker.node_session
    node.outage()
    greeting = node.broker.wait_for(lambda event: isinstance(event.body, Hello), seconds=node.timing.within(40))
    assert greeting is not None, "nothing is said when the broker has come back"
    assert greeting.message.session != before, "the session is the same as before the broker went away"
    session = node.session()
    session.hello()
    assert proof(session), "a session that comes after the broker has come back is not greeted"
    assert session.subscribe(subject), "a session that comes after the broker has come back is not answered"
    assert node.main.subscribe(subject), "a second session that comes after the broker has come back is not answered"
    assert is_published(node, "lasting"), "a value is not published after the broker has come back"


@rule("RAI-215", roles=PUBLISHER, transports=BROKERS, needs=("RAI-009", "RAI-108", "RAI-116", "RAI-134", "RAI-137"))
def test_conversation_over_any_broker(node: NodeUnderTest) -> None:
    """Have a whole conversation: trust, a start, its image, an update, a snapshot, a stop.

    All of it is said as over any other broker, under the same subjects.
    """
    subject, session = node.set("REC.INTC.O", BID=1), node.main
    session.start(subject, return_="begin", ack=True, initial=True)
    ack = session.surely(session.reply("begin", lambda body: body.state == "ack"), "ack")
    assert ack.subject.startswith(inbox(session.session, "")), "the ack stands elsewhere"
    assert session.reply("begin", lambda body: body.has_data), "no image comes"
    assert is_published(node, "REC.INTC.O"), "no update comes"
    assert session.snapshot(subject), "no snapshot comes"
    since = node.broker.place
    session.stop(subject, return_="end", ack=True)
    assert session.reply("end", since=since), "no ack of a stop comes"
    assert dropped(node, subject, since), "no drop comes"
    subjects = {event.subject for event in node.broker.received(Published)}
    assert subjects == {subject}, "something is published under another spelling of its subject"
