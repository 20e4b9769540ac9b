"""A case as a pytest item: what it comes to decides whether the test passes, fails, is skipped or is in error."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from conformance.cases import Case, marks_of
from conformance.contract.signatures import first_line
from conformance.gate.failure_page import case_lines, failure_page
from conformance.gate.messages import ImplementationNotStarted, Message
from conformance.gate.player import Player
from conformance.run.records import TRACES, CasePlayed
from conformance.verdicts import Outcome


class Accused(AssertionError):
    """The implementation broke a rule; the message is the failure page."""


class Defect(Exception):
    """The tester itself failed; the message says how."""


class CaseItem(pytest.Item):
    """A case as pytest sees it: it takes no fixtures, as the tester hands it the node."""

    player: Player | None = None

    def __init__(self, **kwargs: Any) -> None:
        function = kwargs.pop("function")
        super().__init__(**kwargs)
        self.function = function
        self.obj = function
        # pytest's own plugins (and Allure's) ask every item for it.
        self.funcargs: dict[str, Any] = {}
        self.message: Message | None = None
        marks = marks_of(function)
        assert marks is not None
        # As conformance.cases names them, which imports the modules in another way: by the file, not by its package.
        module = self.nodeid.partition("::")[0].rpartition("/")[2].removesuffix(".py")
        self.case = Case(f"{module}.{self.name}", function, marks)
        self.extra_keyword_matches.update((*marks.rules, self.case.name))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the case stands."""
        # Unwrapped: of a property case, Hypothesis has made the function, and its lines are elsewhere.
        return self.path, inspect.getsourcelines(inspect.unwrap(self.function))[1] - 1, self.case.name

    def runtest(self) -> None:
        """Play the case; what it comes to decides what pytest is told."""
        if self.player is None:
            pytest.skip("a case needs an implementation to be played against: pytest --goldwire-iut peer:")
        message = self.message = self.player.play(self.case)
        if isinstance(message, ImplementationNotStarted):
            raise Defect(message.message)
        if self.config.pluginmanager.has_plugin("allure_listener"):
            # Only where that plugin is at work: allure is an extra, and this module is needed without it.
            from conformance.gate.allure_labels import label

            label(message.record, self.player.settings)
        self._conclude(message.record, self.player)

    def _conclude(self, record: CasePlayed, player: Player) -> None:
        """Tell pytest what a case came to: it returns for a pass, and raises for everything else."""
        catalogue = player.settings.catalogue
        folder = str(player.settings.report / TRACES) if player.settings.report else ""
        # Errors of ours first: no entry about the implementation may hide them.
        if record.error or record.outcome is Outcome.ERROR:
            text = record.error or record.what or "the case gave no evidence"
            raise Defect("\n".join([text, *case_lines(record, folder)]))
        expectation = player.known.expected(record)
        accused = [each.rule for each in record.judgements if player.known.accuses(each)]
        if accused and expectation is None:
            raise Accused(failure_page(record, catalogue, accused, folder))
        if accused and expectation is not None:
            # Not a failure, and not a pass either: whoever reads pytest's own report sees that something is known.
            pytest.xfail(f"{first_line(record.what)} (known: {expectation.reason})")
        if record.outcome is Outcome.INCONCLUSIVE:
            pytest.skip(f"inconclusive: {first_line(record.what) or 'no evidence'}")
        if record.outcome is Outcome.DEVIATION:
            # A pass for pytest, which has nothing between the two; what deviates is told with -rP, and in the summary.
            self.add_report_section("call", "deviations", failure_page(record, catalogue, folder=folder))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return the failure page alone: the tester's own frames help nobody."""
        if isinstance(excinfo.value, Accused | Defect):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)
