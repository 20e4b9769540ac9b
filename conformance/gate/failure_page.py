"""The failure page: what a person needs in order to act on a non-pass, as text."""

from collections.abc import Iterable, Sequence

from conformance.catalogue.rules import Catalogue, Rule
from conformance.contract.signatures import signature
from conformance.run.records import CasePlayed, worst_judgement
from conformance.verdicts import EvidenceMessage, Judgement

LABEL = 10
"""Columns for the labels: the longest is ``document``."""

MARKS = {False: ("[", "]"), True: (">>", "<<")}
"""What stands around the bytes that are wrong: in hex, and in a text, which has brackets of its own."""


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
        lines += message_lines(heaviest.messages)
        others = {signature(each.what): each for each in judgements if each.outcome.accuses}
        others.pop(signature(heaviest.what), None)
        for each in others.values():
            lines += labelled("also", f"{each.outcome.value}: {each.what}")
        lines.append("")
    return "\n".join(lines + case_lines(record, folder))


def rule_lines(rule: Rule) -> list[str]:
    """Return what a rule says and where its document says it."""
    return [
        f"{rule.id}  {rule.weight}  {rule.gist}",
        *labelled("document", f'{rule.document}, "{rule.section}", lines {rule.lines}'),
        *labelled("follows", rule.follows),
        *labelled("taste", rule.taste),
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
    # However long: what a run says of a name or a command is to be searched for, and copied.
    first, *rest = text.splitlines()
    return [f"  {name.ljust(LABEL)}{first}", *(f"  {' ' * LABEL}{each}" for each in rest)]


def message_lines(messages: Sequence[EvidenceMessage]) -> list[str]:
    """Return the messages that matter: when, on which link, which way, what it is, and its bytes below."""
    lines = []
    for message in messages:
        lines.append(f"{message.time:9.4f} s  {message.link}  {message.way:8}  {message.text}".rstrip())
        if message.pieces:
            lines.append(f"{' ' * 13}{marked(message)}")
    return labelled("messages", "\n".join(lines))


def marked(message: EvidenceMessage) -> str:
    """Return the bytes of a message, with what is wrong between marks."""
    before, behind = MARKS[message.is_text]
    texts = [f"{before}{text}{behind}" if wrong else text for text, wrong in message.pieces]
    return ("" if message.is_text else " ").join(texts)
