"""What is seen while ``goldwire test`` runs: pytest's own output is muted, a terminal gets a progress bar.

What nobody expects is told at once, in a line each, in a pipe as well: who sees it need not wait for the end.
"""

import os
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, TextIO

import click
import pytest
from _pytest._io import TerminalWriter

from conformance.contract.signatures import first_line
from conformance.verdicts import verdict

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from conformance.run.records import CasePlayed, Record, RunEnded, RunStarted
    from conformance.run.summary import RunSummary
    from conformance.verdicts import Judgement


class ProgressBar:
    """A pytest plugin that listens to a run; ``error`` is the file that is a terminal, or not."""

    def __init__(self, error: TextIO) -> None:
        self.summary: RunSummary | None = None
        self.records: list[Record] = []
        self.internal_error = ""
        """How pytest itself failed, with the traceback; empty where it did not."""
        self._nowhere = open(os.devnull, "w")  # noqa: SIM115 (it lives as long as pytest's reporter)
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._outcomes: Counter[str] = Counter()
        self._beside = ExitStack()
        self._error = _descriptor_of_its_own(error, self._beside)
        if error.isatty():
            self._progress = _bar(self._error)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Mute pytest's own reporter: others hold on to it, so it is not taken away."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter._tw = TerminalWriter(self._nowhere)

    def pytest_internalerror(self, excrepr: object) -> None:
        """Keep what the muted reporter says to nobody; the first is the cause of whatever comes after it."""
        self.internal_error = self.internal_error or str(excrepr)

    # Optional, here and below: hooks that goldwire and xdist declare, each only where it is loaded.
    @pytest.hookimpl(optionalhook=True)
    def pytest_goldwire_started(self, started: "RunStarted") -> None:
        """Show the bar."""
        self.records.append(started)
        if self._progress is not None:
            self._task = self._progress.add_task("starting", total=None)
            self._progress.start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn how many cases there are, where this process plays them."""
        # Under xdist the controller has none of its own; the workers report theirs below.
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
    def pytest_goldwire_found(self, judgement: "Judgement") -> None:
        """Tell of a rule that is not kept, or cannot be judged."""
        came = first_line(judgement.what) or judgement.outcome.value
        line = f"{verdict(judgement.outcome).value}  {judgement.rule}  {came} ({judgement.case})"
        if self._progress is not None:
            self._progress.console.print(line, markup=False, highlight=False, no_wrap=True, overflow="ellipsis")
        else:
            click.echo(line, file=self._error)

    @pytest.hookimpl(optionalhook=True)
    def pytest_goldwire_ended(self, summary: "RunSummary", ended: "RunEnded") -> None:
        """Keep the summary."""
        self.records.append(ended)
        self.summary = summary

    def close(self) -> None:
        """Take the bar away, once pytest has come to its end."""
        self._nowhere.close()
        if self._progress is not None:
            self._progress.stop()
        self._beside.close()

    def _expect(self, total: int) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, total=total, description="playing")


def _descriptor_of_its_own(file: TextIO, until: ExitStack) -> TextIO:
    """Return a file beside one: pytest catches what is written to the usual one while it collects and plays."""
    try:
        return until.enter_context(os.fdopen(os.dup(file.fileno()), "w", errors="backslashreplace"))
    except OSError:  # it has none, as a file in memory
        return file


def _bar(terminal: TextIO) -> "Progress":
    # Only here: whoever runs the gate in a pipe waits for no library that draws on terminals.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=terminal, force_terminal=True),
        transient=True,
    )
