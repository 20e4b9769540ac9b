"""Section "Session Notification": the sessions of a subscriber, from HELLO to BYE, and its inbox."""

from itertools import pairwise

from conformance.cases import judging, rule
from conformance.rai.feeds import Feed, heard, question
from conformance.rai.roles import SUBSCRIBER
from harness.rai.tester.conversation import is_genuine
from harness.rai.tester.driver import INTERVAL
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.trace import Direction
from wire.rai.values import BYE, HELLO, Auth, Bye, Hello, Subs, nonce_of, user_of
from wire.subjects import is_legal

RUNS = 4
"""Runs of a node that are compared."""

VARIED = 11
"""Places of a NONCE that have to differ somewhere among the runs: each holds six bits at most, and 64 are needed."""


@rule("RAI-099", roles=SUBSCRIBER)
def test_first_word(node: NodeUnderTest) -> None:
    """Start the node.

    The first that it says is HELLO, under _SESSION.HELLO.
    """
    node.greeted(node.source)
    first = node.source.received()[0]
    assert first.subject == HELLO, f"a session does not begin with HELLO: {first.subject} comes first"
    assert first.form is Hello, "what comes under _SESSION.HELLO is no HELLO"


@rule("RAI-077", "RAI-089", roles=SUBSCRIBER)
def test_nonces(node: NodeUnderTest) -> None:
    """Start the node several times.

    Each run has another NONCE; they share no pattern, and are long enough.
    """
    nonces = []
    for _ in range(RUNS):
        with node.scene() as scene:
            session, _ = scene.greeted(scene.source)
            nonces.append(nonce_of(session))
            assert user_of(session) == node.user, f"the user of the session {session} is not {node.user}"
    with judging("RAI-077"):
        assert len(set(nonces)) == RUNS, "two runs of the node have the same NONCE"
    with judging("RAI-089"):
        varied = sum(len(set(letters)) > 1 for letters in zip(*nonces, strict=False))
        assert varied >= VARIED, f"of {RUNS} runs the NONCEs differ in {varied} places alone: {', '.join(nonces)}"


@rule("RAI-081", "RAI-100", "RAI-186", roles=SUBSCRIBER)
def test_heartbeats(node: NodeUnderTest) -> None:
    """Have a subscriber want a subject, and ask for snapshots, for a minute and a half.

    It says a heartbeat every interval, whose time is the clock's.
    """
    feed = Feed(node)
    _, greeting = node.greeted(node.source)
    interval = min(greeting.interval, 6 * INTERVAL)
    for number in range(17):
        node.source.pause(interval / 2)
        if number < 8:
            node.command("snapshot", feed.subject)
            feed.update(BID=number)
    beats = [event for event in node.source.received() if isinstance(event.body, Hello)]
    with judging("RAI-081"):
        assert len(beats) > 1, "after HELLO no heartbeat is said"
        silence = node.elapsed(beats[-1].time)
        assert silence < 3.5 * interval + node.slack, f"no heartbeat is said any more, for {silence:.0f} s"
    with judging("RAI-100"):
        gaps = [node.elapsed(one.time, two.time) for one, two in pairwise(beats)]
        longest, mean = max(gaps), sum(gaps) / len(gaps)
        assert longest < 2 * interval + node.slack, f"heartbeats are {longest:.0f} s apart, and say {interval} s"
        assert mean > interval / 2, f"heartbeats are {mean:.0f} s apart, and say {interval} s"
        node.shows("RAI-100", "R37", "A" if longest < 1.5 * interval + node.slack else "B")
    with judging("RAI-186"):
        assert_tells_time(node, beats)


def assert_tells_time(node: NodeUnderTest, beats: list[Event]) -> None:
    """Demand that the time of HELLO and heartbeats is the clock's, and grows."""
    bodies = [(event.time, event.body) for event in beats if isinstance(event.body, Hello)]
    for at, body in bodies:
        off = body.time / 1e6 - (node.source.utc() / 1e6 - node.elapsed(at))
        assert abs(off) < INTERVAL + node.slack, f"the time of a heartbeat is {off:+.0f} s away from the clock's"
    for (_, one), (_, two) in pairwise(bodies):
        assert two.time > one.time, "the time of heartbeats does not grow"


@rule("RAI-002", "RAI-071", "RAI-072", "RAI-074", "RAI-028", roles=SUBSCRIBER)
def test_all_that_is_said(node: NodeUnderTest) -> None:
    """Have a subscriber do all that it can: start, stop, wildcards, snapshots, a dictionary, lists, and end.

    All is said in one session, numbered and signed, and under no wildcard.
    """
    feed = Feed(node)
    publisher = feed.publisher
    publisher.naming, publisher.dictionaries["json"] = {"dictionary": "json"}, {}
    other, wildcard = Feed(node, "other", verb="listen"), node.subject("w.*.x")
    node.command("psubscribe", wildcard)
    node.command("snapshot", feed.subject)
    publisher.surely(feed.start if heard(node, "snapshot", feed.subject) else None, "snapshot")
    node.command("dictionary", "json")
    publisher.send(question(feed))
    node.command("unsubscribe", other.subject)
    node.command("punsubscribe", wildcard)
    feed.publish(type="drop", status="nosubscribers")
    node.source.pause(2.2 * INTERVAL)
    node.command("end")
    publisher.surely(bye_of(node), "BYE")
    said = [event for event in node.source.conversation.events if event.direction is Direction.RECEIVED]
    with judging("RAI-072"):
        refused = [each for each in node.source.conversation.refusals if each.direction is Direction.RECEIVED]
        assert not refused, f"what is said under {refused[0].subject} is no message: {refused[0].error}"
        for event in said:
            message = event.message
            is_whole = user_of(message.session) and nonce_of(message.session) and message.digest
            assert is_whole, f"a message under {event.subject} has no session of the form user.NONCE, or no digest"
    with judging("RAI-002"):
        sessions = {event.message.session for event in said}
        assert len(sessions) == 1, f"one run of the node speaks in {len(sessions)} sessions"
    with judging("RAI-071"):
        for event in said:
            is_right = event.form is Auth or is_genuine(event.message)
            assert is_right, f"the digest of a message under {event.subject} does not verify"
    with judging("RAI-074"):
        last: dict[str, int] = {}
        for event in said:
            seqno = event.message.seqno
            assert seqno > last.get(event.subject, -1), f"under {event.subject} seqno {seqno} comes behind its like"
            last[event.subject] = seqno
    with judging("RAI-028"):
        for event in said:
            assert is_legal(event.subject), f"a message is published under {event.subject}"


def bye_of(node: NodeUnderTest) -> Event | None:
    """Read until the node says BYE, and return it."""
    return node.source.wait_for(lambda event: event.form is Bye and event.subject == BYE, thing="a BYE")


@rule("RAI-103", "RAI-177", roles=SUBSCRIBER)
def test_end(node: NodeUnderTest) -> None:
    """End a node that is subscribed; then ask for its subscriptions, drop what it wants, greet it, for half a minute.

    It says BYE, in its session, and nothing more in that.
    """
    feed = Feed(node)
    node.command("end")
    with judging("RAI-103"):
        bye = bye_of(node)
        assert bye, "a node that is ended does not say BYE"
        assert bye.message.session == feed.start.message.session, "BYE is said in another session"
    place = node.source.conversation.events.index(bye) + 1
    with judging("RAI-177"):
        feed.publisher.send(question(feed))
        feed.publish(type="drop", status="nosubscribers")
        feed.publish(status="stale")
        session = node.source_session("toby")
        session.hello()
        feed.publisher.hello()
        node.source.pause(2.5 * INTERVAL)
        said = [each for each in node.source.received(since=place) if each.message.session == bye.message.session]
        assert not said, f"after BYE something is said in the session, under {said[0].subject}"


@rule("RAI-095", roles=SUBSCRIBER)
def test_answers_at_once(node: NodeUnderTest) -> None:
    """Start the node several times, and send an auth message as soon as its HELLO is heard.

    It is answered.
    """
    for _ in range(3):
        with node.scene() as scene:
            publisher = scene.source_session()
            publisher.proves = True
            scene.greeted(scene.source)
            assert scene.trusts(publisher), (
                "what is sent to the inbox as soon as HELLO is heard does not reach the node"
            )


@rule("RAI-096", roles=SUBSCRIBER, needs=("RAI-155",))
def test_inbox(node: NodeUnderTest) -> None:
    """Publish below the node's inbox: an auth, a question for subscriptions, and answers at its returns.

    All of that reaches it.
    """
    feed = Feed(node)
    publisher = feed.publisher
    since = publisher.broker.place
    publisher.send(question(feed))
    lists = publisher.broker.wait_for(lambda event: event.form is Subs, since=since)
    assert lists, "a question under get_subs in the inbox does not reach the node"
    for number in range(12):
        publisher.values[node.subject(f"s.{number}")] = {"BID": number}
        node.command("snapshot", node.subject(f"s.{number}"))
    for number in range(12):
        assert heard(node, "snapshot", node.subject(f"s.{number}")), "an answer at a return does not reach the node"
    publisher.say(feed.returned, publisher.reply_of(type="start", subject=feed.subject, data={"AT": 1}))
    node.new_publisher("toby", serves=False)


@rule("RAI-097", roles=SUBSCRIBER, needs=("RAI-155",))
def test_addresses_for_unicast(node: NodeUnderTest) -> None:
    """Have a publisher name an ucast_url in its HELLO and heartbeats.

    It is answered, and told, as any other.
    """
    feed = Feed(node)
    to, greeting = node.greeted(node.source)
    other = node.source_session("toby")
    other.hello(ucast_url="pgm://127.0.0.1:4711")
    other.prove(to, greeting.time, greeting.cnonce)
    assert node.trusts(other), "a publisher that names an ucast_url is not answered"
    other.publish(feed.subject, data={"BID": 10})
    assert feed.tells(BID=10), "what a publisher says that names an ucast_url is not told"
    other.beat(ucast_url="udp://239.1.1.1:7500")
    feed.publisher.beat(ucast_url="pgm://127.0.0.1:4712")
    other.publish(feed.subject, data={"BID": 11})
    assert feed.tells(BID=11), "after a heartbeat that names an ucast_url a publisher is not told any more"
    assert feed.goes_on(), "after a heartbeat that names an ucast_url a publisher is not told any more"


@rule("RAI-204", roles=SUBSCRIBER, needs=("RAI-155",))
def test_broker_that_comes_back(node: NodeUnderTest) -> None:
    """End the broker under a node that is subscribed, and start it again; then do so once more.

    The node greets with a new NONCE, trusts a publisher, and starts what it wants; updates are told.
    """
    feed, wildcard = Feed(node), node.subject("wide.>")
    node.command("psubscribe", wildcard)
    sessions = [node.greeted(node.source)[0]]
    for _ in range(2):
        node.outage()
        greeting = node.source.wait_for(
            lambda event: isinstance(event.body, Hello), seconds=node.timing.within(35), thing="a HELLO after an end"
        )
        assert greeting, "when the broker has come back, the node does not greet"
        session = greeting.message.session
        assert session not in sessions, "when the broker has come back, the node says so in its old session"
        if node.timing.is_virtual:
            # Elsewhere the node may be at the broker before the tester is.
            assert greeting.form is Hello, "when the broker has come back, the node says no HELLO"
        sessions.append(session)
        publisher = feed.publisher = node.publisher
        publisher.is_serving = False
        start = publisher.started(feed.subject)
        assert start, "when the broker has come back, what is subscribed is not started again"
        assert publisher.started_wild(wildcard), "when the broker has come back, a wildcard is not started again"
        publisher.publish(feed.subject, data={"SESSION": len(sessions)})
        assert feed.tells(SESSION=len(sessions)), "when the broker has come back, updates are not told"
        name = node.subject(f"wide.{len(sessions)}")
        publisher.publish(name, data={"BID": 1})
        assert heard(node, "value", name), "when the broker has come back, what a wildcard matches is not told"
