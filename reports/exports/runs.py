"""Runs as reports read them: the journal and the summary in a run's folder."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from conformance.run.journal import read
from conformance.run.records import JOURNAL, SUMMARY, CasePlayed, Record
from conformance.run.summary import RunSummary


def load(folder: Path) -> tuple[list[Record], RunSummary]:
    """Return the records and the summary of a run; raises OSError or TornLine, or a MsgspecError."""
    # A torn last line is nothing here: the summary was written behind it.
    records, _ = read(folder / JOURNAL)
    return records, msgspec.json.decode((folder / SUMMARY).read_bytes(), type=RunSummary)


def by_file(records: Sequence[Record]) -> dict[str, list[CasePlayed]]:
    """Return the cases that were played, by the module in which they stand."""
    files: dict[str, list[CasePlayed]] = {}
    for record in records:
        if isinstance(record, CasePlayed):
            files.setdefault(record.case.partition(".")[0], []).append(record)
    return files
