"""Section "HMAC Authentication": seqnos of what a subscriber hears, and what comes again."""

from conformance.cases import judging, rule
from conformance.rai.feeds import Feed, asked, question
from conformance.rai.roles import SUBSCRIBER
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Message, Published, object_of


@rule("RAI-073", "RAI-180", roles=SUBSCRIBER)
def test_replays(node: NodeUnderTest) -> None:
    """Publish updates, and again the last and the earlier ones, byte for byte; and others with the same seqnos.

    Nothing is told twice, and nothing that has an old seqno.
    """
    feed = Feed(node)
    publisher = feed.publisher
    sent = [feed.update(BID=number) for number in (11, 12, 13)]
    with judging("RAI-180"):
        twice = feed.update(ONCE=1)
        publisher.send(twice)
        feed.surely_goes_on()
        once = [fields for _, fields in node.values(feed.subject) if "ONCE" in fields and "MARK" not in fields]
        assert len(once) == 1, "an update that arrives twice is told twice"
    with judging("RAI-073"):
        place = feed.place
        for message in (*reversed(sent), twice, *sent):
            publisher.send(message)
        for seqno in (twice.seqno, twice.seqno - 1, sent[0].seqno, 1, 0):
            publisher.say(feed.subject, Published(data=object_of({"BAD": seqno})), seqno=seqno)
        feed.surely_goes_on()
        told = [fields.get("BID") for _, fields in node.values(feed.subject)[place:]]
        assert set(told) == {13}, "an update that is published again is told as if it were new"
        assert not feed.leaks, "an update is told whose seqno is not greater than the last one"


@rule("RAI-073", roles=SUBSCRIBER)
def test_replays_after_other_things(node: NodeUnderTest) -> None:
    """Record updates of several subjects; publish them again after a stop and a start, a HELLO, an auth, half a minute.

    None is told.
    """
    feeds = [Feed(node, name) for name in ("one", "two", "three", "four", "five", "six")]
    first = feeds[0]
    publisher = first.publisher
    recorded = [feed.update(BAD=feed.subject) for feed in feeds]
    for feed in feeds:
        feed.refresh(BID=1, GOOD=1)
        feed.publisher.surely(first.start if feed.tells(GOOD=1) else None, "image")
    places = [feed.place for feed in feeds]

    def replay(when: str) -> None:
        for message in recorded:
            publisher.send(message)
        for feed, place in zip(feeds, places, strict=True):
            feed.surely_goes_on()
            bad = [each for each in node.values(feed.subject)[place:] if "BAD" in each[1]]
            assert not bad, f"an update is told once more when it is published again {when}"

    replay("after an image")
    node.command("unsubscribe", first.subject)
    node.command("subscribe", first.subject)
    publisher.broker.read()
    replay("after the subject was subscribed anew")
    publisher.hello()
    publisher.beat()
    replay("after a HELLO and a heartbeat")
    to, greeting = node.greeted(node.source)
    publisher.prove(to, greeting.time, greeting.cnonce)
    replay("after another auth message")
    publisher.broker.pause(35)
    replay("half a minute later")


@rule("RAI-180", roles=SUBSCRIBER)
def test_everything_twice(node: NodeUnderTest) -> None:
    """Send a question, an image, an ack, a snapshot and a drop twice each, byte for byte.

    Each is answered and told once.
    """
    feed = Feed(node)
    publisher = feed.publisher
    since = publisher.broker.place
    asking = question(feed)
    publisher.send(asking)
    publisher.send(asking)
    publisher.is_serving = False
    subject = node.subject("twice")
    node.command("subscribe", subject)
    start = publisher.surely(publisher.started(subject), "start").message
    node.command("snapshot", subject)
    snap = publisher.broker.wait_for(lambda event: event.subject == f"_SNAP.{subject}", since=since)
    snapped = publisher.surely(snap, "snapshot request").message
    answers = (
        (start, {"type": "start", "subject": subject, "status": "ack"}),
        (start, {"type": "start", "subject": subject, "format": "json", "data": {"BID": 1}}),
        (snapped, {"type": "snap", "subject": subject, "format": "json", "data": {"BID": 2}}),
    )
    for message, members in answers:
        returned = getattr(message.body, "return_", None)
        if returned is not None:
            publisher.send(publisher.answer(message.session, returned, **members))
    dropped = feed.publish(type="drop", status="preempted")
    publisher.send(dropped)
    publisher.update(subject, MARK=1)
    told = node.until(lambda: [fields for _, fields in node.values(subject) if "MARK" in fields])
    publisher.surely(snap if told else None, "update")
    feed.goes_on()
    assert len(answers_to(feed, since)) < 2, "a question that arrives twice is answered twice"
    assert len(node.events("drop", feed.subject)) < 2, "a drop that arrives twice is told twice"
    assert len(node.events("ack", subject)) < 2, "an ack that arrives twice is told twice"
    assert len(node.events("snapshot", subject)) < 2, "a snapshot that arrives twice is told twice"
    values = [fields for _, fields in node.values(subject) if "MARK" not in fields]
    assert len(values) < 2, "an image that arrives twice is told twice"


def answers_to(feed: Feed, since: int) -> list[Message]:
    """Return the lists of subscriptions that name a feed's subject: a long one may come in several messages."""
    return [each for each in asked(feed, since) if feed.subject in getattr(each.body, "subs", ())]


@rule("RAI-181", "RAI-182", "RAI-183", roles=SUBSCRIBER)
def test_seqnos(node: NodeUnderTest) -> None:
    """Publish updates with a gap before their seqno; of another subject with a lower one; with seqnos beyond 32 bits.

    All are told.
    """
    one, two = Feed(node, "one"), Feed(node, "two")
    publisher = one.publisher
    base = publisher.seqno
    for rule_id, feed, seqno, what in (
        ("RAI-181", one, base + 2, "a gap of one before it"),
        ("RAI-181", one, base + 5000, "a great gap before it"),
        ("RAI-181", one, base + 2**30, "a very great gap before it"),
        ("RAI-182", two, base + 10, "a seqno that is lower than the last of another subject"),
        ("RAI-183", one, 2**32 + 1, "a seqno of 33 bits"),
        ("RAI-183", one, 2**32 + 2, "a seqno of 33 bits behind such a one"),
        ("RAI-182", two, base + 11, "a seqno that is far lower than the last of another subject"),
        ("RAI-183", one, 2**52 + 3, "a seqno of 53 bits"),
        ("RAI-183", two, 2**40, "a seqno of 41 bits"),
    ):
        body = Published(data=object_of({"SEQNO": seqno}))
        publisher.say(feed.subject, body, seqno=seqno)
        with judging(rule_id):
            assert feed.tells(SEQNO=seqno), f"an update is not told that has {what}"
