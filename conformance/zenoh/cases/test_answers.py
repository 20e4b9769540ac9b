"""zenoh-interests, "Relationship to DECLARE/D_FINAL": what carries the id of an interest, and what ends a snapshot."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import (
    EntityName,
    Incomplete,
    InterestHandle,
    Snapshot,
    declared,
    live_entities,
    queryable,
    set_of,
    subscriber,
    token,
    undeclared,
    updates,
)
from wire.zenoh.values import DeclareEntity, DeclareKeyExpr, EntityKind, Interest, Mode, Options

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN

MANY = 500
"""Declarations of a snapshot: they fill several batches, so that one that ends early, or overtakes itself, shows."""


def after_final(session: Driver, reply: Snapshot) -> list[Event]:
    """Return what came under a reply's interest id after its D_FINAL."""
    events = [event for event in session.received() if event.interest_id == reply.interest_id]
    return events[events.index(reply.final) + 1 :] if reply.final is not None else []


@rule("ZI-069", transports=("tcp", "udp"))
def test_snapshots_under_any_interest_id(node: NodeUnderTest) -> None:
    """Ask under the smallest and largest ids of each length, in both modes, each time with one entity more.

    Everything that answers carries the very id.
    """
    # Where an id grows by a byte (127 and 128, 16383 and 16384), and both ends of 32 bits; each id once.
    asked = [(id, Mode.CURRENT, T) for id in (0, 1, 127, 128, 16384, 2**32 - 1)]
    asked += [(id, Mode.CURRENT_FUTURE, S) for id in (2, 126, 129, 16383, 2**32 - 2)]
    for id, mode, kind in asked:
        node.other.declare(kind, f"a/{id}")
        # It is in place before the question, or the answer could come as an update.
        node.settle()
        node.main.barrier()
        reply = node.interest(mode, kind, key="a/*", id=id).reply()
        assert not reply.stray, "a declaration of a snapshot comes without the interest's id"
        others = [event for event in reply.events if event.interest_id not in (None, id)]
        assert not others, "a snapshot comes under an id that is not the interest's"
        if reply.final is None:
            raise Incomplete(f"interest {id} was not answered up to D_FINAL")
        if mode is Mode.CURRENT_FUTURE:
            node.main.final(id)


@rule("ZI-070")
def test_snapshot_of_many_ends(node: NodeUnderTest) -> None:
    """500 subscribers exist; ask for all, for one, and for none of them.

    Each snapshot ends with D_FINAL, and nothing of it comes later.
    """
    for number in range(MANY):
        node.other.declare_subscriber(f"a/{number}")
    # Many batches, one, and none: where the end comes from differs in each.
    for count, key in ((MANY, "a/*"), (1, "a/7"), (0, "b/*")):
        reply = node.interest(Mode.CURRENT_FUTURE, S, key=key).reply()
        assert reply.final is not None, f"no D_FINAL ends a snapshot of {count}"
        node.main.barrier()
        late = [event for event in after_final(node.main, reply) if isinstance(event.body, DeclareEntity)]
        assert not late, f"D_FINAL comes before the end of a snapshot of {count}"


@rule("ZI-070", transports=("tcp", "udp"))
def test_current_snapshot_of_none_ends(node: NodeUnderTest) -> None:
    """Ask for the current tokens on a key that nobody has.

    D_FINAL is all that there is to say, and it is said.
    """
    reply = node.interest(Mode.CURRENT, T, key="a/*").reply()
    assert reply.final is not None, "no D_FINAL ends an empty snapshot"


@rule("ZI-071", transports=("tcp", "udp"))
def test_nothing_follows_final(node: NodeUnderTest) -> None:
    """Ask for tokens in both modes; then more come and go, and the interest that runs is ended.

    Nothing comes under the ids of the snapshots after their D_FINAL, not even another D_FINAL.
    """
    # Both modes at once: the one that goes on must not go on under its id.
    first = node.other.declare_token("a/1")
    asks = [node.interest(mode, T, key="a/*") for mode in (Mode.CURRENT, Mode.CURRENT_FUTURE)]
    replies = [ask.snapshot() for ask in asks]
    node.other.declare_token("a/2")
    node.other.undeclare_token(first)
    node.settle()
    node.main.final(asks[1])
    node.main.barrier()
    for reply in replies:
        assert not after_final(node.main, reply), "something follows D_FINAL under the interest's id"


@rule("ZI-072", roles=("router",))
def test_updates_have_no_interest_id(node: NodeUnderTest) -> None:
    """Two sessions listen, in Future and in CurrentFuture; twenty entities of each kind come and go.

    All of it comes to both, without an interest id.
    """
    # A session for each mode, as two interests of one session may be merged.
    listeners = [node.session(), node.session()]
    node.interest(Mode.FUTURE, *EntityKind, session=listeners[0])
    node.interest(Mode.CURRENT_FUTURE, *EntityKind, session=listeners[1]).snapshot()
    listeners[0].barrier()
    # Twenty: enough to be bundled into batches, where a node may copy the id of the message before.
    made = [(kind, node.other.declare(kind, f"{kind.value}/{number}")) for kind in EntityKind for number in range(20)]
    for kind, id in made:
        node.other.undeclare(kind, id)
    entities = [EntityName(kind.value, f"{kind.value}/{number}") for kind in EntityKind for number in range(20)]
    wanted = [verb(entity) for verb in (declared, undeclared) for entity in entities]
    for session in listeners:
        whole = session.receives(*wanted)
        marked = [update for update in updates(session, session.mark) if update.interest_id is not None]
        assert not marked, "an update carries an interest id"
        assert whole, "an update is lost"


@rule("ZI-073", transports=("tcp", "udp"))
def test_two_interests_in_one_batch(node: NodeUnderTest) -> None:
    """A subscriber and a queryable exist; ask for subscribers and for queryables in one batch.

    Each is answered under its own id, with a D_FINAL of its own.
    """
    node.other.declare_subscriber("a/s")
    node.other.declare_queryable("a/q")
    node.settle()
    node.main.barrier()
    named = Options.R | Options.N | Options.M
    key = node.main.wire_expr("a/*")
    # By hand, since the driver sends each of its interests in a batch of its own.
    ask_s = InterestHandle(node.main, Interest(10, Mode.CURRENT_FUTURE, Options.S | named, key))
    ask_q = InterestHandle(node.main, Interest(11, Mode.CURRENT_FUTURE, Options.Q | named, key))
    node.main.send(ask_s.message, ask_q.message)
    replies = [ask.reply() for ask in (ask_s, ask_q)]
    assert all(reply.final for reply in replies), "one of two interests gets no D_FINAL of its own"
    foreign = [{e.kind for e in reply.entities} - {own.value} for reply, own in zip(replies, (S, Q), strict=True)]
    assert not any(foreign), "the answers to two interests are mixed up"
    assert live_entities(node.main) >= set_of(subscriber("a/s"), queryable("a/q")), (
        "one of two interests is answered in part"
    )


@rule("ZI-074")
def test_aliases_in_an_answer(node: NodeUnderTest) -> None:
    """Subscribers with long keys exist; ask for them and for key expressions.

    An alias that the answer uses is declared before it is used; whether under the interest's id is left open.
    """
    # Long enough that a node has reason to give them a number.
    stem = "/".join(["a-long-way-down"] * 6)
    for number in range(5):
        node.other.declare_subscriber(f"{stem}/{number}")
    reply = node.interest(Mode.CURRENT_FUTURE, S, key="a-long-way-down/**", keyexprs=True).snapshot()
    used = [event for event in node.main.received() if isinstance(event.body, DeclareEntity)]
    assert all(event.key is not None for event in used), "an alias is used before it is declared"
    aliases = [event for event in reply.events if isinstance(event.body, DeclareKeyExpr)]
    if aliases:
        marked = any(event.interest_id is not None for event in aliases)
        node.shows("ZI-074", "R27", "A" if marked else "B")


@rule("ZI-075", roles=("router",))
def test_changes_during_a_long_snapshot(node: NodeUnderTest) -> None:
    """500 subscribers exist; somebody asks for them, and while the answer comes some that it listed go and some come.

    Each new one comes once, and in the end both sides have the same picture. Changes of what is not yet listed race
    with the answer, which is no case for a gate: who wins is chance.
    """
    alive = {f"a/{number}": node.other.declare_subscriber(f"a/{number}") for number in range(MANY)}
    ask = node.interest(Mode.CURRENT_FUTURE, S, key="a/*")
    if node.main.wait_for(lambda event: event.interest_id == ask.id, since=ask.since) is None:
        raise Inconclusive("the answer never began")
    # What the answer began with was listed for certain, so that nothing races with it.
    for key in [update.entity.key or "" for update in updates(node.main, ask.since)][:8]:
        node.other.undeclare_subscriber(alive.pop(key))
        alive[f"{key}-"] = node.other.declare_subscriber(f"{key}-")
    ask.snapshot()
    node.settle()
    expected = set_of(*map(subscriber, alive))
    node.main.wait_until(lambda: live_entities(node.main) == expected)
    came = [update.entity for update in updates(node.main, 0) if update.verb == "declared"]
    assert len(came) == len(set(came)), "what is declared during a snapshot comes more than once"
    assert live_entities(node.main) == expected, "a change during a snapshot is lost"


@rule("ZI-076")
def test_interest_id_used_again(node: NodeUnderTest) -> None:
    """Ask twice under one id, in Current and in CurrentFuture, each time after its end and with something new.

    The second time is like the first; a node to which an id is taken for good says nothing.
    """
    session, option = node.main, "A"
    for id, mode in ((7, Mode.CURRENT), (8, Mode.CURRENT_FUTURE)):
        # With something new each time, so that an answer from memory shows.
        for turn in (1, 2):
            node.other.declare_token(f"{id}/{turn}")
            reply = node.interest(mode, T, key=f"{id}/*", id=id).reply()
            if turn == 1 and reply.final is None:
                raise Incomplete(f"interest {id} was not answered up to D_FINAL")
            if reply.final is None and not reply.entities:
                option = "B"
                continue
            assert reply.final is not None, "an id that is used again gets no D_FINAL"
            whole = token(f"{id}/{turn}") in live_entities(session)
            assert whole, "an id that is used again is answered in part"
            if mode is Mode.CURRENT_FUTURE:
                session.final(id)
                session.barrier()
    node.shows("ZI-076", "R33", option)
