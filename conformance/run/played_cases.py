"""What a run has played of what there is to play, and why it says nothing of some rules."""

from collections.abc import Sequence

from conformance.cases import Case
from conformance.catalogue.rules import Rule
from conformance.run.records import CasePlayed
from conformance.verdicts import Judgement, Outcome


class PlayedCases:
    """Which cases were played, of those that there are; where these are not known, the run counts as whole.

    Over a transport that only some cases are played over, only a part was played.
    """

    def __init__(self, played: Sequence[CasePlayed], cases: Sequence[Case], role: str, transport: str) -> None:
        self.role = role
        self.transport = transport
        self.cases = cases
        self.done = frozenset(record.case for record in played)
        self.left_out = {record.case: record.not_played for record in played if record.not_played and record.attempts}
        """The cases that were left out for what the implementation lacks, or for want of time, and why."""
        self.open = [case for case in cases if case.suits(role) and case.name not in self.done]
        self.names = self.done | {case.name for case in cases}

    @property
    def whole(self) -> bool:
        """Whether every case that can be played against this implementation was played."""
        return not self.open

    def is_thorough(self, rule: str) -> bool:
        """Tell whether all cases that name a rule were played; one that no case names needs them all."""
        # Over whatever transport: a rule that passes over TCP may be broken over UDP, where another case tries it.
        naming = [case for case in self.cases if rule in case.marks.rules and case.suits(self.role)]
        return all(case.name in self.done for case in naming) if naming else self.whole


def why_untested(rule: Rule, scope: PlayedCases, ended: str = "") -> str:
    """Return why nothing was said about a rule; ``ended`` is how the run ended early, in one word, if it did."""
    # From what lies with the rule to what lies with this run: the first reason is the one that a person can act on.
    if reason := why_unplayable(rule):
        return reason
    naming = [case for case in scope.cases if rule.id in case.marks.rules]
    fitting = [case for case in naming if case.fits(scope.role, scope.transport)]
    if naming and not fitting:
        roles = sorted({role for case in naming for role in case.marks.roles})
        if roles and scope.role not in roles:
            return f"its cases need the role {' or '.join(roles)}; this run plays {scope.role}"
        transports = sorted({transport for case in naming for transport in case.marks.transports})
        return f"its cases need {' or '.join(transports)}; this run uses {scope.transport}"
    if any(case.name not in scope.done for case in fitting):
        return f"the run was {ended} before its cases" if ended else "its cases were not selected"
    if (
        fitting
        and (reasons := dict.fromkeys(scope.left_out.get(case.name, "") for case in fitting))
        and "" not in reasons
    ):
        return f"not played: {'; '.join(reasons)}"
    if not naming and "monitor" in rule.verified:
        return "the monitors saw no occasion to judge it in this run"
    return "no case of this run judged it"


def is_hidden(rule: Rule, judgements: Sequence[Judgement]) -> bool:
    """Tell whether recordings only say that a rule is kept which nobody sees broken without asking."""
    return "monitor" not in rule.verified and all(each.outcome in (Outcome.PASS, Outcome.ODD) for each in judgements)


def why_unseen(rule: Rule) -> str:
    """Return why recordings said nothing about a rule."""
    if reason := why_unplayable(rule):
        return reason
    if "monitor" in rule.verified:
        return "the recordings had no occasion to judge it"
    return "not seen: it takes a stimulus, and goldwire test plays its cases"


def why_unplayable(rule: Rule) -> str:
    """Return why nothing on a wire can say anything about a rule; empty if something can."""
    if "paper" in rule.verified:
        return rule.reason
    return "about bytes alone: the golden vectors check it" if rule.verified == ("codec",) else ""
