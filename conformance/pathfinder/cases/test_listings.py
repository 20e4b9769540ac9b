"""Pathfinder, "Subscriptions Command", "Services Command" and "Clients Command": what there is at this moment."""

import time
from collections.abc import Callable

from conformance.cases import Inconclusive, judging, rule
from conformance.pathfinder.answers import EXCUSES, granted, listed, values_of
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.same_filters import mean_the_same
from conformance.pathfinder.waiting import CLOCKS, wait_until
from conformance.wording import worded
from harness.pathfinder.tester.driver import Driver, new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.pathfinder.filters import FilterError, parse
from wire.pathfinder.values import Message

MANDATORY = {"ta-cmd", "ta-id", "msg-type"}


def subscriptions(session: Driver) -> list[tuple[object, object]]:
    """Return the identifiers of all subscriptions that a server lists, each with its owner's."""
    found = session.sure(session.subscriptions()).notifications
    return [(fields.get("subscription-id"), fields.get("client-id")) for fields in found]


def clients(session: Driver) -> list[Message]:
    """Return what a server lists of its clients."""
    return session.sure(session.clients()).notifications


def ends(listing: Transaction, kind: str) -> set[str]:
    """Return the names of the fields of the first message of a type in a transaction."""
    # The first: several messages of the type would be another rule's offence.
    return next((set(answer.fields) for answer in listing.answers if answer.type == kind), set())


def is_snapshot(session: Driver, listing: Transaction, change: Callable[[], None]) -> None:
    """Make sure that a list has ended, and hears of no change behind its end."""
    assert granted(listing), f"a list is not completed: {listing}"
    assert listing.accepted, "a list is completed that was not accepted"
    change()
    session.barrier()
    assert not listing.late, "a list goes on behind its complete"


@rule("PF-141", "PF-143", "PF-145", roles=SERVER)
def test_a_list_of_subscriptions(node: NodeUnderTest) -> None:
    """List the subscriptions; then another client subscribes.

    Accept, notifications, complete, and nothing more; accept and complete have no fields of their own.
    """
    node.main.sure(node.main.subscribe(node.mine))
    listing = node.main.subscriptions()
    with judging("PF-141"):
        is_snapshot(node.main, listing, lambda: void(node.other.sure(node.other.subscribe(node.mine))))
    with judging("PF-143"):
        assert ends(listing, "accept") == MANDATORY, "accept has not the mandatory fields alone"
    with judging("PF-145"):
        assert ends(listing, "complete") == MANDATORY, "complete has not the mandatory fields alone"


@rule("PF-150", "PF-152", "PF-154", roles=SERVER)
def test_a_list_of_services(node: NodeUnderTest) -> None:
    """List the services; then another client publishes one.

    Accept, notifications, complete, and nothing more; accept and complete have no fields of their own.
    """
    node.main.sure(node.main.publish(node.service()))
    listing = node.main.services(node.mine)
    with judging("PF-150"):
        is_snapshot(node.main, listing, lambda: void(node.other.sure(node.other.publish(node.service()))))
    with judging("PF-152"):
        assert ends(listing, "accept") == MANDATORY, "accept has not the mandatory fields alone"
    with judging("PF-154"):
        assert ends(listing, "complete") == MANDATORY, "complete has not the mandatory fields alone"


@rule("PF-172", "PF-175", "PF-178", roles=SERVER)
def test_a_list_of_clients(node: NodeUnderTest) -> None:
    """List the clients; then another one connects.

    Accept, notifications, complete, and nothing more; accept and complete have no fields of their own.
    """
    listing = node.main.clients()
    with judging("PF-172"):
        is_snapshot(node.main, listing, lambda: void(node.session()))
    with judging("PF-175"):
        assert ends(listing, "accept") == MANDATORY, "accept has not the mandatory fields alone"
    with judging("PF-178"):
        assert ends(listing, "complete") == MANDATORY, "complete has not the mandatory fields alone"


def void(done: object) -> None:
    """Take note that something was done."""


@rule("PF-144", "PF-226", roles=SERVER)
def test_everybodys_subscriptions(node: NodeUnderTest) -> None:
    """Two clients subscribe twice each; the subscriptions are listed, and again once one of the clients has left.

    All four are there with their owners, then the two of the client that stayed.
    """
    made = []
    # Two each: one per client would hide a list that has one line per client.
    for session in (node.main, node.other):
        for _ in range(2):
            id = new_id()
            session.sure(session.subscribe(node.mine, id=id))
            made.append((id, session.client_id))
    # A third client asks: what is listed must not be the asker's own.
    asking = node.session()
    found = [each for each in subscriptions(asking) if each[0] in dict(made)]
    with judging("PF-226"):
        assert sorted(id for id, _ in found if isinstance(id, int)) == sorted(dict(made)), (
            "of four subscriptions not each is listed once"
        )
    with judging("PF-144"):
        assert sorted(found, key=repr) == sorted(made, key=repr), "a subscription is listed as another client's"
    node.other.close()
    gone = {id for id, owner in made if owner == node.other.client_id}
    with judging("PF-226"):
        assert wait_until(node, lambda: not gone & {id for id, _ in subscriptions(asking)}), (
            "a subscription is listed whose connection has ended"
        )


@rule("PF-148", roles=SERVER)
def test_the_filters_of_subscriptions(node: NodeUnderTest) -> None:
    """Subscribe with a filter and without; the subscriptions are listed with the filters that they were made with."""
    with_filter, without = new_id(), new_id()
    # Narrowed to this play: a filter of more than one level, which is harder to give back.
    text = node.narrow("(a=b)")
    node.main.sure(node.main.subscribe(text, id=with_filter))
    node.main.sure(node.main.subscribe(id=without))
    found = node.main.sure(node.main.subscriptions()).notifications
    filters = {fields.get("subscription-id"): fields.get("filter") for fields in found}
    if not {with_filter, without} <= set(filters):
        raise Inconclusive("not every subscription is listed")
    assert filters[without] is None, "a subscription without filter is listed with one"
    listed_text = filters[with_filter]
    assert isinstance(listed_text, str), "a subscription with a filter is listed without"
    try:
        # By meaning: R40 leaves the text open.
        same = mean_the_same(parse(listed_text, deployed=True), parse(text, deployed=True))
    except FilterError as error:
        raise AssertionError(f"a filter is listed that is none: {error}") from error
    assert same, f"another filter is listed than was given: {worded(listed_text)}"
    node.shows("PF-148", "R40", "A" if listed_text == text else "B")


@rule("PF-149", roles=SERVER)
def test_services_with_a_filter_and_without(node: NodeUnderTest) -> None:
    """Publish five services, two of which a filter matches; list with it and without.

    Exactly the two are listed, then all.
    """
    # Alternating, so that neither what comes first nor what comes last is all that matches.
    services = [node.service(kind=["ab"[number % 2]]) for number in range(5)]
    for service in services:
        node.other.sure(node.other.publish(service))
    wanted = {service.id for service in services if service.props["kind"] == ["b"]}
    assert set(node.listed("(kind=b)")) == wanted, "a list with a filter has not what matches"
    everything = node.main.sure(node.main.services()).notifications
    assert {service.id for service in services} <= {fields.get("service-id") for fields in everything}, (
        "a list without filter leaves services out"
    )


@rule("PF-022", "PF-124", "PF-131", "PF-149", roles=SERVER, needs=("PF-120",))
def test_all_sorts_of_services_without_a_filter(node: NodeUnderTest) -> None:
    """Publish services with properties and without any; one of each has lost its owner. List and subscribe to all.

    All four are listed and appear, with their owners; and what becomes of those without properties is told.
    """
    before = node.main.subscribe()
    gone = node.session()
    bare = node.service().replace(props={})
    services = [node.service(), bare, node.service(), node.service().replace(props={})]
    for session, service in zip((node.other, node.other, gone, gone), services, strict=True):
        publish = session.publish(service)
        with judging("PF-149"):
            assert granted(publish), f"a service is refused for its properties: {publish}"
    orphans = {service.id for service in services[2:]}
    gone.close()

    def found() -> dict[object, Message]:
        return {fields.get("service-id"): fields for fields in node.main.sure(node.main.services()).notifications}

    with judging("PF-131"):
        wait_until(node, lambda: all("orphan-since" in found().get(each, {}) for each in orphans))
        known = {each: fields for each, fields in found().items() if each in orphans}
        assert all("orphan-since" in fields for fields in known.values()), "an orphan is listed as none"
    with judging("PF-149"):
        assert {service.id for service in services} <= found().keys(), "a list without filter leaves services out"
    owners = {found()[service.id].get("client-id") for service in services[2:]}
    with judging("PF-022"):
        assert owners == {gone.client_id}, "an orphan is listed as another client's than its owner's"
    after = node.main.subscribe()
    with judging("PF-124"):
        assert granted(before), "a subscription without a filter is refused"
        assert granted(after), "a subscription without a filter is refused"
        for watching in (before, after):
            for service in services:
                told = node.main.receives(watching, "appeared", service.id)
                assert told, "a subscription without a filter is not told of all services"
        # Those without properties, as they are found by nothing else than that there is no filter.
        node.other.sure(node.other.publish(bare.newer(ttl=30)))
        assert node.main.receives(after, "modified", bare.id), (
            "a service without properties has changed: nobody is told"
        )
        node.other.sure(node.other.unpublish(bare.id))
        assert node.main.receives(after, "disappeared", bare.id), "a service without properties goes: nobody is told"


@rule("PF-153", roles=SERVER)
def test_the_fields_of_a_service(node: NodeUnderTest) -> None:
    """Publish a service, then publish it changed; it is listed with all its fields, as it was published last."""
    first = node.service(v=["old"], ttl=50)
    node.other.sure(node.other.publish(first))
    # Properties and TTL changed: a list made from the first publication shows.
    last = first.newer(props={**first.props, "v": ["new"]}, ttl=70)
    node.other.sure(node.other.publish(last))
    fields = node.listed().get(last.id)
    assert fields is not None, "a service is not listed"
    # Both ways: fields too many as well, since orphan-since must be missing here.
    alien = set(fields) ^ (MANDATORY | {"service-id", "generation", "service-props", "ttl", "client-id"})
    assert not alien, f"a service is listed with these fields too many or too few: {worded(sorted(alien))}"
    shown = (fields.get("generation"), fields.get("ttl"), fields.get("client-id"), values_of(fields, "v"))
    assert shown == (last.generation, last.ttl, node.other.client_id, ["new"])


@rule("PF-131", "PF-228", roles=SERVER, needs=("PF-157",))
def test_orphans_in_a_list(node: NodeUnderTest) -> None:
    """Publish a service, close the connection, and list it twice.

    It has no orphan-since before, and then the time at which the connection was closed, both times the same.
    """
    service = node.service()
    node.other.sure(node.other.publish(service))
    with judging("PF-131"):
        assert "orphan-since" not in listed(node, service), "a service is an orphan whose owner is there"
    began = time.time()
    node.other.close()
    with judging("PF-131"):
        assert wait_until(node, lambda: "orphan-since" in listed(node, service)), (
            "a service is listed without orphan-since whose owner has left"
        )
    ended = time.time()
    since = listed(node, service)["orphan-since"]
    with judging("PF-228"):
        assert began - CLOCKS <= since <= ended + CLOCKS, f"orphan-since is {worded(since)}, at {ended:.0f}"
        # More than a second, as a server may list whole seconds.
        node.main.read(1.5)
        assert listed(node, service)["orphan-since"] == since, "orphan-since changes from list to list"


@rule("PF-156", "PF-147", roles=SERVER, needs=("PF-157",))
def test_a_list_with_a_bad_filter(node: NodeUnderTest) -> None:
    """List the services that match something which is no filter; it fails, for that reason if any."""
    listing = node.main.services("(a=b")
    assert listing.failed, f"what is no filter is taken for one: {listing}"
    assert listing.reason in (None, "invalid-filter-syntax", "no-hello", *EXCUSES), (
        f"services has no reason {worded(listing.reason)}"
    )
    node.shows("PF-156", "R07", "A" if listing.reason == "invalid-filter-syntax" else "B")


@rule("PF-147", roles=SERVER)
def test_lists_before_hello(node: NodeUnderTest) -> None:
    """List subscriptions, services and clients as the first thing on connections of their own.

    Each fails with a common reason, if any, or its connection is closed.
    """
    for command in ("subscriptions", "services", "clients"):
        session = node.connect()
        listing = session.finish(session.begin(command))
        assert listing.refused, f"{command} before hello is not refused: {listing}"
        assert listing.reason in (None, "no-hello", *EXCUSES), f"{command} has no reason {worded(listing.reason)}"


@rule("PF-173", "PF-176", roles=SERVER)
def test_who_is_there(node: NodeUnderTest) -> None:
    """Two clients list the clients; each is listed, the asking one too, with all fields and no others."""
    both = {node.main.client_id, node.other.client_id}
    # Asked by both: a server may leave out the one that asks.
    for session in (node.main, node.other):
        found = {fields.get("client-id"): fields for fields in clients(session)}
        with judging("PF-173"):
            assert session.client_id in found, "the client that asks is not listed"
        with judging("PF-176"):
            assert both <= set(found), "a client that is connected is not listed"
            for client_id in both:
                named = set(found[client_id]) - MANDATORY
                # Both spellings: the document's grammar and its text call the address differently.
                assert named in ({"client-id", "client-addr", "time"}, {"client-id", "client-address", "time"})


@rule("PF-177", roles=SERVER)
def test_the_time_of_a_connection(node: NodeUnderTest) -> None:
    """Connect, note the time, and list the clients twice, a second and a half apart.

    The time of the connection is listed, in whole seconds since the epoch, both times the same.
    """
    began = time.time()
    session = node.session()
    ended = time.time()
    times = []
    # More than a second: whole seconds that are told anew would differ.
    for pause in (0.0, 1.5):
        session.read(pause)
        times += [fields.get("time") for fields in clients(session) if fields.get("client-id") == session.client_id]
    if len(times) != 2:
        raise Inconclusive("the client that asks is not listed")
    assert is_whole(times[0]), "the time of a connection is no whole number"
    assert began - CLOCKS <= times[0] <= ended + CLOCKS, f"time is {worded(times[0])}, at {ended:.0f}"
    assert times[0] == times[1], "the time of a connection changes from list to list"


@rule("PF-224", roles=SERVER)
def test_a_client_that_has_left(node: NodeUnderTest) -> None:
    """Five clients connect, and three leave services behind, each in its way; the two that stay are listed, each once.

    Those who have left may come back.
    """
    # They leave services: a server that keeps the client for the sake of its orphans shows.
    leaving = [node.session() for _ in range(3)]
    for gone in leaving:
        gone.sure(gone.publish(node.service(ttl=20)))
    _ = node.other
    for gone, leave in zip(leaving, (Driver.close, Driver.abort, Driver.break_off), strict=True):
        leave(gone)
    ids = {gone.client_id for gone in leaving}
    names = [node.main.client_id, node.other.client_id]

    def listed_now() -> list[object]:
        return [name for name in (fields.get("client-id") for fields in clients(node.main)) if name is not None]

    assert wait_until(node, lambda: not ids.intersection(listed_now())), "a client is listed that has left"
    assert [listed_now().count(name) for name in names] == [1, 1], "a client that is connected is not listed once"
    for gone in leaving:
        # Not listed any more: so the server has noticed, and nobody has the identifier.
        assert wait_until(node, lambda gone=gone: is_free(node, gone.client_id), seconds=2.0), (  # type: ignore[misc]
            "the identifier of a client that has left is taken for good"
        )


def is_free(node: NodeUnderTest, client_id: int | None) -> bool:
    """Tell whether somebody may connect as a client of an identifier, if not for another reason."""
    return bool(node.connect(client_id=client_id).hello().reason != "client-id-exists")


@rule("PF-225", roles=SERVER)
def test_the_addresses_of_clients(node: NodeUnderTest) -> None:
    """Two connections, and the list of clients: their addresses are texts, not the same, and have their ports."""
    # Its connection is made here, before the list.
    _ = node.other
    found = {fields.get("client-id"): fields for fields in clients(node.main)}
    ours = [found.get(session.client_id, {}) for session in (node.main, node.other)]
    addresses = [fields.get("client-addr", fields.get("client-address")) for fields in ours]
    assert all(isinstance(address, str) and address for address in addresses), f"no addresses: {worded(addresses)}"
    assert addresses[0] != addresses[1], "two connections have one address"
    ports = [str(session.link.ports[0]) for session in (node.main, node.other)]
    if node.transport in ("tcp", "tls", "tcp-stream") and ports != ["0", "0"]:
        # No port of ours at all: NAT or a proxy, and no fault of the server's.
        if not any(port in str(address) for port in ports for address in addresses):
            raise Inconclusive(f"connections from the ports {ports} come from {addresses}: something may stand between")
        assert all(port in str(address) for port, address in zip(ports, addresses, strict=True)), (
            f"connections from the ports {worded(ports)} are listed as {worded(addresses)}"
        )
