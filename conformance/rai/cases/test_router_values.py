"""Rai, "About": what a router-cache passes on, what it keeps, and who says it."""

from typing import Any

from conformance.cases import rule
from conformance.rai.roles import BROKERS, ROUTER_CACHE
from conformance.rai.routing import Route
from conformance.rai.telling import fields
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.trace import Direction
from wire.rai.values import Published

TRIES = 3
"""Times that a value is looked at which may change a moment later."""


@rule("RAI-205", roles=ROUTER_CACHE, transports=BROKERS)
def test_passed_on(node: NodeUnderTest) -> None:
    """Subscribe subjects, one in two sessions, and have their source publish several updates of each.

    All come out: of old fields and of new ones, to the last.
    """
    names = ("one", "two.b.c", "long." + "z" * 150, "four")
    routes = [Route(node, name, BID=0, ASK=0) for name in names]
    node.other.subscribed(routes[0].subject)
    for step in range(1, 6):
        for route in routes:
            assert route.passes(BID=step), f"update {step} of {route.subject} does not come out"
            assert route.passes(**{f"NEW{step}": [step, {"DEEP": "text"}]}), "a field that is new does not come out"


@rule("RAI-205", roles=ROUTER_CACHE)
def test_passed_on_without_an_image(node: NodeUnderTest) -> None:
    """Subscribe a subject without an image, one of which the source has no value yet, and a wildcard; update them.

    The updates come out.
    """
    publisher = node.publisher
    node.given("quiet", BID=1)
    for name in ("quiet", "later"):
        node.main.subscribed(node.subject(name))
        # It may have subscribed to more than this subject.
        publisher.started(node.subject(name), seconds=node.timing.window)
    node.main.start_wild(node.subject("wild.>"))
    publisher.started_wild(node.subject("wild.>"), seconds=node.timing.window)
    for name in ("quiet", "later", "wild.a", "wild.b.c"):
        for bid in (2, 3):
            since = node.broker.place
            publisher.update(node.subject(name), BID=bid)
            heard = node.main.told(node.subject(name), lambda body: bool(body.fields), since=since)
            assert heard, f"update {bid} of {name} does not come out"
            assert fields(heard)["BID"] == bid, f"update {bid} of {name} comes out as {fields(heard)}"


@rule("RAI-205", roles=ROUTER_CACHE)
def test_passed_on_to_who_remains(node: NodeUnderTest) -> None:
    """Subscribe a subject in two sessions, end one subscription, start it again, and end the session.

    Updates come out all the time.
    """
    route = Route(node)
    node.other.subscribed(route.subject)
    assert route.passes(BID=2), "an update does not come out"
    node.other.stop(route.subject)
    assert route.passes(BID=3), "an update does not come out when one of two subscriptions has ended"
    node.other.subscribed(route.subject)
    node.other.bye()
    assert route.passes(BID=4), "an update does not come out when one of two sessions has ended"


@rule("RAI-205", roles=ROUTER_CACHE)
def test_passed_on_of_two_publishers(node: NodeUnderTest) -> None:
    """Subscribe subjects of two publishers, which tell of them in turns.

    Updates of both come out, with the values of each.
    """
    routes = [Route(node, "of.one"), Route(node, "of.two", publisher=node.new_publisher())]
    for step in range(3, 7):
        for route in routes:
            assert route.passes(BID=step), f"an update of {route.subject} does not come out"


@rule("RAI-205", roles=ROUTER_CACHE)
def test_passed_on_to_who_returns(node: NodeUnderTest) -> None:
    """End the only subscription of a subject, have its value change, and subscribe it again.

    Updates come out again.
    """
    route = Route(node)
    for step in (3, 5):
        node.main.stop(route.subject)
        node.publisher.update(route.subject, BID=step)
        since = node.source.place
        node.main.surely(node.main.image(route.subject), "image")
        node.publisher.started(route.subject, since=since, seconds=node.timing.window)
        assert route.passes(BID=step + 1), "an update does not come out when a subject was subscribed again"


def _shown(route: Route) -> None:
    """Make sure that both ways to see a value show all of it."""
    node = route.node
    for what, shown in (
        ("a snapshot", node.other.snapshot(route.subject)),
        ("an image", node.other.image(route.subject)),
    ):
        assert shown, f"{what} is not shown"
        assert fields(shown) == route.now, f"{what} has {fields(shown)}, and not {route.now}"


@rule("RAI-206", roles=ROUTER_CACHE, transports=BROKERS)
def test_images_with_updates(node: NodeUnderTest) -> None:
    """Subscribe subjects with fields, and have their source change some of these, add others, and change those.

    After each update, another session's snapshots and images have all fields, as they are now.
    """
    many: dict[str, Any] = {f"F{number}": number for number in range(40)}
    routes = [Route(node, "few", BID=1, ASK=2), Route(node, "many.fields", **many)]
    for route in routes:
        first, *_ = route.now
        for step in ({first: 3}, {"NEW": "text"}, {first: 4, "NEW": None}, {"NEW": {"DEEP": [1, 2]}}, {"LAST": 0}):
            _shown(route)
            assert route.passes(**step), "an update does not come out"
        _shown(route)


@rule("RAI-206", roles=ROUTER_CACHE)
def test_images_after_new_images(node: NodeUnderTest) -> None:
    """Have the source of a subject publish a whole value, which lacks a field of before, and then an update.

    Snapshots and images have the fields of the new value, and of the update.
    """
    route = Route(node, BID=1, GONE=2)
    since = route.place
    node.publisher.values[route.subject] = {"BID": 5}
    node.publisher.publish(route.subject, type="initial", format="json", data={"BID": 5})
    assert route.tells(since=since, BID=5), "a whole value does not come out"
    _shown(route)
    assert route.passes(ASK=6), "an update does not come out"
    _shown(route)


@rule("RAI-206", roles=ROUTER_CACHE)
def test_images_of_what_was_not_subscribed(node: NodeUnderTest) -> None:
    """Ask for snapshots of subjects whose values change while nobody has subscribed, or nobody any more.

    Each has the value of its source.
    """
    publisher, never, route = node.publisher, node.subject("never"), Route(node, BID=0)
    for step in (1, 2):
        for subject in (never, route.subject):
            publisher.update(subject, BID=step)
        if step == 1:
            node.main.stop(route.subject)
        # The stop, and the update, may not have come yet to where the value is kept.
        for subject in (never, route.subject)[:step]:
            for _ in range(TRIES):
                shown = fields(node.other.surely(node.other.snapshot(subject), "snapshot"))
                if shown == {"BID": step}:
                    break
                node.broker.read()
            assert shown == {"BID": step}, f"a snapshot has {shown}, and its source BID {step}"


@rule("RAI-206", roles=ROUTER_CACHE)
def test_images_that_come_behind_updates(node: NodeUnderTest) -> None:
    """Subscribe a subject whose source publishes an update before it shows the image.

    When both have come, snapshots and images have all fields.
    """
    publisher, subject = node.publisher, node.subject("behind")
    publisher.is_serving = False
    returned = node.main.new_return()
    node.main.start(subject, return_=returned, initial=True)
    started = publisher.surely(publisher.started(subject), "start")
    since = node.broker.place
    publisher.update(subject, BID=2)
    node.main.surely(node.main.told(subject, lambda body: bool(body.fields), since=since), "update")
    publisher.values[subject].update(ASK=3, SIZE=4)
    publisher.is_serving = True
    publisher.show(started.message.session, started.body.return_, "start", subject)  # type: ignore[attr-defined]
    node.main.surely(node.main.reply(returned, lambda body: body.has_data), "image")
    for shown in (node.other.snapshot(subject), node.other.image(subject)):
        assert shown, "a value is not shown"
        assert fields(shown) == publisher.values[subject], f"what is shown has {fields(shown)}, and lacks some"


@rule("RAI-206", roles=ROUTER_CACHE)
def test_images_of_many_subjects(node: NodeUnderTest) -> None:
    """Subscribe subjects with values of their own, and update some.

    Images are each of their own subject, and only those have changed that were updated.
    """
    routes = [Route(node, f"many.{number}", BID=number, ASK=-number) for number in range(12)]
    for route in routes[::3]:
        assert route.passes(BID=100 + route.now["BID"]), "an update does not come out"
    for route in routes:
        _shown(route)


@rule("RAI-207", roles=ROUTER_CACHE)
def test_said_by_the_router_cache(node: NodeUnderTest) -> None:
    """Have a source show a value, update it, mark it as stale, show it anew, and drop it.

    What comes out is said in a session of the router-cache's, and nothing in that of the source.
    """
    route = Route(node)
    publisher, since = node.publisher, route.place
    assert route.passes(BID=2), "an update does not come out"
    for members in ({"status": "stale"}, {"type": "initial", "format": "json", "data": {"BID": 3}}):
        publisher.publish(route.subject, **members)
        route.surely_passes()
    publisher.publish(route.subject, type="drop", status="expired")
    node.main.told(route.subject, lambda body: body.kind == "drop", since=since, thing="a drop")
    # What is said beside that has come when this has.
    node.main.snapshot(route.subject)
    events = [each for each in node.broker.conversation.events if each.direction is Direction.RECEIVED]
    sessions = {each.message.session for each in events}
    assert publisher.session not in sessions, "what comes out is in the session of the source"
    assert sessions == {node.broker.node_session}, f"what comes out is in several sessions: {sessions}"


@rule("RAI-207", roles=ROUTER_CACHE)
def test_numbered_by_the_router_cache(node: NodeUnderTest) -> None:
    """Have two publishers, of which one numbers its messages much higher, publish updates of a subject in turns.

    What comes out has numbers that grow.
    """
    route = Route(node)
    other = node.new_publisher()
    node.publisher.seqno += 1_000_000
    other.values[route.subject] = route.now
    since = route.place
    for step in range(3, 7):
        publisher = (node.publisher, other)[step % 2]
        publisher.update(route.subject, BID=step)
        assert route.tells(since=since, BID=step), "an update of one of two publishers does not come out"
    numbers = [each.message.seqno for each in route.since(since) if each.form is Published]
    assert numbers == sorted(set(numbers)), f"what comes out is numbered {numbers}"
