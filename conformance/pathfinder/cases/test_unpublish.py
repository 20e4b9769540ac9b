"""Pathfinder, "Unpublish Command": who may take a service back, and what follows."""

from conformance.cases import judging, rule
from conformance.pathfinder.answers import granted, listed
from conformance.pathfinder.roles import SERVER
from conformance.wording import worded
from harness.pathfinder.tester.driver import new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest


@rule("PF-166", "PF-169", roles=SERVER)
def test_unpublish_a_service_of_ones_own(node: NodeUnderTest) -> None:
    """Publish a service in a high generation, unpublish it, and publish it again in generation 0.

    It is gone, and may come back; the complete has the mandatory fields and no others.
    """
    # High, so that 0 would be refused if the record were still known.
    service = node.service(generation=7)
    node.main.sure(node.main.publish(service))
    unpublish = node.main.unpublish(service.id)
    with judging("PF-166"):
        assert unpublish.completed, f"an owner may not unpublish: {unpublish}"
        assert service.id not in node.listed(session=node.other), "a service is listed that was unpublished"
        again = node.main.publish(service.replace(generation=0))
        assert granted(again), f"a service that was unpublished may not be published again: {again}"
    with judging("PF-169"):
        assert unpublish.ending is not None
        alien = sorted(unpublish.ending.fields.keys() - {"ta-cmd", "ta-id", "msg-type"})
        assert not alien, f"the complete of an unpublish has the fields {worded(alien)}"


@rule("PF-167", roles=SERVER)
def test_unpublish_a_service_of_anothers(node: NodeUnderTest) -> None:
    """Somebody unpublishes another client's service.

    It is completed and the service is gone, or it fails and the service is there as before.
    """
    service = node.service()
    node.main.sure(node.main.publish(service))
    unpublish = node.other.unpublish(service.id)
    if unpublish.completed:
        assert service.id not in node.listed(), "a service is listed whose unpublish was completed"
        node.shows("PF-167", "R11", "A")
        return
    assert unpublish.refused, f"unpublish is not answered: {unpublish}"
    assert unpublish.reason in (None, "permission-denied", "insufficient-resources")
    assert service.id in node.listed(), "an unpublish that failed removed the service"
    assert listed(node, service).get("client-id") == node.main.client_id, "a refused unpublish changed the owner"
    node.shows("PF-167", "R11", "B")


@rule("PF-171", roles=SERVER)
def test_unpublish_what_is_not_there(node: NodeUnderTest) -> None:
    """Unpublish an identifier that was never published, and one that was unpublished before.

    Both fail; the reason, if any, is that there is no such service.
    """
    service = node.service()
    node.main.sure(node.main.publish(service))
    node.main.sure(node.main.unpublish(service.id))
    # Never known, and known no more: a server that keeps what was unpublished tells them apart.
    for id in (new_id(), service.id):
        unpublish = node.main.unpublish(id)
        # For its exception: a server short of resources has not judged the identifier.
        granted(unpublish)
        assert unpublish.failed, f"a service is unpublished that there is not: {unpublish}"
        assert unpublish.reason in (None, "non-existent-service-id")
