"""Histories with a router: what it is told by several sessions, and what each of them is told by it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from conformance.histories.drawing import Chooser
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionOpens, Together
from conformance.histories.shrinking import with_less
from conformance.zenoh.histories.abilities import Abilities, Lack
from conformance.zenoh.histories.actions import Declares, SendsInterest
from conformance.zenoh.histories.drawing import ZenohMoveGenerator
from conformance.zenoh.histories.moves import Move, Sends
from conformance.zenoh.histories.playing import HistoryPlay
from conformance.zenoh.histories.trials import TRIED, abilities
from conformance.zenoh.histories.unspecified import UNSPECIFIED
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import EntityKind, Mode, WireExpr

BEFORE = (
    SessionOpens("a"),
    Sends("a", tuple(Declares(kind, 1, WireExpr("a/b")) for kind in EntityKind)),
    Sends("a", (SendsInterest(1, Mode.CURRENT_FUTURE, frozenset(EntityKind)),)),
)
"""What is there when a guest comes: something to lose, and somebody who asks for everything without any key."""


class RouterHistories:
    """What Zenoh brings to histories of routers."""

    tried = TRIED | {unspecified.rule for unspecified in UNSPECIFIED}

    def generator(self, chooser: Chooser, theme: str) -> ZenohMoveGenerator:
        """Return a generator of histories about a theme."""
        return ZenohMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return what a node does at all: each thing is tried once, and each move that is unspecified."""
        found = abilities(node)
        if found.blocked:
            return found
        lacks = list(found.lacks)
        reported: set[tuple[str, str]] = set()
        for unspecified in UNSPECIFIED:
            with self.scene(node, found) as play:
                try:
                    play.begin()
                    for move in (*BEFORE, unspecified):
                        if play.fits(move):
                            play.do(move)
                except Mismatch as difference:
                    # What goes wrong whatever a guest sends is reported with the first of them.
                    rule = "" if (difference.rule, difference.what) in reported else difference.rule
                    lacks.append(Lack(unspecified.rule, rule, f"{difference.what}\n  {unspecified}"))
                    reported.add((difference.rule, difference.what))
        return msgspec.structs.replace(found, lacks=tuple(lacks))

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[HistoryPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield HistoryPlay(scene, can)

    def simpler(self, move: Move) -> Sequence[Move]:
        """Return a move with less in it: fewer sessions, fewer messages, not in fragments, without extensions."""
        match move:
            case Together(sends):
                return sends
            case Sends():
                return tuple(less(move))
            case _:
                return ()


def less(move: Sends) -> Iterator[Sends]:
    """Yield what is sent with less in it."""
    if move.fragments:
        yield msgspec.structs.replace(move, fragments=0)
    for actions in with_less(move.actions):
        yield msgspec.structs.replace(move, actions=actions)
    for place, action in enumerate(move.actions):
        plain: dict[str, object] = {name: () for name in ("extensions", "inner") if getattr(action, name, ())}
        if "inner" in plain and hasattr(action, "first"):
            plain["first"] = False
        if plain:
            actions = (*move.actions[:place], msgspec.structs.replace(action, **plain), *move.actions[place + 1 :])
            yield msgspec.structs.replace(move, actions=actions)


ROUTER = RouterHistories()
