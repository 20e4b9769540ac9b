"""Rai, "Subscription Notification": what a publisher answers to starts and stops, and whose subscriptions they are."""

from typing import Any

from conformance.cases import judging, rule
from conformance.rai.publishing import drops
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import (
    change,
    fields,
    holds,
    settle,
    told,
    updates,
)
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Return

LONG = "long." + "x" * 200
DEEP = "a.b.c.d.e.f.g.h"
NAMES = ("valued", "none", LONG, DEEP, "Mixed.CASE-1_2")

WISHES: tuple[dict[str, Any], ...] = (
    {},
    {"ack": True},
    {"format": "json"},
    {"format": "rwf", "ack": True},
    {"format": "none.such"},
)
"""What starts that ask for an image may ask for beside it."""

AGAIN: tuple[dict[str, Any], ...] = ({}, {}, {"initial": True}, {"expires": 1000})

RETURNS: tuple[Return, ...] = (7, 0, 1 << 40, "8", "x", "a.b", "some.where.below.1", "get-it_now")


@rule("RAI-109", "RAI-114", roles=PUBLISHER)
def test_acks_of_starts(node: NodeUnderTest) -> None:
    """Start subjects with an ack, of two sessions: with a value and without, long and deep, with an image or not.

    Each start is acked in the inbox of its session, with type start, the subject, and status ack.
    """
    node.set("valued", BID=1)
    for asking in (node.main, node.other):
        for initial in (False, True):
            for name in NAMES:
                subject = node.subject(name)
                ack = asking.subscribe(subject, initial=initial)
                with judging("RAI-109"):
                    assert ack, "a start that asks for an ack gets none"
                with judging("RAI-114"):
                    assert told(ack).type == "start", f"the ack of a start has type {told(ack).type}"
                    assert told(ack).subject == subject, "the ack of a start names another subject"
                    assert not told(ack).has_data, "the ack of a start has data"


@rule("RAI-109", roles=PUBLISHER)
def test_many_starts_at_once(node: NodeUnderTest) -> None:
    """Start sixty subjects, one behind the other, each with an ack.

    Each is acked.
    """
    asking = node.main
    since = node.broker.place
    wanted = {asking.new_return(): node.subject(f"many.{number}") for number in range(60)}
    for returned, subject in wanted.items():
        asking.start(subject, return_=returned, ack=True)
    for returned, subject in wanted.items():
        ack = asking.reply(returned, lambda body: body.state == "ack", since=since, thing="an ack")
        assert ack, "of many starts one is not acked"
        assert told(ack).subject == subject, "the ack of one start comes to the return of another"


@rule("RAI-110", "RAI-111", "RAI-117", roles=PUBLISHER, needs=("RAI-108", "RAI-109", "RAI-116"))
def test_answers_that_nobody_has_asked_for(node: NodeUnderTest) -> None:
    """Start and stop subjects with a return and without ack, initial, or both; also where there is no value.

    What was not asked for does not come.
    """
    asking = node.main
    since = node.broker.place
    for name in ("valued", "none"):
        subject = node.set(name, BID=1) if name == "valued" else node.subject(name)
        images, acks, neither, stops = (asking.new_return() for _ in range(4))
        asking.start(subject, return_=images, initial=True)
        asking.stop(subject, return_=stops)
        asking.start(subject, return_=acks, ack=True)
        asking.stop(subject, return_=stops)
        asking.start(subject, return_=neither)
        asking.stop(subject, return_=stops)
        settle(node)
        with judging("RAI-110"):
            for returned in (images, neither):
                seen = [told(each).state for each in asking.replies(returned, since=since)]
                assert "ack" not in seen, "a start that asks for no ack is acked"
        with judging("RAI-111"):
            for returned in (acks, neither):
                seen = [told(each).state for each in asking.replies(returned, since=since)]
                assert all(each == "ack" for each in seen), f"a start that asks for no image is told {seen}"
        with judging("RAI-117"):
            assert not asking.replies(stops, since=since), "a stop that asks for no ack is answered"


@rule("RAI-110", "RAI-111", "RAI-117", roles=PUBLISHER, needs=("RAI-108", "RAI-109", "RAI-116"))
def test_starts_and_stops_without_return(node: NodeUnderTest) -> None:
    """Start and stop subjects without any return.

    Nothing comes to the inbox of the session, under whatever end.
    """
    asking = node.main
    subjects = [node.set("valued", BID=1), node.subject("none")]
    since = node.broker.place
    for subject in subjects:
        asking.start(subject)
        asking.stop(subject)
        asking.start(subject)
    settle(node)
    seen = [event.subject for event in asking.replies(since=since) if told(event).kind != "snap"]
    assert not seen, f"starts and stops without return are answered under {seen}"


@rule("RAI-108", "RAI-115", "RAI-112", roles=PUBLISHER)
def test_images(node: NodeUnderTest) -> None:
    """Start subjects with an image, of two sessions, also with an ack, with other formats, and a second time.

    Each gets all fields in its inbox, in a message that names its subject and that its data are JSON.
    """
    names = ("one", LONG, DEEP)
    for number, name in enumerate(names):
        node.set(name, BID=number, SIDE="buy", DEPTH=[1, {"a": None}])
    for asking in (node.main, node.other):
        for wishes in WISHES:
            for number, name in enumerate(names):
                subject = node.subject(name)
                returned, since = asking.new_return(), node.broker.place
                asking.start(subject, return_=returned, initial=True, **wishes)
                image = asking.reply(returned, lambda body: body.has_data, since=since, thing="an initial")
                with judging("RAI-108"):
                    assert image, "a start that asks for an image gets none"
                with judging("RAI-115"):
                    kind = told(image).type
                    assert kind in ("start", "initial"), f"the image that answers a start has type {kind}"
                    node.shows("RAI-115", "R02", "B" if kind == "initial" else "A")
                    assert told(image).subject == subject, "an image names another subject"
                    assert fields(image) == {"BID": number, "SIDE": "buy", "DEPTH": [1, {"a": None}]}, (
                        f"an image has {fields(image)}"
                    )
                with judging("RAI-112"):
                    assert told(image).format == "json", f"data in JSON have format {told(image).format}"


@rule("RAI-098", roles=PUBLISHER, needs=("RAI-108", "RAI-116", "RAI-134"))
def test_returns(node: NodeUnderTest) -> None:
    """Ask for acks, images and snapshots with returns that are numbers, texts, and of several segments.

    Each is answered under _INBOX., the session that asks, and that return.
    """
    subject = node.set("valued", BID=1)
    for asking in (node.main, node.other):
        for returned in RETURNS:
            since = node.broker.place
            asking.start(subject, return_=returned, ack=True, initial=True)
            acked = asking.reply(returned, lambda body: body.state == "ack", since=since, thing="an answer")
            assert acked, f"the ack of a start with return {returned!r} does not come there"
            shown = asking.reply(returned, lambda body: body.has_data, since=since, thing="an answer")
            assert shown, f"the image of a start with return {returned!r} does not come there"
            since = node.broker.place
            asking.stop(subject, return_="stop", ack=True)
            found = asking.reply("stop", lambda body: body.kind == "stop", since=since, thing="an answer")
            assert found, "the ack of a stop with another return than its start does not come there"
            since = node.broker.place
            asking.subscribed(subject)
            asking.stop(subject, return_=returned, ack=True)
            found = asking.reply(returned, lambda body: body.kind == "stop", since=since, thing="an answer")
            assert found, f"the ack of a stop with return {returned!r} does not come there"
            assert asking.snapshot(subject, return_=returned), (
                f"the snapshot with return {returned!r} does not come there"
            )


@rule("RAI-116", roles=PUBLISHER)
def test_acks_of_stops(node: NodeUnderTest) -> None:
    """Start and stop subjects with an ack, of two sessions: with a value and without, long and deep, twice.

    Each stop is acked once in the inbox of its session, with type stop, the subject, and status ack.
    """
    node.set("valued", BID=1)
    for name in NAMES:
        node.other.subscribed(node.subject(name))
    for asking in (node.main, node.other):
        for name in (*NAMES, *NAMES):
            subject = node.subject(name)
            asking.subscribed(subject)
            returned, since = asking.new_return(), node.broker.place
            asking.stop(subject, return_=returned, ack=True)
            ack = asking.reply(returned, since=since, thing="an ack of a stop")
            assert ack, "a stop that asks for an ack gets none"
            assert told(ack).state == "ack", f"the ack of a stop has status {told(ack).state}"
            assert told(ack).type == "stop", f"the ack of a stop has type {told(ack).type}"
            assert told(ack).subject == subject, "the ack of a stop names another subject"


@rule("RAI-118", roles=PUBLISHER)
def test_subjects_of_others(node: NodeUnderTest) -> None:
    """Start subjects that the publisher does not serve, with an image and an ack, and ask for snapshots of them.

    Nothing is answered.
    """
    asking, since = node.main, node.broker.place
    returned = asking.new_return()
    for subject in ("OTHER.x", "LABX.x", "lab.x", "LAB", "X.LAB.x", "x"):
        asking.start(subject, return_=returned, ack=True, initial=True)
        asking.stop(subject, return_=returned, ack=True)
        asking.snapshot_request(subject, returned)
    settle(node)
    seen = {told(event).subject for event in asking.replies(returned, since=since)}
    assert not seen, f"subjects of others are answered: {seen}"


@rule("RAI-006", roles=PUBLISHER)
def test_stops_of_others(node: NodeUnderTest) -> None:
    """Subscribe a subject in three sessions, two of them of one user, and stop it in one after the other.

    Who has not stopped yet gets updates, and the subject is dropped with the last stop only.
    """
    first, second = node.main, node.other
    third = node.subscriber(first.user)
    for order in ((first, second, third), (third, second, first), (second, first, third)):
        subject = node.set("shared", BID=0)
        for asking in order:
            asking.subscribed(subject)
        since = node.broker.place
        for count, asking in enumerate(order[:-1], 1):
            asking.stop(subject)
            settle(node, asking)
            assert change(node, "shared", BID=count), "no update comes after somebody else has stopped"
            assert not drops(node, subject, since), "a subject is dropped that somebody still subscribes"
        order[-1].stop(subject)
        settle(node, order[-1])


@rule("RAI-006", roles=PUBLISHER)
def test_stops_beside_other_subjects(node: NodeUnderTest) -> None:
    """Subscribe several subjects in one session, some of which begin alike, and stop one.

    The others get updates, and are not dropped.
    """
    names = ("a", "a.b", "a.b.c", "ab", "b")
    subjects = {name: node.set(name, BID=0) for name in names}
    for gone in names:
        for subject in subjects.values():
            node.main.subscribed(subject)
        since = node.broker.place
        node.main.stop(subjects[gone])
        settle(node)
        for name in names:
            if name != gone:
                assert change(node, name, BID=since), f"no update of {name} comes after {gone} was stopped"
                assert not drops(node, subjects[name], since), f"{name} is dropped when {gone} is stopped"


@rule("RAI-192", roles=PUBLISHER, needs=("RAI-108", "RAI-009", "RAI-202"))
def test_second_starts(node: NodeUnderTest) -> None:
    """Start a subject three times in one session, with an ack, an image, both, and expires.

    Each start is answered like the first, and updates come, once each.
    """
    asking, subject = node.main, node.set("again", BID=0)
    for number, wishes in enumerate(AGAIN, 1):
        ack = asking.subscribe(subject, **wishes)
        assert ack, f"start {number} of a subject is not acked"
        assert asking.image(subject), f"start {number} of a subject gets no image"
        since = node.broker.place
        assert change(node, "again", BID=number), f"no update comes after start {number} of a subject"
        settle(node)
        count = len(updates(node, subject, since))
        assert count == 1, f"after start {number} of a subject updates come {count} times"


@rule("RAI-193", roles=PUBLISHER)
def test_stops_of_what_is_not_subscribed(node: NodeUnderTest) -> None:
    """Subscribe subjects in one session, and stop them, and others, in a second session that has subscribed none.

    Updates come, and nothing is dropped that is subscribed.
    """
    names = ("one", "two")
    subjects = [node.set(name, BID=0) for name in names]
    for subject in subjects:
        node.main.subscribed(subject)
    since = node.broker.place
    for subject in (*subjects, node.subject("none")):
        for returned in (None, node.other.new_return()):
            node.other.stop(subject, return_=returned, ack=returned is not None)
    settle(node, node.other)
    for name, subject in zip(names, subjects, strict=True):
        assert change(node, name, BID=1), "no update comes after a stop of somebody who has not subscribed"
        assert not drops(node, subject, since), "a subject is dropped after a stop of somebody who has not subscribed"


@rule("RAI-029", roles=PUBLISHER, needs=("RAI-109", "RAI-009", "RAI-134", "RAI-137"))
def test_colons(node: NodeUnderTest) -> None:
    """Subscribe, change, show and stop subjects with colons.

    They are served as others are, each for itself.
    """
    for name in ("a:b", "a:c:d.e", "x.y:", "x.:z"):
        subject = node.set(name, BID=0)
        returned, since = node.main.new_return(), node.broker.place
        node.main.start(subject, return_=returned, ack=True, initial=True)
        ack = node.main.reply(returned, lambda body: body.state == "ack", since=since, thing="an ack")
        assert ack, f"a start of {subject} is not acked"
        image = node.main.reply(returned, lambda body: body.has_data, since=since, thing="an initial")
        assert image, f"no image of {subject} is shown"
        assert told(image).subject == subject, f"the image of {subject} names another"
        assert change(node, name, BID=1), f"no update of {subject} comes"
        shown = node.main.snapshot(subject)
        assert holds(shown, {"BID": 1}), f"no snapshot of {subject} is shown"
        since = node.broker.place
        node.main.stop(subject)
        settle(node)
        assert drops(node, subject, since), f"{subject} is not dropped when nobody is left"


@rule("RAI-222", roles=PUBLISHER, needs=("RAI-009",))
def test_strange_times_to_expire(node: NodeUnderTest) -> None:
    """Subscribe subjects in one session, and start them in another with an expires that is 0, negative or very large.

    Updates come to the first as ever, at once and after a while, and its subjects are not dropped.
    """
    names = ("shared", "beside")
    subjects = [node.set(name, BID=0) for name in names]
    for subject in subjects:
        node.main.subscribed(subject)
    since = node.broker.place
    for number, expires in enumerate((0, -1, -(1 << 40), 1 << 31, 1 << 63, 10**30), 1):
        node.other.start(subjects[0], return_=node.other.new_return(), ack=True, expires=expires)
        settle(node)
        node.broker.pause(1)
        for name, subject in zip(names, subjects, strict=True):
            assert change(node, name, BID=number), f"after a start with expires {expires} others get no updates"
            assert not drops(node, subject, since), f"after a start with expires {expires} a subject is dropped"
