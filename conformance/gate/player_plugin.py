"""Playing within pytest: hands the player to the cases, and the player's messages to the reports."""

import signal
from typing import Any

import msgspec
import pytest

from conformance.cases import SEEDS
from conformance.gate.items import CaseItem
from conformance.gate.messages import attach, sign
from conformance.gate.player import Player
from conformance.gate.turns import in_turn
from conformance.histories.budget import BUDGET
from conformance.run.settings import RunSettings
from harness.protocol import load

HISTORIES = 10.0
"""Seconds for the histories of a run, if nobody says how many or how long."""


def budget(option: Any, side_by_side: int) -> float:
    """Return the seconds that histories have: more of them take longer in proportion.

    Where cases are played ``side_by_side`` each of these processes has them, and a quarter of them is enough.
    """
    if option.goldwire_for is not None:
        return float(option.goldwire_for)
    seconds = HISTORIES if side_by_side == 1 else HISTORIES / 4
    return seconds * max(1.0, (option.goldwire_histories or 0) / SEEDS)


def _alone(config: pytest.Config) -> bool:
    """Tell whether this process plays one case after the other: it is a worker, -n says how many play, or --pdb."""
    said = getattr(config.option, "numprocesses", None) is not None
    return said or _is_worker(config) or bool(config.option.usepdb)


def _is_worker(config: pytest.Config) -> bool:
    """Tell whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


class PlayerPlugin:
    """Owns the player of this process: of each worker of pytest-xdist, or of the only process."""

    def __init__(self, settings: RunSettings, config: pytest.Config) -> None:
        self.settings = settings
        BUDGET.begin(budget(config.option, load(settings.protocol).side_by_side))
        self.player = Player(settings, lambda line: config.hook.pytest_goldwire_progress(line=line))

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Hand the player to the cases, leave out those that do not fit role or transport, and put the rest in turn."""
        role, transport = self.settings.description.role, self.settings.transport
        usual = load(self.settings.protocol).usual_over(transport)
        for item in items:
            if isinstance(item, CaseItem):
                # Known only now: a file of cases does not say whose it is.
                item.case = msgspec.structs.replace(item.case, usual_transport=usual)
        unfit = [item for item in items if isinstance(item, CaseItem) and not item.case.fits(role, transport)]
        for item in items:
            if isinstance(item, CaseItem):
                item.player = self.player
        if unfit:
            config.hook.pytest_deselected(items=unfit)
            # In place: pytest goes on with the list that it has handed to the hook.
            items[:] = [item for item in items if item not in unfit]
        items[:] = in_turn(items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Let the player know what is to be played, unless it is to be played one by one."""
        if _alone(session.config) or self.settings.is_shared:
            return
        self.player.ahead = [item.case for item in session.items if isinstance(item, CaseItem)]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Put what the player said on the report."""
        outcome = yield
        if not isinstance(item, CaseItem):
            return
        sign(outcome.get_result())
        # Set-up and tear-down have reports as well; one message per case is enough.
        if call.when == "call" and item.message is not None:
            attach(outcome.get_result(), item.message)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop the implementation, before others write their reports: it must not outlive a report that fails."""
        if _is_worker(session.config):
            # Who is told to end by several, as by Ctrl-C and by the process that collects, ends once.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.player.close()

    def pytest_unconfigure(self) -> None:
        """Stop the implementation when the session never came to its end, as after a usage error of another plugin."""
        self.player.close()
        BUDGET.begin(None)
