"""Rebuilding: the summary and every export of a run from its journal, whatever became of the others."""

from importlib.metadata import entry_points
from pathlib import Path

import msgspec

from conformance.cases import Case, cases
from conformance.catalogue.loading import CatalogueError, load_catalogue, protocols
from conformance.contract.expectations import BadExpectations, Expectations, find_expectations, load_expectations
from conformance.run.journal import TornLine, read
from conformance.run.recorder import EXPORTERS
from conformance.run.records import JOURNAL, SUMMARY, Record, RunEnded, RunStarted
from conformance.run.summary import Circumstances, RunSummary, summarise
from harness.errors import BadDescription
from harness.iuts.description import resolve
from wire.files import write_file

RECORDED = "recording"
"""What a run of recordings has for a transport."""


class NoRun(Exception):
    """A folder that holds no run, or one that cannot be read; the message says which, and why."""


def load_run(path: Path, given: Path | None = None) -> tuple[list[Record], RunSummary]:
    """Return the records and the summary of a run: ``path`` is its folder, or its ``run.ndjson``.

    The summary is made of the records anew, with the expectations that are in force now, or those that are ``given``.
    """
    journal = path / JOURNAL if path.is_dir() else path
    try:
        records, torn = read(journal)
    except (OSError, TornLine) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise NoRun(f"{path}: no run that can be read: {journal.name}: {why}") from None
    started = next((record for record in records if isinstance(record, RunStarted)), None)
    if started is None:
        raise NoRun(f"{path}: no run: {journal.name} does not say what was tested")
    if started.protocol not in protocols():
        raise NoRun(f"{path}: a run of {started.protocol}, which is unknown: known are {', '.join(protocols())}")
    ended = next((record for record in records if isinstance(record, RunEnded)), None)
    before = _before(journal.with_name(SUMMARY))
    around = Circumstances(
        # A run that was killed has no end: what it had played by then is all that there is.
        interrupted=ended is None,
        passive=started.transport == RECORDED,
        trouble=(*(ended.trouble if ended else ()), *((torn,) if torn else ())),
        # Files of cases that could not be loaded are in no record.
        errors=before.errors if before else {},
        not_started=before.not_started if before else "",
        cases=_cases(started.protocol),
    )
    try:
        catalogue = load_catalogue(started.protocol)
        expectations = _expectations(started, given)
    except (CatalogueError, BadExpectations) as error:
        raise NoRun(str(error)) from None
    return records, summarise(records, catalogue, started.strictness, expectations, around)


def rebuild(folder: Path, summary: RunSummary) -> list[str]:
    """Write the summary and all exports of a run into its folder; return what could not be made, and why."""
    trouble = []
    write_file(folder / SUMMARY, msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n")
    for exporter in entry_points(group=EXPORTERS):
        try:
            exporter.load()(folder)
        except Exception as error:  # one that fails must not take the others with it
            trouble.append(f"{exporter.name} could not be made: {type(error).__name__}: {error}")
    return trouble


def _before(path: Path) -> RunSummary | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunSummary)
    except (OSError, msgspec.MsgspecError):
        return None


def _expectations(started: RunStarted, given: Path | None) -> Expectations:
    own = None
    if started.transport != RECORDED:
        try:
            own = resolve(started.iut, started.protocol).expectations
        except BadDescription:  # its file is elsewhere by now
            own = None
    path = find_expectations(started.name, started.protocol, own, given)
    return load_expectations(path) if path is not None else Expectations()


def _cases(protocol: str) -> tuple[Case, ...]:
    try:
        return tuple(cases(protocol))
    except Exception:  # those that were played are in the records
        return ()
