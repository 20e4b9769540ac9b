"""Rai, "Feed Switch Notification", "Recap Publish": the source of the values has become another."""

from typing import Any

from conformance.cases import judging, rule
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import change, fields, published, settle, told
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest

RECAP = 10
"""Seconds of changes that may be told again (reading R38)."""


def _notices(node: NodeUnderTest, subject: str, since: int) -> list[Event]:
    return [each for each in published(node, subject, since) if told(each).state == "feed_switch"]


def _switch(node: NodeUnderTest, *subjects: str) -> dict[str, list[Event]]:
    """Have the source change, and return what is told of that on each subject."""
    since = node.broker.place
    node.command("switch")
    for subject in subjects:
        node.main.told(subject, lambda body: body.state == "feed_switch", since=since, thing="a feed switch")
    settle(node)
    return {subject: _notices(node, subject, since) for subject in subjects}


@rule("RAI-019", "RAI-140", roles=PUBLISHER)
def test_switches(node: NodeUnderTest) -> None:
    """Subscribe subjects, some in two sessions and one by a wildcard, and have their source change, twice.

    Each is told so by feed_switch, under its own name, as a recap or an initial; updates come as before.
    """
    names = ("one", "two.b.c", "w.three", "four")
    subjects = [node.set(name, BID=0) for name in names]
    for number, subject in enumerate(subjects):
        if number != 2:
            (node.main, node.other)[number % 2].subscribed(subject)
    node.main.subscribed(subjects[-1])
    node.main.start_wild("LAB.w.>")
    settle(node)
    is_followed = change(node, "w.three", BID=1)
    for number in range(2):
        for subject, notices in _switch(node, *subjects).items():
            if subject == subjects[2] and not is_followed:
                continue  # who does not serve wildcards is told so elsewhere
            with judging("RAI-019"):
                assert notices, "a subscriber is not told that the source of its subject has changed"
            with judging("RAI-140"):
                for each in notices:
                    kind = told(each).kind
                    assert kind in ("recap", "initial"), f"the notice of a switch has type {kind}"
                    node.shows("RAI-140", "R04", "A" if kind == "recap" else "B")
                    if kind == "initial":
                        assert told(each).has_data, "an initial with feed_switch has no data"
        with judging("RAI-019"):
            for name in ("one", "two.b.c"):
                assert change(node, name, BID=number + 2), "no update comes after the source has changed"


@rule("RAI-019", roles=PUBLISHER)
def test_switches_of_subjects_that_are_quiet(node: NodeUnderTest) -> None:
    """Subscribe a subject, have it be quiet for half a minute, and have the source change.

    It is told so by feed_switch.
    """
    subject = node.set("quiet", BID=0)
    node.main.subscribed(subject)
    node.broker.pause(30)
    node.main.surely(node.main.subscribe(subject), "ack")
    assert _switch(node, subject)[subject], "of a quiet subject it is not told that its source has changed"


@rule("RAI-022", roles=PUBLISHER)
def test_recaps(node: NodeUnderTest) -> None:
    """Have fields change long before the source does, shortly before, and both; then have the source change.

    What comes again has the values that the fields have now; a recap has what changed within the period, or nothing.
    """
    subject = node.set("recapped", OLD=1, BOTH=1, QUIET=1)
    node.main.subscribed(subject)
    node.broker.pause(2.5 * RECAP)
    began = node.trace.now()
    node.main.subscribed(subject)
    node.set("recapped", BOTH=2, NEW=2)
    node.set("recapped", BOTH=3, NEWER=3)
    now: dict[str, Any] = {"OLD": 1, "BOTH": 3, "QUIET": 1, "NEW": 2, "NEWER": 3}
    notices = _switch(node, subject)[subject]
    recapped: dict[str, Any] = {}
    for each in notices:
        for name, value in fields(each).items():
            assert now.get(name) == value, f"{name} comes again as {value!r}, and is {now.get(name)!r}"
        if told(each).kind == "recap":
            recapped |= fields(each)
        else:
            assert fields(each) == now, f"an initial with feed_switch has {fields(each)}"
    assert not recapped.keys() & {"OLD", "QUIET"}, "a recap has fields that did not change within its period"
    is_in_time = node.elapsed(began) < RECAP / 2
    if recapped and is_in_time:
        assert recapped.keys() == {"BOTH", "NEW", "NEWER"}, f"of what changed last a recap has {set(recapped)} alone"
