"""The failure page: what a person needs in order to act on a non-pass, as text."""

from collections.abc import Iterable

from conformance.catalogue.rules import Catalogue, Rule
from conformance.run.records import CasePlayed, worst_judgement
from conformance.verdicts import Judgement

LABEL = 10
"""Columns for the labels: the longest is ``document``."""

WIDTH = 240
"""Characters of one line at most: a frame in hex would fill the screen, and the records have all of it."""


def failure_page(record: CasePlayed, catalogue: Catalogue, rules: Iterable[str] | None = None, folder: str = "") -> str:
    """Return the page of one case: a block for each rule that is not kept (or for those in ``rules``)."""
    wanted = None if rules is None else set(rules)
    # By rule, in the order in which they were judged: a case and a monitor may accuse the same one.
    blamed: dict[str, list[Judgement]] = {}
    for judgement in record.judgements:
        if judgement.outcome.accuses if wanted is None else judgement.rule in wanted:
            blamed.setdefault(judgement.rule, []).append(judgement)
    lines: list[str] = []
    for key, judgements in blamed.items():
        heaviest = worst_judgement(judgements)
        rule = catalogue.rules.get(key)
        lines += rule_lines(rule) if rule else [key]
        lines += labelled("came", f"{heaviest.outcome.value}: {heaviest.what or 'not what the rule says'}")
        lines += labelled("seen by", "" if heaviest.by == "case" else f"a {heaviest.by}")
        lines += labelled("reading", heaviest.reading)
        lines.append("")
    return "\n".join(lines + case_lines(record, folder))


def rule_lines(rule: Rule) -> list[str]:
    """Return what a rule says and where its document says it."""
    return [
        f"{rule.id}  {rule.strength.value}  {rule.gist}",
        *labelled("document", f"{rule.document}, {rule.section!r}, lines {rule.lines}"),
    ]


def case_lines(record: CasePlayed, folder: str) -> list[str]:
    """Return what was played, where its trace is, and how to play it again."""
    return [
        *labelled("case", f"{record.case}: {record.sentence}"),
        *labelled("file", f"{record.file}:{record.line}"),
        *labelled("flaky", record.flaky),
        *labelled("trace", f"{folder}/{record.trace}.pcapng, .ndjson" if record.trace else ""),
        *labelled("repeat", record.reproduce),
    ]


def labelled(name: str, text: str) -> list[str]:
    """Return a text behind its label, its further lines below; nothing when there is nothing to say."""
    if not text:
        return []
    first, *rest = (each if len(each) <= WIDTH else f"{each[:WIDTH]} …" for each in text.splitlines())
    return [f"  {name.ljust(LABEL)}{first}", *(f"  {' ' * LABEL}{each}" for each in rest)]
