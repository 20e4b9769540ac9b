"""Pathfinder, "Message" and "Transactions": what a client makes of what no server may say."""

from collections.abc import Callable, Mapping
from itertools import count

from conformance.cases import judging, rule
from conformance.pathfinder.roles import CLIENT, EVERY_LINK
from conformance.pathfinder.server_offences import ALIEN, REQUESTS, no_fields, no_objects, notice, strays
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain

_SERVICES = count(1)


def goes_on(domain: Domain, connection: AcceptedConnection) -> AcceptedConnection:
    """Tell a client of a service, on this connection or, if it ends that, on its next one; return which it is.

    A client that comes back no more, or tells no more, has not survived what it was told before.
    """
    number = next(_SERVICES)
    text = domain.told("appeared", number, 0)
    connection.notify("appeared", number)
    told = domain.wait_until(lambda: bool(connection.ended) or text in domain.events)
    with judging("PF-221"):
        if connection.ended:
            again = domain.comes(connection.server)
            assert again is not None, "a client does not come back any more"
            assert domain.wait_until(lambda: bool(again.subscriptions)), "a client does not subscribe any more"
            again.notify("appeared", number)
            told, connection = domain.application_receives(text), again
        assert told, "a client does not tell of services any more"
    return connection


def learnt(domain: Domain, service_id: int = ALIEN) -> list[str]:
    """Return what a client has told of a service, of the one that it must not learn of unless it is said."""
    return [event for event in domain.events if str(service_id) in event.split()]


def goes_on_behind(node: NodeUnderTest, domain: Domain, offences: Callable[[int | None], Mapping[str, bytes]]) -> None:
    """Say to a client what is no message, one after the other: it acts on none, and goes on."""
    connection = domain.subscribed()
    for what in offences(0):
        connection.say(offences(connection.subscriptions[0].ta)[what])
        again = goes_on(domain, connection)
        assert not learnt(domain), f"a client acts on what is no message: {what}"
        node.shows("PF-221", "R09", "C" if again is connection else "A")
        connection = again


@rule("PF-221", roles=CLIENT, needs=("PF-097",))
def test_what_is_no_message(node: NodeUnderTest) -> None:
    """Tell a client of a service in frames that are no messages: no JSON, no objects, or more than one.

    It does not act on them, and goes on: on this connection or on the next it tells of another service.
    """
    domain = node.begin("subscribe")
    goes_on_behind(node, domain, no_objects)
    # A length of 4 GB; and one of 100 bytes, of which the first comes, and the end.
    connection = domain.connections[-1]
    for raw in (b"\xff\xff\xff\xff", b"\x00\x00\x00\x64{"):
        connection.say_raw(raw)
        connection.drop()
        connection = goes_on(domain, domain.subscribed())


@rule("PF-221", roles=CLIENT, needs=("PF-097",))
def test_fields_that_are_missing_or_wrong(node: NodeUnderTest) -> None:
    """Tell a client of a service in messages that lack a field, or have one of another kind or size.

    It does not act on them, and goes on: on this connection or on the next it tells of another service.
    """
    goes_on_behind(node, node.begin("subscribe"), no_fields)


@rule("PF-079", "PF-081", roles=CLIENT, needs=("PF-097",))
def test_fields_too_many(node: NodeUnderTest) -> None:
    """Tell a client of services in messages that have a field too many, or one field twice.

    It refuses the message or overlooks that, and goes on.
    """
    domain = node.begin("subscribe")
    connection = domain.subscribed()
    for rule_id, reading, service_id in (("PF-081", "R33", ALIEN), ("PF-079", "R39", ALIEN + 1)):
        message = encode_message(notice(connection.subscriptions[0].ta, service_id=service_id))
        connection.say(message[:-1] + (b',"extra":1}' if rule_id == "PF-081" else b',"ttl":60}'))
        connection = goes_on(domain, connection)
        node.shows(rule_id, reading, "B" if learnt(domain, service_id) else "A")


@rule("PF-083", roles=CLIENT, transports=EVERY_LINK, needs=("PF-097",))
def test_a_request_of_a_server(node: NodeUnderTest) -> None:
    """Send a client requests, as if it were the server.

    It answers none of them.
    """
    domain = node.begin("subscribe")
    connection = domain.subscribed()
    for request in REQUESTS.values():
        connection.say(request)
        connection = goes_on(domain, connection)
    # The client has read the requests, since it went on behind each; this is for an answer that is written late.
    domain.read(0.2)
    said = {event.type for each in domain.connections for event in each.messages} - {"request"}
    assert not said, f"a client says {', '.join(sorted(said))}"


@rule("PF-222", roles=CLIENT)
def test_matches_of_no_subscription(node: NodeUnderTest) -> None:
    """Tell a client of a service under numbers that no subscription of it has.

    It tells nothing of that, and goes on.
    """
    domain = node.begin("subscribe")
    connection = domain.subscribed()
    for what in strays(connection):
        connection.say(strays(connection)[what])
        connection = goes_on(domain, connection)
        assert not learnt(domain), f"a match is told that came under {what}"


@rule("PF-222", roles=CLIENT)
def test_matches_behind_the_end(node: NodeUnderTest) -> None:
    """Have a client subscribe and unsubscribe, tell it of a service in the subscription that has ended, and cut it off.

    When it is back it has told nothing of that.
    """
    domain = node.begin("unsubscribe")
    connection = domain.greeted()
    domain.needs(lambda: any(each.completed for each in connection.asked("unsubscribe")), "unsubscribed")
    domain.needs(
        lambda: all(each.is_over for each in connection.asked("subscribe")), "heard the end of its subscription"
    )
    connection.say(notice(connection.asked("subscribe")[0].ta))
    connection.drop()
    domain.greeted()
    assert not learnt(domain), "a match is told that came when the subscription had ended"


@rule("PF-104", roles=CLIENT, needs=("PF-097",))
def test_refusals_with_and_without_a_reason(node: NodeUnderTest) -> None:
    """Refuse what a client asks for, without a reason and with one.

    Its application is told, and it goes on with what comes next.
    """
    domain = node.begin("list")
    connection = domain.greeted()
    connection.obliges = False
    refusals: dict[str, str | None] = {"services": None, "subscriptions": "permission-denied", "ping": None}
    while refusals:
        domain.needs(lambda: bool(connection.waiting), "went on to its next command")
        asked = connection.waiting[0]
        if asked.command in refusals:
            reason = refusals.pop(asked.command)
            connection.answer(asked, "fail", {} if reason is None else {"fail-reason": reason})
            told = f"failed {asked.command} {reason or '-'}"
            # Also when the client has hung up: that is no answer to a refusal.
            assert domain.does(lambda told=told: told in domain.events), f"a refusal is not told: {asked}"  # type: ignore[misc]
        else:
            connection.grant(asked)
