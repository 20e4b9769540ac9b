"""Histories with a client: the tester is all servers of its domain, which appear, vanish and disagree."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from conformance.histories.drawing import Chooser
from conformance.histories.moves import Together
from conformance.histories.shrinking import with_less
from conformance.pathfinder.histories.abilities import ClientAbilities, complaint
from conformance.pathfinder.histories.domain_drawing import DomainGenerator
from conformance.pathfinder.histories.domain_moves import (
    ClientBegins,
    DomainMove,
    ServerDrops,
    ServerTells,
    ServiceMatch,
)
from conformance.pathfinder.histories.domain_playing import DomainPlay
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import GENERATIONS

BEGINNING: tuple[DomainMove, ...] = (ClientBegins("subscribe", 1), ServerTells(0, (ServiceMatch("appeared", 1),)))
"""Without these there is nothing that any history could look at."""

PROBES: tuple[tuple[DomainMove, ...], ...] = (
    (*BEGINNING, ServerTells(0, (ServiceMatch("modified", 1, 1), ServiceMatch("disappeared", 1)))),
    (ClientBegins("modify", 1), ServerDrops(0)),
    (ClientBegins("unpublish", 1), ServerDrops(0)),
    (*BEGINNING, ServerDrops(0)),
)
"""The things that a client does, each tried by itself: coming back last."""


class ClientHistories:
    """What Pathfinder brings to histories of clients."""

    tried = frozenset({"PF-042", "PF-043", "PF-044", "PF-046"})

    def generator(self, chooser: Chooser, theme: str) -> DomainGenerator:
        """Return a generator of histories about a theme."""
        return DomainGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> ClientAbilities:
        """Return what a client does at all, each thing tried once."""
        can = ClientAbilities()
        # Without one of these a rule would be said to be kept that nothing has tried; and which of several changes was
        # told, and which was not, only its generation says.
        probed = (begins.scenario for begins, *_ in PROBES if isinstance(begins, ClientBegins))
        for each in dict.fromkeys((*probed, GENERATIONS)):
            node.offers(each)
        if basis := complaint(self.scene(node, can), BEGINNING):
            return ClientAbilities((basis,), blocked=basis[1])
        found = [complaint(self.scene(node, can), probe) for probe in PROBES]
        # Who does not come back raises `NotCome`, and no history is played: so who is left was seen to.
        return replace(can, complaints=tuple(each for each in found if each), comes_back=True)

    @contextmanager
    def scene(self, node: NodeUnderTest, can: ClientAbilities) -> Iterator[DomainPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield DomainPlay(scene, can)

    def simpler(self, move: DomainMove) -> Sequence[DomainMove]:
        """Return a move with less in it: fewer servers, fewer services."""
        match move:
            case Together(told):
                return told
            case ServerTells(_, matches):
                return tuple(replace(move, matches=tuple(each)) for each in with_less(matches))
            case ClientBegins(servers=servers) if servers > 1:
                fewer = tuple(each for each in move.silent if each < servers - 1)
                return (replace(move, servers=servers - 1, silent=fewer),)
            case _:
                return ()


CLIENT_HISTORIES = ClientHistories()
