"""A run as the process sees it that collects the results: journal, summary, exports, exit status."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path

import msgspec

from conformance.cases import Case, cases
from conformance.contract.expectations import BadExpectations
from conformance.run.journal import Journal, JournalInUse
from conformance.run.records import JOURNAL, SUMMARY, TRACES, CasePlayed, Record, RunEnded, RunStarted
from conformance.run.settings import RunSettings
from conformance.run.summary import Circumstances, RunSummary, summarise
from wire.escaping import all_escaped
from wire.files import write_file

EXPORTERS = "goldwire.exporters"


class Unwritable(Exception):
    """The folder for the report cannot be written to (exit status 2)."""


class RunRecorder:
    """Collects what was played, writes it down at once, and sums it up.

    What cannot be written is noted in ``trouble`` and fails the gate in the end; the verdicts stand.
    """

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.records: list[Record] = []
        self.errors: dict[str, str] = {}
        self.trouble: list[str] = []
        self.interrupted = False
        self.stopped = ""
        """When and why the run ends before all is played, if that was asked for."""
        self.not_started = ""
        self.accepted = ""
        self.summary: RunSummary | None = None
        self._journal: Journal | None = None

    def start(self) -> RunStarted:
        """Prepare the report's folder and begin the journal; Unwritable when that is not possible."""
        settings = self.settings
        if settings.report is not None:
            self._journal = prepare_folder(settings.report)
        started = RunStarted(
            # Random, as runs of many machines meet in one lake.
            run=secrets.token_hex(8),
            time=_now(),
            protocol=settings.protocol,
            iut=settings.iut,
            name=settings.description.name,
            version=settings.version,
            role=settings.description.role,
            profile=settings.profile,
            transport=settings.transport,
            goldwire=version("goldwire"),
            strictness=settings.strictness,
            documents={name: document.sha256 for name, document in settings.catalogue.documents.items()},
        )
        # What a node calls itself, and what it says, stands in every export as it stands here.
        started = all_escaped(started)
        self._write(started)
        return started

    def add(self, record: CasePlayed, trouble: str = "") -> CasePlayed:
        """Take down one case; return it as it is written, with what terminals would act upon escaped."""
        if trouble:
            self.trouble.append(trouble)
        record = all_escaped(record)
        self._write(record)
        return record

    def finish(self) -> RunSummary:
        """End the journal, write the summary, call the exporters; a second call only returns the summary."""
        if self.summary is not None:
            return self.summary
        # Half a run accepts nothing: the cases that were not played would be taken for expectations come true.
        if self.settings.accept and not (self.not_started or self.interrupted):
            if self.stopped:
                self.trouble.append(f"--accept: nothing was written, as the run was stopped {self.stopped}")
            else:
                self._accept()
        summary = self._summarise()
        counts, trouble = summary.counts, tuple(self.trouble)
        # The journal first: the exports are made from it, and a kill during an export leaves a whole journal.
        self._write(
            RunEnded(
                time=_now(),
                interrupted=self.interrupted,
                counts=counts,
                exit=summary.exit,
                trouble=trouble,
                stopped=self.stopped,
            )
        )
        report = self.settings.report
        if report is not None:
            summed_up = self._attempt(SUMMARY, lambda: _write_summary(self._summarise(), report / SUMMARY))
            # Exports are made from both: there is nothing to make them from when one could not be written.
            for exporter in entry_points(group=EXPORTERS) if summed_up and self._journal is not None else ():
                self._attempt(exporter.name, partial(_export, exporter, report))
            # Once more when an export has failed: the summary that is written then says so.
            if summed_up and len(self.trouble) > len(trouble):
                self._attempt(SUMMARY, lambda: _write_summary(self._summarise(), report / SUMMARY))
        if self._journal is not None:
            with suppress(OSError):
                self._journal.close()
        self.summary = self._summarise()
        return self.summary

    def circumstances(self) -> Circumstances:
        """Return what the records do not tell."""
        return Circumstances(
            interrupted=self.interrupted,
            stopped=self.stopped,
            not_started=self.not_started,
            trouble=tuple(self.trouble),
            errors=self.errors,
            cases=_all_cases(self.settings.protocol),
            today=self.settings.today,
        )

    def _summarise(self) -> RunSummary:
        settings = self.settings
        summary = summarise(
            self.records, settings.catalogue, settings.strictness, settings.expectations, self.circumstances()
        )
        return all_escaped(msgspec.structs.replace(summary, accepted=self.accepted))

    def _accept(self) -> None:
        # Only here: it writes TOML with the comments kept, by a library that no other run needs.
        from conformance.run.acceptance import accept

        try:
            expectations, self.accepted = accept(self.settings, self.records, self.circumstances())
        except OSError as error:
            self.trouble.append(f"--accept: {error.filename}: {error.strerror}")
        except BadExpectations as error:
            self.trouble.append(f"--accept: {error}")
        else:
            self.settings = msgspec.structs.replace(self.settings, expectations=expectations)

    def _write(self, record: Record) -> None:
        self.records.append(record)
        if self._journal is None:
            return
        try:
            self._journal.write(record)
        except OSError as error:
            # Once: after a line that is torn, further ones would make a journal that cannot be read at all.
            self.trouble.append(f"{self._journal.path} is incomplete: {error.strerror or error}")
            with suppress(OSError):
                self._journal.close()
            self._journal = None

    def _attempt(self, name: str, work: Callable[[], None]) -> bool:
        """Do one part of the report, and tell whether it is there: its lack must not take the verdicts with it."""
        try:
            work()
        except OSError as error:
            self.trouble.append(f"the report's {name} could not be written: {error.strerror or error}")
        except Exception as error:
            self.trouble.append(f"the report's {name} could not be made: {type(error).__name__}: {error}")
        else:
            return True
        return False


def prepare_folder(folder: Path) -> Journal:
    """Make a report's folder, or clear it of an earlier run's traces, and return the journal in it.

    Raises Unwritable, with the reason.
    """
    try:
        traces = folder / TRACES
        traces.mkdir(parents=True, exist_ok=True)
        # First, since it belongs to one run at a time, and what it has written is not to be cleared by another.
        journal = Journal(folder / JOURNAL)
        for pattern in ("*.ndjson", "*.pcapng"):
            for old in traces.glob(pattern):
                old.unlink()
        # A full disk and a read-only mount are found now rather than after minutes of playing.
        probe = traces / ".probe"
        probe.write_bytes(b"\n")
        probe.unlink()
    except JournalInUse:
        raise Unwritable(f"--report: another run is writing to {folder}; choose another folder") from None
    except OSError as error:
        where = error.filename or folder
        raise Unwritable(
            f"--report: cannot write to {where}: {error.strerror}; choose another folder or make room"
        ) from None
    return journal


def _write_summary(summary: RunSummary, path: Path) -> None:
    write_file(path, msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n")


def _export(exporter: EntryPoint, folder: Path) -> None:
    exporter.load()(folder)


def _all_cases(protocol: str) -> tuple[Case, ...]:
    try:
        return tuple(cases(protocol))
    except Exception:  # collecting them has failed as well, and was reported
        return ()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
