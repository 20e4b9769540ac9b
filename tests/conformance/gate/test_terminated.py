"""SIGTERM, which the ``timeout`` of a CI sends, ends a run as Ctrl-C does: with a report, and nothing left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from watched_runs import MARK, processes, wait_for_cases

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))
PYTEST = [sys.executable, "-m", "pytest", "--pyargs", "conformance.zenoh.cases", "-p", "no:cacheprovider"]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([GOLDWIRE, "test", "zenoh"], id="goldwire"),
        pytest.param(PYTEST, id="pytest", marks=pytest.mark.slow(seconds=8)),  # all modules of cases are rewritten
    ],
)
def test_sigterm_ends_a_run_with_its_report(command: list[str], tmp_path: Path) -> None:
    prefix = "--" if command[0] == GOLDWIRE else "--goldwire-"
    options = [f"{prefix}iut", "peer:", f"{prefix}report", "out"]
    environment = os.environ | {MARK: tmp_path.name}
    with subprocess.Popen(
        [*command, *options], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        wait_for_cases(tmp_path / "out" / "run.ndjson", 2, within=120)
        # As `timeout` does it: the process, and then its group.
        running.send_signal(signal.SIGTERM)
        running.send_signal(signal.SIGTERM)
        output, _ = running.communicate(timeout=120)
    assert running.returncode == (130 if command[0] == GOLDWIRE else 2), output
    assert (tmp_path / "out" / "summary.json").exists(), output
    assert "Traceback" not in output
    assert processes(tmp_path.name) == []
