"""Rai, "About": a router-cache between several who subscribe: what one ends the others still get."""

from conformance.cases import rule
from conformance.rai.roles import ROUTER_CACHE
from conformance.rai.telling import fields, holds
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Bye

TRIES = 2
"""Updates that are published where the first may come before its subscription."""


def _check_passed(node: NodeUnderTest, *names: str) -> None:
    """Make sure that updates of subjects that somebody has subscribed come out."""
    # The router-cache has heard of all that was subscribed and ended, and its source of what it makes of that.
    node.main.surely(node.main.snapshot(node.subject("settled")), "snapshot")
    for name in names:
        assert any(_passes(node, node.subject(name)) for _ in range(TRIES)), (
            f"an update of {name} does not come out, which somebody has subscribed"
        )


def _passes(node: NodeUnderTest, subject: str) -> bool:
    since, mark = node.broker.place, node.source.place
    node.publisher.update(subject, MARK=mark)
    return (
        node.main.told(
            subject, lambda body: b"MARK" in bytes(body.data) and str(mark).encode() in bytes(body.data), since=since
        )
        is not None
    )


@rule("RAI-205", roles=ROUTER_CACHE)
def test_wildcards_of_several(node: NodeUnderTest) -> None:
    """Subscribe wildcards in two sessions, of which some overlap, and subjects below them by name; end one by one.

    Updates of all that somebody has subscribed still come out.
    """
    main, other = node.main, node.other
    wide, narrow, beside, across = (node.subject(each) for each in ("w.>", "w.x.>", "v.>", "*.z"))
    other.subscribed(node.subject("w.named"))
    main.subscribed(node.subject("v.named"))
    for session, wildcard in ((main, wide), (other, wide), (main, narrow), (other, beside), (main, across)):
        session.start_wild(wildcard)
    _check_passed(node, "w.a", "w.x.a", "v.a", "u.z", "w.named", "v.named")
    main.stop_wild(wide)
    _check_passed(node, "w.a", "w.b", "w.x.a", "w.named", "v.a")
    other.stop_wild(wide)
    _check_passed(node, "w.x.a", "w.x.b", "w.named", "w.z", "v.a")
    main.stop_wild(across)
    _check_passed(node, "w.x.a", "w.named", "v.a", "v.z")
    other.stop_wild(beside)
    _check_passed(node, "v.named", "w.named", "w.x.b")
    main.stop_wild(narrow)
    _check_passed(node, "w.named", "v.named")


@rule("RAI-205", roles=ROUTER_CACHE)
def test_names_below_wildcards(node: NodeUnderTest) -> None:
    """Subscribe a wildcard, and in another session subjects that it matches; end these, and begin them again.

    Updates come out all the time; also when the session ends that has the wildcard, to who has a name.
    """
    main, other = node.main, node.other
    main.start_wild(node.subject("w.>"))
    for name in ("w.a", "w.b.c"):
        node.given(name, BID=1)
        other.subscribed(node.subject(name))
    for _ in range(2):
        _check_passed(node, "w.a", "w.b.c", "w.d")
        other.stop(node.subject("w.a"))
        _check_passed(node, "w.a", "w.b.c")
        other.subscribed(node.subject("w.a"))
    third = node.subscriber()
    third.start_wild(node.subject("w.>"))
    third.bye()
    _check_passed(node, "w.a", "w.b.c", "w.d")


@rule("RAI-206", roles=ROUTER_CACHE)
def test_images_behind_starts_without(node: NodeUnderTest) -> None:
    """Subscribe subjects without an image, one of them by a wildcard, and then ask for images and snapshots of them.

    They are shown, with all fields.
    """
    main, other = node.main, node.other
    other.start_wild(node.subject("w.>"))
    for name in ("a", "b.c", "w.a"):
        subject = node.given(name, BID=1, ASK=2)
        other.subscribed(subject)
        # Once without what the subscription has brought by itself, once behind an update.
        shown = main.image(subject)
        assert shown, f"the image of {name}, which somebody has subscribed without one, is not shown"
        assert holds(shown, {"BID": 1, "ASK": 2}), f"the image of {name} has {fields(shown)}"
        assert any(_passes(node, subject) for _ in range(TRIES)), f"an update of {name} does not come out"
        snapshot = other.snapshot(subject)
        assert holds(snapshot, node.publisher.values[subject]), f"the snapshot of {name} lacks something"


@rule("RAI-118", roles=ROUTER_CACHE)
def test_subjects_of_others_at_a_router_cache(node: NodeUnderTest) -> None:
    """Start subjects that a router-cache does not serve, of which its source has values, and ask for snapshots.

    Nothing is answered, while a subject that it serves is.
    """
    main = node.main
    returns = []
    for subject in ("ELSE.a", "LABEL.a", "lab.a", "ELSE.LAB.a"):
        node.publisher.values[subject] = {"BID": 1}
        returns.append(main.new_return())
        main.start(subject, return_=returns[-1], ack=True, initial=True)
    main.surely(main.image(node.given("a", BID=1)), "image")
    assert not [each for each in returns if main.replies(each)], "what is not served is answered"


@rule("RAI-103", roles=ROUTER_CACHE)
def test_end_of_a_router_cache(node: NodeUnderTest) -> None:
    """Have a router-cache end.

    It says BYE at both brokers.
    """
    for broker in node.brokers:
        node.greeted(broker)
    node.command("end")
    for broker, where in zip(node.brokers, ("where it subscribes", "where it publishes"), strict=True):
        assert broker.wait_for(lambda event: event.form is Bye, thing="BYE"), f"no BYE {where}"
