"""Rai, "HMAC Authentication": the digests of what a publisher says, and of what it is told."""

from collections.abc import Callable
from itertools import product

from msgspec.structs import replace

from conformance.cases import judging, rule
from conformance.rai.forging import forgeries, mute, proof
from conformance.rai.publishing import answers, drops, holder_stops, is_published, meets_somebody, settle
from conformance.rai.roles import PUBLISHER
from harness.rai.tester.conversation import is_genuine
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.trace import Direction
from wire.rai.values import (
    BYE,
    DICT,
    SNAP,
    START,
    STOP,
    WILD_START,
    Auth,
    Bye,
    DictRequest,
    Message,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    inbox,
    write,
)

MANY = 300
"""Messages on one subject: more than a byte counts."""


def said(node: NodeUnderTest, since: int = 0) -> list[Event]:
    """Return what the node has said that is signed with the key of its session."""
    events = node.broker.conversation.events[since:]
    return [event for event in events if event.direction is Direction.RECEIVED and event.form is not Auth]


def require_genuine(node: NodeUnderTest) -> None:
    """Judge that all that the node has said so far is signed as it has to be."""
    for event in said(node):
        assert is_genuine(event.message), "the digest of a message does not verify"


FIELDS = (
    '{"NAME":"Käse 乳 🧀"}',
    '{"TEXT":"a \\"quoted\\" back\\\\slash / tab\\t line\\n bell\\u0007 del\\u007f"}',
    '{"PRICE":17.50,"TINY":1e-7,"BIG":123456789012345678901234567890,"MINUS":-0.10}',
    '{"NONE":null,"YES":true,"NO":false,"EMPTY":"","LIST":[1,2.50,"x"],"DEEP":{"A":{"B":[]}}}',
    "{}",
)
"""What values may hold that several languages spell in several ways."""


@rule("RAI-071", roles=PUBLISHER, needs=("RAI-009", "RAI-108", "RAI-134"))
def test_digests_of_all_values(node: NodeUnderTest) -> None:
    """Have values with all kinds of fields, and get them as images, snapshots and updates.

    The digest of each message verifies.
    """
    for place, fields in enumerate(FIELDS):
        name = f"kind.{place}"
        subject = node.subject(name)
        node.command("set", subject, fields)
        node.main.image(subject)
        node.main.snapshot(subject)
        node.command("set", subject, fields)
        is_published(node, name)
        node.main.stop(subject, return_="end", ack=True)
    settle(node.main)
    require_genuine(node)


@rule("RAI-071", roles=PUBLISHER, needs=("RAI-009",))
def test_digests_of_all_lengths(node: NodeUnderTest) -> None:
    """Have a value of every length over two blocks, and long ones, under a subject in several alphabets.

    The digest of each update verifies.
    """
    for name in ("length", "Länge.長さ"):
        subject = node.set(name, BID=1)
        node.main.subscribed(subject)
        for length in (*range(33), 1000, 5000, 40_000):
            node.set(name, TEXT="x" * length)
        settle(node.main)
    require_genuine(node)


@rule("RAI-071", "RAI-074", roles=PUBLISHER, needs=("RAI-009",))
def test_many_messages(node: NodeUnderTest) -> None:
    """Have one subject change some hundred times, and others between, with heartbeats meanwhile.

    On each subject the seqno grows, and the digest of each message verifies.
    """
    first, second = node.set("many", BID=0), node.set("few", BID=0)
    for subject in (first, second):
        node.main.subscribed(subject)
    for number in range(1, MANY):
        node.set("many", BID=number)
        if number % 100 == 0:
            node.set("few", BID=number)
            node.broker.pause(11)
    settle(node.main)
    last: dict[str, int] = {}
    for event in said(node):
        with judging("RAI-074"):
            assert event.message.seqno > last.get(event.subject, -1), "a seqno is not greater than the last"
        last[event.subject] = event.message.seqno
    with judging("RAI-071"):
        require_genuine(node)


@rule("RAI-072", roles=PUBLISHER, needs=("RAI-108", "RAI-116", "RAI-134", "RAI-137"))
def test_headers(node: NodeUnderTest) -> None:
    """Have a publisher say what it can, and end it.

    All that it says is a message with session, seqno and digest.
    """
    subject = node.set("all", BID=1)
    node.main.subscribe(subject)
    node.main.image(subject)
    node.main.snapshot(subject)
    is_published(node, "all")
    node.main.stop(subject, return_="end", ack=True)
    node.broker.pause(11)
    node.command("end")
    node.broker.wait_for(lambda event: event.form is Bye)
    refused = [each for each in node.broker.conversation.refusals if each.direction is Direction.RECEIVED]
    assert not refused, "something that is said is no message: it lacks session, seqno or digest, or is no JSON"
    assert all(event.message.digest for event in said(node)), "a message has an empty digest"


@rule("RAI-076", roles=PUBLISHER, needs=("RAI-137", "RAI-152"))
def test_requests_with_wrong_digests(node: NodeUnderTest) -> None:
    """Ask for whatever can be asked for, in a trusted session, with digests that are wrong in all ways.

    Nothing is answered or taken. The same with right digests is.
    """
    subject = node.set("guarded", BID=1)
    node.command("dictionary", "words", '{"BID":1}')
    session, holder = node.main, node.other
    holder.subscribed(subject)
    settle(session)
    since = node.broker.place
    # Beyond all that is signed rightly: what is wrong is the digest alone.
    session.seqno += 100
    for change, ask in product(forgeries(), requests(subject)):
        session.send(change(ask(session)))
    for ask in requests(subject):
        session.send(replace(ask(session), digest=""))
    settle(session)
    require_silence(session, since)
    assert holder_stops(node, holder, subject), "what was started with a wrong digest keeps a subject"
    assert session.snapshot(subject), "after wrong digests one that is right is not answered"


def require_silence(session: TestSession, since: int) -> None:
    """Judge that nothing that bears a word as its return has been answered."""
    heard = [each for each in answers(session, since) if each.subject.endswith(".wrong")]
    assert not heard, "a message is answered whose digest is wrong"


def requests(subject: str) -> list[Callable[[TestSession], Message]]:
    """Return messages that ask for something at the return ``wrong``, or subscribe a subject."""

    def own(session: TestSession, tail: str) -> str:
        return inbox(session.broker.node_session, tail)

    wildcard = f"{subject}.>"
    return [
        lambda session: session.message(START + subject, SubStart(return_="wrong", ack=True, initial=True)),
        lambda session: session.message(SNAP + subject, SnapRequest(return_="wrong")),
        lambda session: session.message(STOP + subject, SubStop(return_="wrong", ack=True)),
        lambda session: session.message(own(session, DICT), DictRequest(dictionary="words", return_="wrong")),
        lambda session: session.message(
            own(session, "subs"), Subs(last_seen=0, ack=True, initial=True, subs=[subject], subs_return=["wrong"])
        ),
        lambda session: session.message(
            f"{WILD_START}{subject}._", WildStart(subject=wildcard, pattern=rf"(?s)\A{subject}")
        ),
    ]


@rule("RAI-076", roles=PUBLISHER, needs=("RAI-009", "RAI-137"))
def test_ends_with_wrong_digests(node: NodeUnderTest) -> None:
    """Say stops and BYE with wrong digests in a session that has subscribed.

    The subscription stands.
    """
    subject, session = node.set("held", BID=1), node.main
    session.subscribed(subject)
    session.seqno += 10
    since = node.broker.place
    for change in forgeries():
        session.send(change(session.message(STOP + subject, SubStop(return_="wrong", ack=True))))
        session.send(change(session.message(BYE, Bye())))
    meets_somebody(node)
    require_silence(session, since)
    assert not drops(node, subject, since), "a stop or BYE whose digest is wrong ends a subscription"
    assert is_published(node, "held"), "a stop or BYE whose digest is wrong ends a subscription"


@rule("RAI-171", roles=PUBLISHER, needs=("RAI-009", "RAI-134", "RAI-137"))
def test_other_subjects(node: NodeUnderTest) -> None:
    """Publish messages under other subjects than they were signed for: a start as a stop, and for another subject.

    None does anything there.
    """
    names = ("held", "wanted")
    held, wanted = (node.set(name, BID=1) for name in names)
    session, holder = node.main, node.other
    session.subscribed(held)
    holder.subscribed(wanted)
    settle(session)
    session.seqno += 100
    since = node.broker.place
    start = session.message(START + held, SubStart(return_="wrong", ack=True, initial=True))
    snap = session.message(SNAP + held, SnapRequest(return_="wrong"))
    stop = session.message(STOP + wanted, SubStop(return_="wrong", ack=True))
    for message, subject in (
        (start, STOP + held),
        (start, START + wanted),
        (start, SNAP + wanted),
        (start, SNAP + held),
        (snap, SNAP + wanted),
        (snap, START + wanted),
        (snap, STOP + held),
        (stop, STOP + held),
        (stop, START + wanted),
    ):
        session.send(message, subject)
    settle(session)
    require_silence(session, since)
    assert not drops(node, held, since), "what was signed for another subject ends a subscription"
    assert is_published(node, "held"), "what was signed for another subject ends a subscription"
    assert holder_stops(node, holder, wanted), "what was signed for another subject has begun a subscription"


@rule("RAI-172", roles=PUBLISHER, needs=("RAI-134", "RAI-137"))
def test_parts_of_headers(node: NodeUnderTest) -> None:
    """Ask for things without session, seqno or digest, or with others than a header may have.

    Nothing is answered or taken.
    """
    subject = node.set("guarded", BID=1)
    session, holder = node.main, node.other
    holder.subscribed(subject)
    since = node.broker.place
    for ask in requests(subject)[:3]:
        for change in broken_headers():
            session.seqno += 3
            message = ask(session)
            node.broker.publish(message.subject, change(session, message))
    settle(session)
    require_silence(session, since)
    assert holder_stops(node, holder, subject), "a start without a whole header is taken"


def broken_headers() -> list[Callable[[TestSession, Message], bytes]]:
    """Return ways to leave something out of a header, or to put something else there."""

    def without(name: bytes) -> Callable[[TestSession, Message], bytes]:
        def leave_out(session: TestSession, message: Message) -> bytes:
            payload = write(message)
            begin = payload.index(b'"%b":' % name)
            end = payload.index(b",", begin)
            return payload[:begin] + payload[end + 1 :]

        return leave_out

    def changed(**header: object) -> Callable[[TestSession, Message], bytes]:
        return lambda session, message: write(replace(message, **header))

    return [
        without(b"session"),
        without(b"seqno"),
        without(b"digest"),
        changed(session=""),
        changed(digest=""),
        lambda session, message: write(replace(message, session=session.user)),
        lambda session, message: write(replace(message, session=f"{session.user}.")),
        lambda session, message: write(message).replace(b'"seqno":', b'"seqno":-'),
        lambda session, message: write(message).replace(b'"seqno":', b'"seqno":null,"x":'),
        lambda session, message: message.signed,
    ]


@rule("RAI-173", roles=PUBLISHER, needs=("RAI-134",))
def test_what_is_no_message(node: NodeUnderTest) -> None:
    """Publish bytes that are no object, or none at all, under subjects of all kinds.

    They do no harm: what comes next is answered.
    """
    subject, session = node.set("shown", BID=1), node.main
    settle(session)
    whole = write(session.message(START + subject, SubStart(return_="whole", ack=True)))
    payloads = (
        b"",
        b" ",
        b"\xff\xfe\x00",
        b"[]",
        b"1",
        b'"text"',
        b"null",
        b"{",
        b"}",
        b"{}{}",
        b"[" * 5000,
        b'{"a":' * 2000,
        b'{"session":"\xff"}',
        b"\x00" * 20_000,
        whole[:-1],
        whole[: len(whole) // 2],
        whole[1:],
        whole.replace(b":", b" "),
    )
    its = node.broker.node_session
    subjects = ("_SESSION.HELLO", "_SESSION.HB", "_SESSION.BYE", START + subject, STOP + subject, SNAP + subject)
    inboxes = (inbox(its, "auth"), inbox(its, "subs"), inbox(its, "dict"), "_PSUB.START.LAB._")
    for each in (*subjects, *inboxes):
        for payload in payloads:
            node.broker.publish(each, payload)
        assert session.snapshot(subject), "after something that is no message nothing is answered"
    assert not session.replies("whole"), "a message that is cut short is answered"
    mute(node, "dora").hello()


@rule("RAI-183", roles=PUBLISHER, needs=("RAI-009",))
def test_great_numbers_of_others(node: NodeUnderTest) -> None:
    """Say things with seqnos beyond 32 bits.

    They are taken, and answered.
    """
    node.greeted(node.broker)
    for begin in (2**31 - 2, 2**32 - 2, 2**32, 2**40, 2**53 - 1000):
        session = node.session("tess")
        session.seqno = begin
        session.hello()
        assert proof(session), "a HELLO with a great seqno is not answered"
        for number in range(3):
            assert session.subscribe(node.subject(f"great.{number}")), "a message with a great seqno is not answered"


@rule("RAI-181", "RAI-070", roles=PUBLISHER, needs=("RAI-134",))
def test_gaps(node: NodeUnderTest) -> None:
    """Leave gaps between the seqnos of one subject, small and great ones.

    Each request is answered.
    """
    subject, session = node.set("shown", BID=1), node.main
    for gap in (1, 2, 10, 1000, 70_000, 2**31):
        session.seqno += gap
        with judging("RAI-181"):
            assert session.snapshot(subject), "a request is not answered whose seqno leaves a gap"


@rule("RAI-182", roles=PUBLISHER, needs=("RAI-134",))
def test_numbers_of_other_subjects(node: NodeUnderTest) -> None:
    """Ask for several subjects with seqnos that grow on each of them, and are lower than the last on another.

    Each request is answered.
    """
    session = node.main
    subjects = [node.set(f"numbered.{place}", BID=1) for place in range(3)]
    last = session.seqno
    for place, subject in enumerate(subjects):
        session.seqno = last + 100 * (3 - place)
        assert session.snapshot(subject), "a request is not answered whose seqno is lower than that of another subject"
    session.seqno = last + 1000
