"""What of a case's judgements is known, and what is news: told while a run goes on, before its summary is made."""

from collections.abc import Iterator

from conformance.contract.comparison import JudgedItem, accepting
from conformance.contract.expectations import Expectation
from conformance.run.records import CasePlayed
from conformance.run.settings import RunSettings
from conformance.verdicts import Judgement, is_red


class KnownDeviations:
    """The entries of the expectations that are about the implementation of a run."""

    def __init__(self, settings: RunSettings) -> None:
        self._strictness = settings.strictness
        self._has_contract = settings.expectations.path is not None
        alive = settings.expectations.applying(settings.version, settings.description.role, settings.profile)
        self._by_rule = [entry for entry in alive if entry.rule]
        self._by_case = [entry for entry in alive if entry.case]
        self._told: set[tuple[str, str]] = set()

    def expected(self, record: CasePlayed) -> Expectation | None:
        """Return an entry of the contract if all of what a case came to is expected by some."""
        if entry := self._of_the_case(record):
            return entry
        entries = [self._of_the_rule(each) for each in record.judgements if self.accuses(each)]
        return entries[0] if entries and all(entry is not None for entry in entries) else None

    def accuses(self, judgement: Judgement) -> bool:
        """Tell whether a judgement blames the implementation and fails the gate if it is not expected."""
        return judgement.outcome.accuses and self._is_red(judgement)

    def news(self, record: CasePlayed) -> Iterator[Judgement]:
        """Yield what makes the run red and was not told before: once of each rule and outcome."""
        if record.not_played or self._of_the_case(record) is not None:
            return
        for judgement in record.judgements:
            # What only some plays saw blames nobody, and of what is blocked its root is told.
            silent = judgement.disagreement or judgement.blocked_by or not self._is_red(judgement)
            silent = silent or self._is_for_others_to_say(judgement)
            told = (judgement.rule, judgement.outcome.value)
            if not silent and told not in self._told and self._of_the_rule(judgement) is None:
                self._told.add(told)
                yield judgement

    def _is_for_others_to_say(self, judgement: Judgement) -> bool:
        """Tell whether what other cases come to decides about a rule that this one could not judge.

        What broke first is told by itself; and a finding that is expected, if it comes, stands for the rule.
        """
        if judgement.is_cut_short:
            return True
        awaited = (entry for entry in self._by_rule if entry.outcome.accuses and not entry.histories)
        return not judgement.outcome.accuses and any(entry.names(judgement.rule) for entry in awaited)

    def _is_red(self, judgement: Judgement) -> bool:
        return is_red(judgement.outcome, self._strictness, contract=self._has_contract)

    def _of_the_case(self, record: CasePlayed) -> Expectation | None:
        return accepting(self._by_case, JudgedItem(record.case, record.outcome, record.what))

    def _of_the_rule(self, judgement: Judgement) -> Expectation | None:
        return accepting(self._by_rule, JudgedItem(judgement.rule, judgement.outcome, judgement.what))
