"""Section "HMAC Authentication": what must not reach a subscriber's application, and what must all the same."""

from collections.abc import Callable, Iterator

import msgspec

from conformance.cases import rule
from conformance.rai.feeds import Feed, asked, question
from conformance.rai.roles import SUBSCRIBER
from harness.rai.tester.driver import new_nonce
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.users import PROFILE, STRANGER, secret_of
from wire.rai.values import Bye, Message, Published, inbox, nonce_of, object_of


def changed(message: Message, **members: object) -> Message:
    """Return a message as somebody has changed it on its way: another body, and the digest that it had."""
    body = msgspec.structs.replace(message.body, **members)
    return msgspec.structs.replace(message, body=body, signed=msgspec.json.encode(body))


def tampered(feed: Feed, genuine: Callable[[], Message]) -> Iterator[tuple[str, Message]]:
    """Yield messages of the publisher as they come when they were changed on their way, with what was changed."""
    data = object_of({"BAD": 1, "BID": 2})
    yield "a field", changed(genuine(), data=data)
    yield "a field's name", changed(genuine(), data=object_of({"BAD": 2}))
    yield "the status", changed(genuine(), status="stale", data=data)
    yield "the type", changed(genuine(), type="drop", status="expired")
    yield "the type", changed(genuine(), type="initial", data=data)
    yield "a member that was added", changed(genuine(), text="x", data=data)
    yield "the seqno", msgspec.structs.replace(feed.bad(), seqno=feed.publisher.seqno + 1)
    yield "the seqno, which is far ahead,", msgspec.structs.replace(feed.bad(), seqno=feed.publisher.seqno + 2**33)


@rule("RAI-068", roles=SUBSCRIBER)
def test_changes_on_the_way(node: NodeUnderTest) -> None:
    """Publish updates that were changed on their way: a field, the type, the status, the seqno; or for another subject.

    None is told to the application, and none changes the value.
    """
    feed, other = Feed(node, "one"), Feed(node, "two")
    for what, message in tampered(feed, lambda: feed.publisher.message_of(feed.subject, data={"BID": 2})):
        feed.publisher.send(message)
        assert feed.keeps_out(), f"an update is told that was changed on its way: {what}"
    moved = other.bad()
    feed.publisher.send(moved, feed.subject)
    assert feed.keeps_out(), "an update is told that was signed for another subject"
    assert not node.events("drop", feed.subject), "a drop is told that was an update before somebody changed it"
    assert all(status == "ok" for status, _ in node.values(feed.subject)), "a status is told that nobody has published"


@rule("RAI-068", roles=SUBSCRIBER)
def test_changes_in_the_inbox(node: NodeUnderTest) -> None:
    """Answer starts by images that were changed on their way, or were signed for another return.

    None is told.
    """
    one, two = Feed(node, "one"), Feed(node, "two")
    publisher = one.publisher
    for feed, other in ((one, two), (two, one)):
        image = {"type": "start", "subject": feed.subject, "format": "json", "data": {"BID": 5}}
        genuine = publisher.message(feed.returned, publisher.reply_of(**image))
        publisher.send(changed(genuine, data=object_of({"BAD": 1})))
        forged = publisher.message(other.returned, publisher.reply_of(**(image | {"data": {"BAD": 2}})))
        publisher.send(forged, feed.returned)
    for feed in (one, two):
        assert feed.keeps_out(), "an image is told that was changed on its way, or signed for another return"


def wrong_digests(feed: Feed) -> Iterator[tuple[str, Message]]:
    """Yield messages whose digest is wrong, with what is wrong with it."""
    publisher = feed.publisher
    for place in (0, 10, 21):
        message = feed.bad()
        letter = "A" if message.digest[place] != "A" else "Q"
        digest = message.digest[:place] + letter + message.digest[place + 1 :]
        yield f"one whose {place + 1}. letter is another", msgspec.structs.replace(message, digest=digest)
    genuine = publisher.publish(feed.subject, data={"BID": 3})
    yield "that of another message", msgspec.structs.replace(feed.bad(), digest=genuine.digest)
    yield "none", msgspec.structs.replace(feed.bad(), digest="")
    yield "half of one", msgspec.structs.replace(feed.bad(), digest=feed.bad().digest[:11])
    yield "zeros", msgspec.structs.replace(feed.bad(), digest=22 * "A")
    body = Published(data=object_of({"BAD": 2}))
    other_session = PROFILE.session_key(publisher.secret, new_nonce())
    of_sam = PROFILE.session_key(secret_of(node_user(feed)), nonce_of(publisher.session))
    for what, key in (
        ("one made with an empty key", bytes(32)),
        ("one made with the user's own key", publisher.secret),
        ("that of another session", other_session),
        ("one made with the subscriber's password", of_sam),
    ):
        yield what, publisher.message(feed.subject, body, key=key)


def node_user(feed: Feed) -> str:
    """Return the user of the node under test."""
    return feed.node.user


@rule("RAI-076", roles=SUBSCRIBER)
def test_wrong_digests(node: NodeUnderTest) -> None:
    """Publish updates with wrong digests: changed ones, others', none, and made with other keys.

    They are not told, and what the publisher says next is.
    """
    feed = Feed(node)
    for what, message in wrong_digests(feed):
        feed.publisher.send(message)
        assert feed.goes_on(), f"behind a message with a wrong digest ({what}) nothing is told any more"
        assert not feed.leaks, f"an update is told whose digest is wrong: {what}"


@rule("RAI-076", roles=SUBSCRIBER)
def test_wrong_digests_of_all_messages(node: NodeUnderTest) -> None:
    """Send, with wrong digests, drops, notices, answers, a question for subscriptions, a BYE; with seqnos far ahead.

    Nothing is answered or told, and nothing is changed: what the publisher says next is told.
    """
    feed = Feed(node)
    publisher, key = feed.publisher, bytes(32)
    since, place = publisher.broker.place, feed.place
    ahead = publisher.seqno + 2**20
    for body in (
        Published(type="drop", status="nosubscribers"),
        Published(type="drop", status="expired"),
        Published(status="stale"),
        Published(type="initial", data=object_of({"BAD": 1})),
    ):
        ahead += 1
        publisher.say(feed.subject, body, key=key, seqno=ahead)
    publisher.send(question(feed, key=key, seqno=ahead + 1))
    image = publisher.reply_of(type="start", subject=feed.subject, data={"BAD": 2})
    publisher.say(feed.returned, image, key=key, seqno=ahead + 2)
    ack = publisher.reply_of(type="start", subject=feed.subject, status="ack")
    acks = len(node.events("ack", feed.subject))
    publisher.say(feed.returned, ack, key=key, seqno=ahead + 3)
    publisher.say("_SESSION.BYE", Bye(), key=key, seqno=ahead + 4)
    publisher.say("_SESSION.HB", publisher.greeting(interval=1), key=key, seqno=ahead + 5)
    assert feed.goes_on(), "behind forged messages nothing is told any more"
    publisher.broker.read()
    assert not feed.leaks, "an image with a wrong digest is told"
    assert not asked(feed, since), "a question with a wrong digest is answered"
    assert not node.events("drop", feed.subject), "a drop with a wrong digest is told"
    assert len(node.events("ack", feed.subject)) == acks, "an ack with a wrong digest is told"
    doubts = [status for status, _ in node.values(feed.subject)[place:] if status != "ok"]
    assert not doubts, "a notice or a BYE with a wrong digest makes a value stale"
    publisher.send(question(feed))
    returned = inbox(publisher.session, "subs")
    answer = publisher.broker.wait_for(lambda event: event.subject == returned, since=since)
    assert answer, "behind a forged question a genuine one is not answered"
    # What was ahead of it must not have been taken note of, also in the inbox.
    publisher.say(feed.returned, publisher.reply_of(type="start", subject=feed.subject, data={"GOOD": 1}))
    publisher.broker.read()
    assert feed.goes_on(), "behind forged messages nothing is told any more"


@rule("RAI-075", roles=SUBSCRIBER)
def test_unknown_users(node: NodeUnderTest) -> None:
    """Have users of whom nobody knows say HELLO, prove who they are, and publish, with digests that fit their names.

    They are not answered, and nothing of it is told.
    """
    feed = Feed(node)
    to, greeting = node.greeted(node.source)
    since = node.source.place
    for user in (STRANGER, "TESS", "tess ", "x.tess", "tess.x", "lab"):
        session = node.source_session(user)
        session.hello()
        session.prove(to, greeting.time, greeting.cnonce)
        session.send(session.message(feed.subject, Published(data=object_of({"BAD": user}))))
        # As somebody who takes users that he does not find for users without a password would compute it.
        for key in (bytes(32), PROFILE.session_key(b"", nonce_of(session.session)), feed.publisher.key):
            session.say(feed.subject, Published(data=object_of({"BAD": user})), key=key)
        assert feed.keeps_out(), f"what user {user!r} publishes is told, whom nobody knows"
        assert not session.proofs(since=since), f"user {user!r}, whom nobody knows, is sent an auth message"


@rule("RAI-169", roles=SUBSCRIBER)
def test_speaking_for_another(node: NodeUnderTest) -> None:
    """Have two publishers be trusted; one signs updates, drops and answers with its own keys in the other's session.

    Nothing of it is told.
    """
    feed = Feed(node)
    main, other = feed.publisher, node.new_publisher("toby", serves=False)
    nonce = nonce_of(main.session)
    keys = (
        other.key,
        PROFILE.session_key(other.secret, nonce),
        PROFILE.session_key(main.secret, nonce_of(other.session)),
    )
    for key in keys:
        for body in (
            Published(data=object_of({"BAD": 1})),
            Published(type="drop", status="expired"),
            Published(status="stale"),
        ):
            other.say(feed.subject, body, key=key, session=main.session, seqno=main.seqno + 50)
        image = main.reply_of(type="start", subject=feed.subject, data={"BAD": 2})
        other.say(feed.returned, image, key=key, session=main.session, seqno=main.seqno + 51)
        other.say(feed.subject, Published(data=object_of({"BAD": 3})), key=main.key)
        mixed = f"{other.user}.{nonce}"
        other.say(feed.subject, Published(data=object_of({"BAD": 4})), key=key, session=mixed)
    assert feed.keeps_out(), "what one publisher signs in the session of another is told"
    assert not node.events("drop", feed.subject), "a drop is told that one publisher has signed for another"
    assert {status for status, _ in node.values(feed.subject)} == {"ok"}, "one publisher makes another's value stale"
