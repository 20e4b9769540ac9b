"""``--accept``: the expectation file is made to say what a run came to, with as few changes as possible.

The file is cut into entries, each with the comment right above it; only those that did not
come true are touched.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import tomlkit

from conformance.contract import Breach, Complaint
from conformance.expectations import (
    EXPECTABLE,
    BadExpectations,
    Expectation,
    Expectations,
    local,
    parse,
    signature,
)
from conformance.failure import first_line
from conformance.records import CasePlayed, Record
from conformance.settings import Settings
from conformance.summary import Circumstances, weigh
from conformance.verdicts import Outcome

ROUNDS = 5  # one is the rule; an entry that was overdue shows only then whether it is still true

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*expect[ \t]*\]\]", re.MULTILINE)


def accept(settings: Settings, records: Sequence[Record], around: Circumstances) -> Expectations:
    """Rewrite the expectations so that this run is as expected; return them as they now are.

    The file is the one that the user named, or ``expectations/NAME.toml`` here, which starts as a copy of
    the file in force. Raises OSError when it cannot be written, BadExpectations when it cannot be cut up.
    """
    target = settings.given or local(settings.description.name)
    expectations = settings.expectations
    today = around.today or datetime.now(UTC).date()
    sheet = Sheet.of(expectations.path, len(expectations.entries))
    before = sheet.text()
    reasons: dict[str, str] = {}
    for _ in range(ROUNDS):
        summary, held = weigh(records, settings.catalogue, settings.strict, expectations, around)
        rules = {key: (Outcome(rule.outcome), rule.what) for key, rule in summary.rules.items() if rule.cases}
        cases = {each.case: (each.outcome, each.what) for each in records if isinstance(each, CasePlayed)}
        for complaint in held.complaints:
            if complaint.entry.is_glob:
                reasons |= {name: complaint.entry.reason for name in rules if complaint.entry.names(name)}
        mend(sheet, expectations.entries, held.complaints, rules | cases)
        if not held.complaints:
            break
        sheet = Sheet(sheet.text())
        expectations = parse(sheet.text(), target)
    for name, rule in weigh(records, settings.catalogue, settings.strict, expectations, around)[0].unexpected.items():
        sheet.add(added(name, Outcome(rule.outcome), rule.what, today, reasons.get(name, "")))
    after = sheet.text()
    if after != before:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(after, encoding="utf-8")
    return parse(after, target)


def mend(
    sheet: "Sheet",
    entries: Sequence[Expectation],
    complaints: Sequence[Complaint],
    found: dict[str, tuple[Outcome, str]],
) -> None:
    """Change the entries that did not come true; ``found`` is what each judged rule and case came to."""
    for complaint in complaints:
        number = entries.index(complaint.entry)
        entry = complaint.entry
        match complaint.breach:
            case Breach.UNMATCHED | Breach.UNEXPECTED_PASS | Breach.OVER_WIDE:
                sheet.remove(number)
            case Breach.EXPIRED:
                sheet.change(number, until=None)
            case Breach.CHANGED_OUTCOME | Breach.CHANGED_SIGNATURE:
                outcome, what = found[complaint.unit]
                if entry.is_glob:
                    sheet.remove(number)
                elif outcome in EXPECTABLE:
                    sign = signature(what) if entry.signature else None
                    sheet.change(number, outcome=outcome.value, signature=sign or None)
                else:
                    sheet.remove(number)


def added(name: str, outcome: Outcome, what: str, today: date, reason: str = "") -> dict[str, str]:
    """Return the keys of a new entry."""
    values = {"rule": name, "outcome": outcome.value}
    if sign := signature(what):
        values["signature"] = sign
    return {**values, "reason": reason or f"accepted on {today}: {first_line(what) or outcome.value}"}


class Sheet:
    """The text of an expectation file, cut into what precedes the entries and the entries."""

    def __init__(self, text: str) -> None:
        starts = [_with_comment(text, match.start()) for match in _HEADER.finditer(text)]
        ends = [*starts[1:], len(text)][: len(starts)]
        self.head = text[: starts[0]] if starts else text
        self.entries: list[str | None] = [text[start:end] for start, end in zip(starts, ends, strict=True)]

    @classmethod
    def of(cls, path: Path | None, count: int) -> "Sheet":
        """Return the sheet of a file with so many entries; BadExpectations if shaped otherwise."""
        sheet = cls(path.read_text(encoding="utf-8") if path is not None and path.exists() else "")
        if len(sheet.entries) != count:
            raise BadExpectations(f"{path}: --accept needs each entry under a header of its own: [[expect]]")
        return sheet

    def remove(self, number: int) -> None:
        """Take out the entry of that index."""
        self.entries[number] = None

    def change(self, number: int, **values: Any) -> None:
        """Set keys of an entry; a value of None removes the key."""
        text = self.entries[number]
        if text is None:
            return
        document = tomlkit.parse(text)
        table: Any = document["expect"][0]
        for key, value in values.items():
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        self.entries[number] = tomlkit.dumps(document)

    def add(self, values: dict[str, str]) -> None:
        """Append an entry."""
        table = tomlkit.table()
        for key, value in values.items():
            table[key] = value
        self.entries.append(f"[[expect]]\n{table.as_string()}")

    def text(self) -> str:
        """Return the whole text again, a blank line before each entry that was added."""
        text = self.head
        for entry in self.entries:
            if entry is None:
                continue
            if text and not text.endswith("\n"):
                text += "\n"
            if text and not text.endswith("\n\n") and entry.startswith("[["):
                text += "\n"
            text += entry
        return text


def _with_comment(text: str, start: int) -> int:
    """Return where an entry begins, counting the comment that stands right above its header."""
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
