"""The failure page: what a person needs in order to act on a non-pass, as text."""

from collections.abc import Iterable

from conformance.records import CasePlayed, weightiest
from conformance.rules import Catalogue, Rule
from conformance.verdicts import Judgement

LABEL = 10  # columns for the names of the lines
WIDTH = 240  # characters of one line; the records have all of it


def page(record: CasePlayed, catalogue: Catalogue, rules: Iterable[str] | None = None, folder: str = "") -> str:
    """Return the page of one case: a block for each rule that is not kept (or for those in ``rules``)."""
    wanted = None if rules is None else set(rules)
    blamed: dict[str, list[Judgement]] = {}
    for judgement in record.judgements:
        if judgement.outcome.accuses if wanted is None else judgement.rule in wanted:
            blamed.setdefault(judgement.rule, []).append(judgement)
    lines: list[str] = []
    for key, judgements in blamed.items():
        heaviest = weightiest(judgements)
        rule = catalogue.rules.get(key)
        lines += about(rule) if rule else [key]
        lines += line("came", f"{heaviest.outcome.value}: {heaviest.what or 'not what the rule says'}")
        lines += line("seen by", "" if heaviest.by == "case" else f"a {heaviest.by}")
        lines += line("reading", heaviest.reading)
        lines.append("")
    return "\n".join(lines + around(record, folder))


def about(rule: Rule) -> list[str]:
    """Return what a rule says and where its document says it."""
    return [
        f"{rule.id}  {rule.strength.value}  {rule.gist}",
        *line("document", f"{rule.document}, {rule.section!r}, lines {rule.lines}"),
    ]


def around(record: CasePlayed, folder: str) -> list[str]:
    """Return what was played, where its trace is, and how to play it again."""
    return [
        *line("case", f"{record.case}: {record.sentence}"),
        *line("file", f"{record.file}:{record.line}"),
        *line("flaky", record.flaky),
        *line("trace", f"{folder}/{record.trace}.pcapng, .ndjson" if record.trace else ""),
        *line("repeat", record.reproduce),
    ]


def first_line(text: str) -> str:
    """Return the telling line of a text."""
    return text.strip().partition("\n")[0]


def line(name: str, text: str) -> list[str]:
    """Return a text behind its label, its further lines below; nothing when there is nothing to say."""
    if not text:
        return []
    first, *rest = (each if len(each) <= WIDTH else f"{each[:WIDTH]} …" for each in text.splitlines())
    return [f"  {name.ljust(LABEL)}{first}", *(f"  {' ' * LABEL}{each}" for each in rest)]
