"""Histories with a router: what it is told by several sessions, and what each of them is told by it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from conformance.histories.drawing import Chooser
from conformance.histories.mismatch import Mismatch
from conformance.zenoh.histories.abilities import TRIED, Abilities, Lack, abilities
from conformance.zenoh.histories.doubts import DOUBTS
from conformance.zenoh.histories.drawing import Narrator
from conformance.zenoh.histories.moves import Move, Opens, Says, Together
from conformance.zenoh.histories.playing import HistoryPlay
from conformance.zenoh.histories.words import Asks, Declares
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import EntityKind, Mode, WireExpr

BEFORE = (
    Opens("a"),
    Says("a", tuple(Declares(kind, 1, WireExpr("a/b")) for kind in EntityKind)),
    Says("a", (Asks(1, Mode.CURRENT_FUTURE, frozenset(EntityKind)),)),
)
"""What is there when a guest comes: something to lose, and somebody who asks for everything without any key."""


class RouterHistories:
    """What Zenoh brings to histories of routers."""

    tried = TRIED | {doubt.rule for doubt in DOUBTS}

    def tells(self, chooser: Chooser, theme: str) -> Narrator:
        """Return a teller of histories about a theme."""
        return Narrator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return what a node does at all: each thing is tried once, and each doubt."""
        found = abilities(node)
        lacks = list(found.lacks)
        for doubt in DOUBTS:
            with self.scene(node, found) as play:
                try:
                    play.begin()
                    for move in (*BEFORE, doubt):
                        if play.fits(move):
                            play.do(move)
                except Mismatch as difference:
                    lacks.append(Lack(doubt.rule, difference.rule, f"{difference.what}\n  {doubt}"))
        return msgspec.structs.replace(found, lacks=tuple(lacks))

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[HistoryPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield HistoryPlay(scene, can)

    def simpler(self, move: Move) -> Sequence[Move]:
        """Return a move with less in it: fewer sessions, fewer words, not in fragments, without extensions."""
        match move:
            case Together(said):
                return said
            case Says():
                return tuple(less(move))
            case _:
                return ()


def less(move: Says) -> Iterator[Says]:
    """Yield what is said with less in it."""
    if move.fragments:
        yield msgspec.structs.replace(move, fragments=0)
    if len(move.words) > 3:
        yield msgspec.structs.replace(move, words=move.words[: len(move.words) // 2])
        yield msgspec.structs.replace(move, words=move.words[len(move.words) // 2 :])
    for place in range(len(move.words)) if 1 < len(move.words) < 9 else ():
        yield msgspec.structs.replace(move, words=move.words[:place] + move.words[place + 1 :])
    for place, word in enumerate(move.words):
        plain = {name: () for name in ("extensions", "inner") if getattr(word, name, ())}
        if plain:
            words = (*move.words[:place], msgspec.structs.replace(word, **plain), *move.words[place + 1 :])
            yield msgspec.structs.replace(move, words=words)


ROUTER = RouterHistories()
