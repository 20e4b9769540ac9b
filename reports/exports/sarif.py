"""SARIF 2.1.0 (OASIS, 2020): a run as code scanning reads it; a result for each rule that is not kept.

A result needs a place in the user's files (GitHub refuses others): the implementation's description, where it is a
file. What is known is there as well, suppressed with its reason.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import click
import msgspec

from conformance.catalogue.loading import load_catalogue
from conformance.catalogue.rules import Catalogue
from conformance.contract.signatures import first_line, signature
from conformance.gate.terminal import non_pass, showing
from conformance.run.records import CasePlayed, Record
from conformance.run.summary import RuleSummary, RunSummary
from conformance.verdicts import Verdict
from reports.exports.runs import load
from wire.files import write_file

NAME = "results.sarif"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Verdict.FAIL: "error", Verdict.WARN: "warning", Verdict.INCONCLUSIVE: "note"}


def export(report_dir: Path) -> None:
    """Write ``results.sarif`` into a run's folder."""
    text = msgspec.json.format(msgspec.json.encode(log(*load(report_dir))), indent=2)
    write_file(report_dir / NAME, text + b"\n")


def log(records: Sequence[Record], summary: RunSummary) -> dict[str, Any]:
    """Return a run as a SARIF log."""
    catalogue = load_catalogue(summary.protocol)
    played = [record for record in records if isinstance(record, CasePlayed)]
    shown = {key: rule for key, rule in summary.rules.items() if rule.verdict in LEVELS and not rule.blocked_by}
    notes = [*summary.complaints, *(f"{name}: {text}" for name, text in summary.errors.items()), *summary.trouble]
    invocation: dict[str, Any] = {
        "executionSuccessful": not (summary.errors or summary.not_started or summary.interrupted),
        "exitCode": summary.exit,
        "toolExecutionNotifications": [{"level": "error", "message": {"text": text}} for text in notes],
    }
    run = {
        "tool": {
            "driver": {
                "name": "goldwire",
                "version": summary.goldwire,
                "rules": [_rule(key, catalogue) for key in shown],
            }
        },
        "invocations": [invocation],
        "results": [
            {**_result(key, rule, summary, catalogue, played), "ruleIndex": number}
            for number, (key, rule) in enumerate(shown.items())
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(key: str, catalogue: Catalogue) -> dict[str, Any]:
    rule = catalogue.rules[key]
    return {
        "id": key,
        "shortDescription": {"text": rule.gist},
        "fullDescription": {"text": f"{rule.gist} ({rule.document}, {rule.section}, lines {rule.lines})"},
        "help": {"text": f"goldwire explain {key}"},
        "properties": {"tags": [catalogue.protocol, rule.strength.value]},
    }


def _result(
    key: str,
    rule: RuleSummary,
    summary: RunSummary,
    catalogue: Catalogue,
    played: Sequence[CasePlayed],
) -> dict[str, Any]:
    text = click.unstyle("\n".join(non_pass(key, rule, catalogue, played)))
    text_of = " ".join(f"{each.outcome} {signature(each.what)}" for each in rule.by_finding())
    print_of = hashlib.sha256(f"{key} {text_of}".encode()).hexdigest()[:32]
    result: dict[str, Any] = {
        "ruleId": key,
        "level": LEVELS[rule.verdict],
        "message": {"text": f"{first_line(rule.what) or rule.outcome}\n\n{text}"},
        "locations": [{"physicalLocation": _place(summary, showing(key, rule, played))}],
        "partialFingerprints": {"goldwire/v1": print_of},
    }
    if rule.expected:
        result["suppressions"] = [{"kind": "external", "justification": rule.reason}]
    return result


def _place(summary: RunSummary, record: CasePlayed | None) -> dict[str, Any]:
    if summary.iut.endswith(".toml") and not PurePath(summary.iut).is_absolute():
        return {"artifactLocation": {"uri": PurePath(summary.iut).as_posix()}, "region": {"startLine": 1}}
    # Else the case: of goldwire's own files, which the user may not have.
    file = PurePath(record.file if record is not None else "").parts
    inside = file[file.index("conformance") :] if "conformance" in file else file[-1:]
    where = {"uri": "/".join(inside) or "goldwire", "uriBaseId": "GOLDWIRE"}
    return {"artifactLocation": where, "region": {"startLine": max(1, record.line if record is not None else 1)}}
