"""Both documents: what a node does at all. Other rules rest on it, and who lacks it is told so once."""

from contextlib import suppress

from conformance.cases import basic
from harness.errors import Unsupported
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import DeclareEntity, EntityKind, Mode

T = EntityKind.TOKEN
SNAPSHOTS = (Mode.CURRENT, Mode.CURRENT_FUTURE)


def hears(session: Driver, since: int = 0) -> bool:
    """Tell whether a session is told of any entity of this play, from a place in the conversation on."""
    event = session.wait_for(
        lambda event: isinstance(event.body, DeclareEntity) and session.entity(event) is not None, since=since
    )
    return event is not None


@basic("ZI-070")
def test_some_interest_is_answered(node: NodeUnderTest) -> None:
    """A token exists; ask in modes Current and CurrentFuture, for each kind alone and for all, with a key and without.

    One of them is answered by a D_FINAL.
    """
    # A node that cannot be told to declare one has nothing to list, and says so.
    with suppress(Unsupported):
        node.other.declare_token("a/b")
    # Twice: nothing orders the first questions behind the token, and a node may be silent where there is none.
    answered = any(is_answered(node.main) for _ in range(2))
    assert answered, "no D_FINAL answers any interest"


def is_answered(session: Driver) -> bool:
    """Ask in several ways, and tell whether any of them is answered by a D_FINAL."""
    since = session.place
    for mode in SNAPSHOTS:
        # Each kind alone and first: a client may hand questions for tokens on, and wait for its router to answer them.
        for kind in EntityKind:
            session.interest(mode, kind)
        session.interest(mode, *EntityKind)
        session.interest(mode, T, key="a/b")
        session.interest(mode, T, key="no/such")
    return session.wait_for_final(None, since) is not None


@basic("ZI-001")
def test_some_declaration_is_announced(node: NodeUnderTest) -> None:
    """Ask for everything in all modes, before and after an entity of each kind is declared.

    One of them is announced, in a snapshot or behind it.
    """
    for mode in Mode.FUTURE, Mode.CURRENT_FUTURE:
        node.main.interest(mode, *EntityKind, key="**")
    node.main.barrier()
    for kind in EntityKind:
        node.other.declare(kind, f"a/{kind.value}")
    node.settle()
    for mode in SNAPSHOTS:
        node.main.interest(mode, *EntityKind, key="a/*")
    assert hears(node.main), "nothing that is declared is ever announced, in no snapshot and as no update"


@basic("ZD-091", roles=("router",))
def test_some_update_is_announced(node: NodeUnderTest) -> None:
    """Ask for what is to come, in both modes that do; then an entity of each kind is declared.

    One of them is announced.
    """
    for mode in Mode.FUTURE, Mode.CURRENT_FUTURE:
        node.main.interest(mode, *EntityKind, key="**")
    node.main.barrier()
    since = node.main.place
    for kind in EntityKind:
        node.other.declare(kind, f"a/{kind.value}")
    node.settle()
    assert hears(node.main, since), "nothing that is declared later is announced to who has asked for it"
