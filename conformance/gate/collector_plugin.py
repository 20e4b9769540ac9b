"""Collecting results within pytest: each goes to the run at once; the run decides the exit status."""

from typing import Any

import click
import pytest

from conformance.gate.messages import ImplementationNotStarted, attached
from conformance.gate.terminal import summary_lines
from conformance.run.recorder import RunRecorder, Unwritable
from conformance.run.settings import RunSettings


class CollectorPlugin:
    """Owns the run: one per session, in the process that has no other above it."""

    def __init__(self, settings: RunSettings, config: pytest.Config) -> None:
        self.run = RunRecorder(settings)
        self.config = config
        try:
            self.started = self.run.start()
        except Unwritable as error:
            raise pytest.UsageError(str(error)) from None
        self._session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Announce the run."""
        self._session = session
        self.config.hook.pytest_goldwire_started(started=self.started)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take down a file of cases that cannot be loaded."""
        if report.failed:
            self.run.errors[report.nodeid] = report.longreprtext

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down what was played; once the implementation does not start, nothing else is tried."""
        message = attached(report)
        if message is None:
            if report.failed:
                self.run.errors[report.nodeid] = report.longreprtext
            return
        if isinstance(message, ImplementationNotStarted):
            self.run.not_started = message.message
            if self._session is not None:
                self._session.shouldstop = "the implementation did not start"
            return
        self.run.add(message.record, message.trouble)
        self.config.hook.pytest_goldwire_played(record=message.record)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the run is cut short by the user."""
        # pytest's own ways to stop early derive from KeyboardInterrupt; a worker's Ctrl-C is one of them.
        told = "keyboard-interrupt" in str(excinfo.value)
        self.run.interrupted = excinfo.type is KeyboardInterrupt or told

    def pytest_internalerror(self, excrepr: object) -> None:
        """Note that pytest itself failed; the first is the cause of whatever comes after it."""
        self.run.errors.setdefault("pytest", str(excrepr))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report; its exit status is the session's (but 2 after an interrupt, as in pytest)."""
        if session.exitstatus == pytest.ExitCode.USAGE_ERROR:
            return
        summary = self.run.finish()
        self.config.hook.pytest_goldwire_ended(summary=summary)
        if not summary.interrupted:
            session.exitstatus = summary.exit

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the summary below what pytest has printed."""
        if self.run.summary is not None:
            terminalreporter.section("goldwire")
            for line in summary_lines(self.run.summary, self.run.settings.catalogue, self.run.records):
                terminalreporter.write_line(click.unstyle(line))
