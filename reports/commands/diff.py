"""``goldwire diff``: what became better or worse between two runs, rule by rule."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click
import msgspec

from conformance.contract.signatures import first_line, signature
from conformance.gate.printing import print_lines
from conformance.gate.terminal import header
from conformance.run.summary import UNTESTED, RuleSummary, RunSummary
from conformance.verdicts import Outcome
from harness.command import WrongUsage
from reports.exports.rebuilding import NoRun, load_run

Change = Literal["broken", "changed", "new", "fixed", "gone"]

WORDS: dict[Change, str] = {
    "broken": "Broken: kept before, and not any more",
    "changed": "Changed: not kept before either, but otherwise",
    "new": "New: not judged before, or not kept in one way more",
    "fixed": "Fixed: kept now, or not kept in one way less",
    "gone": "Gone: not kept before, and not judged any more",
}
"""The changes, the gravest first, and what they mean."""

WORSE: tuple[Change, ...] = ("broken", "changed", "new")
"""Changes that somebody has to look at: they make the exit status 1."""

KEPT = (Outcome.PASS.value, Outcome.ODD.value)


class RuleChange(msgspec.Struct, frozen=True):
    """What became of one rule: what it came to before and now, each as outcome and first line.

    Of a rule that is not kept in several ways, those that are not the same in both.
    """

    rule: str
    change: Change
    before: str
    now: str


@click.command()
@click.argument("before", metavar="RUN", type=click.Path(exists=True, path_type=Path))
@click.argument("now", metavar="RUN", type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(before: Path, now: Path, as_json: bool) -> int:
    """Tell what differs from one RUN to another, rule by rule; a RUN is a folder that --report wrote.

    Exit status: 0 nothing is worse; 1 a rule is broken, or fails newly or otherwise; 2 wrong usage.

    \b
    Examples:
      goldwire diff main branch
      goldwire diff main branch --json
    """
    try:
        (_, first), (_, second) = load_run(before), load_run(now)
    except NoRun as error:
        raise WrongUsage(str(error)) from None
    if first.protocol != second.protocol:
        raise WrongUsage(f"{before} is a run of {first.protocol}, {now} one of {second.protocol}: no rule is in both")
    changes = changed_rules(first, second)
    status = int(any(each.change in WORSE for each in changes))
    if as_json:
        told = {"before": _who(first), "now": _who(second), "changes": changes, "exit": status}
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2))
    else:
        print_lines(_lines(first, second, changes), sys.stdout)
    return status


def changed_rules(before: RunSummary, now: RunSummary) -> list[RuleChange]:
    """Return what became of the rules that differ, the gravest changes first."""
    found = []
    for key in before.rules | now.rules:
        one, other = before.rules.get(key), now.rules.get(key)
        ways, ways_now = _ways(one), _ways(other)
        change = _change(ways, ways_now)
        if change is not None:
            found.append(RuleChange(key, change, _told(one, ways_now), _told(other, ways)))
    order = list(WORDS)
    return sorted(found, key=lambda each: order.index(each.change))


Ways = set[tuple[str, str]]
"""In which ways a rule is not kept, each as outcome and signature; none where it is kept."""


def _ways(rule: RuleSummary | None) -> Ways | None:
    """Return what is compared of a rule; ``None`` where it was not judged."""
    if rule is None or rule.outcome == UNTESTED:
        return None
    return set() if rule.outcome in KEPT else {_way(each) for each in rule.by_finding()}


def _way(finding: RuleSummary) -> tuple[str, str]:
    return finding.outcome, signature(finding.what)


def _change(before: Ways | None, now: Ways | None) -> Change | None:
    if before == now or (not before and not now):
        return None  # that a rule which is kept was not judged once, or not any more, is a matter of the selection
    if before is None or now is None:
        return "new" if before is None else "gone"
    if now <= before:
        return "fixed"
    # A way that was not known is no less new because another is known.
    return "broken" if not before else "new" if before & now else "changed"


def _told(rule: RuleSummary | None, elsewhere: Ways | None) -> str:
    """Return what a rule came to, without what it came to ``elsewhere`` as well; that where there is nothing else."""
    if rule is None or rule.outcome == UNTESTED:
        return "not judged"
    if not rule.what or rule.outcome in KEPT:
        return rule.outcome
    found = rule.by_finding()
    own = [each for each in found if _way(each) not in (elsewhere or ())] or found
    return "; ".join(f"{each.outcome}: {first_line(each.what)}" for each in own)


def _who(summary: RunSummary) -> dict[str, str]:
    return {
        "protocol": summary.protocol,
        "iut": summary.iut,
        "name": summary.name,
        "version": summary.version,
        "role": summary.role,
        "profile": summary.profile,
    }


def _lines(before: RunSummary, now: RunSummary, changes: list[RuleChange]) -> Iterator[str]:
    yield f"before: {header(before)}"
    yield f"now:    {header(now)}"
    for kind, words in WORDS.items():
        of_kind = [each for each in changes if each.change == kind]
        if of_kind:
            yield ""
            yield f"{words}:"
            for each in of_kind:
                yield f"  {each.rule}  {each.now if kind not in ('fixed', 'gone') else each.before}"
                if kind == "changed":
                    yield f"    before: {each.before}"
    yield ""
    counts = [f"{sum(each.change == kind for each in changes)} {kind}" for kind in WORDS]
    yield ", ".join(counts) if changes else "no rule came to anything else"
