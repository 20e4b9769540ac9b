"""Pathfinder, "Domains": one space of services, and everybody sees it."""

from conformance.cases import rule
from conformance.pathfinder.roles import SERVER
from harness.pathfinder.tester.node_under_test import NodeUnderTest


@rule("PF-034", roles=SERVER)
def test_one_record_of_an_identifier(node: NodeUnderTest) -> None:
    """Two clients publish different services under one service-id, the second with a lower, then a higher generation.

    Whatever is answered, everybody finds one record of that identifier.
    """
    first = node.service(name=["x"], generation=5)
    second = first.replace(props=node.service(name=["y"]).props)
    node.main.sure(node.main.publish(first))
    # One below the generation that is known and one above.
    for generation in (3, 7):
        node.other.publish(second.replace(generation=generation))
        for session in (node.main, node.other, node.session()):
            found = session.sure(session.services(node.mine)).notifications
            count = [fields.get("service-id") for fields in found].count(first.id)
            assert count == 1, "a service-id does not stand for one record"


@rule("PF-035", roles=SERVER)
def test_everybody_sees_everything(node: NodeUnderTest) -> None:
    """One client publishes and subscribes; another one lists services, subscriptions and clients.

    What the first has done, and itself, is among them.
    """
    service = node.service(name=["x"])
    node.main.sure(node.main.publish(service))
    watch = node.main.sure(node.main.subscribe(node.mine))
    id = watch.request.fields["subscription-id"]
    asking = node.other
    assert service.id in node.listed(session=asking), "another client's service is not listed"
    for listing, name, own in (
        (asking.subscriptions(), "subscription-id", id),
        (asking.clients(), "client-id", node.main.client_id),
    ):
        seen = [fields.get(name) for fields in asking.sure(listing).notifications]
        assert own in seen, f"another client's {name} is not listed"
