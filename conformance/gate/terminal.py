"""The summary of a run as lines of text, with styles (which ``click.echo`` drops in a pipe)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import click

from conformance.catalogue.rules import Catalogue
from conformance.contract.signatures import first_line
from conformance.gate.failure_page import labelled, message_lines, rule_lines
from conformance.run.records import CasePlayed, Record, RunEnded, RunStarted
from conformance.run.summary import RuleSummary, RunSummary
from conformance.verdicts import EvidenceMessage, Judgement, Outcome, Strictness, Verdict

COLOURS = {
    Verdict.PASS: "green",
    Verdict.WARN: "yellow",
    Verdict.FAIL: "red",
    Verdict.INCONCLUSIVE: "magenta",
    Verdict.ERROR: "red",
}
SHOWN = (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)
"""Verdicts whose rules are shown one by one, the most urgent first."""

RED = {
    Verdict.FAIL: "not kept",
    Verdict.WARN: "deviated from, which the expectations do not have",
    Verdict.INCONCLUSIVE: "not judged, which the expectations do not have",
}
"""Verdicts on rules that make a run red if nobody expects them, and what to say of them."""

LAST_LINES = 15
"""Lines of a traceback that are shown: its end says what went wrong, and where in the case or the driver."""

SEED = re.compile(r"\[(\d+)\]$")
"""The seed in the name of a history."""

NAMED = 8
"""Rules that the last line names before it counts the rest: it is to stay one line."""


def summary_lines(
    summary: RunSummary,
    catalogue: Catalogue,
    records: Sequence[Record],
    *,
    verbose: bool = False,
    report: Path | None = None,
) -> Iterator[str]:
    """Yield the summary: header, counts, each non-pass, what else is wrong, and the verdict in one line.

    What is known is told in a line each, or in full if ``verbose``; ``report`` is the folder that was written.
    """
    played = [record for record in records if isinstance(record, CasePlayed)]
    yield header(summary)
    yield counts(summary)
    roots = summary.roots
    shown = summary.by_urgency(SHOWN)
    for key, rule in shown.items():
        if verbose or not rule.expected:
            yield ""
            yield from non_pass(key, rule, catalogue, played)
            yield from labelled("blocks", _blocked(roots[key]) if key in roots else "")
    if not verbose:
        yield from _below([known(key, rule, roots.get(key, [])) for key, rule in shown.items() if rule.expected])
    yield from _inconclusive(summary, played)
    yield from _listed("Not played:", _not_played(played))
    yield from _listed("The tester itself failed; this is a defect of goldwire, please report it:", _errors(summary))
    yield from _listed("Expectations that did not come true:", summary.complaints)
    yield from _listed("The report is incomplete:", summary.trouble)
    if summary.accepted:
        yield ""
        yield f"accepted: {summary.accepted}"
    yield ""
    if around := circumstances(summary, records, report):
        yield around
    yield conclusion(summary)


def circumstances(summary: RunSummary, records: Sequence[Record], report: Path | None) -> str:
    """Return in one line how long it took, which seeds were played, and where the report is."""
    played = [each for each in records if isinstance(each, CasePlayed) and each.attempts and not each.not_played]
    seeds = sorted({int(match[1]) for each in played if (match := SEED.search(each.case))})
    times = [datetime.fromisoformat(each.time) for each in records if isinstance(each, RunStarted | RunEnded)]
    texts = [
        told((times[-1] - times[0]).total_seconds()) if len(times) > 1 else "",
        f"histories of seed{'s' * (len(seeds) > 1)} {ranges(seeds)}" if seeds else "",
        f"report: {report / 'index.html'}" if report is not None and not summary.trouble else "",
    ]
    return "; ".join(filter(None, texts))


def told(seconds: float) -> str:
    """Return a time as people say it: 0.4 s, 34 s, 2 min 5 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def ranges(numbers: Sequence[int]) -> str:
    """Return numbers in ascending order in few words: 1 to 5, 17."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def header(summary: RunSummary) -> str:
    """Return who was tested, and how."""
    version = f" {summary.version}" if summary.version else ""
    strictness = "" if summary.strictness is Strictness.AS_EXPECTED else f", {summary.strictness.value}"
    return (
        f"{summary.protocol}: {summary.name}{version} as {summary.role} over {summary.transport},"
        f" profile {summary.profile}{strictness}"
    )


def counts(summary: RunSummary) -> str:
    """Return the number of cases, and of rules by verdict."""
    texts = []
    expected = sum(rule.expected for rule in summary.rules.values() if rule.verdict is Verdict.FAIL)
    for verdict in Verdict:
        number = summary.counts[verdict.value]
        text = f"{number} {verdict.value}"
        if verdict is Verdict.FAIL and expected:
            text += f" ({expected} known)"
        texts.append(_styled(text, verdict) if number else text)
    blocked = f", {summary.blocked} blocked" if summary.blocked else ""
    return f"{_number(summary.played, 'case', 'played')}{blocked}; rules: {', '.join(texts)}"


def non_pass(key: str, rule: RuleSummary, catalogue: Catalogue, played: Iterable[CasePlayed]) -> Iterator[str]:
    """Yield what a person needs to know of a rule that is not kept."""
    first, *rest = rule_lines(catalogue.rules[key])
    yield f"{_styled(rule.verdict.value, rule.verdict)}  {first}"
    yield from rest
    for place, one in enumerate(rule.by_finding()):
        # Beside what is new, what is known of the rule is told in a line.
        if one.expected and not rule.expected:
            yield from labelled("known", f"{one.outcome}: {one.reason}")
            continue
        yield from labelled("known", one.reason if one.expected else "")
        yield from labelled("link", one.link if one.expected else "")
        yield from labelled("came", f"{one.outcome}: {one.what or 'not what the rule says'}")
        if not place:
            yield from labelled("reading", rule.reading)
            yield from labelled("flaky", rule.flaky)
        record = showing(key, one, played)
        if record is not None:
            yield from message_lines(messages_of(key, one, record))
            yield from labelled("case", f"{record.case}: {record.sentence}")
            yield from labelled("trace", f"traces/{record.trace}.pcapng" if record.trace else "")
            yield from labelled("repeat", record.reproduce)


def known(key: str, rule: RuleSummary, blocked: Sequence[str]) -> str:
    """Return one line for what is known, and what it blocks: whoever wrote that down has seen the messages."""
    said: dict[str, str] = {}
    for one in rule.by_finding():
        link = f" ({one.link})" if one.link else ""
        said.setdefault(f"{one.reason}{link}", one.outcome)
    reasons = "; ".join(f"{outcome}: {reason}" for reason, outcome in said.items())
    blocks = f" (blocks {_number(len(blocked), 'rule')})" if blocked else ""
    return f"{_styled(rule.verdict.value, rule.verdict)}  {key}  known, {reasons}{blocks}"


def messages_of(key: str, rule: RuleSummary, record: CasePlayed) -> tuple[EvidenceMessage, ...]:
    """Return the messages that show a rule's outcome."""
    return next((each.messages for each in record.judgements if _shows(each, key, rule)), ())


def _shows(judgement: Judgement, key: str, rule: RuleSummary) -> bool:
    # Not one that was left out, unless all were: another has shown what it rests on.
    said = (judgement.rule, judgement.outcome.value, judgement.what, judgement.blocked_by)
    return said == (key, rule.outcome, rule.what, rule.blocked_by)


def showing(key: str, rule: RuleSummary, played: Iterable[CasePlayed]) -> CasePlayed | None:
    """Return the first case that shows a rule's outcome."""
    for record in played:
        if any(_shows(each, key, rule) for each in record.judgements):
            return record
    return None


def _not_played(played: Iterable[CasePlayed]) -> list[str]:
    """Return the cases that were left out, in one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for record in played:
        if record.not_played:
            by_reason.setdefault(record.not_played, []).append(record.case)
    return [f"{first}{f' and {len(rest)} more' * bool(rest)}: {why}" for why, (first, *rest) in by_reason.items()]


def conclusion(summary: RunSummary) -> str:
    """Return the verdict on the run, in one line."""
    if summary.not_started:
        return _styled(f"NOT STARTED: {summary.not_started}", Verdict.ERROR)
    if summary.interrupted:
        text = f"INTERRUPTED after {summary.played} cases; what is above is not the whole picture"
        return _styled(text, Verdict.ERROR)
    passed = _number(summary.counts[Verdict.PASS.value], "rule", "kept")
    if summary.exit == 0:
        failing = sum(rule.verdict is Verdict.FAIL for rule in summary.rules.values())
        rest = [
            _number(failing, "known failure") if failing else "",
            _number(summary.counts["WARN"], "deviation") if summary.counts["WARN"] else "",
            f"{summary.counts['INCONCLUSIVE']} inconclusive" if summary.counts["INCONCLUSIVE"] else "",
        ]
        return _styled(", ".join([f"AS EXPECTED: {passed}", *filter(None, rest)]), Verdict.PASS)
    return _styled(f"NOT AS EXPECTED: {'; '.join(_wrong(summary))}; {passed}", Verdict.FAIL)


def _wrong(summary: RunSummary) -> Iterator[str]:
    roots = summary.roots
    if not summary.played:
        yield "no case was played"
    elif not summary.counts[Verdict.PASS.value]:
        yield "nothing was proven"
    for verdict, words in RED.items():
        # Of a root that could not be judged, what it blocks is all that there is to say.
        silent = () if verdict is Verdict.FAIL else roots
        if red := [key for key, rule in summary.unexpected.items() if rule.verdict is verdict and key not in silent]:
            yield f"{_named(red)} {words}"
    for root, blocked in roots.items():
        if not summary.rules[root].expected:
            yield f"{_number(len(blocked), 'rule', 'blocked by')} {root}"
    if summary.complaints:
        yield _number(len(summary.complaints), "expectation", "did not come true")
    if summary.errors:
        yield _number(len(summary.errors), "error", "of the tester")
    if summary.trouble:
        yield "the report is incomplete"
    if summary.stopped:
        yield f"stopped {summary.stopped}, so what is above is not the whole picture"


def _named(rules: Sequence[str]) -> str:
    more = f" and {len(rules) - NAMED} more" if len(rules) > NAMED else ""
    return f"{', '.join(rules[:NAMED])}{more}"


def _blocked(rules: Sequence[str]) -> str:
    return f"{_number(len(rules), 'rule')} that cannot be judged without it: {_named(rules)}"


def _number(count: int, noun: str, rest: str = "") -> str:
    return f"{count} {noun}{'' if count == 1 else 's'} {rest}".rstrip()


def _inconclusive(summary: RunSummary, played: Sequence[CasePlayed]) -> Iterator[str]:
    rules = summary.by_urgency([Verdict.INCONCLUSIVE])
    for root in summary.roots:
        rules.pop(root)  # it stands above
    silent = [each for each in played if each.outcome is Outcome.INCONCLUSIVE and not each.judgements]
    # What was not played stands below, by reasons: it may be hundreds of histories.
    silent = [each for each in silent if not each.not_played]
    if not rules and not silent:
        return
    yield ""
    yield _styled("INCONCLUSIVE, hence neither kept nor broken:", Verdict.INCONCLUSIVE)
    for key, rule in rules.items():
        reason = f" (known: {rule.reason})" if rule.expected else ""
        yield f"  {key}  {first_line(rule.what) or 'no cause given'}{reason}"
    for record in silent:
        yield f"  {record.case}  {record.what or 'no evidence'}"


def _errors(summary: RunSummary) -> Iterator[str]:
    for name, text in summary.errors.items():
        yield f"{name}:"
        for each in text.rstrip().splitlines()[-LAST_LINES:]:
            yield f"    {each}"


def _below(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield from lines


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    texts = list(lines)
    if texts:
        yield ""
        yield title
        yield from (f"  {text}" for text in texts)


def _styled(text: str, verdict: Verdict) -> str:
    return click.style(text, fg=COLOURS.get(verdict), bold=verdict is not Verdict.PASS)
