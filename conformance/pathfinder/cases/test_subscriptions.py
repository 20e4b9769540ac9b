"""Pathfinder, "Subscriptions": what is told when services change, how late, and in which order."""

from collections.abc import Callable

from conformance.cases import rule
from conformance.pathfinder.answers import granted, listed
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.waiting import end_subscription, expect_match, watch
from harness.errors import NotAnswered
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction


@rule("PF-051", roles=SERVER)
def test_the_last_of_many_changes_is_told(node: NodeUnderTest) -> None:
    """A service is changed five times without waiting for answers.

    Who watches hears of the last state in the end, and of nothing older after it.
    """
    watching, service = watch(node), node.service(n=[0])
    states = [service.newer(by=n, props=node.service(n=[n]).props) for n in range(6)]
    # All at once, so that a server which gathers changes has some to gather.
    begun = [node.other.begin("publish", state.fields) for state in states]
    for publish in begun:
        if not granted(node.other.finish(publish)):
            raise NotAnswered("a change of a service is refused")

    def is_told() -> bool:
        return any(match.message.get("generation") == 5 for match in watching.about(service.id))

    assert node.main.wait_for_notification(is_told, "modified"), "nobody is told the last state of a service"
    told_of = [match.message.get("generation") for match in end_subscription(node.main, watching)]
    generations = [each for each in told_of if isinstance(each, int)]
    assert generations == sorted(generations), "an older state of a service is told after a newer one"


@rule("PF-055", roles=SERVER)
def test_only_the_generation_changes(node: NodeUnderTest) -> None:
    """Publish a service, then again as it is with a higher generation.

    That is completed and listed; whether who watches is told of it is open.
    """
    watching, service = watch(node), node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    expect_match(node.main, watching, "appeared", service)
    assert granted(node.other.publish(service.newer())), "a higher generation of the same service is refused"
    assert listed(node, service).get("generation") == 1, "a higher generation of the same service is not listed"
    # A real change behind it: when that is told, the other would have been.
    node.other.sure(node.other.publish(service.newer(by=2, ttl=30)))

    def is_told() -> bool:
        return any(match.message.get("generation") == 2 for match in watching.about(service.id))

    node.main.wait_for_notification(is_told, "modified")
    between = [match for match in watching.about(service.id) if match.message.get("generation") == 1]
    node.shows("PF-055", "R12", "A" if between else "B")
    assert all(match.what == "modified" for match in between), "a higher generation is told as something else than that"


@rule("PF-057", roles=SERVER)
def test_notifications_are_not_held_back_for_long(node: NodeUnderTest) -> None:
    """The owner of a service with a TTL of four seconds leaves.

    Who watches hears that it is an orphan well before the four seconds are over.
    """
    ttl = 4
    watching, owner, service = watch(node), node.session(), node.service(ttl=ttl)
    owner.sure(owner.publish(service))
    expect_match(node.main, watching, "appeared", service)
    owner.close()
    # A delay SHOULD only be a fraction of the TTL ("Subscribe Command"): nine tenths are more than that.
    heard = node.main.receives(watching, "modified", service.id, until=node.main.after(0.9 * ttl))
    assert heard, "a notification is held back until the service's TTL is over"


@rule("PF-207", roles=SERVER)
def test_a_change_makes_a_service_match(node: NodeUnderTest) -> None:
    """A service is published that a subscription does not match, then changed so that it does.

    It appears, in its new state.
    """
    watching, service = watch(node, "(name=x)"), node.service(name=["y"])
    node.other.sure(node.other.publish(service))
    node.other.sure(node.other.publish(service.newer(props=node.service(name=["x"]).props)))
    node.main.wait_for_notification(lambda: bool(watching.about(service.id)), "appeared")
    matches = watching.about(service.id)
    assert matches, "a service has begun to match, and nobody is told"
    what, generation = matches[0].what, matches[0].message.get("generation")
    assert generation == 1, "a service is told in a state that does not match"
    assert what == "appeared", "a service that begins to match is told as another change"


@rule("PF-208", roles=SERVER)
def test_a_change_makes_a_service_match_no_more(node: NodeUnderTest) -> None:
    """A service that a subscription matches is changed so that it does not.

    It disappears, or is told as modified, with what it is now.
    """
    watching, service = watch(node, "(name=x)"), node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    expect_match(node.main, watching, "appeared", service)
    changed = service.newer(props=node.service(name=["y"]).props)
    node.other.sure(node.other.publish(changed))
    node.main.wait_for_notification(lambda: len(watching.about(service.id)) > 1, "disappeared")
    matches = watching.about(service.id)[1:]
    assert matches, "a service has ceased to match, and nobody is told"
    node.shows("PF-208", "R13", "B" if matches[0].what == "modified" else "A")
    assert matches[0].what != "appeared", "a service that ceases to match is told as one that appears"
    if matches[0].what == "modified":
        assert matches[0].message.get("service-props") == changed.props, "a service is told with properties of before"


@rule("PF-209", roles=SERVER)
def test_the_life_of_a_service(node: NodeUnderTest) -> None:
    """A service is published, changed twice, taken back, and published anew.

    It appears, is modified twice, disappears, and appears again.
    """
    watching, service = watch(node), node.service()
    expected = ["appeared", "modified", "modified", "disappeared", "appeared"]
    steps: list[Callable[[], Transaction]] = [
        lambda: node.other.publish(service),
        lambda: node.other.publish(service.newer(ttl=30)),
        lambda: node.other.publish(service.newer(by=2, ttl=20)),
        lambda: node.other.unpublish(service.id),
        lambda: node.other.publish(service),
    ]
    for heard, step in enumerate(steps):
        node.other.sure(step())
        what = expected[heard]
        if not node.main.wait_for_notification(lambda n=heard: len(watching.about(service.id)) > n, what):  # type: ignore[misc]
            raise NotAnswered(f"a service has {what}, and nobody is told")
    matches = [match.what for match in end_subscription(node.main, watching)]
    assert matches == expected, "what becomes of a service is told in another order"
