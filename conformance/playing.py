"""Playing cases within pytest: a case as a test item, and the one who owns the tester."""

import inspect
import os
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.cases import Case, marks_of
from conformance.contract import Unit, accepting
from conformance.expectations import Expectation
from conformance.failure import around, first_line, page
from conformance.records import TRACES, CasePlayed
from conformance.settings import Settings
from conformance.verdicts import Judgement, Outcome, Verdict, verdict
from harness.errors import HarnessError, StartFailed
from harness.trace import Trace, write_ndjson


class Played(msgspec.Struct, frozen=True, tag=True):
    """A case was played; ``trouble`` says what could not be written."""

    record: CasePlayed
    trouble: str = ""


class NotStarted(msgspec.Struct, frozen=True, tag=True):
    """The implementation did not start, so nothing was played."""

    message: str


Message = Played | NotStarted


class Accused(AssertionError):
    """The implementation broke a rule; the message is the failure page."""


class Defect(Exception):
    """The tester itself failed; the message says how."""


class Player:
    """Owns the tester of this process: made when the first case is played, closed with the session."""

    def __init__(self, settings: Settings, progress: Callable[[str], None]) -> None:
        self.settings = settings
        self._progress = progress
        self._tester: Any = None
        self._not_started = ""
        alive = settings.expectations.applying(settings.version, settings.description.role, settings.profile)
        self._by_rule = [entry for entry in alive if entry.rule]
        self._by_case = [entry for entry in alive if entry.case]

    def play(self, case: Case) -> Message:
        """Play one case and keep its trace if it did not pass."""
        if self._not_started:
            return NotStarted(self._not_started)
        try:
            if self._tester is None:
                self._tester = self._start()
            confirmed = self._tester.play(case)
        except StartFailed as error:
            self._not_started = str(error)
            return NotStarted(self._not_started)
        except Exception:
            return Played(self._record(case, outcome=Outcome.ERROR, error=traceback.format_exc()))
        result = confirmed.result
        record = self._record(
            case,
            outcome=result.outcome,
            judgements=result.judgements,
            attempts=confirmed.attempts,
            flaky=confirmed.flaky,
            seconds=result.seconds,
            error=getattr(result, "error", ""),
        )
        if self.settings.report is None or _is_fine(record):
            return Played(record)
        try:
            trace = self._keep(case.name, result.trace, self.settings.report / TRACES)
        except OSError as error:
            return Played(record, f"the trace of {case.name} could not be written: {error}")
        return Played(msgspec.structs.replace(record, trace=trace))

    def expected(self, record: CasePlayed) -> Expectation | None:
        """Return an entry of the contract if all of what a case came to is expected by some."""
        if entry := accepting(self._by_case, Unit(record.case, record.outcome, record.what)):
            return entry
        accusing = [each for each in record.judgements if self.accuses(each)]
        entries = [accepting(self._by_rule, Unit(each.rule, each.outcome, each.what)) for each in accusing]
        return entries[0] if entries and all(entry is not None for entry in entries) else None

    def accuses(self, judgement: Judgement) -> bool:
        """Tell whether a judgement fails the gate if it is not expected."""
        return verdict(judgement.outcome, strict=self.settings.strict) is Verdict.FAIL

    def close(self) -> None:
        """Stop the implementation; once is enough."""
        tester, self._tester = self._tester, None
        if tester is not None:
            tester.close()

    def _start(self) -> Any:
        engine = import_module("conformance.engine")
        try:
            return engine.Tester(
                self.settings.iut,
                self.settings.protocol,
                profile=self.settings.profile,
                transport=self.settings.transport,
                progress=self._progress,
            )
        except StartFailed:
            raise
        except HarnessError as error:
            raise StartFailed(str(error)) from error

    def _record(self, case: Case, **fields: Any) -> CasePlayed:
        function = inspect.unwrap(case.function)
        return CasePlayed(
            case=case.name,
            sentence=case.sentence,
            file=os.path.relpath(inspect.getsourcefile(function) or ""),
            line=inspect.getsourcelines(function)[1],
            rules=case.marks.rules,
            reproduce=self.settings.command(case.name),
            **fields,
        )

    def _keep(self, name: str, trace: Trace, folder: Path) -> str:
        framings = getattr(import_module(f"harness.{self.settings.protocol}"), "FRAMINGS", None)
        write_ndjson(trace, folder / f"{name}.ndjson")
        if framings is not None:
            import_module("harness.pcapng").write_pcapng(trace, folder / f"{name}.pcapng", framings)
        return name


class CaseItem(pytest.Item):
    """A case as pytest sees it: it takes no fixtures, as the tester hands it the node."""

    player: Player | None = None

    def __init__(self, **kwargs: Any) -> None:
        function = kwargs.pop("function")
        super().__init__(**kwargs)
        self.function = function
        self.obj = function
        self.funcargs: dict[str, Any] = {}
        self.message: Message | None = None
        marks = marks_of(function)
        assert marks is not None
        module = self.nodeid.partition("::")[0].rpartition("/")[2].removesuffix(".py")
        self.case = Case(f"{module}.{self.name}", function, marks)
        self.extra_keyword_matches.update((*marks.rules, self.case.name))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the case stands."""
        return self.path, inspect.getsourcelines(inspect.unwrap(self.function))[1] - 1, self.case.name

    def runtest(self) -> None:
        """Play the case; what it comes to decides what pytest is told."""
        if self.player is None:
            pytest.skip("a case needs an implementation to be played against: pytest --iut peer:")
        message = self.message = self.player.play(self.case)
        if isinstance(message, NotStarted):
            raise Defect(message.message)
        if self.config.pluginmanager.has_plugin("allure_listener"):
            import_module("conformance.allure_labels").label(message.record, self.player.settings)
        self._conclude(message.record, self.player)

    def _conclude(self, record: CasePlayed, player: Player) -> None:
        catalogue = player.settings.catalogue
        folder = str(player.settings.report / TRACES) if player.settings.report else ""
        if record.error or record.outcome is Outcome.ERROR:
            text = record.error or record.what or "the case gave no evidence"
            raise Defect("\n".join([text, *around(record, folder)]))
        expectation = player.expected(record)
        accused = [each.rule for each in record.judgements if player.accuses(each)]
        if accused and expectation is None:
            raise Accused(page(record, catalogue, accused, folder))
        if accused and expectation is not None:
            pytest.xfail(f"{first_line(record.what)} (expected: {expectation.reason})")
        if record.outcome is Outcome.INCONCLUSIVE:
            pytest.skip(f"inconclusive: {first_line(record.what) or 'no evidence'}")
        if record.outcome is Outcome.DEVIATION:
            self.add_report_section("call", "deviations", page(record, catalogue, folder=folder))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return the failure page alone: the tester's own frames help nobody."""
        if isinstance(excinfo.value, Accused | Defect):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def _is_fine(record: CasePlayed) -> bool:
    return record.outcome in (Outcome.PASS, Outcome.ODD) and not record.error
