"""Sections "Subscription Notification" and "Wildcard Subscription": how a subscriber says what it wants."""

from conformance.cases import Inconclusive, judging, rule
from conformance.rai.feeds import Feed, heard
from conformance.rai.roles import SUBSCRIBER
from harness.errors import NotAnswered
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from wire.errors import DecodeError
from wire.rai.matcher import Matcher
from wire.rai.values import STOP, DictRequest, SubStart, SubStop, Wild, WildStart, WildStop, inbox
from wire.rai.wildcards import pattern_of_rv, published_prefix
from wire.subjects import is_legal, matches

NAMES = ("s", "s.of.a.subject.with.many.segments", "S", "s." + 200 * "x", "s.with-dash_and:colon", "s.1.2", "s.start._")
"""Ends of subjects: short and long ones, and such as look like something else."""


@rule("RAI-001", "RAI-107", roles=SUBSCRIBER)
def test_starts(node: NodeUnderTest) -> None:
    """Have subjects be subscribed: short and long ones, with an image and without, and one again after its end.

    Of each a start is published under _SUB.START. and the subject; who asks for something has a return.
    """
    publisher = node.publisher
    for verb in ("subscribe", "listen"):
        for name in NAMES:
            subject = node.subject(f"{verb}.{name}")
            node.command(verb, subject)
            with judging("RAI-001"):
                start = publisher.started(subject)
                assert start, f"no start is published of a subject of {len(subject)} letters"
                assert start.message.session == publisher.broker.node_session, (
                    "a start is not said in the node's session"
                )
            assert_has_return(start)
    subject = node.subject("again")
    for _ in range(3):
        since = publisher.broker.place
        node.command("subscribe", subject)
        start = publisher.started(subject, since=since)
        with judging("RAI-001"):
            assert start, "a subject that is subscribed anew is not started"
        assert_has_return(start)
        node.command("unsubscribe", subject)


def assert_has_return(start: Event) -> None:
    """Demand a return of a start that asks for something."""
    body = start.body
    assert isinstance(body, SubStart)
    with judging("RAI-107"):
        assert body.return_ is not None or not (body.initial or body.ack), "a start asks for an answer without a return"


@rule("RAI-005", roles=SUBSCRIBER)
def test_stops(node: NodeUnderTest) -> None:
    """Have subjects be subscribed, and end all but one, in another order; one of them is also matched by a wildcard.

    Of each a stop is published under _SUB.STOP. and the subject, in the session of its start, and of no other.
    """
    feeds = [Feed(node, f"{name}.stopped") for name in NAMES]
    feeds += [Feed(node, "listened", verb="listen"), Feed(node, "wild.one"), Feed(node, "kept")]
    node.command("psubscribe", node.subject("wild.>"))
    publisher = node.publisher
    since = publisher.broker.place
    order = [*feeds[:-1][::2], *feeds[:-1][1::2]]
    for number, feed in enumerate(order):
        node.command("unsubscribe", feed.subject)
        stop = stopped(feed, since)
        assert stop, "what is subscribed no more is not stopped"
        assert stop.message.session == feed.start.message.session, "a stop is said in another session than its start"
        publisher.broker.read(node.timing.glance)
        for other in (*order[number + 1 :], feeds[-1]):
            assert not stopped(other, since, wait=False), "a subject is stopped that is still subscribed"
    assert feeds[-1].goes_on(), "when another subject is stopped, updates are not told any more"


def stopped(feed: Feed, since: int, *, wait: bool = True) -> Event | None:
    """Read until a feed is stopped, and return that."""

    def is_stop(event: Event) -> bool:
        return event.form is SubStop and event.subject == STOP + feed.subject

    seconds = None if wait else 0.0
    return feed.publisher.broker.wait_for(is_stop, since=since, seconds=seconds, thing="a stop" if wait else "")


@rule("RAI-198", roles=SUBSCRIBER)
def test_updates_after_the_stop(node: NodeUnderTest) -> None:
    """End subscriptions of a subject and of a wildcard, and publish updates of what was subscribed.

    They are not told; what is subscribed by another name still is.
    """
    one, both, kept = Feed(node, "one"), Feed(node, "wide.both"), Feed(node, "kept")
    publisher = one.publisher
    wildcard = node.subject("wide.>")
    node.command("psubscribe", wildcard)
    publisher.surely(publisher.started_wild(wildcard), "start of a wildcard")
    for name in ("wide.found", "wide.found.deep"):
        publisher.publish(node.subject(name), data={"BID": 1})
        if not heard(node, "value", node.subject(name)):
            raise NotAnswered("what a wildcard matches is not told")
    node.command("punsubscribe", wildcard)
    node.command("unsubscribe", one.subject)
    publisher.broker.read()
    for subject in (one.subject, node.subject("wide.found"), node.subject("wide.found.deep")):
        publisher.publish(subject, data={"BAD": 1})
        publisher.publish(subject, type="initial", data={"BAD": 2})
        publisher.publish(subject, status="stale")
    assert both.goes_on(), "when a wildcard is stopped, a subject is not told that is subscribed by its own name"
    assert kept.keeps_out(), "an update is told of another subject"
    for name in ("one", "wide.found", "wide.found.deep"):
        told = [fields for _, fields in node.values(node.subject(name)) if "BAD" in fields]
        assert not told, "an update is told after its subscription was ended"
    node.command("psubscribe", wildcard)
    node.command("unsubscribe", both.subject)
    publisher.broker.read()
    publisher.publish(both.subject, data={"GOOD": 1})
    assert both.tells(GOOD=1), "when a subject is stopped, it is not told any more to who has subscribed a wildcard"


SAMPLES = ("w", "w.x", "w.y", "w.x.y", "w.y.x", "w.x.y.z", "w.x.q.y", "wx", "wx.y", "v.x", "v.x.y", "x.w", "w.x.y.z.u")
"""Ends of subjects that wildcards match, or do not."""

WILDCARDS = ("w.>", "w.*", "*.x", "w.*.y", "w.*.>", "w.x.*.y", "*.*", "w.x.>", "*.>")


@rule("RAI-119", "RAI-120", "RAI-121", "RAI-028", roles=SUBSCRIBER)
def test_starts_of_wildcards(node: NodeUnderTest) -> None:
    """Have wildcards of all forms be subscribed.

    Each is started under _PSUB.START., its literal segments and _, with a pattern that matches what it stands for.
    """
    publisher = node.publisher
    started: list[tuple[str, str, str]] = []

    def is_new(event: Event) -> bool:
        # Who greets again may start again what was started before, perhaps under another return.
        body = event.body
        if isinstance(body, WildStart):
            return (event.subject, body.subject, body.pattern) not in started
        return isinstance(body, SubStart)

    for wildcard in (*map(node.subject, WILDCARDS), "*.w.x", "*.>"):
        since = publisher.broker.place
        node.command("psubscribe", wildcard)
        found = publisher.broker.wait_for(is_new, since=since, thing="a start of a wildcard")
        with judging("RAI-119"):
            assert found, f"a wildcard is not started: {wildcard}"
            assert found.form is WildStart, f"a wildcard is started as a subject is: {wildcard}"
        assert isinstance(found.body, WildStart)
        started.append((found.subject, found.body.subject, found.body.pattern))
        assert_says(found, wildcard)
        with judging("RAI-028"):
            assert is_legal(found.subject), f"the start of a wildcard is published under one: {found.subject}"
        with judging("RAI-121"):
            prefix = found.subject.removeprefix("_PSUB.START.")
            assert prefix == published_prefix(wildcard), f"the start of {wildcard} is published under {prefix}"


def assert_says(event: Event, wildcard: str) -> None:
    """Demand that a message about a wildcard says which, as RV does and as a pattern does."""
    body = event.body
    assert isinstance(body, Wild)
    with judging("RAI-120" if event.form is WildStart else "RAI-188"):
        assert body.subject == wildcard, f"the subject of the wildcard {wildcard} is {body.subject}"
        try:
            matcher = Matcher.of_pcre(body.pattern)
        except DecodeError as error:
            raise Inconclusive(f"nobody here reads the pattern {body.pattern}: {error}") from error
        # The document's own pattern has a dot that stands for any character (line 1117).
        as_drawn = Matcher.of_pcre(pattern_of_rv(wildcard).replace(r"\.", "."))
        for name in (*SAMPLES, "LAB.w.x", "TAB.w.x", "q"):
            for subject in (name, f"LAB.{name}"):
                what = "matches" if matches(wildcard, subject) else "does not match"
                assert matcher.matches(subject) in (matches(wildcard, subject), as_drawn.matches(subject)), (
                    f"the pattern {body.pattern} says something else than {wildcard}, which {what} {subject}"
                )


@rule("RAI-188", "RAI-028", roles=SUBSCRIBER)
def test_stops_of_wildcards(node: NodeUnderTest) -> None:
    """Have wildcards be subscribed, and end them in another order; one of them is part of another.

    Of each a stop is published where its start was, with the same subject and pattern.
    """
    publisher = node.publisher
    wildcards = [node.subject(each) for each in WILDCARDS]
    for wildcard in wildcards:
        node.command("psubscribe", wildcard)
    starts = {wildcard: publisher.surely(publisher.started_wild(wildcard), "start") for wildcard in wildcards}
    for wildcard in (*wildcards[::2], *wildcards[1::2]):
        since = publisher.broker.place
        node.command("punsubscribe", wildcard)
        stop = publisher.broker.wait_for(
            lambda event: event.form in (WildStop, SubStop), since=since, thing="a stop of a wildcard"
        )
        with judging("RAI-188"):
            assert stop, f"the stop of a wildcard is not published: {wildcard}"
            assert stop.form is WildStop, f"a wildcard is stopped as a subject is: {wildcard}"
        with judging("RAI-028"):
            assert is_legal(stop.subject), f"the stop of a wildcard is published under one: {stop.subject}"
        with judging("RAI-188"):
            start = starts[wildcard]
            expected = start.subject.replace(".START.", ".STOP.")
            assert stop.subject == expected, f"the stop of {wildcard} is published under {stop.subject}"
            began, ended = start.body, stop.body
            assert isinstance(began, Wild)
            assert isinstance(ended, Wild)
            assert ended.subject == began.subject, "a stop has another wildcard as its subject than the start"
            assert ended.pattern == began.pattern, "a stop has another pattern than the start"


@rule("RAI-155", "RAI-198", roles=SUBSCRIBER, needs=("RAI-119",))
def test_updates_of_wildcards(node: NodeUnderTest) -> None:
    """Have wildcards be subscribed, and publish updates of subjects that they match, and of others.

    Those that one matches are told, and no others.
    """
    publisher = node.publisher
    wildcards = [node.subject(each) for each in ("w.*.y", "w.x.y.>", "*.w")]
    for wildcard in wildcards:
        node.command("psubscribe", wildcard)
        publisher.surely(publisher.started_wild(wildcard), "start of a wildcard")
    for name in SAMPLES:
        publisher.publish(node.subject(name), data={"BID": 1})
        publisher.publish(node.subject(name), data={"ASK": 2})
    last = Feed(node, "last")
    last.surely_goes_on()
    for name in SAMPLES:
        subject = node.subject(name)
        told = [fields for _, fields in node.values(subject)]
        if any(matches(each, subject) for each in wildcards):
            with judging("RAI-155"):
                assert told == [{"BID": 1}, {"BID": 1, "ASK": 2}], f"of {name}, which one matches, {told} is told"
        else:
            with judging("RAI-198"):
                assert not told, "an update is told of a subject that nobody has subscribed"


@rule("RAI-189", roles=SUBSCRIBER)
def test_dictionaries(node: NodeUnderTest) -> None:
    """Name dictionaries in images and snapshots, also as two publishers, and have the application fetch them.

    Each is asked for by its name at dict in the inbox of who named it last, and told to the application.
    """
    main, other = node.publisher, node.new_publisher("toby")
    for number, (publisher, name, checksum, verb) in enumerate(
        (
            (main, "json", 7, "subscribe"),
            (other, "f", 8, "subscribe"),
            (main, "f", 9, "snapshot"),
            (other, "odd-1", None, "x"),
        )
    ):
        publisher.naming = {"dictionary": name} | ({} if checksum is None else {"dict_csum": checksum})
        publisher.dictionaries[name] = {"BID": number}
        subject = node.subject(f"named.{number}")
        name_in_image(node, publisher, subject, verb)
        since = main.broker.place
        node.command("dictionary", name)
        request = main.broker.wait_for(
            lambda event: isinstance(event.body, DictRequest), since=since, thing="a request for a dictionary"
        )
        assert request, "a dictionary that was named is not asked for"
        body = request.body
        assert isinstance(body, DictRequest)
        whose = inbox(publisher.session, "dict")
        assert request.subject == whose, "a dictionary is not asked for at dict in the inbox of who named it last"
        assert body.dictionary == name, f"the dictionary {name} is asked for as {body.dictionary}"
        assert body.return_ is not None, "a dictionary is asked for without a return"
        spellings = () if checksum is None else (checksum, str(checksum), f"0x{checksum:x}", f"0x{checksum:08x}")
        assert body.dict_csum in (None, *spellings), "a dictionary is asked for with another checksum than it was named"
        expected = f'{name} {{"BID":{number}}}'
        told = node.until(lambda expected=expected: [each for each in node.events("dictionary") if each == expected])  # type: ignore[misc]
        assert told, "a dictionary that has come is not told as it is"


def name_in_image(node: NodeUnderTest, publisher: TestPublisher, subject: str, verb: str) -> None:
    """Have a publisher name its dictionary: in what answers a start or a snapshot request, or in an image to all."""
    if verb in ("subscribe", "snapshot"):
        publisher.values[subject] = {"BID": 1}
        node.command(verb, subject)
    else:
        node.command("listen", subject)
        publisher.surely(publisher.started(subject), "start")
        publisher.publish(subject, type="initial", format="json", **publisher.naming, data={"BID": 1})
    if not heard(node, "snapshot" if verb == "snapshot" else "value", subject):
        raise NotAnswered("the application is not told a value that names a dictionary")
