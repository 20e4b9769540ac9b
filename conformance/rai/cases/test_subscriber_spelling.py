"""Section "Message Presentation": how what a subscriber hears is spelled, and what is no message at all."""

from collections.abc import Callable
from typing import Any

import msgspec

from conformance.cases import judging, rule
from conformance.rai.feeds import Feed
from conformance.rai.roles import BROKERS, SUBSCRIBER
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai import relaxed
from wire.rai.values import GET_SUBS, Message, Published, inbox, object_of, write


@rule("RAI-172", roles=SUBSCRIBER)
def test_messages_that_lack_members(node: NodeUnderTest) -> None:
    """Publish updates that lack session, seqno or digest, on a subject of which nothing was said before, and later.

    None is told; whole ones are.
    """
    publisher = node.publisher
    fresh = node.subject("fresh")
    publisher.is_serving = False
    node.command("subscribe", fresh)
    publisher.surely(publisher.started(fresh), "start")
    body = Published(data=object_of({"BAD": 1}))
    for seqno in (0, 1, publisher.seqno + 1):
        message = publisher.message(fresh, body, seqno=seqno)
        for lacking in (("session",), ("seqno",), ("digest",), ("session", "seqno"), ("session", "seqno", "digest")):
            members = msgspec.json.decode(write(message))
            for name in lacking:
                del members[name]
            publisher.broker.publish(fresh, msgspec.json.encode(members))
        for nothing in ("session", "digest"):
            members = msgspec.json.decode(write(message)) | {nothing: None}
            publisher.broker.publish(fresh, msgspec.json.encode(members))
    publisher.update(fresh, GOOD=1)
    told = node.until(lambda: [fields for _, fields in node.values(fresh) if "GOOD" in fields])
    assert told, "behind messages that lack members a whole one is not told"
    assert not [each for _, each in node.values(fresh) if "BAD" in each], (
        "an update is told that lacks part of its header"
    )


GARBAGE = (
    b"",
    b"{",
    b"}",
    b"[]",
    b"null",
    b"17",
    b'"text"',
    b"\x00\xff\xfe\x80" * 8,
    b"<xml/>",
    b"{" * 200,
    b"[" * 50_000,
    b'{"session":' + b"9" * 5000 + b"}",
    b'{"session":[],"seqno":{},"digest":1,"data":"text"}',
    b'{"session":"tess","seqno":1,"digest":"AAAAAAAAAAAAAAAAAAAAAA"}',
    b'{"session":"tess.","seqno":-1,"digest":""}',
    b'{"session":"tess.x","seqno":1e400,"digest":"x","data":{}}',
)


@rule("RAI-173", roles=SUBSCRIBER)
def test_what_is_no_message(node: NodeUnderTest) -> None:
    """Publish what is no JSON object, or no message, where the node listens: a subject, its inbox, sessions.

    What comes next is told.
    """
    feed = Feed(node)
    session = feed.start.message.session
    for place in (feed.subject, feed.returned, inbox(session, "auth"), inbox(session, GET_SUBS), "_SESSION.HELLO"):
        for payload in GARBAGE:
            feed.publisher.broker.publish(place, payload)
        assert feed.goes_on(), f"behind what is no message, under {place.split('.')[0]}, nothing is told any more"
    whole = write(feed.bad())
    for length in range(0, len(whole), 7):
        feed.publisher.broker.publish(feed.subject, whole[:length])
    assert feed.goes_on(), "behind messages that were cut short nothing is told any more"
    with judging("RAI-173"):
        assert not feed.leaks, "a message is told that was cut short"


@rule("RAI-091", "RAI-185", roles=SUBSCRIBER)
def test_spellings(node: NodeUnderTest) -> None:
    """Publish updates as relaxed JSON, with a comma behind the last member, in lines, with escapes, the header last.

    All are told.
    """
    feed = Feed(node)
    for number, (rule_id, what, spell) in enumerate(SPELLINGS, 10):
        message = feed.publisher.message_of(feed.subject, status="conflated", data={"BID": number, "NAME": "word"})
        feed.publisher.broker.publish(feed.subject, spell(message))
        with judging(rule_id):
            assert feed.tells(BID=number), f"an update is not told that is written with {what}"


def members_of(message: Message, *, header_first: bool = True) -> relaxed.Members:
    """Return a message as the members that it is written as."""
    found = relaxed.parse(write(message))
    assert isinstance(found, relaxed.Members)
    return found if header_first else relaxed.Members([*found[3:], *found[:3]])


def escaped(message: Message) -> bytes:
    """Return a message with escapes for letters that need none."""
    return write(message).replace(b'"word"', b'"\\u0077\\u006Frd"').replace(b'"conflated"', b'"con\\u0066lated"')


SPELLINGS: tuple[tuple[str, str, Callable[[Message], bytes]], ...] = (
    ("RAI-091", "words without quotes", lambda each: relaxed.spell(members_of(each), relaxed.Spelling.RELAXED)),
    ("RAI-091", "names without quotes", lambda each: write(each).replace(b'"session"', b"session")),
    ("RAI-091", "a status without quotes", lambda each: write(each).replace(b'"conflated"', b"conflated")),
    ("RAI-091", "data whose words have no quotes", lambda each: write(each).replace(b'"word"', b"word")),
    ("RAI-091", "a comma behind the last member", lambda each: write(each)[:-1] + b",}"),
    ("RAI-091", "a comma behind the last field", lambda each: write(each)[:-2] + b",}}"),
    ("RAI-091", "neither white space nor anything relaxed", write),
    ("RAI-185", "a member on each line", lambda each: relaxed.spell(members_of(each), relaxed.Spelling.PRETTY)),
    ("RAI-185", "white space around all", lambda each: b" \r\n\t" + write(each).replace(b":", b" :\t") + b"\n"),
    ("RAI-185", "escapes", escaped),
    ("RAI-185", "the header last", lambda each: relaxed.spell(members_of(each, header_first=False))),
)


@rule("RAI-184", roles=SUBSCRIBER)
def test_members_that_nobody_knows(node: NodeUnderTest) -> None:
    """Publish updates that have members beyond those that are drawn: texts, numbers, lists, objects, null.

    They are told as without them.
    """
    feed = Feed(node)
    for number, extra in enumerate((b'"text"', b"17.5", b"[1,[2]]", b'{"BAD":{"a":null}}', b"null", b"true"), 10):
        members = b'{"extra":%b,"data":{"BID":%d},"x-more":%b}' % (extra, number, extra)
        feed.publisher.say_members(feed.subject, members)
        assert feed.tells(BID=number), f"an update is not told that has members beside those that are drawn: {extra!r}"
    assert not feed.leaks, "a member that is not drawn is taken for data"


@rule("RAI-215", roles=SUBSCRIBER, transports=BROKERS)
def test_a_whole_conversation(node: NodeUnderTest) -> None:
    """Subscribe a subject and a wildcard, publish short and long messages, many at once, with all kinds of letters.

    All of it is told as it was published, whatever the broker.
    """
    feed = Feed(node, "whole", judges=True)
    node.command("psubscribe", node.subject("wide.>"))
    assert feed.publisher.started_wild(node.subject("wide.>")), "a wildcard is not started"
    for text in ("\r\n", "PUB LAB.whole 0\r\n", 'Zürich "東京"\\'):
        feed.update(TEXT=text)
        assert feed.tells(TEXT=text), "a text is told other than it was published"
    for size in (2_000, 60_000):
        # In a member that the application is not told: what it is told comes in lines that are no longer than they may.
        feed.publish(text=size * "x", data={"SIZE": size})
        assert feed.tells(SIZE=size), f"an update of more than {size} bytes is not told"
    for number in range(100):
        feed.publisher.publish(node.subject(f"wide.{number}"), data={"BID": number})
    for number in range(100):
        told = fields_of(node, node.subject(f"wide.{number}"))
        assert told == [{"BID": number}], "of a hundred updates at once some are not told, or twice"


def fields_of(node: NodeUnderTest, subject: str) -> list[dict[str, Any]]:
    """Read until the application is told of a subject, and return all fields that it was told."""
    return [fields for _, fields in node.until(lambda: node.values(subject))]
