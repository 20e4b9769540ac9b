"""Pathfinder, "Publish Command": when a service may be published anew, and what is known of it then."""

from conformance.cases import judging, rule
from conformance.pathfinder.answers import granted, listed, values_of
from conformance.pathfinder.roles import SERVER
from conformance.wording import worded
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.json.strict import MOST

OLD, SAME = "old-generation", "same-generation-but-different"


@rule("PF-157", roles=SERVER)
def test_fifty_services_at_once(node: NodeUnderTest) -> None:
    """Publish fifty services without waiting; when the last is completed, another client lists all of them."""
    # Its handshake is done before the publishes, so that the listing comes right behind the last of them.
    _ = node.other
    services = [node.service(n=[number]) for number in range(50)]
    # Fifty: more than a packet's worth, so that several frames end up in one read of the server.
    publishes = [node.main.begin("publish", service.fields) for service in services]
    node.main.wait_until(lambda: all(publish.is_over for publish in publishes))
    assert all(granted(publish) for publish in publishes), "a service is refused that nobody had published"
    missing = {service.id for service in services} - set(node.listed(session=node.other))
    assert not missing, f"of 50 services that were published {len(missing)} are not listed"


@rule("PF-158", roles=SERVER)
def test_higher_and_higher_generations(node: NodeUnderTest) -> None:
    """Publish a service with new properties, a new TTL, both, and the largest generation: each time in a higher one.

    Each is completed, and the last is listed.
    """
    first = node.service(v=[0])
    changed = first.newer(props={**first.props, "v": [1]})
    longer = changed.newer(ttl=90)
    # A leap, since generations need not follow each other.
    both = longer.newer(by=998, ttl=91, props={**first.props, "v": [2]})
    last = both.replace(generation=MOST, ttl=92)
    for service in (first, changed, longer, both, last):
        publish = node.main.publish(service)
        assert granted(publish), f"generation {service.generation} is refused: {publish}"
    fields = listed(node, last)
    assert (fields.get("generation"), fields.get("ttl"), values_of(fields, "v")) == (MOST, 92, [2])


@rule("PF-158", roles=SERVER)
def test_the_same_service_again(node: NodeUnderTest) -> None:
    """Publish a service twice with the same generation, properties and TTL; both are completed."""
    service = node.service(generation=3, a=["x", "y"])
    node.main.sure(node.main.publish(service))
    assert granted(node.main.publish(service)), "a service is refused that is published as it is"


@rule("PF-159", "PF-164", roles=SERVER, needs=("PF-157",))
def test_another_content_in_the_same_generation(node: NodeUnderTest) -> None:
    """Publish a service again in the same generation: with other properties, with another TTL, with both other.

    Each fails, and the first is still listed; the reason, if any, says what is wrong.
    """
    # Not 0: a server that does not compare, but takes 0 for "none yet", would pass with it.
    service = node.service(v=["old"], generation=5)
    node.main.sure(node.main.publish(service))
    other = {**service.props, "v": ["new"]}
    # One at a time and both: a server may compare only the properties, or only the TTL.
    for again in (service.replace(props=other), service.replace(ttl=90), service.replace(props=other, ttl=90)):
        publish = node.main.publish(again)
        with judging("PF-159"):
            assert not granted(publish), "a service is changed within its generation"
            fields = listed(node, service)
            assert (values_of(fields, "v"), fields.get("ttl")) == (["old"], service.ttl), (
                "a change that failed is listed"
            )
        with judging("PF-164"):
            assert publish.reason in (None, SAME), (
                f"another content in a generation fails with {worded(publish.reason)}"
            )


@rule("PF-164", "PF-165", roles=SERVER, needs=("PF-157",))
def test_a_lower_generation(node: NodeUnderTest) -> None:
    """Publish generation 5 of a service, then generation 4: the same otherwise, and with other properties.

    Both fail, and generation 5 is still listed; the reason, if any, says what is wrong.
    """
    service = node.service(v=["old"], generation=5)
    node.main.sure(node.main.publish(service))
    # The same contents too: a server that compares contents before generations takes it for a repetition.
    for again in (service.replace(generation=4), service.replace(generation=4, props={**service.props, "v": ["new"]})):
        publish = node.main.publish(again)
        with judging("PF-165"):
            assert not granted(publish), "an older generation is taken for a newer one"
            fields = listed(node, service)
            assert (fields.get("generation"), values_of(fields, "v")) == (5, ["old"])
        with judging("PF-164"):
            assert publish.reason in (None, OLD), f"a lower generation fails with {worded(publish.reason)}"


@rule("PF-162", roles=SERVER)
def test_what_a_publish_is_answered(node: NodeUnderTest) -> None:
    """Publish a service; the complete has the mandatory fields and no others."""
    publish = node.main.sure(node.main.publish(node.service()))
    assert publish.ending is not None
    alien = sorted(publish.ending.fields.keys() - {"ta-cmd", "ta-id", "msg-type"})
    assert not alien, f"the complete of a publish has the fields {worded(alien)}"


@rule("PF-193", roles=SERVER)
def test_values_that_repeat_and_names_without_values(node: NodeUnderTest) -> None:
    """Publish properties in which values are repeated, and one name has none; then publish the same again.

    Both are refused, or the values are listed and the second is no change.
    """
    # Both kinds of values twice; a third property behind the empty one shows a parser that loses its place.
    service = node.service(a=["x", "x", 1, 1], b=[], c=["y"])
    publish = node.main.publish(service)
    if publish.refused:
        return
    fields = listed(node, service, session=node.other)
    assert set(values_of(fields, "a")) == {"x", 1}, "values are lost that stand twice in a property"
    assert not values_of(fields, "b"), "a property without values is listed with some"
    assert set(values_of(fields, "c")) == {"y"}, "a property behind one without values is listed otherwise"
    assert granted(node.main.publish(service)), "what was published is refused as a change of itself"
