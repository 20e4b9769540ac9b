"""A standalone cluster, as docs/cluster.md says: a master, two workers, the same rows; also when a worker is lost."""

import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from queue import Queue
from time import monotonic

import pytest

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")

import click
import pyarrow as pa
from click.testing import CliRunner
from lake_contents import quiet

from harness.errors import BadDescription
from harness.links.addresses import free_port
from reports.commands.pipeline import pipeline
from reports.jobs import runner as jobs
from reports.jobs import spark
from reports.lake.lake import Lake
from reports.lake.schemas import DECODED, FRAMES, RUNS, TABLES, VERDICTS

pytestmark = pytest.mark.spark

DOCUMENT = Path(__file__).parents[3] / "docs" / "cluster.md"
ADDRESS = "127.0.0.1:7077"
"""Where the document's master listens."""

PATIENCE = 120
"""Seconds until what should have happened counts as a failure."""

MANY = {
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.files.maxPartitionBytes": "32k",
}
"""Settings that make many tasks of few rows."""

LAST = "import sys; from harness.command import main; sys.exit(main())"


def blocks():
    """The document's blocks of shell commands."""
    return re.findall(r"^```sh\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


class Started:
    """A process of the cluster, whose log is read as it comes."""

    def __init__(self, words, environment):
        self.lines = Queue()
        self.seen = []
        self.process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        with self.process.stderr as log:
            for line in log:
                self.lines.put(line)
        self.lines.put(None)

    def said(self, what, times=1):
        """Wait until its log has said something so often."""
        end = monotonic() + PATIENCE
        while sum(what in line for line in self.seen) < times:
            line = self.lines.get(timeout=max(0.0, end - monotonic()))
            assert line is not None, f"ended before it said {what!r}: {''.join(self.seen)}"
            self.seen.append(line)

    def end(self, number):
        """Send a signal; return the exit status, and whether all that it had started is gone."""
        with ExitStack() as held:
            below = [held.enter_context(_watched(pid)) for pid in descendants(self.pid)]
            self.process.send_signal(number)
            status = self.process.wait(PATIENCE)
            assert all(is_gone(each) for each in below), "something was left behind"
        self._reader.join()
        return status

    def close(self):
        """End it by force, if it runs."""
        if self.process.poll() is None:
            kill_with_descendants(self.pid)
        self.process.wait()
        self._reader.join()


@contextmanager
def _watched(pid):
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_gone(descriptor):
    """Wait until a process is gone; tell whether it is."""
    return bool(select.select([descriptor], [], [], PATIENCE)[0])


def descendants(pid):
    """The processes that a process has started, and theirs; threads and processes come and go meanwhile."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def kill_with_descendants(pid):
    """End a process and all that it has started, by force."""
    for each in (*descendants(pid), pid):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """An environment in which ``goldwire`` is this one."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "goldwire"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(LAST)} "$@"\n')
    command.chmod(0o755)
    paths = os.pathsep.join([str(DOCUMENT.parents[1]), os.environ.get("PYTHONPATH", "")])
    cache = tmp_path_factory.mktemp("cache")
    return os.environ | {
        "PATH": os.pathsep.join([str(folder), os.environ["PATH"]]),
        "PYTHONPATH": paths,
        "XDG_CACHE_HOME": str(cache),
    }


class Cluster:
    """The cluster that the document starts, at a free port."""

    def __init__(self, environment):
        self.address = f"127.0.0.1:{free_port()}"
        self.url = f"spark://{self.address}"
        lines = blocks()[0].replace(ADDRESS, self.address).splitlines()
        self.master, *self.workers = [Started(shlex.split(line), environment) for line in lines]
        self.master.said("Registering worker", len(self.workers))

    def close(self):
        for each in (*self.workers, self.master):
            each.close()


@pytest.fixture(scope="module")
def cluster(shell):
    with closing(Cluster(shell)) as running:
        yield running


def rows(lake, table, **partition):
    return sorted(map(repr, lake.read(table, **partition).to_pylist()))


def test_the_document_s_own_commands_give_the_rows_of_one_process(cluster, shell, captured, filled, tmp_path):
    (tmp_path / "captures").mkdir()
    for path in captured["zenoh"]:
        shutil.copy(path, tmp_path / "captures")
    script = blocks()[1].replace(ADDRESS, cluster.address)
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path, env=shell, capture_output=True, text=True, timeout=5 * PATIENCE, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "ZI-015" in ran.stdout
    lake = Lake(tmp_path / "lake")
    for table in TABLES.values():
        assert rows(lake, table) == rows(filled, table, protocol="zenoh")
    assert not lake.damage


@pytest.fixture(scope="module")
def many(filled, tmp_path_factory):
    """A lake with the sessions of all recordings of Zenoh, many times over."""
    lake = Lake(tmp_path_factory.mktemp("lakes") / "many", create=True)
    frames = filled.read(FRAMES, protocol="zenoh")
    names = frames["session"].to_pylist()
    with lake.stage("capture-many", "test") as staging:
        for copy in range(20):
            renamed = pa.array([f"capture-many/{copy}-{name.replace('/', '-')}" for name in names])
            staging.write(FRAMES, frames.set_column(frames.column_names.index("session"), "session", renamed))
        staging.write(RUNS, RUNS.rows([{"source": "capture-many", "kind": "capture", "protocol": "zenoh"}]))
        staging.commit()
    return lake


def done(many, folder, session):
    """A lake like ``many``, decoded and judged."""
    lake = Lake(shutil.copytree(many.path, folder / "lake"))
    jobs.decode(lake, "zenoh", session, quiet)
    jobs.judge(lake, "zenoh", "document", session, quiet)
    return lake


@pytest.fixture(scope="module")
def there(many, tmp_path_factory):
    """What ``--master none`` makes of it."""
    return done(many, tmp_path_factory.mktemp("none"), None)


def test_one_machine_s_cores_give_the_same_rows(many, there, tmp_path):
    with spark.started("local[2]", memory=1024, settings=MANY) as session:
        lake = done(many, tmp_path, session)
    for table in (DECODED, VERDICTS):
        assert rows(lake, table) == rows(there, table)


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, many, there, tmp_path):
    """Killed, with what it runs, once the first task of judging is through and most are not."""
    lake = Lake(shutil.copytree(many.path, tmp_path / "lake"))
    victim, witness = cluster.workers
    killed = threading.Event()

    def kill():
        end = monotonic() + PATIENCE
        while not list((lake.path / "staging").glob("judge-*/verdicts/_temporary/0/task_*")):
            if monotonic() > end:
                return
            killed.wait(0.01)
        kill_with_descendants(victim.pid)
        if not list((lake.path / "batches").glob("judge-*")):
            killed.set()

    with spark.started(cluster.url, memory=1024, settings=MANY) as session:
        jobs.decode(lake, "zenoh", session, quiet)
        killer = threading.Thread(target=kill)
        killer.start()
        jobs.judge(lake, "zenoh", "document", session, quiet)
        killer.join()
        assert killed.is_set(), "the job was over before the worker was killed"
        tracker = session.sparkContext.statusTracker()
        stages = [stage for job in tracker.getJobIdsForGroup() for stage in tracker.getJobInfo(job).stageIds]
        infos = [info for info in map(tracker.getStageInfo, stages) if info is not None]
        assert sum(info.numFailedTasks for info in infos), "nothing had to be done again"
        cluster.master.said("Removing worker")
        # What is left of it ends with the other worker, in the middle of a session.
        assert witness.end(signal.SIGTERM) == 128 + signal.SIGTERM
    for table in (DECODED, VERDICTS):
        assert rows(lake, table) == rows(there, table)
    assert not lake.damage
    assert not list((lake.path / "staging").iterdir())


def test_the_master_ends_when_it_is_interrupted(cluster):
    assert cluster.master.end(signal.SIGINT) == 128 + signal.SIGINT


# --- wrong usage ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (("worker", "http://here:7077"), BadDescription, "no master of a cluster: expected spark://HOST:PORT"),
        (("worker", "spark://10.0.0.1:7077"), BadDescription, "say with --listen which address"),
        (("worker", "spark://localhost:7077", "--listen", "a b"), BadDescription, "no address to listen at"),
        (("master", "--listen", "127.0.0.1:70777"), BadDescription, "no address to listen at"),
        (("master", "--listen", "127.0.0.1:{taken}"), spark.SparkFailed, "Address already in use"),
        (("master", "--conf", "cores=3"), click.BadParameter, "no setting of Spark: expected spark.NAME=VALUE"),
    ],
)
def test_what_cannot_be_is_said_before_anything_starts(words, error, said):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        names = {"taken": listener.getsockname()[1]}
        done = CliRunner().invoke(pipeline, [word.format(**names) for word in words], standalone_mode=False)
    assert isinstance(done.exception, error)
    assert said in str(done.exception)
