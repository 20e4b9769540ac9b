"""Pathfinder, the commands that list, and "Ping Command": what a client asks with."""

from conformance.cases import judging, rule
from conformance.pathfinder.monitors.fields import is_filter
from conformance.pathfinder.roles import CLIENT
from conformance.wording import worded
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection
from wire.pathfinder.values import MULTIPLE, SINGLE

MANDATORY = {"ta-cmd", "ta-id", "msg-type"}
FILTER = "(name=goldwire)"
BARE = {"PF-142": "subscriptions", "PF-174": "clients", "PF-181": "ping"}


def beginnings(connection: AcceptedConnection, commands: tuple[str, ...]) -> list[str]:
    """Return the type of the first message of each transaction of some commands."""
    # Reversed, so that the first message under an identifier is the one that stays.
    first = {event.ta: event for event in reversed(connection.messages)}
    return [event.type for event in first.values() if event.command in commands]


def filters(connection: AcceptedConnection) -> list[object]:
    """Return the filters with which services were asked for."""
    return [each.request.fields.get("filter") for each in connection.asked("services")]


@rule("PF-093", "PF-097", *BARE, "PF-149", roles=CLIENT, needs=("PF-097",))
def test_a_client_that_asks_for_everything(node: NodeUnderTest) -> None:
    """Have a client list services, subscriptions and clients, and ping.

    Each is a request that has no field beyond those of all messages, but for the filter of services.
    """
    domain = node.begin("list")
    connection = domain.greeted()
    domain.does(lambda: FILTER in filters(connection) and all(map(connection.asked, BARE.values())))
    for rule_id, commands in (("PF-093", SINGLE), ("PF-097", MULTIPLE)):
        with judging(rule_id):
            alien = set(beginnings(connection, commands)) - {"request"}
            assert not alien, f"a transaction begins with {', '.join(sorted(alien))}"
    for rule_id, command in BARE.items():
        with judging(rule_id):
            assert connection.asked(command), f"{command} is not asked for"
            fields = {name for each in connection.asked(command) for name in each.request.fields}
            assert fields == MANDATORY, f"{command} has the fields {worded(sorted(fields - MANDATORY))}"
    with judging("PF-149"):
        # It may ask for others, too.
        assert FILTER in filters(connection), "services are not asked for with the filter"
        # A filter is the only optional field (section "Services Command").
        services = connection.asked("services")[0].request.fields
        assert services.keys() - MANDATORY <= {"filter"}, f"services has {worded(sorted(services.keys() - MANDATORY))}"
        assert is_filter(services.get("filter", "(a=b)")), f"no filter: {worded(services['filter'])}"
