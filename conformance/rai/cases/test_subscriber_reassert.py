"""Section "Reassert Subscription": what a subscriber answers who asks it for its subscriptions."""

from conformance.cases import judging, rule
from conformance.rai.feeds import Feed
from conformance.rai.roles import SUBSCRIBER
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import GET_SUBS, GetSubs, Heartbeat, Return, Subs, WildStart, inbox, owner_of
from wire.subjects import matches

MINUTE = 60_000_000
"""Microseconds."""


class Inquiry:
    """A question for the subscriptions of a node, and what comes of it: a list may come in several messages."""

    def __init__(
        self,
        node: NodeUnderTest,
        publisher: TestSession,
        *,
        last_seen: int = 0,
        wildcard: str = ">",
        returned: Return | None = None,
    ) -> None:
        self.node = node
        self.publisher = publisher
        self.since = publisher.broker.place
        # Of its own: what comes late belongs to an earlier question.
        returned = f"tess.subs.{publisher.new_return()}" if returned is None else returned
        self.subject = inbox(publisher.session, returned)
        to, _ = node.greeted(publisher.broker)
        self.body = GetSubs(return_=returned, last_seen=last_seen, wildcard=wildcard)
        publisher.say(inbox(to, GET_SUBS), self.body)

    @property
    def lists(self) -> list[Event]:
        """The lists that have come, to whatever return, but those of an earlier question."""
        broker, session = self.publisher.broker, self.publisher.session
        earlier = [each.body for each in broker.conversation.events[: self.since] if isinstance(each.body, GetSubs)]
        others = {inbox(session, body.return_) for body in earlier} - {self.subject}
        found = [each for each in broker.received(Subs, since=self.since) if owner_of(each.subject) == session]
        return [each for each in found if each.subject not in others]

    @property
    def named(self) -> set[str]:
        """What has come: subjects in lists, and wildcards there or in starts of their own."""
        listed = {subject for event in self.lists for subject in getattr(event.body, "subs", ())}
        return listed | {
            event.body.subject
            for event in self.publisher.broker.received(WildStart, since=self.since)
            if isinstance(event.body, WildStart)
        }

    def names(self, *subjects: str) -> bool:
        """Read until all of some subjects have come; tell whether they have."""
        deadline = self.publisher.broker.now() + self.node.timing.patience
        self.publisher.broker.read_until(lambda: self.named >= set(subjects), deadline)
        return self.named >= set(subjects)

    def settles(self) -> None:
        """Read for a window: until what belongs to the answer will have come."""
        self.publisher.broker.read(self.node.timing.glance)


def subscribed(node: NodeUnderTest, *names: str) -> list[str]:
    """Have subjects be subscribed, in turn with an image and without, and return them once they are started."""
    subjects = [node.subject(name) for name in names]
    for number, subject in enumerate(subjects):
        node.command("listen" if number % 2 else "subscribe", subject)
    for subject in subjects:
        node.publisher.surely(node.publisher.started(subject), "start")
    return subjects


@rule("RAI-126", "RAI-128", "RAI-131", roles=SUBSCRIBER)
def test_questions_for_everything(node: NodeUnderTest) -> None:
    """Have subjects be subscribed, and one of them no more; ask for all, three times, and as another publisher.

    Each time all that are subscribed are sent, and none that is not; to the return, with the question's members.
    """
    subjects = subscribed(node, "a", "b", "c.d", "c.e.f", "gone")
    node.command("unsubscribe", subjects.pop())
    other = node.new_publisher("toby", serves=False)
    for publisher, returned in (
        (node.publisher, "paul.subs"),
        (node.publisher, 7),
        (other, "x.y.z"),
        (node.publisher, "s"),
    ):
        question = Inquiry(node, publisher, returned=returned)
        with judging("RAI-126"):
            assert question.names(*subjects), "asked for all its subscriptions, a subscriber does not send them"
        question.settles()
        assert_fits(question)
        with judging("RAI-126"):
            assert question.named == set(subjects), "subjects are sent that are not subscribed"


def assert_fits(question: Inquiry) -> None:
    """Demand that lists of subscriptions repeat their question, and have returns."""
    with judging("RAI-131"):
        for event in question.lists:
            body = event.body
            assert isinstance(body, Subs)
            assert event.subject == question.subject, "a list of subscriptions does not go to the return of who asks"
            assert body.last_seen == question.body.last_seen, "a list of subscriptions has another last_seen than asked"
            assert body.wildcard == question.body.wildcard, "a list of subscriptions has another wildcard than asked"
            returns = [str(each) for each in body.subs_return]
            if body.initial or body.ack or returns:
                assert len(returns) == len(body.subs), "a list of subscriptions has not as many returns as subjects"
            subjects = dict(zip(returns, body.subs, strict=False))
            assert len(subjects) == len(set(returns)) == len(returns), "in a list of subscriptions a return comes twice"


@rule("RAI-131", roles=SUBSCRIBER)
def test_answers_to_a_list(node: NodeUnderTest) -> None:
    """Ask for subscriptions, and send an image of each subject at the return that stands in its place.

    Each is told for its own subject.
    """
    feeds = [Feed(node, name) for name in ("one", "two", "three")]
    question = Inquiry(node, node.publisher)
    node.publisher.surely(feeds[0].start if question.names(*(feed.subject for feed in feeds)) else None, "list")
    for event in question.lists:
        body = event.body
        assert isinstance(body, Subs)
        for subject, returned in zip(body.subs, body.subs_return, strict=False):
            image = {"WHOSE": subject}
            members = {"type": "start", "subject": subject, "format": "json"}
            node.publisher.answer(event.message.session, returned, **members, data=image)
            if body.initial:
                told = next(feed for feed in feeds if feed.subject == subject).tells(WHOSE=subject)
                assert told, "an image at the return of a list is not told for the subject in its place"


@rule("RAI-130", "RAI-131", "RAI-126", roles=SUBSCRIBER)
def test_questions_for_a_part(node: NodeUnderTest) -> None:
    """Have many subjects be subscribed, and ask by wildcards, and by a subject.

    Those that it matches are sent, and no others.
    """
    subjects = subscribed(node, "p", "p.a", "p.b", "p.a.x", "p.b.x", "p.a.x.y", "pa", "q.a", "q.a.x")
    for wildcard in ("LAB.>", "LAB.p.>", "LAB.p.*", "LAB.*.a", "*.p.*.x", "LAB.p.*.>", "LAB.p", "LAB.none.>", ">"):
        question = Inquiry(node, node.publisher, wildcard=wildcard)
        expected = {subject for subject in subjects if matches(wildcard, subject)}
        with judging("RAI-126"):
            assert question.names(*expected), f"subscriptions that match {wildcard} are not sent to who asks for those"
        question.settles()
        assert_fits(question)
        with judging("RAI-130"):
            assert question.named <= expected, f"subscriptions are sent that {wildcard} does not match"


@rule("RAI-126", "RAI-128", roles=SUBSCRIBER)
def test_questions_by_time(node: NodeUnderTest) -> None:
    """Have subjects be subscribed between heartbeats; ask for those since each, since long ago, and since 0.

    Those that were subscribed since are sent; all, where last_seen is 0 or long ago.
    """
    old = subscribed(node, "old.one", "old.two")
    greetings = [beat_of(node)]
    newer = []
    for number in range(3):
        # Well behind the heartbeat, whose time is asked for.
        node.source.pause(3)
        newer.append(subscribed(node, f"new.{number}.a", f"new.{number}.b"))
        greetings.append(beat_of(node))
    for number, time in enumerate(greetings):
        since = [subject for some in newer[number:] for subject in some]
        question = Inquiry(node, node.publisher, last_seen=time)
        with judging("RAI-126"):
            assert question.names(*since), "what was subscribed since the last_seen of a question is not sent"
        assert_fits(question)
    everything = [*old, *(subject for some in newer for subject in some)]
    for last_seen in (0, 1_000_000, greetings[0] - 60 * MINUTE, greetings[0] - 2 * MINUTE):
        question = Inquiry(node, node.publisher, last_seen=last_seen)
        with judging("RAI-128"):
            assert question.names(*everything), f"asked for all since {last_seen}, it does not send everything"
        assert_fits(question)


def beat_of(node: NodeUnderTest) -> int:
    """Read until the next heartbeat of the node, and return its time."""
    event = node.source.wait_for(
        lambda event: event.form is Heartbeat, since=node.source.place, seconds=node.timing.within(25)
    )
    body = node.publisher.surely(event, "heartbeat").body
    assert isinstance(body, Heartbeat)
    return body.time


@rule("RAI-128", roles=SUBSCRIBER)
def test_questions_after_minutes(node: NodeUnderTest) -> None:
    """Have a subject be subscribed, and let more than a minute pass; ask for all since 0, and since the first greeting.

    It is sent.
    """
    (subject,) = subscribed(node, "old")
    _, first = node.greeted(node.source)
    node.source.pause(62)
    _, last = node.greeted(node.source)
    for last_seen in (0, first.time - 1):
        question = Inquiry(node, node.publisher, last_seen=last_seen)
        assert question.names(subject), f"what was subscribed a minute ago is not sent to who asks since {last_seen}"
    node.command("listen", node.subject("new"))
    question = Inquiry(node, node.publisher, last_seen=last.time)
    with judging("RAI-128"):
        assert question.names(node.subject("new")), "what was just subscribed is not sent"


@rule("RAI-126", "RAI-128", "RAI-131", roles=SUBSCRIBER)
def test_many_subscriptions(node: NodeUnderTest) -> None:
    """Have three hundred subjects be subscribed, and ask for all.

    All are sent, in one list or in several.
    """
    subjects = [node.subject(f"many.{number}") for number in range(300)]
    for subject in subjects:
        node.command("listen", subject)
    node.publisher.surely(node.publisher.started(subjects[-1]), "start")
    question = Inquiry(node, node.publisher)
    with judging("RAI-126", "RAI-128"):
        assert question.names(*subjects), f"of {len(subjects)} subscriptions {len(question.named)} are sent"
    assert_fits(question)


@rule("RAI-126", roles=SUBSCRIBER, needs=("RAI-119",))
def test_wildcards_that_are_asked_for(node: NodeUnderTest) -> None:
    """Have wildcards be subscribed beside a subject, and ask for all.

    They are sent, in the list or as starts of their own.
    """
    (subject,) = subscribed(node, "alone")
    wildcards = [node.subject(each) for each in ("w.>", "w.*.x", "v.*")]
    for wildcard in wildcards:
        node.command("psubscribe", wildcard)
        node.publisher.surely(node.publisher.started_wild(wildcard), "start of a wildcard")
    question = Inquiry(node, node.publisher)
    assert question.names(subject, *wildcards), (
        "asked for all its subscriptions, a subscriber does not send its wildcards"
    )
    is_listed = any(wildcard in getattr(event.body, "subs", ()) for event in question.lists for wildcard in wildcards)
    node.shows("RAI-126", "R61", "A" if is_listed else "B")


@rule("RAI-200", roles=SUBSCRIBER)
def test_questions_of_the_untrusted(node: NodeUnderTest) -> None:
    """Ask for subscriptions as a session that has only said HELLO, as one that has said nothing, and after a BYE.

    They are not answered; one who is trusted is.
    """
    (subject,) = subscribed(node, "private")
    strangers = []
    for user, greets in (("toby", True), ("toby", False), ("mallory", True)):
        session = node.source_session(user)
        session.answers_auth = False
        if greets:
            session.hello()
            node.source.pause(1)
            session.beat()
        strangers.append(Inquiry(node, session))
    gone = node.new_publisher("tara", serves=False)
    gone.bye()
    strangers.append(Inquiry(node, gone))
    trusted = Inquiry(node, node.publisher)
    node.publisher.surely(node.publisher.broker.received(Subs)[-1] if trusted.names(subject) else None, "list")
    trusted.settles()
    for question in strangers:
        what = "after its BYE" if question.publisher is gone else "that is not trusted"
        assert not question.lists, f"a session {what} is sent the list of subscriptions"
