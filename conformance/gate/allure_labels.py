"""Labels for Allure: what a case is about, in the terms of that report."""

from pathlib import Path
from typing import Any

import allure

from conformance.gate.failure_page import failure_page
from conformance.run.records import TRACES, CasePlayed
from conformance.run.settings import RunSettings
from conformance.verdicts import Strength

SEVERITIES = {
    Strength.MUST: allure.severity_level.CRITICAL,
    Strength.MUST_NOT: allure.severity_level.CRITICAL,
    Strength.STATED: allure.severity_level.NORMAL,
    Strength.SHOULD: allure.severity_level.MINOR,
    Strength.IMPLIED: allure.severity_level.MINOR,
    Strength.MAY: allure.severity_level.TRIVIAL,
}
ORDER = list(SEVERITIES)
"""Strengths from the strongest: a case is as severe as the strongest rule that it judges."""


def label(record: CasePlayed, settings: RunSettings) -> None:
    """Label the test that runs: documents, sections, rules, the strongest strength; attach page and trace."""
    dynamic: Any = allure.dynamic  # it has no types
    rules = [settings.catalogue.rules[key] for key in record.rules if key in settings.catalogue.rules]
    for title in dict.fromkeys(settings.catalogue.documents[rule.document].title for rule in rules):
        dynamic.epic(title)
    for section in dict.fromkeys(rule.section for rule in rules):
        dynamic.feature(section)
    for rule in rules:
        dynamic.story(rule.id)
    dynamic.tag(*record.rules)
    if rules:
        dynamic.severity(SEVERITIES[min((rule.strength for rule in rules), key=ORDER.index)])
    dynamic.description("\n\n".join([record.sentence, *(f"{rule.id}: {rule.gist}" for rule in rules)]))
    if record.judgements:
        shown = [judgement.rule for judgement in record.judgements if judgement.what]
        if shown:
            allure.attach(failure_page(record, settings.catalogue, shown), "what came", allure.attachment_type.TEXT)
    if record.trace and settings.report is not None:
        _attach(settings.report / TRACES, record.trace)


def _attach(folder: Path, trace: str) -> None:
    for suffix, kind in ((".ndjson", "application/x-ndjson"), (".pcapng", "application/x-pcapng")):
        path = folder / f"{trace}{suffix}"
        if path.exists():
            attach: Any = allure.attach
            attach.file(str(path), path.name, kind, suffix.lstrip("."))
