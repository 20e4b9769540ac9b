"""Pathfinder, "Domains": one space of services, and everybody sees it."""

from conformance.cases import NotPlayed, judging, rule
from conformance.pathfinder.answers import EXCUSES, granted, listed
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.waiting import wait_until, wait_until_gone, watch
from conformance.wording import worded
from harness.pathfinder.tester.driver import Driver
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


@rule("PF-027", "PF-035", "PF-225", roles=SERVER, needs=("PF-157", "PF-120"))
def test_clients_of_two_addresses(node: NodeUnderTest) -> None:
    """Connect from another address of this machine; publish, watch and list from there and from the first one.

    Both are served alike, see each other, and are listed where they are.
    """
    if not node.other_hosts:
        raise NotPlayed("this node can be reached from one address of this machine only")
    far = node.connect(source=node.other_hosts[0])
    with judging("PF-027"):
        assert granted(far.hello()), "a client is refused for the address that it comes from"
    services = [node.service(name=["far"], ttl=30), node.service(name=["near"])]
    watches = [(session, watch(node, session=session)) for session in (far, node.main)]
    for session, service in zip((far, node.other), services, strict=True):
        assert granted(session.publish(service)), "a service is refused for the address that it comes from"
    with judging("PF-035"):
        for session, watching in watches:
            found = node.listed(session=session)
            assert found.keys() == {service.id for service in services}, "a list leaves out services of other addresses"
            for service in services:
                told = session.receives(watching, "appeared", service.id)
                assert told, "a subscription is not told of services of other addresses"
    with judging("PF-225"):
        clients = node.main.sure(node.main.clients()).notifications
        there = {each.get("client-id"): each.get("client-addr", each.get("client-address")) for each in clients}
        # Something may stand between: then the port is not ours either.
        if str(far.link.ports[0]) in str(there.get(far.client_id)):
            assert node.other_hosts[0] in str(there[far.client_id]), (
                f"a client at {node.other_hosts[0]} is listed at {worded(there[far.client_id])}"
            )


@rule("PF-027", "PF-047", roles=SERVER, needs=("PF-157",))
def test_a_client_that_comes_back_from_another_address(node: NodeUnderTest) -> None:
    """Connect from another address of this machine, publish, leave, and come back from the first address.

    The client is let in, and may publish its service again; or it is refused for want of the right to do so.
    """
    if not node.other_hosts:
        raise NotPlayed("this node can be reached from one address of this machine only")
    far, service = node.connect(source=node.other_hosts[0]), node.service(ttl=30)
    far.sure(far.hello())
    far.sure(far.publish(service))
    far.close()
    wait_until_gone(node, far)
    tries: list[Driver] = []

    def is_known_to_be_gone() -> bool:
        # A server may take a moment for that, also when it lists the client no more (R22).
        tries.append(node.connect(client_id=far.client_id))
        return bool(tries[-1].hello().reason != "client-id-exists")

    wait_until(node, is_known_to_be_gone, seconds=2.0)
    back = tries[-1]
    (let_in,) = (each for each in back.conversation.transactions if each.command == "hello")
    with judging("PF-027"):
        # Which client may come from where is the server's choice; that somebody else has the identifier is not so.
        assert let_in.completed or let_in.reason in (None, *EXCUSES), f"a client comes from another address: {let_in}"
    if not let_in.completed:
        return
    with judging("PF-047"):
        again = back.publish(service)
        assert again.completed or again.reason in EXCUSES, f"a client comes from another address: {again}"
        if again.completed:
            is_owned = wait_until(node, lambda: "orphan-since" not in listed(node, service))
            assert is_owned, "a service is an orphan whose owner is back from another address"
