"""The findings on a rule: what accuses an implementation, each once, whichever and however many cases have seen it.

Two accusations are one finding when they come to the same and have the same signature. A rule may be broken in several
ways, and one that is known does not excuse another.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from conformance.contract.comparison import JudgedItem
from conformance.contract.expectations import Expectation
from conformance.contract.signatures import signature
from conformance.run.records import worst_judgement
from conformance.verdicts import Judgement, Outcome


class RuleFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which a rule is not kept, and the cases that have seen it.

    ``what`` is what came, in the words of the one that shows it best; ``expected``, ``reason`` and ``link`` say whether
    it is known, and why.
    """

    outcome: str
    signature: str
    what: str
    cases: tuple[str, ...] = ()
    expected: bool = False
    reason: str = ""
    link: str = ""


def seen(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements on a rule that count: those of cases that ended before they came to it only without others.

    What a monitor has seen in passing is less than what such a case was to try, and does not stand for it.
    """
    return [each for each in judgements if not each.is_cut_short] if reached(judgements) else list(judgements)


def reached(judgements: Iterable[Judgement]) -> set[str]:
    """Return the rules that some case has come to."""
    return {each.rule for each in judgements if each.by == "case" and not each.is_cut_short}


def distinct(judgements: Sequence[Judgement]) -> list[list[Judgement]]:
    """Return the judgements that accuse, those of one finding together, the gravest first.

    What another case shows better, in fewer moves, is no finding of its own.
    """
    found: dict[tuple[Outcome, str], list[Judgement]] = {}
    accusing = [each for each in judgements if each.outcome.accuses]
    for each in accusing:
        if not each.shown_by or all(other.shown_by for other in accusing):
            found.setdefault((each.outcome, signature(each.what)), []).append(each)
    return sorted(found.values(), key=lambda group: -group[0].outcome.rank)


def items(rule: str, judgements: Sequence[Judgement], *, thorough: bool) -> list[JudgedItem]:
    """Return what is compared with the expectations: each finding, or else what the rule came to."""
    shown = [worst_judgement(group) for group in distinct(judgements)] or [worst_judgement(list(judgements))]
    return [JudgedItem(rule, each.outcome, each.what, thorough, each.disagreement) for each in shown]


def findings(
    rule: str,
    judgements: Sequence[Judgement],
    by_rule: Mapping[JudgedItem, Expectation],
    by_case: Mapping[str, Expectation],
    *,
    thorough: bool,
) -> tuple[RuleFinding, ...]:
    """Return the findings on a rule, with the entries that expect them: of the rule, or of each case that saw it."""
    return tuple(
        _finding(group, by_rule.get(item) or _through_cases(group, by_case))
        for group, item in zip(distinct(judgements), items(rule, judgements, thorough=thorough), strict=False)
    )


def _finding(group: Sequence[Judgement], expectation: Expectation | None) -> RuleFinding:
    what = worst_judgement(list(group)).what
    return RuleFinding(
        outcome=group[0].outcome.value,
        signature=signature(what),
        what=what,
        cases=tuple(dict.fromkeys(each.case for each in group)),
        expected=expectation is not None,
        reason=expectation.reason if expectation else "",
        link=expectation.link if expectation else "",
    )


def _through_cases(group: Sequence[Judgement], by_case: Mapping[str, Expectation]) -> Expectation | None:
    """Return an entry for a case if each case that has seen a finding is expected."""
    # An entry for one case must not cover what another one has found.
    return None if any(each.case not in by_case for each in group) else by_case[group[0].case]
