"""Forked peers are like started ones: their output, their control lines, their end and that of their tester."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from harness.iuts import forking
from harness.iuts.process import Process, forked_peer, started
from harness.links.transports import free_addresses

SERVE = ("python", "-m", "goldwire", "peer", "zenoh", "--listen")
PATIENCE = 30.0


def launched(where: str = "") -> Process:
    """Start a forked router."""
    command = (*SERVE, where or str(free_addresses(("tcp",))[0]))
    return Process(command, dict(os.environ), control=False, start=partial(forked_peer, "zenoh"))


def gone(pid: int) -> bool:
    """Wait for the end of a process that is not ours."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            # Whoever adopts it may be slow to take note of its end.
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_it_serves_leads_its_session_and_is_ended() -> None:
    process = launched()
    assert process.wait_ready(PATIENCE)
    assert process.alive()
    assert os.getpgid(process.pid) == os.getsid(process.pid) == process.pid
    process.stop()
    assert process.exit_status is not None
    assert gone(process.pid)


def test_its_status_and_its_last_words_are_those_of_the_command() -> None:
    wrong = "tcp/nowhere"
    alike = Process((sys.executable, *SERVE[1:], wrong), dict(os.environ), control=False)
    said = []
    for process in (launched(wrong), alike):
        assert process.wait(PATIENCE)
        process.settle()
        said.append((process.exit_status, process.output_tail()))
        process.stop()
    assert said[0] == said[1]
    assert said[0][0] == 2


def test_a_signal_that_ends_it_is_its_status() -> None:
    process = launched()
    assert process.wait_ready(PATIENCE)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(PATIENCE)
    assert process.exit_status == -signal.SIGKILL
    process.stop()


def test_where_the_template_has_ended_another_one_is_made() -> None:
    launched().stop()
    forking._templates[os.getpid(), "zenoh"]._process.kill()
    process = launched()
    assert process.wait_ready(PATIENCE)
    process.stop()


TESTER = """
import os, sys
from functools import partial
from harness.iuts.process import Process, forked_peer
process = Process(sys.argv[1:], dict(os.environ), control=False, start=partial(forked_peer, "zenoh"))
process.wait_ready(60)
print(process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow(seconds=2)  # a tester that loads everything
def test_the_kernel_ends_it_with_its_tester() -> None:
    command = [sys.executable, "-P", "-c", TESTER, *SERVE, str(free_addresses(("tcp",))[0])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tester:
        assert tester.stdout is not None
        pid = int(tester.stdout.readline())
        children = Path(f"/proc/{tester.pid}/task/{tester.pid}/children").read_text().split()
        assert str(pid) in children
        assert len(children) == 2  # its template as well
        tester.kill()
    assert all(gone(int(each)) for each in children)


def test_a_template_whose_tester_has_asked_and_ended_ends_without_complaint() -> None:
    """A regression: what forked a peer for a campaign that was killed meanwhile ended with a traceback."""
    asks, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "harness.iuts.peer_template", str(its.fileno()), "zenoh"]
    with its, subprocess.Popen(command, pass_fds=[its.fileno()], stderr=subprocess.PIPE) as template:
        with asks, open(os.devnull) as nothing:
            request = {"tester": os.getpid(), "command": ["goldwire", "--version"], "environment": {}}
            socket.send_fds(asks, [json.dumps(request).encode()], [nothing.fileno()] * 3)
        its.close()
        assert template.communicate(timeout=PATIENCE)[1] == b""
    assert template.returncode == 0


def test_the_tester_adopts_nobody_else() -> None:
    """A regression: whatever lost its parent in the tester stayed as a zombie, and others waited for its end."""
    launched().stop()
    orphan = subprocess.run(["sh", "-c", "sleep 0.2 >&2 & echo $!"], stdout=subprocess.PIPE, check=True).stdout
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{int(orphan)}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_one_that_is_started_is_started_as_before() -> None:
    process = Process((sys.executable, "-c", "print('ready')"), dict(os.environ), control=False, start=started)
    assert process.wait_ready(PATIENCE)
    process.stop()
