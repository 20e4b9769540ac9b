"""The tester: owns one instance of an implementation, starts it anew when it has died, and confirms every non-pass."""

from collections.abc import Callable, Sequence

import msgspec

from conformance.cases import Case
from conformance.catalogue.rules import Profile
from conformance.engine.basics import Basics
from conformance.engine.confirmation import ConfirmedPlay, Sighting, differing_rules, merge, needs_confirmation, watched
from conformance.engine.lost_node import LostNode
from conformance.engine.play import PlayResult, get_to_know, play
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.errors import StartFailed
from harness.iuts.description import Launched, Remote, resolve
from harness.iuts.instance import Instance
from harness.links.network_path import NetworkPath
from harness.timing import Timing

PLAYS = 3
"""Plays of a case at most: two that differ do not say which is the rule, and more would rarely change the answer."""


class Tester:
    """Plays cases against one implementation, on an instance of its own.

    ``progress`` is told, in a few words, what takes longer than a play. ``instance`` is one that runs already, as a
    peer in memory does; else one is started. ``known`` is what was measured of another instance of the implementation,
    ``path`` what befalls datagrams on their way to it.
    """

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    def __init__(
        self,
        iut: str,
        protocol: str,
        *,
        profile: Profile = "document",
        transport: str = "tcp",
        progress: Callable[[str], None] = lambda text: None,
        instance: Instance | None = None,
        known: Timing | None = None,
        path: NetworkPath | None = None,
    ) -> None:
        self.suite = Suite(protocol)
        self.profile = profile
        self.transport = transport
        self.description = resolve(iut, protocol)
        self.is_shared = isinstance(self.description.source, Remote)
        self._progress = progress
        self._count = 0
        self._crash: PlayResult | None = None
        self._lost: LostNode | None = None
        source = self.description.source
        self._every_case = isinstance(source, Launched) and source.program.restart == "every-case"
        self._basics: Basics | None = None
        self._seen_twice: set[Sighting | None] = set()
        self.instance = instance or self.suite.harness.instance(
            self.description, profile=profile, transport=transport, path=path
        )
        if known is not None:
            self.instance.timing.take_over(known)
            self.instance.has_served = None if self.instance.dials else True

    def measured(self) -> Timing:
        """Return what is known of how far away the implementation is: of one that dials, what plays have shown."""
        get_to_know(self.instance, self.suite, self.profile, "g0p/", self.transport)
        return self.instance.timing

    def play(self, case: Case) -> ConfirmedPlay:
        """Play a case; a non-pass is played again on a fresh instance, and a third time if that differs.

        Once something does not pass, it is asked what the implementation does at all: of what it never does one rule
        accuses it, and the rules that rest on that cannot be judged. ``StartFailed`` when it does not come up before it
        was ever played; of one that has died and does not come back nothing can be judged any more.
        """
        if self._lost is not None:
            played = self._basics.played if self._basics is not None else {}
            return played.get(case.name) or self._lost.unjudged(case)
        try:
            return self._judged(case)
        except StartFailed as error:
            # It ran, and died: that is to be told, and not that it did not start.
            if self._crash is None:
                raise
            self._lost = LostNode(self._crash, str(error).partition("\n")[0])
            return self._lost.told_by(case)

    def _judged(self, case: Case) -> ConfirmedPlay:
        if self._basics is not None:
            return self._known(case, self._basics) or self._confirmed(case, self._play(case), self._basics)
        first = self._play(case)
        # Of one that passes nothing else need be known: this costs only those who give a reason for it.
        if not needs_confirmation(first):
            return ConfirmedPlay(first)
        basics = self._try_basics()
        return self._known(case, basics) or self._confirmed(case, first, basics)

    def _try_basics(self) -> Basics:
        self._basics = basics = Basics(self.suite, self.description.role, self.transport)
        for case in basics.cases():
            self._progress(f"{case.name}: what it does at all")
            # Those first on which others rest, which then need not be waited for in vain.
            known = self._known(case, basics)
            basics.learn(case, known or self._confirmed(case, self._play(case), basics))
        return basics

    def _known(self, case: Case, basics: Basics) -> ConfirmedPlay | None:
        """Return what a case comes to that need not be played, if that is known."""
        if case.name in basics.played:
            return basics.played[case.name]
        return basics.blocked(case) if basics.blocks(case) else None

    def _confirmed(self, case: Case, first: PlayResult, basics: Basics) -> ConfirmedPlay:
        """Play a case that did not pass again, and leave out what cannot be judged."""
        plays = [first]
        if not needs_confirmation(first) or (case.marks.is_history and watched(first) <= self._seen_twice):
            return ConfirmedPlay(first)
        while len(plays) < PLAYS:
            self._progress(f"{case.name}: confirming on a fresh instance")
            self._renew()
            plays.append(self._play(case))
            if len(plays) == 2 and not differing_rules(plays):
                # Of dozens of histories most show it again; to begin anew for each would leave no time for others.
                self._seen_twice |= (watched(first) & watched(plays[1])) - {None}
                break
        confirmed = merge(plays)
        self._take_note_of_silence(plays, confirmed.result)
        judgements = basics.without_blocked(case, confirmed.result.judgements)
        result = msgspec.structs.replace(confirmed.result, judgements=judgements)
        return msgspec.structs.replace(confirmed, result=result)

    def _take_note_of_silence(self, plays: Sequence[PlayResult], confirmed: PlayResult) -> None:
        """Take note of what plays confirm to be wrong, if each has waited for something until patience ended."""
        accuses = any(each.accuses for each in confirmed.by_rule().values())
        if accuses and all(each.waited_in_full for each in plays):
            self.instance.timing.silences.proven += 1

    def _play(self, case: Case) -> PlayResult:
        # A node that answers nobody any more may look alive; the next case is not to be about that.
        if not self.instance.alive() or self._crash is not None or (self._every_case and self._count):
            self._renew()
        for _ in range(PLAYS):
            self._count += 1
            result = play(
                case,
                self.instance,
                self.suite,
                profile=self.profile,
                transport=self.transport,
                number=self._count,
            )
            # Its own slowness is nothing of the node's: what could not be judged for that is tried again.
            if not result.was_late:
                break
        self._crash = result if result.outcome is Outcome.CRASH else None
        return result

    def _renew(self) -> None:
        self.instance.restart()
        self._crash = None

    def close(self) -> None:
        """End the implementation."""
        self.instance.stop()
