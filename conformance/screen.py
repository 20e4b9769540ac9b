"""What is seen while ``goldwire test`` runs: pytest's own output is muted, a terminal gets a progress bar."""

import os
from collections import Counter
from typing import TYPE_CHECKING, Any, TextIO

import pytest
from _pytest._io import TerminalWriter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from conformance.records import CasePlayed, Record, RunStarted
    from conformance.summary import Summary


class Screen:
    """A pytest plugin that listens to a run; ``error`` is the file that is a terminal, or not."""

    def __init__(self, error: TextIO) -> None:
        self.summary: Summary | None = None
        self.records: list[Record] = []
        self._progress: Progress | None = None
        self._task: Any = None
        self._outcomes: Counter[str] = Counter()
        if error.isatty():
            # pytest catches what is written to the descriptor itself while it collects and plays.
            own = os.fdopen(os.dup(error.fileno()), "w")
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(file=own, force_terminal=True),
                transient=True,
            )

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Mute pytest's own reporter: others hold on to it, so it is not taken away."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter._tw = TerminalWriter(open(os.devnull, "w"))  # noqa: SIM115 (it lives as long as the reporter)

    @pytest.hookimpl(optionalhook=True)
    def pytest_goldwire_started(self, started: "RunStarted") -> None:
        """Show the bar."""
        self.records.append(started)
        if self._progress is not None:
            self._task = self._progress.add_task("starting", total=None)
            self._progress.start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn how many cases there are, where this process plays them."""
        if session.items:
            self._expect(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Learn how many cases there are, where workers play them."""
        self._expect(len(ids))

    @pytest.hookimpl(optionalhook=True)
    def pytest_goldwire_progress(self, line: str) -> None:
        """Say what takes its time."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=line)

    @pytest.hookimpl(optionalhook=True)
    def pytest_goldwire_played(self, record: "CasePlayed") -> None:
        """Advance by one case."""
        self.records.append(record)
        self._outcomes[record.outcome.value] += 1
        if self._progress is not None and self._task is not None:
            text = ", ".join(f"{number} {name}" for name, number in self._outcomes.items())
            self._progress.update(self._task, advance=1, description=text)

    @pytest.hookimpl(optionalhook=True)
    def pytest_goldwire_ended(self, summary: "Summary") -> None:
        """Keep the summary."""
        self.summary = summary

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()

    def _expect(self, total: int) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, total=total, description="playing")
