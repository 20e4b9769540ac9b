"""``--accept``: the expectation file is made to say what a run came to, with as few changes as possible.

Only entries that did not come true are touched: what stays as it was need not be read again in a review.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec

from conformance.contract.comparison import Breach, Complaint
from conformance.contract.expectation_file import ExpectationFile
from conformance.contract.expectations import (
    EXPECTABLE,
    Expectation,
    Expectations,
    local_path,
    parse_expectations,
)
from conformance.contract.signatures import first_line, signature
from conformance.run.records import CasePlayed, Record
from conformance.run.settings import RunSettings
from conformance.run.summary import Circumstances, evaluate
from conformance.verdicts import Outcome
from wire.files import write_file

ROUNDS = 5
"""Rounds of mending at most. One is the rule, two when an expired entry, renewed, turns out to be wrong besides; the
bound is for a file that no mending satisfies, and the gate then says what is left."""


def accept(settings: RunSettings, records: Sequence[Record], around: Circumstances) -> tuple[Expectations, str]:
    """Rewrite the expectations so that this run is as expected; return them as they now are, and what was done.

    The file is the one that the user named, else the one that the description names, else ``expectations/NAME.toml``
    here; one that is new starts as a copy of the file in force. Raises OSError when it cannot be written,
    BadExpectations when it cannot be cut up.
    """
    description = settings.description
    target = settings.given or description.expectations or local_path(description.name)
    expectations = settings.expectations
    today = around.today or datetime.now(UTC).date()
    file = ExpectationFile.of(expectations.path, len(expectations.entries))
    # A file will stand, be it the first: then warnings have to be in it as well.
    expectations = msgspec.structs.replace(expectations, path=expectations.path or target)
    before = file.text()
    reasons: dict[str, str] = {}
    for _ in range(ROUNDS):
        summary, comparison = evaluate(records, settings.catalogue, settings.strictness, expectations, around)
        rules = [key for key, rule in summary.rules.items() if rule.cases]
        for complaint in comparison.complaints:
            # A glob that is taken out leaves its reason to the entries that take its place.
            if complaint.entry.is_glob:
                reasons |= {name: complaint.entry.reason for name in rules if complaint.entry.names(name)}
        mend(file, expectations.entries, comparison.complaints)
        if not comparison.complaints:
            break
        file = ExpectationFile(file.text())
        expectations = parse_expectations(file.text(), target)
    mended, _ = evaluate(records, settings.catalogue, settings.strictness, expectations, around)
    histories = {case.name for case in around.cases if case.marks.is_history and case.marks.is_seeded}
    for name, rule in mended.unexpected.items():
        found = [(Outcome(each.outcome), each.what) for each in rule.findings if not each.expected]
        for outcome, what in found or [(Outcome(rule.outcome), rule.what)]:
            shown_by = {
                each.case
                for each in records
                if isinstance(each, CasePlayed)
                for judgement in each.judgements
                if (judgement.rule, judgement.outcome) == (name, outcome)
                and signature(judgement.what) == signature(what)
            }
            entry = added(name, outcome, what, today, reasons.get(name, ""))
            if len(description.roles) > 1:
                # In its other roles other rules are judged, and this entry would fail their runs.
                entry["roles"] = [description.role]
            file.add(entry | ({"histories": True} if shown_by and shown_by <= histories else {}))
    after = file.text()
    if after != before:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(target, after)
    accepted = parse_expectations(after, target)
    return accepted, _told(target, settings.expectations.entries, accepted.entries)


def _told(target: Path, before: Sequence[Expectation], after: Sequence[Expectation]) -> str:
    """Return what became of the entries of a file, in one line."""
    gone = [entry.title for entry in before if entry not in after]
    new = [entry.title for entry in after if entry not in before]
    # What has the same name still was changed, and its reason and comments are there as before.
    changed = [title for title in new if title in gone]
    counts = {
        "added": len(new) - len(changed),
        "changed": len(changed),
        "removed": len(gone) - len(changed),
    }
    if not any(counts.values()):
        return f"{target}: nothing to accept, {len(after)} entries as before"
    return f"{target}: {', '.join(f'{count} {word}' for word, count in counts.items())}, {len(after)} entries now"


def mend(
    file: ExpectationFile,
    entries: Sequence[Expectation],
    complaints: Sequence[Complaint],
) -> None:
    """Change the entries that did not come true: each once, as a rule may have come to several things instead."""
    mended: set[int] = set()
    for complaint in complaints:
        number = entries.index(complaint.entry)
        entry = complaint.entry
        if number in mended:
            continue
        mended.add(number)
        match complaint.breach:
            case Breach.UNMATCHED | Breach.UNEXPECTED_PASS | Breach.OVER_WIDE:
                file.remove(number)
            case Breach.EXPIRED:
                # Whoever accepts the run accepts this too; a new date is for a person to choose.
                file.change(number, until=None)
            case Breach.CHANGED_OUTCOME | Breach.CHANGED_SIGNATURE:
                assert complaint.came is not None
                outcome, what = complaint.came.outcome, complaint.came.what
                if entry.is_glob:
                    # It stands for others as well, which came to something else; each gets an entry of its own.
                    file.remove(number)
                elif outcome in EXPECTABLE:
                    sign = signature(what) if entry.signature else None
                    file.change(number, outcome=outcome.value, signature=sign or None)
                else:
                    file.remove(number)


def added(name: str, outcome: Outcome, what: str, today: date, reason: str = "") -> dict[str, Any]:
    """Return the keys of a new entry."""
    values = {"rule": name, "outcome": outcome.value}
    if sign := signature(what):
        values["signature"] = sign
    return {**values, "reason": reason or f"accepted on {today}: {first_line(what) or outcome.value}"}
