"""SIGTERM as Ctrl-C, where that may be said."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.interrupts import end_on_sigterm, interrupts_held


def test_in_another_thread_a_signal_means_what_it_did() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(end_on_sigterm).result()
    assert signal.getsignal(signal.SIGTERM) == before


def test_who_has_another_use_for_it_keeps_that() -> None:
    def mine(*_: object) -> None:
        """Do nothing."""

    before = signal.signal(signal.SIGTERM, mine)
    try:
        end_on_sigterm()
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


DROPPED = """
import os, signal, sys, time
import pytest

from harness.interrupts import end_on_sigterm

class Ending:
    def __del__(self):
        os.kill(os.getpid(), signal.{signal})
        time.sleep(0)  # here it is heard, and what it raises is dropped

end_on_sigterm()
try:
    Ending()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        time.sleep(0.01)
    print("not heard")
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_it_is_heard_while_an_object_is_taken_away(name: str) -> None:
    program = [sys.executable, "-c", DROPPED.format(signal=name)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert ended.stdout == "heard\n"
    assert ended.stderr == ""


def test_it_is_heard_within_pytest_which_collects_what_is_dropped(tmp_path: Path) -> None:
    start = "from harness.interrupts import end_on_sigterm\ndef pytest_sessionstart(session): end_on_sigterm()\n"
    (tmp_path / "conftest.py").write_text(start)
    body = DROPPED.format(signal="SIGTERM").partition("end_on_sigterm()\n")
    (tmp_path / "test_dropped.py").write_text(f"{body[0]}\ndef test():\n    Ending()\n    time.sleep(20)\n")
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert ended.returncode == pytest.ExitCode.INTERRUPTED, ended.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_held_is_heard_when_that_is_over(number: signal.Signals) -> None:
    noted = []

    def interrupted() -> None:
        with interrupts_held():
            signal.raise_signal(number)
            noted.append(number)

    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert noted == [number]


def test_what_is_ignored_stays_so_while_others_are_held() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_held():
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
