"""Rai, "Reassert Subscription", and what heartbeats keep alive: silent sessions, and what is asked of them."""

from conformance.cases import NotPlayed, judging, rule
from conformance.rai.publishing import dropped, drops, is_published, settle
from conformance.rai.roles import PUBLISHER
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import GetSubs, Published, Reply, inbox

LONGEST = 4.5
"""Intervals of silence within which a session is asked, if ever: three and the next, and half of one more (R16)."""


def silent(
    node: NodeUnderTest, user: str, *subjects: str, interval: int = 10, expires: int | None = None
) -> TestSession:
    """Return a trusted session that has subscribed, and has just said its last heartbeat."""
    session = node.session(user)
    session.interval = interval
    session.met()
    for subject in subjects:
        session.subscribed(subject, **({} if expires is None else {"expires": expires}))
    session.beats = False
    session.beat()
    return session


def questions(session: TestSession) -> list[Event]:
    """Return the questions for its subscriptions that the node has asked a session, or published elsewhere."""
    return session.broker.received(GetSubs)


def question(session: TestSession) -> Event:
    """Read until a silent session is asked for its subscriptions; ``NotPlayed`` when it is not."""
    own = inbox(session.session, "")
    asked = session.broker.wait_for(
        lambda event: event.form is GetSubs and event.subject.startswith(own),
        seconds=session.broker.timing.within(LONGEST * session.interval),
        thing="a question for subscriptions",
    )
    if asked is None:
        raise NotPlayed("the publisher asks no silent session for its subscriptions")
    return asked


def tail(asked: Event) -> str | int:
    """Return where the answer to a question is to go."""
    assert isinstance(asked.body, GetSubs)
    return asked.body.return_


@rule("RAI-106", "RAI-012", "RAI-178", "RAI-179", roles=PUBLISHER, needs=("RAI-009",))
def test_expires(node: NodeUnderTest) -> None:
    """Subscribe subjects for 25 and 90 seconds in sessions that fall silent, and one for 25 in one that beats.

    Those of the silent are dropped when their time has run out, and not before; the other lives on.
    """
    short, shared, long, kept = (node.set(name, BID=1) for name in ("short", "shared", "long", "kept"))
    beating = node.session("tess").met()
    beating.subscribed(kept, expires=25)
    beating.subscribed(shared, expires=25)
    # The heartbeats of another session of its user are none of its own.
    lasting = silent(node, "tess", long, expires=90)
    since = node.broker.place
    going = silent(node, "toby", short, shared, expires=25)
    began = node.trace.now()
    drop = dropped(node, short, since, seconds=node.timing.within(60))
    with judging("RAI-012", "RAI-106", "RAI-179"):
        assert drop is not None, "a subject is not dropped when the time of its last subscription has run out"
    with judging("RAI-106"):
        assert node.elapsed(began, drop.time) >= 25 - node.slack, "a subscription ends before its time has run out"
    node.broker.pause(max(0.0, 60 - node.elapsed(began)))
    with judging("RAI-106"):
        assert not drops(node, long, since), "a subscription ends before its time has run out"
        assert is_published(node, "long"), "a subscription ends before its time has run out"
    late = dropped(node, long, since, seconds=node.timing.within(75))
    with judging("RAI-012", "RAI-106", "RAI-179"):
        assert late is not None, "a subject is not dropped when the time of its last subscription has run out"
    with judging("RAI-178"):
        for subject, name in ((kept, "kept"), (shared, "shared")):
            assert not drops(node, subject, since), "a subscription ends whose session beats"
            assert is_published(node, name), "a subscription ends whose session beats"
    for session in (lasting, going):
        assert session.beats_at is None, "a session that is to be silent has beaten"


@rule("RAI-106", "RAI-178", roles=PUBLISHER, needs=("RAI-009", "RAI-012"))
def test_expires_after_heartbeats(node: NodeUnderTest) -> None:
    """Subscribe for 30 seconds in a session that beats for 25, and then falls silent.

    The time counts from the last heartbeat: the subject is published 20 seconds after it, and dropped in the end.
    """
    subject = node.set("counted", BID=1)
    session = node.session("tess").met()
    session.subscribed(subject, expires=30)
    node.broker.pause(25)
    since = node.broker.place
    session.beats = False
    session.beat()
    began = node.trace.now()
    drop = dropped(node, subject, 0, seconds=node.timing.within(70))
    with judging("RAI-106"):
        assert drop is not None, "a subscription does not end when its time after the last heartbeat has run out"
    with judging("RAI-106", "RAI-178"):
        assert drop in drops(node, subject, since), "a subscription ends whose session beats"
        assert node.elapsed(began, drop.time) >= 30 - node.slack, "its time does not count from the last heartbeat"


@rule("RAI-008", roles=PUBLISHER, needs=("RAI-137",))
def test_subscriptions_without_expires(node: NodeUnderTest) -> None:
    """Subscribe without expires, and fall silent.

    The subscription may end, and not before a heartbeat was missed for an interval.
    """
    subject = node.set("open", BID=1)
    session = silent(node, "tess", subject)
    began = node.trace.now()
    drop = session.told(subject, lambda body: body.kind == "drop", seconds=node.timing.within(45))
    if drop is None:
        node.shows("RAI-008", "R15", "B")
        return
    passed = node.elapsed(began, drop.time)
    assert passed >= 20 - node.slack, "a subscription ends before its session has missed a heartbeat for an interval"
    node.shows("RAI-008", "R15", "A" if passed >= 30 - node.slack else "C")


@rule("RAI-124", "RAI-125", "RAI-127", roles=PUBLISHER)
def test_question(node: NodeUnderTest) -> None:
    """Have a session fall silent whose clock is a little off, beside one that beats and has subscribed as well.

    If it is asked for its subscriptions, then in its inbox, not before its heartbeat was missed, and by a time that it
    has said; the other is not asked.
    """
    subject = node.set("asked", BID=1)
    beating = node.main
    beating.subscribed(subject)
    session = node.session("toby")
    session.met()
    session.subscribed(subject, expires=200)
    node.broker.pause(11)
    session.beats = False
    session.beat(time=node.broker.utc() - 1_234_567)
    began = node.trace.now()
    asked = question(session)
    body = asked.body
    assert isinstance(body, GetSubs)
    with judging("RAI-124"):
        early = node.elapsed(began, asked.time) < 10 - node.slack
        assert not early, "a session is asked for its subscriptions before its heartbeat was due"
    with judging("RAI-125"):
        assert asked.subject == inbox(session.session, "get_subs"), "the question is not in the inbox, under get_subs"
        assert str(body.return_), "the question has no return"
        assert body.wildcard, "the question has no wildcard"
    with judging("RAI-127"):
        times = {0, *session.said, *session.asked}
        assert body.last_seen in times, "the last_seen of a question is no time that the session has said"
    with judging("RAI-124"):
        others = [each for each in questions(session) if each.subject == inbox(beating.session, "get_subs")]
        assert not others, "a session whose heartbeats come is asked for its subscriptions"


@rule("RAI-124", roles=PUBLISHER)
def test_moments_of_questions(node: NodeUnderTest) -> None:
    """Have two sessions fall silent, in three runs of a publisher.

    They are asked for their subscriptions at moments that are random, and not one time after the last heartbeat.
    """
    moments: list[float] = []
    for _ in range(3):
        with node.scene() as scene:
            subject = scene.set("asked", BID=1)
            scene.greeted(scene.broker)
            began: list[tuple[TestSession, float]] = []
            for user in ("tess", "toby"):
                session = silent(scene, user, subject, expires=200)
                began.append((session, scene.trace.now()))
            moments += [scene.elapsed(since, question(session).time) for session, since in began]
    assert max(moments) - min(moments) > 0.5, "all sessions are asked at one time after their last heartbeat"
    assert min(moments) >= 10 - node.slack, "a session is asked for its subscriptions before its heartbeat was due"


@rule("RAI-223", "RAI-008", roles=PUBLISHER)
def test_intervals_of_others(node: NodeUnderTest) -> None:
    """Have a session that has stated an interval of 60 seconds be silent for 50, and one of 10.

    The first is not asked for its subscriptions, and nothing of it is dropped.
    """
    slow, quick = node.set("slow", BID=1), node.set("quick", BID=1)
    since = node.broker.place
    patient = silent(node, "tess", slow, interval=60)
    question(silent(node, "toby", quick, expires=200))
    node.broker.pause(25)
    asked = [each for each in questions(patient) if each.subject == inbox(patient.session, "get_subs")]
    with judging("RAI-223"):
        assert not asked, "a session is asked whose interval is not over"
    with judging("RAI-008"):
        assert not drops(node, slow, since), "a subscription ends while the interval of its session is not over"


@rule("RAI-132", "RAI-133", roles=PUBLISHER)
def test_list_of_subscriptions(node: NodeUnderTest) -> None:
    """Answer a question by a list of subjects with and without values, new ones, and those of other publishers.

    Each that the publisher serves gets an ack and an image at its own return, the others nothing.
    """
    known, fresh, empty = node.set("known", BID=1), node.set("fresh", BID=2), node.subject("empty")
    session = silent(node, "tess", known, expires=200)
    since = node.broker.place
    asked = question(session)
    subjects = [known, "OTHER.known", fresh, "XLAB.fresh", empty]
    returns: list[int | str] = [101, 102, "list.103", "list.104", 105]
    session.send_list(subjects, returns, tail(asked))
    for subject, returned in zip(subjects, returns, strict=True):
        if subject.startswith("LAB."):
            with judging("RAI-132"):
                ack = session.reply(returned, lambda body: body.state == "ack", since=since)
                assert ack is not None, "a subject of the list is not acked at its return"
                assert isinstance(ack.body, Reply)
                assert ack.body.subject == subject, "an ack at the return of one subject names another"
                image = session.reply(returned, lambda body: body.state != "ack", since=since)
                assert image is not None, "a subject of the list gets no image at its return"
                assert isinstance(image.body, Reply)
                assert image.body.subject == subject, "an image at the return of one subject is that of another"
                assert image.body.has_data is (subject != empty), "the image of a subject is not its value"
    settle(session)
    with judging("RAI-133"):
        for returned in (102, "list.104"):
            assert not session.replies(returned, since=since), "a subject is answered that the publisher does not serve"


@rule("RAI-132", roles=PUBLISHER, needs=("RAI-009",))
def test_lists_that_ask_for_less(node: NodeUnderTest) -> None:
    """Answer questions by lists that ask for acks alone, for images alone, and for neither.

    What is asked for comes, and nothing else, and all of the subjects are subscribed.
    """
    sessions = [silent(node, user, node.set(user, BID=1), expires=200) for user in ("tess", "toby", "tara")]
    wishes = ((True, False), (False, True), (False, False))
    since = node.broker.place
    tails = [tail(question(session)) for session in sessions]
    for place, (session, (ack, initial)) in enumerate(zip(sessions, wishes, strict=True)):
        subject = node.set(f"listed.{place}", BID=1)
        session.send_list([subject], ["listed"], tails[place], ack=ack, initial=initial)
        settle(session)
        heard = [each.body for each in session.replies("listed", since=since)]
        acks = [each for each in heard if isinstance(each, Reply) and each.state == "ack"]
        assert bool(acks) is ack, "a list gets an ack that it does not ask for, or does not get one"
        assert bool(len(heard) - len(acks)) is initial, "a list gets an image that it does not ask for, or gets none"
        assert is_published(node, f"listed.{place}"), "a subject of a list is not subscribed by it"


@rule("RAI-007", roles=PUBLISHER, needs=("RAI-009", "RAI-132"))
def test_list_begins_the_time_anew(node: NodeUnderTest) -> None:
    """Have a session be silent that has subscribed two subjects, and answer the question for them late.

    The time of both begins anew with the answer.
    """
    names = ("first", "last")
    subjects = [node.set(name, BID=1) for name in names]
    since = node.broker.place
    session = silent(node, "tess", *subjects, interval=20, expires=120)
    began = node.trace.now()
    asked = question(session)
    node.broker.pause(max(0.0, 100 - node.elapsed(began)))
    for subject in subjects:
        if drops(node, subject, since):
            raise NotPlayed("the subscriptions have ended before the answer")
    session.send_list(subjects, [1001, 1002], tail(asked), initial=False)
    session.surely(session.reply(1001, since=since), "ack of a list")
    node.broker.pause(max(0.0, 131 - node.elapsed(began)))
    for name, subject in zip(names, subjects, strict=True):
        assert not drops(node, subject, since), "a subscription ends that a list has reasserted"
        assert is_published(node, name), "a subscription ends that a list has reasserted"


@rule("RAI-220", roles=PUBLISHER, needs=("RAI-134",))
def test_lists_with_other_returns(node: NodeUnderTest) -> None:
    """Answer questions by lists with fewer returns than subjects, with more, with none, and with no subjects.

    They do no harm: what comes next is answered.
    """
    subject = node.set("known", BID=1)
    session = silent(node, "tess", subject, expires=200)
    its = tail(question(session))
    lists: tuple[tuple[list[str], list[int | str]], ...] = (
        ([subject, node.subject("a"), node.subject("b")], [1001]),
        ([subject], [1002, 1003, "x.y"]),
        ([subject, subject], []),
        ([], [1004]),
        ([], []),
        (["", ".", "LAB.", "LAB..x", "LAB.>"], [1005, 1006, 1007, 1008, 1009]),
    )
    for subjects, returns in lists:
        session.send_list(subjects, returns, its)
        assert session.snapshot(subject), "after a list with other returns than subjects nothing is answered"


@rule("RAI-028", roles=PUBLISHER, needs=("RAI-124",))
def test_lists_with_wildcards(node: NodeUnderTest) -> None:
    """Answer a question by a list with wildcards, have a matching value change, and say BYE.

    Nothing is published to the wildcards.
    """
    subject = node.set("wild.one", BID=1)
    session = silent(node, "tess", subject, expires=200)
    session.send_list(["LAB.wild.>", "LAB.*.one"], [1001, 1002], tail(question(session)))
    settle(session)
    is_published(node, "wild.one")
    session.bye()
    dropped(node, subject)
    told = {event.subject for event in node.broker.received(Published)}
    assert not told & {"LAB.wild.>", "LAB.*.one"}, "something is published to a wildcard"
