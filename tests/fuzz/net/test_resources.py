"""Whose memory, descriptors and threads are an implementation's: those of all processes of its group."""

import subprocess
import sys

from fuzz.net.resources import members_of, resources

STARTS_ANOTHER = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"]).pid, flush=True)
sys.stdin.read()
"""


def test_what_it_has_started_counts_and_others_do_not() -> None:
    leader, other = (
        subprocess.Popen(
            [sys.executable, "-c", STARTS_ANOTHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for _ in range(2)
    )
    with leader, other:
        assert leader.stdout is not None
        started = leader.stdout.readline().decode().strip()
        assert sorted(members_of(leader.pid)) == sorted([str(leader.pid), started])
        assert str(other.pid) in members_of(other.pid)
        both, one = resources(leader.pid), resources(leader.pid, [started])
        assert both is not None
        assert one is not None
        assert both.memory > one.memory > 0
