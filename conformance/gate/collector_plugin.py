"""Collecting results within pytest: each goes to the run at once; the run decides the exit status."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import click
import pytest

from conformance.gate.messages import ImplementationNotStarted, attached, player_of
from conformance.gate.terminal import summary_lines
from conformance.run.known_deviations import KnownDeviations
from conformance.run.recorder import RunRecorder, Unwritable
from conformance.run.settings import RunSettings
from harness.interrupts import end_on_sigterm

GRACE = 5.0
"""Seconds that the case which is played when the time is over has to come to its end."""


class CollectorPlugin:
    """Owns the run: one per session, in the process that has no other above it."""

    def __init__(self, settings: RunSettings, config: pytest.Config) -> None:
        self.run = RunRecorder(settings)
        self.config = config
        self._known = KnownDeviations(settings)
        self._failed = 0
        self._seconds: float | None = None
        try:
            self.started = self.run.start()
        except Unwritable as error:
            raise pytest.UsageError(str(error)) from None
        self._session: pytest.Session | None = None
        self._players: set[int] = set()
        """The other processes that play, as far as they have reported."""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Announce the run, which SIGTERM ends as Ctrl-C does: also where pytest was called and not goldwire."""
        end_on_sigterm()
        self._session = session
        self.config.hook.pytest_goldwire_started(started=self.started)
        self._seconds = self.config.option.goldwire_max_time

    # Not as the session starts: whom an alarm interrupts there, pytest gives no end, and so no report.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Have the run end when its time is over."""
        if self._seconds is not None:
            signal.signal(signal.SIGALRM, self._time_is_over)
            signal.setitimer(signal.ITIMER_REAL, self._seconds, GRACE)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take down a file of cases that cannot be loaded."""
        if report.failed:
            self.run.errors[report.nodeid] = report.longreprtext

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down what was played; once the implementation does not start, nothing else is tried."""
        player = player_of(report)
        if player is not None and player != os.getpid():
            self._players.add(player)
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
        record = self.run.add(message.record, message.trouble)
        self.config.hook.pytest_goldwire_played(record=record)
        for judgement in self._known.news(record):
            self.config.hook.pytest_goldwire_found(judgement=judgement)
        self._failed += report.failed
        most = self.config.option.maxfail
        if most and self._failed >= most:
            self._stop("at the first failure" if most == 1 else f"after {most} failures")

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the run is cut short by the user."""
        # pytest's own ways to stop early derive from KeyboardInterrupt; a worker's Ctrl-C is one of them.
        told = "keyboard-interrupt" in str(excinfo.value)
        self.run.interrupted = excinfo.type is KeyboardInterrupt or told
        self._end_players()

    def _end_players(self) -> None:
        """End the workers of pytest-xdist now, which would play to the end what they have been given."""
        for player in self._players:
            # Those that have heard of it themselves may have ended.
            with suppress(ProcessLookupError):
                os.kill(player, signal.SIGINT)

    def pytest_internalerror(self, excrepr: object) -> None:
        """Note that pytest itself failed; the first is the cause of whatever comes after it."""
        self.run.errors.setdefault("pytest", str(excrepr))

    # Within the reporter, which prints the summary, and around the player, whose end no alarm is to disturb.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Write the report; its exit status is the session's (but 2 after an interrupt, as in pytest)."""
        if self._seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        yield
        if session.exitstatus == pytest.ExitCode.USAGE_ERROR:
            return
        summary = self.run.finish()
        self.config.hook.pytest_goldwire_ended(summary=summary, ended=self.run.records[-1])
        if not summary.interrupted:
            session.exitstatus = summary.exit

    def _time_is_over(self, *_: Any) -> None:
        """End the run: when the case that is played has come to its end, or at once if it does not soon."""
        is_late = bool(self.run.stopped)
        if is_late:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self._stop(f"after {self._seconds:g} s", at_once=is_late)

    def _stop(self, why: str, *, at_once: bool = False) -> None:
        """End the run before all is played."""
        self.run.stopped = self.run.stopped or why
        if self._session is None:
            return
        # Workers of pytest-xdist play to the end what they have been given; so they are ended.
        if at_once or self.config.pluginmanager.has_plugin("dsession"):
            raise self._session.Interrupted(why)
        self._session.shouldstop = why

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the summary below what pytest has printed."""
        if self.run.summary is not None:
            terminalreporter.section("goldwire")
            settings = self.run.settings
            verbose = self.config.option.verbose > 0
            for line in summary_lines(
                self.run.summary, settings.catalogue, self.run.records, verbose=verbose, report=settings.report
            ):
                terminalreporter.write_line(click.unstyle(line))
