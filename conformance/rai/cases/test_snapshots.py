"""Rai, "Snapshot Request", "Not Found Notification": what is shown once, and why there may be nothing to show."""

from collections.abc import Iterator
from typing import Any

from conformance.cases import judging, rule
from conformance.rai.publishing import drops
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import IMAGES, change, fields, holds, published, settle, told
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest

NO_IMAGE = ("start", "initial", "snap")
"""Types of what answers a start and says that there is no image (reading R03)."""

WISHES: tuple[dict[str, Any], ...] = ({}, {"ack": True}, {"format": "json"})

UNAVAILABLE = {"temp_unavail": "A", "temp_unvail": "B"}
"""Both spellings of one status, by option of reading R01."""


def _answers(asking: TestSession, subject: str) -> Iterator[tuple[str, Event | None]]:
    """Ask for a snapshot, and for images with an ack and without; yield what answers each."""
    yield "snapshot", asking.snapshot(subject)
    yield "image", asking.image(subject)
    returned, since = asking.new_return(), asking.broker.place
    asking.start(subject, return_=returned, initial=True, ack=True)
    yield "image", asking.reply(returned, lambda body: body.state != "ack", since=since, thing="an initial")


@rule("RAI-134", roles=PUBLISHER)
def test_snapshots(node: NodeUnderTest) -> None:
    """Ask for snapshots of subjects, in two sessions, with several formats, while they are subscribed and not.

    Each is answered by a message of type snap with the subject, format json, and all fields.
    """
    values: dict[str, dict[str, Any]] = {
        "one": {"BID": 1},
        "two.deep.er": {"BID": 2, "ASK": "x"},
        "l" * 150: {"DEPTH": [1, {"a": None}]},
    }
    for name, value in values.items():
        node.set(name, **value)
    for is_subscribed in (False, True):
        for asking in (node.main, node.other):
            for name, value in values.items():
                subject = node.subject(name)
                if is_subscribed:
                    node.main.subscribed(subject)
                for wanted in (None, "json", "rvmsg"):
                    shown = asking.snapshot(subject, format=wanted)
                    assert shown, "a snapshot request is not answered"
                    assert told(shown).type == "snap", f"a snapshot has type {told(shown).type}"
                    assert told(shown).subject == subject, "a snapshot names another subject"
                    assert told(shown).format == "json", f"a snapshot in JSON has format {told(shown).format}"
                    assert told(shown).state == "ok", f"a snapshot has status {told(shown).state}"
                    assert fields(shown) == value, f"a snapshot has {fields(shown)}"


@rule("RAI-134", roles=PUBLISHER)
def test_snapshots_of_what_will_come(node: NodeUnderTest) -> None:
    """Warm a subject, with zeroed data and without, ask for a snapshot, and set the subject.

    The snapshot is answered by a message of type snap, whether at once or when there is a value.
    """
    asking = node.other
    for name, zeroed in {"soon": {"BID": 0}, "later": {}}.items():
        subject = node.tell("warm", name, zeroed)
        returned, since = asking.new_return(), asking.broker.place
        asking.snapshot_request(subject, returned)
        settle(node, asking)
        node.set(name, BID=3)
        shown = asking.reply(returned, since=since, thing="a snapshot")
        assert shown, "a snapshot request of what will come is not answered, not even when that has come"
        assert told(shown).type == "snap", f"a snapshot of what will come has type {told(shown).type}"
        assert told(shown).subject == subject, "a snapshot names another subject"


@rule("RAI-004", roles=PUBLISHER, needs=("RAI-134",))
def test_snapshots_are_answered_once(node: NodeUnderTest) -> None:
    """Ask for snapshots, have the values change, and ask again elsewhere.

    Each request has one answer, in the inbox of its session, and that is all.
    """
    subject = node.set("once", BID=0)
    wanted = []
    for number, asking in enumerate((node.main, node.other, node.main), 1):
        returned = asking.new_return()
        asking.snapshot_request(subject, returned)
        settle(node, asking)
        node.set("once", BID=number)
        wanted.append((asking, returned))
    settle(node)
    for asking, returned in wanted:
        count = len(asking.replies(returned))
        assert count == 1, f"a snapshot request has {count} answers"


@rule("RAI-004", roles=PUBLISHER)
def test_snapshots_are_no_subscriptions(node: NodeUnderTest) -> None:
    """Subscribe a subject, ask for snapshots of it in other sessions and in the same, before and after; then stop.

    It is dropped: nobody is left.
    """
    for name in ("before", "after"):
        subject = node.set(name, BID=0)
        asking = (node.other, node.main)
        if name == "before":
            shown = [each.snapshot(subject) for each in asking]
        node.main.subscribed(subject)
        if name == "after":
            shown = [each.snapshot(subject) for each in asking]
        assert all(shown), "a snapshot request is not answered"
        since = node.broker.place
        node.main.stop(subject)
        settle(node)
        assert drops(node, subject, since), "who has asked for a snapshot keeps a subject from being dropped"


@rule("RAI-138", roles=PUBLISHER)
def test_nothing_to_show(node: NodeUnderTest) -> None:
    """Ask for snapshots and images of subjects without a value, in two sessions, some beside those that have one.

    Each is answered by not_found with the subject, and no data.
    """
    node.set("there", BID=1)
    for asking in (node.main, node.other):
        for name in ("none", "there.below", "ther", "There", "none." + "x" * 200):
            subject = node.subject(name)
            for what, answer in _answers(asking, subject):
                assert answer, f"who asks for the {what} of a subject without a value gets no answer"
                body = told(answer)
                assert body.state == "not_found", f"the {what} of a subject without a value has status {body.state}"
                assert body.subject == subject, f"the {what} that is not found names another subject"
                assert not body.has_data, f"the {what} that is not found has data"
                if what == "snapshot":
                    assert body.kind == "snap", f"a snapshot that is not found has type {body.kind}"
                else:
                    assert body.kind in NO_IMAGE, f"an image that is not found has type {body.kind}"
                    node.shows("RAI-138", "R03", "ABC"[NO_IMAGE.index(body.kind)])


@rule("RAI-016", roles=PUBLISHER)
def test_not_found_is_subscribed(node: NodeUnderTest) -> None:
    """Start subjects without a value, with an image and without, with an ack and without; have values come and change.

    They are published, and with the last stop the subjects are dropped.
    """
    for number, wishes in enumerate(WISHES):
        name = f"later.{number}"
        subject = node.subject(name)
        answer = node.main.surely(node.main.image(subject, **wishes), "answer to a start")
        node.main.surely(answer if told(answer).state != "ack" else node.main.image(subject), "answer to a start")
        settle(node)
        assert change(node, name, BID=1), "the first value of a subject that was not found is not published"
        assert change(node, name, BID=2), "the second value of a subject that was not found is not published"


@rule("RAI-016", roles=PUBLISHER)
def test_not_found_for_two(node: NodeUnderTest) -> None:
    """Start a subject without a value in two sessions, stop it in the first, and have a value come.

    It is published.
    """
    subject = node.subject("later")
    for asking in (node.main, node.other):
        asking.surely(asking.image(subject), "answer to a start")
    node.main.stop(subject)
    settle(node)
    assert change(node, "later", BID=1), "the value of a subject that was not found comes to nobody"


@rule("RAI-145", roles=PUBLISHER, needs=("RAI-134",))
def test_empty_segments(node: NodeUnderTest) -> None:
    """Ask for snapshots and images of subjects with empty segments, beside some that have a value.

    They get bad_name, another status without data, or nothing; what is asked next is answered.
    """
    valued, beside = node.set("a.b", BID=1), node.other
    for name in ("a..b", "a.", ".a", "a...b", ".", "a.b."):
        asking, subject, since = node.main, node.subject(name), node.broker.place
        image, shown = asking.new_return(), asking.new_return()
        asking.start(subject, return_=image, initial=True)
        asking.snapshot_request(subject, shown)
        settle(node, beside)
        answers = [each for returned in (image, shown) for each in asking.replies(returned, since=since)]
        for each in answers:
            state = told(each).state
            assert not told(each).has_data, f"{subject} has data"
            assert state != "ok", f"{subject} has status ok"
            node.shows("RAI-145", "R63", "A" if state == "bad_name" else "B")
        if not answers:
            node.shows("RAI-145", "R63", "C")
        assert asking.snapshot(valued), "after a request with empty segments a snapshot is not shown"


@rule("RAI-147", roles=PUBLISHER, needs=("RAI-134",))
def test_no_answer_of_the_source(node: NodeUnderTest) -> None:
    """Block the source of a subject that has a value and of one that has none, and ask for images; unblock it again.

    They get temp_unavail and no data while it is blocked, and the value afterwards; other subjects are shown.
    """
    subject, free = node.set("valued", BID=1), node.set("free", BID=2)
    for asking in (node.main, node.other):
        node.command("block", subject)
        for what, answer in _answers(asking, subject):
            assert answer, f"who asks for the {what} of a subject that is blocked gets no answer"
            body = told(answer)
            assert body.state in UNAVAILABLE, f"the {what} of a subject that is blocked has status {body.state}"
            node.shows("RAI-147", "R01", UNAVAILABLE[body.state])
            assert not body.has_data, f"the {what} of a subject that is blocked has data"
            assert body.subject == subject, f"the {what} of a subject that is blocked names another"
        image = asking.image(free)
        assert holds(image, {"BID": 2}), "a subject is not shown while another is blocked"
        node.command("unblock", subject)
        for what, answer in _answers(asking, subject):
            assert holds(answer, {"BID": 1}), f"the {what} of a subject does not come after it was blocked"
            assert answer is None or told(answer).state == "ok", f"the {what} is not ok after it was blocked"


@rule("RAI-148", roles=PUBLISHER, needs=("RAI-134",))
def test_denied_users(node: NodeUnderTest) -> None:
    """Deny one user everything, and ask for snapshots and images in two sessions of that user, and of another.

    The user gets perm_denied and no data, for subjects with a value and without; the other gets the value.
    """
    subject, none = node.set("valued", BID=1), node.subject("none")
    allowed, asking = node.main, node.other
    node.command("deny", asking.user)
    for denied in (asking, node.subscriber(asking.user)):
        for name in (subject, none):
            for what, answer in _answers(denied, name):
                assert answer, f"who may not see the {what} gets no answer"
                state = told(answer).state
                is_hidden = name == none and state == "not_found"
                assert state == "perm_denied" or is_hidden, f"who may not see the {what} gets status {state}"
                assert not told(answer).has_data, f"who may not see the {what} gets data"
                assert told(answer).subject == name, "a denial names another subject"
    for what, answer in _answers(allowed, subject):
        assert holds(answer, {"BID": 1}), f"who may see the {what} does not, while another may not"


@rule("RAI-017", roles=PUBLISHER)
def test_subjects_that_will_come(node: NodeUnderTest) -> None:
    """Warm two subjects, start them with an image, and set the first.

    The starts are answered by a verify (a type, or a status of an image), and what is set is published.
    """
    options = {"verify": "A", "initial": "B", "start": "C"}
    for name in ("soon", "later"):
        subject = node.tell("warm", name, {"BID": 0, "SIDE": ""})
        image = node.main.image(subject)
        assert image, "a start for a subject whose data will come gets no answer"
        body = told(image)
        found = f"a start for a subject whose data will come gets type {body.kind} and status {body.state}"
        assert "verify" in (body.kind, body.state), found
        assert body.kind in IMAGES, found
        node.shows("RAI-017", "R34", options[body.kind])
        assert body.subject == subject, "a verify names another subject"
        assert fields(image) in ({}, {"BID": 0, "SIDE": ""}), f"a verify has {fields(image)}"
    with judging("RAI-017"):
        assert change(node, "soon", BID=3), "the value of a subject that was warm is not published"
        image = node.main.surely(node.main.image(node.subject("soon")), "image")
        assert "verify" not in (told(image).kind, told(image).state), "a value that has come is still a verify"
    assert not [each for each in published(node, node.subject("later")) if told(each).has_data], (
        "zeroed data are published as values"
    )
