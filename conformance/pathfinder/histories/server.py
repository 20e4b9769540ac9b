"""Histories with a server: what it is asked by several clients, and what each of them is answered and told."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain

import msgspec

from conformance.histories.drawing import Chooser
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionEnds, Together
from conformance.histories.shrinking import with_less
from conformance.pathfinder.histories.abilities import BASIS, LEFT_ALONE, PROBES, TRIED, ServerAbilities, complaint
from conformance.pathfinder.histories.drawing import DirectoryGenerator
from conformance.pathfinder.histories.moves import ClientAsks, ClientBlinks, ClientsRace, HistoryMove
from conformance.pathfinder.histories.playing import DirectoryPlay
from harness.errors import HarnessError, NotAnswered
from harness.pathfinder.tester.node_under_test import NodeUnderTest


class ServerHistories:
    """What Pathfinder brings to histories of servers."""

    tried = TRIED

    def generator(self, chooser: Chooser, theme: str) -> DirectoryGenerator:
        """Return a generator of histories about a theme."""
        return DirectoryGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> ServerAbilities:
        """Return what a server does at all, each thing tried once, and how it reads what is open."""
        # What it is with an owner that is back is asked first: without that the rest cannot be judged.
        can = ServerAbilities()
        if basis := complaint(self.scene(node, can), BASIS):
            return ServerAbilities((basis,), blocked=basis[1])
        can = ServerAbilities(reclaims_at_hello=self.reclaims_at_hello(node))
        # All at once, as most servers do all of it: each by itself costs a connection for each client.
        if complaint(self.scene(node, can), (*BASIS, *chain(*PROBES))) is None:
            return can
        found, fatal = [], None
        for probe in PROBES:
            # What one of them has ended, or left behind, is no matter of the others.
            node.instance.restart()
            if broken := complaint(self.scene(node, can), (*BASIS, *probe)):
                found.append(broken)
                fatal = fatal or (None if self.is_served(node) else probe)
        if fatal is not None:
            # Last, and left as it is then: who asks what the node does at all is to see that it has died, and of what.
            node.instance.restart()
            complaint(self.scene(node, can), (*BASIS, *fatal))
        return msgspec.structs.replace(can, complaints=tuple(found))

    def is_served(self, node: NodeUnderTest) -> bool:
        """Tell whether a server answers on a fresh connection."""
        try:
            node.probe()
        except HarnessError:
            return False
        return True

    def reclaims_at_hello(self, node: NodeUnderTest) -> bool:
        """Tell whether an orphan has its owner back before that has published it again (R24).

        Who does not let an owner come back is told so by the probes.
        """
        with self.scene(node, ServerAbilities()) as play, suppress(Mismatch, NotAnswered):
            play.begin()
            for move in LEFT_ALONE:
                play.do(move)
            owner = play.node.back(play.away["a"])
            listed = play.node.listed(session=owner)
            return all("orphan-since" not in fields for fields in listed.values())
        return True

    @contextmanager
    def scene(self, node: NodeUnderTest, can: ServerAbilities) -> Iterator[DirectoryPlay]:
        """Begin to play."""
        with node.scene() as scene:
            play = DirectoryPlay(scene, can)
            try:
                yield play
            finally:
                play.end()

    def simpler(self, move: HistoryMove) -> Sequence[HistoryMove]:
        """Return a move with less in it: fewer clients, fewer requests."""
        match move:
            case Together(asked) | ClientsRace(asked):
                return asked
            case ClientAsks(_, requests):
                return tuple(msgspec.structs.replace(move, requests=each) for each in with_less(requests))
            case ClientBlinks(who, verb):
                return (SessionEnds(who, verb),)
            case _:
                return ()


SERVER_HISTORIES = ServerHistories()
