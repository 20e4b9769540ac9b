"""Pathfinder, "Service Records": what a service is, and whose."""

from conformance.cases import rule
from conformance.pathfinder.answers import granted, listed, values_of
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.stimuli import offend
from harness.pathfinder.tester.driver import Driver, Service
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.json.strict import MOST
from wire.pathfinder.values import Message


def is_property(values: object) -> bool:
    """Tell whether something is what a property name may stand for: strings and integers in an array."""
    return isinstance(values, list) and all(
        isinstance(each, str | int) and each not in (True, False) for each in values
    )


def taken_over(node: NodeUnderTest, by: Driver, service: Service) -> Message | None:
    """Let another client publish a service, and return how it is listed then; ``None`` when it is refused."""
    republish = by.publish(service)
    assert republish.is_over, "another client's republish is neither completed nor refused"
    return listed(node, service) if republish.completed else None


@rule("PF-011", roles=SERVER, needs=("PF-120",))
def test_a_service_keeps_its_id(node: NodeUnderTest) -> None:
    """Watch while somebody publishes a service, changes it and takes it back.

    All that is told is told of the one service.
    """
    watch = node.main.sure(node.main.subscribe(node.mine))
    service = node.service(name=["x"])
    for step, what in (
        # Every kind of notification, as each names the service by a field of its own.
        (node.other.publish(service), "appeared"),
        (node.other.publish(service.newer(ttl=30)), "modified"),
        (node.other.unpublish(service.id), "disappeared"),
    ):
        node.other.sure(step)
        node.main.receives(watch, what, service.id)
    node.main.barrier()
    alien = {match.service_id for match in watch.matches} - {service.id}
    assert not alien, "a service is told of under an id that is not its own"


@rule("PF-012", roles=SERVER)
def test_a_name_with_several_values(node: NodeUnderTest) -> None:
    """Publish a service one of whose names has three values.

    All three are listed, and a filter may ask for any of them.
    """
    # Both kinds of values in one name.
    service = node.service(a=["x", "y", 1])
    assert granted(node.other.publish(service)), "a name with several values is refused"
    assert set(values_of(listed(node, service), "a")) == {"x", "y", 1}, "not all values of a name are kept"
    # Not (a=1): whether that matches the integer is a reading (R30).
    for filter in ("(a=x)", "(a=y)"):
        assert service.id in node.listed(filter), "a service is not found by one of several values"


@rule("PF-013", roles=SERVER)
def test_values_that_are_no_properties(node: NodeUnderTest) -> None:
    """Publish properties that hold something else than strings and integers, one thing after the other.

    However that is answered, no such thing is listed.
    """
    # Each type of JSON in an array, and instead of the array; one of them behind a right value.
    odd: tuple[object, ...] = ([1.5], [True], [None], [{}], [[]], ["x", [1]], 5, "x", None, {"b": ["x"]})
    services = [node.service(a=["x"]) for _ in odd]
    offend(
        node,
        [
            {
                "ta-cmd": "publish",
                "ta-id": 7,
                "msg-type": "request",
                **service.replace(props={**service.props, "a": values}).fields,
            }
            for service, values in zip(services, odd, strict=True)
        ],
    )
    for fields in node.listed().values():
        props = fields.get("service-props")
        kept = isinstance(props, dict) and all(map(is_property, props.values()))
        assert kept, "something is listed as properties that is neither a string nor an integer"


@rule("PF-014", roles=SERVER)
def test_properties_are_replaced_as_a_whole(node: NodeUnderTest) -> None:
    """Publish a service, then again with a higher generation: one name changed, one left out, one new.

    The second set is the one that counts.
    """
    # a goes, b changes, c comes: a merge shows in a, and an update of known names only in c.
    service = node.service(a=["x"], b=["y"])
    node.other.sure(node.other.publish(service))
    changed = node.service(b=["z"], c=[1]).props
    assert granted(node.other.publish(service.newer(props=changed))), "a change of properties is refused"
    assert listed(node, service).get("service-props") == changed, "the properties are not those published last"


@rule("PF-016", roles=SERVER, needs=("PF-120",))
def test_ttl_is_changed(node: NodeUnderTest) -> None:
    """Publish a service for a minute, then again for a second, and leave.

    It is gone long before the minute is over.
    """
    # Watched, not polled: its end is told, and a minute of looking at lists would be a load of its own.
    watch = node.main.sure(node.main.subscribe(node.mine))
    service, owner = node.service(ttl=60), node.session()
    owner.sure(owner.publish(service))
    node.main.receives(watch, "appeared", service.id)
    assert granted(owner.publish(service.newer(ttl=1))), "a change of the TTL is refused"
    assert listed(node, service).get("ttl") == 1, "the TTL is not the one published last"
    owner.close()
    # Far less than the first TTL, and ample for the second.
    assert node.main.receives(watch, "disappeared", service.id, until=node.main.after(20)), (
        "an orphan outlives its new TTL"
    )


@rule("PF-022", roles=SERVER, needs=("PF-120",))
def test_the_publisher_is_the_owner(node: NodeUnderTest) -> None:
    """Somebody publishes a service; others list it and subscribe to it.

    All are told the publisher's client-id.
    """
    service = node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    watch = node.main.sure(node.main.subscribe(node.mine))
    told = node.main.receives(watch, "appeared", service.id)
    assert listed(node, service).get("client-id") == node.other.client_id, "another owner is listed than the publisher"
    if told is not None:
        assert told.message.get("client-id") == node.other.client_id, "another owner is notified than the publisher"


@rule("PF-023", roles=SERVER, needs=("PF-120",))
def test_a_republish_transfers_ownership(node: NodeUnderTest) -> None:
    """Somebody's service is republished by a second client with a higher generation, by a third as it is.

    Where that is completed, whoever republished it is the owner.
    """
    watch = node.main.sure(node.main.subscribe(node.mine))
    service = node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    # First a newer generation, then the same one: a takeover is to count without any change of content, too.
    for generation in (1, 1):
        client = node.session()
        taken = taken_over(node, client, service.replace(generation=generation))
        if taken is None:
            node.shows("PF-023", "R11", "B")
            continue
        node.shows("PF-023", "R11", "A")
        assert taken.get("client-id") == client.client_id, "a republish is completed, and the owner is another client"

        def is_told(owner: int = client.client_id) -> bool:
            return any(match.message.get("client-id") == owner for match in watch.about(service.id))

        assert node.main.wait_for_notification(is_told, "modified"), (
            "who had matched a service is not told its new owner"
        )


@rule("PF-024", roles=SERVER)
def test_a_refused_republish_changes_nothing(node: NodeUnderTest) -> None:
    """Another client republishes somebody's service with a higher generation and other properties.

    It succeeds as a whole, or fails and leaves all as it was.
    """
    service = node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    client = node.session()
    # Generation, properties and owner all differ: a republish that is half done shows in one of them.
    republish = client.publish(service.newer(props=node.service(name=["y"]).props))
    fields = listed(node, service)
    state = fields.get("generation"), values_of(fields, "name"), fields.get("client-id")
    if republish.completed:
        node.shows("PF-024", "R11", "A")
        assert state == (1, ["y"], client.client_id), "a republish is completed, and not what is listed"
        return
    node.shows("PF-024", "R11", "B")
    assert republish.refused, "another client's republish is neither completed nor refused"
    reasons = (None, "permission-denied", "insufficient-resources")
    assert republish.reason in reasons, "another client's republish is refused for a reason that is not the case"
    assert state == (0, ["x"], node.other.client_id), "a republish that was refused has changed the service"


@rule("PF-203", roles=SERVER)
def test_numbers_and_texts_of_numbers(node: NodeUnderTest) -> None:
    """Publish a name with the number 5, the text 5 and the text 05.

    All three are listed, the number as a number and the texts as texts.
    """
    # 05: a server that keeps numbers in texts gives it back as 5.
    service = node.service(a=[5, "5", "05"])
    assert granted(node.other.publish(service)), "a number beside its text is refused"
    values = values_of(listed(node, service), "a")
    assert sorted(map(repr, values)) == ["'05'", "'5'", "5"], "a number and its text are not two values"


@rule("PF-204", roles=SERVER)
def test_a_new_service_of_a_high_generation(node: NodeUnderTest) -> None:
    """Publish services that nobody knows with the generations 17 and 2^63-1.

    They are taken as they come.
    """
    # Neither is 0, where a client of the document begins; a server has to take what other servers have seen grow.
    for generation in (17, MOST):
        service = node.service(generation=generation)
        assert granted(node.other.publish(service)), "a new service is refused for its generation"
        assert listed(node, service).get("generation") == generation, "a new service has another generation"
