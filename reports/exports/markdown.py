"""Markdown: a run as GitHub shows it in the summary of a job, and GitLab in a comment."""

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from conformance.catalogue.loading import load_catalogue
from conformance.contract.signatures import first_line
from conformance.gate.terminal import conclusion, header, non_pass
from conformance.run.records import CasePlayed, Record
from conformance.run.summary import RuleSummary, RunSummary
from conformance.verdicts import Verdict
from reports.exports.runs import load
from wire.files import write_file

NAME = "summary.md"
NON_PASSES = (Verdict.FAIL, Verdict.ERROR, Verdict.WARN, Verdict.INCONCLUSIVE)
MOST = 50
"""Rules that are shown with their messages: GitHub takes a megabyte, and nobody reads as much."""


def export(report_dir: Path) -> None:
    """Write ``summary.md`` into a run's folder."""
    write_file(report_dir / NAME, page(*load(report_dir)))


def page(records: Sequence[Record], summary: RunSummary) -> str:
    """Return a run in Markdown: the verdict, the counts, what is not kept, with the messages folded away."""
    return "\n".join(_lines(records, summary)) + "\n"


def _lines(records: Sequence[Record], summary: RunSummary) -> Iterator[str]:
    shown = summary.by_urgency(NON_PASSES)
    news = {key: rule for key, rule in shown.items() if not rule.expected}
    known = {key: rule for key, rule in shown.items() if rule.expected}
    yield f"## {_text(header(summary))}"
    yield ""
    yield f"**{_text(click.unstyle(conclusion(summary)))}**"
    yield ""
    yield " | ".join(["", *(verdict.value for verdict in Verdict), ""]).strip()
    yield "|".join(["", *("--:" for _ in Verdict), ""])
    yield " | ".join(["", *(str(summary.counts[verdict.value]) for verdict in Verdict), ""]).strip()
    trouble = [*summary.complaints, *(f"{name}: {text}" for name, text in summary.errors.items()), *summary.trouble]
    if trouble:
        yield ""
        yield from (f"* {_text(first_line(each))}" for each in trouble)
    if news:
        yield from _table(news)
        yield from _details(news, summary, [each for each in records if isinstance(each, CasePlayed)])
    if known:
        yield ""
        yield f"<details><summary>{len(known)} known</summary>"
        yield from _table(known)
        yield ""
        yield "</details>"


def _table(rules: dict[str, RuleSummary]) -> Iterator[str]:
    yield ""
    yield "| rule | verdict | what came |"
    yield "|---|---|---|"
    for key, rule in rules.items():
        reason = f" (known: {rule.reason})" if rule.expected else ""
        yield f"| {key} | {rule.verdict.value} | {_text(first_line(rule.what) + reason)} |"


def _details(rules: dict[str, RuleSummary], summary: RunSummary, played: Sequence[CasePlayed]) -> Iterator[str]:
    catalogue = load_catalogue(summary.protocol)
    for key, rule in list(rules.items())[:MOST]:
        text = click.unstyle("\n".join(non_pass(key, rule, catalogue, played)))
        # Longer than any row of them within: what a node sent is not to end the block.
        fence = "`" * (3 + max((len(each) for each in re.findall("`+", text)), default=0))
        yield ""
        yield f"<details><summary>{key}: {_text(catalogue.rules[key].gist)}</summary>"
        yield ""
        yield from (f"{fence}text", text, fence)
        yield ""
        yield "</details>"


def _text(text: str) -> str:
    """Return text that Markdown shows as it is: what a node said may look like anything."""
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(" ".join(text.split()), quote=False))
