"""Both documents, where they bind the node as a requester or declarer of its own: it is told what to do."""

from conformance.cases import Inconclusive, rule
from conformance.zenoh.answers import given_twice
from harness.errors import Unsupported
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import set_of, token
from wire.zenoh.values import Declare, DeclareFinal, DeclareKeyExpr, EntityKind, Interest, InterestFinal, Mode
from wire.zenoh.values_transport import WhatAmI

ASKS = ("client", "peer")


def asked(node: NodeUnderTest, session: Driver, name: str, key: str) -> Interest:
    """Tell the node to ask for tokens on a key; return its INTEREST, answered as if there were none."""
    since = session.place
    node.command("ask", name, "currentfuture", "token", node.key(key))
    event = session.wait_for(lambda e: isinstance(e.message, Interest) and e.key == node.key(key), since=since)
    if event is None or not isinstance(event.message, Interest):
        raise Inconclusive("the node sends no INTEREST when it is told to ask")
    # Answered at once: a node may put off its Final until the snapshot has ended.
    session.send(Declare(DeclareFinal(), event.message.id))
    return event.message


def ended(node: NodeUnderTest, session: Driver, name: str) -> InterestFinal:
    """Tell the node to end what it asked for; return its Final."""
    since = session.place
    node.command("end", name)
    event = session.wait_for(lambda e: isinstance(e.message, InterestFinal), since=since)
    if event is None or not isinstance(event.message, InterestFinal):
        raise Inconclusive("the node sends no Final when it is told to end an interest")
    return event.message


@rule("ZI-061", roles=ASKS)
def test_finals_of_the_node(node: NodeUnderTest) -> None:
    """Tell the node to ask for two things and to end both, the second first.

    Each Final names the interest that it ends.
    """
    session = node.session(whatami=WhatAmI.ROUTER)
    asks = {name: asked(node, session, name, f"{name}/*") for name in ("i1", "i2")}
    # The second first: a node that ends the oldest shows.
    for name in ("i2", "i1"):
        assert ended(node, session, name).id == asks[name].id, "a Final names another interest than the one ended"


def gives_number(node: NodeUnderTest, name: str) -> bool:
    """Tell the node to give a number to a key; false where it has no way to do so."""
    try:
        node.command("declare", "keyexpr", name, node.key(name))
    # The zenoh library gives numbers only when it needs them, as for a publisher.
    except Unsupported:
        return False
    return True


def given(node: NodeUnderTest, name: str) -> str:
    """Tell the node to give a number to a key, or to ask for what makes it do so; return the verb that undoes it."""
    if gives_number(node, name):
        return "undeclare"
    node.command("ask", name, "currentfuture", "subscriber", node.key(name))
    return "end"


def alias_of(node: NodeUnderTest, session: Driver, name: str) -> int:
    """Return the number that the node gives to the key of a name."""
    event = session.wait_for(lambda e: isinstance(e.body, DeclareKeyExpr) and e.key == node.key(name))
    if event is None or not isinstance(event.body, DeclareKeyExpr):
        raise Inconclusive("the node gives no number to a key")
    return event.body.expr_id


@rule("ZD-036", roles=ASKS)
def test_numbers_of_the_node(node: NodeUnderTest) -> None:
    """Tell the node to give numbers to three keys, to take back the first two, and to give numbers to three more.

    No number is given to a second key before it is taken from the first.
    """
    session = node.session(whatami=WhatAmI.ROUTER)
    # Three, of which two go: what is free then is neither the lowest number nor the highest alone.
    undo = [given(node, name) for name in ("k1", "k2", "k3")]
    for verb, name in zip(undo, ("k1", "k2"), strict=False):
        node.command(verb, name)
    for name in ("k4", "k5", "k6"):
        given(node, name)
    alias_of(node, session, "k6")
    assert not given_twice(session), "a number is given to a second key while the first has it"


@rule("ZD-032", roles=ASKS)
def test_first_number_of_the_node(node: NodeUnderTest) -> None:
    """Tell the node to give a number to a key.

    It is not 0, or 0 may be given like any other.
    """
    session = node.session(whatami=WhatAmI.ROUTER)
    given(node, "k1")
    node.shows("ZD-032", "R11", "B" if alias_of(node, session, "k1") == 0 else "A")


@rule("ZI-014", "ZI-074", roles=("client",))
def test_numbers_stand_for_what_the_node_declared(node: NodeUnderTest) -> None:
    """Tell the node to give numbers to two keys, to declare tokens on them and on a third, and to take a number back.

    It lists what it has declared, each time.
    """
    _ = node.main
    gives = all(gives_number(node, name) for name in ("k1", "k2"))
    for name in ("k1", "k2", "k3"):
        node.other.declare_token(name)
    tokens = set_of(token("k1"), token("k2"), token("k3"))
    assert node.interest(Mode.CURRENT_FUTURE, EntityKind.TOKEN).snapshot().declared == tokens
    if gives:
        node.command("undeclare", "k1")
    assert node.interest(Mode.CURRENT_FUTURE, EntityKind.TOKEN).snapshot().declared == tokens
