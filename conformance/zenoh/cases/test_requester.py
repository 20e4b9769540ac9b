"""zenoh-interests: what a node that asks puts into its own INTERESTs."""

from collections.abc import Iterator

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import Declare, DeclareFinal, Interest, InterestFinal, Mode, Options
from wire.zenoh.values_transport import WhatAmI

ROLES = ("client", "peer")
# What the zenoh library can be made to ask for (harness/zenoh/iuts/eclipse_zenoh.py).
ASKED = (
    ("currentfuture", "token", "a/*"),
    ("currentfuture", "subscriber", "b/1"),
    ("currentfuture", "queryable", "c/1"),
    ("current", "token", "d/*"),
)


def asked(node: NodeUnderTest, session: Driver, *wanted: tuple[str, str, str]) -> Iterator[Interest]:
    """Have the node ask for things one after the other, answer with D_FINAL at once, and return its INTERESTs."""
    for number, (mode, kind, key) in enumerate(wanted):
        since = session.place
        node.command("ask", f"ask{number}", mode, kind, node.key(key))
        event = session.wait_for(lambda event: isinstance(event.message, Interest), since=since)
        if event is None or not isinstance(event.message, Interest):
            raise Inconclusive(f"the node sends no INTEREST when told to ask for a {kind}")
        if event.message.mode is not Mode.FUTURE:
            session.send(Declare(DeclareFinal(), event.message.id))
        yield event.message


def router_for(node: NodeUnderTest) -> Driver:
    """Open a session in which the node sees a router, and read what it says at once."""
    session = node.session(whatami=WhatAmI.ROUTER)
    session.read()  # a node that dialled may not have read the end of the handshake when it is told to ask
    return session


@rule("ZI-030", roles=ROLES)
def test_node_that_asks_for_several_things(node: NodeUnderTest) -> None:
    """Have the node ask for several things at a time.

    Each INTEREST that runs has an id of its own.
    """
    interests = list(asked(node, router_for(node), *ASKED))
    running = [interest.id for interest in interests if interest.mode is not Mode.CURRENT]
    assert len(set(running)) == len(running), "two interests that run have the same id"


@rule("ZI-030", roles=ROLES)
def test_node_that_asks_again(node: NodeUnderTest) -> None:
    """Have the node ask, end what it asked for, and ask twice more.

    The interests that run together have ids of their own.
    """
    session = router_for(node)
    list(asked(node, session, ASKED[0]))
    node.command("end", "ask0")
    session.wait_for(lambda event: isinstance(event.message, InterestFinal))
    # The same once more and another: the id that is free again may be used for one of them only.
    again = list(asked(node, session, ASKED[0], ("currentfuture", "token", "e/*")))
    assert again[0].id != again[1].id, "two interests that run have the same id"


@rule("ZI-049", roles=ROLES)
def test_options_of_a_node_that_asks(node: NodeUnderTest) -> None:
    """Have the node ask for several things.

    No INTEREST has N or M set and R clear.
    """
    for interest in asked(node, router_for(node), *ASKED):
        stray = interest.options & (Options.N | Options.M)
        assert interest.options & Options.R or not stray, "N or M is set and R is not"


@rule("ZI-026", roles=ROLES)
def test_flag_for_extensions_of_a_node_that_asks(node: NodeUnderTest) -> None:
    """Have the node ask for something and end it.

    Its INTERESTs can be read to their end, with extensions just where Z announces them.
    """
    session = router_for(node)
    list(asked(node, session, ASKED[0]))
    node.command("end", "ask0")
    final = session.wait_for(lambda event: isinstance(event.message, InterestFinal))
    assert final is not None or not session.conversation.refusals, "an INTEREST cannot be read to its end"
