"""The process that collects ends those that play when it is told to end."""

import subprocess
import sys
from types import SimpleNamespace
from typing import cast

import pytest

from conformance.gate.collector_plugin import CollectorPlugin
from conformance.gate.messages import PLAYER, sign
from conformance.run.settings import gather

LONG = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]


def report(player: int | None = None) -> pytest.TestReport:
    made = pytest.TestReport("cases.py::test", ("cases.py", 1, "test"), {}, "passed", None, "call")
    if player is not None:
        setattr(made, PLAYER, player)
    return made


def test_workers_are_told_of_an_interrupt() -> None:
    """They would play to the end what they have been given; one may have ended by itself."""
    collector = CollectorPlugin(gather("peer:", "zenoh"), cast(pytest.Config, SimpleNamespace()))
    with pytest.raises(KeyboardInterrupt) as interrupt:
        raise KeyboardInterrupt
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as ended:
        ended.wait()
    with subprocess.Popen(LONG) as worker:
        for each in (worker.pid, ended.pid, None):
            collector.pytest_runtest_logreport(report(each))
        # What this process has played itself ends with it.
        sign(own := report())
        collector.pytest_runtest_logreport(own)
        try:
            collector.pytest_keyboard_interrupt(interrupt)
            assert worker.wait(timeout=20) != 0
        finally:
            worker.kill()
    assert collector.run.interrupted
