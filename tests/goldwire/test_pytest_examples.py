"""The examples of docs/pytest.md play as they are, where whoever copies them has nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pytest"


@pytest.mark.slow(seconds=3)  # processes of pytest that load everything
def test_they_play_the_gate_and_the_vectors(tmp_path: Path) -> None:
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, tmp_path)
    command = [sys.executable, "-P", "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", "-p", "no:allure_pytest"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    last = ended.stdout.splitlines()[-1]
    assert " failed" not in last
    assert int(last.split(" passed")[0].split()[-1]) > 300, last
