"""Who has no core cannot answer: that is told apart from who does not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fuzz.net import starvation
from fuzz.net.starvation import TRIES, UNTOLD, delays, unless_starved
from fuzz.net.symptoms import Symptom

HANG, HARM = Symptom("hang", "nobody is answered"), Symptom("harm", "somebody is harmed")
SERVICE = Symptom("service", "what is declared reaches nobody")


def looking(
    monkeypatch: pytest.MonkeyPatch, *shown: Symptom | None, waited: float
) -> tuple[Callable[[], Symptom | None], list[int]]:
    """Return a look that shows one symptom after the other, each after 10 s, and where it counts its calls.

    Of these the tester has waited for a core for ``waited`` seconds, and the implementation as long.
    """
    now, looks, there = [0.0], list[int](), list(shown)

    def look() -> Symptom | None:
        looks.append(1)
        now[0] += 10.0
        return there.pop(0)

    monkeypatch.setattr(starvation.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(starvation, "delays", lambda pid: {str(pid): waited * len(looks)})
    return look, looks


@pytest.mark.parametrize(
    ("shown", "waited", "looks"),
    [
        ((HANG,), 3.0, 1),  # they had a core for long enough
        ((HANG, None), 4.0, 2),  # neither has waited for long, but one after the other
        ((SERVICE, None), 4.5, 2),
        ((HARM,), 4.5, 1),  # nobody harms for want of a core
        ((None,), 4.5, 1),
        ((HANG, None), 4.5, 2),
        ((HANG, HANG, HANG), 4.5, 3),  # a second each time
        ((HANG,) * TRIES, 5.0, TRIES),  # it has to be said at some time
    ],
)
def test_it_is_looked_again_until_there_was_a_core_for_long_enough(
    shown: tuple[Symptom | None, ...], waited: float, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, counted = looking(monkeypatch, *shown, waited=waited)
    assert unless_starved(look, lambda: ["1"]) is shown[-1]
    assert len(counted) == looks


@pytest.fixture
def rivals() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two that want one core."""
    core = min(os.sched_getaffinity(0))
    program = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    made = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(2)]
    yield made
    for each in made:
        each.kill()
        each.communicate()


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel keeps no account of it")
def test_who_waits_for_a_core_is_known_to(rivals: list[subprocess.Popen[bytes]]) -> None:
    for each in rivals:
        assert each.stdout is not None
        each.stdout.readline()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if max((seconds for each in rivals for seconds in delays(each.pid).values()), default=0.0) > 0.05:
            return
        time.sleep(0.01)
    pytest.fail(f"nobody is known to have waited: {[delays(each.pid) for each in rivals]}")


def test_of_who_is_gone_nothing_is_known(rivals: list[subprocess.Popen[bytes]]) -> None:
    rivals[0].kill()
    rivals[0].wait()
    assert delays(rivals[0].pid) == {}


def test_of_who_is_ready_to_run_it_is_waited_until_he_has_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A regression: for how long a thread waits is told behind its waiting, and who waited still was taken for idle."""
    (tmp_path / "stat").write_text("7 (a (b) c) R 1 7 7 0")
    (tmp_path / "schedstat").write_text("5 0 1")
    waits = list[float]()

    def waited(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            (tmp_path / "schedstat").write_text("6 9000000000 2")

    monkeypatch.setattr(starvation, "_threads", lambda pid: [tmp_path])
    monkeypatch.setattr(starvation.time, "sleep", waited)
    looks = [HANG, None]
    assert unless_starved(lambda: looks.pop(0), lambda: ["7"]) is None
    assert len(waits) == 3


def test_who_sleeps_is_not_waited_for(rivals: list[subprocess.Popen[bytes]]) -> None:
    rivals[0].send_signal(signal.SIGSTOP)
    began = time.monotonic()
    assert unless_starved(lambda: HANG, lambda: [rivals[0].pid]) is HANG
    assert time.monotonic() - began < UNTOLD
