"""zenoh-interests, "Interest Modes" and "Message Flows": what each mode brings, and what it does not."""

from conformance.cases import rule
from harness.zenoh.under_test import NodeUnderTest
from harness.zenoh.watching import declared, subscriber, these
from wire.zenoh.messages import Kind, Mode

S, Q, T = Kind.SUBSCRIBER, Kind.QUERYABLE, Kind.TOKEN


@rule("ZI-010")
def test_current_interest_lists_what_matches(node: NodeUnderTest) -> None:
    """Two subscribers and a queryable exist; ask for the current subscribers.

    Exactly the subscribers come, under the interest's id.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    node.other.declare_queryable("a/q")
    snapshot = node.interest(Mode.CURRENT, S).snapshot()
    assert snapshot.declared == these(subscriber("a/1"), subscriber("a/2"))


@rule("ZI-011", "ZI-070")
def test_snapshot_ends_with_final(node: NodeUnderTest) -> None:
    """Two subscribers exist; ask for the current ones.

    The last thing under the interest's id is D_FINAL.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    reply = node.interest(Mode.CURRENT, S).reply()
    assert reply.final is not None, "no D_FINAL under the interest's id"
    node.main.barrier()
    last = [event for event in node.main.received() if event.interest_id == reply.interest_id][-1]
    assert last == reply.final, "something follows D_FINAL under the interest's id"


@rule("ZI-020", roles=("router",))
def test_future_interest_brings_later_declarations(node: NodeUnderTest) -> None:
    """Ask for future subscribers; then somebody declares one.

    It comes, without an interest id.
    """
    node.interest(Mode.FUTURE, S)
    node.main.barrier()
    node.other.declare_subscriber("a/2")
    assert node.main.hears(declared(subscriber("a/2")))
