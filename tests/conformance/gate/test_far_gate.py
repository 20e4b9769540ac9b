"""The gate over real sockets against our own peers, each of whose answers comes 400 ms late: nobody is accused.

How long each takes is printed (``-s``); nothing is asserted of it, as it is the machine's affair too.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.protocol import known, load

FAR_GATE = Path(__file__).parents[3] / "benchmarks" / "far_gate.py"


@pytest.mark.sweep
@pytest.mark.slow(seconds=60)  # each answer is waited for
@pytest.mark.parametrize(("protocol", "role"), [(each, role) for each in known() for role in load(each).roles])
def test_a_far_node_is_accused_of_nothing(protocol: str, role: str):
    done = subprocess.run([sys.executable, str(FAR_GATE), protocol, role], check=False, capture_output=True, text=True)
    print(done.stdout)  # noqa: T201 (the time that it took)
    assert done.returncode == 0, done.stderr
    assert "AS EXPECTED" in done.stdout
