"""zenoh-interests, "Aggregate Flag (A)": fewer declarations that still say whether anything matches."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import Snapshot, live_entities
from wire.zenoh.keys import intersects
from wire.zenoh.values import DeclareEntity, EntityKind, Mode

T = EntityKind.TOKEN

MANY = 10
"""Entities that one answer may stand for: enough that a shorter one is no accident."""


def keys_of(snapshot: Snapshot) -> list[str | None]:
    """Return the keys that a snapshot lists, as they stand on the wire."""
    return [
        event.key
        for event in snapshot.events
        if isinstance(event.body, DeclareEntity) and event.interest_id == snapshot.interest_id
    ]


@rule("ZI-066", roles=("router", "peer"))
def test_aggregated_snapshot_is_shorter(node: NodeUnderTest) -> None:
    """Ten tokens match a key; ask for them without A, and on another session with A.

    With A there are fewer declarations.
    """
    for number in range(MANY):
        node.other.declare_token(f"a/{number}")
    # On a session each: what a session knows already may be left out of its second snapshot (reading R35).
    plain = node.interest(Mode.CURRENT, T, key="a/*", session=node.session()).snapshot()
    short = node.interest(Mode.CURRENT, T, key="a/*", aggregate=True, session=node.session()).snapshot()
    if len(keys_of(plain)) < 2:
        raise Inconclusive("there is nothing to aggregate: fewer than two tokens come without A")
    assert len(keys_of(short)) < len(keys_of(plain)), "A does not make the answer any shorter"


@rule("ZI-067")
def test_aggregated_snapshot_matches_and_ends(node: NodeUnderTest) -> None:
    """Ten tokens match a key and one does not; ask for them with A.

    One to ten declarations come, each of which matches the key, and D_FINAL.
    """
    for number in range(MANY):
        node.other.declare_token(f"a/{number}")
    node.other.declare_token("b/1")
    # A control: without A, an interest is answered up to its end.
    node.interest(Mode.CURRENT, T, key="c/*").snapshot()
    reply = node.interest(Mode.CURRENT, T, key="a/*", aggregate=True).reply()
    assert reply.final is not None, "an interest with A gets no D_FINAL"
    asked, keys = node.key("a/*"), keys_of(reply)
    assert len(keys) <= MANY, "more declarations come than entities match"
    assert all(key and intersects(asked, key) for key in keys), "a representative does not match the interest"
    if len(keys) == 1:
        own = keys[0] in {node.key(f"a/{number}") for number in range(MANY)}
        node.shows("ZI-067", "R39", "A" if own else "B" if keys[0] == asked else "C")


@rule("ZI-068")
def test_aggregated_snapshot_tells_whether_anything_matches(node: NodeUnderTest) -> None:
    """Ten tokens match one key and none another; ask for both with A.

    At least one declaration comes for the first, none for the second.
    """
    for number in range(MANY):
        node.other.declare_token(f"a/{number}")
    nothing = node.interest(Mode.CURRENT, T, key="no/match", aggregate=True).snapshot()
    assert not keys_of(nothing), "with A something comes where nothing matches"
    something = node.interest(Mode.CURRENT, T, key="a/*", aggregate=True).snapshot()
    assert keys_of(something) or live_entities(node.main), "with A nothing comes where something matches"
