"""Replies: who asks many things at once finds each answer, without going through all of the others for each."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.peers.memory import World
from harness.trace import Direction, Trace
from harness.zenoh.peers.router import Router
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import set_of, token
from wire.zenoh.values import Declare, DeclareFinal, EntityKind, Interest, Mode, Options

KEYS = [f"k{number}" for number in range(20)]


@contextmanager
def node_with_tokens() -> Iterator[NodeUnderTest]:
    world = World(Router.of, "router")
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="g1/")
    for key in KEYS:
        node.other.declare_token(key)
    yield node
    node.close()


class CountedReads(list[Any]):
    """Events that count how often one of them is read by its place."""

    reads = 0

    def __getitem__(self, place: Any) -> Any:
        self.reads += isinstance(place, int)
        return super().__getitem__(place)


def test_each_event_is_looked_at_once_however_many_answers_are_awaited() -> None:
    with node_with_tokens() as node:
        events = node.main.conversation.events = CountedReads(node.main.conversation.events)
        asks = [node.interest(Mode.CURRENT, EntityKind.TOKEN) for _ in KEYS]
        everything = set_of(*map(token, KEYS))
        assert all(ask.snapshot().declared == everything for ask in reversed(asks))
        assert len(events) > len(KEYS) ** 2
        # Once each, and once more for each D_FINAL that is returned.
        assert events.reads <= len(events) + 2 * len(asks)


def test_an_answer_ends_with_its_own_final() -> None:
    with node_with_tokens() as node:
        first, second = (node.interest(Mode.CURRENT, EntityKind.TOKEN, key=key) for key in KEYS[:2])
        later, earlier = second.snapshot(), first.snapshot()
        assert (earlier.declared, later.declared) == (set_of(token("k0")), set_of(token("k1")))
        assert [reply.events[-1] for reply in (earlier, later)] == [earlier.final, later.final]
        # Only what came up to its own end is a stray: the second answer has the first before it.
        assert (earlier.stray, later.stray) == ((), (token("k0"),))
        assert all(event.direction is Direction.RECEIVED for event in later.events)


def test_a_final_of_before_is_not_the_answer() -> None:
    with node_with_tokens() as node:
        ask = node.interest(Mode.CURRENT, EntityKind.TOKEN)
        assert ask.reply().final is not None
        since = node.main.place
        assert node.main.wait_for_final(ask.id, since) is None
        assert node.main.wait_for_final(None, since) is None
        assert node.main.wait_for_final(None, ask.since) == ask.reply().final


def test_a_question_behind_the_answer_is_not_answered_with_it() -> None:
    with node_with_tokens() as node:
        session, sent = node.main, []
        session.send = lambda *messages, **_: sent.extend(messages)  # type: ignore[method-assign]
        since = session.place
        for message in (
            Interest(7, Mode.CURRENT, Options.T),
            Declare(DeclareFinal(), 3),
            Interest(8, Mode.CURRENT, Options.T),
        ):
            session.conversation._note(Direction.RECEIVED, message, 0.0, 0)
        for _ in range(2):
            assert session.wait_for_final(3, since) is not None
        assert sent == [Declare(DeclareFinal(), 7)]
        assert session.wait_for_final(4, since) is None
        assert sent == [Declare(DeclareFinal(), 7), Declare(DeclareFinal(), 8)]
