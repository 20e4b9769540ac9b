"""Properties: whatever is declared and asked, the answer is the reference router's."""

import itertools
from collections.abc import Sequence, Set
from functools import lru_cache

from hypothesis import strategies as st

from conformance.cases import judging, rule
from conformance.hypothesis_settings import searched
from conformance.zenoh.model import model
from conformance.zenoh.strategies import Entity, changes, entities, interests, mutated, truncated
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import EntityName, EntitySet, InterestHandle, updates
from wire.zenoh.inclusion import includes
from wire.zenoh.keys import intersects, well_formed
from wire.zenoh.values import EntityKind, Mode, WireExpr
from wire.zenoh.values_transport import Frame, read_beginning, write_batch


def listed(node: NodeUnderTest, held: Sequence[Entity], kinds: Set[EntityKind], key: str | None) -> EntitySet:
    """Return what a snapshot lists when some entities are held."""
    for kind, name in held:
        node.other.declare(kind, name)
    return node.interest(Mode.CURRENT_FUTURE, *sorted(kinds, key=str), key=key).snapshot().declared


# The model's side depends on the example alone, and examples are the same for every node: of hundreds that are played
# in one process, as in the kill matrix, the first asks the model.
@lru_cache(maxsize=256)
def listed_by_model(profile: str, held: tuple[Entity, ...], kinds: frozenset[EntityKind], key: str | None) -> EntitySet:
    """Return what a snapshot of the reference router lists when some entities are held."""
    with model(profile).scene() as reference:
        return listed(reference, held, kinds, key)


@rule("ZI-001", "ZI-045", "ZI-051")
@searched(held=entities, interest=interests)
def test_any_snapshot_is_the_models(
    node: NodeUnderTest, held: list[Entity], interest: tuple[set[EntityKind], str | None]
) -> None:
    """Any entities exist, and any interest in them is sent.

    The snapshot lists what the reference router lists.
    """
    kinds, key = interest
    expected = listed_by_model(node.profile, tuple(held), frozenset(kinds), key)
    with node.scene() as scene:
        assert listed(scene, held, *interest) == expected


# Where keys are compared chunk by chunk, each step is taken: every order of equal, longer and wild chunks, up to three.
# And within a chunk: texts, alone and around wildcards, that begin or end alike, or overlap, or do not. None begins
# with @: whether wildcards match such a chunk no document says.
ENDS = ("", "a", "b", "ab", "ba")
EXPRESSIONS = (
    *("/".join(each) for size in (1, 2, 3) for each in itertools.product(("a", "ab", "*", "**"), repeat=size)),
    *("$*".join(each) for each in itertools.product(ENDS, repeat=2)),
    *("b", "ba", "aab", "aba", "aabb", "abab", "bab", "$*a$*", "$*a$*a$*", "$*ab$*", "a$*b$*b", "a$*a$*b", "b$*a$*a"),
)
CANONICAL = tuple(each for each in EXPRESSIONS if well_formed(each))
ANYWHERE = ("**", "**/a", "*/a", "*/**", "**/a/**")
"""Beside them, keys that do not begin with the play's namespace."""


def listed_keys(ask: InterestHandle) -> set[str | None]:
    """Return the keys that a snapshot lists."""
    return {each.key for each in ask.snapshot().declared}


@rule("ZI-010", "ZI-045", roles=("router",))
def test_every_pattern_lists_what_it_matches(node: NodeUnderTest) -> None:
    """Tokens are on keys of every shape; ask for the keys of every shape, one by one.

    What a key includes is listed, and nothing is listed that it does not intersect.
    """
    for key in CANONICAL:
        node.other.declare_token(key)
    all_of_them = listed_keys(node.interest(Mode.CURRENT, EntityKind.TOKEN))
    # A snapshot may leave out what the session knows (reading R35): that is seen once, and then held against nobody.
    known = all_of_them - listed_keys(node.interest(Mode.CURRENT, EntityKind.TOKEN))
    asked = (*map(node.key, CANONICAL), *ANYWHERE)
    asks = [(key, node.interest(Mode.CURRENT, EntityKind.TOKEN, key=WireExpr(key))) for key in asked]
    for key, ask in asks:
        listed = listed_keys(ask)
        wanting = [each for each in CANONICAL if each not in listed | known and includes(key, node.key(each))]
        stray = [each for each in CANONICAL if each in listed and not intersects(key, node.key(each))]
        with judging("ZI-010"):
            assert not wanting, f"an interest in {key} does not list {', '.join(wanting)}"
        with judging("ZI-045"):
            assert not stray, f"an interest in {key} lists {', '.join(stray)}"


def watch(node: NodeUnderTest, steps: Sequence[tuple[bool, Entity]]) -> None:
    """Listen to everything, declare what is not there and undeclare what is, step by step."""
    node.interest(Mode.CURRENT_FUTURE, *EntityKind).snapshot()
    held: dict[Entity, int] = {}
    for appears, (kind, key) in steps:
        if appears and (kind, key) not in held:
            held[kind, key] = node.other.declare(kind, key)
        elif not appears and (kind, key) in held:
            node.other.undeclare(kind, held.pop((kind, key)))
    node.settle()


def view(node: NodeUnderTest) -> EntitySet:
    """Return what the main session must believe to exist, from all that it was told."""
    alive: set[EntityName] = set()
    for update in updates(node.main, 0):
        (alive.add if update.verb == "declared" else alive.discard)(update.entity)
    return EntitySet(alive)


@lru_cache(maxsize=256)
def viewed_with_model(profile: str, steps: tuple[tuple[bool, Entity], ...]) -> EntitySet:
    """Return what the main session must believe to exist after some changes at the reference router."""
    with model(profile).scene() as reference:
        watch(reference, steps)
        reference.main.barrier()
        return view(reference)


@rule("ZD-091", "ZD-092", roles=("router",))
@searched(steps=changes)
def test_any_changes_reach_who_listens(node: NodeUnderTest, steps: list[tuple[bool, Entity]]) -> None:
    """Somebody listens to everything while entities come and go in any order.

    In the end it believes what the reference router would have it believe.
    """
    expected = viewed_with_model(node.profile, tuple(steps))
    with node.scene() as scene:
        watch(scene, steps)
        scene.main.wait_until(lambda: view(scene) == expected)
        assert view(scene) == expected


@rule("ZI-032", "ZI-037", "ZD-009", roles=("router",))
@searched(beginning=truncated())
def test_any_truncated_message_is_without_effect(node: NodeUnderTest, beginning: bytes) -> None:
    """A batch ends in the middle of a message.

    Nothing of it shows: who listens to everything hears nothing.
    """
    if read_beginning(write_batch([Frame(0, ())]) + beginning):
        return  # what is left of the message is a whole one
    with node.scene() as scene:
        listener = scene.session()
        # The keys of these messages begin with it, and not with the play's namespace.
        listener.namespace = "goldwire/mutated/"
        listener.interest(Mode.CURRENT_FUTURE, *EntityKind).snapshot()
        offender = scene.session()
        # Short, as there are many examples: that nothing came is proven by the barrier behind it.
        offender.offend(beginning, seconds=node.timing.glance)
        offender.drop()
        scene.session().barrier()
        assert not listener.news(), "a truncated message was acted on"


@rule("ZD-026", "ZD-031", roles=("router",))
@searched(data=mutated(), size=st.sampled_from((0, 3)))
def test_any_mutated_message_is_survived(node: NodeUnderTest, data: bytes, size: int) -> None:
    """A message with bits flipped, bytes put in or taken out is sent, whole or in fragments of a few bytes.

    The node goes on answering others; whether it ends the session is its choice.
    """
    with node.scene() as scene:
        offender = scene.session()
        if size:
            offender.send_in_fragments(data, size)
            offender.read(node.timing.glance)
        else:
            offender.offend(data, seconds=node.timing.glance)
        offender.drop()
        scene.session().barrier()
