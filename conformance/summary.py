"""The summary of a run: what each rule came to, what was expected of it, and the exit status."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime

import msgspec

from conformance.cases import Case
from conformance.contract import Held, Known, Unit, hold
from conformance.expectations import Expectation, Expectations
from conformance.records import CasePlayed, Record, RunEnded, RunStarted, weightiest
from conformance.rules import Catalogue, Rule
from conformance.verdicts import Judgement, Outcome, Verdict, verdict, worst

UNTESTED = "untested"
INTERRUPTED = 130
NOT_STARTED = 3


class RuleSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule came to over all cases and monitors.

    ``cases`` judged it, ``evidence`` is the number of observations, ``reading`` lists the readings seen.
    ``what`` is what came in the worst of its judgements, ``reason`` why it is untested or why that was
    expected, ``flaky`` in which cases the attempts differed.
    """

    outcome: str
    verdict: Verdict
    cases: tuple[str, ...] = ()
    reading: str = ""
    evidence: int = 0
    what: str = ""
    expected: bool = False
    reason: str = ""
    link: str = ""
    flaky: str = ""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in one value, the content of ``summary.json``.

    ``counts`` are rules by verdict, ``complaints`` the expectations that did not come true, ``errors`` what
    the tester did wrong, by case. ``played`` is the number of cases; ``exit`` the exit status.
    """

    protocol: str
    iut: str
    profile: str
    rules: dict[str, RuleSummary]
    name: str
    version: str
    role: str
    transport: str
    strict: bool
    goldwire: str
    counts: dict[str, int]
    played: int
    complaints: tuple[str, ...] = ()
    errors: dict[str, str] = {}
    trouble: tuple[str, ...] = ()
    interrupted: bool = False
    not_started: str = ""
    exit: int = 0

    @property
    def unexpected(self) -> dict[str, RuleSummary]:
        """The rules that fail and were not expected to."""
        return {key: rule for key, rule in self.rules.items() if rule.verdict is Verdict.FAIL and not rule.expected}


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """What the records of the cases do not tell: how the run ended, and all cases that there are.

    ``passive`` when nothing was played and recordings were judged instead.
    """

    interrupted: bool = False
    passive: bool = False
    not_started: str = ""
    trouble: tuple[str, ...] = ()
    errors: dict[str, str] = {}
    cases: tuple[Case, ...] = ()
    today: date | None = None


def summarise(
    records: Sequence[Record],
    catalogue: Catalogue,
    strict: bool,
    expectations: Expectations,
    circumstances: Circumstances | None = None,
) -> Summary:
    """Return what a run came to.

    ``records`` begin with RunStarted; a RunEnded among them tells whether the run was interrupted.
    """
    return weigh(records, catalogue, strict, expectations, circumstances or Circumstances())[0]


def weigh(
    records: Sequence[Record],
    catalogue: Catalogue,
    strict: bool,
    expectations: Expectations,
    circumstances: Circumstances,
) -> tuple[Summary, Held]:
    """Return what a run came to, and the contract held against it."""
    started = next(record for record in records if isinstance(record, RunStarted))
    played = [record for record in records if isinstance(record, CasePlayed)]
    around = _completed(circumstances, records, played)
    coverage = Coverage(played, around.cases, started.role, started.transport)
    judged = _by_rule(played, catalogue)
    rule_units = [_unit(key, judgements, coverage) for key, judgements in judged.items()]
    case_units = [Unit(record.case, record.outcome, record.what) for record in played]
    held = hold(
        expectations,
        expectations.applying(started.version, started.role, started.profile),
        rule_units,
        case_units,
        Known(frozenset(catalogue.rules), coverage.names, coverage.whole and not around.interrupted),
        around.today or datetime.now(UTC).date(),
    )
    flaky = {record.case: record.flaky for record in played if record.flaky}
    rules = {}
    for key, rule in catalogue.rules.items():
        if judgements := judged.get(key):
            expectation = held.rules.get(key) or _through_cases(judgements, held.cases)
            rules[key] = _judged(judgements, strict, expectation, flaky)
        else:
            reason = unseen(rule) if around.passive else untested(rule, coverage, interrupted=around.interrupted)
            rules[key] = RuleSummary(outcome=UNTESTED, verdict=Verdict.UNTESTED, reason=reason)
    counts = Counter(rule.verdict.value for rule in rules.values())
    summary = Summary(
        protocol=started.protocol,
        iut=started.iut,
        profile=started.profile,
        rules=rules,
        name=started.name,
        version=started.version,
        role=started.role,
        transport=started.transport,
        strict=strict,
        goldwire=started.goldwire,
        counts={each.value: counts[each.value] for each in Verdict},
        played=len(played),
        complaints=tuple(complaint.message for complaint in held.complaints),
        errors=around.errors,
        trouble=around.trouble,
        interrupted=around.interrupted,
        not_started=around.not_started,
    )
    return msgspec.structs.replace(summary, exit=exit_status(summary)), held


def exit_status(summary: Summary) -> int:
    """Return 0 as expected, 1 not so or nothing proven, 3 not started, 130 interrupted."""
    if summary.not_started:
        return NOT_STARTED
    if summary.interrupted:
        return INTERRUPTED
    wrong = (
        summary.unexpected
        or summary.complaints
        or summary.errors
        or summary.trouble
        or summary.counts[Verdict.ERROR.value]
        or not summary.played
        or not summary.counts[Verdict.PASS.value]
    )
    return 1 if wrong else 0


class Coverage:
    """How much of what there is was played; a run of which not all cases are known is taken as whole.

    Over a transport that only some cases are played over, only a part was played.
    """

    def __init__(self, played: Sequence[CasePlayed], cases: Sequence[Case], role: str, transport: str) -> None:
        self.role = role
        self.transport = transport
        self.cases = cases
        self.done = frozenset(record.case for record in played)
        self.open = [case for case in cases if case.suits(role) and case.name not in self.done]
        self.names = self.done | {case.name for case in cases}

    @property
    def whole(self) -> bool:
        """Whether every case that can be played against this implementation was played."""
        return not self.open

    def is_thorough(self, rule: str) -> bool:
        """Tell whether all cases that name a rule were played; one that no case names needs them all."""
        naming = [case for case in self.cases if rule in case.marks.rules and case.suits(self.role)]
        return all(case.name in self.done for case in naming) if naming else self.whole


def untested(rule: Rule, coverage: Coverage, *, interrupted: bool = False) -> str:
    """Return why nothing was said about a rule."""
    if reason := unplayable(rule):
        return reason
    naming = [case for case in coverage.cases if rule.id in case.marks.rules]
    fitting = [case for case in naming if case.fits(coverage.role, coverage.transport)]
    if naming and not fitting:
        roles = sorted({role for case in naming for role in case.marks.roles})
        if roles and coverage.role not in roles:
            return f"its cases need the role {' or '.join(roles)}; this run plays {coverage.role}"
        transports = sorted({transport for case in naming for transport in case.marks.transports})
        return f"its cases need {' or '.join(transports)}; this run uses {coverage.transport}"
    if any(case.name not in coverage.done for case in fitting):
        return "the run was interrupted before its cases" if interrupted else "its cases were not selected"
    if not naming and "monitor" in rule.verified:
        return "the monitors saw no occasion to judge it in this run"
    return "no case of this run judged it"


def unseen(rule: Rule) -> str:
    """Return why recordings said nothing about a rule."""
    if reason := unplayable(rule):
        return reason
    if "monitor" in rule.verified:
        return "the recordings had no occasion to judge it"
    return "it takes a stimulus: goldwire test plays its cases"


def unplayable(rule: Rule) -> str:
    """Return why nothing on a wire can say anything about a rule; empty if something can."""
    if "paper" in rule.verified:
        return rule.reason
    return "about bytes alone: the golden vectors check it" if rule.verified == ("codec",) else ""


def _completed(around: Circumstances, records: Sequence[Record], played: Sequence[CasePlayed]) -> Circumstances:
    ended = [record for record in records if isinstance(record, RunEnded)]
    errors = around.errors | {
        record.case: record.error or record.what or "the case gave no evidence"
        for record in played
        if record.error or record.outcome is Outcome.ERROR
    }
    interrupted = around.interrupted or any(record.interrupted for record in ended)
    return msgspec.structs.replace(around, errors=errors, interrupted=interrupted)


def _by_rule(played: Sequence[CasePlayed], catalogue: Catalogue) -> dict[str, list[Judgement]]:
    judged: dict[str, list[Judgement]] = {}
    for record in played:
        for judgement in record.judgements:
            if judgement.rule in catalogue.rules:
                judged.setdefault(judgement.rule, []).append(judgement)
    for judgements in judged.values():
        judgements.sort(key=lambda each: (each.by, each.case))  # workers deliver in any order; cases before monitors
    return judged


def _unit(rule: str, judgements: list[Judgement], coverage: Coverage) -> Unit:
    heaviest = weightiest(judgements)
    return Unit(rule, heaviest.outcome, heaviest.what, coverage.is_thorough(rule))


def _through_cases(judgements: list[Judgement], accepted: Mapping[str, Expectation]) -> Expectation | None:
    """Return an entry for a case if each judgement as bad as the worst comes from an expected case."""
    outcome = worst(judgement.outcome for judgement in judgements)
    blaming = [each for each in judgements if each.outcome.accuses or each.outcome is outcome]
    if outcome in (Outcome.PASS, Outcome.ODD) or any(each.case not in accepted for each in blaming):
        return None
    return accepted[blaming[0].case]


def _judged(
    judgements: list[Judgement], strict: bool, expectation: Expectation | None, flaky: Mapping[str, str]
) -> RuleSummary:
    heaviest = weightiest(judgements)
    return RuleSummary(
        outcome=heaviest.outcome.value,
        verdict=verdict(heaviest.outcome, strict=strict),
        cases=_distinct(judgements, lambda each: each.case),
        reading=", ".join(sorted(_distinct(judgements, lambda each: each.reading))),
        evidence=sum(each.evidence for each in judgements),
        what=heaviest.what,
        expected=expectation is not None,
        reason=expectation.reason if expectation else "",
        link=expectation.link if expectation else "",
        flaky="; ".join(f"{case}: {flaky[case]}" for case in _distinct(judgements, lambda j: j.case) if case in flaky),
    )


def _distinct(judgements: Sequence[Judgement], text: Callable[[Judgement], str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for each in judgements if (value := text(each))))
