"""Hypothesis strategies for interests, declarations and keys, valid and mutated."""

import itertools

from hypothesis import strategies as st

from conformance.corruption import corrupted
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    Mode,
    NetworkMessage,
    Options,
    WireExpr,
)
from wire.zenoh.values_transport import write_network

Entity = tuple[EntityKind, str]

kinds = st.sampled_from(EntityKind)
# Few and short, so that keys meet patterns often; long ones and many have cases of their own.
chunks = st.sampled_from(["a", "b", "ab", "c"])
keys = st.lists(chunks, min_size=1, max_size=3).map("/".join)
patterns = (
    st.lists(st.one_of(chunks, st.sampled_from(["*", "**", "a$*"])), min_size=1, max_size=3)
    # In canonical form: two equal wildcards in a row, and ** before *, are spelt otherwise or refused.
    .map(lambda parts: [part for place, part in enumerate(parts) if place == 0 or part != parts[place - 1]])
    .filter(lambda parts: not any(one == "**" and two == "*" for one, two in itertools.pairwise(parts)))
    .map("/".join)
)
# Small bounds, as each entity is a message or two over a real link, and what fails is made smaller anyway.
entities = st.lists(st.tuples(kinds, keys), max_size=6, unique=True)
interests = st.tuples(st.sets(kinds, min_size=1), st.one_of(st.none(), patterns))
changes = st.lists(st.tuples(st.booleans(), st.tuples(kinds, keys)), min_size=1, max_size=8)


@st.composite
def messages(draw: st.DrawFn) -> NetworkMessage:
    """Draw an INTEREST or a DECLARE that every node can read, with keys of a tester's own."""
    key = WireExpr("goldwire/mutated/" + draw(keys))
    number = draw(st.integers(1, 2**32 - 1))
    if draw(st.booleans()):
        options = Options(draw(st.integers(0, 15))) | Options.R | Options.N | Options.M
        return Interest(number, draw(st.sampled_from([Mode.CURRENT, Mode.FUTURE, Mode.CURRENT_FUTURE])), options, key)
    if draw(st.booleans()):
        return Declare(DeclareKeyExpr(draw(st.integers(1, 65535)), key))
    return Declare(DeclareEntity(draw(kinds), number, key))


@st.composite
def truncated(draw: st.DrawFn) -> bytes:
    """Draw the beginning of a message: every byte but the last few."""
    whole = write_network(draw(messages()))
    return whole[: draw(st.integers(1, len(whole) - 1))]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw a message with bits flipped, bytes put in, taken out, or repeated."""
    return corrupted(draw, write_network(draw(messages())), b"\xff", 10)
