"""Abilities: what a server or a client does at all, so that nobody is accused of doing wrongly what it never does."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

import msgspec

from conformance.histories.history import HistoryPlayed
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionEnds, SessionOpens
from conformance.pathfinder.histories.actions import (
    HelloRequest,
    PlainRequest,
    PublishRequest,
    ServicesRequest,
    SubscribeRequest,
    UnpublishRequest,
    UnsubscribeRequest,
)
from conformance.pathfinder.histories.moves import ClientAsks, ClientReturns, HistoryMove


class PathfinderAbilities(msgspec.Struct, frozen=True):
    """What a node does not do, with the rules that ask for it; ``blocked``: why no history can be played with it."""

    complaints: Sequence[tuple[str, str]] = ()
    blocked: str = ""

    @property
    def lacking(self) -> frozenset[str]:
        """The rules that it was told once to break."""
        return frozenset(rule for rule, _ in self.complaints)


class ServerAbilities(PathfinderAbilities, frozen=True):
    """What a server does not do, and how it reads what may be read in several ways.

    ``reclaims_at_hello``: whether an orphan has its owner back as soon as that says hello (R24).
    """

    reclaims_at_hello: bool = True


class ClientAbilities(PathfinderAbilities, frozen=True):
    """What a client does not do; ``comes_back``: whether it was seen to come back."""

    comes_back: bool = False


AbilitiesT = TypeVar("AbilitiesT", bound=PathfinderAbilities)
MoveT = TypeVar("MoveT")


class PathfinderPlay(ABC, Generic[MoveT, AbilitiesT]):
    """A history in the course of being played with a node whose ``abilities`` are known."""

    def __init__(self, abilities: AbilitiesT) -> None:
        self.abilities = abilities
        self.judged: Counter[str] = Counter()
        self.is_over = False

    @abstractmethod
    def make(self, move: MoveT) -> None:
        """Make a move and compare what came of it; raises ``Mismatch``."""

    def do(self, move: MoveT) -> None:
        """Make a move and compare what came of it; raises ``Mismatch``, but for what the node is known not to do."""
        try:
            self.make(move)
        except Mismatch as difference:
            if difference.rule not in self.abilities.lacking:
                raise
            # It was told once. What follows rests on it, so the history ends here.
            self.is_over = True


def complaint(scene: AbstractContextManager[HistoryPlayed[MoveT]], moves: Sequence[MoveT]) -> tuple[str, str] | None:
    """Return the rule that is broken when moves are made, and how; ``None`` when none is."""
    with scene as play:
        try:
            play.begin()
            for move in moves:
                if play.fits(move):
                    play.do(move)
        except Mismatch as difference:
            steps = [f"  {number}. {move}" for number, move in enumerate(moves, 1)]
            return difference.rule, "\n".join([difference.what, *steps])
    return None


S1 = PublishRequest(1, 0, 60, {"kind": ["x"]})

BASIS: tuple[HistoryMove, ...] = (
    SessionOpens("a"),
    SessionOpens("b"),
    ClientAsks("a", (S1,)),
    ClientAsks("b", (ServicesRequest(),)),
)
"""Without these there is nothing that any history could look at."""

PROBES: tuple[tuple[HistoryMove, ...], ...] = (
    (ClientAsks("b", (SubscribeRequest(1, "(kind=x)"),)), ClientAsks("b", (UnsubscribeRequest(1),))),
    (ClientAsks("b", (SubscribeRequest(2, None), ServicesRequest(None), UnsubscribeRequest(2))),),
    (ClientAsks("a", (S1,)),),
    (ClientAsks("a", (PublishRequest(1, 1, 30, {"kind": ["x"]}),)),),
    (ClientAsks("a", (PublishRequest(1, 3, 30, {"kind": ["y", "z"], "number": [5]}),)),),
    (ClientAsks("a", (PublishRequest(2), UnpublishRequest(2))),),
    (ClientAsks("a", (PlainRequest("subscriptions"), PlainRequest("clients"), PlainRequest("ping"), HelloRequest())),),
    (ClientAsks("b", (PublishRequest(1, 4, 30, {"kind": ["y", "z"], "number": [5]}),)),),
    (SessionEnds("b"), ClientReturns("b")),
    (SessionEnds("a", "abort"), ClientReturns("a")),
)
"""The things that a server does, each tried behind the basis."""

TRIED = frozenset(
    {
        "PF-047",
        "PF-049",
        "PF-109",
        "PF-121",
        "PF-122",
        "PF-123",
        "PF-137",
        "PF-157",
        "PF-158",
        "PF-224",
        "PF-226",
        "PF-227",
    }
)
"""The rules that are put to the test by these."""

LEFT_ALONE: tuple[HistoryMove, ...] = (*BASIS, SessionEnds("a"))
"""What leaves an orphan, whose owner then comes back and says nothing."""
