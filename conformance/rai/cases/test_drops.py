"""Rai, "Drop Notification": when a publisher drops a subject, why, and what comes after."""

from conformance.cases import rule
from conformance.rai.publishing import drops
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import change, dropped, holds, settle, told
from harness.rai.tester.node_under_test import NodeUnderTest

NAMES = ("one", "a.b.c", "long." + "x" * 200)


@rule("RAI-137", roles=PUBLISHER)
def test_last_stops(node: NodeUnderTest) -> None:
    """Subscribe subjects with a value and without, in one session or two, and stop them all, with an ack or without.

    Each is dropped once under its own name, with type drop and status nosubscribers, when the last has stopped.
    """
    for count in (1, 2):
        for name in (*NAMES, f"none.{count}"):
            subject = node.subject(name) if name.startswith("none") else node.set(name, BID=1)
            sessions = (node.main, node.other)[:count]
            for asking in sessions:
                asking.subscribed(subject)
            since = node.broker.place
            for asking in sessions:
                is_acked = asking is node.other
                asking.stop(subject, return_=asking.new_return() if is_acked else None, ack=is_acked)
            settle(node)
            settle(node, sessions[-1])
            found = drops(node, subject, since)
            assert found, "a subject is not dropped when its last subscriber has stopped"
            assert len(found) == 1, f"a subject is dropped {len(found)} times when its last subscriber has stopped"
            status = told(found[0]).state
            assert status == "nosubscribers", f"a subject without subscribers is dropped with status {status}"
            assert not told(found[0]).has_data, "a drop has data"


@rule("RAI-191", roles=PUBLISHER, needs=("RAI-009", "RAI-109"))
def test_starts_after_drops(node: NodeUnderTest) -> None:
    """Subscribe a subject and stop it until it is dropped, four times, by the same session and another in turn.

    Each time the start is acked, updates come, and it is dropped again.
    """
    name, subject = "again", node.set("again", BID=0)
    for number, asking in enumerate((node.main, node.main, node.other, node.main), 1):
        assert asking.subscribe(subject), f"start {number} of a subject that was dropped is not acked"
        assert change(node, name, BID=number), f"no update comes after start {number} of a subject that was dropped"
        since = node.broker.place
        asking.stop(subject)
        assert dropped(node, subject, "nosubscribers", since), f"the subject is not dropped after stop {number}"


@rule("RAI-020", roles=PUBLISHER)
def test_expired_subjects(node: NodeUnderTest) -> None:
    """Subscribe subjects in one session and in two, by images and by acks, and have them end for good.

    Each is dropped with status expired under its own name, and once; others stand.
    """
    for count, name in enumerate(NAMES, 1):
        subject, beside = node.set(name, BID=1), node.set("beside", BID=1)
        for asking in (node.main, node.other)[:count]:
            asking.subscribed(subject)
            asking.subscribed(beside)
        since = node.broker.place
        node.command("expire", subject)
        assert dropped(node, subject, "expired", since), "a subject that has ended is not dropped with status expired"
        settle(node)
        assert len(drops(node, subject, since)) == 1, "a subject that has ended is dropped more than once"
        assert not drops(node, beside, since), "a subject is dropped that has not ended"
        assert change(node, "beside", BID=1 + count), "no update comes of a subject that has not ended"


@rule("RAI-194", roles=PUBLISHER)
def test_evicted_subjects(node: NodeUnderTest) -> None:
    """Subscribe subjects in one session and in two, and have the cache lose them.

    Each is dropped with status preempted under its own name, and once; others stand.
    """
    for count, name in enumerate(NAMES, 1):
        subject, beside = node.set(name, BID=1), node.set("beside", BID=1)
        for asking in (node.main, node.other)[:count]:
            asking.subscribed(subject)
            asking.subscribed(beside)
        since = node.broker.place
        node.command("evict", subject)
        assert dropped(node, subject, "preempted", since), (
            "a subject that the cache has lost is not dropped with status preempted"
        )
        settle(node)
        assert len(drops(node, subject, since)) == 1, "a subject that the cache has lost is dropped more than once"
        assert not drops(node, beside, since), "a subject is dropped that the cache has not lost"
        assert change(node, "beside", BID=1 + count), "no update comes of a subject that the cache has not lost"


@rule("RAI-021", roles=PUBLISHER)
def test_renamed_subjects(node: NodeUnderTest) -> None:
    """Subscribe subjects in one session and in two, and have them renamed.

    Each is dropped with status relocate under its old name, and the drop names the new one, where the value is now.
    """
    for count, (old, new) in enumerate((("old", "new"), ("a.old", "a.b.new"), ("old.x", "x" * 200)), 1):
        subject, renamed = node.set(old, BID=count), node.subject(new)
        for asking in (node.main, node.other)[:count]:
            asking.subscribed(subject)
        since = node.broker.place
        node.command("rename", subject, renamed)
        drop = dropped(node, subject, "relocate", since)
        assert drop, "a subject that was renamed is not dropped with status relocate"
        body = told(drop)
        named = {"A": body.text, "B": body.subject}
        shown = [option for option, each in named.items() if each == renamed]
        assert shown, f"the drop of a subject that was renamed names {body.text or body.subject or 'no other'}"
        node.shows("RAI-021", "R31", shown[0])
        settle(node)
        assert not drops(node, renamed, since), "the new subject is dropped as well"
        image = node.main.image(renamed)
        assert holds(image, {"BID": count}), "the value is not there under its new subject"
