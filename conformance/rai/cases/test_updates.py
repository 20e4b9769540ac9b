"""Rai, "Update Publish", "Conflated, Stale Publish": what is published when values change, and kept."""

from typing import Any

from conformance.cases import judging, rule
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import change, fields, holds, published, settle, told, updated, updates
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Told

VALUES: tuple[Any, ...] = (
    0,
    False,
    None,
    "",
    1,
    "text",
    "ünïcode ☃",
    [],
    {},
    [1, [2]],
    {"a": {"b": 1}},
    "x" * 3000,
    -1,
)


@rule("RAI-009", roles=PUBLISHER)
def test_changes_of_all_kinds(node: NodeUnderTest) -> None:
    """Subscribe subjects by starts that ask for nothing, an ack, an image; have fields change, come, and change back.

    Each change is published.
    """
    wishes: tuple[dict[str, Any], ...] = ({}, {"ack": True}, {"initial": True}, {"expires": 1000}, {"format": "rwf"})
    for number, wish in enumerate(wishes):
        name = f"kind.{number}"
        subject = node.set(name, BID=0)
        node.main.start(subject, **({"return_": node.main.new_return()} if number % 2 else {}), **wish)
        settle(node)
        for value in (*VALUES, *VALUES[:2]):
            assert change(node, name, ASK=value), f"no update says that a field has become {str(value)[:40]!r}"
        assert change(node, name, BID=1, ASK=2, LAST=3), "no update says that several fields have changed"


@rule("RAI-009", roles=PUBLISHER)
def test_changes_of_many_subjects(node: NodeUnderTest) -> None:
    """Subscribe forty subjects in two sessions, half of them before they have a value, and have all change twice.

    Each change is published.
    """
    names = [f"many.{number}" for number in range(40)]
    for number, name in enumerate(names):
        if number % 2:
            node.set(name, BID=0)
        (node.main, node.other)[number // 2 % 2].start(node.subject(name))
    for asking in (node.main, node.other):
        settle(node, asking)
    for bid in (1, 2):
        since = node.broker.place
        subjects = [node.set(name, BID=bid) for name in names]
        for subject in subjects:
            assert updated(node, subject, {"BID": bid}, since), f"of {len(names)} subjects that change one is left out"


@rule("RAI-009", roles=PUBLISHER)
def test_changes_in_a_row(node: NodeUnderTest) -> None:
    """Subscribe a subject in three sessions, and have it change thirty times at once.

    The updates come in that order, and the last one has the last value; all do, but where some were merged.
    """
    subject = node.set("row", BID=0)
    for asking in (node.main, node.other, node.subscriber()):
        asking.subscribed(subject)
    since = node.broker.place
    wanted = list(range(1, 31))
    for bid in wanted:
        node.set("row", BID=bid)
    assert updated(node, subject, {"BID": wanted[-1]}, since), "of many changes in a row the last is not published"
    settle(node)
    found = updates(node, subject, since)
    seen = [fields(each).get("BID") for each in found]
    assert seen == sorted(seen, key=lambda bid: wanted.index(bid) if bid in wanted else -1), (
        "updates come in another order than the changes"
    )
    is_merged = any(told(each).state == "conflated" for each in found)
    assert is_merged or seen == wanted, f"of {len(wanted)} changes in a row {len(set(seen))} are published"


@rule("RAI-010", roles=PUBLISHER)
def test_nobody_has_subscribed(node: NodeUnderTest) -> None:
    """Have subjects change that nobody has ever subscribed, that were stopped, or of which a snapshot was shown.

    Nothing is published, or all of it is, as by feeds that ask nobody.
    """
    names = ("never", "stopped", "shown")
    subjects = {name: node.set(name, BID=0) for name in names}
    node.main.subscribed(subjects["stopped"])
    node.main.subscribed(node.set("neighbour", BID=0))
    node.main.stop(subjects["stopped"])
    node.main.snapshot(subjects["shown"])
    settle(node)
    since = node.broker.place
    for name in names:
        node.set(name, BID=1)
    settle(node)
    seen = [name for name in names if updates(node, subjects[name], since)]
    node.shows("RAI-010", "R58", "B" if seen else "A")
    assert len(seen) in (0, len(names)), f"of subjects that nobody has subscribed some are published: {', '.join(seen)}"


@rule("RAI-202", "RAI-136", roles=PUBLISHER)
def test_one_update_for_all(node: NodeUnderTest) -> None:
    """Subscribe a subject in four sessions, two of them of one user, and in one by a wildcard as well; have it change.

    There is one update, under the subject itself, and none in any inbox.
    """
    for name in ("shared", "long." + "y" * 150):
        subject = node.set(name, BID=0)
        for asking in (node.main, node.other, node.subscriber(), node.subscriber(node.main.user)):
            asking.subscribed(subject)
        node.main.start_wild("LAB.>")
        settle(node)
        since = node.broker.place
        node.set(name, BID=77)
        settle(node)
        with judging("RAI-136"):
            assert updates(node, subject, since), "no update is published under the subject itself"
            elsewhere = [
                event.subject
                for event in node.broker.received(since=since)
                if event.subject != subject and _is_update(event, {"BID": 77})
            ]
            assert not elsewhere, f"an update is published under {elsewhere}"
        with judging("RAI-202"):
            count = len(updates(node, subject, since))
            assert count == 1, f"an update is published {count} times"


def _is_update(event: Event, values: dict[str, Any]) -> bool:
    return isinstance(event.body, Told) and event.body.kind == "update" and fields(event) == values


@rule("RAI-136", roles=PUBLISHER)
def test_updates_have_no_other_type(node: NodeUnderTest) -> None:
    """Subscribe two subjects, and have fields of both change.

    What is published has data, no type or type update, no other subject, and status ok or none.
    """
    for name in ("one", "two.b"):
        subject = node.set(name, BID=0, ASK=0)
        node.main.subscribed(subject)
        for bid in (1, 2):
            since = node.broker.place
            assert change(node, name, BID=bid), "a change is not published as an update"
            for event in published(node, subject, since):
                body = told(event)
                assert body.kind == "update", f"an update has type {body.kind}"
                assert body.state == "ok", f"an update has status {body.state}"
                assert body.has_data, "an update has no data"
                assert body.subject in (None, subject), "an update names another subject"


@rule("RAI-190", roles=PUBLISHER, needs=("RAI-108", "RAI-009"))
def test_all_fields_of_a_value(node: NodeUnderTest) -> None:
    """Have fields come and change in several updates, before a subject is subscribed, while it is, and by two sessions.

    Each time images and snapshots have the last value of every field.
    """
    steps: tuple[dict[str, Any], ...] = (
        {"BID": 1},
        {"ASK": 2, "SIDE": "buy"},
        {"BID": 3},
        {"DEPTH": {"a": 1, "b": 2}},
        {"DEPTH": {"c": 3}, "SIDE": ""},
        {"BID": 0, "ASK": None, "LAST": False},
        {"bid": 4},
    )
    for name, subscribed in (("never", ()), ("once", (2,)), ("twice", (0, 3))):
        now: dict[str, Any] = {}
        subject = node.subject(name)
        for number, step in enumerate(steps):
            node.set(name, **step)
            now |= step
            shown = node.other.snapshot(subject)
            assert holds(shown, now), f"after {number + 1} updates a snapshot is not what they come to"
            if number in subscribed:
                node.main.subscribed(subject)
        for asking in (node.main, node.other):
            image = asking.image(subject)
            assert holds(image, now), f"after {len(steps)} updates an image is not what they come to"


@rule("RAI-190", roles=PUBLISHER, needs=("RAI-108",))
def test_values_of_many_subjects(node: NodeUnderTest) -> None:
    """Give a hundred subjects values, of which some begin alike, and ask for all of them.

    Each has its own.
    """
    names = [f"s.{number}" for number in range(100)] + ["s", "s.1.x", "S.1"]
    for number, name in enumerate(names):
        node.set(name, BID=number, **{f"F{number}": 1})
    for number, name in enumerate(names):
        shown = node.main.snapshot(node.subject(name))
        assert holds(shown, {"BID": number, f"F{number}": 1}), "of many subjects one has not its own value"


@rule("RAI-023", "RAI-139", roles=PUBLISHER)
def test_merged_updates(node: NodeUnderTest) -> None:
    """Subscribe subjects, hold updates, have several come, of the same fields and of others, and release them; twice.

    They are one update under the subject, which says conflated, with the newest value of each field that they had.
    """
    for count, asking in enumerate((node.main, node.other), 1):
        names = ("one", "two", "three")
        for name in names:
            asking.subscribed(node.set(name, BID=0, OLD=1))
        since = node.broker.place
        node.command("hold")
        for step in ({"BID": 1}, {"ASK": 2}, {"BID": 3, "SIDE": ""}, {"LAST": count}):
            for name in names[:2]:
                node.set(name, **step)
        node.set("two", LAST=0)
        node.command("release")
        settle(node, asking)
        for name, last in (("one", count), ("two", 0)):
            found = [each for each in published(node, node.subject(name), since) if told(each).has_data]
            merged: dict[str, Any] = {}
            for each in found:
                merged |= fields(each)
            with judging("RAI-023"):
                assert found, "updates that were held back never come"
                wanted = {"BID": 3, "ASK": 2, "SIDE": "", "LAST": last}
                missing = {name: merged.get(name) for name, value in wanted.items() if merged.get(name) != value}
                assert not missing, f"an update into which several were merged has {missing}, which is not the newest"
                if len(found) < 4:
                    states = [told(each).state for each in found]
                    assert "conflated" in states, f"an update into which several were merged has status {states}"
            with judging("RAI-139"):
                kinds = {told(each).kind for each in published(node, node.subject(name), since)}
                assert kinds == {"update"}, f"a conflated update has type {kinds}"
        with judging("RAI-023"):
            assert not updates(node, node.subject("three"), since), "an update comes of a subject that did not change"
            assert change(node, "one", BID=5), "after updates were released no more come"


@rule("RAI-023", roles=PUBLISHER, needs=("RAI-134",))
def test_values_while_updates_are_held(node: NodeUnderTest) -> None:
    """Hold updates while a subject that is subscribed changes, and release them.

    The snapshot that is shown then has the newest values.
    """
    subject = node.set("held", BID=0, OLD=1)
    node.main.subscribed(subject)
    node.command("hold")
    node.set("held", BID=1)
    node.set("held", BID=2, ASK=3)
    node.command("release")
    shown = node.main.surely(node.main.snapshot(subject), "snapshot")
    assert fields(shown) == {"BID": 2, "ASK": 3, "OLD": 1}, f"after updates were merged a snapshot has {fields(shown)}"
