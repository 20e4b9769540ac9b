"""Sections "Drop Notification" and "Snapshot Request": what a subscriber's application is told besides values."""

from conformance.cases import judging, rule
from conformance.rai.feeds import Feed, heard
from conformance.rai.roles import SUBSCRIBER
from harness.errors import NotAnswered
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import SNAP, START, Published, Return, SnapRequest, SubStart, SubStop

REASONS = ("nosubscribers", "expired", "preempted")
"""Why a subject is dropped, where it does not become another."""


@rule("RAI-195", roles=SUBSCRIBER)
def test_drops(node: NodeUnderTest) -> None:
    """Drop subjects, for each reason, that are subscribed with an image, without one, and by a wildcard.

    Each is told with its reason.
    """
    wildcard = node.subject("dropped.wild.*")
    node.command("psubscribe", wildcard)
    node.publisher.surely(node.publisher.started_wild(wildcard), "start of a wildcard")
    for reason in REASONS:
        for verb in ("subscribe", "listen"):
            feed = Feed(node, f"dropped.{verb}.{reason}", verb=verb)
            feed.publish(type="drop", status=reason)
            assert heard(node, "drop", feed.subject, reason), f"a drop with status {reason} is not told with it"
        subject = node.subject(f"dropped.wild.{reason}")
        node.publisher.publish(subject, data={"BID": 1})
        node.publisher.publish(subject, type="drop", status=reason)
        assert heard(node, "drop", subject, reason), f"a drop of what a wildcard has brought ({reason}) is not told"


@rule("RAI-195", roles=SUBSCRIBER)
def test_drops_of_what_was_renamed(node: NodeUnderTest) -> None:
    """Drop subjects with status relocate, and the new subject in text and in subject; then in either alone.

    The new subject is told with the drop.
    """
    feed = Feed(node, "renamed")
    new = node.subject("new.name")
    node.publisher.say(feed.subject, Published(type="drop", status="relocate", text=new, subject=new))
    assert heard(node, "drop", feed.subject, "relocate"), "a drop with status relocate is not told with it"
    assert heard(node, "drop", feed.subject, "relocate", new), "the new subject of one that was renamed is not told"
    in_text = Published(type="drop", status="relocate", text=new)
    in_subject = Published(type="drop", status="relocate", subject=new)
    for option, drop in (("A", in_text), ("B", in_subject)):
        feed = Feed(node, f"renamed.{option}")
        node.publisher.say(feed.subject, drop)
        if heard(node, "drop", feed.subject, "relocate") and new in node.events("drop", feed.subject, "relocate"):
            node.shows("RAI-195", "R31", option)


@rule("RAI-013", roles=SUBSCRIBER)
def test_drops_for_want_of_subscribers(node: NodeUnderTest) -> None:
    """Drop subjects for want of subscribers that are subscribed, with an image and without, twice.

    Each time they are started again, or stand in a list of subscriptions.
    """
    feeds = [Feed(node, verb, verb=verb) for verb in ("subscribe", "listen")]
    for time in ("for the first time", "for the second time"):
        since = node.source.place
        for feed in feeds:
            feed.publish(type="drop", status="nosubscribers")
        for feed in feeds:
            restart = feed.restarted(since=since)
            assert restart, f"what is dropped for want of subscribers {time} is not started again"
            node.shows("RAI-013", "R59", "A" if restart.form is SubStart else "B")


@rule("RAI-061", roles=SUBSCRIBER)
def test_updates_after_a_drop(node: NodeUnderTest) -> None:
    """Drop subjects for want of subscribers, and because a cache is full, and publish updates of them.

    They are told.
    """
    for reason in ("nosubscribers", "preempted"):
        for verb in ("subscribe", "listen"):
            feed = Feed(node, f"{reason}.{verb}", verb=verb)
            feed.publish(type="drop", status=reason)
            assert feed.goes_on(), f"an update behind a drop with status {reason} is not told"
            assert feed.goes_on(), f"a second update behind a drop with status {reason} is not told"


@rule("RAI-199", roles=SUBSCRIBER)
def test_drops_of_what_is_not_wanted(node: NodeUnderTest) -> None:
    """Drop subjects that were stopped, that were never subscribed, and such as begin like one that is.

    Nothing is started.
    """
    kept, gone = Feed(node, "x"), Feed(node, "y")
    node.command("unsubscribe", gone.subject)
    stop = node.source.wait_for(lambda event: event.form is SubStop, thing="a stop")
    node.publisher.surely(stop, "stop")
    since = node.source.place
    for name in ("y", "never", "x.more", "X", "y.more"):
        node.publisher.publish(node.subject(name), type="drop", status="nosubscribers")
    node.publisher.answer(kept.start.message.session, "9999", type="drop", subject=gone.subject, status="nosubscribers")
    kept.surely_goes_on()
    # A start may take its time: who is dropped again and again would else start again and again.
    node.source.pause(22)
    starts = [each.subject.removeprefix(START) for each in node.source.received(SubStart, since=since)]
    assert not set(starts) - {kept.subject}, "a drop of what nobody wants makes it be started"


def asked(node: NodeUnderTest, verb: str, subject: str) -> tuple[str, Return]:
    """Have the application ask for something, and return who asks and the return; nobody answers that by itself."""
    form, prefix = (SnapRequest, SNAP) if verb == "snapshot" else (SubStart, START)
    since = node.source.place
    node.command(verb, subject)
    event = node.source.wait_for(
        lambda event: event.form is form and event.subject == prefix + subject, since=since, thing=f"a {verb} request"
    )
    returned = getattr(node.publisher.surely(event, f"{verb} request").body, "return_", None)
    if event is None or returned is None:
        raise NotAnswered(f"a {verb} has no return to be answered at")
    return event.message.session, returned


@rule("RAI-196", roles=SUBSCRIBER)
def test_snapshots(node: NodeUnderTest) -> None:
    """Have several snapshots be asked for, and answer them in another order: by values, and by what is wrong.

    Each is told, for its own subject.
    """
    publisher = node.publisher
    publisher.is_serving = False
    names = ("a", "b", "c", "d", "e", "a.b")
    returns = {name: asked(node, "snapshot", node.subject(name)) for name in names}
    answers: dict[str, dict[str, object]] = {
        "c": {"format": "json", "data": {"BID": 3}},
        "a": {"status": "not_found"},
        "e": {"status": "stale", "format": "json", "data": {"BID": 5}},
        "a.b": {"status": "temp_unavail"},
        "b": {"status": "ok", "format": "json", "data": {"BID": 2}},
        "d": {"status": "perm_denied"},
    }
    for name, members in answers.items():
        session, returned = returns[name]
        publisher.answer(session, returned, type="snap", subject=node.subject(name), **members)
        subject = node.subject(name)
        if "data" in members:
            assert heard(node, "snapshot", subject), f"a snapshot that comes as the {returned}. answer is not told"
            told = node.events("snapshot", subject)[0].partition(" ")[2]
            assert told == str(members["data"]).replace("'", '"').replace(" ", ""), (
                "a snapshot is told other than it came"
            )
        else:
            status = str(members["status"])
            assert heard(node, "status", subject, status), f"that a snapshot has status {status} is not told"
    assert len(node.events("snapshot")) == 3, "a snapshot is told that has not come"


@rule("RAI-196", roles=SUBSCRIBER)
def test_snapshots_one_by_one(node: NodeUnderTest) -> None:
    """Have a snapshot of one subject be asked for three times, while it is subscribed as well; its value changes.

    Each time the value that it has is told.
    """
    feed = Feed(node, BID=1)
    for number in range(3):
        feed.publisher.values[feed.subject] = {"BID": 10 + number}
        node.command("snapshot", feed.subject)
        assert heard(node, "snapshot", feed.subject, "ok", f'{{"BID":{10 + number}}}'), (
            "a snapshot that is asked for again is not told"
        )


@rule("RAI-196", roles=SUBSCRIBER)
def test_answers_to_starts(node: NodeUnderTest) -> None:
    """Have subjects be subscribed, and answer in another order: by acks before and behind images, and by a status.

    Each is told, for its own subject; so are acks of stops.
    """
    publisher = node.publisher
    publisher.is_serving = False
    names = ("one", "two", "three")
    returns = {name: asked(node, "subscribe", node.subject(name)) for name in names}

    def answer(name: str, type: str, **members: object) -> None:
        session, returned = returns[name]
        publisher.answer(session, returned, type=type, subject=node.subject(name), **members)

    answer("two", "start", format="json", data={"BID": 2})
    for name in reversed(names):
        answer(name, "start", status="ack")
        with judging("RAI-196"):
            assert heard(node, "ack", node.subject(name), "start"), "the ack of a start is not told for its subject"
    assert heard(node, "value", node.subject("two")), "an image before the ack is not told"
    # Any of the three types may say it.
    for name, type, status in (("one", "start", "not_found"), ("three", "initial", "temp_unavail")):
        answer(name, type, status=status)
        assert heard(node, "status", node.subject(name), status), f"that a start is answered by {status} is not told"
    for name in ("two", "one"):
        since = node.source.place
        node.command("unsubscribe", node.subject(name))
        event = publisher.surely(node.source.wait_for(lambda event: event.form is SubStop, since=since), "stop")
        body = event.body
        assert isinstance(body, SubStop)
        if body.ack and body.return_ is not None:
            members = {"type": "stop", "subject": node.subject(name), "status": "ack"}
            publisher.answer(event.message.session, body.return_, **members)
            assert heard(node, "ack", node.subject(name), "stop"), "the ack of a stop is not told for its subject"


@rule("RAI-197", roles=SUBSCRIBER)
def test_answers_that_nobody_asked_for(node: NodeUnderTest) -> None:
    """Send answers to returns that nobody has asked for, answers of other kinds than asked for, and dictionaries.

    What was asked for is told as ever.
    """
    feed = Feed(node)
    publisher = feed.publisher
    session, to = feed.start.message.session, node.subject("other")
    members = ({"format": "json", "data": {"BAD": 1}}, {"status": "not_found"}, {"status": "ack"})
    for returned in (9999, "x.y.z", 0, -1, "subs", "auth.x", "dict", "get_subs.x"):
        for kind in ("start", "stop", "snap", "initial", "update", "drop"):
            for more in members:
                publisher.answer(session, returned, type=kind, subject=to, **more)
    publisher.dictionaries["nobody"] = {}
    publisher.send_dictionary(session, 9999, "nobody")
    subject = node.subject("asked")
    assert feed.goes_on(), "behind answers that nobody asked for updates are not told any more"
    assert feed.publisher.values[feed.subject].items() <= feed.last[1].items(), "an answer to nothing changes a value"
    publisher.values[subject] = {"BID": 4}
    node.command("snapshot", subject)
    assert heard(node, "snapshot", subject), "behind answers that nobody asked for a snapshot is not told"
