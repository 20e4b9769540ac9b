"""Rai, "Stale Notification", "Subscription Expired", "Drop Notification": what a router-cache says of its source."""

from msgspec.structs import replace

from conformance.cases import rule
from conformance.rai.roles import ROUTER_CACHE
from conformance.rai.routing import Route
from conformance.rai.telling import IMAGES, fields, told
from harness.errors import NotAnswered
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Published, Subs

STALE = "stale"
DISTURBED = ("stale", "feed_down", "feed_switch")

FORGOTTEN = 130
"""Seconds after which every node has missed several heartbeats, however it counts them."""


def _disturb(route: Route, status: str, *, with_data: bool) -> None:
    """Have the source say that a value cannot be relied on."""
    members: dict[str, object] = {"status": status}
    if status == "feed_switch":
        members["type"] = "recap"
    if with_data:
        route.now.update(BID=100)
        members["data"] = {"BID": 100}
    route.publisher.publish(route.subject, **members)


def _check_disturbed(route: Route, status: str, since: int) -> None:
    """Make sure that the subscribers are told, and that nobody is shown the value as a sound one."""
    node = route.node
    assert route.tells(status, STALE, since=since), f"nobody is told that {route.subject} has status {status}"
    # What the source would say of it now is another matter.
    route.publisher.is_serving = False
    for what, shown in (("snapshot", node.other.snapshot(route.subject)), ("image", node.other.image(route.subject))):
        if shown is not None and told(shown).has_data:
            state = told(shown).state
            assert state in (status, STALE), f"the {what} of a value with status {status} has status {state}"
    route.publisher.is_serving = True


@rule("RAI-208", roles=ROUTER_CACHE)
def test_disturbances_are_passed_on(node: NodeUnderTest) -> None:
    """Have the source say that values are stale, their feed down, or their source another, with fields and without.

    Subscribers are told so, by that status or by stale; what is shown to others says it, too.
    """
    for status in DISTURBED:
        for with_data in (False, True):
            route = Route(node, f"{status}.{with_data}")
            since = route.place
            _disturb(route, status, with_data=with_data)
            _check_disturbed(route, status, since)


@rule("RAI-208", roles=ROUTER_CACHE)
def test_disturbances_last(node: NodeUnderTest) -> None:
    """Have the source say that a value is stale, and then publish updates of it, which say nothing of that.

    What is shown of it still says so.
    """
    for status in ("stale", "feed_down"):
        route = Route(node, f"lasting.{status}")
        since = route.place
        _disturb(route, status, with_data=False)
        for _ in range(3):
            route.surely_passes()
        _check_disturbed(route, status, since)


@rule("RAI-208", roles=ROUTER_CACHE)
def test_second_disturbances_are_passed_on(node: NodeUnderTest) -> None:
    """Have a value be disturbed, be made whole by an image of its source's, and be disturbed again.

    Subscribers are told each time.
    """
    route = Route(node, "again")
    for step in range(3):
        since = route.place
        _disturb(route, STALE, with_data=False)
        assert route.tells(STALE, since=since), f"nobody is told that the value is stale, the time {step + 1}"
        since = route.place
        data = {"BID": step}
        route.publisher.values[route.subject] = data
        route.publisher.publish(route.subject, type="initial", format="json", data=data)
        route.surely_passes()


@rule("RAI-208", roles=ROUTER_CACHE)
def test_disturbances_of_wildcards_are_passed_on(node: NodeUnderTest) -> None:
    """Have the source say that values are stale that are subscribed by a wildcard.

    Subscribers are told so.
    """
    publisher = node.publisher
    node.main.start_wild(node.subject("wild.>"))
    publisher.surely(publisher.started_wild(node.subject("wild.>")), "start of a wildcard")
    for status in ("stale", "feed_down"):
        subject = node.subject(f"wild.{status}")
        since = node.broker.place
        publisher.update(subject, BID=1)
        node.main.surely(node.main.told(subject, since=since), "update")
        since = node.broker.place
        publisher.publish(subject, status=status)
        heard = node.main.told(subject, lambda body, wanted=status: body.state in (wanted, STALE), since=since)  # type: ignore[misc]
        assert heard, f"nobody is told that a value has status {status} that a wildcard has brought"


@rule("RAI-208", roles=ROUTER_CACHE)
def test_disturbances_outlast_new_sources(node: NodeUnderTest) -> None:
    """Have a publisher leave, and others prove themselves that show no value, one of which publishes updates.

    What is shown of the value is stale, as long as nobody has shown a whole one.
    """
    route = Route(node, "outlasting")
    since = route.place
    node.publisher.bye()
    if route.tells(STALE, "feed_down", since=since) is None:
        raise NotAnswered("nobody is told that the publisher has left")
    since = route.place
    # Somebody else, and the same user again.
    users = ("", node.publisher.user)
    for step in range(2):
        publisher = node.new_publisher(users[step], serves=False)
        if step:
            publisher.update(route.subject, BID=7)
            node.main.told(route.subject, lambda body: body.has_data, since=since)
        shown = node.other.snapshot(route.subject)
        state = "" if shown is None or not told(shown).has_data else told(shown).state
        assert state in ("", *DISTURBED), f"a value that nobody has shown since its publisher left is shown as {state}"
    for event in route.since(since):
        is_whole = told(event).kind in IMAGES and told(event).has_data
        assert not is_whole or told(event).state in DISTURBED, "a value is told as a sound one that nobody has shown"


@rule("RAI-209", roles=ROUTER_CACHE)
def test_ended_values_are_gone(node: NodeUnderTest) -> None:
    """Have the source end, discard and rename subjects, and ask for them; then have it begin them anew, and ask again.

    The values of before are shown no more; then there are just the new ones.
    """
    publisher = node.publisher
    for members in ({"status": "expired"}, {"status": "preempted"}, {"status": "relocate", "text": "LAB.elsewhere"}):
        status = members["status"]
        route = Route(node, f"ended.{status}")
        since = route.place
        del publisher.values[route.subject]
        publisher.publish(route.subject, type="drop", **members)
        dropped = node.main.told(route.subject, lambda body: body.kind == "drop", since=since, thing="a drop")
        node.main.surely(dropped, "drop")
        for what, shown in (
            ("snapshot", node.other.snapshot(route.subject)),
            ("image", node.other.image(route.subject)),
        ):
            is_shown = shown is not None and told(shown).has_data and told(shown).state not in DISTURBED
            assert not is_shown, f"a {what} shows what its source has dropped with status {status}"
        node.other.stop(route.subject)
        publisher.values[route.subject] = {"NEW": 1}
        shown = node.other.surely(node.other.image(route.subject), "image")
        # What was said of it last may not have been that it is not there.
        if told(shown).has_data:
            assert fields(shown) == {"NEW": 1}, f"what has begun anew has {fields(shown)}"


@rule("RAI-209", roles=ROUTER_CACHE)
def test_ends_are_passed_on(node: NodeUnderTest) -> None:
    """Have the source drop subjects that have ended, with one subscription and with two.

    Each is dropped, for that reason.
    """
    for name, count in (("one", 1), ("two.b.c", 2), ("three", 1)):
        route = Route(node, name)
        if count == 2:
            node.other.subscribed(route.subject)
        since = route.place
        node.publisher.publish(route.subject, type="drop", status="expired")
        dropped = node.main.told(route.subject, lambda body: body.kind == "drop", since=since, thing="a drop")
        assert dropped, f"{route.subject} is not dropped when its source has ended it"
        state = told(dropped).state
        assert state == "expired", f"a subject that has ended is dropped with status {state}"


def _renamed(where: str, name: str) -> Published:
    drop = Published(type="drop", status="relocate")
    return replace(drop, text=name) if where == "text" else replace(drop, subject=name)


@rule("RAI-209", roles=ROUTER_CACHE)
def test_renamings_are_passed_on(node: NodeUnderTest) -> None:
    """Have the source rename subjects, and say the new name in text, or in subject.

    Each is dropped for that reason, with the new name.
    """
    for where in ("text", "subject"):
        for _ in range(2):
            route = Route(node, f"old.{where}")
            new = node.subject(f"new.{where}")
            since = route.place
            node.publisher.say(route.subject, _renamed(where, new))
            dropped = node.main.told(route.subject, lambda body: body.kind == "drop", since=since, thing="a drop")
            assert dropped, f"{route.subject} is not dropped when its source has renamed it"
            body = told(dropped)
            assert body.state == "relocate", f"a subject that was renamed is dropped with status {body.state}"
            assert new in (body.text, body.subject), "the new name of a subject is not said"


@rule("RAI-210", roles=ROUTER_CACHE)
def test_subscribed_subjects_are_started_again(node: NodeUnderTest) -> None:
    """Have the source drop subjects for want of subscribers, several times, while they are subscribed.

    They are not dropped on the other side; they are started again at the source.
    """
    routes = [Route(node, "one"), Route(node, "two.b.c")]
    node.other.subscribed(routes[1].subject)
    for _ in range(2):
        for route in routes:
            since, asked = route.place, node.source.place
            route.publisher.publish(route.subject, type="drop", status="nosubscribers")

            def is_start(event: object, subject: str = route.subject) -> bool:
                body = getattr(event, "body", None)
                named = getattr(event, "subject", "") == f"_SUB.START.{subject}"
                return named or (isinstance(body, Subs) and subject in body.subs)

            again = node.source.wait_for(
                is_start, since=asked, seconds=node.timing.within(35), thing="a start after a drop"
            )
            assert again, "what the source has dropped for want of subscribers is not started again"
            route.surely_passes()
            assert "drop" not in route.states(since), "a subject is dropped that is subscribed"


@rule("RAI-211", roles=ROUTER_CACHE)
def test_publishers_that_say_bye(node: NodeUnderTest) -> None:
    """Subscribe several subjects of a publisher, update some, and have it say BYE.

    Subscribers of each are told that its value is stale.
    """
    routes = [Route(node, name) for name in ("one", "two", "three")]
    routes[1].surely_passes()
    since = routes[0].place
    node.publisher.bye()
    for route in routes:
        heard = route.tells(STALE, "feed_down", since=since)
        assert heard, f"nobody is told that {route.subject} is stale when its publisher has said BYE"
        _check_disturbed(route, told(heard).state, since)


@rule("RAI-211", roles=ROUTER_CACHE)
def test_publishers_that_fall_silent(node: NodeUnderTest) -> None:
    """Subscribe subjects of a publisher, which says nothing any more, for minutes.

    Subscribers are told that the values are stale.
    """
    routes = [Route(node, name) for name in ("one", "two")]
    since = routes[0].place
    node.publisher.stop_beating()
    for route in routes:
        heard = route.tells(STALE, "feed_down", since=since, seconds=node.timing.within(FORGOTTEN))
        assert heard, f"nobody is told that {route.subject} is stale when its publisher is silent for minutes"


@rule("RAI-211", roles=ROUTER_CACHE)
def test_publishers_whose_broker_is_away(node: NodeUnderTest) -> None:
    """Subscribe subjects of a publisher, and have its broker go away for minutes.

    Subscribers are told that the values are stale, and nobody is shown them as sound ones.
    """
    routes = [Route(node, name) for name in ("one", "two")]
    since = routes[0].place
    node.broker.beside.clear()
    node.instance.refuse(0)
    for route in routes:
        heard = route.tells(STALE, "feed_down", since=since, seconds=node.timing.within(FORGOTTEN))
        assert heard, f"nobody is told that {route.subject} is stale when the broker of its publisher is away"
        _check_disturbed(route, told(heard).state, since)
    node.instance.admit(0)
