"""Basics: what a node does at all. Who lacks something is told that once, and nothing of the rules that rest on it."""

from conformance.cases import Case
from conformance.engine.confirmation import ConfirmedPlay
from conformance.engine.play import PlayResult
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from harness.trace import Trace


class Basics:
    """The basic cases of a role, and what they have shown of one implementation."""

    def __init__(self, suite: Suite, role: str, transport: str) -> None:
        self._suite = suite
        self._role = role
        self._transport = transport
        self._lacking: dict[str, str] = {}
        self.played: dict[str, ConfirmedPlay] = {}
        """The basic cases that were played, by name."""

    def cases(self) -> list[Case]:
        """Return the basic cases, those first on which others rest."""
        return [each for each in self._suite.cases if each.marks.is_basic and each.fits(self._role, self._transport)]

    def learn(self, case: Case, confirmed: ConfirmedPlay) -> None:
        """Take note of what a basic case came to."""
        self.played[case.name] = confirmed
        for judgement in confirmed.result.judgements:
            if judgement.by == "case" and _shows_a_lack(judgement, confirmed):
                self._lacking.setdefault(judgement.rule, judgement.what.partition("\n")[0])

    def root_of(self, rule: str, case: Case) -> str:
        """Return the rule for want of which a case cannot judge a rule, the most basic of them; empty if there is none.

        A rule that is never kept at all is its own: what its basic case says is all that there is to say.
        """
        needed_for = self._suite.catalogue.needed_for
        needed = [*needed_for(rule), rule, *(each for need in case.marks.needs for each in (*needed_for(need), need))]
        # A history is about what sentences do together: it rests on all that there is.
        return next(
            (need for need in (self._lacking if case.marks.is_history else needed) if need in self._lacking), ""
        )

    def blocks(self, case: Case) -> bool:
        """Tell whether nothing that a case is about can be judged, so that it need not be played."""
        return all(self.root_of(rule, case) for rule in case.marks.rules)

    def blocked(self, case: Case) -> ConfirmedPlay:
        """Return what a case comes to that was not played."""
        judgements = tuple(self._blocked(Judgement(rule, Outcome.PASS, case.name), case) for rule in case.marks.rules)
        trace, why = Trace(self._suite.protocol), f"it rests on {self.root_of(case.marks.rules[0], case)}"
        return ConfirmedPlay(PlayResult(case.name, judgements, trace, 0.0, True, why), attempts=0)

    def without_blocked(self, case: Case, judgements: tuple[Judgement, ...]) -> tuple[Judgement, ...]:
        """Return the judgements of a play, those on rules that cannot be judged as inconclusive."""

        def is_doubtful(each: Judgement) -> bool:
            # What was kept was kept; what a monitor has seen was said; and a crash is one whatever the case was about.
            doubtful = (Outcome.INCONCLUSIVE, Outcome.DEVIATION, Outcome.VIOLATION)
            return each.by == "case" and each.outcome in doubtful and bool(self.root_of(each.rule, case))

        return tuple(self._blocked(each, case) if is_doubtful(each) else each for each in judgements)

    def _blocked(self, judgement: Judgement, case: Case) -> Judgement:
        root = self.root_of(judgement.rule, case)
        what = self._lacking[root] if root == judgement.rule else f"blocked by {root}: {self._lacking[root]}"
        return Judgement(judgement.rule, Outcome.INCONCLUSIVE, judgement.case, judgement.by, what, blocked_by=root)


def _shows_a_lack(judgement: Judgement, confirmed: ConfirmedPlay) -> bool:
    if judgement.outcome is Outcome.INCONCLUSIVE:
        # Twice in vain, and not only once: that is flaky. Who cannot be told to do it may do it all the same.
        return not (confirmed.is_flaky or confirmed.result.settled)
    return judgement.outcome.accuses
