"""The tester: owns one instance of an implementation, starts it anew when it has died, and confirms every non-pass."""

from collections.abc import Callable

from conformance.cases import Case
from conformance.catalogue.rules import Profile
from conformance.engine.confirmation import ConfirmedPlay, differing_rules, merge, needs_confirmation
from conformance.engine.play import PlayResult, play
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.iuts.description import Launched, Remote, resolve
from harness.iuts.instance import Instance

PLAYS = 3
"""Plays of a case at most: two that differ do not say which is the rule, and more would rarely change the answer."""


class Tester:
    """Plays cases against one implementation, on an instance of its own.

    ``progress`` is told, in a few words, what takes longer than a play.
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
    ) -> None:
        self.suite = Suite(protocol)
        self.profile = profile
        self.transport = transport
        self.description = resolve(iut, protocol)
        self.is_shared = isinstance(self.description.source, Remote)
        self._progress = progress
        self._count = 0
        self._has_crashed = False
        source = self.description.source
        self._every_case = isinstance(source, Launched) and source.program.restart == "every-case"
        self.instance: Instance = self.suite.harness.instance(self.description, profile=profile)

    def play(self, case: Case) -> ConfirmedPlay:
        """Play a case; a non-pass is played again on a fresh instance, and a third time if that differs."""
        plays = [self._play(case)]
        if not needs_confirmation(plays[0]):
            return ConfirmedPlay(plays[0])
        while len(plays) < PLAYS:
            self._progress(f"{case.name}: confirming on a fresh instance")
            self._renew()
            plays.append(self._play(case))
            if len(plays) == 2 and not differing_rules(plays):
                return ConfirmedPlay(plays[0], 2)
        return merge(plays)

    def _play(self, case: Case) -> PlayResult:
        # A node that answers nobody any more may look alive; the next case is not to be about that.
        if not self.instance.alive() or self._has_crashed or (self._every_case and self._count):
            self._renew()
        self._count += 1
        result = play(
            case,
            self.instance,
            self.suite,
            profile=self.profile,
            transport=self.transport,
            number=self._count,
        )
        self._has_crashed = result.outcome is Outcome.CRASH
        return result

    def _renew(self) -> None:
        self.instance.restart()
        self._has_crashed = False

    def close(self) -> None:
        """End the implementation."""
        self.instance.stop()
