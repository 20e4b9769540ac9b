"""Pathfinder, "TTL", "Transient Clients" and "Service Lifetime": how long a service is there."""

from collections import Counter

from conformance.cases import rule
from conformance.pathfinder.answers import granted, listed
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.waiting import (
    end_subscription,
    expect_match,
    protocol_seconds,
    reconnect,
    wait_for_orphan,
    wait_until,
    wait_until_gone,
    watch,
)
from harness.errors import NotAnswered
from harness.pathfinder.tester.driver import Driver, Service
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.json.strict import MOST

NEARLY = 0.95
"""The part of a TTL that has to pass in any case: clocks have grains."""

AT_ONCE = 0.5
"""Seconds, of both our time and the protocol's, within which something has happened at once."""


ENDINGS = (Driver.close, Driver.abort, Driver.break_off)
"""How a connection may end: in good order, by a reset, or by the server, for what it was sent."""


@rule("PF-015", roles=SERVER, needs=("PF-120",))
def test_an_orphan_stays_for_its_ttl(node: NodeUnderTest) -> None:
    """Publish a service with a TTL of two seconds, be silent for a while, and leave; or say what ends the connection.

    It is listed, and nobody is told otherwise, until the two seconds are over.
    """
    # Two seconds: long enough for several looks at any tempo, and for a server that counts in whole seconds.
    ttl, watching = 2, watch(node)
    for leave in (Driver.close, Driver.break_off):
        owner, service = node.session(), node.service(ttl=ttl)
        owner.sure(owner.publish(service))
        expect_match(node.main, watching, "appeared", service)
        # Nobody says anything meanwhile: a server that looks at its clock too seldom lets the service go too soon.
        node.main.read(0.25 * ttl)
        began = node.trace.now()
        leave(owner)
        # Up to 0.8 of it: a look takes time too, and the last one has to come before NEARLY.
        while protocol_seconds(node, began) < 0.8 * ttl:
            is_listed = service.id in node.listed()
            # Asked again behind the look: the answer may have come when the TTL was over already.
            if protocol_seconds(node, began) < NEARLY * ttl:
                assert is_listed, "an orphan is removed before its TTL is over"
            node.main.read(0.1 * ttl)
        gone = node.main.receives(watching, "disappeared", service.id)
        if gone is not None:
            age = (gone.time - began) * node.tempo
            assert age >= NEARLY * ttl, "an orphan disappears before its TTL is over"


@rule("PF-015", roles=SERVER, needs=("PF-120",))
def test_a_ttl_begins_with_the_latest_loss(node: NodeUnderTest) -> None:
    """Publish a service with a TTL of two seconds, leave for one, come back, publish it again, and leave once more.

    It is there for two seconds from then on.
    """
    ttl, watching = 2, watch(node)
    owner, service = node.session(), node.service(ttl=ttl)
    owner.sure(owner.publish(service))
    expect_match(node.main, watching, "appeared", service)
    owner.close()
    wait_until_gone(node, owner)
    # Half of the TTL: what is counted from the first loss is over long before what is counted from the second.
    node.main.read(0.5 * ttl)
    owner, _ = reconnect(node, owner)
    # In a higher generation: some servers file what is published as it is under the connection that it had before.
    owner.sure(owner.publish(service.newer()))
    began = node.trace.now()
    owner.close()
    while protocol_seconds(node, began) < 0.8 * ttl:
        is_listed = service.id in node.listed()
        if protocol_seconds(node, began) < NEARLY * ttl:
            assert is_listed, "an orphan is removed before its TTL is over: it was counted from an earlier loss"
        node.main.read(0.1 * ttl)


@rule("PF-030", roles=SERVER)
def test_who_comes_only_to_publish(node: NodeUnderTest) -> None:
    """Publish a service and leave; others come only to list it.

    They find it.
    """
    owner, service = node.session(), node.service()
    owner.sure(owner.publish(service))
    owner.close()
    # Twice: the first visitor's leaving is to change nothing for the second.
    for _ in range(2):
        visitor = node.session()
        assert service.id in node.listed(session=visitor), "a service is gone with the connection that it came on"
        visitor.close()


@rule("PF-047", roles=SERVER, needs=("PF-120",))
def test_a_republish_that_changes_nothing(node: NodeUnderTest) -> None:
    """Publish a service twice, the second time as it is.

    Both are completed; whether who watches is told anything is open.
    """
    watching, service = watch(node), node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    expect_match(node.main, watching, "appeared", service)
    # Once more than needed: a server that marks the first repetition shows with the second.
    for _ in range(2):
        assert granted(node.other.publish(service)), "a republish that changes nothing is refused"
    assert listed(node, service)["service-props"] == service.props, "a republish that changes nothing changes something"
    # A real change behind them: when it is told, the repetitions would have been.
    node.other.sure(node.other.publish(service.newer(ttl=30)))
    expect_match(node.main, watching, "modified", service)
    repeated = [match for match in watching.about(service.id)[1:] if match.message.get("generation") == 0]
    node.shows("PF-047", "R20", "B" if repeated else "A")
    assert all(
        match.what == "modified" and match.message.get("service-props") == service.props for match in repeated
    ), "a republish that changes nothing is told as a change"


@rule("PF-049", roles=SERVER)
def test_the_owners_connection_is_closed(node: NodeUnderTest) -> None:
    """Publish two services and close the connection; come back, publish them as they are, and close it again.

    Both are listed as orphans, each time.
    """
    # Two services: a server that remembers a client's latest one only is found out.
    owner, services = node.session(), [node.service(), node.service()]
    for turn in range(2):
        if turn:
            owner, _ = reconnect(node, owner)
        for service in services:
            owner.sure(owner.publish(service))
        owner.close()
        for service in services:
            again = " again" * turn
            assert wait_for_orphan(node, service), f"the owner has closed its connection{again}: no orphan"


@rule("PF-049", roles=SERVER)
def test_the_owners_connection_is_reset(node: NodeUnderTest) -> None:
    """Publish two services and reset the connection.

    Both are listed as orphans.
    """
    owner, services = node.session(), [node.service(), node.service()]
    for service in services:
        owner.sure(owner.publish(service))
    # A reset is another path in most servers: reading fails instead of ending.
    owner.abort()
    for service in services:
        assert wait_for_orphan(node, service), "the owner's connection is reset, and its service is no orphan"


@rule("PF-050", roles=SERVER, needs=("PF-157",))
def test_orphans_are_told_to_all(node: NodeUnderTest) -> None:
    """Two clients watch a service whose owner leaves, comes back and publishes it again.

    Both are told that it is an orphan, and that it is none any more.
    """
    owner, service = node.session(), node.service()
    watchers = [(each, watch(node, session=each)) for each in (node.main, node.other)]
    owner.sure(owner.publish(service))
    for session, watching in watchers:
        expect_match(session, watching, "appeared", service)
    owner.close()
    for session, watching in watchers:
        orphaned = session.receives(watching, "modified", service.id)
        assert orphaned is not None, "nobody is told that a service has become an orphan"
        assert orphaned.is_orphan, "a service becomes an orphan, and what is told does not say so"
    back, _ = reconnect(node, owner)
    node.shows("PF-050", "R24", "A" if "orphan-since" in listed(node, service) else "B")
    # Published again: with reading R24 B the hello alone does not make it owned.
    back.sure(back.publish(service))
    for session, watching in watchers:
        # The second: the first told that it was an orphan.
        claimed = session.receives(watching, "modified", service.id, count=2)
        assert claimed is not None, "nobody is told that an orphan has its owner back"
        assert not claimed.is_orphan, "an orphan has its owner back, and is told as an orphan"


@rule("PF-052", roles=SERVER, needs=("PF-120",))
def test_orphans_expire(node: NodeUnderTest) -> None:
    """Publish services with a TTL of one second, of two and of a minute and leave; come back, and leave again at once.

    The first two are removed, and who watches is told once.
    """
    watching, owner = watch(node, "(brief=yes)"), node.session()
    services = [node.service(ttl=ttl, brief=["yes"]) for ttl in (1, 2)]
    # For servers that look at the wrong one of several times. Nobody watches it: news may be late by a part of its TTL.
    lasting = node.service(ttl=60)
    for service in services:
        owner.sure(owner.publish(service))
        expect_match(node.main, watching, "appeared", service)
    owner.sure(owner.publish(lasting))
    owner.close()
    # A server that only adds what is to happen when has two times for each now.
    owner, _ = reconnect(node, owner)
    for service in (*services, lasting):
        owner.sure(owner.publish(service))
    owner.close()
    for service in services:
        # Its seconds, and as much as any answer may take.
        until = node.main.now() + node.timing.within(service.ttl)
        gone = node.main.receives(watching, "disappeared", service.id, until=until)
        assert gone, "an orphan expires, and nobody is told"
        assert wait_until(node, lambda id=service.id: id not in node.listed()), "an orphan is listed after its TTL"  # type: ignore[misc]
    told = Counter(match.what for match in end_subscription(node.main, watching))
    assert told["disappeared"] <= told["appeared"], "an orphan expires, and it is told twice"
    # Else it would stay on the server for as long.
    back, _ = reconnect(node, owner)
    back.sure(back.publish(lasting.newer(ttl=1)))


@rule("PF-052", roles=SERVER, needs=("PF-120",))
def test_an_orphan_without_time(node: NodeUnderTest) -> None:
    """Publish a service with a TTL of 0 and leave.

    It is there while its owner is, and gone at once or within a second when it is not.
    """
    watching, owner, service = watch(node), node.session(), node.service(ttl=0)
    assert granted(owner.publish(service)), "a TTL of 0 is refused"
    assert service.id in node.listed(), "a service with a TTL of 0 is gone while its owner is there"
    expect_match(node.main, watching, "appeared", service)
    began = node.trace.now()
    owner.close()
    gone = node.main.receives(watching, "disappeared", service.id)
    assert gone is not None, "an orphan with a TTL of 0 does not disappear"
    # A tester in a hurry makes more of its own delays than a server does of a second.
    node.shows("PF-052", "R19", "A" if gone.time - began < node.timing.stretched(AT_ONCE) else "B")
    assert service.id not in node.listed(), "an orphan with a TTL of 0 is listed after it has disappeared"


@rule("PF-052", roles=SERVER)
def test_an_orphan_for_ever(node: NodeUnderTest) -> None:
    """Publish a service with the largest TTL there is, leave, and come back for it.

    It was there all the time.
    """
    owner, service = node.session(), node.service(ttl=MOST)
    if not granted(owner.publish(service)):
        raise NotAnswered("the largest TTL is refused")
    owner.close()
    wait_until_gone(node, owner)
    # A server that overflows has the orphan expire at once, but with the next tick of its clock at the latest.
    node.main.read(0.5)
    fields = node.listed().get(service.id)
    back, _ = reconnect(node, owner)
    assert fields is not None, "an orphan with the largest TTL is gone"
    assert fields.get("ttl") == MOST, "the largest TTL is listed as another"
    # Else it would stay on the server for ever.
    back.sure(back.publish(service.newer(ttl=1)))


@rule("PF-205", roles=SERVER, needs=("PF-120",))
def test_the_ttl_does_not_run_while_the_owner_is_there(node: NodeUnderTest) -> None:
    """Publish two services with a TTL of a second, leave, come back, publish them again, one changed; stay for three.

    They are there, they are no orphans, and who watches is not told otherwise.
    """
    watching, owner, services = watch(node), node.session(), [node.service(ttl=1) for _ in range(2)]
    for service in services:
        owner.sure(owner.publish(service))
        expect_match(node.main, watching, "appeared", service)
    # An orphan that stays: who looks at the times of all orphans has another to look at.
    leaving = node.session()
    leaving.sure(leaving.publish(node.service(ttl=60)))
    leaving.close()
    owner.close()
    owner, _ = reconnect(node, owner)
    for service in (services[0], services[1].newer()):
        owner.sure(owner.publish(service))
    # Three times the TTL: a server that counts from the publishing, or on from the loss, is past any rounding by then.
    node.main.read(3)
    end_subscription(node.main, watching)
    for service in services:
        is_there(node, watching, service)


def is_there(node: NodeUnderTest, watching: Transaction, service: Service) -> None:
    """Make sure that a service whose owner is connected is listed as such, and was not told to be gone."""
    fields = node.listed().get(service.id)
    assert fields is not None, "a service is gone though its owner is there"
    assert "orphan-since" not in fields, "a service is an orphan though its owner is there"
    # The last word counts: on its way back the owner may have been late.
    heard = [match.what for match in watching.about(service.id)]
    assert heard[-1] != "disappeared", "a service disappears though its owner is there"


@rule("PF-206", roles=SERVER)
def test_only_the_present_owner_counts(node: NodeUnderTest) -> None:
    """A service is published by one client and taken over by another; the first one and a bystander leave.

    It is no orphan.
    """
    first, bystander, service = node.session(), node.session(), node.service()
    first.sure(first.publish(service))
    # The bystander has a subscription and no service: its leaving is to end that alone.
    watch(node, session=bystander)
    if not granted(node.other.publish(service.newer())):
        node.shows("PF-206", "R11", "B")
        first.close()
        return
    node.shows("PF-206", "R11", "A")
    first.close()
    bystander.close()
    wait_until_gone(node, first, bystander)
    assert "orphan-since" not in listed(node, service), "a service is an orphan though its present owner is there"


@rule("PF-206", roles=SERVER, needs=("PF-120",))
def test_an_orphan_that_another_client_takes_over(node: NodeUnderTest) -> None:
    """Publish services with a TTL of a second and leave; another client publishes them, one changed, and stays for two.

    They are there, and no orphans, unless that is refused.
    """
    watching, first, services = watch(node), node.session(), [node.service(ttl=1) for _ in range(2)]
    for service in services:
        first.sure(first.publish(service))
        expect_match(node.main, watching, "appeared", service)
    first.close()
    wait_until_gone(node, first)
    taken = [service for service in (services[0], services[1].newer()) if granted(node.other.publish(service))]
    node.shows("PF-206", "R11", "A" if len(taken) == len(services) else "B")
    # Twice the TTL of what a server may let go that counts on from the loss of the owner before.
    node.main.read(2)
    end_subscription(node.main, watching)
    for service in taken:
        is_there(node, watching, service)


@rule("PF-229", roles=SERVER)
def test_coming_back_at_once(node: NodeUnderTest) -> None:
    """Twelve times: connect, publish, end the connection in one of three ways, and connect again as the same client.

    It is let in, at once or after a moment.
    """
    service, session = node.service(), node.session()
    refusals = 0
    # Many times: whether the server has noticed the end by then is a race, which one try may win by luck.
    for number in range(12):
        session.sure(session.publish(service))
        ENDINGS[number % len(ENDINGS)](session)
        try:
            session, times = reconnect(node, session)
        except NotAnswered as error:
            raise AssertionError(str(error)) from error
        refusals += times
    node.shows("PF-229", "R22", "B" if refusals else "A")
