"""Rai, "Stale Notification", "Feed Down", "Refresh Initial": values that cannot be relied on, until they can again."""

from conformance.cases import judging, rule
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import change, fields, published, refreshed, settle, told
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest

DISTURBED = ("stale", "feed_down")


def _disturbance(node: NodeUnderTest, subject: str, since: int) -> Event | None:
    """Read until it is told on a subject that its value cannot be relied on, and return that."""
    return node.main.told(subject, lambda body: body.state in DISTURBED, since=since, thing="a status stale")


def _shown(asking: TestSession, subject: str) -> dict[str, Event]:
    """Ask for a value in both ways; raises ``NotAnswered``."""
    return {
        "a snapshot": asking.surely(asking.snapshot(subject), "snapshot"),
        "an image": asking.surely(asking.image(subject), "image"),
    }


@rule("RAI-014", "RAI-139", roles=PUBLISHER)
def test_disturbed_subjects(node: NodeUnderTest) -> None:
    """Subscribe subjects, one in two sessions, and have the sources of some be disturbed, one after the other.

    Each time it is told under that subject by status stale, without a type or with type update; of others it is not.
    """
    names = ("one", "two.b.c", "long." + "z" * 150)
    subjects = [node.set(name, BID=1) for name in (*names, "sound")]
    for asking in (node.main, node.other):
        for subject in subjects[1:] if asking is node.other else subjects:
            asking.subscribed(subject)
    for subject in subjects[:-1]:
        since = node.broker.place
        node.command("stale", subject)
        notice = _disturbance(node, subject, since)
        with judging("RAI-014"):
            assert notice, "no status says that a subject is disturbed"
        with judging("RAI-139"):
            assert told(notice).kind == "update", f"the notice that a subject is stale has type {told(notice).kind}"
        settle(node)
        with judging("RAI-014"):
            for other in subjects:
                states = {told(each).state for each in published(node, other, since)}
                assert other == subject or not states & {*DISTURBED}, "a subject is called stale that is not"


@rule("RAI-066", roles=PUBLISHER)
def test_stale_values(node: NodeUnderTest) -> None:
    """Have subjects be disturbed, subscribed or not, and then change three times, in old fields and in new ones.

    The updates are published; images and snapshots have them, and still say stale, to every session; those of other
    subjects do not.
    """
    sound = node.set("sound", BID=1)
    for is_subscribed in (True, False):
        name = f"disturbed.{is_subscribed}"
        subject = node.set(name, BID=0, OLD=1)
        if is_subscribed:
            node.main.subscribed(subject)
        node.command("stale", subject)
        now = {"BID": 0, "OLD": 1}
        for step in ({}, {"BID": 2}, {"ASK": 3}, {"BID": 4, "OLD": 5}):
            if step and is_subscribed:
                assert change(node, name, **step), "an update of a stale value is not published"
            elif step:
                node.set(name, **step)
            now |= step
            for asking in (node.other, node.main):
                for what, shown in _shown(asking, subject).items():
                    if not is_subscribed and what == "an image":
                        asking.stop(subject)
                    assert fields(shown) == now, f"{what} of a stale value has {fields(shown)}, and not its updates"
                    state = told(shown).state
                    assert state in DISTURBED, f"{what} of a stale value has status {state} after updates"
        for what, shown in _shown(node.other, sound).items():
            assert told(shown).state == "ok", f"{what} has status {told(shown).state} while another value is stale"


@rule("RAI-066", roles=PUBLISHER)
def test_stale_for_long(node: NodeUnderTest) -> None:
    """Have a subject be disturbed, have it change, and wait half a minute; have all subscribers stop, and ask again.

    It is still stale.
    """
    subject = node.set("disturbed", BID=0)
    node.main.subscribed(subject)
    node.command("stale", subject)
    node.set("disturbed", BID=1)
    node.broker.pause(30)
    node.set("disturbed", BID=2)
    for what, shown in _shown(node.main, subject).items():
        assert told(shown).state in DISTURBED, f"after a while {what} of a stale value is {told(shown).state}"


@rule("RAI-011", roles=PUBLISHER)
def test_restored_subjects(node: NodeUnderTest) -> None:
    """Have two subjects be disturbed and changed, restore one, with fewer fields and with more, twice over.

    Its subscribers get all fields as an image or a verify that is not stale, and so says who asks; the other is stale.
    """
    subject, other = node.set("restored", BID=0, OLD=1), node.set("stale", BID=0)
    for asking in (node.main, node.other):
        asking.subscribed(subject)
    node.main.subscribed(other)
    node.command("stale", other)
    for value in ({"BID": 2, "NEW": 3}, {"BID": 4}, {"BID": 4, "OLD": 0, "SIDE": ""}):
        node.command("stale", subject)
        assert change(node, "restored", BID=1), "an update of a stale value is not published"
        since = node.broker.place
        node.tell("restore", "restored", value)
        image = refreshed(node, subject, since)
        assert image, "no image comes when the source of a subject is whole again"
        state = told(image).state
        assert state in ("ok", "verify"), f"the image of a source that is whole again has status {state}"
        assert fields(image) == value, f"the image of a source that is whole again has {fields(image)}"
        if image.subject == subject:
            node.shows("RAI-011", "R60", "B" if told(image).kind == "verify" else "A")
        else:
            node.shows("RAI-011", "R60", "C")
            assert refreshed(node, subject, since, node.other), "only one subscriber gets an image"
        for what, shown in _shown(node.other, subject).items():
            assert told(shown).state == "ok", f"after its source is whole again {what} has status {told(shown).state}"
            assert fields(shown) == value, f"after its source is whole again {what} has {fields(shown)}"
        assert change(node, "restored", BID=9), "no update comes after an image"
    settle(node)
    for what, shown in _shown(node.other, other).items():
        assert told(shown).state in DISTURBED, f"{what} of a stale value is ok after another was restored"


@rule("RAI-018", roles=PUBLISHER)
def test_feed_down(node: NodeUnderTest) -> None:
    """Subscribe some subjects, take the feed down, and ask for images and snapshots, also of others; take it up again.

    Each subject that is subscribed is told by status feed_down or stale, and so are those who ask; up again, nobody is.
    """
    names = ("one", "two.b.c", "three")
    subjects = [node.set(name, BID=number) for number, name in enumerate(names)]
    free = node.set("free", BID=9)
    for number, subject in enumerate(subjects):
        (node.main, node.other)[number % 2].subscribed(subject)
    for _ in range(2):
        since = node.broker.place
        node.command("down")
        for subject in subjects:
            assert _disturbance(node, subject, since), "a subscriber is not told that the feed is down"
        for asking in (node.main, node.other):
            for subject in (*subjects, free):
                for what, shown in _shown(asking, subject).items():
                    state = told(shown).state
                    assert state in DISTURBED, f"while the feed is down {what} has status {state}"
        node.command("up")
        for subject in (*subjects, free):
            for what, shown in _shown(node.main, subject).items():
                state = told(shown).state
                assert state != "feed_down", f"when the feed is up again {what} still says feed_down"


@rule("RAI-018", roles=PUBLISHER)
def test_values_while_the_feed_is_down(node: NodeUnderTest) -> None:
    """Take the feed down, and subscribe for the first time, with an image and with an ack.

    The image has its fields, and says feed_down or stale.
    """
    subject = node.set("late", BID=1, SIDE="buy")
    node.main.snapshot(subject)
    node.command("down")
    for asking in (node.main, node.other):
        for what, shown in _shown(asking, subject).items():
            assert told(shown).state in DISTURBED, f"while the feed is down {what} has status {told(shown).state}"
            if told(shown).has_data:
                assert fields(shown) == {"BID": 1, "SIDE": "buy"}, f"while the feed is down {what} has {fields(shown)}"
