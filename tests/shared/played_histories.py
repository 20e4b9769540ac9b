"""Histories of one role, played in memory: with peers that are right, and with such as have something planted."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conformance.cases import RuleBroken
from conformance.engine.play import play
from conformance.histories.history import Histories, HistoryPlayed, play_history
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionOpens
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.peers.memory import World
from harness.trace import Trace

TWO = SessionOpens("a"), SessionOpens("b")


class PlayedHistories:
    """What a protocol brings for a role, with the abilities of a node that does everything (``able``)."""

    def __init__(self, protocol: str, role: str, brings: Histories[Any], able: Any, *, dials: bool = False) -> None:
        self.protocol, self.role, self.dials = protocol, role, dials
        self.brings = brings
        self.able = able

    def world(self, peer: Any) -> World:
        """Return an instance of a peer."""
        return World(peer.of, self.role, dials=self.dials)

    def node(self, peer: Any) -> Any:
        """Return the node of a play with a peer."""
        world = self.world(peer)
        trace = Trace(self.protocol, clock=world.clock)
        return Suite(self.protocol).harness.node_under_test(world, trace, profile="document", namespace="t/")

    @contextmanager
    def scene(self, peer: Any, can: Any = None) -> Iterator[Any]:
        """Begin a history with a peer."""
        with self.brings.scene(self.node(peer), can or self.able) as scene:
            scene.begin()
            yield scene

    def make(self, peer: Any, *moves: Any, can: Any = None) -> None:
        """Make moves with a peer, all of which have to be possible; raises ``Mismatch``."""
        with self.scene(peer, can) as scene:
            make_all(scene, *moves)

    def rule_broken(self, peer: Any, *moves: Any, can: Any = None) -> str:
        """Return the rule that a peer breaks when moves are made; it has to break one."""
        with pytest.raises(Mismatch) as difference:
            self.make(peer, *moves, can=can)
        return difference.value.rule

    def play(self, node: Any, theme: str, *seeds: int) -> frozenset[str]:
        """Play the histories of some seeds; returns what they judged. Raises ``RuleBroken``."""
        judged: frozenset[str] = frozenset()
        for seed in seeds:
            judged |= play_history(node, self.brings, theme, seed)
        return judged

    def accusation(self, peer: Any, theme: str, *seeds: int) -> RuleBroken:
        """Return the first accusation of a peer that is started anew for each seed; there has to be one."""
        with pytest.raises(RuleBroken) as caught:
            self.play_anew(peer, theme, *seeds)
        return caught.value

    def play_anew(self, peer: Any, theme: str, *seeds: int) -> None:
        """Play the histories of some seeds, each with a peer that was started for it; raises ``RuleBroken``."""
        for seed in seeds:
            self.play(self.node(peer), theme, seed)

    def accused(self, peer: Any, name: str, world: World | None = None) -> dict[str, Outcome]:
        """Return the rules that a case, or a monitor of it, accuses a peer of breaking, and how gravely."""
        suite = Suite(self.protocol)
        (case,) = [case for case in suite.cases if case.name == name]
        result = play(case, world or self.world(peer), suite, profile="document")
        errors = [judgement.what for judgement in result.judgements if judgement.outcome is Outcome.ERROR]
        assert not errors, errors[0]
        return {judgement.rule: judgement.outcome for judgement in result.judgements if judgement.outcome.accuses}

    def first_accuser(self, peer: Any, *, by_histories: bool) -> str:
        """Return which case of the gate is the first to accuse a peer, if any: of its histories, or of the others."""
        suite, world = Suite(self.protocol), self.world(peer)
        cases = [case for case in suite.cases if case.fits(self.role, "tcp") and case.marks.is_history is by_histories]
        for number, case in enumerate(cases, 1):
            result = play(case, world, suite, profile="document", number=number)
            if any(judgement.outcome.accuses and judgement.by == "case" for judgement in result.judgements):
                return case.name
        return ""


def make_all(scene: HistoryPlayed[Any], *moves: Any) -> None:
    """Make moves in a history that has begun; each has to be possible."""
    for move in moves:
        assert scene.fits(move)
        scene.do(move)
