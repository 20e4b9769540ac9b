"""How the project's own tests run: in every process that plays some.

It stands here, not in ``tests/``: pytest puts a conftest file's folder at the head of ``sys.path``, and the folders of
``tests/`` are called like the rooms.
"""

import ctypes
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

# What runs in a shell's background has SIGINT ignored, and so would have all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Hundreds of tests start a Python of their own. Where Python is told to write no bytecode, each of these compiles all
# that it imports, which takes longer than the test, and pytest rewrites 600 modules anew: so all write it, but not into
# folders of sources.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") or sys.dont_write_bytecode:
    sys.pycache_prefix = os.environ.setdefault(
        "PYTHONPYCACHEPREFIX", str(Path(__file__).parent / ".pytest_cache" / "bytecode")
    )
    sys.dont_write_bytecode = False

# Some tests make texts and frames of megabytes. glibc answers the first that is freed by keeping such memory for the
# future, between what stays; with a threshold of our own it gives it back, and workers stay small. They inherit this.
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(128 * 1024))
# Arrow's own allocator keeps what it has had once: 40 MB after a file of vectors was written.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

_PEAKS: dict[str, int] = {}
"""The memory that each worker had at most, in MB; it is known when the worker has ended."""

_trim = getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: None)  # glibc has it, others may not


def pytest_configure(config: pytest.Config) -> None:
    """Let Hypothesis take its time, and make its table of characters in a process of its own: that takes 200 MB."""
    # How long an example takes depends on who else uses the machine. Here, since settings are read when tests are
    # imported.
    settings.register_profile("goldwire", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("goldwire")
    if not hasattr(config, "workerinput") and not (config.rootpath / ".hypothesis" / "unicode_data").exists():
        make = "from hypothesis import strategies; strategies.text().validate()"
        subprocess.run([sys.executable, "-c", make], cwd=config.rootpath, timeout=120, check=False)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Take one worker more than there are cores for ``-n auto``: a quarter of a worker's time is spent in waiting."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Give whole files to workers: with single tests, each worker would set up what a file's tests share.

    Where the gate is played from within the checkout (``--iut``), its cases are shared out as everywhere else.
    """
    is_gate = bool(config.getoption("goldwire_iut", default=None))
    config.option.loadscopereorder = False  # by the number of tests alone, with the longest test last
    return LoadFileScheduling(config, log) if config.option.dist == "load" and not is_gate else None


@pytest.hookimpl(trylast=True)  # of what is played, after all that is left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Play first the files that take longest, so that no worker is left with one of them when the others have ended.

    How long that is, tests know that take long where there are few in a file: ``slow(seconds=30)``, and ``takes(3)``
    of those that are played always. Of others there are many in a file, or it is soon over.
    """
    if config.getoption("goldwire_iut", default=None):
        return  # the gate plays its cases in an order of its own
    seconds: dict[Path, float] = {}
    for item in items:
        slow, takes = item.get_closest_marker("slow"), item.get_closest_marker("takes")
        known = (slow.kwargs.get("seconds", 0) if slow else 0) + (takes.args[0] if takes else 0)
        seconds[item.path] = seconds.get(item.path, 0) + known + 0.1
    items.sort(key=lambda item: -seconds[item.path])


def pytest_collection_finish() -> None:
    """Spare the garbage collector what is imported and collected by now: it stays, and it is most of all there is."""
    gc.collect()
    _trim(0)
    gc.freeze()


@pytest.hookimpl(trylast=True)  # when all is torn down that the tests of the file have shared
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Give memory back after each file: what its tests made lies between what stays, and malloc would keep it all."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        _trim(0)


def _peak() -> int | None:
    """Return the memory that this process has had at most, in MB; ``None`` where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker tell the process that started it how much memory it took."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["peak"] = _peak()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Note how much memory a worker took; of one that died it is not known."""
    peak = getattr(node, "workeroutput", {}).get("peak")
    if peak is not None:
        _PEAKS[node.gateway.id] = peak


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how much memory the workers took: they are to stay below 300 MB, and nobody sees it otherwise."""
    if _PEAKS and not config.getoption("goldwire_iut", default=None):
        told = ", ".join(f"{name} {peak} MB" for name, peak in sorted(_PEAKS.items()))
        terminalreporter.write_line(f"memory of each worker at most: {told}")
