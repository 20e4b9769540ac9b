"""zenoh-declarations, "D_FINAL (0x1A)": the end of a snapshot, and what it is tied to."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.session import BARRIER
from harness.zenoh.tester.snapshots import declared, queryable, set_of, subscriber, token, undeclared
from wire.zenoh.values import DeclareEntity, DeclareFinal, EntityKind, Mode

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


@rule("ZD-086")
def test_final_after_many_declarations(node: NodeUnderTest) -> None:
    """A hundred entities exist; ask for all of them.

    Each has come by the time of D_FINAL.
    """
    # A hundred together, of all kinds: more than fits into one batch of a small size, and than a queue of 64.
    for number in range(34):
        node.other.declare_subscriber(f"a/s{number}")
    for number in range(33):
        node.other.declare_queryable(f"a/q{number}")
        node.other.declare_token(f"a/t{number}")
    final = node.interest(Mode.CURRENT_FUTURE, S, Q, T, key="a/*").snapshot().final
    events = node.main.received()
    before = events[: events.index(final)] if final is not None else []
    told = set_of(*(one for e in before if isinstance(e.body, DeclareEntity) and (one := node.main.entity(e))))
    every = set_of(
        *(subscriber(f"a/s{number}") for number in range(34)),
        *(make(f"a/{letter}{number}") for make, letter in ((queryable, "q"), (token, "t")) for number in range(33)),
    )
    assert not every - told, "D_FINAL came before all that was active had been sent"


@rule("ZD-087", transports=("tcp", "udp"))
def test_finals_of_several_interests(node: NodeUnderTest) -> None:
    """Ask for the current tokens three times, with the ids 11, 12 and 13, before reading any answer.

    There is one D_FINAL for each of these ids, and no other.
    """
    for interest in (11, 12, 13):
        node.interest(Mode.CURRENT, T, id=interest)
    node.main.barrier()
    finals = [event.interest_id for event in node.main.received() if isinstance(event.body, DeclareFinal)]
    assert None not in finals, "D_FINAL came without an interest_id"
    ids = [interest for interest in finals if interest is not None and interest < BARRIER]
    assert set(ids) <= {11, 12, 13}, "D_FINAL came with an id that no interest has"
    assert len(ids) == len(set(ids)), "D_FINAL came twice for one interest"
    if len(ids) < 3:
        raise Inconclusive("an interest was not answered with D_FINAL")


@rule("ZD-088", needs=("ZD-091",))
def test_finals_that_answer_nothing(node: NodeUnderTest) -> None:
    """Somebody with a live interest sends a D_FINAL without an interest_id, and one with an id that nobody uses.

    If the session lasts, its interest does as well; other sessions go on in any case.
    """
    node.interest(Mode.CURRENT_FUTURE, T).snapshot()
    node.other.declare_token("a/0")
    if not node.main.receives_under_any_id(declared(token("a/0"))):
        raise Inconclusive("the interest brings no updates to begin with")
    # A D_FINAL without an id, and one under 99.
    node.main.offend(bytes.fromhex("1e1a"), bytes.fromhex("3e631a"))
    node.shows("ZD-088", "R40", "A" if node.main.ended else "B")
    if node.main.ended:
        return
    known = node.other.declare_token("a/1")
    assert node.main.receives_under_any_id(declared(token("a/1"))), (
        "the interest of the session that sent them has ended"
    )
    node.other.undeclare_token(known)
    assert node.main.receives_under_any_id(undeclared(token("a/1")))


@rule("ZD-088", roles=("client", "peer"))
def test_finals_that_answer_nothing_to_one_who_asks(node: NodeUnderTest) -> None:
    """The node asks for tokens; before its answer comes a D_FINAL without an interest_id and one with an unused id.

    The node goes on, or closes the session.
    """
    node.main.barrier()
    node.command("ask", "asked", "currentfuture", "token", node.key("a/*"))
    # The second under 2**28 - 1, to which no node has counted.
    node.main.offend(bytes.fromhex("1e1a"), bytes.fromhex("3effffff7f1a"))
    node.shows("ZD-088", "R40", "A" if node.main.ended else "B")
    if not node.main.ended:
        node.main.barrier()


@rule("ZD-090")
def test_updates_after_the_final(node: NodeUnderTest) -> None:
    """Ask for current and future subscribers and tokens; after D_FINAL, one of each is declared and undeclared.

    All of that comes without an interest_id.
    """
    node.interest(Mode.CURRENT_FUTURE, S, T).snapshot()
    for kind, name in ((S, subscriber), (T, token)):
        known = node.other.declare(kind, "a/1")
        assert node.main.receives(declared(name("a/1")))
        node.other.undeclare(kind, known)
        assert node.main.receives(undeclared(name("a/1")))
