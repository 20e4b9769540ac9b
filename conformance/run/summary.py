"""The summary of a run: what each rule came to, what was expected of it, and the exit status."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime

import msgspec

from conformance.cases import Case
from conformance.catalogue.rules import Catalogue
from conformance.contract.comparison import Comparison, JudgedItem, KnownNames, compare
from conformance.contract.expectations import Expectation, Expectations
from conformance.run.played_cases import PlayedCases, is_hidden, why_unseen, why_untested
from conformance.run.records import CasePlayed, Record, RunEnded, RunStarted, worst_judgement
from conformance.run.rule_findings import RuleFinding, findings, items, seen
from conformance.verdicts import Judgement, Outcome, Strictness, Verdict, is_red, verdict

UNTESTED = "untested"
INTERRUPTED = 130
"""The exit status after Ctrl-C: what a shell gives to a process that SIGINT has ended (128 + 2)."""

NOT_STARTED = 3
"""The exit status when the implementation did not start: not 1, as nothing was learnt about it."""


class RuleSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule came to over all cases and monitors.

    ``cases`` judged it, ``evidence`` is the number of observations, ``reading`` lists the readings seen.
    ``what`` is what came in the worst of its judgements, ``reason`` why it is untested or why that was
    expected, ``flaky`` in which cases the attempts differed on this rule, ``at_worst`` what the worst of them came to.
    ``blocked_by`` is the rule for want of which this one could not be judged. ``findings`` are all ways in which it is
    not kept, the gravest first; it is ``expected`` if each of them is.
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
    at_worst: str = ""
    blocked_by: str = ""
    findings: tuple[RuleFinding, ...] = ()

    def by_finding(self) -> list["RuleSummary"]:
        """Return it once for each finding, as if there were no other: those first that nobody knows."""
        if not self.findings:
            return [self]
        each = sorted(self.findings, key=lambda finding: finding.expected)
        return [
            msgspec.structs.replace(
                self, outcome=one.outcome, what=one.what, expected=one.expected, reason=one.reason, link=one.link
            )
            for one in each
        ]


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in one value, the content of ``summary.json``.

    ``counts`` are rules by verdict, ``complaints`` the expectations that did not come true, ``errors`` what
    the tester did wrong, by case. ``has_contract`` says that an expectation file stands, so that what it does not have
    is not as expected. ``played`` is the number of cases, ``blocked`` that of those which were not played as nothing
    that they are about can be judged; ``exit`` the exit status. ``stopped`` says when and why the run ended before all
    was played, if that was asked for; ``accepted`` which expectations were written, and what became of the entries.
    """

    protocol: str
    iut: str
    profile: str
    rules: dict[str, RuleSummary]
    name: str
    version: str
    role: str
    transport: str
    strictness: Strictness
    goldwire: str
    counts: dict[str, int]
    played: int
    blocked: int = 0
    has_contract: bool = False
    complaints: tuple[str, ...] = ()
    errors: dict[str, str] = {}
    trouble: tuple[str, ...] = ()
    interrupted: bool = False
    stopped: str = ""
    not_started: str = ""
    accepted: str = ""
    exit: int = 0

    @property
    def roots(self) -> dict[str, list[str]]:
        """The rules that stand in the way of others, and of which: the most important first."""
        found: dict[str, list[str]] = {}
        for key, rule in self.rules.items():
            # Where only some cases were selected, the root itself may not be among them.
            if rule.blocked_by not in ("", key) and self.rules[rule.blocked_by].verdict is not Verdict.UNTESTED:
                found.setdefault(rule.blocked_by, []).append(key)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def by_urgency(self, verdicts: Sequence[Verdict]) -> dict[str, RuleSummary]:
        """Return the rules of some verdicts, in that order: but those first that stand in the way of others.

        What they stand in the way of is left out, as there is nothing else to say of it.
        """
        roots = self.roots
        blocked = {key for keys in roots.values() for key in keys}
        by_verdict = [
            key
            for verdict in verdicts
            for key, rule in self.rules.items()
            if rule.verdict is verdict and key not in blocked
        ]
        return {key: self.rules[key] for key in dict.fromkeys([*roots, *by_verdict])}

    @property
    def unexpected(self) -> dict[str, RuleSummary]:
        """The rules that make the run fail, or stand in the way of others, and were not expected to."""
        roots = self.roots
        return {key: rule for key, rule in self.rules.items() if not rule.expected and self._is_red(key, rule, roots)}

    def _is_red(self, key: str, rule: RuleSummary, roots: Mapping[str, Sequence[str]]) -> bool:
        if key in roots:
            return True
        # What is blocked is told by its root. Nobody is blamed for what only some plays saw, by an exit status neither.
        if rule.outcome == UNTESTED or rule.blocked_by or rule.at_worst:
            return False
        return is_red(Outcome(rule.outcome), self.strictness, contract=self.has_contract)


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """What the records of the cases do not tell: how the run ended, and all cases that there are.

    ``passive`` when nothing was played and recordings were judged instead.
    """

    interrupted: bool = False
    passive: bool = False
    stopped: str = ""
    not_started: str = ""
    trouble: tuple[str, ...] = ()
    errors: dict[str, str] = {}
    cases: tuple[Case, ...] = ()
    today: date | None = None


def summarise(
    records: Sequence[Record],
    catalogue: Catalogue,
    strictness: Strictness,
    expectations: Expectations,
    circumstances: Circumstances | None = None,
) -> RunSummary:
    """Return what a run came to.

    ``records`` begin with RunStarted; a RunEnded among them tells whether the run was interrupted.
    """
    return evaluate(records, catalogue, strictness, expectations, circumstances or Circumstances())[0]


def evaluate(
    records: Sequence[Record],
    catalogue: Catalogue,
    strictness: Strictness,
    expectations: Expectations,
    circumstances: Circumstances,
) -> tuple[RunSummary, Comparison]:
    """Return the summary of a run, and its comparison with what was expected of it."""
    started = next(record for record in records if isinstance(record, RunStarted))
    played = [record for record in records if isinstance(record, CasePlayed)]
    around = _completed(circumstances, records, played)
    scope = PlayedCases(played, around.cases, started.role, started.transport)
    judged = _by_rule(played, catalogue)
    if around.passive:
        judged = {key: found for key, found in judged.items() if not is_hidden(catalogue.rules[key], found)}
    rule_units = [item for key, found in judged.items() for item in items(key, found, thorough=scope.is_thorough(key))]
    case_units = [JudgedItem(record.case, record.outcome, record.what) for record in played]
    comparison = compare(
        expectations,
        expectations.applying(started.version, started.role, started.profile),
        rule_units,
        case_units,
        KnownNames(frozenset(catalogue.rules), scope.names, scope.whole and not around.interrupted),
        around.today or datetime.now(UTC).date(),
    )
    rules = {}
    for key, rule in catalogue.rules.items():
        if judgements := judged.get(key):
            rules[key] = _judged(key, judgements, strictness, comparison, thorough=scope.is_thorough(key))
        else:
            reason = why_unseen(rule) if around.passive else why_untested(rule, scope, _ended(around))
            rules[key] = RuleSummary(outcome=UNTESTED, verdict=Verdict.UNTESTED, reason=reason)
    rules |= {root: _lacking(rules, root) for root in _kept_in_passing(rules)}
    counts = Counter(rule.verdict.value for rule in rules.values())
    summary = RunSummary(
        protocol=started.protocol,
        iut=started.iut,
        profile=started.profile,
        rules=rules,
        name=started.name,
        version=started.version,
        role=started.role,
        transport=started.transport,
        strictness=strictness,
        has_contract=expectations.path is not None,
        goldwire=started.goldwire,
        counts={each.value: counts[each.value] for each in Verdict},
        played=sum(record.attempts > 0 and not record.not_played for record in played),
        blocked=sum(record.attempts == 0 for record in played),
        complaints=tuple(complaint.message for complaint in comparison.complaints),
        errors=around.errors,
        trouble=around.trouble,
        interrupted=around.interrupted,
        stopped=around.stopped,
        not_started=around.not_started,
    )
    return msgspec.structs.replace(summary, exit=exit_status(summary)), comparison


def exit_status(summary: RunSummary) -> int:
    """Return 0 as expected, 1 not so or nothing proven, 3 not started, 130 interrupted."""
    # In this order: what was not started or was cut short has failures of its own, which say nothing.
    if summary.not_started:
        return NOT_STARTED
    if summary.interrupted:
        return INTERRUPTED
    wrong = (
        summary.unexpected
        or summary.complaints
        or summary.errors
        or summary.trouble
        or summary.stopped
        or summary.counts[Verdict.ERROR.value]
        # A run in which nothing is proven must not pass for a green one: a typing error in -k would do it.
        or not summary.played
        or not summary.counts[Verdict.PASS.value]
    )
    return 1 if wrong else 0


def _completed(around: Circumstances, records: Sequence[Record], played: Sequence[CasePlayed]) -> Circumstances:
    ended = [record for record in records if isinstance(record, RunEnded)]
    # From the records, so that a summary that is made from a journal later says the same.
    errors = around.errors | {
        record.case: record.error or record.what or "the case gave no evidence"
        for record in played
        if record.error or record.outcome is Outcome.ERROR
    }
    interrupted = around.interrupted or any(record.interrupted for record in ended)
    stopped = around.stopped or next((record.stopped for record in ended if record.stopped), "")
    return msgspec.structs.replace(around, errors=errors, interrupted=interrupted, stopped=stopped)


def _ended(around: Circumstances) -> str:
    """Return in one word how a run ended early; empty if it did not."""
    return "interrupted" if around.interrupted else "stopped" if around.stopped else ""


def _by_rule(played: Sequence[CasePlayed], catalogue: Catalogue) -> dict[str, list[Judgement]]:
    judged: dict[str, list[Judgement]] = {}
    for record in played:
        for judgement in record.judgements:
            if judgement.rule in catalogue.rules:
                judged.setdefault(judgement.rule, []).append(judgement)
    for judgements in judged.values():
        # Workers deliver in any order, and the summary is to be the same. Cases come before monitors, whose texts lack
        # the stimulus.
        judgements.sort(key=lambda each: (each.by, each.case))
    return {rule: seen(judgements) for rule, judgements in judged.items()}


def _judged(
    key: str, judgements: list[Judgement], strictness: Strictness, comparison: Comparison, *, thorough: bool
) -> RuleSummary:
    heaviest = worst_judgement(judgements)
    found = findings(key, judgements, comparison.rules, comparison.cases, thorough=thorough)
    expectation = None if found else _expected(key, judgements, comparison, thorough=thorough)
    # What is shown first is what nobody knows yet.
    first = next((each for each in found if not each.expected), found[0] if found else None)
    return RuleSummary(
        outcome=heaviest.outcome.value,
        verdict=verdict(heaviest.outcome, strictness),
        cases=_distinct(judgements, lambda each: each.case),
        reading=", ".join(sorted(_distinct(judgements, lambda each: each.reading))),
        evidence=sum(each.evidence for each in judgements),
        what=heaviest.what,
        expected=all(each.expected for each in found) if found else expectation is not None,
        reason=first.reason if first else expectation.reason if expectation else "",
        link=first.link if first else expectation.link if expectation else "",
        flaky="; ".join(f"{each.case}: {each.disagreement.counts}" for each in judgements if each.disagreement),
        at_worst=heaviest.disagreement.outcome.value if heaviest.disagreement else "",
        blocked_by=heaviest.blocked_by,
        findings=found,
    )


def _kept_in_passing(rules: Mapping[str, RuleSummary]) -> list[str]:
    """Return the rules for want of which others could not be judged, and of which only monitors have said anything."""
    roots = dict.fromkeys(rule.blocked_by for rule in rules.values() if rule.blocked_by)
    return [root for root in roots if rules[root].verdict is Verdict.PASS]


def _lacking(rules: Mapping[str, RuleSummary], root: str) -> RuleSummary:
    """Return what a rule came to that is seldom kept at most: a run that did not select its cases has tried them."""
    what = next(rule.what for rule in rules.values() if rule.blocked_by == root)
    return msgspec.structs.replace(
        rules[root],
        outcome=Outcome.INCONCLUSIVE.value,
        verdict=Verdict.INCONCLUSIVE,
        what=what.removeprefix(f"blocked by {root}: "),
    )


def _expected(
    key: str, judgements: Sequence[Judgement], comparison: Comparison, *, thorough: bool
) -> Expectation | None:
    """Return the entry that expects what a rule came to that nobody breaks: of the rule, or of each case."""
    (item,) = items(key, judgements, thorough=thorough)
    if item.passes or item in comparison.rules:
        return comparison.rules.get(item)
    blaming = [each.case for each in judgements if each.outcome is item.outcome]
    return comparison.cases[blaming[0]] if all(case in comparison.cases for case in blaming) else None


def _distinct(judgements: Sequence[Judgement], text: Callable[[Judgement], str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for each in judgements if (value := text(each))))
