"""zenoh-interests, "Interests" and "Problem Statement": what an INTEREST is for."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import declared, queryable, set_of, subscriber, token
from wire.zenoh.values import EntityKind, Mode

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


@rule("ZI-001")
def test_interest_in_some_of_what_exists(node: NodeUnderTest) -> None:
    """Tokens and subscribers exist on several keys; ask for the tokens on some of them.

    Exactly those are listed.
    """
    node.other.declare_token("a/1")
    node.other.declare_token("b/1")
    node.other.declare_subscriber("a/1")
    snapshot = node.interest(Mode.CURRENT_FUTURE, T, key="a/*").snapshot()
    assert snapshot.declared == set_of(token("a/1")), "what is listed is not what was asked for"


@rule("ZI-001", roles=("router",), needs=("ZD-091",))
def test_what_exists_and_what_comes_in_three_modes(node: NodeUnderTest) -> None:
    """A token exists; ask for tokens in each mode, on three sessions; then somebody declares another one.

    Current brings the first, Future the second, CurrentFuture both.
    """
    node.other.declare_token("a/1")
    # A session for each mode: what one is told of must not be what another has asked for.
    current, future, both, bystander = node.open_together(4)
    first = node.interest(Mode.CURRENT, T, session=current).snapshot()
    node.interest(Mode.FUTURE, T, session=future)
    assert first.declared == set_of(token("a/1")), "Current does not list what exists"
    snapshot = node.interest(Mode.CURRENT_FUTURE, T, session=both).snapshot()
    assert snapshot.declared == first.declared, "CurrentFuture does not list what exists"
    assert declared(token("a/1")) not in future.news(), "Future brings what exists"
    node.other.declare_token("a/2")
    node.settle()
    if bystander.news():
        raise Inconclusive("the node announces what nobody asked for")
    assert both.receives(declared(token("a/2")))
    assert future.receives(declared(token("a/2")))
    # Behind the two that were told: by then it would have come here too.
    assert declared(token("a/2")) not in current.news(), "a change is reported to a Current interest"


@rule("ZI-002")
def test_session_that_asks_for_nothing(node: NodeUnderTest) -> None:
    """Entities of every kind exist before a session opens, and more come later; ask for nothing.

    They are not all pushed; whether some are is a matter of reading.
    """
    held = {
        subscriber("a/1"),
        queryable("a/1"),
        token("a/1"),
        subscriber("a/2"),
        queryable("a/2"),
        token("a/2"),
    }
    # Before the session is open, and below while it is: a push at the opening, and one at every change.
    for kind in EntityKind:
        node.other.declare(kind, "a/1")
    node.settle()
    node.main.barrier()
    for kind in EntityKind:
        node.other.declare(kind, "a/2")
    node.settle()
    # What is pushed unasked: some of it is one option of R37, all of it another.
    unasked = {update.entity for update in node.main.news() if update.verb == "declared"}
    assert unasked != held or node.role != "router", "everything is pushed to a session that asked for nothing"
    node.shows("ZI-002", "R37", "C" if unasked == held else "B" if unasked else "A")


@rule("ZI-004", transports=("tcp", "udp"))
def test_late_session_asks_for_everything(node: NodeUnderTest) -> None:
    """A subscriber, a queryable and a token exist; open a session and ask for all kinds.

    All three are listed.
    """
    node.other.declare_subscriber("a/s")
    node.other.declare_queryable("a/q")
    node.other.declare_token("a/t")
    snapshot = node.interest(Mode.CURRENT_FUTURE, S, Q, T).snapshot()
    expected = set_of(subscriber("a/s"), queryable("a/q"), token("a/t"))
    assert snapshot.declared == expected, "what exists is not listed to a session that came late"
