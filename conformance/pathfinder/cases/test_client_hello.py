"""Pathfinder, "Hello Command": how a client begins a connection."""

from conformance.cases import Inconclusive, judging, rule
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import CLIENT, EVERY_LINK
from conformance.wording import worded
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain
from wire.json.strict import MOST
from wire.pathfinder.values import VERSION

WHO = ("client-id", "protocol-minimum-version", "protocol-maximum-version")
REASONS = (
    # Those first that a client may expect to pass; the version last, as no other hello would help against it.
    "insufficient-resources",
    "client-id-exists",
    "permission-denied",
    None,
    "unsupported-protocol-version",
)


def says_only_hello(connection: AcceptedConnection) -> bool:
    """Tell whether a client has given no other command than hello on a connection."""
    return all(event.command == "hello" for event in connection.messages)


def speaks(domain: Domain, connection: AcceptedConnection) -> AcceptedConnection:
    """Return where the client asks for something, on this connection or on its next one."""
    # A client may say hello again where it is, or hang up first (R36): either goes on here.
    domain.needs(lambda: bool(connection.waiting or connection.ended), "said hello again")
    if not connection.ended:
        return connection
    again = domain.accept(connection.server, obliges=False)
    domain.needs(lambda: bool(again.waiting), "said hello again")
    return again


@rule("PF-107", "PF-112", "PF-113", roles=CLIENT, transports=EVERY_LINK)
def test_a_connection_begins_with_hello(node: NodeUnderTest) -> None:
    """Let a client in that has something to publish, cut it off, and let it in again.

    Each time it says hello first: who it is, and versions of which 2 is one.
    """
    domain = node.begin("publish")
    # Twice: what a client remembers from its first connection must not stand in for a hello.
    for _ in range(2):
        connection = domain.accept()
        asked = domain.asks(connection, "hello")
        with judging("PF-107"):
            assert connection.messages[0].command == "hello", (
                f"a connection begins with {connection.messages[0].command}"
            )
        hello = asked[0].request.fields
        with judging("PF-112"):
            flawed = [name for name in WHO if not is_whole(hello.get(name))]
            assert not flawed, f"hello has no {' and no '.join(flawed)}"
        with judging("PF-113"):
            least, most = (hello[name] for name in WHO[1:])
            assert least <= VERSION <= most, f"hello offers the versions {least} to {most}"
        connection.drop()


@rule("PF-218", "PF-223", roles=CLIENT, needs=("PF-093",))
def test_a_hello_that_is_refused(node: NodeUnderTest) -> None:
    """Let a hello wait; refuse it and those that follow, for each of the reasons and for none; then complete one.

    Until then nothing but hellos comes, on whichever connection; from then on the services do.
    """
    domain = node.begin("publish")
    connection = domain.accept(obliges=False)
    domain.asks(connection, "hello")
    # A client that does not wait for the answer begins at once; this is much longer.
    domain.wait_until(lambda: bool(connection.ended) or not says_only_hello(connection), domain.after(1.0))
    with judging("PF-218"):
        assert says_only_hello(connection), "commands come before hello was answered"
    for reason in REASONS:
        connection = speaks(domain, connection)
        connection.answer(connection.waiting[-1], "fail", {} if reason is None else {"fail-reason": reason})
        # Once more, so that what comes behind the refusal has come.
        connection = speaks(domain, connection)
        with judging("PF-223"):
            assert says_only_hello(connection), f"commands come though hello was refused ({reason or 'no reason'})"
    connection.obliges = True
    connection.grant(connection.waiting[-1])
    with judging("PF-223"):
        published = domain.wait_until(lambda: len(connection.published) == 2)
        assert published, "a client whose hello was refused and then completed does nothing"


@rule("PF-221", roles=CLIENT, needs=("PF-093",))
def test_a_version_that_was_not_offered(node: NodeUnderTest) -> None:
    """Complete a client's hello with a version that is not in its range.

    It gives no command on that connection.
    """
    domain = node.begin("publish")
    connection = domain.accept(obliges=False)
    hello = domain.asks(connection, "hello")[0]
    least, most = (hello.request.fields.get(name) for name in WHO[1:])
    if not (is_whole(least) and is_whole(most)) or (least == 0 and most == MOST):
        raise Inconclusive(f"the client offers the versions {worded(least)} to {worded(most)}")
    connection.answer(hello, "complete", {"protocol-version": most + 1 if most < MOST else least - 1})
    domain.wait_until(lambda: bool(connection.ended) or not says_only_hello(connection), domain.after(1.0))
    assert says_only_hello(connection), "commands come in a version that was not offered"


@rule("PF-063", roles=CLIENT)
def test_one_connection_to_a_server(node: NodeUnderTest) -> None:
    """Let a client in that has nothing to do.

    It makes no second connection to the same server.
    """
    domain = node.begin("idle")
    connection = domain.greeted()
    # A second: much more than a client that dials twice at its start would take for the other one.
    second = domain.comes(within=1.0)
    assert second is None or connection.ended, "a client has two connections to a server"
