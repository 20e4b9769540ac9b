"""A node that has died and does not come back: its crash is told once, and nothing else can be judged any more."""

import msgspec

from conformance.cases import Case
from conformance.contract.signatures import first_line
from conformance.engine.confirmation import ConfirmedPlay
from conformance.engine.play import PlayResult
from conformance.verdicts import Judgement, Outcome
from harness.trace import Trace


class LostNode(msgspec.Struct, frozen=True):
    """What a node died of, and how it is known that nobody starts it anew.

    ``crash`` is the play that it did not survive, ``why`` what is wrong with it since.
    """

    crash: PlayResult
    why: str

    def told_by(self, case: Case) -> ConfirmedPlay:
        """Return what comes of the case in which the node was lost: the crash, though it cannot be confirmed.

        That the node is gone is no chance that a second look could change.
        """
        if case.name == self.crash.case:
            return ConfirmedPlay(self._told())
        # It was lost in another one, which was tried for the sake of this.
        lost = self._told()
        own = tuple(each for each in self.unjudged(case).result.judgements if each.rule not in lost.by_rule())
        return ConfirmedPlay(msgspec.structs.replace(lost, case=case.name, judgements=(*lost.judgements, *own)))

    def unjudged(self, case: Case) -> ConfirmedPlay:
        """Return what a case comes to that cannot be played any more."""
        root = next(each for each in self.crash.judgements if each.outcome is Outcome.CRASH)
        why = f"the node died in {self.crash.case} and does not come back ({self.why})"
        what = f"not judged: {why}\n{first_line(root.what)}"
        judgements = tuple(
            Judgement(rule, Outcome.INCONCLUSIVE, case.name, "case", what, blocked_by=root.rule)
            for rule in case.marks.rules
        )
        trace = Trace(self.crash.trace.protocol, self.crash.trace.transport)
        return ConfirmedPlay(PlayResult(case.name, judgements, trace, 0.0, True, why), attempts=0)

    def _told(self) -> PlayResult:
        """Return the play in which the node died, its judgements with what is known since."""
        judgements = tuple(
            msgspec.structs.replace(each, what=f"{each.what}\nit does not come back: {self.why}")
            if each.outcome is Outcome.CRASH
            else each
            for each in self.crash.judgements
        )
        return msgspec.structs.replace(self.crash, judgements=judgements)
