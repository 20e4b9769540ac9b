"""A history as a case: generated from its seed, played with the node and the model, and made small when they differ."""

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from conformance.cases import NotPlayed, RuleBroken, RulesBroken
from conformance.histories.budget import BUDGET
from conformance.histories.drawing import MoveGenerator, generate
from conformance.histories.mismatch import Mismatch
from conformance.histories.shrinking import SECONDS, Moves, shrunk
from harness.clock import VirtualClock
from harness.errors import HarnessError

LENGTH = 40
"""Moves of a history: enough for ids to be used again and for sessions to come and go, a fraction of a second long."""

MoveT = TypeVar("MoveT")
MoveT_contra = TypeVar("MoveT_contra", contravariant=True)


class HistoryPlayed(Protocol[MoveT_contra]):
    """A history in the course of being played."""

    @property
    def judged(self) -> Counter[str]:
        """How often each rule was put to the test."""
        ...

    def begin(self) -> None:
        """Do what every history begins with; raises ``Mismatch``."""
        ...

    def fits(self, move: MoveT_contra) -> bool:
        """Tell whether a move can be made as things are."""
        ...

    def do(self, move: MoveT_contra) -> None:
        """Make a move and compare; raises ``Mismatch``."""
        ...


class NodeAbilities(Protocol):
    """What a node does at all."""

    @property
    def complaints(self) -> Sequence[tuple[str, str]]:
        """What it does not do, with the rules that ask for it."""
        ...

    @property
    def blocked(self) -> str:
        """Why no history can be played with it; empty where they can."""
        ...


class Histories(Protocol[MoveT]):
    """What a protocol brings to histories of one role."""

    def generator(self, chooser: Any, theme: str) -> MoveGenerator[MoveT]:
        """Return a generator of histories about a theme."""
        ...

    @property
    def tried(self) -> frozenset[str]:
        """The rules that ``abilities`` puts to the test."""
        ...

    def abilities(self, node: Any) -> NodeAbilities:
        """Return what a node does at all, so that nobody is accused of doing wrongly what it never does."""
        ...

    def scene(self, node: Any, abilities: Any, /) -> AbstractContextManager[HistoryPlayed[MoveT]]:
        """Begin to play: fresh sessions, a namespace of its own, a fresh model."""
        ...

    def simpler(self, move: MoveT) -> Sequence[MoveT]:
        """Return what a move may be replaced by when a history is made small."""
        ...


class _Memory:
    """What is remembered of one instance: what it can, what histories came to, and by which of them a rule was seen
    broken first.
    """

    def __init__(self) -> None:
        self.abilities: NodeAbilities | None = None
        self.trouble = ""
        """Why its abilities could not be tried, when they could not: each history would wait for that again."""
        self.played: dict[tuple[str, int], str] = {}
        """The histories that were played, and the rule that each broke, if any: who plays them again, confirms that."""
        self.made_small: dict[str, str] = {}


ROUND_TRIPS = 600
"""Questions and answers by which it is learnt what a node does at all, before the first history: more or less."""

NEAR = 0.05
"""Seconds of a round trip up to which they are asked whatever the time for histories is: half a minute."""

_MEMORIES: WeakKeyDictionary[object, _Memory] = WeakKeyDictionary()


def play_abilities(node: Any, brings: Histories[Any]) -> frozenset[str]:
    """Try what a node does at all; returns the rules that were put to the test.

    Raises ``RulesBroken`` for what it does not do: histories leave that out, so that it is reported once.
    """
    abilities = _try_abilities(_MEMORIES.setdefault(node.instance, _Memory()), node, brings)
    complaints: dict[str, list[str]] = {}
    for rule, what in abilities.complaints:
        complaints.setdefault(rule, []).append(what)
    if complaints:
        raise RulesBroken([RuleBroken((rule,), "\n".join(what), is_whole=True) for rule, what in complaints.items()])
    return brings.tried


def play_history(node: Any, brings: Histories[Any], theme: str, seed: int) -> frozenset[str]:
    """Play the history of a seed; returns the rules that it put to the test.

    Raises ``RuleBroken`` with the history made small. Where it was played before on this instance, which was started
    anew since, that is the confirmation: the whole of it, as whoever plays it alone will play it, with nothing before.
    """
    memory = _MEMORIES.setdefault(node.instance, _Memory())
    if memory.trouble:
        raise NotPlayed(f"what the node does could not be tried: {memory.trouble}")
    abilities = memory.abilities
    if abilities is None:
        abilities = _try_abilities(memory, node, brings)
        # What was tried may have left something behind, and a confirmation is to find the same as this play.
        node.instance.restart()
    if abilities.blocked:
        raise NotPlayed(abilities.blocked)
    is_known, before = (theme, seed) in memory.played, memory.played.get((theme, seed), "")
    # There is no time for confirming: monitors that accuse as the time ends would else find nobody to confirm it.
    if not is_known and BUDGET.left() <= 0:
        raise NotPlayed("the time for histories is over")
    attempt = _Attempt(node, brings, abilities)
    moves = generate(brings.generator, theme, seed, LENGTH)
    with BUDGET.aside() if is_known else BUDGET.spending():
        failed = attempt.fails(moves)
    if not attempt.moves:
        raise NotPlayed("none of its moves can be made with this node")
    if not failed:
        memory.played.setdefault((theme, seed), "")
        # What was seen before and not again is judged too: so it counts as seen once, and not as confirmed.
        return frozenset(attempt.judged) | ({before} if before else frozenset())
    rule, this = attempt.difference.rule, f"test_histories.test_{theme}[{seed}]"
    if before and rule != before:
        return frozenset({before})
    if before:
        node.timing.silences.broken.add(rule)
    # One small history says what is wrong. A node that breaks a rule breaks it in most of them, and each costs seconds.
    first = memory.made_small.setdefault(rule, this)
    moves = attempt.moves
    if first == this and not is_known:
        with BUDGET.aside():
            seconds, patience = _time_to_shrink(node)
            if node.timing.waited_in_full:
                # What the whole history has shown so, fewer of its moves show in a window. The whole is confirmed.
                node.timing.showed(rule)
            moves = shrunk(moves, attempt.fails_likewise, brings.simpler, seconds=seconds, patience=patience)
    memory.played[theme, seed] = rule
    steps = [f"  {number}. {move}" for number, move in enumerate(moves, 1)]
    if first != this:
        steps = [f"  {len(moves)} moves; {first} shows the same in fewer"]
    text = "\n".join([attempt.difference.what, *steps, f"seed {seed}; alone: -k '{this}'"])
    raise RuleBroken((rule,), text, is_whole=True, shown_by=first if first != this else "", until=attempt.until)


def _time_to_shrink(node: Any) -> tuple[float, float]:
    """Return the seconds that making a history small may take with a node, and those of a try which is the last."""
    # What waits in virtual time costs nothing, and is to come to the same however busy the machine is.
    is_virtual = isinstance(node.instance.clock, VirtualClock)
    return (math.inf, math.inf) if is_virtual else (SECONDS, node.timing.patience)


def _try_abilities(memory: _Memory, node: Any, brings: Histories[Any]) -> NodeAbilities:
    """Try what a node does, and remember it, or why that could not be."""
    away = node.instance.timing.round_trip
    if BUDGET.seconds is not None and away * ROUND_TRIPS > max(BUDGET.seconds, NEAR * ROUND_TRIPS):
        raise NotPlayed(
            f"the node is {away * 1000:.0f} ms away, and what it does at all is learnt in {ROUND_TRIPS} round trips: "
            f"--for {away * ROUND_TRIPS * 2:.0f}s gives histories the time"
        )
    try:
        memory.abilities, memory.trouble = brings.abilities(node), ""
    except HarnessError as error:
        memory.trouble = str(error)
        raise
    return memory.abilities


class _Attempt:
    """Plays histories with one node, and keeps what the last difference was."""

    def __init__(self, node: Any, brings: Histories[Any], abilities: Any) -> None:
        self.node, self.brings, self.abilities = node, brings, abilities
        self.difference = Mismatch("", "")
        self.moves: Moves[Any] = ()
        self.until = 0
        """How many entries the trace had when that showed: tries to make it smaller come behind."""
        self.judged: Counter[str] = Counter()

    def fails(self, moves: Moves[Any]) -> bool:
        """Play a history and tell whether there was a difference; what cannot be done any more is left out."""
        done: list[Any] = []
        with self.brings.scene(self.node, self.abilities) as scene:
            try:
                scene.begin()
                for move in moves:
                    if BUDGET.left() <= 0:
                        break
                    if scene.fits(move):
                        done.append(move)
                        scene.do(move)
            except Mismatch as difference:
                self.difference, self.until = difference, len(self.node.trace)
                return True
            finally:
                self.judged, self.moves = scene.judged, tuple(done)
        return False

    def fails_likewise(self, moves: Moves[Any]) -> Moves[Any]:
        """Return the moves that were made until the same rule was broken as before, if it was."""
        before, whole, until = self.difference, self.moves, self.until
        if self.fails(moves) and self.difference.rule == before.rule:
            return self.moves
        self.difference, self.moves, self.until = before, whole, until
        return ()
