"""Pathfinder, "Subscribe Command": what a subscription is told of services, and in which fields."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from conformance.cases import Inconclusive, judging, rule
from conformance.pathfinder.answers import EXCUSES, as_integer, granted, listed
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.waiting import (
    CLOCKS,
    end_subscription,
    expect_match,
    reconnect,
    wait_for_orphan,
    wait_until,
    watch,
)
from conformance.wording import worded
from harness.errors import NotAnswered
from harness.pathfinder.tester.driver import Driver, Service
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Match, Transaction
from wire.pathfinder.values import Message

MANDATORY = {"ta-cmd", "ta-id", "msg-type"}


def fields_of(message: Message) -> set[str]:
    """Return the fields of a message but the mandatory ones."""
    return set(message) - MANDATORY


def unordered(props: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties in a form in which the order of values makes no difference."""
    return {
        name: sorted(map(as_integer, values), key=repr) if isinstance(values, list) else values
        for name, values in props.items()
    }


def stated(message: Message) -> tuple[Any, ...]:
    """Return the state of a service that a notification tells."""
    props = message.get("service-props")
    kept = unordered(props) if isinstance(props, dict) else props
    return message.get("generation"), kept, message.get("ttl"), message.get("client-id")


def state(service: Service, owner: Driver) -> tuple[Any, ...]:
    """Return the state of a service that was published so by somebody."""
    return service.generation, unordered(service.props), service.ttl, owner.client_id


def orphaned(node: NodeUnderTest, watching: Transaction) -> tuple[Service, Driver]:
    """Let a client publish a service and leave, until the server knows."""
    owner, service = node.session(), node.service(name=["x"])
    owner.sure(owner.publish(service))
    expect_match(node.main, watching, "appeared", service)
    owner.close()
    if wait_for_orphan(node, service) is None:
        raise NotAnswered("a service whose owner has left is no orphan")
    return service, owner


@rule("PF-120", roles=SERVER)
def test_what_is_there_already(node: NodeUnderTest) -> None:
    """Five services exist, three of which match, one of these the subscriber's own; subscribe.

    The three appear, and nothing else.
    """
    # More than one on either side of the filter, and not in order: neither "the first" nor "all" is right.
    services = [node.service(name=[name]) for name in ("x", "x", "y", "y", "x")]
    for service in services[:-1]:
        node.other.sure(node.other.publish(service))
    # The subscriber's own counts as well: the document makes no exception (section "Subscribe Command").
    node.main.sure(node.main.publish(services[-1]))
    expected = {service.id for service in services if service.props["name"] == ["x"]}
    watching = watch(node, "(name=x)")
    node.main.wait_for_notification(lambda: {match.service_id for match in watching.matches} >= expected, "appeared")
    # Judged only when the subscription has ended: what is told too much may come late.
    matches = end_subscription(node.main, watching)
    assert {match.what for match in matches} == {"appeared"}, "what is there already is not told as appeared"
    assert {match.service_id for match in matches} >= expected, "not all that is there already appears"
    assert len(matches) == len(expected), "more appears than matches"


@rule("PF-121", roles=SERVER)
def test_what_is_published_later(node: NodeUnderTest) -> None:
    """Subscribe; then two services are published, of which one matches.

    It alone appears.
    """
    watching = watch(node, "(name=x)")
    matching, other = node.service(name=["x"]), node.service(name=["y"])
    # First the one that does not match: when the other has appeared, it would have before.
    for service in (other, matching):
        node.other.sure(node.other.publish(service))
    assert node.main.receives(watching, "appeared", matching.id), "a new service that matches does not appear"
    matches = [match.service_id for match in end_subscription(node.main, watching)]
    assert matches == [matching.id], "a new service appears that does not match"


@rule("PF-121", roles=SERVER)
def test_nothing_after_the_end(node: NodeUnderTest) -> None:
    """Subscribe, unsubscribe; then a service is published that would have matched.

    Nothing is told.
    """
    # A second subscription that lasts: when it is told of the service, the ended one would have been.
    watching, lasting = watch(node, "(name=x)"), watch(node)
    end_subscription(node.main, watching)
    service = node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    expect_match(node.main, lasting, "appeared", service)
    node.main.barrier()
    alien = len(watching.matches) + sum(event.type == "notify" for event in watching.late)
    assert not alien, "a subscription is told of services after it has ended"


@rule("PF-122", roles=SERVER)
def test_changed_properties_and_ttl(node: NodeUnderTest) -> None:
    """A matched service is published anew with other properties, then with another TTL.

    Each is told as modified, with the new state.
    """
    watching, service = watch(node, "(name=x)"), node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    expect_match(node.main, watching, "appeared", service)
    # Still matching, so that no reading of R13 can make it a disappearance.
    changed = service.newer(props=node.service(name=["x"], n=[1]).props)
    renamed = changed.newer(props=node.service(name=["x"], m=[1]).props)
    steps = (("properties", changed), ("names of properties", renamed), ("TTL", renamed.newer(ttl=30)))
    for count, (what, newer) in enumerate(steps, 1):
        node.other.sure(node.other.publish(newer))
        match = node.main.receives(watching, "modified", service.id, count=count)
        assert match, f"a change of a service's {what} is not told"
        assert stated(match.message) == state(newer, node.other), f"a change of {what} is told with another state"


@rule("PF-122", roles=SERVER)
def test_a_changed_owner(node: NodeUnderTest) -> None:
    """A matched service is published by another client, as it is.

    Unless that is refused it is told as modified, with the new owner.
    """
    watching, service = watch(node), node.service()
    node.other.sure(node.other.publish(service))
    expect_match(node.main, watching, "appeared", service)
    # A third client: node.other is the owner, and node.main watches.
    client = node.session()
    if not client.publish(service).completed:
        node.shows("PF-122", "R11", "B")
        return
    node.shows("PF-122", "R11", "A")
    match = node.main.receives(watching, "modified", service.id)
    assert match, "a change of a service's owner is not told"
    assert stated(match.message) == state(service, client), "a change of owner is told with another state"


@rule("PF-122", roles=SERVER, needs=("PF-157",))
def test_an_orphan_with_a_new_owner(node: NodeUnderTest) -> None:
    """The owner of a matched service leaves, and another client publishes the service.

    Both are told as modified, the second in one step or in two.
    """
    watching = watch(node)
    service, _ = orphaned(node, watching)
    match = node.main.receives(watching, "modified", service.id)
    assert match, "a service has become an orphan, and this is not told"
    assert match.is_orphan, "a service has become an orphan, and is told as none"
    if not node.other.publish(service).completed:
        raise Inconclusive("the server lets nobody publish another client's orphan")

    def is_final(match: Match) -> bool:
        return stated(match.message) == state(service, node.other) and not match.is_orphan

    heard = node.main.wait_for_notification(lambda: any(map(is_final, watching.about(service.id))), "modified")
    assert heard, "an orphan has a new owner, and this is not told"
    # From the third match: the first two are its appearance and its having become an orphan.
    steps = [is_final(match) for match in watching.about(service.id)[2:]].index(True)
    node.shows("PF-122", "R23", "B" if steps else "A")


@rule("PF-123", roles=SERVER)
def test_services_that_are_taken_back(node: NodeUnderTest) -> None:
    """The owner unpublishes a matched service.

    It disappears, and nothing is told of it behind that.
    """
    watching, service = watch(node), node.service()
    node.other.sure(node.other.publish(service))
    expect_match(node.main, watching, "appeared", service)
    node.other.sure(node.other.unpublish(service.id))
    assert node.main.receives(watching, "disappeared", service.id), "a service is unpublished, and this is not told"
    # Another service behind it: what is told too much would have come before that one.
    newer = node.service()
    node.other.sure(node.other.publish(newer))
    expect_match(node.main, watching, "appeared", newer)
    told = [match.what for match in watching.about(service.id)]
    assert told.index("disappeared") == len(told) - 1, "something is told of a service that is gone"


@rule("PF-123", roles=SERVER)
def test_services_that_others_remove(node: NodeUnderTest) -> None:
    """Another client unpublishes a matched service.

    Unless that is refused it disappears; the remover may be told as its owner before.
    """
    watching, service = watch(node), node.service()
    node.other.sure(node.other.publish(service))
    expect_match(node.main, watching, "appeared", service)
    client = node.session()
    if not client.unpublish(service.id).completed:
        return
    # It is gone, and need not be taken back at the end.
    node.other.published.pop(service.id)
    assert node.main.receives(watching, "disappeared", service.id), "another client unpublishes, and this is not told"
    # What lies between its appearance and its end: a change of owner (R14), if anything.
    between = watching.about(service.id)[1:-1]
    node.shows("PF-123", "R14", "A" if between else "B")
    assert all(match.what == "modified" for match in between), "a service that is removed is told as something else"


@rule("PF-123", roles=SERVER)
def test_services_that_expire(node: NodeUnderTest) -> None:
    """The owner of a matched service with a TTL of a second leaves.

    It disappears.
    """
    # A second, the shortest TTL but 0, which R19 leaves open: the case is to take no longer than it must.
    watching, owner, service = watch(node), node.session(), node.service(ttl=1)
    owner.sure(owner.publish(service))
    expect_match(node.main, watching, "appeared", service)
    owner.close()
    gone = node.main.receives(watching, "disappeared", service.id, until=node.main.now() + node.timing.within(1))
    if gone is None and not wait_until(node, lambda: service.id not in node.listed()):
        raise NotAnswered("an orphan does not expire")
    assert gone, "a service has expired, and this is not told"


@rule("PF-124", roles=SERVER, needs=("PF-120",))
def test_no_filter(node: NodeUnderTest) -> None:
    """Services exist; subscribe without a filter; more are published.

    All of them appear.
    """
    # One published before and one after: the snapshot and the changes are often separate code.
    services = [node.service(name=["x"]), node.service()]
    node.other.sure(node.other.publish(services[0]))
    watching = node.main.subscribe()
    assert granted(watching), "a subscription without a filter is refused"
    node.other.sure(node.other.publish(services[1]))
    for service in services:
        assert node.main.receives(watching, "appeared", service.id), (
            "a subscription without a filter is not told of all"
        )


@rule("PF-126", roles=SERVER)
def test_the_fields_of_accept(node: NodeUnderTest) -> None:
    """Subscribe with a filter and without.

    Each accept has the mandatory fields and no other.
    """
    # Without a filter too: a server that echoes the request would only then echo less.
    for watching in (watch(node), node.main.sure(node.main.subscribe())):
        answers = [answer for answer in watching.answers if answer.type == "accept"]
        assert [fields_of(answer.fields) for answer in answers] == [set()], "an accept has fields of its own"


@rule("PF-127", "PF-128", "PF-129", "PF-130", roles=SERVER)
def test_the_fields_of_notifications(node: NodeUnderTest) -> None:
    """Watch a service from its appearance to its end.

    Each notification says what has become of which service, and how it is now if it is there.
    """
    watching, service = watch(node), node.service(name=["x", 1])
    # Everything that can differ does: a server that keeps old fields shows in whichever it keeps.
    newer = service.newer(props=node.service(name=["x"], more=["y"]).props, ttl=30)
    steps: list[tuple[str, Callable[[], Transaction], Service]] = [
        ("appeared", lambda: node.other.publish(service), service),
        ("modified", lambda: node.other.publish(newer), newer),
        ("disappeared", lambda: node.other.unpublish(service.id), newer),
    ]
    for number, (what, step, now) in enumerate(steps):
        node.other.sure(step())
        if not node.main.wait_for_notification(lambda n=number: len(watching.notifications) > n, what):  # type: ignore[misc]
            raise NotAnswered(f"a service has {what}, and nobody is told")
        said = watching.notifications[number]
        with judging("PF-127"):
            assert fields_of(said) >= {"match-type", "service-id"}, f"{what} does not say what has become of what"
            assert said["service-id"] == service.id, f"{what} names another service"
        with judging("PF-128"):
            known = ("disappeared", "removed") if what == "disappeared" else (what,)
            assert said["match-type"] in known, f"the match-type of what has {what} is {worded(said['match-type'])}"
        if what == "disappeared":
            node.shows("PF-128", "R02", "B" if said["match-type"] == "removed" else "A")
            with judging("PF-130"):
                assert fields_of(said) == {"match-type", "service-id"}, "disappeared has more fields than it may"
        else:
            with judging("PF-129"):
                assert stated(said) == state(now, node.other), f"{what} does not tell how the service is now"


@rule("PF-131", roles=SERVER, needs=("PF-120",))
def test_orphans_are_marked(node: NodeUnderTest) -> None:
    """Watch and list a service while its owner is there, when it has left, and when it has published again.

    orphan-since is there while the owner is not.
    """
    watching = watch(node)
    owner, service = node.session(), node.service()
    owner.sure(owner.publish(service))
    match = expect_match(node.main, watching, "appeared", service)
    assert not match.is_orphan, "a service appears as an orphan, and its owner is there"
    assert "orphan-since" not in listed(node, service), "a service is listed as an orphan, and its owner is there"
    owner.close()
    match = expect_match(node.main, watching, "modified", service)
    assert match.is_orphan, "the owner has left, and what is told of the service does not say so"
    assert wait_until(node, lambda: "orphan-since" in listed(node, service)), "an orphan is listed as none"
    # In a snapshot too, which is made from the state and not from the change.
    later = expect_match(node.main, watch(node), "appeared", service)
    assert later.is_orphan, "an orphan appears as none"
    back, _ = reconnect(node, owner)
    node.shows("PF-131", "R24", "A" if "orphan-since" in listed(node, service) else "B")
    back.sure(back.publish(service))
    assert "orphan-since" not in listed(node, service), "a service is listed as an orphan, and its owner is back"
    latest = expect_match(node.main, watch(node), "appeared", service)
    assert not latest.is_orphan, "a service appears as an orphan, and its owner is back"


@rule("PF-134", roles=SERVER)
def test_reasons(node: NodeUnderTest) -> None:
    """Subscribe under an identifier that is taken, by the same and by another client, and with no filter's text.

    Where that is refused and the reason given, it is the right one.
    """
    # Taken by a subscription that lives: an identifier whose subscription has ended is free.
    taken = watch(node).request.fields["subscription-id"]
    for session in (node.main, node.other):
        again = session.subscribe(node.mine, id=taken)
        assert again.reason in (None, "subscription-id-exists", *EXCUSES), "a taken identifier has another reason"
    spoiled = node.main.subscribe("(a=b")
    assert spoiled.reason in (None, "invalid-filter-syntax", *EXCUSES), "what is no filter has another reason"


GRAINS = 2.0
"""Seconds by which two times of a server may be apart from what they are: either is whole, and rounded in any way."""


def connected_at(session: Driver) -> float | None:
    """Return when a session was connected by the server's clock, if it says so and means it."""
    found = session.sure(session.clients()).notifications
    times = [fields.get("time") for fields in found if fields.get("client-id") == session.client_id]
    if len(times) != 1 or not isinstance(times[0], int | float) or abs(times[0] - time.time()) > CLOCKS:
        return None  # for other cases to judge
    return float(times[0])


@rule("PF-228", roles=SERVER, needs=("PF-157",))
def test_since_when(node: NodeUnderTest) -> None:
    """Note the time at which a service's owner leaves; list it twice, a second apart.

    orphan-since is that time, in what is told and in both lists, by the server's own clock.
    """
    watching, owner, service = watch(node), node.session(), node.service()
    began = connected_at(owner), time.time()
    owner.sure(owner.publish(service))
    expect_match(node.main, watching, "appeared", service)
    # Longer than two clocks of whole seconds can be wrong about: so the times of hello and publish are others.
    node.main.read(4)
    left = time.time()
    owner.close()
    fields = wait_for_orphan(node, service)
    earliest, latest = left - CLOCKS, time.time() + CLOCKS
    ended = connected_at(node.session())
    if began[0] is not None and ended is not None:
        earliest, latest = began[0] + (left - began[1]) - GRAINS, ended + GRAINS
    if fields is None:
        raise NotAnswered("a service whose owner has left is no orphan")
    since = fields["orphan-since"]
    match = expect_match(node.main, watching, "modified", service)
    if not match.is_orphan:
        raise NotAnswered("a service whose owner has left is told as no orphan")
    is_whole = all(isinstance(each, int) for each in (since, match.message["orphan-since"]))
    node.shows("PF-228", "R17", "B" if is_whole else "A")
    # So that a time which is told anew with every message differs from the one that was told first.
    node.main.read(1)
    for where, number in (
        ("listed", since),
        ("told", match.message["orphan-since"]),
        ("listed again", listed(node, service).get("orphan-since")),
    ):
        assert isinstance(number, int | float), f"orphan-since is {where} as no number"
        assert earliest <= number <= latest, f"orphan-since is {where} as a time at which the owner did not leave"
        assert abs(number - since) < 1.0, "orphan-since is not the same each time"
